//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

/// What an empty queue forgets, by the kernel; FQ-CoDel has it, too.
pub(in crate::laws) const EMPTY_QUEUE: Difference = Difference {
    text: "No difference to Linux 7.0 and later and to RFC 8289: an empty queue forgets since when packets have \
           waited longer than the target. Kernels before 7.0 keep it where the queue becomes empty without a drop.",
    test: "an_empty_queue_ends_what_was_late",
};
/// The second gap between signals; FQ-CoDel has it, too.
pub(in crate::laws) const SECOND_GAP: Difference = Difference {
    text: "No difference, but what a user of RFC 8289 may not expect: the second gap between signals is 0.500 \
           of the interval and not 1/sqrt(2) = 0.707 of it, because the kernel improves its root by a single \
           Newton step for each signal. The third is 0.563 (0.577), and from the tenth on the error is below \
           half a percent.",
    test: "newton_steps_to_the_integer",
};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "codel",
    kind: ModelKind::Queue,
    summary: "Controlled delay: drops or marks on departure, ever faster while packets wait longer than a target.",
    follows: "Linux 7.3 include/net/codel_impl.h and net/sched/sch_codel.c; RFC 8289",
    differences: &[
        Difference {
            text: "Counts the bytes of the IP packet, and nothing is dropped while no more waits than the largest \
                   packet of any flow; the kernel adds the link-layer header to both, 14 bytes on Ethernet.",
            test: "no_signal_while_a_packet_or_less_waits",
        },
        Difference {
            text: "The clock of 1024 ns starts with the experiment; a kernel's has any phase, which moves signals by \
                   a tick.",
            test: "drops_come_at_the_kernels_ticks",
        },
        Difference {
            text: "No difference to Linux 7.3: a dequeue makes up for all signals that are due, and stops after 256 \
                   drops. 6.12 does not stop.",
            test: "a_dequeue_drops_no_more_than_256_packets",
        },
        EMPTY_QUEUE,
        SECOND_GAP,
    ],
};
