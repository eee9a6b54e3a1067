//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "classes",
    kind: ModelKind::Queue,
    summary: "Several queues behind one line, chosen by the code point of a packet's flow: strict ones first, in the \
              order of the list, the others by weight; each with a law, a limit and perhaps a shaper of its own.",
    follows: "Linux 6.12 net/sched/sch_ets.c; IEEE 802.1Q clause 8.6.8; shaping as Linux 6.12 net/sched/sch_tbf.c",
    differences: &[
        Difference {
            text: "A packet's class is that of its flow, data and ACKs alike: nothing on the path changes a code \
                   point.",
            test: "packets_join_the_queue_of_their_flow",
        },
        Difference {
            text: "Laws that use the line rate (thresholds in time at enqueue, limits in time, idle averages) take \
                   that of the whole line; a switch with a threshold in time takes the packet's own wait, or the rate \
                   that the queue has.",
            test: "thresholds_in_time_take_the_rate_of_the_line",
        },
        Difference {
            text: "For the average of a RED law the queue is idle as soon as its own last packet has been \
                   transmitted. In a weighted queue of `ets` the kernel's `red` is not asked again then, so that its \
                   average does not decay.",
            test: "a_law_is_idle_when_its_own_packets_are_gone",
        },
        Difference {
            text: "A law that decides on departure decides when its packet leaves; `ets` looks at the next packet of \
                   a weighted queue ahead, and CoDel has then decided on it.",
            test: "a_law_decides_when_its_packet_leaves",
        },
        Difference {
            text: "A queue that is held back by its shaper keeps its turn and its deficit; the kernel has no shaper \
                   inside `ets`, whose weighted queues must not hold packets back.",
            test: "a_shaped_queue_keeps_its_turn",
        },
        Difference {
            text: "Memory that the queues share counts bytes of IP packets that wait, and compares alpha times what \
                   is free with what the queue would hold with the arriving packet. A switch counts whole cells until \
                   their transmission has ended. Headroom is only taken off: links do not pause (priority flow \
                   control).",
            test: "busy_queues_hold_alpha_times_what_is_free",
        },
        Difference {
            text: "Shapers count bytes of IP packets, and a packet leaves when the bucket holds all of it; switches \
                   count framing, too, and many let a packet leave on any credit and pay afterwards.",
            test: "a_shaped_queue_sends_its_burst_and_then_its_rate",
        },
    ],
};
