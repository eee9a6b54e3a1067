//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "open-loop",
    kind: ModelKind::Queue,
    summary: "Marks and drops with given probabilities, whatever waits: the open loop of the steady-state laws.",
    follows: "De Schepper et al. 2015, steady-state rates as functions of p; Mathis et al. 1997 section 2 (even gaps)",
    differences: &[Difference {
        text: "A packet that does not fit is dropped by the buffer and is not an event of the law: the gaps stay as \
               they are.",
        test: "the_buffer_comes_first",
    }],
};
