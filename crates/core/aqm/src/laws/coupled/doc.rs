//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "coupled",
    kind: ModelKind::Queue,
    summary: "One queue: ECT packets are marked with p, others dropped with (p/k)^2; p rises with the instantaneous \
              queue.",
    follows: "De Schepper, Data Center to the Home, slides, 2015: \"Coupled AQM\", \"Single Q\"",
    differences: &[
        Difference {
            text: "The slides give neither the width of the random numbers nor the unit of Q. Here numbers have 32 \
                   bits, Q << S is never cut off, and the second number is drawn only after a first one below Q.",
            test: "the_slides_comparison_packet_by_packet",
        },
        Difference {
            text: "Q counts the packet it decides about, but not the one in transmission; a time on arrival is bytes \
                   over the line rate.",
            test: "a_time_on_arrival_is_bytes_over_the_line_rate",
        },
        Difference {
            text: "A drop on departure never takes the last packet that waits: in a kernel, who asks a queue for a \
                   packet and gets none takes it for empty. sch_codel and sch_dualpi2 spare what waits last, too; the \
                   slides say nothing. The random numbers are drawn all the same.",
            test: "a_drop_on_departure_never_empties_the_queue",
        },
        Difference {
            text: "No difference, but what the law leaves out: it couples probabilities at an instant, and \
                   steady-state laws want their means. With one flow of each class p swings and E[p^2] is above \
                   E[p]^2, so that classic flows lose more, and the law c_L / (k c_C) of their rates is missed by 10 \
                   % and more (15 % for Reno and DCTCP at 20 Mbit/s; up to twice the law at other rates and RTTs); \
                   from ten flows of each on it holds within 7 %.",
            test: "one_flow_of_each_class_misses_the_coupled_law",
        },
    ],
};
