//! GRED.

use super::BUFFER;
use shoal_units::{Difference, ModelDoc, ModelKind, ParameterDoc};

/// Keys of one virtual queue.
macro_rules! virtual_queue {
    ($($name:literal, $unit:literal, $default:literal, $doc:literal, $source:literal;)*) => {
        [$(ParameterDoc { name: $name, unit: $unit, default: $default, doc: $doc, source: $source }),*]
    };
}

/// For `not_ect` and for `ect`.
const KEYS: [ParameterDoc; 10] = virtual_queue! {
    "*.limit", "bytes | packets | time | BDP", "limit", "Virtual queue: limit on the backlog that its law sees.", "sch_gred.c gred_enqueue";
    "*.min", "bytes | packets | time | BDP", "", "Virtual queue: below this average nothing is marked.", "red.h red_cmp_thresh";
    "*.max", "bytes | packets | time | BDP", "", "Virtual queue: from this average on every packet is marked or dropped.", "red.h red_cmp_thresh; q_gred.c";
    "*.avpkt", "bytes", "1000 B", "Virtual queue: average packet size, for the weight and the idle table.", "tc_red.c tc_red_eval_ewma";
    "*.burst", "packets", "(2 min + max) / (3 avpkt)", "Virtual queue: burst that shall pass; determines the weight 2^-Wlog.", "tc_red.c tc_red_eval_ewma";
    "*.probability", "0..1", "0.02", "Virtual queue: probability at max.", "q_gred.c; red.h red_random";
    "*.bandwidth", "rate", "10 Mbit/s", "Virtual queue: only for the idle table.", "tc_red.c tc_red_eval_idle_damping";
    "*.ecn", "bool", "false", "Virtual queue: mark ECT packets instead of dropping them.", "sch_gred.c gred_use_ecn (per virtual queue since 5.0)";
    "*.harddrop", "bool", "false", "Virtual queue, with ecn: above max drop even ECT packets.", "sch_gred.c gred_use_harddrop";
    "*.prio", "1..15", "8", "Virtual queue: priority, lower numbers first; only with grio.", "sch_gred.c gred_change";
};

pub(super) const GRED: ModelDoc = ModelDoc {
    name: "gred",
    kind: ModelKind::Queue,
    summary: "RED for two classes of packets in one queue: with equal priorities WRED, the off-the-shelf relative of dual RED.",
    follows: "Linux 6.12 net/sched/sch_gred.c and include/net/red.h; iproute2 tc/q_gred.c, tc/tc_red.c, tc/tc_core.c",
    parameters: &[
        BUFFER,
        ParameterDoc {
            name: "grio",
            unit: "bool",
            default: "true",
            doc: "Priorities count: equal ones share one average of the whole queue (WRED), else each adds the averages of lower numbers \
                  (RIO). Without it (tc's default) each averages its own packets.",
            source: "sch_gred.c gred_wred_mode_check, gred_enqueue",
        },
        ParameterDoc {
            name: "limit",
            unit: "bytes | packets | time | BDP",
            default: "the link's buffer",
            doc: "Largest limit of both virtual queues.",
            source: "sch_gred.c gred_change_vq",
        },
        KEYS[0],
        KEYS[1],
        KEYS[2],
        KEYS[3],
        KEYS[4],
        KEYS[5],
        KEYS[6],
        KEYS[7],
        KEYS[8],
        KEYS[9],
    ],
    differences: &[
        Difference {
            text: "ECN codepoints choose the virtual queue: not_ect and ect (keys `*` above). The kernel has 16, chosen by four bits of tc_index, \
                   which a filter on the ECN field would set.",
            test: "packets_without_a_virtual_queue_pass",
        },
        Difference {
            text: "Under WRED the kernel lets virtual queues of different weight read one integer, each in its own scale. So does the model; \
                   the scenario refuses such a configuration.",
            test: "wred_queues_must_agree_on_the_weight",
        },
        Difference {
            text: "As in the kernel and unlike linux-red, idle time begins when the last packet leaves for transmission, and a drop on an empty \
                   queue ends it for good: then each arrival averages 0.",
            test: "a_drop_on_an_empty_queue_ends_the_idle_time",
        },
        Difference {
            text: "Random numbers come from the experiment's seed: gaps have the kernel's distribution, not its sequence.",
            test: "wred_agrees_with_dual_red",
        },
        Difference {
            text: "Counts the bytes of the IP packet; the kernel adds the link-layer header, 14 bytes on Ethernet.",
            test: "limits_come_after_the_law",
        },
    ],
};
