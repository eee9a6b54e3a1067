//! How much more than the bandwidth explains ACKs deliver at once (`bbr_update_ack_aggregation`).

use super::State;
use super::bandwidth::{BANDWIDTH_UNIT, Bandwidth};
use crate::{BbrConfig, Connection, RateSample, Window};
use shoal_units::Time;
use shoal_units::cast::fit_u32;

/// Rounds after which the older of the two maxima is let go (`bbr_extra_acked_win_rtts`).
const WINDOW_ROUNDS: u32 = 5;
/// Packets of an epoch after which a new one begins (`bbr_ack_epoch_acked_reset_thresh`).
const LONGEST_EPOCH_PACKETS: u32 = 1 << 20;
/// Time at the bandwidth that bounds what the window allows for, in microseconds (`bbr_extra_acked_max_us`).
const MOST_US: u64 = 100_000;
/// Largest excess that the kernel's field of 16 bits holds.
const MOST_EXTRA: u32 = 0xffff;

/// The excess of ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    epoch_us: u64,
    epoch_packets: u32,
    extra: [u32; 2],
    rounds: u32,
    index: usize,
}

impl Aggregation {
    /// An epoch begins (`CA_EVENT_TX_START`).
    pub(super) fn begin(&mut self, at: Time) {
        (self.epoch_us, self.epoch_packets) = (at.as_micros(), 0);
    }

    /// Follows an ACK that delivers `packets`.
    pub(super) fn on_sample(
        &mut self,
        connection: &Connection,
        (packets, cwnd): (u32, u32),
        is_round_start: bool,
        bandwidth: Bandwidth,
    ) {
        if is_round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.index = 1 - self.index;
                self.extra[self.index] = 0;
            }
        }
        let now = connection.delivered_at.as_micros();
        let elapsed = now.saturating_sub(self.epoch_us);
        let mut expected = fit_u32(u64::from(bandwidth) * elapsed / BANDWIDTH_UNIT);
        if self.epoch_packets <= expected || self.epoch_packets + packets >= LONGEST_EPOCH_PACKETS {
            (self.epoch_packets, self.epoch_us) = (0, now);
            expected = 0;
        }
        self.epoch_packets = (self.epoch_packets + packets).min(LONGEST_EPOCH_PACKETS - 1);
        let extra = (self.epoch_packets - expected.min(self.epoch_packets)).min(cwnd).min(MOST_EXTRA);
        let largest = &mut self.extra[self.index];
        *largest = (*largest).max(extra);
    }

    /// Packets that the window allows for (`bbr_ack_aggregation_cwnd`).
    pub(super) fn packets(&self, config: &BbrConfig, bandwidth: Bandwidth) -> u32 {
        let most = fit_u32(u64::from(bandwidth) * MOST_US / BANDWIDTH_UNIT);
        let extra = u64::from(self.extra[0].max(self.extra[1]));
        fit_u32((extra * u64::from(config.extra_acked_gain_q8)) >> 8).min(most)
    }
}

impl State {
    /// The excess of ACKs (`bbr_update_ack_aggregation`).
    pub(super) fn update_aggregation(
        &mut self,
        window: &Window,
        connection: &Connection,
        sample: &RateSample,
    ) {
        let is_valid = sample.delivered.is_some() && sample.interval_us > 0;
        if self.config.extra_acked_gain_q8 == 0 || sample.newly_delivered == 0 || !is_valid {
            return;
        }
        let bandwidth = self.bandwidth();
        let packets = (sample.newly_delivered, window.cwnd);
        self.aggregation.on_sample(connection, packets, self.rounds.is_start, bandwidth);
    }
}
