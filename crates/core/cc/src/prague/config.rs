//! The policies of TCP Prague, and what version 0.7 makes of them. Every other preset says in what it differs from
//! that.

use crate::{EcnUse, GrowthRules, Law, LossResponse, RenoConfig, UndoWindow};

/// Response to the first CE of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstCe {
    /// The response is that to every other mark, with the first value of alpha (versions 0.5 and 0.6).
    AsAny,
    /// The window is halved, and alpha starts from zero (version 0.7).
    HalveThenZero,
}

/// Whether rates depend on short round-trip times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RttIndependence {
    /// The law counts in round trips (default of version 0.5).
    Off,
    /// The law counts in virtual round trips of max(RTT, target) (versions 0.6 and 0.7).
    Floor,
}

/// How the fraction of a packet in the window becomes whole packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowSteps {
    /// `cwnd` is an integer with a carry of 20 bits, and steps when the carry amounts to a packet (version 0.5).
    Carry,
    /// The window has a fraction of 20 bits, and `cwnd` is the window rounded up (since 0.6).
    Ceil,
}

/// What the window gains in a (virtual) round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncreaseUnit {
    /// One packet of the size in use (up to the early 0.7).
    Packet,
    /// 1500 B whatever the packet size (version 0.7: the increase is scaled by 1500 B / MTU).
    Bytes1500,
}

/// The window of which the pacing rate is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacedWindow {
    /// The larger of `cwnd` and the packets in flight (0.5 and the early 0.7).
    Cwnd,
    /// The window with its fraction (0.6).
    Fractional,
    /// The larger of the window rounded down and the packets in flight (0.7).
    Whole,
}

/// Constants of the classic-ECN indicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FallbackConstants {
    /// lg 750 and lg 2000 in units of alpha's resolution: thresholds of 750 us and 2 ms.
    Scaled,
    /// The constants of 20 bits, which with an alpha of 24 bits are too small by 2^4: thresholds of 1.5 us and 1.6 us
    /// (tcp-prague of 2023 to 2025, 5.15 kernels).
    Of20Bits,
}

/// Configuration of TCP Prague: one controller with named policies, where a version is a preset.
///
/// Sources, as the fields name them: 0.5, 0.6 and 0.7 are `tcp_prague` of L4STeam/linux at b256daedc767, 02573a215581
/// and 893e1479793e; "early 0.7" is L4STeam/tcp-prague at 90aea47f94ef.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PragueConfig {
    /// Fractional bits of alpha: 20 (0.5, 0.6) or 24 (0.7).
    pub alpha_bits: u8,
    /// First value of alpha, in 1/1024: 1024 (0.5, 0.6) or 0 (0.7).
    pub initial_alpha_q10: u16,
    /// Response to the first CE.
    pub first_ce: FirstCe,
    /// Gain of the moving average: 2^-shift, at most 7. All versions: 4.
    pub gain_shift: u8,
    /// Whether the average keeps `gain_shift` more bits than alpha has, so that nothing is lost to rounding (all
    /// versions in the kernel), or each of its divisions truncates (udp_prague).
    pub keeps_remainder: bool,
    /// Whether rates depend on short round-trip times.
    pub rtt_independence: RttIndependence,
    /// Shortest virtual round trip, in us: 15,000 (0.5, if switched on) or 25,000.
    pub rtt_target_us: u32,
    /// Round trips after which the virtual one is used: 100 (0.5, if switched on), 500 (0.6), 4 (0.7).
    pub independent_after_rounds: u16,
    /// Whether alpha, once independent of the RTT, is updated not before the target has passed (since 0.6).
    pub alpha_waits_for_target: bool,
    /// Whether cuts, once independent of the RTT, keep the target between each other (since 0.6).
    pub cut_waits_for_target: bool,
    /// How fractions of a packet become whole ones.
    pub window_steps: WindowSteps,
    /// What the window gains in a (virtual) round trip.
    pub increase_unit: IncreaseUnit,
    /// Whether packets without CE make the window grow in CWR, too (all versions).
    pub grows_in_cwr: bool,
    /// Whether the window grows linearly after a timeout before recovery has ended. No version does.
    pub grows_in_loss: bool,
    /// Response to packet loss. All versions halve.
    pub loss: LossResponse,
    /// Window that an undo restores. All versions: that before the reduction.
    pub undo: UndoWindow,
    /// Smallest window, in packets. All versions: 2.
    pub lowest_window: u8,
    /// The window of which the pacing rate is made.
    pub paced_window: PacedWindow,
    /// Whether the pacing rate is doubled while `cwnd < ssthresh / 2`.
    pub doubles_pace_in_slow_start: bool,
    /// Largest window, in packets of 1500 B, with which the state is a rate instead of a window, once a CE was seen; 0:
    /// never. 4 since the early 0.7.
    pub rate_mode_packets: u8,
    /// Whether packets become smaller at low rates, so that two fit into a virtual round trip (since the early 0.7).
    pub sizes_packets: bool,
    /// Smallest packet, with headers, in bytes: 150.
    pub smallest_packet: u8,
    /// Lowest rate of the rate mode, in kbit/s: 100.
    pub lowest_rate_kbps: u16,
    /// Longest burst at the pacing rate: 2^-shift s. All versions: 12, which is 244 us.
    pub burst_shift: u8,
    /// Whether the response grows to that of a classic flow where the indicator says that the queue is a classic one.
    /// Default of all versions: no.
    pub classic_fallback: bool,
    /// Constants of that indicator.
    pub fallback_constants: FallbackConstants,
}

/// `prague-0.7`: the version of 2024 to 2026.
pub const PRAGUE_0_7: PragueConfig = PragueConfig {
    alpha_bits: 24,
    initial_alpha_q10: 0,
    first_ce: FirstCe::HalveThenZero,
    gain_shift: 4,
    keeps_remainder: true,
    rtt_independence: RttIndependence::Floor,
    rtt_target_us: 25_000,
    independent_after_rounds: 4,
    alpha_waits_for_target: true,
    cut_waits_for_target: true,
    window_steps: WindowSteps::Ceil,
    increase_unit: IncreaseUnit::Bytes1500,
    grows_in_cwr: true,
    grows_in_loss: false,
    loss: LossResponse::Halve,
    undo: UndoWindow::AtReduction,
    lowest_window: 2,
    paced_window: PacedWindow::Whole,
    doubles_pace_in_slow_start: true,
    rate_mode_packets: 4,
    sizes_packets: true,
    smallest_packet: 150,
    lowest_rate_kbps: 100,
    burst_shift: 12,
    classic_fallback: false,
    fallback_constants: FallbackConstants::Scaled,
};

impl Law for PragueConfig {
    type Controller = super::Prague;
    const ECN_USE: EcnUse = EcnUse::L4s;

    fn start(self, rules: GrowthRules) -> super::Prague {
        super::Prague::new(self, rules)
    }
    /// `cwnd` follows a cut by one packet an ACK.
    fn cuts_once_a_window(&self) -> bool {
        false
    }
    /// Without accurate ECN every version is Reno.
    fn without_ecn(self) -> Option<RenoConfig> {
        Some(RenoConfig { undo: self.undo, ..crate::reno::RENO })
    }
}
