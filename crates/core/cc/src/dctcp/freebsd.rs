//! FreeBSD's members of the DCTCP family
//! ([`sys/netinet/cc/cc_dctcp.c`](https://cgit.freebsd.org/src/tree/sys/netinet/cc/cc_dctcp.c?h=release/14.0.0)).

use super::config::{DCTCP, WIDE_COUNTERS};
use crate::{
    AlphaAfter, AlphaInRecovery, AlphaResolution, CounterOnCut, CutRounding, CutStyle, DctcpConfig, LossBase,
    MarkCounting, ObservationEnd, UndoWindow,
};
use shoal_units::{Difference, ModelDoc, ModelKind};

/// `dctcp-freebsd-14`: the module of FreeBSD 14.
pub const FREEBSD_14: DctcpConfig = DctcpConfig {
    alpha_resolution: AlphaResolution::Bits10,
    counting: MarkCounting::Bytes,
    corrects_edges: true,
    observation_ends: ObservationEnd::BeyondEnd,
    alpha_after_idle: AlphaAfter::Reinitialise,
    alpha_on_timeout: AlphaAfter::Update,
    alpha_in_recovery: AlphaInRecovery::Hold,
    alpha_after_recovery: AlphaAfter::Update,
    // An ACK without new data counts min(bytes acknowledged, MSS), which is zero.
    counts_duplicates: false,
    duplicate_bytes_max: u32::MAX,
    cut: CutStyle::OnceAtOnce,
    grows_in_cwr: true,
    // An ECN episode does not change t_bytes_acked.
    counter_on_cut: CounterOnCut::Keep,
    loss_base: LossBase::AtLastMark,
    undo: UndoWindow::AtReduction,
    ..DCTCP
};

/// `dctcp-freebsd`: Kato et al. 2015, and the module as imported into FreeBSD-CURRENT in January 2015.
pub const FREEBSD: DctcpConfig = DctcpConfig {
    initial_alpha_q10: 0,
    alpha_on_loss: AlphaAfter::Update,
    alpha_in_recovery: AlphaInRecovery::HoldThenAck,
    counts_duplicates: true,
    cut_rounding: CutRounding::WholePackets,
    ..FREEBSD_14
};

const ONE_MSS: Difference = Difference {
    text: "One MSS is one everywhere; the kernel of 14 uses t_maxseg (without room for options: 1460 B) in some \
           places and tcp_maxseg() (1448 B) in others.",
    test: "the_first_packet_of_a_change_counts_with_the_old_state",
};

/// Description of `dctcp-freebsd`.
pub const FREEBSD_DOC: ModelDoc = ModelDoc {
    name: "dctcp-freebsd",
    kind: ModelKind::CongestionControl,
    summary: "Kato et al.'s DCTCP: alpha from zero, renewed after idle periods; marks never stop growth; CWR once a \
              round trip.",
    follows: "Kato, Eggert, Zimmermann, Van Meter, Tokuda: Extensions to FreeBSD Datacenter TCP for Incremental \
              Deployment Support (2015); FreeBSD-CURRENT of January 2015, sys/netinet/cc/cc_dctcp.c",
    differences: &[
        WIDE_COUNTERS,
        Difference {
            text: "Alpha is updated when duplicate ACKs lead into fast recovery, as the paper says in section 4.2.3; \
                   the module of 2015 only counts duplicates there, one MSS each (that reading: alpha_on_loss = \
                   \"keep\").",
            test: "duplicates_count_one_segment_and_update_alpha",
        },
        Difference {
            text: "What happens after idle periods and after recovery happens every time. In the module of 2015 the \
                   first call replaced the function pointer by NewReno's instead of calling it: the first idle period \
                   of any connection of the host renewed alpha but kept the window, all later ones did the opposite.",
            test: "every_idle_period_renews_alpha",
        },
    ],
};

/// Description of `dctcp-freebsd-14`.
pub const FREEBSD_14_DOC: ModelDoc = ModelDoc {
    name: "dctcp-freebsd-14",
    kind: ModelKind::CongestionControl,
    summary: "DCTCP of FreeBSD 14: alpha from one, windows cut to the byte, duplicates not counted.",
    follows: "FreeBSD 14 sys/netinet/cc/cc_dctcp.c",
    differences: &[ONE_MSS],
};
