//! Any queue, dispatched statically.

use crate::red::{LinuxRed, Red, TcError};
use crate::{
    Backlog, Class, Codel, Coupled, Dequeued, DualCoupled, DualPi2, DualRed, Fifo, FqCodel, Gred, OpenLoop,
    Pi2, Pie, Queue, QueueConfig, Reason, Step, Verdict,
};
use alloc::boxed::Box;
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// Any queue.
#[derive(Clone, Debug)]
pub enum AnyQueue {
    /// First in, first out, tail drop.
    Fifo(Fifo),
    /// Step marking.
    Step(Step),
    /// RED as published.
    Red(Red),
    /// RED as Linux computes it.
    LinuxRed(LinuxRed),
    /// Two RED instances.
    DualRed(DualRed),
    /// Given probabilities.
    OpenLoop(OpenLoop),
    /// One queue with coupled marks and drops.
    Coupled(Coupled),
    /// A coupled dual queue.
    DualCoupled(Box<DualCoupled>),
    /// DualPI2.
    DualPi2(Box<DualPi2>),
    /// CoDel.
    Codel(Codel),
    /// Fair queueing with CoDel.
    FqCodel(Box<FqCodel>),
    /// PIE.
    Pie(Pie),
    /// GRED.
    Gred(Box<Gred>),
    /// PI2.
    Pi2(Pi2),
}

/// Passes a call to the queue inside.
macro_rules! pass {
    ($any:expr, $queue:ident => $call:expr) => {
        match $any {
            AnyQueue::Fifo($queue) => $call,
            AnyQueue::Step($queue) => $call,
            AnyQueue::Red($queue) => $call,
            AnyQueue::LinuxRed($queue) => $call,
            AnyQueue::DualRed($queue) => $call,
            AnyQueue::OpenLoop($queue) => $call,
            AnyQueue::Coupled($queue) => $call,
            AnyQueue::DualCoupled($queue) => $call,
            AnyQueue::DualPi2($queue) => $call,
            AnyQueue::Codel($queue) => $call,
            AnyQueue::FqCodel($queue) => $call,
            AnyQueue::Pie($queue) => $call,
            AnyQueue::Gred($queue) => $call,
            AnyQueue::Pi2($queue) => $call,
        }
    };
}

impl AnyQueue {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If a rate is zero, or if `tc` refuses a [`QueueConfig::LinuxRed`] or a [`QueueConfig::Gred`]: check with
    /// [`LinuxRedConfig::solve`](crate::LinuxRedConfig::solve), or use [`AnyQueue::try_new`].
    pub fn new(config: &QueueConfig, line_rate: Rate) -> Self {
        match Self::try_new(config, line_rate) {
            Ok(queue) => queue,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`AnyQueue::new`] with the refusals of `tc` as errors.
    ///
    /// # Errors
    /// If `tc` refuses the configuration.
    ///
    /// # Panics
    /// If a rate is zero.
    pub fn try_new(config: &QueueConfig, line_rate: Rate) -> Result<Self, TcError> {
        Ok(match config {
            QueueConfig::Fifo(config) => Self::Fifo(Fifo::new(config, line_rate)),
            QueueConfig::Step(config) => Self::Step(Step::new(config, line_rate)),
            QueueConfig::Red(config) => Self::Red(Red::new(config, line_rate)),
            QueueConfig::LinuxRed(config) => Self::LinuxRed(LinuxRed::new(config, line_rate)?),
            QueueConfig::DualRed(config) => Self::DualRed(DualRed::new(config, line_rate)),
            QueueConfig::OpenLoop(config) => Self::OpenLoop(OpenLoop::new(config, line_rate)),
            QueueConfig::Coupled(config) => Self::Coupled(Coupled::new(config, line_rate)),
            QueueConfig::DualCoupled(config) => {
                Self::DualCoupled(Box::new(DualCoupled::new(config, line_rate)))
            }
            QueueConfig::DualPi2(config) => Self::DualPi2(Box::new(DualPi2::new(config, line_rate))),
            QueueConfig::Codel(config) => Self::Codel(Codel::new(config, line_rate)),
            QueueConfig::FqCodel(config) => Self::FqCodel(Box::new(FqCodel::new(config, line_rate))),
            QueueConfig::Pie(config) => Self::Pie(Pie::new(config, line_rate)),
            QueueConfig::Gred(config) => Self::Gred(Box::new(Gred::new(config, line_rate)?)),
            QueueConfig::Pi2(config) => Self::Pi2(Pi2::new(config, line_rate)),
        })
    }

    /// [`Queue::backlog`] and [`Queue::next_timer`], dispatched once.
    #[inline]
    pub fn outlook(&self) -> (Backlog, Time) {
        pass!(self, queue => (queue.backlog(), queue.next_timer()))
    }

    /// Whether `packet`, arriving now, would be the first to leave, unmarked and with nothing else changed: then a caller
    /// whose transmitter is idle need not put it in.
    #[inline]
    pub fn is_passed_by(&self, packet: &Packet) -> bool {
        matches!(self, Self::Fifo(queue) if queue.is_passed_by(packet))
    }
}

impl Queue for AnyQueue {
    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        pass!(self, queue => queue.enqueue(packet, now, random))
    }
    #[inline]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        pass!(self, queue => queue.dequeue(now, random))
    }
    fn take_displaced(&mut self) -> Option<(Packet, Reason)> {
        pass!(self, queue => queue.take_displaced())
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        pass!(self, queue => queue.backlog())
    }
    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        pass!(self, queue => queue.class_backlog(class))
    }
    #[inline]
    fn next_timer(&self) -> Time {
        pass!(self, queue => queue.next_timer())
    }
    #[inline]
    fn on_timer(&mut self, now: Time) {
        pass!(self, queue => queue.on_timer(now));
    }
    #[inline]
    fn probability(&self) -> Option<f64> {
        pass!(self, queue => queue.probability())
    }
    #[inline]
    fn average_bytes(&self) -> Option<f64> {
        pass!(self, queue => queue.average_bytes())
    }
}
