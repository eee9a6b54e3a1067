//! Any queue, dispatched statically: made from the list of laws.

#[cfg(test)]
mod tests;

use crate::{
    Backlog, Class, Closed, Dequeued, Extent, Law, LawConfig, Level, Queue, Reason, TcError, Tunnels,
    Verdict, Watch, for_each_law,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use shoal_packet::{Ecn, Packet};
use shoal_units::{ModelDoc, Rate, Stream, Time};

macro_rules! any_queue {
    ($($(#[doc = $doc:literal])+ $kind:literal => $law:ident($config:ident) in $module:ident,)+) => {
        /// Any queue with its parameters.
        #[derive(Clone, PartialEq, Debug)]
        pub enum QueueConfig {
            $($(#[doc = $doc])+ $law(crate::$config),)+
        }

        /// Any queue.
        #[derive(Clone, Debug)]
        pub enum AnyQueue {
            $($(#[doc = $doc])+ $law(<crate::$config as LawConfig>::Queue),)+
        }

        /// What the queues are, for `shoal describe`; in the order of [`QueueConfig`].
        pub const DOCS: &[ModelDoc] = &[$(<crate::$config as LawConfig>::DOC),+];

        /// Passes a call to the configuration of the law.
        macro_rules! ask {
            ($any:expr, $inside:ident => $call:expr) => {
                match $any { $(QueueConfig::$law($inside) => $call,)+ }
            };
        }

        /// Passes a call to the queue of the law.
        macro_rules! pass {
            ($any:expr, $inside:ident => $call:expr) => {
                match $any { $(AnyQueue::$law($inside) => $call,)+ }
            };
        }

        impl AnyQueue {
            /// [`AnyQueue::new`] with the refusals of `tc` as errors.
            ///
            /// # Errors
            /// If `tc` refuses the configuration.
            ///
            /// # Panics
            /// If a rate is zero.
            pub fn try_new(config: &QueueConfig, line_rate: Rate) -> Result<Self, TcError> {
                Ok(match config { $(QueueConfig::$law(config) => Self::$law(config.build(line_rate)?),)+ })
            }

            fn retune_as(&mut self, newer: &Self) -> bool {
                match (self, newer) {
                    $((Self::$law(queue), Self::$law(newer)) => queue.retune(newer),)+
                    _ => false,
                }
            }
        }

        $(impl From<crate::$config> for QueueConfig {
            fn from(config: crate::$config) -> Self {
                Self::$law(config)
            }
        })+
    };
}

for_each_law!(any_queue);

impl QueueConfig {
    /// Capacity for waiting packets.
    pub fn limit(&self) -> Extent {
        ask!(self, config => config.limit())
    }

    /// Levels of the backlog at which the law changes what it does, for plots.
    pub fn levels(&self) -> Vec<Level> {
        ask!(self, config => config.levels())
    }

    /// The backlog from which on the law may mark packets with `codepoint`: see [`LawConfig::marks_from`].
    pub fn marks_from(&self, codepoint: Ecn) -> Option<Extent> {
        codepoint.is_capable().then(|| ask!(self, config => config.marks_from(codepoint))).flatten()
    }

    /// Whether queue protection may send packets of one queue to another.
    pub fn has_protection(&self) -> bool {
        ask!(self, config => config.has_protection())
    }
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
            Err(error) => panic!("this configuration was to be checked before: {error}"),
        }
    }

    /// Whether the law of a module has failed in it.
    #[cold]
    pub fn law_has_failed(&self) -> bool {
        match self {
            Self::Module(queue) => queue.law().has_failed(),
            Self::Classes(classes) => classes.law_has_failed(),
            _ => false,
        }
    }

    /// Backlog ([`Queue::backlog`]) and next timer ([`Queue::next_timer`]), dispatched once.
    // Inlined in its callers, of which one is on the path of every packet. Traffic classes are queues of this kind in
    // one of this kind, and a function that calls itself is not inlined on its own account (S4 took 6 % more
    // instructions).
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    pub fn outlook(&self) -> (Backlog, Time) {
        pass!(self, queue => (queue.backlog(), queue.next_timer()))
    }
}

/// Declares the laws that may decide on arrival only.
macro_rules! any_closed {
    ($($law:ident),+) => {
        /// Any queue in the shell that knows when packets leave: see [`Closed`].
        #[derive(Clone, Debug)]
        pub enum AnyClosed {
            $(#[allow(missing_docs, reason = "the name of the law")] $law(Box<Closed<crate::$law>>),)+
        }

        impl AnyQueue {
            /// The queue, which must be empty, in the shell that knows when packets leave, if all of its decisions fall
            /// on arrival.
            pub fn closed(&self) -> Option<AnyClosed> {
                match self {
                    $(Self::$law(queue) => queue.closed().map(Box::new).map(AnyClosed::$law),)+
                    _ => None,
                }
            }
        }

        impl AnyClosed {
            /// Whether it takes all packets as they are.
            pub fn takes_all(&self) -> bool {
                matches!(self, Self::Fifo(queue) if queue.is_unlimited())
            }

            /// See [`Closed::arrive`].
            #[inline]
            pub fn arrive(
                &mut self,
                packet: &Packet,
                start: Time,
                now: Time,
                random: &mut Stream,
                watch: &mut impl Watch,
            ) -> Verdict {
                match self { $(Self::$law(queue) => queue.arrive(packet, start, now, random, watch),)+ }
            }

            /// See [`Closed::leave`].
            #[inline]
            pub fn leave(&mut self, now: Time, watch: &mut impl Watch) {
                match self { $(Self::$law(queue) => queue.leave(now, watch),)+ }
            }

            /// What waits, but for the packets whose transmission begins after the last call and by now.
            #[inline]
            pub fn backlog(&self) -> Backlog {
                match self { $(Self::$law(queue) => queue.backlog(),)+ }
            }

            /// When the next transmission begins; [`Time::NEVER`] if nothing waits.
            #[inline]
            pub fn next_start(&self) -> Time {
                match self { $(Self::$law(queue) => queue.next_start(),)+ }
            }

            /// See [`Queue::average_bytes`].
            pub fn average_bytes(&self) -> Option<f64> {
                match self { $(Self::$law(queue) => queue.law().average_bytes(),)+ }
            }

            /// See [`Queue::probability`].
            pub fn probability(&self) -> Option<f64> {
                match self { $(Self::$law(queue) => queue.law().probability(),)+ }
            }
        }
    };
}

any_closed!(Fifo, Step, Red, LinuxRed, DualRed, OpenLoop, Coupled, Gred, Wred);

impl Queue for AnyQueue {
    #[allow(clippy::inline_always, reason = "as for `outlook`")]
    #[inline(always)]
    fn enqueue(&mut self, packet: &Packet, now: Time, random: &mut Stream) -> Verdict {
        pass!(self, queue => queue.enqueue(packet, now, random))
    }
    #[allow(clippy::inline_always, reason = "as for `outlook`")]
    #[inline(always)]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        pass!(self, queue => queue.dequeue(now, random))
    }
    #[inline]
    fn next_bytes(&mut self, now: Time) -> Option<u16> {
        pass!(self, queue => queue.next_bytes(now))
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
    fn set_tunnels(&mut self, tunnels: &Tunnels) {
        pass!(self, queue => queue.set_tunnels(tunnels));
    }
    fn redirected(&self) -> u64 {
        pass!(self, queue => queue.redirected())
    }
    fn retune(&mut self, newer: &Self) -> bool {
        self.retune_as(newer)
    }
}
