//! The constants of BBR version 1.

use shoal_cc::BbrConfig;

use crate::field::Field;
use crate::field::Section;
use crate::report::Report;
use crate::tree::Node;
use serde_json::{Value as Json, json};

/// Constants of BBR version 1. Sources are those of
/// [`net/ipv4/tcp_bbr.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_bbr.c).
#[derive(Clone, PartialEq, Debug, Section)]
pub(super) struct BbrOptions {
    /// Gain of pacing and window in Startup.
    #[key(unit = "1/256", source = "tcp_bbr.c bbr_high_gain: 739, 2/ln 2")]
    pub high_gain_q8: Option<GainQ8>,
    /// Gain of pacing in Drain.
    #[key(unit = "1/256", source = "tcp_bbr.c bbr_drain_gain: 88")]
    pub drain_gain_q8: Option<GainQ8>,
    /// Gain of the window in ProbeBW.
    #[key(unit = "1/256", source = "tcp_bbr.c bbr_cwnd_gain: 512")]
    pub cwnd_gain_q8: Option<GainQ8>,
    /// Gain of pacing in the phase of ProbeBW that probes.
    #[key(unit = "1/256", source = "tcp_bbr.c bbr_pacing_gain: 320")]
    pub probe_gain_q8: Option<GainQ8>,
    /// Gain of pacing in the phase after it.
    #[key(unit = "1/256", source = "tcp_bbr.c bbr_pacing_gain: 192")]
    pub yield_gain_q8: Option<GainQ8>,
    /// Round trips whose largest rate is the bandwidth.
    #[key(unit = "round trips", source = "tcp_bbr.c bbr_bw_rtts: 10")]
    pub bandwidth_rounds: Option<RoundTrips>,
    /// Time after which the smallest RTT is measured again.
    #[key(unit = "ms", source = "tcp_bbr.c bbr_min_rtt_win_sec: 10 s")]
    pub min_rtt_window_ms: Option<Millis>,
    /// Shortest time with the smallest window in ProbeRTT; 0: no ProbeRTT.
    #[key(unit = "ms", source = "tcp_bbr.c bbr_probe_rtt_mode_ms: 200")]
    pub probe_rtt_ms: Option<Millis>,
    /// Growth of the bandwidth by which the pipe is not yet full.
    #[key(unit = "1/256", source = "tcp_bbr.c bbr_full_bw_thresh: 320")]
    pub full_bandwidth_threshold_q8: Option<GainQ8>,
    /// Round trips without that growth after which it is.
    #[key(unit = "round trips", source = "tcp_bbr.c bbr_full_bw_cnt: 3")]
    pub full_bandwidth_rounds: Option<RoundTrips>,
    /// By how much pacing stays below the bandwidth.
    #[key(unit = "percent", source = "tcp_bbr.c bbr_pacing_margin_percent: 1")]
    pub pacing_margin_percent: Option<Percent>,
    /// Smallest window.
    #[key(unit = "packets", source = "tcp_bbr.c bbr_cwnd_min_target: 4")]
    pub lowest_window: Option<LowestPackets>,
    /// Phases among which the first one of ProbeBW is drawn; 1: always the one that probes.
    #[key(unit = "phases", source = "tcp_bbr.c bbr_cycle_rand: 7")]
    pub random_phases: Option<Phases>,
    /// Part of the excess of aggregated ACKs that the window allows for; 0: none.
    #[key(unit = "1/256", source = "tcp_bbr.c bbr_extra_acked_gain: 256")]
    pub extra_acked_gain_q8: Option<ExcessGain>,
    /// Whether a token bucket on the path is modelled.
    #[key(source = "tcp_bbr.c bbr_lt_bw_sampling")]
    pub models_policers: Option<bool>,
}
overrides!(BbrOptions of BbrConfig {
    high_gain_q8, drain_gain_q8, cwnd_gain_q8, probe_gain_q8, yield_gain_q8, bandwidth_rounds, min_rtt_window_ms,
    probe_rtt_ms, full_bandwidth_threshold_q8, full_bandwidth_rounds, pacing_margin_percent, lowest_window,
    random_phases, extra_acked_gain_q8, models_policers,
});

bounded!(
    /// A gain in the 10 bits that the kernel has for it.
    GainQ8(u32), 1..=1023, "gains go from 1/256 to 1023/256"
);
bounded!(
    /// A gain that may be zero.
    ExcessGain(u32), 0..=1023, "gains go from 0 to 1023/256"
);
bounded!(
    /// A number of round trips.
    RoundTrips(u32), 1..=1000, "1 to 1000 round trips"
);
bounded!(
    /// A time in milliseconds.
    Millis(u32), 0..=3_600_000, "at most an hour, which is 3,600,000 ms"
);
bounded!(
    /// A margin.
    Percent(u32), 0..=50, "the margin is at most 50 percent"
);
bounded!(
    /// A window in which acknowledgements keep coming.
    LowestPackets(u32), 2..=1000, "2 to 1000 packets"
);
bounded!(
    /// A number of phases.
    Phases(u32), 1..=8, "the cycle has eight phases"
);
