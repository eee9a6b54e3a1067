//! Presets of BBR version 1.

use super::BBR;
use crate::{CcConfig, Preset};
use shoal_units::{Difference, ModelDoc, ModelKind};

/// The presets, in the order in which they are listed.
pub(crate) const PRESETS: &[Preset] = &[Preset::new(CcConfig::Bbr(BBR), DOC)];

const DOC: ModelDoc = ModelDoc {
    name: "bbr",
    kind: ModelKind::CongestionControl,
    summary: "BBR version 1: paces by the largest delivery rate of ten round trips, and keeps twice the \
              bandwidth-delay product in flight at most.",
    follows: "Linux 7.3 net/ipv4/tcp_bbr.c; Cardwell et al. 2016",
    differences: &[
        Difference {
            text: "The phase in which the gain cycle begins is drawn from a stream of the connection's own, which the \
                   seed of the run and the flow's number name; in the kernel it is the host's entropy.",
            test: "the_gain_cycle_begins_in_a_random_phase_but_never_in_the_one_that_yields",
        },
        Difference {
            text: "The clock of ProbeRTT ticks in milliseconds, as in a kernel with 1000 Hz.",
            test: "probe_rtt_lasts_200_ms_and_a_round",
        },
    ],
};
