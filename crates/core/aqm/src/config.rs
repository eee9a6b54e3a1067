//! Vocabulary that the configurations of several laws share.

use shoal_units::Span;

/// A size limit or threshold. BDP fractions are resolved to bytes by the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// No limit.
    Unlimited,
    /// Number of waiting packets.
    Packets(u32),
    /// Number of waiting bytes.
    Bytes(u64),
    /// Queueing time: bytes over the line rate at enqueue, the packet's own sojourn time at dequeue.
    Time(Span),
}

/// When a decision is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecideAt {
    /// On arrival.
    Enqueue,
    /// On departure.
    Dequeue,
}
