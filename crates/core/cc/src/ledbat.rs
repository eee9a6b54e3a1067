//! LEDBAT, Low Extra Delay Background Transport ([RFC 6817](https://www.rfc-editor.org/rfc/rfc6817)): a flow that
//! takes what others leave. It measures one-way delays, takes their lowest value of the last minutes for the delay of
//! the empty path, and moves its window so that the rest, the queueing delay, becomes a target.
//!
//! Over TCP the one-way delay is the difference of the two timestamps of an acknowledgement ([RFC 7323, section
//! 3](https://www.rfc-editor.org/rfc/rfc7323#section-3)).

mod config;
mod delays;
pub(crate) mod presets;
#[cfg(test)]
mod tests;

pub use config::LedbatConfig;

use crate::reno::half_of;
use crate::{AckSample, CongestionControl, GrowthRules, Reduction, Signal, Window};
use delays::Delays;
use shoal_units::cast::fit_u32;

/// Bits of the fraction of a unit of the window.
const FRACTION_BITS: u32 = 20;

/// A LEDBAT controller.
#[derive(Clone, Copy, Debug)]
pub struct Ledbat {
    config: LedbatConfig,
    rules: GrowthRules,
    delays: Delays,
    /// What the window is larger than `cwnd`, in 2^-20 units of the window.
    fraction: u32,
    cwnd_at_reduction: u32,
}

impl Ledbat {
    /// A controller for one connection.
    pub const fn new(config: LedbatConfig, rules: GrowthRules) -> Self {
        Self { config, rules, delays: Delays::NONE, fraction: 0, cwnd_at_reduction: 0 }
    }

    /// Half of the window, as Reno has it, and at least MIN_CWND (RFC 6817 section 2.4.2, on data loss).
    fn halve(&mut self, window: &mut Window) {
        self.cwnd_at_reduction = window.cwnd;
        window.ssthresh = half_of(window).max(self.lowest(window));
        window.cwnd_cnt = 0;
        self.fraction = 0;
    }

    fn lowest(&self, window: &Window) -> u32 {
        u32::from(self.config.min_cwnd) * window.quantum
    }

    /// `GAIN * off_target * bytes_newly_acked * MSS / cwnd` in 2^-20 units of the window, rounded down, for a window of
    /// `present` such units. With windows in packets, both the bytes and the MSS are counted in packets.
    fn change(&self, window: &Window, present: i128, acked: u32, queueing_us: u32) -> i128 {
        let target_us = i128::from(self.config.target_us);
        let off_target_us = target_us - i128::from(queueing_us);
        let acked = i128::from(acked) * i128::from(window.quantum);
        let gained = i128::from(self.config.gain_percent) * off_target_us * acked;
        (gained << (2 * FRACTION_BITS)).div_euclid(100 * target_us * present.max(1))
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, _window: &mut Window, ack: &AckSample) {
        self.delays.note(&self.config, ack);
    }
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        // There is no slow start. Stacks look at the threshold to know.
        window.ssthresh = window.ssthresh.min(window.cwnd.max(self.lowest(window)));
        let Some(queueing_us) = self.delays.queueing_us(&self.config) else { return };
        let present = i128::from(window.cwnd) << FRACTION_BITS | i128::from(self.fraction);
        let bound = |units: u32| i128::from(units) << FRACTION_BITS;
        // A sender of TCP holds packets back for other reasons than its window, so that not every flight fills a window
        // that is the limit. Whether it is, the stack says.
        let flight = if ack.app_limited {
            bound(ack.in_flight_before.saturating_mul(window.quantum))
        } else {
            present
        };
        let increase = u32::from(self.config.allowed_increase).saturating_mul(window.quantum);
        let highest = (flight + bound(increase)).min(bound(window.clamp));
        let lowest = bound(self.lowest(window).min(window.clamp));
        let change = self.change(window, present, self.rules.acked(ack), queueing_us);
        let next = (present + change).min(highest).max(lowest);
        window.cwnd = fit_u32(u64::try_from(next >> FRACTION_BITS).unwrap_or(0));
        self.fraction = fit_u32(u64::try_from(next & ((1 << FRACTION_BITS) - 1)).unwrap_or(0));
    }
    fn on_ecn(&mut self, window: &mut Window, _signal: &Signal) -> Reduction {
        self.halve(window);
        Reduction::Spread
    }
    fn on_loss(&mut self, window: &mut Window, _signal: &Signal) {
        self.halve(window);
    }
    fn on_rto(&mut self, window: &mut Window, _signal: &Signal, already_reduced: bool) {
        if !already_reduced {
            self.halve(window);
        }
        self.fraction = 0;
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(self.cwnd_at_reduction)
    }
}
