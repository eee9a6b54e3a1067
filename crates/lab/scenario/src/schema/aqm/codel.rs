//! CoDel, alone and behind fair queueing.

use shoal_aqm::CeThresholdFor;

use crate::field::{choices, section};
use crate::quantity::{Amount, Duration, PacketCount, Size};

section! {
    /// CoDel with the parameters of `tc qdisc add ... codel`.
    Codel {
        /// Sojourn time that may stand; kept in ticks of 1024 ns.
        #[source = "RFC 8289 section 4.2; codel_impl.h codel_should_drop"]
        target: Duration = "5 ms",
        /// How long the target must be exceeded before the first signal; the n-th gap between signals is this over sqrt(n).
        #[source = "RFC 8289 section 4.3; codel_impl.h codel_control_law"]
        interval: Duration = "100 ms",
        /// Mark ECT packets instead of dropping them.
        #[source = "codel_impl.h codel_dequeue"]
        ecn: bool = false,
        /// Beyond this sojourn time ECT packets are marked at once, whatever the law says.
        #[source = "codel_impl.h codel_dequeue (since 4.2)"]
        #[otherwise = "never"]
        ce_threshold: Option<Duration>,
        /// Waiting packets that fit; tc's own default is 1000 packets.
        #[source = "sch_codel.c codel_init"]
        #[otherwise = "the link's buffer"]
        limit: Option<Amount>,
    }
}

section! {
    /// Fair queueing with CoDel, with the parameters of `tc qdisc add ... fq_codel`.
    FqCodel {
        /// How packets find their queue: by a hash of their flow, with collisions, or one queue for each flow.
        #[source = "sch_fq_codel.c fq_codel_hash; RFC 8290 section 4.1.1"]
        classifier: FlowClassifier = "hash",
        /// Queues behind the hash. Excluded by classifier = "flow".
        #[source = "RFC 8290 section 5.2.1"]
        #[unit = "1 to 65536"]
        flows: Option<u32> = 1024 if classifier = "hash",
        /// Bytes that a queue may send in one turn, at least 256 B.
        #[source = "RFC 8290 section 5.2.4; sch_fq_codel.c fq_codel_change"]
        #[otherwise = "the largest packet of any flow"]
        quantum: Option<Size>,
        /// Sojourn time that may stand in a queue; kept in ticks of 1024 ns.
        #[source = "RFC 8289 section 4.2; codel_impl.h codel_should_drop"]
        target: Duration = "5 ms",
        /// How long the target must be exceeded before the first signal; the n-th gap between signals is this over sqrt(n).
        #[source = "RFC 8289 section 4.3; codel_impl.h codel_control_law"]
        interval: Duration = "100 ms",
        /// Mark ECT packets instead of dropping them.
        #[source = "codel_impl.h codel_dequeue"]
        ecn: bool = true,
        /// Beyond this sojourn time ECT packets are marked at once, whatever the law says.
        #[source = "codel_impl.h codel_dequeue (since 4.2)"]
        #[otherwise = "never"]
        ce_threshold: Option<Duration>,
        /// Packets that ce_threshold is for: all ECT, or ECT(1) only (tc's ce_threshold_selector 1/3).
        #[source = "codel_impl.h codel_dequeue (since 5.16)"]
        ce_threshold_for: CeThresholdFor = "ect",
        /// What may wait in all queues together; tc's own default is 10240 packets. Beyond it the fattest queue is cut.
        #[source = "sch_fq_codel.c fq_codel_init"]
        #[otherwise = "the link's buffer"]
        limit: Option<Amount>,
        /// The same in bytes, beside limit.
        #[source = "sch_fq_codel.c fq_codel_enqueue"]
        memory_limit: Size = "33554432 B",
        /// Beyond a limit the fattest queue loses half of its bytes from its head, at most so many packets.
        #[source = "sch_fq_codel.c fq_codel_drop"]
        drop_batch: PacketCount = "64 packets",
    }
}

/// How packets find their queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowClassifier {
    /// By a hash of their flow.
    Hash,
    /// Every flow has its own.
    Flow,
}

choices!(FlowClassifier { "hash" => Self::Hash, "flow" => Self::Flow, });
choices!(CeThresholdFor { "ect" => Self::Ect, "ect1" => Self::Ect1, });
