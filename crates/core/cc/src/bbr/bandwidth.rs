//! Rounds and the bandwidth, in packets per microsecond times 2^24 (`bbr_update_bw`, `bbr_max_bw`).

use super::State;
use super::max_filter::MaxFilter;
use crate::{Connection, RateSample};
use shoal_units::cast::fit_u32;

/// Fractional bits of a rate in packets per microsecond (`BW_SCALE`).
pub(super) const BANDWIDTH_BITS: u32 = 24;
/// A packet per microsecond (`BW_UNIT`).
pub(super) const BANDWIDTH_UNIT: u64 = 1 << BANDWIDTH_BITS;

/// A rate in packets per microsecond times 2^24.
pub(super) type Bandwidth = u32;

/// Rounds as packets count them, and the largest rate of the last of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    filter: MaxFilter,
    /// Rounds since the connection began (`rtt_cnt`).
    count: u32,
    /// The round ends with a packet that is sent when this many are delivered (`next_rtt_delivered`).
    end_delivered: u64,
    /// Whether the present ACK has ended a round (`round_start`).
    pub(super) is_start: bool,
}

impl Rounds {
    /// The largest rate of the last rounds.
    #[inline]
    pub(super) const fn bandwidth(&self) -> Bandwidth {
        self.filter.get()
    }
    /// A round begins now.
    pub(super) fn restart(&mut self, connection: &Connection) {
        self.end_delivered = connection.delivered;
    }
    /// Notes whether a valid sample ends a round. Returns it.
    pub(super) fn note(&mut self, connection: &Connection, sample: &RateSample) -> bool {
        self.is_start = sample.prior_delivered >= self.end_delivered;
        if self.is_start {
            self.restart(connection);
            self.count = self.count.wrapping_add(1);
        }
        self.is_start
    }
    /// Takes the sample's rate, unless the application kept it below what is known.
    pub(super) fn measure(&mut self, window: u32, sample: &RateSample, delivered: u32) {
        let rate = fit_u32(u64::from(delivered) * BANDWIDTH_UNIT / u64::from(sample.interval_us));
        if !sample.is_app_limited || rate >= self.bandwidth() {
            self.filter.take(window, self.count, rate);
        }
    }
}

impl State {
    /// Rounds and the bandwidth (`bbr_update_bw`).
    pub(super) fn update_bandwidth(&mut self, connection: &Connection, sample: &RateSample) {
        self.rounds.is_start = false;
        let Some(delivered) = sample.delivered.filter(|_| sample.interval_us > 0) else { return };
        if self.rounds.note(connection, sample) {
            self.conserves = false;
        }
        self.look_for_policer(connection, sample.losses, sample.is_app_limited);
        self.rounds.measure(self.config.bandwidth_rounds, sample, delivered);
    }
}
