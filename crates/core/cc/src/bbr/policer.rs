//! The model of a token bucket that drops what exceeds its rate (`bbr_lt_bw_sampling`; Flach et al. 2016).
//!
//! Two intervals of 4 to 16 rounds, each of which ends with a loss and lost a fifth of what it delivered, and whose
//! rates agree: the flow is taken to be policed, and sends at the mean of both for 48 rounds.

use super::bandwidth::{BANDWIDTH_UNIT, Bandwidth};
use super::{GAIN_UNIT, Mode, State};
use crate::Connection;
use shoal_units::cast::fit_u32;

/// Rounds of the shortest interval (`bbr_lt_intvl_min_rtts`); the longest has four times as many.
const SHORTEST_ROUNDS: u32 = 4;
/// Packets lost for 256 delivered by which an interval counts as policed (`bbr_lt_loss_thresh`).
const LOSS_THRESHOLD_Q8: u64 = 50;
/// Part by which the rates of two intervals may differ, in 1/256 (`bbr_lt_bw_ratio`).
const RATIO_Q8: u64 = 256 / 8;
/// Bytes per second by which they may (`bbr_lt_bw_diff`).
const DIFFERENCE_BYTES_PER_S: u64 = 4000 / 8;
/// Rounds for which the rate is used (`bbr_lt_bw_max_rtts`).
const ROUNDS_OF_USE: u32 = 48;

/// What an ACK tells the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion {
    /// Packets that it declares lost.
    pub losses: u32,
    /// Whether the application was the limit.
    pub is_app_limited: bool,
    /// Whether it ends a round.
    pub is_round_start: bool,
    /// Whether the law is in ProbeBW.
    pub is_probing_bandwidth: bool,
}

/// What the model says of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Nothing changes.
    Unchanged,
    /// The flow is policed from now on.
    Policed,
    /// The rate is used no longer; the gain cycle begins anew.
    Released,
}

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    rounds: u32,
    /// Whether the rate is used (`lt_use_bw`).
    is_used: bool,
    bandwidth: Bandwidth,
    began_ms: u64,
    began_delivered: u64,
    began_lost: u64,
}

impl Policer {
    /// The rate of the token bucket, if the flow is policed.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        self.is_used.then_some(self.bandwidth)
    }

    /// Nothing is known any more (`bbr_reset_lt_bw_sampling`).
    pub(super) fn restart(&mut self, connection: &Connection) {
        *self = Self::default();
        self.begin(connection);
    }

    /// An interval begins (`bbr_reset_lt_bw_sampling_interval`).
    fn begin(&mut self, connection: &Connection) {
        self.began_ms = connection.delivered_at.as_millis();
        self.began_delivered = connection.delivered;
        self.began_lost = connection.lost;
        self.rounds = 0;
    }

    /// Follows an ACK. `bytes_per_s` makes bytes per second of a rate.
    pub(super) fn on_sample(
        &mut self,
        connection: &Connection,
        occasion: Occasion,
        bytes_per_s: impl FnOnce(Bandwidth) -> u64,
    ) -> Verdict {
        if self.is_used {
            if !(occasion.is_probing_bandwidth && occasion.is_round_start) {
                return Verdict::Unchanged;
            }
            self.rounds += 1;
            if self.rounds < ROUNDS_OF_USE {
                return Verdict::Unchanged;
            }
            self.restart(connection);
            return Verdict::Released;
        }
        // The first loss shows that the tokens of the start are spent.
        if !self.is_sampling {
            if occasion.losses == 0 {
                return Verdict::Unchanged;
            }
            self.begin(connection);
            self.is_sampling = true;
        }
        if occasion.is_app_limited {
            self.restart(connection);
            return Verdict::Unchanged;
        }
        self.rounds += u32::from(occasion.is_round_start);
        if self.rounds > 4 * SHORTEST_ROUNDS {
            self.restart(connection);
        } else if self.rounds >= SHORTEST_ROUNDS && occasion.losses > 0 {
            return self.end(connection, bytes_per_s);
        }
        Verdict::Unchanged
    }

    /// An interval ends, if it was long enough and lost enough.
    fn end(&mut self, connection: &Connection, bytes_per_s: impl FnOnce(Bandwidth) -> u64) -> Verdict {
        let lost = connection.lost - self.began_lost;
        let delivered = connection.delivered - self.began_delivered;
        if delivered == 0 || lost << 8 < LOSS_THRESHOLD_Q8 * delivered {
            return Verdict::Unchanged;
        }
        let ms = connection.delivered_at.as_millis().saturating_sub(self.began_ms);
        if ms == 0 {
            return Verdict::Unchanged;
        }
        if ms >= u64::from(u32::MAX) / 1000 {
            self.restart(connection);
            return Verdict::Unchanged;
        }
        let rate = fit_u32(delivered * BANDWIDTH_UNIT / (ms * 1000));
        if self.bandwidth > 0 {
            let difference = rate.abs_diff(self.bandwidth);
            let is_close = u64::from(difference) << 8 <= RATIO_Q8 * u64::from(self.bandwidth);
            if is_close || bytes_per_s(difference) <= DIFFERENCE_BYTES_PER_S {
                self.bandwidth = rate.midpoint(self.bandwidth);
                self.is_used = true;
                self.rounds = 0;
                return Verdict::Policed;
            }
        }
        self.bandwidth = rate;
        self.begin(connection);
        Verdict::Unchanged
    }
}

impl State {
    /// Follows the long-term rate (`bbr_lt_bw_sampling`).
    pub(super) fn look_for_policer(&mut self, connection: &Connection, losses: u32, is_app_limited: bool) {
        if !self.config.models_policers {
            return;
        }
        let occasion = Occasion {
            losses,
            is_app_limited,
            is_round_start: self.rounds.is_start,
            is_probing_bandwidth: self.mode == Mode::ProbeBandwidth,
        };
        let mut policer = self.policer;
        let verdict = policer
            .on_sample(connection, occasion, |rate| self.bytes_per_s(rate.into(), GAIN_UNIT, connection.mss));
        self.policer = policer;
        match verdict {
            Verdict::Unchanged => {}
            Verdict::Policed => self.pacing_gain = GAIN_UNIT,
            Verdict::Released => self.enter_probe_bandwidth(connection),
        }
    }
}
