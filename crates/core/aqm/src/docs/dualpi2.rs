//! Queues with a PI controller and a square.

use super::BUFFER;
use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

macro_rules! parameters {
    ($($name:literal, $unit:literal, $default:literal, $doc:literal, $source:literal;)*) => {
        [$(ParameterDoc { name: $name, unit: $unit, default: $default, doc: $doc, source: $source }),*]
    };
}

const OWN: [ParameterDoc; 21] = parameters! {
    "limit", "bytes | packets | time | BDP", "the link's buffer", "Hard limit of both queues together; tc's default is 10000 packets.", "sch_dualpi2.c dualpi2_reset_default";
    "memory_limit", "bytes | unlimited", "unlimited", "Bytes of both queues together that fit, besides; tc's default never binds before limit.", "sch_dualpi2.c get_memory_limit";
    "target", "time", "15 ms", "Queueing time that the controller aims at, in whole microseconds.", "sch_dualpi2.c; RFC 9332 appendix A.1";
    "tupdate", "time", "16 ms", "Time between updates of p', in whole microseconds.", "sch_dualpi2.c; RFC 9332 appendix A.1 (15 ms)";
    "alpha", "Hz", "0.16015625", "Integral gain, rounded down to 1/256 Hz.", "sch_dualpi2.c (41/256); iproute2 q_dualpi2.c parse_alpha_beta; RFC 9332 appendix A.1 (0.15)";
    "beta", "Hz", "3.19921875", "Proportional gain, rounded down to 1/256 Hz.", "sch_dualpi2.c (819/256); RFC 9332 appendix A.1 (3)";
    "coupling", "1..255", "2", "k: low-latency packets are marked with k p', classic ones dropped with p'^2. 2 gives equal windows, not equal rates.", "sch_dualpi2.c; RFC 9332 section 2.1";
    "ecn_mask", "any-ect | l4s-ect | classic-ect", "l4s-ect", "Which packets are low-latency: ECT(1) and CE (l4s-ect, mask 1), or any ECT and CE (any-ect, mask 3). DCTCP sends ECT(0): it is classic unless this is any-ect.", "sch_dualpi2.c dualpi2_skb_classify";
    "native", "step | ramp", "step", "Own law of the low-latency queue.", "sch_dualpi2.c do_step_aqm; RFC 9332 appendix A.1 laqm";
    "step_threshold", "time | packets | unlimited", "1 ms", "Step: a packet that waited longer, or leaves more packets behind, is marked.", "sch_dualpi2.c do_step_aqm";
    "min_qlen_step", "packets", "0", "Step: only packets that found so many low-latency packets on arrival.", "sch_dualpi2.c skb_apply_step";
    "ramp_min", "time", "800 us", "Ramp: up to this wait nothing is marked.", "RFC 9332 appendix A.1 minTh";
    "ramp_range", "time", "400 us", "Ramp: this much later everything is.", "RFC 9332 appendix A.1 range";
    "ramp_packets", "packets", "1", "Ramp: nothing is marked while not more packets than this wait, the leaving one included.", "RFC 9332 appendix A.1 Th_len";
    "marking", "random | recur", "random", "How probabilities become decisions: random numbers, or adding up until the sum exceeds one.", "sch_dualpi2.c dualpi2_roll; RFC 9332 appendix A.1 recur";
    "overload", "drop | overflow", "drop", "Once k p' exceeds 1: drop low-latency packets with p'^2, too; or stop at 1/k and let the buffer fill.", "sch_dualpi2.c dualpi2_scalable_marking, calculate_probability";
    "decide", "enqueue | dequeue", "dequeue", "When the probability is applied; the native law always looks at departure.", "sch_dualpi2.c drop_early";
    "min_backlog", "bytes", "two of the largest packets", "Below this backlog, the packet not counted, the probability is not applied.", "sch_dualpi2.c must_drop";
    "scheduler", "weighted | priority | time-shifted", "weighted", "Which queue sends when both have packets.", "sch_dualpi2.c dequeue_packet; RFC 9332 section 4.2.2";
    "classic_percent", "0..100", "10", "Weighted: share of the classic queue in bytes (classic_protection of tc).", "sch_dualpi2.c dualpi2_calculate_c_protection";
    "shift", "time", "40 ms", "Time-shifted: head start of low-latency packets.", "sch_pi2 module (De Schepper and Bondarenko 2016), tshift";
};

pub(super) const DUALPI2: ModelDoc = ModelDoc {
    name: "dualpi2",
    kind: ModelKind::Queue,
    summary: "Two queues and one PI controller: low-latency packets are marked with k p', classic ones dropped with p'^2.",
    follows: "Linux net/sched/sch_dualpi2.c (6.18) in its integers; options of RFC 9332 appendix A",
    parameters: &[
        BUFFER, OWN[0], OWN[1], OWN[2], OWN[3], OWN[4], OWN[5], OWN[6], OWN[7], OWN[8], OWN[9], OWN[10],
        OWN[11], OWN[12], OWN[13], OWN[14], OWN[15], OWN[16], OWN[17], OWN[18], OWN[19], OWN[20],
    ],
    differences: &[
        Difference {
            text: "There are no filters, and no class of low-latency packets that is never marked: the codepoint alone decides.",
            test: "the_mask_says_what_is_low_latency",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel adds 14 bytes on Ethernet, to packets and to the MTU alike, and its \
                   memlimit counts the memory of buffers.",
            test: "both_limits_count_both_queues",
        },
        Difference {
            text: "The controller runs at exact multiples of Tupdate from time 0; the kernel's timer adds its latency each time.",
            test: "the_oldest_head_drives_the_controller",
        },
        Difference {
            text: "A packet that the step and the coupling mark counts as one of the step.",
            test: "the_step_looks_at_the_packets_own_wait",
        },
        Difference {
            text: "RFC 9332 suppresses the ramp for a queue of one packet; whether the leaving packet counts is not clear from its \
                   pseudocode. Here it does.",
            test: "the_ramp_rises_with_the_wait",
        },
        Difference {
            text: "Defaults are Linux'. RFC 9332 appendix A has Tupdate = 15 ms with gains of 0.15 and 3 Hz, the ramp instead of the step, \
                   and recur for the low-latency queue; one key each. Its p_Cmax = 1/k^2 is where k p' exceeds 1: the same overload.",
            test: "the_ramp_rises_with_the_wait",
        },
        Difference {
            text: "With ramp, recur and time-shifted the controller still computes in Linux' integers, not in the RFC's real numbers.",
            test: "the_larger_likelihood_marks",
        },
        Difference {
            text: "No difference, but what a user sees first at base RTTs of 50 to 100 ms: DCTCP's W p is two to three times what it is at \
                   short ones. Marks are then rarer than 3 %, where the kernel's integers lose alpha (`shoal describe dctcp`); with \
                   alpha_resolution = \"exact\" W p stays near 2. The step of 1 ms does not cause it: without the step the excess is \
                   larger.",
            test: "dctcps_integers_raise_its_window_at_long_round_trips",
        },
    ],
};

pub(super) const PI2: ModelDoc = ModelDoc {
    name: "pi2",
    kind: ModelKind::Queue,
    summary: "One queue with a PI controller: scalable packets are marked with p, others marked or dropped with (p/k)^2.",
    follows: "De Schepper, Bondarenko, Tsang and Briscoe, PI2, CoNEXT 2016; their sch_pi2 module for Linux (2015), without its second queue",
    parameters: &parameters! {
        "buffer", "bytes | packets | time | BDP | unlimited", "4 BDP", "Key of the bottleneck, beside its aqm: waiting packets that fit.", "sch_pi2.c limit (1000 packets)";
        "target", "time", "20 ms", "Queueing time that the controller aims at.", "sch_pi2.c pi2_params_init";
        "tupdate", "time", "32 ms", "Time between updates of p; the first comes at 0.5 s.", "CoNEXT 2016 (32 ms); sch_pi2.c has 30 ms in jiffies, 32 ms at 250 Hz";
        "alpha", "Hz", "0.625", "Integral gain for p, rounded down to 1/16 Hz; half of it for the root of the drop probability.", "sch_pi2.c pi2_params_init (10/16)";
        "beta", "Hz", "6.25", "Proportional gain for p, rounded down to 1/16 Hz.", "sch_pi2.c pi2_params_init (100/16)";
        "coupling", "1..255", "2", "k.", "sch_pi2.c pi2_params_init";
        "ecn", "bool", "true", "Mark ECT packets instead of dropping them.", "sch_pi2.c drop_early (ecn = 1)";
        "scalable", "any-ect | l4s-ect | classic-ect", "any-ect", "With ecn: which packets are scalable.", "sch_pi2.c ecn_scal (3)";
        "estimate", "rate | sojourn", "rate", "Where the queueing time comes from: backlog over measured departure rate, or the wait of the oldest packet.", "sch_pi2.c pi2_process_dequeue; RFC 8033 section 5.2";
    },
    differences: &[
        Difference {
            text: "Counts the bytes of the IP packet, without 14 bytes of Ethernet; no byte mode.",
            test: "small_backlogs_are_left_alone",
        },
        Difference {
            text: "The departure rate is smoothed in the module's integers, whose truncation leaves it up to seven units above the true \
                   rate: the delay is estimated too short at low rates.",
            test: "the_departure_rate_gives_the_delay",
        },
    ],
};
