//! The named members of the DCTCP family.

use crate::{
    AlphaAfter, AlphaInRecovery, AlphaResolution, AlphaUpdate, CounterOnCut, CutRounding, CutStyle,
    DctcpConfig, FirstMark, Gain, LossBase, LossResponse, MarkCounting, ObservationEnd, SsthreshAfterCut,
    UndoWindow,
};
use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

/// MSS that Linux assumes for its receive direction until data comes in (`TCP_MSS_DEFAULT`).
const LINUX_RCV_MSS: u32 = 536;

/// `dctcp`: RFC 8257 as current Linux has it.
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
    undo: UndoWindow::AtReduction,
    sends_cwr: true,
    floor_packets: 2,
};

/// `dctcp-linux-3.18`: the first version in the kernel.
pub const LINUX_3_18: DctcpConfig = DctcpConfig {
    alpha_resolution: AlphaResolution::Bits10,
    counting: MarkCounting::Bytes,
    loss: LossResponse::Alpha,
    cuts_again_on_loss_in_cwr: false,
    undo: UndoWindow::TwiceSsthresh,
    ..DCTCP
};

/// `dctcp-stanford`: the patch to Linux 3.2.
pub const STANFORD: DctcpConfig =
    DctcpConfig { initial_alpha_q10: 0, cut: CutStyle::OnceAtOnce, loss: LossResponse::Halve, ..LINUX_3_18 };

/// `dctcp-ikr`: K13's changes on top of the patch.
pub const IKR: DctcpConfig = DctcpConfig {
    alpha_resolution: AlphaResolution::Bits20,
    alpha_update: AlphaUpdate::PerAck,
    counting: MarkCounting::Acks,
    gain: Gain::Shift(8),
    cut: CutStyle::Progressive,
    ssthresh_after_cut: SsthreshAfterCut::CwndMinusOne,
    grows_in_cwr: true,
    counter_on_cut: CounterOnCut::KeepUnlessCut,
    ..STANFORD
};

/// Defaults in which the members differ, as the scenario file writes them.
pub(super) struct Defaults {
    pub alpha_resolution: &'static str,
    pub alpha_update: &'static str,
    pub counting: &'static str,
    pub gain: &'static str,
    pub corrects_edges: &'static str,
    pub observation_ends: &'static str,
    pub initial_alpha_q10: &'static str,
    pub alpha_after_idle: &'static str,
    pub alpha_on_timeout: &'static str,
    pub alpha_on_loss: &'static str,
    pub alpha_in_recovery: &'static str,
    pub alpha_after_recovery: &'static str,
    pub counts_duplicates: &'static str,
    pub duplicate_bytes_max: &'static str,
    pub cut: &'static str,
    pub cut_rounding: &'static str,
    pub ssthresh_after_cut: &'static str,
    pub grows_in_cwr: &'static str,
    pub counter_on_cut: &'static str,
    pub loss: &'static str,
    pub cuts_again_on_loss_in_cwr: &'static str,
    pub loss_base: &'static str,
    pub undo: &'static str,
}

pub(super) const fn parameters(of: &Defaults) -> [ParameterDoc; 26] {
    const ACTION: &str = "keep | reinitialise | one | update";
    [
        ParameterDoc::new(
            "alpha_resolution",
            "bits10 | bits10-min-not-zero | bits20 | exact",
            of.alpha_resolution,
            "Arithmetic of alpha.",
            "3.2 patch; tcp_dctcp.c; K13 III-A a",
        ),
        ParameterDoc::new(
            "alpha_update",
            "per-window | per-ack",
            of.alpha_update,
            "When alpha is updated.",
            "RFC 8257 3.3; K13 III-B c",
        ),
        ParameterDoc::new(
            "counting",
            "packets | bytes | acks",
            of.counting,
            "What the marked fraction counts.",
            "RFC 8257 3.3; K13 III-B c",
        ),
        ParameterDoc::new(
            "gain",
            "{ shift } | { per_window_in_flight }",
            of.gain,
            "Gain of the moving average: 2^-shift an update, or a window, divided by the packets in flight.",
            "RFC 8257 4.2; K13 III-B c",
        ),
        ParameterDoc::new(
            "corrects_edges",
            "bool",
            of.corrects_edges,
            "When ECN-Echo changes, the first packet of the ACK that says so counts with the old state.",
            "FreeBSD dctcp_ack_received",
        ),
        ParameterDoc::new(
            "observation_ends",
            "at-end | beyond-end",
            of.observation_ends,
            "Whether the ACK that reaches the end of a window of observation ends it, or the first one beyond.",
            "tcp_dctcp.c next_seq; FreeBSD save_sndnxt",
        ),
        ParameterDoc::new(
            "initial_alpha_q10",
            "0..=1024",
            of.initial_alpha_q10,
            "First value of alpha, in 1/1024.",
            "RFC 8257 4.1; 3.2 patch (zeroed memory)",
        ),
        ParameterDoc::new(
            "alpha_after_idle",
            ACTION,
            of.alpha_after_idle,
            "Alpha when sending resumes after an RTO of silence.",
            "FB 4.2.2",
        ),
        ParameterDoc::new(
            "alpha_on_timeout",
            ACTION,
            of.alpha_on_timeout,
            "Alpha on a timeout.",
            "Linux 3.18 dctcp_clamp_alpha_on_loss; FB 4.2.3",
        ),
        ParameterDoc::new(
            "alpha_on_loss",
            ACTION,
            of.alpha_on_loss,
            "Alpha when duplicate ACKs lead into fast recovery.",
            "FB 4.2.3",
        ),
        ParameterDoc::new(
            "alpha_in_recovery",
            "continue | hold | hold-then-ack",
            of.alpha_in_recovery,
            "Whether windows of observation end in fast recovery; the last: with the ACK that ends it.",
            "FreeBSD dctcp_ack_received",
        ),
        ParameterDoc::new(
            "alpha_after_recovery",
            ACTION,
            of.alpha_after_recovery,
            "Alpha when recovery ends; only FreeBSD stacks tell.",
            "FreeBSD dctcp_post_recovery",
        ),
        ParameterDoc::new(
            "counts_duplicates",
            "bool",
            of.counts_duplicates,
            "Whether a duplicate ACK counts.",
            "RFC 8257 3.3; 3.2 patch",
        ),
        ParameterDoc::new(
            "duplicate_bytes_max",
            "bytes",
            of.duplicate_bytes_max,
            "Most bytes a duplicate ACK counts.",
            "Linux icsk_ack.rcv_mss without incoming data (TCP_MSS_DEFAULT)",
        ),
        ParameterDoc::new(
            "cut",
            "once-at-once | once-spread | progressive | per-mark",
            of.cut,
            "How a reduction is made.",
            "RFC 8257 3.3; tcp_enter_cwr; K13 III-B d; DH",
        ),
        ParameterDoc::new(
            "cut_rounding",
            "exact | whole-packets",
            of.cut_rounding,
            "How the window after a cut is rounded where windows count bytes.",
            "FreeBSD dctcp_cong_signal 2015 and since 2019",
        ),
        ParameterDoc::new(
            "first_mark",
            "as-any | halve",
            "as-any",
            "What the first mark does: the same as all, or halve the window and set alpha to one.",
            "FreeBSD net.inet.tcp.cc.dctcp.slowstart",
        ),
        ParameterDoc::new(
            "ssthresh_after_cut",
            "cwnd | cwnd-minus-one",
            of.ssthresh_after_cut,
            "ssthresh after a cut.",
            "K13 III-A",
        ),
        ParameterDoc::new(
            "grows_in_cwr",
            "bool",
            of.grows_in_cwr,
            "Whether the window grows in CWR.",
            "K13 III-A b; FB 4.1",
        ),
        ParameterDoc::new(
            "counter_on_cut",
            "clear | keep-unless-cut | keep",
            of.counter_on_cut,
            "The linear-increase counter.",
            "K13 III-A b",
        ),
        ParameterDoc::new(
            "loss",
            "halve | alpha",
            of.loss,
            "Response to packet loss.",
            "RFC 8257 3.4; tcp_dctcp.c before 5.1",
        ),
        ParameterDoc::new(
            "cuts_again_on_loss_in_cwr",
            "bool",
            of.cuts_again_on_loss_in_cwr,
            "Whether loss found in CWR halves once more.",
            "tcp_dctcp.c dctcp_state, since 5.1; FreeBSD CC_NDUPACK",
        ),
        ParameterDoc::new(
            "loss_base",
            "window | at-last-mark",
            of.loss_base,
            "The window of which that is half: the present one, or that of the last mark before its cut.",
            "FreeBSD snd_cwnd_prev",
        ),
        ParameterDoc::new(
            "undo",
            "twice-ssthresh | at-reduction",
            of.undo,
            "Window an undo restores.",
            "tcp_cong.c; tcp_dctcp.c since 4.9",
        ),
        ParameterDoc::new(
            "sends_cwr",
            "bool",
            "true",
            "Whether a reduction is announced by CWR.",
            "RFC 3168 6.1.2; FB 3.1",
        ),
        ParameterDoc::new(
            "floor_packets",
            "packets",
            "2",
            "Lowest window after a cut.",
            "tcp_dctcp.c dctcp_ssthresh",
        ),
    ]
}

pub(super) const DEFAULTS_DCTCP: Defaults = Defaults {
    alpha_resolution: "bits10-min-not-zero",
    alpha_update: "per-window",
    counting: "packets",
    corrects_edges: "false",
    observation_ends: "at-end",
    alpha_after_idle: "keep",
    alpha_on_timeout: "keep",
    alpha_on_loss: "keep",
    alpha_in_recovery: "continue",
    alpha_after_recovery: "keep",
    counts_duplicates: "true",
    duplicate_bytes_max: "536",
    cut_rounding: "exact",
    loss_base: "window",
    gain: "{ shift = 4 }",
    initial_alpha_q10: "1024",
    cut: "once-spread",
    ssthresh_after_cut: "cwnd",
    grows_in_cwr: "false",
    counter_on_cut: "clear",
    loss: "halve",
    cuts_again_on_loss_in_cwr: "true",
    undo: "at-reduction",
};
const DEFAULTS_3_18: Defaults = Defaults {
    alpha_resolution: "bits10",
    counting: "bytes",
    loss: "alpha",
    cuts_again_on_loss_in_cwr: "false",
    undo: "twice-ssthresh",
    ..DEFAULTS_DCTCP
};
const DEFAULTS_STANFORD: Defaults =
    Defaults { initial_alpha_q10: "0", cut: "once-at-once", loss: "halve", ..DEFAULTS_3_18 };
const DEFAULTS_IKR: Defaults = Defaults {
    alpha_resolution: "bits20",
    alpha_update: "per-ack",
    counting: "acks",
    gain: "{ shift = 8 }",
    cut: "progressive",
    ssthresh_after_cut: "cwnd-minus-one",
    grows_in_cwr: "true",
    counter_on_cut: "keep-unless-cut",
    ..DEFAULTS_STANFORD
};

pub(super) const WIDE_COUNTERS: Difference = Difference {
    text: "Counters have 64 bits; the kernel's byte counter times 64 overflows 32 bits at 2^26 marked bytes a window.",
    test: "a_window_of_more_than_2_to_26_marked_bytes_does_not_overflow",
};

/// Description of `dctcp`.
pub const DCTCP_DOC: ModelDoc = ModelDoc {
    name: "dctcp",
    kind: ModelKind::CongestionControl,
    summary: "DCTCP: reduces the window in proportion to the fraction of marked packets.",
    follows: "RFC 8257; Linux net/ipv4/tcp_dctcp.c (6.x)",
    parameters: &parameters(&DEFAULTS_DCTCP),
    differences: &[
        Difference {
            text: "What an ACK delivers is in the window that it ends (Linux since 6.15); before, `in_ack_event` ran ahead of \
               `delivered`, so that it counted in the next.",
            test: "the_ack_that_ends_a_window_counts_in_it",
        },
        Difference {
            text: "No difference, but what a user sees first at long round trips: with marks rarer than about 3 % the kernel's integers \
               (2^-10, shift 4) keep alpha at or near 0 while an exact alpha follows p, so that W p rises from 1.9 to about 5 and windows \
               are up to three times as large as the law from p >= 0.05 says. alpha_resolution = \"exact\" switches it off.",
            test: "rare_marks_fall_through_the_integers_of_alpha",
        },
    ],
};

/// Description of `dctcp-linux-3.18`.
pub const LINUX_3_18_DOC: ModelDoc = ModelDoc {
    name: "dctcp-linux-3.18",
    kind: ModelKind::CongestionControl,
    summary: "DCTCP as it entered the kernel: byte counting, alpha never below 15/1024, loss answered like a mark.",
    follows: "Linux 3.18 net/ipv4/tcp_dctcp.c",
    parameters: &parameters(&DEFAULTS_3_18),
    differences: &[WIDE_COUNTERS],
};

/// Description of `dctcp-stanford`.
pub const STANFORD_DOC: ModelDoc = ModelDoc {
    name: "dctcp-stanford",
    kind: ModelKind::CongestionControl,
    summary: "The Stanford patch: window set at once on entering CWR, alpha from zero and never below 15/1024 afterwards.",
    follows: "mininet-tests dctcp/0001-Updated-DCTCP-patch-for-3.2-kernels.patch",
    parameters: &parameters(&DEFAULTS_STANFORD),
    differences: &[
        WIDE_COUNTERS,
        Difference {
            text: "The first observation window ends with the first byte acknowledged; the patch compares with zeroed memory, \
                   whose place in sequence space depends on the initial sequence number.",
            test: "the_first_window_ends_with_the_first_byte",
        },
    ],
};

/// Description of `dctcp-ikr`.
pub const IKR_DOC: ModelDoc = ModelDoc {
    name: "dctcp-ikr",
    kind: ModelKind::CongestionControl,
    summary: "K13's DCTCP: finer alpha updated on each ACK, progressive reduction, growth in CWR, no slow start after a cut.",
    follows: "Kuehlewind, Wagner, Reyes Espinosa, Briscoe: Using Data Center TCP (DCTCP) in the Internet (2014), section III",
    parameters: &parameters(&DEFAULTS_IKR),
    differences: &[Difference {
        text: "ssthresh = cwnd - 1 is set on entering CWR even if nothing is cut (as the patch does with cwnd), and is at least \
               two packets; the paper says neither.",
        test: "entering_cwr_ends_slow_start_even_without_a_cut",
    }],
};
