//! Random Early Detection.

use super::BUFFER;
use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

const SPACING: ParameterDoc = ParameterDoc {
    name: "spacing",
    unit: "uniform | independent",
    default: "uniform",
    doc: "Uniform gaps by counting (long-run rate 2p/(1+p)) or an independent coin for each packet (rate p).",
    source: "Floyd and Jacobson 1993, section 4, methods 2 and 1",
};

const MEAN_PACKET: ParameterDoc = ParameterDoc {
    name: "mean_packet",
    unit: "bytes",
    default: "1500 B",
    doc: "Mean packet size: an idle line ages the average by one packet for each of its transmission times.",
    source: "Floyd and Jacobson 1993, figure 2 (the constant s)",
};

/// A key of one RED instance.
macro_rules! instance {
    ($($name:literal, $unit:literal, $default:literal, $doc:literal, $source:literal;)*) => {
        [$(ParameterDoc { name: $name, unit: $unit, default: $default, doc: $doc, source: $source }),*]
    };
}

const SLOPE: [ParameterDoc; 5] = instance! {
    "min", "bytes | packets | time | BDP", "", "Below this average nothing is marked.", "Floyd and Jacobson 1993, section 4";
    "max", "bytes | packets | time | BDP", "", "From this average on every packet is marked or dropped.", "Floyd and Jacobson 1993, section 4";
    "max_probability", "0..1", "0.1", "Probability at max.", "Floyd and Jacobson 1993, section 4; K13 section IV-A";
    "weight", "0..1", "0.002", "Weight of the moving average; 1 averages nothing.", "Floyd and Jacobson 1993, section 6; K13 section IV-A";
    "gentle", "bool", "false", "Between max and 2 max the probability rises to 1 instead of jumping there.", "Floyd 2000, gentle variant of RED";
};

pub(super) const RED: ModelDoc = ModelDoc {
    name: "red",
    kind: ModelKind::Queue,
    summary: "Random Early Detection in floating point, as published.",
    follows: "Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, 1993",
    parameters: &[
        BUFFER,
        SLOPE[0],
        SLOPE[1],
        SLOPE[2],
        SLOPE[3],
        SLOPE[4],
        SPACING,
        ParameterDoc {
            name: "ecn",
            unit: "bool",
            default: "false",
            doc: "Mark ECT packets instead of dropping them.",
            source: "RFC 3168 section 7",
        },
        MEAN_PACKET,
    ],
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
    parameters: &[
        BUFFER,
        ParameterDoc {
            name: "limit",
            unit: "bytes | packets | time | BDP",
            default: "the link's buffer",
            doc: "Hard limit of the child queue.",
            source: "sch_red.c (bfifo child)",
        },
        ParameterDoc {
            name: "min",
            unit: "bytes | packets | time | BDP",
            default: "",
            doc: "Below this average nothing is marked.",
            source: "red.h red_cmp_thresh",
        },
        ParameterDoc {
            name: "max",
            unit: "bytes | packets | time | BDP",
            default: "3 min",
            doc: "From this average on every packet is marked or dropped.",
            source: "red.h red_cmp_thresh; q_red.c",
        },
        ParameterDoc {
            name: "avpkt",
            unit: "bytes",
            default: "1000 B",
            doc: "Average packet size: with burst it determines the weight, with bandwidth the idle table.",
            source: "tc_red.c tc_red_eval_ewma, tc_red_eval_idle_damping",
        },
        ParameterDoc {
            name: "burst",
            unit: "packets",
            default: "(2 min + max) / (3 avpkt)",
            doc: "Burst that shall pass: determines the weight 2^-Wlog.",
            source: "tc_red.c tc_red_eval_ewma; q_red.c",
        },
        ParameterDoc {
            name: "probability",
            unit: "0..1",
            default: "0.02",
            doc: "Probability at max.",
            source: "q_red.c; red.h red_random",
        },
        ParameterDoc {
            name: "bandwidth",
            unit: "rate",
            default: "10 Mbit/s",
            doc: "Only for the idle table; below 34.4 Gbit/s.",
            source: "tc_red.c tc_red_eval_idle_damping",
        },
        ParameterDoc {
            name: "ecn",
            unit: "bool",
            default: "false",
            doc: "Mark ECT packets instead of dropping them.",
            source: "sch_red.c red_enqueue",
        },
        ParameterDoc {
            name: "harddrop",
            unit: "bool",
            default: "false",
            doc: "With ecn: above max drop even ECT packets.",
            source: "sch_red.c red_enqueue",
        },
        ParameterDoc {
            name: "nodrop",
            unit: "bool",
            default: "false",
            doc: "With ecn: let packets that are not ECT pass instead of dropping them.",
            source: "sch_red.c red_enqueue (since 5.7)",
        },
        ParameterDoc {
            name: "adaptive",
            unit: "bool",
            default: "false",
            doc: "Adapt the probability every 0.5 s to keep the average in the middle fifth between min and max.",
            source: "red.h red_adaptative_algo; Floyd, Gummadi and Shenker 2001",
        },
        ParameterDoc {
            name: "kernel",
            unit: "version",
            default: "6.12",
            doc: "Before 3.3 the probability is rounded to a power of two and adaptive does not exist.",
            source: "red.h red_rmask (until 3.2), red_random (since 3.3)",
        },
    ],
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

const RENO: [ParameterDoc; 5] = instance! {
    "reno.min", "bytes | packets | time | BDP", "", "Packets that are not ECT: below this average none is dropped.", "K13 section III-C";
    "reno.max", "bytes | packets | time | BDP", "", "Packets that are not ECT: from this average on all are dropped.", "K13 section III-C";
    "reno.max_probability", "0..1", "0.1", "Drop probability at reno.max.", "K13 section IV-A";
    "reno.weight", "0..1", "0.002", "Weight of the moving average.", "K13 section IV-A";
    "reno.gentle", "bool", "false", "Between max and 2 max the probability rises to 1 instead of jumping there.", "Floyd 2000, gentle variant of RED";
};

const DCTCP: [ParameterDoc; 6] = instance! {
    "dctcp.threshold", "bytes | packets | time | BDP", "", "Step marking: min = max = K, weight 1; excludes the other dctcp keys.", "K13 section II-A";
    "dctcp.min", "bytes | packets | time | BDP", "", "ECT packets: below this average none is marked. Needed without threshold.", "K13 section IV-C";
    "dctcp.max", "bytes | packets | time | BDP", "", "ECT packets: from this average on all are marked. Needed without threshold.", "K13 section IV-C";
    "dctcp.max_probability", "0..1", "0.1", "Mark probability at dctcp.max.", "K13 section IV-C";
    "dctcp.weight", "0..1", "0.002", "Weight of the moving average.", "K13 section IV-C";
    "dctcp.gentle", "bool", "false", "Between max and 2 max the probability rises to 1 instead of jumping there.", "Floyd 2000, gentle variant of RED";
};

pub(super) const DUAL_RED: ModelDoc = ModelDoc {
    name: "dual-red",
    kind: ModelKind::Queue,
    summary: "One queue with two RED instances chosen by ECN capability: ECT packets are marked, others dropped.",
    follows: "Kuehlewind et al., Using Data Center TCP (DCTCP) in the Internet, 2014 (K13), section III-C",
    parameters: &[
        BUFFER,
        RENO[0],
        RENO[1],
        RENO[2],
        RENO[3],
        RENO[4],
        DCTCP[0],
        DCTCP[1],
        DCTCP[2],
        DCTCP[3],
        DCTCP[4],
        DCTCP[5],
        ParameterDoc {
            name: "average",
            unit: "shared | per-class",
            default: "shared",
            doc: "Whether each instance averages the queue at every arrival or only at those of its own class.",
            source: "not stated in K13; shared as in Linux net/sched/sch_gred.c, WRED mode",
        },
        SPACING,
        MEAN_PACKET,
    ],
    differences: &[
        Difference {
            text: "K13 does not say whether the instances share their average. Shared is used: averages per class lock Reno out \
                   after an overshoot, which contradicts the paper's results.",
            test: "averages_per_class_lock_reno_out",
        },
        Difference {
            text: "K13 does not say how marks are spread; both ways are offered and each instance counts its own packets, as \
                   WRED does.",
            test: "one_class_alone_is_one_red_queue",
        },
        Difference {
            text: "With weight 1 and min = max the arriving packet is included in the comparison, as K13 section IV-B needs; any \
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
