//! What users read about it, and its known differences.

use crate::laws::codel::{EMPTY_QUEUE, SECOND_GAP};
use shoal_units::{Difference, ModelDoc, ModelKind};

pub(super) const DOC: ModelDoc = ModelDoc {
    name: "fq-codel",
    kind: ModelKind::Queue,
    summary: "Queues served in turn by bytes, those that begin to send first, each with CoDel.",
    follows: "Linux 7.3 net/sched/sch_fq_codel.c and include/net/codel_impl.h; RFC 8290",
    differences: &[
        Difference {
            text: "The hash mixes the flow's number with a key from the queue's random stream; the kernel hashes \
                   addresses and ports with a key of its own. Collisions are as likely, but other flows collide.",
            test: "flows_that_collide_share_a_queue",
        },
        Difference {
            text: "Bytes are those of IP packets: quantum, backlogs and memory_limit leave out the link-layer header, \
                   and memory_limit the kernel's own structures, which about double a full-sized packet.",
            test: "memory_is_limited_in_bytes",
        },
        Difference {
            text: "The line always reports that it falls idle, and all queues are forgotten then. Below HTB or TBF \
                   the kernel's fq_codel is not asked while it is empty, so that queues stay listed.",
            test: "an_idle_line_forgets_old_and_new",
        },
        Difference {
            text: "drop_batch is what is written; for years the kernel turned any configured value into 1.",
            test: "the_fattest_flow_is_cut_in_batches_from_its_head",
        },
        Difference {
            text: "Flows that a scenario sends through a tunnel are one flow, as a kernel sees it that looks at the \
                   outer header; a kernel's flow dissector may look inside of some tunnels without encryption. The \
                   bytes of the outer header are not counted.",
            test: "flows_of_a_tunnel_have_one_queue",
        },
        Difference {
            text: "ce_threshold_selector sees the two ECN bits of the DS field only: packets carry no code point.",
            test: "the_selector_names_the_packets_of_the_ce_threshold",
        },
        Difference {
            text: "The kernel has been up for 100 s when the experiment begins. Like the kernel's, whose clock has 32 \
                   bits, a queue that drops packets for lack of room before its first signal goes on with a rate of \
                   signals that it never had once the kernel has been up for 2199 s, until 4398 s, and so on: every \
                   late packet is marked or dropped then.",
            test: "the_boot_is_recent_after_half_a_period_of_the_clock",
        },
        EMPTY_QUEUE,
        SECOND_GAP,
    ],
};
