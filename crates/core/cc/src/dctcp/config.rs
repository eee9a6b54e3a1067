//! The policies of DCTCP, and what `dctcp` makes of them. Every other preset says in what it differs from that.

use crate::{EcnUse, GrowthRules, Law, RenoConfig, UndoWindow};
use shoal_units::Difference;

/// Resolution of alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaResolution {
    /// 2^-10, with decay and increment both truncated: alpha stays at 15/1024 or above (Stanford patch, Linux
    /// 3.18).
    Bits10,
    /// 2^-10, with a decay by `min_not_zero`: alpha falls from 15/1024 to 0 in one step (Linux since 4.x).
    Bits10MinNotZero,
    /// 2^-20, truncated (Kuehlewind et al. 2014).
    Bits20,
    /// Double precision, the law without rounding, for comparison.
    Exact,
}

/// When alpha is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaUpdate {
    /// Once for each window of data.
    PerWindow,
    /// On every ACK, with F = 1 if the ACK carries ECE, else 0 (Kuehlewind et al. 2014). The weight of an ACK
    /// is what it counts by [`MarkCounting`]: one, its packets, or its bytes in MSS.
    PerAck,
}

/// What the marked fraction counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkCounting {
    /// Packets delivered, including those that were SACKed (current Linux).
    Packets,
    /// Bytes acknowledged; a duplicate ACK counts one MSS (Stanford patch, Linux 3.18,
    /// [RFC 8257](https://www.rfc-editor.org/rfc/rfc8257)).
    Bytes,
    /// ACKs: each counts once, whatever it acknowledges (Kuehlewind et al. 2014 updates "on the reception of
    /// each acknowledgement").
    Acks,
}

/// Gain of the moving average.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gain {
    /// g = 2^-shift.
    Shift(u8),
    /// With per-ACK updates: g = 2^-shift per window, of which each packet in flight has an equal part
    /// (suggestion of Kuehlewind et al. 2014 in section III-B c).
    PerWindowInFlight(u8),
}

/// Effect of an event on alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaAfter {
    /// Alpha is not changed.
    Keep,
    /// Alpha is set to its initial value.
    Reinitialise,
    /// Alpha is set to one (Linux 3.18 `dctcp_clamp_alpha_on_loss`).
    One,
    /// Alpha is updated once with what has been counted so far (FreeBSD).
    Update,
}

/// When a window of observation is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObservationEnd {
    /// The ACK that reaches the end of the window (Linux `!before(snd_una, next_seq)`).
    AtEnd,
    /// The first ACK beyond the end of the window (FreeBSD `SEQ_GT(curack, save_sndnxt)`).
    BeyondEnd,
}

/// Whether windows of observation end in fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaInRecovery {
    /// They end as outside of recovery (Linux).
    Continue,
    /// They do not end, and the ACK that ends recovery does not end one either (FreeBSD since 2019).
    Hold,
    /// They do not end, but the ACK that ends recovery ends one (FreeBSD 2015).
    HoldThenAck,
}

/// Response to the first mark of a connection, or of the time after an idle period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstMark {
    /// The response is that to every other mark.
    AsAny,
    /// The window is halved and alpha is set to one (FreeBSD `net.inet.tcp.cc.dctcp.slowstart`).
    Halve,
}

/// Rounding of the window after a cut. It makes no difference where windows count packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutRounding {
    /// Rounded down to the unit of the window (FreeBSD since 2019: bytes).
    Exact,
    /// Rounded down to whole packets (FreeBSD 2015).
    WholePackets,
}

/// Window from which the cut for a loss within an ECN episode is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossBase {
    /// The present window.
    Window,
    /// The window at the last mark, before its cut (FreeBSD `snd_cwnd_prev`).
    AtLastMark,
}

/// How a reduction is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutStyle {
    /// Once a window; `cwnd` is set immediately (Stanford patch, RFC 8257).
    OnceAtOnce,
    /// Once a window; `ssthresh` is set, and the endpoint brings `cwnd` there over one round trip (Linux
    /// since 3.18).
    OnceSpread,
    /// On each ECN-Echo: to `cwnd_max (1 - alpha/2)` if that is lower, where `cwnd_max` is the window at the
    /// start of CWR (Kuehlewind et al. 2014, section III-B d).
    Progressive,
    /// Half a packet for each marked packet: the idealisation that leads to the law W = 2/p (De Schepper et
    /// al. 2015). It requires undisturbed linear growth, so the linear-increase counter is not changed
    /// whatever [`CounterOnCut`] says.
    PerMark,
}

/// Value of `ssthresh` after a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SsthreshAfterCut {
    /// The new `cwnd`.
    Cwnd,
    /// One less than the new `cwnd` (Kuehlewind et al. 2014: with the test `cwnd <= ssthresh` the first ACK
    /// would otherwise cause slow start).
    CwndMinusOne,
}

/// Effect of an ECN episode on the linear-increase counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterOnCut {
    /// Cleared in every episode.
    Clear,
    /// Kept if the window was not reduced (Kuehlewind et al. 2014, section III-A b).
    KeepUnlessCut,
    /// Never cleared (FreeBSD `t_bytes_acked`).
    Keep,
}

/// Response to packet loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossResponse {
    /// The window is halved (RFC 8257, Linux since 5.1; Stanford patch).
    Halve,
    /// The window is scaled by alpha as for a mark (Linux 3.18 to 5.0).
    Alpha,
}

/// Configuration of DCTCP: one controller with named policies, where a variant is a preset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DctcpConfig {
    /// Resolution of alpha.
    pub alpha_resolution: AlphaResolution,
    /// When alpha is updated.
    pub alpha_update: AlphaUpdate,
    /// What the marked fraction counts.
    pub counting: MarkCounting,
    /// Gain of the moving average.
    pub gain: Gain,
    /// With [`MarkCounting::Bytes`]: when ECN-Echo changes, the first packet of the ACK that reports it still
    /// counts with the previous state, because the receiver does not flush (FreeBSD `ece_prev`).
    pub corrects_edges: bool,
    /// Which ACK ends an observation window.
    pub observation_ends: ObservationEnd,
    /// First value of alpha, in 1/1024.
    pub initial_alpha_q10: u16,
    /// Alpha when sending resumes after an idle period longer than the RTO.
    pub alpha_after_idle: AlphaAfter,
    /// Alpha on a retransmission timeout.
    pub alpha_on_timeout: AlphaAfter,
    /// Alpha when duplicate ACKs lead into fast recovery.
    pub alpha_on_loss: AlphaAfter,
    /// Whether windows of observation end in fast recovery.
    pub alpha_in_recovery: AlphaInRecovery,
    /// Alpha when recovery ends. Only FreeBSD stacks report that.
    pub alpha_after_recovery: AlphaAfter,
    /// Whether a duplicate ACK counts in the marked fraction. No effect with [`MarkCounting::Packets`], which
    /// counts what the duplicate SACKs.
    pub counts_duplicates: bool,
    /// With [`MarkCounting::Bytes`]: most bytes that a duplicate ACK counts as; it counts as one MSS at most.
    /// Linux uses the MSS that it estimates for its own *receive* direction (`icsk_ack.rcv_mss`), which stays
    /// at 536 B (`TCP_MSS_DEFAULT`) while no data arrive.
    pub duplicate_bytes_max: u32,
    /// How a reduction is made.
    pub cut: CutStyle,
    /// How the window after a cut is rounded.
    pub cut_rounding: CutRounding,
    /// Response to the first mark.
    pub first_mark: FirstMark,
    /// Value of `ssthresh` after a cut.
    pub ssthresh_after_cut: SsthreshAfterCut,
    /// Whether the window grows in CWR.
    pub grows_in_cwr: bool,
    /// Effect of an ECN episode on the linear-increase counter.
    pub counter_on_cut: CounterOnCut,
    /// Response to packet loss.
    pub loss: LossResponse,
    /// Whether a loss detected in CWR cuts `ssthresh` once more, from the window at that moment (Linux since
    /// 5.1: `dctcp_state` acts on every transition into Recovery).
    pub cuts_again_on_loss_in_cwr: bool,
    /// Window from which that cut is computed.
    pub loss_base: LossBase,
    /// Whether the proportional reduction, which such a loss continues, counts from the window of the loss, if that is
    /// larger than the one with which CWR began. Linux keeps the latter, of which the new `ssthresh` may be a multiple.
    pub raises_prr_base_on_loss: bool,
    /// Window that an undo restores.
    pub undo: UndoWindow,
    /// Whether the sender announces reductions with CWR.
    pub sends_cwr: bool,
    /// Lowest window after a cut, in packets.
    pub floor_packets: u32,
}

/// MSS that Linux assumes for its receive direction until data arrive (`TCP_MSS_DEFAULT`).
const LINUX_RCV_MSS: u32 = 536;

/// `dctcp`: [RFC 8257](https://www.rfc-editor.org/rfc/rfc8257) as current Linux implements it.
pub const DCTCP: DctcpConfig = DctcpConfig {
    alpha_resolution: AlphaResolution::Bits10MinNotZero,
    alpha_update: AlphaUpdate::PerWindow,
    counting: MarkCounting::Packets,
    gain: Gain::Shift(4),
    corrects_edges: false,
    observation_ends: ObservationEnd::AtEnd,
    initial_alpha_q10: 1024,
    alpha_after_idle: AlphaAfter::Keep,
    alpha_on_timeout: AlphaAfter::Keep,
    alpha_on_loss: AlphaAfter::Keep,
    alpha_in_recovery: AlphaInRecovery::Continue,
    alpha_after_recovery: AlphaAfter::Keep,
    counts_duplicates: true,
    duplicate_bytes_max: LINUX_RCV_MSS,
    cut: CutStyle::OnceSpread,
    cut_rounding: CutRounding::Exact,
    first_mark: FirstMark::AsAny,
    ssthresh_after_cut: SsthreshAfterCut::Cwnd,
    grows_in_cwr: false,
    counter_on_cut: CounterOnCut::Clear,
    loss: LossResponse::Halve,
    cuts_again_on_loss_in_cwr: true,
    loss_base: LossBase::Window,
    raises_prr_base_on_loss: false,
    undo: UndoWindow::AtReduction,
    sends_cwr: true,
    floor_packets: 2,
};

pub(super) const WIDE_COUNTERS: Difference = Difference {
    text: "Counters have 64 bits; the kernel's byte counter times 64 overflows 32 bits at 2^26 marked bytes a window.",
    test: "a_window_of_more_than_2_to_26_marked_bytes_does_not_overflow",
};

impl Law for DctcpConfig {
    type Controller = super::Dctcp;
    const ECN_USE: EcnUse = EcnUse::Dctcp;

    fn start(self, rules: GrowthRules) -> super::Dctcp {
        super::Dctcp::new(self, rules)
    }
    fn cuts_once_a_window(&self) -> bool {
        matches!(self.cut, CutStyle::OnceAtOnce | CutStyle::OnceSpread)
    }
    /// Linux `dctcp_init` installs its `dctcp_reno`.
    fn without_ecn(self) -> Option<RenoConfig> {
        Some(RenoConfig { undo: self.undo, ..crate::reno::RENO })
    }
}
