//! The constants of BBR version 3.

use super::Bbr3;
use crate::{GrowthRules, Law};

/// Constants of BBR version 3 (draft-ietf-ccwg-bbr,
/// <https://datatracker.ietf.org/doc/html/draft-ietf-ccwg-bbr>), by the names that it has for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bbr3Config {
    /// Gain of pacing in Startup, percent (StartupPacingGain): 4 ln 2.
    pub startup_pacing_gain_percent: u32,
    /// Gain of pacing in Drain, percent (DrainPacingGain).
    pub drain_pacing_gain_percent: u32,
    /// Gain of pacing in ProbeBW_DOWN, percent.
    pub down_pacing_gain_percent: u32,
    /// Gain of pacing in ProbeBW_UP, percent.
    pub up_pacing_gain_percent: u32,
    /// Gain of the window, percent (DefaultCwndGain).
    pub cwnd_gain_percent: u32,
    /// Gain of the window in ProbeBW_UP, percent.
    pub up_cwnd_gain_percent: u32,
    /// Gain of the window in ProbeRTT, percent (ProbeRTTCwndGain).
    pub probe_rtt_cwnd_gain_percent: u32,
    /// Part of the bandwidth that pacing stays below it, percent (PacingMarginPercent).
    pub pacing_margin_percent: u32,
    /// Loss rate of a round that a probe may have, in 1/1000 (LossThresh).
    pub loss_threshold_permille: u32,
    /// What a round with losses leaves of short-term bounds, percent (Beta).
    pub beta_percent: u32,
    /// Part of the long-term bound that cruising leaves free, percent (Headroom).
    pub headroom_percent: u32,
    /// Smallest window in packets (MinPipeCwnd).
    pub lowest_window: u32,
    /// Growth of the rate by which the path is not yet full, percent (section 5.3.1.2).
    pub full_bandwidth_threshold_percent: u32,
    /// Rounds without that growth after which it is (section 5.3.1.2).
    pub full_bandwidth_rounds: u32,
    /// Lost ranges in a round by which Startup ends (BBRStartupFullLossCnt).
    pub startup_losses: u32,
    /// Rounds after which Drain ends whatever is in flight (section 5.3.2).
    pub drain_rounds: u32,
    /// Rounds over which the excess of ACKs is remembered (ExtraAckedFilterLen).
    pub extra_acked_rounds: u32,
    /// Time for which an RTT counts, in milliseconds (MinRTTFilterLen).
    pub min_rtt_window_ms: u32,
    /// Time after which an RTT is measured anew, in milliseconds (ProbeRTTInterval).
    pub probe_rtt_interval_ms: u32,
    /// Shortest time in ProbeRTT, in milliseconds (ProbeRTTDuration).
    pub probe_rtt_ms: u32,
    /// Shortest time from one probe for bandwidth to the next, in milliseconds (PickProbeWait).
    pub probe_wait_ms: u32,
    /// How much longer it may be, at random, in milliseconds (PickProbeWait).
    pub probe_wait_random_ms: u32,
    /// Most rounds from one probe for bandwidth to the next (IsRenoCoexistenceProbeTime).
    pub probe_rounds: u32,
}

/// The constants of the document.
pub const BBR3: Bbr3Config = Bbr3Config {
    startup_pacing_gain_percent: 277,
    drain_pacing_gain_percent: 50,
    down_pacing_gain_percent: 90,
    up_pacing_gain_percent: 125,
    cwnd_gain_percent: 200,
    up_cwnd_gain_percent: 225,
    probe_rtt_cwnd_gain_percent: 50,
    pacing_margin_percent: 1,
    loss_threshold_permille: 20,
    beta_percent: 70,
    headroom_percent: 15,
    lowest_window: 4,
    full_bandwidth_threshold_percent: 125,
    full_bandwidth_rounds: 3,
    startup_losses: 6,
    drain_rounds: 3,
    extra_acked_rounds: 10,
    min_rtt_window_ms: 10_000,
    probe_rtt_interval_ms: 5_000,
    probe_rtt_ms: 200,
    probe_wait_ms: 2_000,
    probe_wait_random_ms: 1_000,
    probe_rounds: 63,
};

impl Law for Bbr3Config {
    type Controller = Bbr3;
    const NEEDS_RATE_SAMPLES: bool = true;

    fn start(self, _rules: GrowthRules) -> Bbr3 {
        Bbr3::new(self)
    }
}
