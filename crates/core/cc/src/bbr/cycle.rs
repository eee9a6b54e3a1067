//! The eight phases of ProbeBW (`bbr_advance_cycle_phase`).

use super::{GAIN_UNIT, Mode, State};
use crate::{BbrConfig, Connection, RateSample};
use core::cmp::Ordering;
use shoal_units::{Stream, Time};

/// Phases of the cycle (`CYCLE_LEN`).
const PHASES: u8 = 8;

/// The present phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// 0 probes, 1 yields, the others keep the rate (`cycle_idx`).
    phase: u8,
    /// When it began, in microseconds (`cycle_mstamp`).
    pub(super) began_us: u64,
}

impl Cycle {
    /// The first phase, drawn among `choices`, which leave out that with the gain below one.
    pub(super) fn begin(&mut self, choices: u32, random: &mut Stream, at: Time) {
        let choices = choices.clamp(1, PHASES.into());
        let draw = (u64::from(random.uniform_u32()) * u64::from(choices)) >> 32;
        self.phase = PHASES - 1 - shoal_units::cast::fit_u8(shoal_units::cast::fit_u32(draw));
        self.advance(at);
    }
    /// The next phase begins.
    pub(super) fn advance(&mut self, at: Time) {
        self.phase = (self.phase + 1) % PHASES;
        self.began_us = at.as_micros();
    }
    /// Whether the phase is the one that probes.
    pub(super) fn probes(&self) -> bool {
        self.phase == 0
    }
    /// Gain of pacing, in 1/256.
    pub(super) fn gain(&self, config: &BbrConfig) -> u32 {
        match self.phase {
            0 => config.probe_gain_q8,
            1 => config.yield_gain_q8,
            _ => GAIN_UNIT,
        }
    }
}

impl State {
    /// The gain cycle begins in a random phase (`bbr_reset_probe_bw_mode`).
    pub(super) fn enter_probe_bandwidth(&mut self, connection: &Connection) {
        self.mode = Mode::ProbeBandwidth;
        self.cycle.begin(self.config.random_phases, &mut self.random, connection.delivered_at);
    }

    /// The next phase, if it is time (`bbr_update_cycle_phase`).
    pub(super) fn update_cycle(&mut self, connection: &Connection, sample: &RateSample) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let elapsed_us = connection.delivered_at.as_micros().saturating_sub(self.cycle.began_us);
        let is_full_length = elapsed_us > u64::from(self.min_rtt.us);
        let bandwidth = self.rounds.bandwidth();
        let in_network = |state: &Self| state.in_network(connection, sample.prior_in_flight);
        let ends = match self.pacing_gain.cmp(&GAIN_UNIT) {
            Ordering::Equal => is_full_length,
            Ordering::Greater => {
                is_full_length
                    && (sample.losses > 0
                        || in_network(self) >= self.inflight(bandwidth, self.pacing_gain, connection.mss))
            }
            Ordering::Less => {
                is_full_length || in_network(self) <= self.inflight(bandwidth, GAIN_UNIT, connection.mss)
            }
        };
        if ends {
            self.cycle.advance(connection.delivered_at);
        }
    }
}
