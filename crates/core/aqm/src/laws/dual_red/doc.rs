//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "dual-red",
    kind: ModelKind::Queue,
    summary: "One queue with two RED instances chosen by ECN capability: ECT packets are marked, others dropped.",
    follows: "Kuehlewind et al., Using Data Center TCP (DCTCP) in the Internet, 2014, section III-C",
    differences: &[
        Difference {
            text: "The paper does not say whether the instances share their average. Shared is used: averages per \
                   class lock Reno out after an overshoot, which contradicts the paper's results.",
            test: "averages_per_class_lock_reno_out",
        },
        Difference {
            text: "The paper does not say how marks are spread; both ways are offered and each instance counts its \
                   own packets, as WRED does.",
            test: "one_class_alone_is_one_red_queue",
        },
        Difference {
            text: "With weight 1 and min = max the arriving packet is included in the comparison, as section IV-B \
                   needs; any other average excludes it and the packet in transmission.",
            test: "thresholds_that_hold_five_packets_are_the_same",
        },
        Difference {
            text: "Unlike WRED, each instance may have its own weight, and so its own average.",
            test: "shared_averages_move_with_every_packet",
        },
        Difference {
            text: "Averages per class miss idle time that a packet of the other class has ended.",
            test: "averages_per_class_miss_idle_time_that_the_other_class_ended",
        },
    ],
};
