//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "step",
    kind: ModelKind::Queue,
    summary: "Marks every ECT packet above a fixed threshold of the instantaneous queue; draws no random numbers.",
    follows: "RFC 8257 section 3.1; Kuehlewind et al. 2014 sections II-A and IV-B",
    differences: &[
        Difference {
            text: "RFC 8257 compares the queue that the packet finds; here the packet itself counts, without which \
                   7812 B and 8203 B would not be the same threshold (Kuehlewind et al. 2014). Add one packet to K \
                   for the other reading.",
            test: "thresholds_that_hold_five_packets_are_the_same",
        },
        Difference {
            text: "At dequeue, a threshold in packets or bytes includes the leaving packet; Linux dualpi2 has removed \
                   it before it compares.",
            test: "on_departure_the_leaving_packet_counts",
        },
        Difference {
            text: "A time at enqueue is bytes over the line rate, which ignores framing and the packet in \
                   transmission.",
            test: "scripted_arrivals_mark_exactly_those_above",
        },
    ],
};
