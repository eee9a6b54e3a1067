//! `[bottleneck.aqm]` and the `aqm` of other links, with one file for each family of laws.
//!
//! Sources that the keys name: [RFC 8033](https://www.rfc-editor.org/rfc/rfc8033) (PIE),
//! [RFC 8289](https://www.rfc-editor.org/rfc/rfc8289) (CoDel), [RFC 8290](https://www.rfc-editor.org/rfc/rfc8290) (fair
//! queueing with CoDel), [RFC 9332](https://www.rfc-editor.org/rfc/rfc9332) (DualPI2).

mod basic;
mod codel;
mod coupled;
mod dual_red;
mod dualpi2;
mod gred;
mod pie;
mod red;

pub use basic::{Fifo, OpenLoop, SpacingName, Step};
pub use codel::{Codel, FlowClassifier, FqCodel};
pub use coupled::{Coupled, DualCoupled, SchedulerName};
pub use dual_red::{DctcpRed, DualRed, RenoRed};
pub use dualpi2::{DualPi2, EcnMask, NativeName, Overload, Pi2};
pub use gred::{Gred, GredQueue};
pub use pie::Pie;
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
        "open-loop" => OpenLoop(OpenLoop),
        /// One queue: ECT packets are marked with p, others dropped with (p/k)^2 (De Schepper 2015).
        "coupled" => Coupled(Coupled),
        /// Two queues: ECT packets wait in one with priority, others drive the marks of both (De Schepper 2015).
        "dualq-coupled" => DualCoupled(DualCoupled),
        /// Two queues with one PI controller, as in Linux and RFC 9332.
        "dualpi2" => DualPi2(DualPi2),
        /// CoDel: drops or marks by the packet's own wait (RFC 8289), as the Linux kernel does.
        "codel" => Codel(Codel),
        /// Queues served in turn, each with CoDel (RFC 8290), as the Linux kernel does.
        "fq-codel" => FqCodel(FqCodel),
        /// Drops or marks on arrival with a probability that follows the delay (RFC 8033), as the Linux kernel does.
        "pie" => Pie(Pie),
        /// RED for two classes of packets in one queue, as the Linux kernel has it: WRED, RIO, or on their own.
        "gred" => Gred(Gred),
        /// One queue with a PI controller: scalable packets are marked with p, others dropped with (p/k)^2 (De Schepper et al. 2016).
        "pi2" => Pi2(Pi2),
    }
}
