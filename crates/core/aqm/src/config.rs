//! Queue configurations: plain values in base units, the factory input.

mod basic;
mod codel;
mod coupled;
mod dualpi2;
mod gred;
mod pie;
mod red;

pub use basic::*;
pub use codel::*;
pub use coupled::*;
pub use dualpi2::*;
pub use gred::*;
pub use pie::*;
pub use red::*;

use shoal_units::Span;

/// A size limit or threshold. BDP fractions are resolved to bytes by the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// No limit.
    Unlimited,
    /// Packets waiting.
    Packets(u32),
    /// Bytes waiting.
    Bytes(u64),
    /// Queueing time: bytes over the line rate at enqueue, the packet's own sojourn time at dequeue.
    Time(Span),
}

/// Any queue with its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QueueConfig {
    /// First in, first out, tail drop.
    Fifo(FifoConfig),
    /// Step marking.
    Step(StepConfig),
    /// RED as published.
    Red(RedConfig),
    /// RED as the Linux kernel and `tc` compute it.
    LinuxRed(LinuxRedConfig),
    /// Two RED instances on one queue, chosen by ECN capability (Kuehlewind et al. 2014).
    DualRed(DualRedConfig),
    /// Given probabilities of marks and drops.
    OpenLoop(OpenLoopConfig),
    /// One queue, marks coupled to drops by a square (De Schepper 2015).
    Coupled(CoupledConfig),
    /// Two queues, marks coupled to drops by a square (De Schepper 2015).
    DualCoupled(DualCoupledConfig),
    /// Two queues with one PI controller (RFC 9332, Linux).
    DualPi2(DualPi2Config),
    /// CoDel.
    Codel(CodelConfig),
    /// Fair queueing with CoDel.
    FqCodel(FqCodelConfig),
    /// PIE.
    Pie(PieConfig),
    /// GRED: WRED, RIO, or separate RED queues.
    Gred(GredConfig),
    /// One queue with a PI controller and a square (De Schepper et al. 2016).
    Pi2(Pi2Config),
}
