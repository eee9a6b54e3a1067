//! Queues without an average.

use super::Extent;

/// First in, first out, tail drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FifoConfig {
    /// Waiting packets that fit.
    pub limit: Extent,
}

/// When a decision is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecideAt {
    /// On arrival.
    Enqueue,
    /// On departure.
    Dequeue,
}

/// Step marking: ECT packets above the threshold are marked, others dropped above their own limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepConfig {
    /// K: ECT packets that find more than this (the arriving packet included) are marked.
    pub threshold: Extent,
    /// When it is compared.
    pub decide: DecideAt,
    /// Packets that are not ECT are dropped above this; usually [`Extent::Unlimited`] (only the buffer limits them).
    pub drop_threshold: Extent,
    /// Waiting packets that fit.
    pub limit: Extent,
}
