//! Rounds, the bandwidth, and the short-term model that losses lower (sections 5.5.1, 5.5.2 and 5.5.10 of the draft).

use super::{Ack, Rate, State, UNBOUNDED};
use crate::{Connection, Window};

/// What delivery and losses have shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    next_round_delivered: u64,
    pub(super) round_start: bool,
    pub(super) round_count: u32,
    /// Largest rates of the previous and of the present cycle of ProbeBW.
    max_rates: [Rate; 2],
    pub(super) bw_shortterm: Rate,
    pub(super) inflight_shortterm: u32,
    bw_latest: Rate,
    pub(super) inflight_latest: u32,
    pub(super) loss_round_delivered: u64,
    pub(super) loss_round_start: bool,
    pub(super) is_loss_in_round: bool,
    /// Ranges of the stream that were lost in the round.
    pub(super) losses_in_round: u32,
}

impl Default for Signals {
    fn default() -> Self {
        Self {
            next_round_delivered: 0,
            round_start: false,
            round_count: 0,
            max_rates: [0; 2],
            bw_shortterm: Rate::MAX,
            inflight_shortterm: UNBOUNDED,
            bw_latest: 0,
            inflight_latest: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            losses_in_round: 0,
        }
    }
}

impl Signals {
    /// The largest rate of the previous and of the present cycle.
    pub(super) fn max_bandwidth(&self) -> Rate {
        self.max_rates[0].max(self.max_rates[1])
    }
    /// The rate that both models allow (BoundBWForModel).
    pub(super) fn bandwidth(&self) -> Rate {
        self.max_bandwidth().min(self.bw_shortterm)
    }
    /// A round begins (StartRound).
    pub(super) fn start_round(&mut self, connection: &Connection) {
        self.next_round_delivered = connection.delivered;
    }
    /// A cycle of ProbeBW ends; one without samples is none (AdvanceMaxBwFilter).
    pub(super) fn advance_cycle(&mut self) {
        if self.max_rates[1] > 0 {
            self.max_rates = [self.max_rates[1], 0];
        }
    }
    /// What the present episode has shown is forgotten (ResetCongestionSignals).
    pub(super) fn reset_congestion(&mut self) {
        self.is_loss_in_round = false;
        self.losses_in_round = 0;
        self.bw_latest = 0;
        self.inflight_latest = 0;
    }
    /// The short-term model is forgotten (ResetShortTermModel).
    pub(super) fn reset_shortterm(&mut self) {
        self.bw_shortterm = Rate::MAX;
        self.inflight_shortterm = UNBOUNDED;
    }
    /// Once per round with losses (InitLowerBounds, LossLowerBounds).
    fn lower(&mut self, beta_percent: u32, cwnd: u32) {
        if self.bw_shortterm == Rate::MAX {
            self.bw_shortterm = self.max_bandwidth();
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(self.bw_shortterm * u64::from(beta_percent) / 100);
        self.inflight_shortterm =
            self.inflight_latest.max(super::share(self.inflight_shortterm, beta_percent));
    }
}

impl State {
    /// Near the start of an ACK (UpdateLatestDeliverySignals).
    pub(super) fn update_latest(&mut self, ack: &Ack<'_>) {
        let signals = &mut self.signals;
        signals.loss_round_start = false;
        let Some(delivered) = ack.sample.delivered else { return };
        signals.bw_latest = signals.bw_latest.max(ack.rate);
        signals.inflight_latest = signals.inflight_latest.max(delivered);
        if ack.sample.prior_delivered >= signals.loss_round_delivered {
            signals.loss_round_delivered = ack.connection.delivered;
            signals.loss_round_start = true;
        }
    }

    /// Near its end (AdvanceLatestDeliverySignals).
    pub(super) fn advance_latest(&mut self, ack: &Ack<'_>) {
        if self.signals.loss_round_start {
            self.signals.bw_latest = ack.rate;
            self.signals.inflight_latest = ack.sample.delivered.unwrap_or(0);
            self.signals.losses_in_round = 0;
        }
    }

    /// Rounds and the bandwidth; once per round, the short-term model (UpdateCongestionSignals).
    pub(super) fn update_congestion(&mut self, window: &Window, ack: &Ack<'_>) {
        self.update_round(ack);
        let signals = &mut self.signals;
        if ack.rate > 0 && (ack.rate >= signals.max_bandwidth() || !ack.sample.is_app_limited) {
            signals.max_rates[1] = signals.max_rates[1].max(ack.rate);
        }
        if !signals.loss_round_start {
            return;
        }
        if signals.is_loss_in_round && !self.phase.probes() {
            signals.lower(self.config.beta_percent, window.cwnd);
        }
        signals.is_loss_in_round = false;
    }

    /// Whether the ACK ends a round (UpdateRound).
    fn update_round(&mut self, ack: &Ack<'_>) {
        let signals = &mut self.signals;
        let has_data = ack.sample.delivered.is_some();
        signals.round_start = has_data && ack.sample.prior_delivered >= signals.next_round_delivered;
        if signals.round_start {
            signals.start_round(ack.connection);
            signals.round_count = signals.round_count.wrapping_add(1);
            self.probe.rounds_since_up = self.probe.rounds_since_up.saturating_add(1);
        }
    }
}
