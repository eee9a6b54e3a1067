//! The pacing rate (`bbr_set_pacing_rate`).

use super::State;
use super::bandwidth::{BANDWIDTH_BITS, BANDWIDTH_UNIT};
use crate::{Connection, Window};

/// Bytes per second below which a segment is a single packet (`bbr_min_tso_rate`).
const SINGLE_PACKETS_BELOW: u64 = 1_200_000 / 8;

impl State {
    /// Bytes of payload per second of a rate with a gain, less the margin (`bbr_rate_bytes_per_sec`).
    pub(super) fn bytes_per_s(&self, bandwidth: u64, gain: u32, mss: u32) -> u64 {
        let rate = bandwidth.saturating_mul(mss.into()).saturating_mul(gain.into()) >> 8;
        let margin = u64::from(100 - self.config.pacing_margin_percent.min(100));
        rate.saturating_mul(10_000 * margin) >> BANDWIDTH_BITS
    }

    /// The rate before the first sample: the initial window with the gain of Startup (`bbr_init_pacing_rate_from_rtt`).
    pub(super) fn start_pacing(&mut self, window: &Window, connection: &Connection) {
        let srtt_us = connection.srtt.as_micros();
        self.has_seen_rtt = !connection.srtt.is_zero();
        let rtt_us = if self.has_seen_rtt { srtt_us.max(1) } else { 1000 };
        let rate = u64::from(window.cwnd) * BANDWIDTH_UNIT / rtt_us;
        self.pacing_rate = self.bytes_per_s(rate, self.config.high_gain_q8, connection.mss);
    }

    /// Before the pipe is full the rate only rises (`bbr_set_pacing_rate`).
    pub(super) fn set_pacing(&mut self, window: &Window, connection: &Connection, gain: u32) {
        let rate = self.bytes_per_s(self.bandwidth().into(), gain, connection.mss);
        if !self.has_seen_rtt && !connection.srtt.is_zero() {
            self.start_pacing(window, connection);
        }
        if self.full.is_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }
}

/// Packets of the smallest segment at a pacing rate (`bbr_min_tso_segs`).
pub(super) fn least_packets(bytes_per_s: u64) -> u32 {
    if bytes_per_s < SINGLE_PACKETS_BELOW { 1 } else { 2 }
}
