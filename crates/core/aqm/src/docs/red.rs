//! Random Early Detection.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const RED: ModelDoc = ModelDoc {
    name: "red",
    kind: ModelKind::Queue,
    summary: "Random Early Detection in floating point, as published.",
    follows: "Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, 1993",
    differences: &[
        Difference {
            text: "Gaps follow the formula of section 4 (uniform on 1..1/p, rate 2p/(1+p)); the listing of figure 2 counts one \
                   more after a mark, which gives 1..1/p-1 and the rate 2p.",
            test: "uniformised_marks_have_a_rate_of_2p_over_1_plus_p",
        },
        Difference {
            text: "As in figure 2, the first packet above min may be marked; ns-2, Linux and figure 17 let it pass.",
            test: "the_first_packet_in_the_zone_may_be_marked",
        },
        Difference {
            text: "Above max ECT packets are marked; ns-2 drops them.",
            test: "above_max_ect_packets_are_marked",
        },
        Difference {
            text: "The probability does not depend on the packet size (packet mode), although thresholds are in bytes.",
            test: "the_probability_does_not_depend_on_the_packet_size",
        },
        Difference {
            text: "The line is taken to be idle when the last packet's IP bytes are sent; framing is not known to the queue.",
            test: "the_idle_time_is_known_without_asking_the_empty_queue",
        },
        Difference {
            text: "A drop on an empty queue restarts the idle time; the paper leaves this open, and without it RED locks up.",
            test: "a_drop_on_an_empty_queue_restarts_the_idle_time",
        },
    ],
};

pub(super) const LINUX_RED: ModelDoc = ModelDoc {
    name: "linux-red",
    kind: ModelKind::Queue,
    summary: "Random Early Detection in the kernel's integers, with the parameters of tc.",
    follows: "Linux 6.12 net/sched/sch_red.c and include/net/red.h; iproute2 6.1 tc/q_red.c, tc/tc_red.c, tc/tc_core.c",
    differences: &[
        Difference {
            text: "Random numbers come from the experiment's seed: gaps have the kernel's distribution, not its sequence.",
            test: "gaps_between_marks_are_uniform",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel adds the link-layer header, 14 bytes on Ethernet, and counts a \
                   GSO packet as one.",
            test: "the_child_drops_at_the_limit_after_the_law",
        },
        Difference {
            text: "The line always reports that it falls idle. Below HTB or TBF the kernel's RED is never asked while it is empty, so \
                   its average does not age by the idle table at all, only by arrivals that find an empty queue.",
            test: "a_long_idle_time_shifts_by_the_table",
        },
        Difference {
            text: "Idle times are in microseconds as since 3.2; kernels from 2.6.31 to 3.1 looked the table up by 64 ns ticks.",
            test: "a_short_idle_time_fades_linearly",
        },
        Difference {
            text: "tc from 6.14 on rounds the transmission time up to 64 ns ticks; older ones, and this, cut it to microseconds, so \
                   single entries of the idle table differ by 1.",
            test: "solver_agrees_with_recorded_tc",
        },
        Difference {
            text: "Probability 1 becomes the power of two below it as on x86-64, where tc's 2^32 turns into 0; on 64-bit ARM it \
                   saturates and stays 1.",
            test: "probability_one_falls_back_to_a_power_of_two",
        },
        Difference {
            text: "Thresholds that the kernel refuses today (scaled by the weight beyond 31 bits) are refused for old kernels, \
                   too, which computed with the overflow.",
            test: "k_of_one_packet_cannot_be_configured",
        },
    ],
};

pub(super) const DUAL_RED: ModelDoc = ModelDoc {
    name: "dual-red",
    kind: ModelKind::Queue,
    summary: "One queue with two RED instances chosen by ECN capability: ECT packets are marked, others dropped.",
    follows: "Kuehlewind et al., Using Data Center TCP (DCTCP) in the Internet, 2014, section III-C",
    differences: &[
        Difference {
            text: "The paper does not say whether the instances share their average. Shared is used: averages per class lock Reno out \
                   after an overshoot, which contradicts the paper's results.",
            test: "averages_per_class_lock_reno_out",
        },
        Difference {
            text: "The paper does not say how marks are spread; both ways are offered and each instance counts its own packets, as \
                   WRED does.",
            test: "one_class_alone_is_one_red_queue",
        },
        Difference {
            text: "With weight 1 and min = max the arriving packet is included in the comparison, as section IV-B needs; any \
                   other average excludes it and the packet in transmission.",
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
