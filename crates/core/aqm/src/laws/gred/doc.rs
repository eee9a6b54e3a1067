//! What users read about it, and its known differences.

use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "gred",
    kind: ModelKind::Queue,
    summary: "RED for two classes of packets in one queue: with equal priorities WRED, the off-the-shelf relative of \
              dual RED.",
    follows: "Linux 6.12 net/sched/sch_gred.c and include/net/red.h; iproute2 tc/q_gred.c, tc/tc_red.c, tc/tc_core.c",
    differences: &[
        Difference {
            text: "ECN codepoints choose the virtual queue: not_ect and ect (keys `*` above). The kernel has 16, \
                   chosen by four bits of tc_index, which a filter on the ECN field would set.",
            test: "packets_without_a_virtual_queue_pass",
        },
        Difference {
            text: "Under WRED the kernel lets virtual queues of different weight read one integer, each in its own \
                   scale. So does the model; the scenario refuses such a configuration.",
            test: "wred_queues_must_agree_on_the_weight",
        },
        Difference {
            text: "As in the kernel and unlike linux-red, idle time begins when the last packet leaves for \
                   transmission, and a drop on an empty queue ends it for good: then each arrival averages 0.",
            test: "a_drop_on_an_empty_queue_ends_the_idle_time",
        },
        Difference {
            text: "Random numbers come from the experiment's seed: gaps have the kernel's distribution, not its \
                   sequence.",
            test: "wred_agrees_with_dual_red",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel adds the link-layer header, 14 bytes on Ethernet.",
            test: "limits_come_after_the_law",
        },
    ],
};
