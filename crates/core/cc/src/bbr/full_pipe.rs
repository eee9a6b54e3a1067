//! Whether Startup has filled the pipe: the bandwidth has stopped to grow (`bbr_check_full_bw_reached`).

use super::bandwidth::Bandwidth;
use crate::BbrConfig;

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
