//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "red",
    kind: ModelKind::Queue,
    summary: "Random Early Detection in floating point, as published.",
    follows: "Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, 1993",
    differences: &[
        Difference {
            text: "Gaps follow the formula of section 4 (uniform on 1..1/p, rate 2p/(1+p)); the listing of figure 2 \
                   counts one more after a mark, which gives 1..1/p-1 and the rate 2p.",
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
            text: "No difference, but what a user may not expect: thresholds in packets mean packets of mean_packet, \
                   1500 B unless it is written, whatever the MTU of the flows is, since the law counts bytes. Runs \
                   say it where the two differ.",
            test: "thresholds_of_red_in_packets_count_mean_packets",
        },
        Difference {
            text: "The line is taken to be idle when the last packet's IP bytes are sent; framing is not known to the \
                   queue.",
            test: "the_idle_time_is_known_without_asking_the_empty_queue",
        },
        Difference {
            text: "A drop on an empty queue restarts the idle time; the paper leaves this open, and without it RED \
                   locks up.",
            test: "a_drop_on_an_empty_queue_restarts_the_idle_time",
        },
    ],
};
