//! The named members of the DCTCP family.

use crate::{
    AlphaAfter, AlphaResolution, AlphaUpdate, CounterOnCut, CutStyle, DctcpConfig, Gain, LossResponse,
    MarkCounting, SsthreshAfterCut, UndoWindow,
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
    initial_alpha_q10: 1024,
    alpha_after_idle: AlphaAfter::Keep,
    alpha_on_timeout: AlphaAfter::Keep,
    counts_duplicates: true,
    duplicate_bytes_max: LINUX_RCV_MSS,
    cut: CutStyle::OnceSpread,
    ssthresh_after_cut: SsthreshAfterCut::Cwnd,
    grows_in_cwr: false,
    counter_on_cut: CounterOnCut::Clear,
    loss: LossResponse::Halve,
    cuts_again_on_loss_in_cwr: true,
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
struct Defaults {
    alpha_resolution: &'static str,
    alpha_update: &'static str,
    counting: &'static str,
    gain: &'static str,
    initial_alpha_q10: &'static str,
    cut: &'static str,
    ssthresh_after_cut: &'static str,
    grows_in_cwr: &'static str,
    counter_on_cut: &'static str,
    loss: &'static str,
    cuts_again_on_loss_in_cwr: &'static str,
    undo: &'static str,
}

const fn parameters(of: &Defaults) -> [ParameterDoc; 18] {
    const fn one(
        name: &'static str,
        unit: &'static str,
        default: &'static str,
        doc: &'static str,
        source: &'static str,
    ) -> ParameterDoc {
        ParameterDoc { name, unit, default, doc, source }
    }
    const ACTION: &str = "keep | reinitialise | one | update";
    [
        one(
            "alpha_resolution",
            "bits10 | bits10-min-not-zero | bits20 | exact",
            of.alpha_resolution,
            "Arithmetic of alpha.",
            "3.2 patch; tcp_dctcp.c; K13 III-A a",
        ),
        one(
            "alpha_update",
            "per-window | per-ack",
            of.alpha_update,
            "When alpha is updated.",
            "RFC 8257 3.3; K13 III-B c",
        ),
        one(
            "counting",
            "packets | bytes | acks",
            of.counting,
            "What the marked fraction counts.",
            "RFC 8257 3.3; K13 III-B c",
        ),
        one(
            "gain",
            "{ shift } | { per_window_in_flight }",
            of.gain,
            "Gain of the moving average: 2^-shift an update, or a window, divided by the packets in flight.",
            "RFC 8257 4.2; K13 III-B c",
        ),
        one(
            "initial_alpha_q10",
            "0..=1024",
            of.initial_alpha_q10,
            "First value of alpha, in 1/1024.",
            "RFC 8257 4.1; 3.2 patch (zeroed memory)",
        ),
        one(
            "alpha_after_idle",
            ACTION,
            "keep",
            "Alpha when sending resumes after an RTO of silence.",
            "FB 4.1",
        ),
        one(
            "alpha_on_timeout",
            ACTION,
            "keep",
            "Alpha on a timeout.",
            "Linux 3.18 dctcp_clamp_alpha_on_loss; FB 4.1",
        ),
        one(
            "counts_duplicates",
            "bool",
            "true",
            "Whether a duplicate ACK counts.",
            "RFC 8257 3.3; 3.2 patch",
        ),
        one(
            "duplicate_bytes_max",
            "bytes",
            "536",
            "Most bytes a duplicate ACK counts.",
            "Linux icsk_ack.rcv_mss without incoming data (TCP_MSS_DEFAULT)",
        ),
        one(
            "cut",
            "once-at-once | once-spread | progressive | per-mark",
            of.cut,
            "How a reduction is made.",
            "RFC 8257 3.3; tcp_enter_cwr; K13 III-B d; DH",
        ),
        one(
            "ssthresh_after_cut",
            "cwnd | cwnd-minus-one",
            of.ssthresh_after_cut,
            "ssthresh after a cut.",
            "K13 III-A",
        ),
        one(
            "grows_in_cwr",
            "bool",
            of.grows_in_cwr,
            "Whether the window grows in CWR.",
            "K13 III-A b; FB 4.1",
        ),
        one(
            "counter_on_cut",
            "clear | keep-unless-cut",
            of.counter_on_cut,
            "The linear-increase counter.",
            "K13 III-A b",
        ),
        one(
            "loss",
            "halve | alpha",
            of.loss,
            "Response to packet loss.",
            "RFC 8257 3.4; tcp_dctcp.c before 5.1",
        ),
        one(
            "cuts_again_on_loss_in_cwr",
            "bool",
            of.cuts_again_on_loss_in_cwr,
            "Whether loss found in CWR halves once more.",
            "tcp_dctcp.c dctcp_state, since 5.1",
        ),
        one(
            "undo",
            "twice-ssthresh | at-reduction",
            of.undo,
            "Window an undo restores.",
            "tcp_cong.c; tcp_dctcp.c since 4.9",
        ),
        one(
            "sends_cwr",
            "bool",
            "true",
            "Whether a reduction is announced by CWR.",
            "RFC 3168 6.1.2; FB 3.1",
        ),
        one("floor_packets", "packets", "2", "Lowest window after a cut.", "tcp_dctcp.c dctcp_ssthresh"),
    ]
}

const DEFAULTS_DCTCP: Defaults = Defaults {
    alpha_resolution: "bits10-min-not-zero",
    alpha_update: "per-window",
    counting: "packets",
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

const WIDE_COUNTERS: Difference = Difference {
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
    differences: &[Difference {
        text: "What an ACK delivers is in the window that it ends (Linux since 6.15); before, `in_ack_event` ran ahead of \
               `delivered`, so that it counted in the next.",
        test: "the_ack_that_ends_a_window_counts_in_it",
    }],
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
