//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "fifo",
    kind: ModelKind::Queue,
    summary: "First in, first out; what does not fit is dropped on arrival.",
    follows: "Linux net/sched/sch_fifo.c (pfifo, bfifo)",
    differences: &[Difference {
        text: "Counts the bytes of the IP packet; bfifo also counts the link-layer header, 14 bytes on Ethernet.",
        test: "the_limit_counts_ip_bytes",
    }],
};
