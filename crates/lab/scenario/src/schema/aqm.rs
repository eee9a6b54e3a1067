//! `[bottleneck.aqm]` and the `aqm` of other links. One file a family of laws.

mod basic;
mod coupled;
mod dual_red;
mod dualpi2;
mod red;

pub use basic::{Fifo, Forced, SpacingName, Step};
pub use coupled::{Coupled, DualCoupled, SchedulerName};
pub use dual_red::{DctcpRed, DualRed, RenoRed};
pub use dualpi2::{DualPi2, EcnMask, NativeName, Overload};
pub use red::{LinuxRed, Red};

use crate::field::tagged;

tagged! {
    /// Marking and dropping law of a queue.
    Aqm {
        /// First in, first out, tail drop.
        "fifo" => Fifo(Fifo),
        /// Marks ECT packets above a fixed threshold of the instantaneous queue.
        "step" => Step(Step),
        /// Random early detection as published (Floyd and Jacobson 1993).
        "red" => Red(Red),
        /// Random early detection as the Linux kernel computes it, with the parameters of `tc qdisc add ... red`.
        "linux-red" => LinuxRed(LinuxRed),
        /// Two RED instances on one queue, chosen by ECN capability (Kuehlewind et al. 2014).
        "dual-red" => DualRed(DualRed),
        /// Marks and drops with given probabilities, whatever waits.
        "forced" => Forced(Forced),
        /// One queue: ECT packets are marked with p, others dropped with (p/k)^2 (De Schepper 2015).
        "coupled" => Coupled(Coupled),
        /// Two queues: ECT packets wait in one with priority, others drive the marks of both (De Schepper 2015).
        "dualq-coupled" => DualCoupled(DualCoupled),
        /// Two queues with one PI controller, as in Linux and RFC 9332.
        "dualpi2" => DualPi2(DualPi2),
    }
}
