//! `[bottleneck.aqm]` and the `aqm` of other links. One file a family of laws.

mod basic;
mod dual_red;
mod red;

pub use basic::{Fifo, Step};
pub use dual_red::{DctcpRed, DualRed, RenoRed};
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
    }
}
