//! Startup, which ends when the bandwidth has stopped to grow (`bbr_check_full_bw_reached`), and Drain, which lets go
//! what it has queued (`bbr_check_drain`).

use super::bandwidth::Bandwidth;
use super::{GAIN_UNIT, Mode, State};
use crate::{BbrConfig, Connection, RateSample, Window};

/// The test for a filled pipe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// The bandwidth when it last had grown (`full_bw`).
    bandwidth: Bandwidth,
    /// Rounds since then (`full_bw_cnt`).
    rounds: u32,
    /// Whether the pipe was found full (`full_bw_reached`).
    pub(super) is_reached: bool,
}

impl FullPipe {
    /// A round has ended in which the application was not the limit.
    pub(super) fn end_round(&mut self, config: &BbrConfig, bandwidth: Bandwidth) {
        let threshold = (u64::from(self.bandwidth) * u64::from(config.full_bandwidth_threshold_q8)) >> 8;
        if u64::from(bandwidth) >= threshold {
            (self.bandwidth, self.rounds) = (bandwidth, 0);
            return;
        }
        self.rounds += 1;
        self.is_reached = self.rounds >= config.full_bandwidth_rounds;
    }
    /// What was known of the bandwidth is forgotten (`bbr_set_state`).
    pub(super) fn forget_bandwidth(&mut self) {
        self.bandwidth = 0;
    }
    /// The test begins anew (`bbr_undo_cwnd`).
    pub(super) fn restart(&mut self) {
        (self.bandwidth, self.rounds) = (0, 0);
    }
}

impl State {
    /// Whether the pipe is full, once a round has ended (`bbr_check_full_bw_reached`).
    pub(super) fn update_full_pipe(&mut self, sample: &RateSample) {
        if !self.full.is_reached && self.rounds.is_start && !sample.is_app_limited {
            self.full.end_round(&self.config, self.rounds.bandwidth());
        }
    }

    /// Startup ends in Drain, Drain in ProbeBW (`bbr_check_drain`).
    pub(super) fn update_drain(&mut self, window: &mut Window, connection: &Connection) {
        let bandwidth = self.rounds.bandwidth();
        if self.mode == Mode::Startup && self.full.is_reached {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(bandwidth, GAIN_UNIT, connection.mss);
        }
        if self.mode == Mode::Drain
            && self.in_network(connection, connection.in_flight)
                <= self.inflight(bandwidth, GAIN_UNIT, connection.mss)
        {
            self.enter_probe_bandwidth(connection);
        }
    }
}
