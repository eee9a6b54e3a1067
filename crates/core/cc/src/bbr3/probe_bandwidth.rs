//! ProbeBW: down, cruise, refill, up (section 5.3.3 of the draft).

use super::{Ack, Phase, State, UNBOUNDED, share};
use crate::{Connection, Window};
use shoal_units::cast::fit_u32;

/// What ACKs tell of the last probe (ack_phase).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum AckPhase {
    /// No probe.
    #[default]
    Init,
    /// The pipe fills.
    Refilling,
    /// The flight rises.
    ProbeStarting,
    /// Feedback of the probe arrives.
    ProbeFeedback,
    /// The probe has ended, and its feedback arrives still.
    ProbeStopping,
}

/// The probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) ack_phase: AckPhase,
    cycle_start_us: u64,
    wait_us: u64,
    pub(super) rounds_since_up: u32,
    up_rounds: u32,
    up_acked: u32,
    acked_per_increase: u32,
    /// Whether samples are of a probe, to which losses are answered (is_bw_probe_sample).
    pub(super) is_sample: bool,
    pub(super) was_too_high: bool,
    was_precautionary: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            ack_phase: AckPhase::Init,
            cycle_start_us: 0,
            wait_us: 0,
            rounds_since_up: 0,
            up_rounds: 0,
            up_acked: 0,
            acked_per_increase: UNBOUNDED,
            is_sample: false,
            was_too_high: false,
            was_precautionary: false,
        }
    }
}

impl State {
    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, _window: &Window, connection: &Connection) {
        self.signals.reset_congestion();
        self.probe.acked_per_increase = UNBOUNDED;
        self.pick_wait();
        self.probe.cycle_start_us = connection.now.as_micros();
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.signals.start_round(connection);
        self.phase = Phase::Down;
    }
    /// StartProbeBW_CRUISE.
    pub(super) fn start_cruise(&mut self) {
        self.phase = Phase::Cruise;
    }
    /// StartProbeBW_REFILL.
    pub(super) fn start_refill(&mut self, connection: &Connection) {
        self.signals.reset_shortterm();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0;
        self.probe.was_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.signals.start_round(connection);
        self.phase = Phase::Refill;
    }
    /// StartProbeBW_UP.
    fn start_up(&mut self, window: &Window, ack: &Ack<'_>) {
        self.probe.ack_phase = AckPhase::ProbeStarting;
        self.signals.start_round(ack.connection);
        self.full.restart(ack.rate);
        self.phase = Phase::Up;
        self.raise_slope(window);
    }

    /// A random time, and a random number of rounds, until the next probe (PickProbeWait).
    fn pick_wait(&mut self) {
        self.probe.rounds_since_up = self.random.uniform_u32() >> 31;
        let random_us = u64::from(self.config.probe_wait_random_ms) * 1000;
        let random_us = (u64::from(self.random.uniform_u32()) * random_us) >> 32;
        self.probe.wait_us = u64::from(self.config.probe_wait_ms) * 1000 + random_us;
    }

    /// The state machine (UpdateProbeBWCyclePhase).
    pub(super) fn update_probe_bandwidth(&mut self, window: &Window, ack: &Ack<'_>) {
        if !self.full.is_reached || self.adapt_longterm(window, ack) {
            return;
        }
        let phase = self.phase;
        if matches!(phase, Phase::Down | Phase::Cruise) && self.refill_if_time(window, ack) {
            return;
        }
        match phase {
            Phase::Down if self.is_time_to_cruise(ack) => self.start_cruise(),
            Phase::Refill if self.signals.round_start => {
                self.probe.is_sample = true;
                self.start_up(window, ack);
            }
            Phase::Up if self.is_time_to_go_down(window, ack) => {
                self.probe.was_too_high = false;
                self.start_down(window, ack.connection);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW.
    fn refill_if_time(&mut self, window: &Window, ack: &Ack<'_>) -> bool {
        let has_waited = ack.now_us > self.probe.cycle_start_us + self.probe.wait_us;
        let rounds = self.target_inflight(window).min(self.config.probe_rounds);
        let is_time = has_waited || self.probe.rounds_since_up >= rounds;
        if is_time {
            self.start_refill(ack.connection);
        }
        is_time
    }

    fn is_time_to_cruise(&self, ack: &Ack<'_>) -> bool {
        let in_flight = ack.connection.in_flight;
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.inflight_of(self.signals.max_bandwidth(), 100)
    }

    fn is_time_to_go_down(&mut self, window: &Window, ack: &Ack<'_>) -> bool {
        if self.probe.was_too_high && ack.connection.in_flight >= self.inflight_longterm {
            self.probe.was_precautionary = true;
            return true;
        }
        if ack.connection.is_cwnd_limited && window.cwnd >= self.inflight_longterm {
            self.full.restart(ack.rate);
            return false;
        }
        self.full.is_now
    }

    /// The long-term bound less what is left for others (InflightWithHeadroom).
    pub(super) fn inflight_with_headroom(&self) -> u32 {
        if self.inflight_longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = share(self.inflight_longterm, self.config.headroom_percent).max(1);
        self.inflight_longterm.saturating_sub(headroom).max(self.config.lowest_window)
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self, window: &Window) {
        let growth = 1u32 << self.probe.up_rounds;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.acked_per_increase = (window.cwnd / growth).max(1);
    }

    /// ProbeInflightLongtermUpward.
    fn raise_longterm(&mut self, window: &Window, ack: &Ack<'_>) {
        if !ack.connection.is_cwnd_limited || window.cwnd < self.inflight_longterm {
            return;
        }
        self.probe.up_acked += ack.sample.newly_delivered;
        let steps = self.probe.up_acked / self.probe.acked_per_increase;
        self.probe.up_acked -= steps * self.probe.acked_per_increase;
        self.inflight_longterm = self.inflight_longterm.saturating_add(steps);
        if self.signals.round_start {
            self.raise_slope(window);
        }
    }

    /// Follows the feedback of the probe. Returns whether it has decided a transition (AdaptLongTermModel).
    fn adapt_longterm(&mut self, window: &Window, ack: &Ack<'_>) -> bool {
        let round_start = self.signals.round_start;
        if self.probe.ack_phase == AckPhase::ProbeStarting && round_start {
            self.probe.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.probe.ack_phase == AckPhase::ProbeStopping && round_start {
            self.probe.is_sample = false;
            self.probe.ack_phase = AckPhase::Init;
            if self.phase.is_probe_bandwidth() {
                if !ack.sample.is_app_limited {
                    self.signals.advance_cycle();
                }
                if self.probe.was_precautionary && !self.probe.was_too_high {
                    self.start_refill(ack.connection);
                    return true;
                }
            }
        }
        let sample = ack.sample;
        let is_high = self.is_too_high(sample.lost_since_sent, sample.sent_in_flight, ack.connection);
        if !is_high && self.inflight_longterm != UNBOUNDED {
            self.inflight_longterm = self.inflight_longterm.max(sample.sent_in_flight);
            if self.phase == Phase::Up {
                self.raise_longterm(window, ack);
            }
        }
        false
    }

    /// What is wanted in flight, unless congestion cut the window (TargetInflight).
    pub(super) fn target_inflight(&self, window: &Window) -> u32 {
        fit_u32(self.product(100).into()).min(window.cwnd)
    }
}
