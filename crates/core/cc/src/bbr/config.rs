//! The constants of BBR version 1, in the kernel's units.

use super::Bbr;
use crate::{GrowthRules, Law};

/// Constants of BBR version 1
/// ([`net/ipv4/tcp_bbr.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_bbr.c)). Gains are in 1/256
/// (`BBR_UNIT`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BbrConfig {
    /// Gain of pacing and window in Startup, 1/256 (`bbr_high_gain`): 2/ln 2.
    pub high_gain_q8: u32,
    /// Gain of pacing in Drain, 1/256 (`bbr_drain_gain`).
    pub drain_gain_q8: u32,
    /// Gain of the window in ProbeBW, 1/256 (`bbr_cwnd_gain`).
    pub cwnd_gain_q8: u32,
    /// Gain of pacing in the phase that probes, 1/256 (`bbr_pacing_gain[0]`).
    pub probe_gain_q8: u32,
    /// Gain of pacing in the phase after it, 1/256 (`bbr_pacing_gain[1]`).
    pub yield_gain_q8: u32,
    /// Round trips whose largest rate is the bandwidth (`bbr_bw_rtts`).
    pub bandwidth_rounds: u32,
    /// Time after which the smallest RTT is to be measured again, in milliseconds (`bbr_min_rtt_win_sec`).
    pub min_rtt_window_ms: u32,
    /// Shortest time with the smallest window in ProbeRTT, in milliseconds (`bbr_probe_rtt_mode_ms`); 0 switches
    /// ProbeRTT off.
    pub probe_rtt_ms: u32,
    /// Growth of the bandwidth by which a path is not yet full, 1/256 (`bbr_full_bw_thresh`).
    pub full_bandwidth_threshold_q8: u32,
    /// Round trips without that growth after which it is (`bbr_full_bw_cnt`).
    pub full_bandwidth_rounds: u32,
    /// Part of the bandwidth that pacing stays below it, in percent (`bbr_pacing_margin_percent`).
    pub pacing_margin_percent: u32,
    /// Smallest window in packets (`bbr_cwnd_min_target`).
    pub lowest_window: u32,
    /// Phases among which the first one of ProbeBW is drawn (`bbr_cycle_rand`).
    pub random_phases: u32,
    /// Part of the excess of aggregated ACKs that the window allows for, 1/256 (`bbr_extra_acked_gain`); 0 switches
    /// that off.
    pub extra_acked_gain_q8: u32,
    /// Whether a token bucket on the path is modelled (`bbr_lt_bw_sampling`).
    pub models_policers: bool,
}

/// The constants of Linux.
pub const BBR: BbrConfig = BbrConfig {
    high_gain_q8: 256 * 2885 / 1000 + 1,
    drain_gain_q8: 256 * 1000 / 2885,
    cwnd_gain_q8: 256 * 2,
    probe_gain_q8: 256 * 5 / 4,
    yield_gain_q8: 256 * 3 / 4,
    bandwidth_rounds: 10,
    min_rtt_window_ms: 10_000,
    probe_rtt_ms: 200,
    full_bandwidth_threshold_q8: 256 * 5 / 4,
    full_bandwidth_rounds: 3,
    pacing_margin_percent: 1,
    lowest_window: 4,
    random_phases: 7,
    extra_acked_gain_q8: 256,
    models_policers: true,
};

impl Law for BbrConfig {
    type Controller = Bbr;
    const NEEDS_RATE_SAMPLES: bool = true;

    fn start(self, _rules: GrowthRules) -> Bbr {
        Bbr::new(self)
    }
    /// Losses alone bring no reduction.
    fn cuts_once_a_window(&self) -> bool {
        true
    }
}
