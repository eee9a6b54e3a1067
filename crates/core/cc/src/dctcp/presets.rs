//! The named members of the DCTCP family.

use super::config::{
    AlphaResolution, AlphaUpdate, CounterOnCut, CutStyle, DctcpConfig, Gain, LossResponse, MarkCounting,
    SsthreshAfterCut, WIDE_COUNTERS,
};
use super::freebsd::{FREEBSD, FREEBSD_14, FREEBSD_14_DOC, FREEBSD_DOC};
use crate::{CcConfig, Preset, UndoWindow};
use shoal_units::{Difference, ModelDoc, ModelKind};

pub use super::config::DCTCP;

/// The presets, in the order in which they are listed.
pub(crate) const PRESETS: &[Preset] = &[
    Preset::new(CcConfig::Dctcp(DCTCP), DCTCP_DOC),
    Preset::new(CcConfig::Dctcp(LINUX_3_18), LINUX_3_18_DOC),
    Preset::new(CcConfig::Dctcp(STANFORD), STANFORD_DOC),
    Preset::new(CcConfig::Dctcp(IKR), IKR_DOC),
    Preset::new(CcConfig::Dctcp(FREEBSD), FREEBSD_DOC),
    Preset::new(CcConfig::Dctcp(FREEBSD_14), FREEBSD_14_DOC),
];

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

/// `dctcp-ikr`: the changes of Kuehlewind et al. 2014 on top of the Stanford patch.
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

/// Description of `dctcp`.
pub const DCTCP_DOC: ModelDoc = ModelDoc {
    name: "dctcp",
    kind: ModelKind::CongestionControl,
    summary: "DCTCP: reduces the window in proportion to the fraction of marked packets.",
    follows: "RFC 8257; Linux net/ipv4/tcp_dctcp.c (6.x)",
    differences: &[
        Difference {
            text: "What an ACK delivers is in the window that it ends (Linux since 6.15); before, `in_ack_event` ran \
                   ahead of `delivered`, so that it counted in the next.",
            test: "the_ack_that_ends_a_window_counts_in_it",
        },
        Difference {
            text: "No difference, but the reason for the next one: the kernel's alpha has two values at the same \
                   marked part F. From above it settles at F. Below 16/1024, where a decay takes all of it, it is the \
                   last window's floor(64 F)/1024, until a window is marked to a quarter. Behind a ramp that marks 3 \
                   % it stays near 3 % or, once 17 windows had no mark, near 0.1 %; one that marks 2 % brings it \
                   there by itself.",
            test: "behind_a_ramp_alpha_depends_on_where_it_comes_from",
        },
        Difference {
            text: "No difference, but what a user sees first at long round trips: with marks rarer than about 3 % the \
                   kernel's integers (2^-10, shift 4) keep alpha at or near 0 while an exact alpha follows p, so that \
                   W p rises from 1.9 to about 5 and windows are up to three times as large as the law from p >= 0.05 \
                   says. alpha_resolution = \"exact\" switches it off.",
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
    differences: &[WIDE_COUNTERS],
};

/// Description of `dctcp-stanford`.
pub const STANFORD_DOC: ModelDoc = ModelDoc {
    name: "dctcp-stanford",
    kind: ModelKind::CongestionControl,
    summary: "The Stanford patch: window set at once on entering CWR, alpha from zero and never below 15/1024 \
              afterwards.",
    follows: "mininet-tests dctcp/0001-Updated-DCTCP-patch-for-3.2-kernels.patch",
    differences: &[
        WIDE_COUNTERS,
        Difference {
            text: "The first observation window ends with the first byte acknowledged; the patch compares with zeroed \
                   memory, whose place in sequence space depends on the initial sequence number.",
            test: "the_first_window_ends_with_the_first_byte",
        },
    ],
};

/// Description of `dctcp-ikr`.
pub const IKR_DOC: ModelDoc = ModelDoc {
    name: "dctcp-ikr",
    kind: ModelKind::CongestionControl,
    summary: "Kuehlewind et al.'s DCTCP: finer alpha updated on each ACK, progressive reduction, growth in CWR, no \
              slow start after a cut.",
    follows: "Kuehlewind, Wagner, Reyes Espinosa, Briscoe: Using Data Center TCP (DCTCP) in the Internet (2014), \
              section III",
    differences: &[Difference {
        text: "ssthresh = cwnd - 1 is set on entering CWR even if nothing is cut (as the patch does with cwnd), and \
               is at least two packets; the paper says neither.",
        test: "entering_cwr_ends_slow_start_even_without_a_cut",
    }],
};
