//! The window, and what counts as in the network (`bbr_set_cwnd`, `bbr_packets_in_net_at_edt`).

use super::bandwidth::{BANDWIDTH_BITS, BANDWIDTH_UNIT, Bandwidth};
use super::pacing::least_packets;
use super::{GAIN_UNIT, Mode, State};
use crate::{Connection, RateSample, RecoveryState, Window};
use shoal_units::cast::fit_u32;

/// Initial window in packets ([RFC 6928](https://www.rfc-editor.org/rfc/rfc6928); Linux `TCP_INIT_CWND`).
const INITIAL_WINDOW: u32 = 10;
/// Payload of the largest segment in bytes (`GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER` of a distribution's kernel).
const LARGEST_SEGMENT_BYTES: u64 = 65536 - 1 - 320;
/// Most packets that a segment is taken to have.
const MOST_SEGMENT_PACKETS: u32 = 0x7f;

impl State {
    /// Packets of a segment at the pacing rate: what it sends in 1/1024 s (`bbr_tso_segs_goal`).
    fn segment_packets(&self, mss: u32) -> u32 {
        let bytes = (self.pacing_rate >> 10).min(LARGEST_SEGMENT_BYTES);
        fit_u32(bytes / u64::from(mss.max(1))).max(least_packets(self.pacing_rate)).min(MOST_SEGMENT_PACKETS)
    }

    /// Bandwidth times the smallest RTT times the gain, rounded up (`bbr_bdp`).
    pub(super) fn product(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        if self.min_rtt.get().is_none() {
            return INITIAL_WINDOW;
        }
        let product = (u128::from(bandwidth) * u128::from(self.min_rtt.us) * u128::from(gain)) >> 8;
        let packets = product.div_ceil(u128::from(BANDWIDTH_UNIT));
        u32::try_from(packets).unwrap_or(u32::MAX)
    }

    /// Room for segments in both hosts (`bbr_quantization_budget`).
    fn with_segments(&self, packets: u32, mss: u32) -> u32 {
        let packets = packets.saturating_add(3 * self.segment_packets(mss));
        let even = packets.saturating_add(1) & !1;
        let probes = self.mode == Mode::ProbeBandwidth && self.cycle.probes();
        even.saturating_add(if probes { 2 } else { 0 })
    }

    /// Packets in flight at a gain (`bbr_inflight`).
    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: u32, mss: u32) -> u32 {
        self.with_segments(self.product(bandwidth, gain), mss)
    }

    /// How many of `in_flight` packets are in the network when the next segment may leave
    /// (`bbr_packets_in_net_at_edt`).
    pub(super) fn in_network(&self, connection: &Connection, in_flight: u32) -> u32 {
        let wait_us = connection.departure.since(connection.departure.min(connection.now)).as_micros();
        let delivered = fit_u32(u64::from(self.bandwidth()).saturating_mul(wait_us) >> BANDWIDTH_BITS);
        let next = if self.pacing_gain > GAIN_UNIT { self.segment_packets(connection.mss) } else { 0 };
        (in_flight + next).saturating_sub(delivered)
    }

    /// The window in recovery and after it (`bbr_set_cwnd_to_recover_or_restore`), and whether it is not to be brought
    /// to its target.
    fn recover(&mut self, cwnd: u32, connection: &Connection, sample: &RateSample) -> (u32, bool) {
        let (before, now) = (self.recovery, connection.recovery);
        let conserved = connection.in_flight + sample.newly_delivered;
        let mut cwnd = if sample.losses > 0 { cwnd.saturating_sub(sample.losses).max(1) } else { cwnd };
        if now == RecoveryState::Recovery && before != RecoveryState::Recovery {
            self.conserves = true;
            self.rounds.restart(connection);
            cwnd = conserved;
        } else if before >= RecoveryState::Recovery && now < RecoveryState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.recovery = now;
        if self.conserves { (cwnd.max(conserved), true) } else { (cwnd, false) }
    }

    /// The window towards its target.
    fn approach(&self, cwnd: u32, connection: &Connection, newly_delivered: u32) -> u32 {
        let bandwidth = self.bandwidth();
        let mut target = self.product(bandwidth, self.cwnd_gain);
        if self.full.is_reached {
            target = target.saturating_add(self.aggregation.packets(&self.config, bandwidth));
        }
        let target = self.with_segments(target, connection.mss);
        let more = cwnd.saturating_add(newly_delivered);
        let cwnd = if self.full.is_reached {
            more.min(target)
        } else if cwnd < target || connection.delivered < INITIAL_WINDOW.into() {
            more
        } else {
            cwnd
        };
        cwnd.max(self.config.lowest_window)
    }

    /// Sets the window (`bbr_set_cwnd`).
    pub(super) fn set_cwnd(&mut self, window: &mut Window, connection: &Connection, sample: &RateSample) {
        if sample.newly_delivered > 0 {
            let (cwnd, conserves) = self.recover(window.cwnd, connection, sample);
            window.cwnd =
                if conserves { cwnd } else { self.approach(cwnd, connection, sample.newly_delivered) };
        }
        window.cwnd = window.cwnd.min(window.clamp);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.config.lowest_window);
        }
    }
}
