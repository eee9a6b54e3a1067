//! CoDel, alone and behind fair queueing.

use shoal_aqm::CeThresholdFor;

use crate::field::{choices, section};
use crate::quantity::{Amount, Duration, PacketCount, Size};

section! {
    /// CoDel with the parameters of `tc qdisc add ... codel`.
    Codel {
        /// Sojourn time that may stand.
        target: Duration = "5 ms",
        /// How long it must be exceeded before the first drop; gaps between drops are this over a square root.
        interval: Duration = "100 ms",
        /// Mark ECT packets instead of dropping them.
        ecn: bool = false,
        /// Beyond this sojourn time ECT packets are marked at once. Default: never.
        ce_threshold: Option<Duration>,
        /// Waiting packets that fit. Default: the link's buffer.
        limit: Option<Amount>,
    }
}

section! {
    /// Fair queueing with CoDel, with the parameters of `tc qdisc add ... fq_codel`.
    FqCodel {
        /// How packets find their queue: by a hash of their flow, or one queue for each flow.
        classifier: FlowClassifier = "hash",
        /// Queues behind the hash, 1 to 65536. Default: 1024. Excluded by classifier = "flow".
        flows: Option<u32>,
        /// Bytes that a queue may send in one turn, at least 256 B. Default: the largest packet of any flow.
        quantum: Option<Size>,
        /// Sojourn time that may stand in a queue.
        target: Duration = "5 ms",
        /// How long it must be exceeded before the first drop; gaps between drops are this over a square root.
        interval: Duration = "100 ms",
        /// Mark ECT packets instead of dropping them.
        ecn: bool = true,
        /// Beyond this sojourn time ECT packets are marked at once. Default: never.
        ce_threshold: Option<Duration>,
        /// Packets that ce_threshold is for: all ECT, or ECT(1) only.
        ce_threshold_for: CeThresholdFor = "ect",
        /// What may wait in all queues together; beyond it the fattest queue is cut. Default: the link's buffer.
        limit: Option<Amount>,
        /// The same in bytes, beside limit.
        memory_limit: Size = "33554432 B",
        /// Packets that one cut drops at most.
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
