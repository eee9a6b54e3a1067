//! Controller configurations: plain values, the factory input. Named presets live with each controller
//! (`*/presets.rs`) and are listed in [`PRESETS`](crate::PRESETS).

/// Any controller with its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CcConfig {
    /// Reno (RFC 5681 as Linux has it).
    Reno(RenoConfig),
    /// CUBIC.
    Cubic(CubicConfig),
    /// DCTCP with named policies.
    Dctcp(DctcpConfig),
}

impl CcConfig {
    /// What the flow runs instead if ECN was not negotiated: DCTCP becomes Reno (Linux `dctcp_init` installs its
    /// `dctcp_reno`), all others stay.
    #[must_use]
    pub const fn without_ecn(self) -> Self {
        match self {
            Self::Dctcp(config) => Self::Reno(RenoConfig { undo: config.undo, ..crate::reno::RENO }),
            other => other,
        }
    }
}

/// Window restored when a reduction turns out spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UndoWindow {
    /// `max(cwnd, 2 ssthresh)` (Linux Reno before 4.15).
    #[default]
    TwiceSsthresh,
    /// `max(cwnd, cwnd at the reduction)` (Linux Reno since 4.15; DCTCP and CUBIC modules by their `loss_cwnd`).
    AtReduction,
}

/// Reno has no parameters of its own; the stack profile carries what differs between hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RenoConfig {
    /// What `cwnd` rate halving may go down to in CWR: half of `ssthresh` (Linux 3.2 `tcp_reno_min_cwnd`) or `ssthresh`.
    pub halves_to_half_ssthresh: bool,
    /// Window restored by an undo.
    pub undo: UndoWindow,
}

/// Which CUBIC arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CubicArithmetic {
    /// Linux `net/ipv4/tcp_cubic.c`: beta 717/1024, integer cube root, clock of HZ = 1000.
    Linux,
    /// RFC 9438 with its floating-point formulas.
    Rfc9438,
}

/// CUBIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicConfig {
    /// Which arithmetic.
    pub arithmetic: CubicArithmetic,
    /// Release W_max faster after consecutive reductions below it.
    pub fast_convergence: bool,
    /// Reno-friendly region.
    pub reno_friendly: bool,
    /// HyStart.
    pub hystart: bool,
}

/// Resolution of alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaResolution {
    /// 2^-10, both the decay and the increment truncated: floor 15/1024 (Stanford patch, Linux 3.18).
    Bits10,
    /// 2^-10, decay by `min_not_zero`: falls from 15/1024 to 0 in one step (Linux since 4.x).
    Bits10MinNotZero,
    /// 2^-20 truncating (Kuehlewind et al. 2014).
    Bits20,
    /// Double precision: the law itself, for comparison.
    Exact,
}

/// When alpha is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaUpdate {
    /// Once a window of data.
    PerWindow,
    /// On every ACK, with F = 1 if it carries ECE, else 0 (Kuehlewind et al. 2014). An ACK's weight is what it counts by
    /// [`MarkCounting`]: one, its packets, or its bytes in MSS.
    PerAck,
}

/// What the marked fraction counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkCounting {
    /// Packets delivered, SACKed ones included (current Linux).
    Packets,
    /// Bytes acknowledged; a duplicate ACK counts one MSS (Stanford patch, Linux 3.18, RFC 8257).
    Bytes,
    /// ACKs: each is worth one, whatever it acknowledges (Kuehlewind et al. 2014 updates "on the reception of each acknowledgement").
    Acks,
}

/// Gain of the moving average.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gain {
    /// g = 2^-shift.
    Shift(u8),
    /// With per-ACK updates: g = 2^-shift per window, so that each packet in flight has an equal part of it (Kuehlewind et al.'s
    /// suggestion in III-B c).
    PerWindowInFlight(u8),
}

/// What happens to alpha on an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaAfter {
    /// Nothing.
    Keep,
    /// Back to the initial value.
    Reinitialise,
    /// Set to one (Linux 3.18 `dctcp_clamp_alpha_on_loss`).
    One,
    /// One update with what was counted so far (FreeBSD).
    Update,
}

/// When a window of observation is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObservationEnd {
    /// With the ACK that reaches its end (Linux `!before(snd_una, next_seq)`).
    AtEnd,
    /// With the first ACK beyond it (FreeBSD `SEQ_GT(curack, save_sndnxt)`).
    BeyondEnd,
}

/// Whether windows of observation end in fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphaInRecovery {
    /// As outside of it (Linux).
    Continue,
    /// No; the ACK that ends recovery does not end one either (FreeBSD since 2019).
    Hold,
    /// No, but the ACK that ends recovery ends one (FreeBSD 2015).
    HoldThenAck,
}

/// What the first mark of a connection, or after an idle period, does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstMark {
    /// The same as all others.
    AsAny,
    /// It halves the window and sets alpha to one (FreeBSD `net.inet.tcp.cc.dctcp.slowstart`).
    Halve,
}

/// How the window after a cut is rounded. No difference where windows count packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutRounding {
    /// To the unit of the window (FreeBSD since 2019: bytes).
    Exact,
    /// Down to whole packets (FreeBSD 2015).
    WholePackets,
}

/// From which window loss within an ECN episode is reckoned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossBase {
    /// The present one.
    Window,
    /// That of the last mark, before its cut (FreeBSD `snd_cwnd_prev`).
    AtLastMark,
}

/// How a reduction is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutStyle {
    /// Once a window, `cwnd` set at once (Stanford patch, RFC 8257).
    OnceAtOnce,
    /// Once a window, `ssthresh` set and `cwnd` brought there by the endpoint over one round trip (Linux since 3.18).
    OnceSpread,
    /// On each ECN-Echo, to `cwnd_max (1 - alpha/2)` with `cwnd_max` latched at the start of CWR, if lower
    /// (Kuehlewind et al. 2014, section III-B d).
    Progressive,
    /// Half a packet for each marked packet: the idealisation behind the law W = 2/p (De Schepper et al. 2015). It needs undisturbed linear
    /// growth, so the linear-increase counter is left alone whatever [`CounterOnCut`] says.
    PerMark,
}

/// Value of `ssthresh` after a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SsthreshAfterCut {
    /// The new `cwnd`.
    Cwnd,
    /// One less (Kuehlewind et al. 2014: with the test `cwnd <= ssthresh` the first ACK would otherwise be slow start).
    CwndMinusOne,
}

/// What happens to the linear-increase counter at an ECN episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterOnCut {
    /// Cleared at every episode.
    Clear,
    /// Kept if the window was not reduced (Kuehlewind et al. 2014, section III-A b).
    KeepUnlessCut,
    /// Kept (FreeBSD `t_bytes_acked`).
    Keep,
}

/// Response to packet loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossResponse {
    /// Halve (RFC 8257, Linux since 5.1; Stanford patch).
    Halve,
    /// Scale by alpha like a mark (Linux 3.18 to 5.0).
    Alpha,
}

/// DCTCP: one controller, named policies; a variant is a preset.
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
    /// With [`MarkCounting::Bytes`]: when ECN-Echo changes, the first packet of the ACK that says so still counts with the old
    /// state, because the receiver does not flush (FreeBSD `ece_prev`).
    pub corrects_edges: bool,
    /// When a window of observation is over.
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
    /// Alpha when recovery ends. Only a FreeBSD stack tells.
    pub alpha_after_recovery: AlphaAfter,
    /// Whether a duplicate ACK counts in the marked fraction. No effect with [`MarkCounting::Packets`], which counts
    /// what the duplicate SACKs.
    pub counts_duplicates: bool,
    /// With [`MarkCounting::Bytes`]: a duplicate ACK counts one MSS, but at most this. Linux takes the MSS it estimates
    /// for its own *receive* direction (`icsk_ack.rcv_mss`), which stays at 536 B (`TCP_MSS_DEFAULT`) while no data comes in.
    pub duplicate_bytes_max: u32,
    /// How a reduction is made.
    pub cut: CutStyle,
    /// How the window after a cut is rounded.
    pub cut_rounding: CutRounding,
    /// What the first mark does.
    pub first_mark: FirstMark,
    /// Value of `ssthresh` after a cut.
    pub ssthresh_after_cut: SsthreshAfterCut,
    /// Whether the window grows in CWR.
    pub grows_in_cwr: bool,
    /// What happens to the linear-increase counter.
    pub counter_on_cut: CounterOnCut,
    /// Response to packet loss.
    pub loss: LossResponse,
    /// Whether loss found in CWR cuts `ssthresh` once more, from the window at that moment (Linux since 5.1:
    /// `dctcp_state` acts on every transition into Recovery).
    pub cuts_again_on_loss_in_cwr: bool,
    /// From which window that is reckoned.
    pub loss_base: LossBase,
    /// Window restored by an undo.
    pub undo: UndoWindow,
    /// Whether CWR is sent.
    pub sends_cwr: bool,
    /// Lowest window after a cut, in packets.
    pub floor_packets: u32,
}
