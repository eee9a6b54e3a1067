//! The constants of BBR version 3.

use serde_json::{Value as Json, json};
use shoal_cc::Bbr3Config;

use super::bbr::{LowestPackets, Millis, Percent, RoundTrips};
use crate::field::{Field, Section};
use crate::report::Report;
use crate::tree::Node;

/// Constants of BBR version 3. Sources are names and sections of draft-ietf-ccwg-bbr
/// (<https://datatracker.ietf.org/doc/html/draft-ietf-ccwg-bbr>).
#[derive(Clone, PartialEq, Debug, Section)]
pub(super) struct Bbr3Options {
    /// Gain of pacing in Startup.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr StartupPacingGain: 277, 4 ln 2")]
    pub startup_pacing_gain_percent: Option<Gain>,
    /// Gain of pacing in Drain.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr DrainPacingGain: 50")]
    pub drain_pacing_gain_percent: Option<Gain>,
    /// Gain of pacing in ProbeBW_DOWN.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr section 5.6.1: 90")]
    pub down_pacing_gain_percent: Option<Gain>,
    /// Gain of pacing in ProbeBW_UP.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr section 5.6.1: 125")]
    pub up_pacing_gain_percent: Option<Gain>,
    /// Gain of the window.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr DefaultCwndGain: 200")]
    pub cwnd_gain_percent: Option<Gain>,
    /// Gain of the window in ProbeBW_UP.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr section 5.6.1: 225")]
    pub up_cwnd_gain_percent: Option<Gain>,
    /// Gain of the window in ProbeRTT.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr ProbeRTTCwndGain: 50")]
    pub probe_rtt_cwnd_gain_percent: Option<Gain>,
    /// By how much pacing stays below the bandwidth.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr PacingMarginPercent: 1")]
    pub pacing_margin_percent: Option<Percent>,
    /// Loss rate of a round that a probe may have.
    #[key(unit = "1/1000", source = "draft-ietf-ccwg-bbr LossThresh: 20")]
    pub loss_threshold_permille: Option<Permille>,
    /// What a round with losses leaves of short-term bounds.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr Beta: 70")]
    pub beta_percent: Option<Share>,
    /// Part of the long-term bound that cruising leaves free.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr Headroom: 15")]
    pub headroom_percent: Option<Share>,
    /// Smallest window.
    #[key(unit = "packets", source = "draft-ietf-ccwg-bbr MinPipeCwnd: 4")]
    pub lowest_window: Option<LowestPackets>,
    /// Growth of the rate by which the path is not yet full.
    #[key(unit = "percent", source = "draft-ietf-ccwg-bbr section 5.3.1.2: 125")]
    pub full_bandwidth_threshold_percent: Option<Gain>,
    /// Round trips without that growth after which it is.
    #[key(unit = "round trips", source = "draft-ietf-ccwg-bbr section 5.3.1.2: 3")]
    pub full_bandwidth_rounds: Option<RoundTrips>,
    /// Lost ranges in a round trip by which Startup ends.
    #[key(unit = "ranges", source = "draft-ietf-ccwg-bbr BBRStartupFullLossCnt: 6")]
    pub startup_losses: Option<RoundTrips>,
    /// Round trips after which Drain ends whatever is in flight.
    #[key(unit = "round trips", source = "draft-ietf-ccwg-bbr section 5.3.2: 3")]
    pub drain_rounds: Option<RoundTrips>,
    /// Round trips over which the excess of ACKs is remembered.
    #[key(unit = "round trips", source = "draft-ietf-ccwg-bbr ExtraAckedFilterLen: 10")]
    pub extra_acked_rounds: Option<RoundTrips>,
    /// Time for which an RTT counts.
    #[key(unit = "ms", source = "draft-ietf-ccwg-bbr MinRTTFilterLen: 10 s")]
    pub min_rtt_window_ms: Option<Millis>,
    /// Time after which an RTT is measured anew.
    #[key(unit = "ms", source = "draft-ietf-ccwg-bbr ProbeRTTInterval: 5 s")]
    pub probe_rtt_interval_ms: Option<Millis>,
    /// Shortest time in ProbeRTT.
    #[key(unit = "ms", source = "draft-ietf-ccwg-bbr ProbeRTTDuration: 200")]
    pub probe_rtt_ms: Option<Millis>,
    /// Shortest time from one probe for bandwidth to the next.
    #[key(unit = "ms", source = "draft-ietf-ccwg-bbr PickProbeWait: 2 s")]
    pub probe_wait_ms: Option<Millis>,
    /// How much longer it may be, at random.
    #[key(unit = "ms", source = "draft-ietf-ccwg-bbr PickProbeWait: 1 s")]
    pub probe_wait_random_ms: Option<Millis>,
    /// Most round trips from one probe for bandwidth to the next.
    #[key(unit = "round trips", source = "draft-ietf-ccwg-bbr IsRenoCoexistenceProbeTime: 63")]
    pub probe_rounds: Option<RoundTrips>,
}
overrides!(Bbr3Options of Bbr3Config {
    startup_pacing_gain_percent, drain_pacing_gain_percent, down_pacing_gain_percent, up_pacing_gain_percent,
    cwnd_gain_percent, up_cwnd_gain_percent, probe_rtt_cwnd_gain_percent, pacing_margin_percent,
    loss_threshold_permille, beta_percent, headroom_percent, lowest_window, full_bandwidth_threshold_percent,
    full_bandwidth_rounds, startup_losses, drain_rounds, extra_acked_rounds, min_rtt_window_ms,
    probe_rtt_interval_ms, probe_rtt_ms, probe_wait_ms, probe_wait_random_ms, probe_rounds,
});

bounded!(
    /// A gain.
    Gain(u32), 1..=1000, "gains go from 1 to 1000 percent"
);
bounded!(
    /// A part.
    Share(u32), 0..=100, "0 to 100 percent"
);
bounded!(
    /// A loss rate.
    Permille(u32), 0..=999, "0 to 999 of 1000"
);
