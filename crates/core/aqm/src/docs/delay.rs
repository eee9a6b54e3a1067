//! Queues that control the delay.

use super::BUFFER;
use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

const LIMIT: ParameterDoc = ParameterDoc {
    name: "limit",
    unit: "bytes | packets | time | BDP | unlimited",
    default: "the link's buffer",
    doc: "Waiting packets that fit. tc's own defaults are 1000 packets (codel, pie) and 10240 (fq_codel).",
    source: "sch_codel.c, sch_fq_codel.c, sch_pie.c",
};

const TARGET: ParameterDoc = ParameterDoc {
    name: "target",
    unit: "time",
    default: "5 ms",
    doc: "Sojourn time that may stand; kept in ticks of 1024 ns.",
    source: "RFC 8289 section 4.2; codel_impl.h codel_should_drop",
};

const INTERVAL: ParameterDoc = ParameterDoc {
    name: "interval",
    unit: "time",
    default: "100 ms",
    doc: "How long the target must be exceeded before the first signal; the n-th gap between signals is this over sqrt(n).",
    source: "RFC 8289 section 4.3; codel_impl.h codel_control_law",
};

const CE_THRESHOLD: ParameterDoc = ParameterDoc {
    name: "ce_threshold",
    unit: "time",
    default: "never",
    doc: "Beyond this sojourn time ECT packets are marked at once, whatever the law says.",
    source: "codel_impl.h codel_dequeue (since 4.2)",
};

/// The key `ecn`.
const fn ecn(default: &'static str) -> ParameterDoc {
    ParameterDoc {
        name: "ecn",
        unit: "bool",
        default,
        doc: "Mark ECT packets instead of dropping them.",
        source: "codel_impl.h codel_dequeue",
    }
}

pub(super) const CODEL: ModelDoc = ModelDoc {
    name: "codel",
    kind: ModelKind::Queue,
    summary: "Controlled delay: drops or marks on departure, ever faster while packets wait longer than a target.",
    follows: "Linux 6.12 include/net/codel_impl.h and net/sched/sch_codel.c; RFC 8289",
    parameters: &[BUFFER, TARGET, INTERVAL, ecn("false"), CE_THRESHOLD, LIMIT],
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
    parameters: &[
        BUFFER,
        ParameterDoc {
            name: "classifier",
            unit: "hash | flow",
            default: "hash",
            doc: "How packets find their queue: by a hash of their flow, with collisions, or one queue for each flow.",
            source: "sch_fq_codel.c fq_codel_hash; RFC 8290 section 4.1.1",
        },
        ParameterDoc {
            name: "flows",
            unit: "1..65536",
            default: "1024",
            doc: "Queues behind the hash.",
            source: "RFC 8290 section 5.2.1",
        },
        ParameterDoc {
            name: "quantum",
            unit: "bytes",
            default: "the largest packet of any flow",
            doc: "Bytes that a queue may send in one turn, at least 256.",
            source: "RFC 8290 section 5.2.4; sch_fq_codel.c fq_codel_change",
        },
        TARGET,
        INTERVAL,
        ecn("true"),
        CE_THRESHOLD,
        ParameterDoc {
            name: "ce_threshold_for",
            unit: "ect | ect1",
            default: "ect",
            doc: "Packets that ce_threshold is for; ect1 is tc's ce_threshold_selector 1/3.",
            source: "codel_impl.h codel_dequeue (since 5.16)",
        },
        LIMIT,
        ParameterDoc {
            name: "memory_limit",
            unit: "bytes | unlimited",
            default: "33554432 B",
            doc: "The same in bytes, beside limit.",
            source: "sch_fq_codel.c fq_codel_enqueue",
        },
        ParameterDoc {
            name: "drop_batch",
            unit: "packets",
            default: "64 packets",
            doc: "Beyond a limit the fattest queue loses half of its bytes from its head, at most so many packets.",
            source: "sch_fq_codel.c fq_codel_drop",
        },
    ],
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
    parameters: &[
        BUFFER,
        ParameterDoc {
            name: "target",
            unit: "time",
            default: "15 ms",
            doc: "Queueing delay to hold; kept in ticks of 64 ns.",
            source: "RFC 8033 section 4.2",
        },
        ParameterDoc {
            name: "tupdate",
            unit: "time",
            default: "15 ms",
            doc: "What the timer between updates of the probability is set to. The kernel's timers take the next slot of 1 ms (above 63 ms of \
                  8 ms): 15 ms give an update every 16 ms, the first after 0.504 s.",
            source: "sch_pie.c pie_timer, pie_init; kernel/time/timer.c calc_wheel_index (since 4.8)",
        },
        ParameterDoc {
            name: "alpha",
            unit: "0..32",
            default: "2",
            doc: "Gain on the distance from the target, in sixteenths of a Hz; reduced while the probability is low.",
            source: "RFC 8033 section 4.2; sch_pie.c pie_calculate_probability",
        },
        ParameterDoc {
            name: "beta",
            unit: "0..32",
            default: "20",
            doc: "Gain on the growth of the delay, likewise.",
            source: "RFC 8033 section 4.2; sch_pie.c pie_calculate_probability",
        },
        ParameterDoc {
            name: "ecn",
            unit: "bool",
            default: "false",
            doc: "Mark ECT packets instead of dropping them while the probability is at most 10 %.",
            source: "RFC 8033 section 5.1; sch_pie.c pie_qdisc_enqueue",
        },
        ParameterDoc {
            name: "bytemode",
            unit: "bool",
            default: "false",
            doc: "Scale the probability with the size of the packet.",
            source: "sch_pie.c pie_drop_early",
        },
        ParameterDoc {
            name: "dq_rate_estimator",
            unit: "bool",
            default: "false",
            doc: "Measure the delay as backlog over departure rate instead of by the last packet's own wait.",
            source: "RFC 8033 sections 4.3 and 5.2; sch_pie.c pie_process_dequeue (an option since 5.5)",
        },
        LIMIT,
    ],
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
