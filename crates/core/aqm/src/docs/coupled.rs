//! Coupled queues.

use super::BUFFER;
use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

macro_rules! parameters {
    ($($name:literal, $unit:literal, $default:literal, $doc:literal, $source:literal;)*) => {
        [$(ParameterDoc { name: $name, unit: $unit, default: $default, doc: $doc, source: $source }),*]
    };
}

const AMOUNT: &str = "bytes | packets | time | BDP";

const SATURATION: ParameterDoc = ParameterDoc {
    name: "saturation",
    unit: AMOUNT,
    default: "",
    doc: "Queue at which every ECT packet is marked: p rises linearly from the origin up to there. Needed without reno_slope.",
    source: "De Schepper 2015, \"Coupled AQM\" (instantaneous queue, slope from the origin)",
};

const SHIFTS: [ParameterDoc; 2] = parameters! {
    "reno_slope", "bits", "", "S_r: packets that are not ECT are dropped if Q << S_r is above two random numbers. Excludes saturation.", "De Schepper 2015, \"Detailed implementation\"";
    "slope_unit", "bytes | packets | time", "1 ns", "What Q counts, with reno_slope.", "not stated; nanoseconds as in Linux net/sched/sch_dualpi2.c";
};

pub(super) const COUPLED: ModelDoc = ModelDoc {
    name: "coupled",
    kind: ModelKind::Queue,
    summary: "One queue: ECT packets are marked with p, others dropped with (p/k)^2; p rises with the instantaneous queue.",
    follows: "De Schepper, Data Center to the Home, slides, 2015: \"Coupled AQM\", \"Single Q\"",
    parameters: &[
        BUFFER,
        SATURATION,
        ParameterDoc {
            name: "coupling",
            unit: "above 0",
            default: "1.63",
            doc: "k, with saturation: the factor between p and the root of the drop probability.",
            source: "De Schepper 2015, \"Fairness between DCTCP and Reno\": 2 / 1.22",
        },
        SHIFTS[0],
        ParameterDoc {
            name: "dctcp_slope",
            unit: "bits",
            default: "reno_slope + 1",
            doc: "S_d: ECT packets are marked if Q << S_d is above a random number; k = 2^(S_d - S_r).",
            source: "De Schepper 2015, \"Detailed implementation\"; k = 2 is the power of two next to 1.63",
        },
        SHIFTS[1],
        ParameterDoc {
            name: "decide",
            unit: "enqueue | dequeue",
            default: "enqueue",
            doc: "When the queue is measured; on departure a time is the packet's own wait.",
            source: "not stated",
        },
    ],
    differences: &[
        Difference {
            text: "The slides give neither the width of the random numbers nor the unit of Q. Here numbers have 32 bits, Q << S is \
                   never cut off, and the second number is drawn only after a first one below Q.",
            test: "the_slides_comparison_packet_by_packet",
        },
        Difference {
            text: "Q counts the packet it decides about, but not the one in transmission; a time on arrival is bytes over the line \
                   rate.",
            test: "a_time_on_arrival_is_bytes_over_the_line_rate",
        },
        Difference {
            text: "A drop on departure never takes the last packet that waits: in a kernel, who asks a queue for a packet and gets none \
                   takes it for empty. sch_codel and sch_dualpi2 spare what waits last, too; the slides say nothing. The random \
                   numbers are drawn all the same.",
            test: "a_drop_on_departure_never_empties_the_queue",
        },
        Difference {
            text: "No difference, but what the law leaves out: it couples probabilities at an instant, and steady-state laws want their \
                   means. With one flow of each class p swings and E[p^2] is above E[p]^2, so that classic flows lose more, and the law \
                   c_L / (k c_C) of their rates is missed by 10 % and more (15 % for Reno and DCTCP at 20 Mbit/s; up to twice the law at \
                   other rates and RTTs); from ten flows of each on it holds within 7 %.",
            test: "one_flow_of_each_class_misses_the_coupled_law",
        },
    ],
};

pub(super) const DUAL_COUPLED: ModelDoc = ModelDoc {
    name: "dualq-coupled",
    kind: ModelKind::Queue,
    summary: "Two queues: ECT packets go first; the classic queue drives their marks (p) and its own drops, (p/8)^2.",
    follows: "De Schepper, Data Center to the Home, slides, 2015: \"Detailed implementation\", \"Queue size based coupled AQM\"",
    parameters: &[
        BUFFER,
        SATURATION,
        ParameterDoc {
            name: "coupling",
            unit: "above 0",
            default: "8",
            doc: "k, with saturation: the factor between p and the root of the drop probability.",
            source: "De Schepper 2015, \"Dual queue - low latency\": 1.63 for equal round-trip times, times 5 for 8 ms against 40 ms",
        },
        SHIFTS[0],
        ParameterDoc {
            name: "dctcp_slope",
            unit: "bits",
            default: "reno_slope + 3",
            doc: "S_d: ECT packets are marked if Q << S_d is above a random number; k = 2^(S_d - S_r).",
            source: "De Schepper 2015, \"Detailed implementation\": S_d = S_r + 3",
        },
        SHIFTS[1],
        ParameterDoc {
            name: "threshold",
            unit: "bytes | packets | time | BDP | unlimited",
            default: "5 packets",
            doc: "T: an ECT packet is marked if more than this waits in its queue, itself included.",
            source: "De Schepper 2015, \"Detailed implementation\"; the value from the axis of \"AQM configuration\"",
        },
        ParameterDoc {
            name: "input",
            unit: "classic | total",
            default: "classic",
            doc: "Q: the classic queue, or both (sizes added, the longer of the times).",
            source: "De Schepper 2015, \"Detailed implementation\" (Q_r); RFC 9332 appendix A (total)",
        },
        ParameterDoc {
            name: "decide",
            unit: "enqueue | dequeue",
            default: "dequeue",
            doc: "When decisions are taken; on departure a time is the packet's own wait, for the other queue that of its oldest packet.",
            source: "not stated; RFC 9332 section 2.5.1 and appendix A decide at dequeue",
        },
        ParameterDoc {
            name: "scheduler",
            unit: "priority | weighted | time-shifted",
            default: "priority",
            doc: "Which queue sends when both have packets.",
            source: "De Schepper 2015: strict priority with queue time, 90/10 round robin with queue size; RFC 9332 section 4.2.2",
        },
        ParameterDoc {
            name: "classic_percent",
            unit: "0..100",
            default: "10",
            doc: "Share of the classic queue in bytes, with scheduler = \"weighted\".",
            source: "De Schepper 2015, \"Queue size based coupled AQM\"",
        },
        ParameterDoc {
            name: "shift",
            unit: "time",
            default: "40 ms",
            doc: "Head start of ECT packets, with scheduler = \"time-shifted\".",
            source: "sch_pi2 module (De Schepper and Bondarenko 2016), tshift",
        },
    ],
    differences: &[
        Difference {
            text: "Widths and units of the integers are not stated: as in coupled.",
            test: "the_slides_comparison_packet_by_packet",
        },
        Difference {
            text: "The slides do not say when decisions are taken. Departure is the default: only then a time is known exactly.",
            test: "on_departure_times_are_waits",
        },
        Difference {
            text: "Above T nothing is drawn, so a mark that the coupling would have made, too, counts as one of the threshold.",
            test: "above_the_threshold_nothing_is_drawn",
        },
        Difference {
            text: "A drop on departure never takes the last packet that waits in either queue: in a kernel, who asks a queue for a packet and gets none \
                   takes it for empty. sch_codel and sch_dualpi2 spare what waits last, too; the slides say nothing. The random \
                   numbers are drawn all the same.",
            test: "a_drop_on_departure_never_empties_both_queues",
        },
        Difference {
            text: "The kind of round robin is not stated: the credit scheduler of Linux dualpi2 is used, which shares bytes. It begins \
                   anew when the line falls idle, computed without framing.",
            test: "credit_begins_anew_on_an_idle_line",
        },
        Difference {
            text: "The slides do not show a buffer: both queues share one, and what does not fit is dropped whatever its class.",
            test: "one_limit_for_both_queues",
        },
    ],
};
