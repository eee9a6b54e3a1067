//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "pie",
    kind: ModelKind::Queue,
    summary: "Proportional integral controller enhanced: drops or marks on arrival with a probability that follows \
              the delay.",
    follows: "Linux 6.12 net/sched/sch_pie.c and include/net/pie.h; RFC 8033",
    differences: &[
        Difference {
            text: "HZ is 1000; with HZ = 250 the kernel's 15 ms become 20 ms. RFC 8033 has no such delay: tupdate = \
                   \"14 ms\" gives its 15 ms.",
            test: "the_timer_takes_the_next_slot",
        },
        Difference {
            text: "Random numbers come from the experiment's seed: drops have the kernel's distribution, not its \
                   sequence.",
            test: "drops_are_spaced_by_the_accumulated_probability",
        },
        Difference {
            text: "The probability up to which ECT packets are marked is a parameter (RFC 8033 section 5.1); the \
                   kernel's is 10 %, which is the default.",
            test: "marks_end_at_the_threshold",
        },
        Difference {
            text: "Updates that would change nothing at an empty queue are left out; their rhythm goes on.",
            test: "updates_that_change_nothing_are_left_out",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel's two packets, below which nothing is dropped, \
                   include the link-layer header.",
            test: "nothing_is_dropped_below_two_packets",
        },
    ],
};
