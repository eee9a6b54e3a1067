//! What users read about it, and its known differences.

use crate::shell::PROTECTION;
use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "dualq-coupled",
    kind: ModelKind::Queue,
    summary: "Two queues: ECT packets go first; the classic queue drives their marks (p) and its own drops, (p/8)^2.",
    follows: "De Schepper, Data Center to the Home, slides, 2015: \"Detailed implementation\", \"Queue size based \
              coupled AQM\"",
    differences: &[
        Difference {
            text: "Widths and units of the integers are not stated: as in coupled.",
            test: "the_slides_comparison_packet_by_packet",
        },
        Difference {
            text: "The slides do not say when decisions are taken. Departure is the default: only then a time is \
                   known exactly.",
            test: "on_departure_times_are_waits",
        },
        Difference {
            text: "Above T nothing is drawn, so a mark that the coupling would have made, too, counts as one of the \
                   threshold.",
            test: "above_the_threshold_nothing_is_drawn",
        },
        Difference {
            text: "A drop on departure never takes the last packet that waits in either queue: in a kernel, who asks \
                   a queue for a packet and gets none takes it for empty. sch_codel and sch_dualpi2 spare what waits \
                   last, too; the slides say nothing. The random numbers are drawn all the same.",
            test: "a_drop_on_departure_never_empties_both_queues",
        },
        Difference {
            text: "The kind of round robin is not stated: the credit scheduler of Linux dualpi2 is used, which shares \
                   bytes. It begins anew when the line falls idle, computed without framing.",
            test: "credit_begins_anew_on_an_idle_line",
        },
        Difference {
            text: "The slides do not show a buffer: both queues share one, and what does not fit is dropped whatever \
                   its class.",
            test: "one_limit_for_both_queues",
        },
        PROTECTION,
    ],
};
