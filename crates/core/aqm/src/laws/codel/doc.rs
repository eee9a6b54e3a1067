//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

/// What an empty queue keeps, by the kernel; FQ-CoDel has it, too.
pub(in crate::laws) const EMPTY_QUEUE: Difference = Difference {
    text: "A queue that becomes empty without a drop keeps the time since when packets have waited longer than \
           the target, as 6.12 does; kernels from 7.0 on forget it.",
    test: "what_an_empty_queue_means_depends_on_what_was_dropped",
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
    follows: "Linux 6.12 include/net/codel_impl.h and net/sched/sch_codel.c; RFC 8289",
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
            text: "A dequeue makes up for all signals that are due, as 6.12 does; the newest kernels stop after 256.",
            test: "one_dequeue_makes_up_for_missed_signals",
        },
        EMPTY_QUEUE,
        SECOND_GAP,
    ],
};
