//! CoDel and what is built on it.

use super::Extent;
use shoal_units::Span;

/// The parameters of the CoDel law (RFC 8289; Linux `struct codel_params`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelParameters {
    /// Sojourn time that may stand.
    pub target: Span,
    /// How long it must have been exceeded before the first drop; the scale of the gaps between drops.
    pub interval: Span,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
    /// Beyond this sojourn time ECT packets are marked, whatever the law says.
    pub ce_threshold: Option<Span>,
    /// Which packets `ce_threshold` is for.
    pub ce_threshold_for: CeThresholdFor,
    /// No signal while no more than this waits, bytes.
    pub mtu_bytes: u32,
}

/// Which packets a CoDel `ce_threshold` is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CeThresholdFor {
    /// All that are ECN-capable.
    Ect,
    /// Those with ECT(1) only (`ce_threshold_selector 1/3`, RFC 9331).
    Ect1,
}

/// CoDel over one FIFO (Linux `net/sched/sch_codel.c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelConfig {
    /// The law.
    pub law: CodelParameters,
    /// Waiting packets that fit.
    pub limit: Extent,
}

/// Fair queueing with CoDel (RFC 8290; Linux `net/sched/sch_fq_codel.c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelConfig {
    /// The law of every queue.
    pub law: CodelParameters,
    /// How packets find their queue.
    pub flows: FlowQueues,
    /// Bytes that a queue may send in one turn; at least 256 are used.
    pub quantum_bytes: u32,
    /// What may wait in all queues together; beyond it the fattest queue is cut.
    pub limit: Extent,
    /// The same in bytes, beside `limit`.
    pub memory_limit_bytes: u64,
    /// Packets that one cut drops at most, 1 or more.
    pub drop_batch: u32,
}

/// How the packets of a fair queue find their queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowQueues {
    /// A hash of the flow chooses one of so many queues, 1 to 65536; flows may collide.
    Hashed(u32),
    /// Every flow has a queue of its own.
    PerFlow,
}
