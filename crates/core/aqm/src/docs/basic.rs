//! Queues without an average.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const FIFO: ModelDoc = ModelDoc {
    name: "fifo",
    kind: ModelKind::Queue,
    summary: "First in, first out; what does not fit is dropped on arrival.",
    follows: "Linux net/sched/sch_fifo.c (pfifo, bfifo)",
    differences: &[Difference {
        text: "Counts the bytes of the IP packet; bfifo also counts the link-layer header, 14 bytes on Ethernet.",
        test: "the_limit_counts_ip_bytes",
    }],
};

pub(super) const STEP: ModelDoc = ModelDoc {
    name: "step",
    kind: ModelKind::Queue,
    summary: "Marks every ECT packet above a fixed threshold of the instantaneous queue; draws no random numbers.",
    follows: "RFC 8257 section 3.1; Kuehlewind et al. 2014 sections II-A and IV-B",
    differences: &[
        Difference {
            text: "RFC 8257 compares the queue that the packet finds; here the packet itself counts, without which 7812 B and 8203 B would not be \
                   the same threshold (Kuehlewind et al. 2014). Add one packet to K for the other reading.",
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

pub(super) const OPEN_LOOP: ModelDoc = ModelDoc {
    name: "open-loop",
    kind: ModelKind::Queue,
    summary: "Marks and drops with given probabilities, whatever waits: the open loop of the steady-state laws.",
    follows: "De Schepper et al. 2015, steady-state rates as functions of p; Mathis et al. 1997 section 2 (even gaps)",
    differences: &[Difference {
        text: "A packet that does not fit is dropped by the buffer and is not an event of the law: the gaps stay as they are.",
        test: "the_buffer_comes_first",
    }],
};
