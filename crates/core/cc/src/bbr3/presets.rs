//! Presets of BBR version 3.

use super::BBR3;
use crate::{CcConfig, Preset};
use shoal_units::{Difference, ModelDoc, ModelKind};

/// The presets, in the order in which they are listed.
pub(crate) const PRESETS: &[Preset] = &[Preset::new(CcConfig::Bbr3(BBR3), DOC)];

const DOC: ModelDoc = ModelDoc {
    name: "bbr3",
    kind: ModelKind::CongestionControl,
    summary: "BBR version 3: paces by a bandwidth that probes show, within bounds that losses set.",
    follows: "draft-ietf-ccwg-bbr of 3 August 2026 (4ce5e87d)",
    differences: &[
        Difference {
            text: "Volumes are full packets and products are rounded up to one; the document counts bytes.",
            test: "the_first_rate_is_the_initial_window_with_the_gain_of_startup",
        },
        Difference {
            text: "The document leaves the response to classic ECN open, but for that marks must count as \
                   congestion: the first mark of a window counts as a loss in its round, which lowers the \
                   short-term bounds outside of probes. Marks do not end a probe.",
            test: "a_mark_counts_as_a_loss_of_its_round",
        },
        Difference {
            text: "A cycle of ProbeBW in which no sample counted does not push the one before it out of the \
                   bandwidth, as in Linux.",
            test: "the_bandwidth_is_that_of_this_cycle_and_the_one_before",
        },
        Difference {
            text: "State is saved when recovery begins, and not again with its further losses: a probe that \
                   they have ended could not be taken up again, as the test cases of the document want, \
                   since the way down begins a new round of losses.",
            test: "what_losses_did_is_taken_back_if_they_were_none",
        },
        Difference {
            text: "When losses end Startup, the path counts as full now as well as ever, as the test cases \
                   of the document want and its text does not say.",
            test: "startup_ends_when_a_round_of_recovery_has_lost_much",
        },
    ],
};
