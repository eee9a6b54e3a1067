//! The end of Startup, by a plateau of the rate or by losses, and that of Drain (draft, sections 5.3.1 and 5.3.2).

use super::{Ack, Phase, Rate, State};
use crate::{RecoveryState, Window};

/// Whether the path is full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    rate: Rate,
    rounds: u32,
    /// Since the test last began (full_bw_now).
    pub(super) is_now: bool,
    /// Ever (full_bw_reached).
    pub(super) is_reached: bool,
}

impl FullBandwidth {
    /// The test begins anew, from `rate` (ResetFullBW).
    pub(super) fn restart(&mut self, rate: Rate) {
        (self.rate, self.rounds, self.is_now) = (rate, 0, false);
    }
}

impl State {
    /// A plateau of the rate (CheckFullBWReached).
    pub(super) fn check_full_bandwidth(&mut self, ack: &Ack<'_>) {
        if self.full.is_now || !self.signals.round_start || ack.sample.is_app_limited {
            return;
        }
        let threshold = self.full.rate * u64::from(self.config.full_bandwidth_threshold_percent) / 100;
        if ack.rate >= threshold {
            self.full.restart(ack.rate);
            return;
        }
        self.full.rounds += 1;
        self.full.is_now = self.full.rounds >= self.config.full_bandwidth_rounds;
        self.full.is_reached |= self.full.is_now;
    }

    /// Startup ends (CheckStartupDone).
    pub(super) fn check_startup_done(&mut self, ack: &Ack<'_>) {
        self.check_startup_loss(ack);
        if self.phase == Phase::Startup && self.full.is_reached {
            self.enter_drain();
        }
    }

    /// Many losses in a round of recovery fill the path, too (CheckStartupHighLoss).
    fn check_startup_loss(&mut self, ack: &Ack<'_>) {
        if self.phase != Phase::Startup || self.full.is_reached || !self.signals.loss_round_start {
            return;
        }
        let is_recovering = ack.connection.recovery >= RecoveryState::Recovery;
        let many = self.signals.losses_in_round >= self.config.startup_losses;
        let sample = ack.sample;
        let is_high = self.is_too_high(sample.lost_since_sent, sample.sent_in_flight, ack.connection);
        if !is_recovering || !is_high || ack.connection.has_sack && !many {
            return;
        }
        self.undo.phase = Some(Phase::Startup);
        self.full.is_now = true;
        self.full.is_reached = true;
        self.inflight_longterm = self.product(100).max(self.signals.inflight_latest);
    }

    /// Drain ends (CheckDrainDone).
    pub(super) fn check_drain_done(&mut self, window: &Window, ack: &Ack<'_>) {
        if self.phase != Phase::Drain {
            return;
        }
        let rounds = self.signals.round_count.wrapping_sub(self.drain_start_round);
        if ack.connection.in_flight <= self.inflight(100) || rounds > self.config.drain_rounds {
            self.start_down(window, ack.connection);
        }
    }
}
