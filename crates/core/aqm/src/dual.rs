//! Two queues, one line: what every dual queue is built on.

use crate::red::Transmitter;
use crate::sched::{Heads, Lane, Scheduler};
use crate::store::{Bound, Store};
use crate::{Backlog, Class, Extent, SchedulerConfig};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Time};

/// A low-latency and a classic queue with a common limit and a scheduler. What it marks and drops is its owner's business.
#[derive(Clone, Debug)]
pub(crate) struct DualQueue {
    low: Store,
    classic: Store,
    limit: Bound,
    scheduler: Scheduler,
    /// Knows when the line found both queues empty, which resets the scheduler.
    line: Transmitter,
    /// The scheduler is as at the beginning.
    fresh: bool,
}

/// A packet that the scheduler chose; it is charged for it only if the packet is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub packet: Packet,
    pub lane: Lane,
    /// Both queues were backlogged.
    contended: bool,
}

impl DualQueue {
    /// `mtu` is the link's, in bytes.
    ///
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(limit: Extent, scheduler: SchedulerConfig, mtu: u32, line_rate: Rate) -> Self {
        let store = || Store::new(Extent::Unlimited, line_rate);
        Self {
            low: store(),
            classic: store(),
            limit: Bound::new(limit, line_rate),
            scheduler: Scheduler::new(scheduler, mtu),
            line: Transmitter::new(line_rate),
            fresh: true,
        }
    }

    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        self.low.backlog() + self.classic.backlog()
    }

    #[inline]
    pub(crate) fn class_backlog(&self, class: Class) -> Backlog {
        self.low.class_backlog(class) + self.classic.class_backlog(class)
    }

    #[inline]
    pub(crate) fn lane(&self, lane: Lane) -> &Store {
        match lane {
            Lane::Low => &self.low,
            Lane::Classic => &self.classic,
        }
    }

    /// How long the oldest packet of `lane` has waited; nothing if none waits.
    #[inline]
    pub(crate) fn age(&self, lane: Lane, now: Time) -> Span {
        self.lane(lane).head().map_or(Span::ZERO, |arrived| now.since(arrived))
    }

    /// Whether `packet` fits below the common limit.
    #[inline]
    pub(crate) fn fits(&self, packet: &Packet) -> bool {
        let backlog = self.backlog() + Backlog { packets: 1, bytes: packet.size.into() };
        !self.limit.is_exceeded_by(backlog)
    }

    /// Appends `packet`; whether it fits is the caller's business.
    #[inline]
    pub(crate) fn push(&mut self, lane: Lane, packet: Packet, now: Time) {
        if !self.fresh && self.line.idle_since(now, self.backlog(), now).is_some() {
            self.reset();
        }
        match lane {
            Lane::Low => self.low.push(packet, now),
            Lane::Classic => self.classic.push(packet, now),
        }
    }

    /// Takes the packet that the scheduler chooses.
    #[inline]
    pub(crate) fn take(&mut self, now: Time) -> Option<Taken> {
        let heads = Heads { low: self.low.head(), classic: self.classic.head() };
        let Some(lane) = self.scheduler.pick(heads) else {
            self.line.on_empty(now);
            self.reset();
            return None;
        };
        let contended = heads.low.is_some() && heads.classic.is_some();
        let store = match lane {
            Lane::Low => &mut self.low,
            Lane::Classic => &mut self.classic,
        };
        store.pop().map(|packet| Taken { packet, lane, contended })
    }

    /// What was taken is sent.
    #[inline]
    pub(crate) fn sent(&mut self, taken: &Taken, now: Time) {
        self.line.on_departure(taken.packet.size, now);
        self.scheduler.on_sent(taken.lane, taken.packet.size, taken.contended);
        self.fresh = false;
    }

    fn reset(&mut self) {
        self.scheduler.on_idle();
        self.fresh = true;
    }
}
