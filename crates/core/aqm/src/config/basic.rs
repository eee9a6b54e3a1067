//! Queues without an average.

use super::Extent;
use shoal_units::{Probability, Span};

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

/// How forced marks and drops are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenLoopSpacing {
    /// An independent coin for each packet.
    Independent,
    /// At gaps that differ by at most one packet.
    Even,
    /// All packets for a time, then none, so that the part of the time is the probability.
    Bursts {
        /// How long all packets are hit.
        on: Span,
    },
}

/// Marks and drops with given probabilities on arrival, whatever waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenLoopConfig {
    /// Of an ECT packet to be marked.
    pub mark: Probability,
    /// Of any other packet to be dropped.
    pub drop: Probability,
    /// How they are spread, each class for itself.
    pub spacing: OpenLoopSpacing,
    /// Waiting packets that fit.
    pub limit: Extent,
}
