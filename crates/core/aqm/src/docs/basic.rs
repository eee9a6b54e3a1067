//! Queues without an average.

use super::BUFFER;
use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

pub(super) const FIFO: ModelDoc = ModelDoc {
    name: "fifo",
    kind: ModelKind::Queue,
    summary: "First in, first out; what does not fit is dropped on arrival.",
    follows: "Linux net/sched/sch_fifo.c (pfifo, bfifo)",
    parameters: &[BUFFER],
    differences: &[Difference {
        text: "Counts the bytes of the IP packet; bfifo also counts the link-layer header, 14 bytes on Ethernet.",
        test: "the_limit_counts_ip_bytes",
    }],
};

pub(super) const STEP: ModelDoc = ModelDoc {
    name: "step",
    kind: ModelKind::Queue,
    summary: "Marks every ECT packet above a fixed threshold of the instantaneous queue; draws no random numbers.",
    follows: "RFC 8257 section 3.1; Kuehlewind et al. 2014 (K13) sections II-A and IV-B",
    parameters: &[
        BUFFER,
        ParameterDoc {
            name: "threshold",
            unit: "bytes | packets | time | BDP",
            default: "",
            doc: "K: an ECT packet is marked if more than this waits, itself included.",
            source: "RFC 8257 section 3.1; K13 section IV-B",
        },
        ParameterDoc {
            name: "decide",
            unit: "enqueue | dequeue",
            default: "enqueue",
            doc: "When the queue is compared with the threshold; at dequeue a time is the packet's own wait.",
            source: "RFC 8257 section 3.1 (enqueue); RFC 9332 section 2.5.1 (sojourn time at dequeue)",
        },
        ParameterDoc {
            name: "drop_threshold",
            unit: "bytes | packets | time | BDP | unlimited",
            default: "unlimited",
            doc: "A packet that is not ECT is dropped if more than this waits, itself included.",
            source: "Linux net/sched/sch_red.c (not ECT: dropped where others are marked)",
        },
    ],
    differences: &[
        Difference {
            text: "RFC 8257 compares the queue that the packet finds; here the packet itself counts, as K13 needs for 7812 B and \
                   8203 B to be the same threshold. Add one packet to K for the other reading.",
            test: "thresholds_that_hold_five_packets_are_the_same",
        },
        Difference {
            text: "At dequeue, a threshold in packets or bytes includes the leaving packet; Linux dualpi2 has removed it \
                   before it compares.",
            test: "on_departure_the_leaving_packet_counts",
        },
        Difference {
            text: "A time at enqueue is bytes over the line rate, which ignores framing and the packet in transmission.",
            test: "scripted_arrivals_mark_exactly_those_above",
        },
    ],
};
