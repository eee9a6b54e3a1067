//! Queues that control the delay.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const CODEL: ModelDoc = ModelDoc {
    name: "codel",
    kind: ModelKind::Queue,
    summary: "Controlled delay: drops or marks on departure, ever faster while packets wait longer than a target.",
    follows: "Linux 6.12 include/net/codel_impl.h and net/sched/sch_codel.c; RFC 8289",
    differences: &[
        Difference {
            text: "Counts the bytes of the IP packet, and nothing is dropped while no more waits than the largest packet of any flow; \
                   the kernel adds the link-layer header to both, 14 bytes on Ethernet.",
            test: "no_signal_while_a_packet_or_less_waits",
        },
        Difference {
            text: "The clock of 1024 ns starts with the experiment; a kernel's has any phase, which moves signals by a tick.",
            test: "drops_come_at_the_kernels_ticks",
        },
        Difference {
            text: "A dequeue makes up for all signals that are due, as 6.12 does; the newest kernels stop after 256.",
            test: "one_dequeue_makes_up_for_missed_signals",
        },
    ],
};

pub(super) const FQ_CODEL: ModelDoc = ModelDoc {
    name: "fq-codel",
    kind: ModelKind::Queue,
    summary: "Queues served in turn by bytes, those that begin to send first, each with CoDel.",
    follows: "Linux 6.12 net/sched/sch_fq_codel.c and include/net/codel_impl.h; RFC 8290",
    differences: &[
        Difference {
            text: "The hash mixes the flow's number with a key from the queue's random stream; the kernel hashes addresses and ports with \
                   a key of its own. Collisions are as likely, but other flows collide.",
            test: "flows_that_collide_share_a_queue",
        },
        Difference {
            text: "Bytes are those of IP packets: quantum, backlogs and memory_limit leave out the link-layer header, and memory_limit the \
                   kernel's own structures, which about double a full-sized packet.",
            test: "memory_is_limited_in_bytes",
        },
        Difference {
            text: "The line always reports that it falls idle, and all queues are forgotten then. Below HTB or TBF the kernel's fq_codel is \
                   not asked while it is empty, so that queues stay listed.",
            test: "an_idle_line_forgets_old_and_new",
        },
        Difference {
            text: "drop_batch is what is written; for years the kernel turned any configured value into 1.",
            test: "the_fattest_flow_is_cut_in_batches_from_its_head",
        },
    ],
};

pub(super) const PIE: ModelDoc = ModelDoc {
    name: "pie",
    kind: ModelKind::Queue,
    summary: "Proportional integral controller enhanced: drops or marks on arrival with a probability that follows the delay.",
    follows: "Linux 6.12 net/sched/sch_pie.c and include/net/pie.h; RFC 8033",
    differences: &[
        Difference {
            text: "HZ is 1000; with HZ = 250 the kernel's 15 ms become 20 ms. RFC 8033 has no such delay: tupdate = \"14 ms\" gives its 15 ms.",
            test: "the_timer_takes_the_next_slot",
        },
        Difference {
            text: "Random numbers come from the experiment's seed: drops have the kernel's distribution, not its sequence.",
            test: "drops_are_spaced_by_the_accumulated_probability",
        },
        Difference {
            text: "Updates that would change nothing at an empty queue are left out; their rhythm goes on.",
            test: "updates_that_change_nothing_are_left_out",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel's two packets, below which nothing is dropped, include the link-layer header.",
            test: "nothing_is_dropped_below_two_packets",
        },
    ],
};
