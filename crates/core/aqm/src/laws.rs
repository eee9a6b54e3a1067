//! The laws, a folder each: its configuration, the law, what users read about it, and its tests.
//!
//! [`for_each_law`](crate::for_each_law) is the one list of them. From it come [`QueueConfig`](crate::QueueConfig),
//! [`AnyQueue`](crate::AnyQueue), [`DOCS`](crate::DOCS) and the tests of all queues here, the kinds of `aqm` in a
//! scenario (`shoal-scenario`) and what the real kernel has for them (`shoal-linux`). A law that is in the list and
//! lacks a part in one of these rooms does not compile. How to add one: docs/internals/add-a-queue.md.
//!
//! Documents that the sentences of the list name: [RFC 8033](https://www.rfc-editor.org/rfc/rfc8033) (PIE),
//! [RFC 8289](https://www.rfc-editor.org/rfc/rfc8289) (CoDel), [RFC 8290](https://www.rfc-editor.org/rfc/rfc8290)
//! (fair queueing with CoDel), [RFC 9332](https://www.rfc-editor.org/rfc/rfc9332) (DualPI2).

mod classes;
mod codel;
mod coupled;
mod dual_coupled;
mod dual_red;
mod dualpi2;
mod fifo;
mod fq_codel;
mod gred;
mod linux_red;
mod module;
mod open_loop;
mod pi2;
mod pie;
mod red;
mod step;
mod wred;

pub use classes::*;
pub use codel::*;
pub use coupled::*;
pub use dual_coupled::*;
pub use dual_red::*;
pub use dualpi2::*;
pub use fifo::*;
pub use fq_codel::*;
pub use gred::*;
pub use linux_red::*;
pub use module::*;
pub use open_loop::*;
pub use pi2::*;
pub use pie::*;
pub use red::*;
pub use step::*;
pub use wred::*;

use crate::Extent;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate};

/// Calls the macro `$with` with the list of all laws. An entry is: one sentence, which is also the documentation of the
/// kind in a scenario's schema; the kind in a scenario; the law's name; its configuration; and the name of its module
/// in every room.
#[macro_export]
macro_rules! for_each_law {
    ($with:ident) => {
        $with! {
            /// First in, first out, tail drop.
            "fifo" => Fifo(FifoConfig) in fifo,
            /// Marks ECT packets above a fixed threshold of the instantaneous queue.
            "step" => Step(StepConfig) in step,
            /// Random early detection as published (Floyd and Jacobson 1993).
            "red" => Red(RedConfig) in red,
            /// Random early detection as the Linux kernel computes it, with the parameters of `tc qdisc add ... red`.
            "linux-red" => LinuxRed(LinuxRedConfig) in linux_red,
            /// Two RED instances on one queue, chosen by ECN capability (Kuehlewind et al. 2014).
            "dual-red" => DualRed(DualRedConfig) in dual_red,
            /// Marks and drops with given probabilities, whatever waits.
            "open-loop" => OpenLoop(OpenLoopConfig) in open_loop,
            /// One queue: ECT packets are marked with p, others dropped with (p/k)^2 (De Schepper 2015).
            "coupled" => Coupled(CoupledConfig) in coupled,
            /// Two queues: ECT packets wait in one with priority, others drive the marks of both (De Schepper 2015).
            "dualq-coupled" => DualCoupled(DualCoupledConfig) in dual_coupled,
            /// Two queues with one PI controller, as in Linux and RFC 9332.
            "dualpi2" => DualPi2(DualPi2Config) in dualpi2,
            /// CoDel: drops or marks by the packet's own wait (RFC 8289), as the Linux kernel does.
            "codel" => Codel(CodelConfig) in codel,
            /// Queues served in turn, each with CoDel (RFC 8290), as the Linux kernel does.
            "fq-codel" => FqCodel(FqCodelConfig) in fq_codel,
            /// Drops or marks on arrival with a probability that follows the delay (RFC 8033), as the Linux kernel
            /// does.
            "pie" => Pie(PieConfig) in pie,
            /// RED for two classes of packets in one queue, as the Linux kernel has it: WRED, RIO, or on their own.
            "gred" => Gred(GredConfig) in gred,
            /// One queue with a PI controller: scalable packets are marked with p, others dropped with (p/k)^2 (De
            /// Schepper et al. 2016).
            "pi2" => Pi2(Pi2Config) in pi2,
            /// One queue of a switch: ECT packets are marked and others dropped by profiles of their own, in bytes,
            /// cells or time.
            "wred" => Wred(WredConfig) in wred,
            /// Several queues behind one line, chosen by traffic class, each with a law of its own.
            "classes" => Classes(ClassesConfig) in classes,
            /// A queue discipline of your own: a file for the simulator, a kernel module, or both.
            "module" => Module(ModuleConfig) in module,
        }
    };
}

/// Functions that the configuration of every queue provides.
///
/// The limit is a key of each configuration rather than a field beside all of them because it is not the same thing for
/// all: `tc red` derives thresholds from it, GRED has one for each virtual queue, and CoDel, PIE and fair queueing may
/// be given their own instead of the link's buffer.
pub trait LawConfig: Clone {
    /// The queue that it configures: a [`Queue`](crate::Queue), in a `Box` if it is much larger than most.
    type Queue;
    /// Description of the law for users.
    const DOC: ModelDoc;

    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If a rate is zero.
    ///
    /// # Errors
    /// If `tc` refuses the configuration of a law that it configures.
    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError>;

    /// Capacity for waiting packets.
    fn limit(&self) -> Extent;

    /// Levels of the backlog at which the law changes what it does, for plots.
    fn levels(&self) -> Vec<Level> {
        vec![Level::new("limit", self.limit())]
    }

    /// The backlog from which on the law may mark packets with `codepoint`, zero if it asks for something else than a
    /// backlog; `None` if it marks none of them.
    fn marks_from(&self, codepoint: Ecn) -> Option<Extent> {
        let _ = codepoint;
        None
    }

    /// Whether queue protection may send packets of one queue to another.
    fn has_protection(&self) -> bool {
        false
    }
}

/// What [`LawConfig::marks_from`] says of laws that ask for no backlog.
pub(crate) const ANY_BACKLOG: Extent = Extent::Bytes(0);

/// A level of the backlog with its name, as plots of the queue show it.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// Name in the legend.
    pub label: String,
    /// Height of the level.
    pub height: Height,
}

/// Height of a level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Height {
    /// An extent; an unlimited one is not drawn.
    Extent(Extent),
    /// A number of bytes, which need not be whole.
    Bytes(f64),
}

impl Level {
    pub(crate) fn new(label: impl Into<String>, extent: Extent) -> Self {
        Self { label: label.into(), height: Height::Extent(extent) }
    }

    pub(crate) fn of_bytes(label: impl Into<String>, bytes: f64) -> Self {
        Self { label: label.into(), height: Height::Bytes(bytes) }
    }
}
