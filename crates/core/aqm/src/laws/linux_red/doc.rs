//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "linux-red",
    kind: ModelKind::Queue,
    summary: "Random Early Detection in the kernel's integers, with the parameters of tc.",
    follows: "Linux 6.12 net/sched/sch_red.c and include/net/red.h; iproute2 6.1 tc/q_red.c, tc/tc_red.c, tc/tc_core.c",
    differences: &[
        Difference {
            text: "Random numbers come from the experiment's seed: gaps have the kernel's distribution, not its \
                   sequence.",
            test: "gaps_between_marks_are_uniform",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel adds the link-layer header, 14 bytes on Ethernet, \
                   and counts a GSO packet as one.",
            test: "the_child_drops_at_the_limit_after_the_law",
        },
        Difference {
            text: "The line always reports that it falls idle. Below HTB or TBF the kernel's RED is never asked while \
                   it is empty, so its average does not age by the idle table at all, only by arrivals that find an \
                   empty queue.",
            test: "a_long_idle_time_shifts_by_the_table",
        },
        Difference {
            text: "Idle times are in microseconds as since 3.2; kernels from 2.6.31 to 3.1 looked the table up by 64 \
                   ns ticks.",
            test: "a_short_idle_time_fades_linearly",
        },
        Difference {
            text: "tc from 6.14 on rounds the transmission time up to 64 ns ticks; older ones, and this, cut it to \
                   microseconds, so single entries of the idle table differ by 1.",
            test: "solver_agrees_with_recorded_tc",
        },
        Difference {
            text: "Probability 1 becomes the power of two below it as on x86-64, where tc's 2^32 turns into 0; on \
                   64-bit ARM it saturates and stays 1.",
            test: "probability_one_falls_back_to_a_power_of_two",
        },
        Difference {
            text: "No difference, but what few expect: `adaptive` of tc since 5.7 never adapts. tc hands the flag over \
                   in an attribute, and the kernel (7.3 as well) starts the timer only for the flag of the older \
                   structure. Here, and with --on linux, which fills the structure, it adapts.",
            test: "adaptive_red_asks_for_a_timer_every_half_second",
        },
        Difference {
            text: "Thresholds that the kernel refuses today (scaled by the weight beyond 31 bits) are refused for old \
                   kernels, too, which computed with the overflow.",
            test: "k_of_one_packet_cannot_be_configured",
        },
    ],
};
