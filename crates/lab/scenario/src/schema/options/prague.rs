//! The policies of TCP Prague.

use serde_json::{Value as Json, json};
use shoal_cc::{
    FallbackConstants, FirstCe, IncreaseUnit, LossResponse, PacedWindow, PragueConfig, RttIndependence,
    UndoWindow, WindowSteps,
};

use super::dctcp::AlphaQ10;
use crate::field::{Field, Section, choices};
use crate::report::Report;
use crate::tree::Node;

/// Policies of TCP Prague. Sources are versions of `tcp_prague`: 0.5 (L4STeam/linux b256daedc767), 0.6
/// (02573a215581), early 0.7 (L4STeam/tcp-prague 90aea47f94ef), 0.7 (L4STeam/linux 893e1479793e).
#[derive(Clone, PartialEq, Debug, Section)]
pub(super) struct PragueOptions {
    /// Fractional bits of alpha.
    #[key(unit = "bits", source = "tcp_prague: 20 (0.5, 0.6), 24 (0.7)")]
    pub alpha_bits: Option<AlphaBits>,
    /// First value of alpha, in 1/1024.
    #[key(unit = "0 to 1024", source = "tcp_prague: 1024 (0.5, 0.6), 0 (0.7)")]
    pub initial_alpha_q10: Option<AlphaQ10>,
    /// Response to the first CE: as to all others, or halve the window and start alpha from zero.
    #[key(source = "tcp_prague: as-any (0.5, 0.6), halve-then-zero (0.7)")]
    pub first_ce: Option<FirstCe>,
    /// Gain of alpha's average is 2^-shift.
    #[key(source = "tcp_prague: 4")]
    pub gain_shift: Option<GainShift>,
    /// Whether alpha's average keeps the remainders of its divisions.
    #[key(source = "tcp_prague: yes; udp_prague: no")]
    pub keeps_remainder: Option<bool>,
    /// Whether rates depend on short round-trip times: the law counts in round trips, or in max(RTT, target).
    #[key(source = "RFC 9331 section 4.3; tcp_prague: off (0.5), floor (since 0.6)")]
    pub rtt_independence: Option<RttIndependence>,
    /// Shortest virtual round trip.
    #[key(unit = "us", source = "tcp_prague: 15,000 (0.5), 25,000")]
    pub rtt_target_us: Option<RttTarget>,
    /// Round trips after which rates become independent of them.
    #[key(unit = "round trips", source = "tcp_prague: 100 (0.5), 500 (0.6), 4 (0.7)")]
    pub independent_after_rounds: Option<Rounds>,
    /// Whether alpha is updated not before the target has passed.
    #[key(source = "tcp_prague since 0.6")]
    pub alpha_waits_for_target: Option<bool>,
    /// Whether cuts keep the target between each other.
    #[key(source = "tcp_prague since 0.6")]
    pub cut_waits_for_target: Option<bool>,
    /// How fractions of a packet in the window become whole ones: by a carry, or the window is rounded up.
    #[key(source = "tcp_prague: carry (0.5), ceil (since 0.6)")]
    pub window_steps: Option<WindowSteps>,
    /// What the window gains in a (virtual) round trip: a packet of the size in use, or 1500 B.
    #[key(source = "tcp_prague: packet (up to the early 0.7), bytes1500 (0.7)")]
    pub increase_unit: Option<IncreaseUnit>,
    /// Whether the window grows in CWR.
    #[key(source = "Kuehlewind et al. 2014 section III-A; Kato et al. 2015 section 4.1")]
    pub grows_in_cwr: Option<bool>,
    /// Whether the window grows linearly after a timeout before recovery has ended.
    #[key(source = "tcp_prague: no")]
    pub grows_in_loss: Option<bool>,
    /// Response to packet loss.
    #[key(source = "RFC 8257 section 3.4; tcp_dctcp.c before 5.1")]
    pub loss: Option<LossResponse>,
    /// Window restored when a reduction turns out spurious.
    #[key(source = "tcp_cong.c; tcp_dctcp.c since 4.9")]
    pub undo: Option<UndoWindow>,
    /// Smallest window.
    #[key(unit = "packets", source = "tcp_prague: 2")]
    pub lowest_window: Option<LowestWindow>,
    /// The window of which the pacing rate is made: cwnd, the exact window, or the window in whole packets.
    #[key(source = "tcp_prague: cwnd (0.5, early 0.7), fractional (0.6), whole (0.7)")]
    pub paced_window: Option<PacedWindow>,
    /// Whether the pacing rate is doubled while cwnd is below half of ssthresh.
    #[key(source = "tcp_prague: yes")]
    pub doubles_pace_in_slow_start: Option<bool>,
    /// Largest window, in packets of 1500 B, with which the state is a rate instead of a window; 0: never.
    #[key(unit = "packets", source = "tcp_prague: 0 (0.5, 0.6), 4 (0.7)")]
    pub rate_mode_packets: Option<RateModePackets>,
    /// Whether packets become smaller at low rates.
    #[key(source = "tcp_prague since 0.7")]
    pub sizes_packets: Option<bool>,
    /// Smallest packet, with headers.
    #[key(unit = "bytes", source = "tcp_prague: 150")]
    pub smallest_packet: Option<SmallestPacket>,
    /// Lowest rate of the rate mode.
    #[key(unit = "kbit/s", source = "tcp_prague: 100")]
    pub lowest_rate_kbps: Option<LowestRate>,
    /// Longest burst at the pacing rate is 2^-shift s.
    #[key(source = "tcp_prague: 12; RFC 9331 section 4.3")]
    pub burst_shift: Option<BurstShift>,
    /// Whether the response grows to that of a classic flow where the queue seems to be a classic one.
    #[key(source = "RFC 9331 section 4.3.1; tcp_prague: exists up to the early 0.7, off")]
    pub classic_fallback: Option<bool>,
    /// Constants of the indicator for that: scaled to alpha's bits, or those of 20 bits.
    #[key(source = "tcp_prague: of-20-bits in the early 0.7, whose alpha has 24")]
    pub fallback_constants: Option<FallbackConstants>,
}
overrides!(PragueOptions of PragueConfig {
    alpha_bits, initial_alpha_q10, first_ce, gain_shift, keeps_remainder, rtt_independence, rtt_target_us,
    independent_after_rounds, alpha_waits_for_target, cut_waits_for_target, window_steps, increase_unit, grows_in_cwr,
    grows_in_loss, loss, undo, lowest_window, paced_window, doubles_pace_in_slow_start, rate_mode_packets,
    sizes_packets, smallest_packet, lowest_rate_kbps, burst_shift, classic_fallback, fallback_constants,
});

choices!(FirstCe { "as-any" => Self::AsAny, "halve-then-zero" => Self::HalveThenZero, });
choices!(RttIndependence { "off" => Self::Off, "floor" => Self::Floor, });
choices!(WindowSteps { "carry" => Self::Carry, "ceil" => Self::Ceil, });
choices!(IncreaseUnit { "packet" => Self::Packet, "bytes1500" => Self::Bytes1500, });
choices!(PacedWindow {
    "cwnd" => Self::Cwnd,
    "fractional" => Self::Fractional,
    "whole" => Self::Whole,
});
choices!(FallbackConstants { "scaled" => Self::Scaled, "of-20-bits" => Self::Of20Bits, });

bounded!(
    /// A resolution of alpha.
    AlphaBits(u8), 10..=24, "alpha has 10 to 24 fractional bits"
);
bounded!(
    /// An exponent of a gain.
    GainShift(u8), 0..=7, "the gain goes from 2^0 to 2^-7"
);
bounded!(
    /// A virtual round trip.
    RttTarget(u32), 1..=10_000_000, "the target goes from 1 us to 10 s"
);
bounded!(
    /// A number of round trips that the state can count.
    Rounds(u16), 0..=u16::MAX, "at most 65535 round trips are counted"
);
bounded!(
    /// A window in which acknowledgements keep coming.
    LowestWindow(u8), 2..=255, "the window needs two packets, at most 255 here"
);
bounded!(
    /// A window of the rate mode.
    RateModePackets(u8), 0..=255, "0 to 255 packets of 1500 B"
);
bounded!(
    /// A packet that carries data.
    SmallestPacket(u8), 53..=255, "headers have 52 B, and the key 8 bits: 53 to 255 B"
);
bounded!(
    /// A rate at which packets keep leaving.
    LowestRate(u16), 1..=u16::MAX, "1 to 65535 kbit/s"
);
bounded!(
    /// An exponent of a burst.
    BurstShift(u8), 0..=39, "bursts go from 1 s to 2^-39 s, which is 2 ps"
);
