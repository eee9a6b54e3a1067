//! The shell of two FIFOs at one line.

use super::protection::Protection;
use super::{Bound, Decision, Store, Transmitter, mark};
use crate::sched::{Heads, Lane, Scheduler};
use crate::{
    Backlog, Class, Dequeued, Extent, ProtectionConfig, Queue, Reason, SchedulerConfig, Tunnels, Verdict,
};
use alloc::boxed::Box;
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// The control law of a dual queue: like [`Law`](super::Law), but it also assigns packets to the two queues.
pub trait DualLaw {
    /// The queue that `packet` joins.
    fn lane_of(&self, packet: &Packet) -> Lane;

    /// Decides on a packet that fits and arrives. Unless it is dropped it will wait.
    fn on_arrival(&mut self, passage: &Passage<'_>, random: &mut Stream) -> Decision;

    /// Decides on a packet that queue protection sends to the classic queue, which is now the packet's lane, after
    /// `decision` was taken on it as one of the low-latency queue.
    #[inline]
    fn on_redirection(&mut self, passage: &Passage<'_>, decision: Decision, random: &mut Stream) -> Decision {
        let _ = (passage, random);
        decision
    }

    /// Takes note of a packet that joins a queue now.
    #[inline]
    fn on_joining(&mut self, passage: &Passage<'_>) {
        let _ = passage;
    }

    /// Decides on a packet that leaves. After a drop the shell is asked for the next packet immediately.
    fn on_departure(&mut self, passage: &Passage<'_>, random: &mut Stream) -> Decision;

    /// See [`Queue::next_timer`].
    #[inline]
    fn next_timer(&self) -> Time {
        Time::NEVER
    }

    /// See [`Queue::on_timer`]; `waiting` is the backlog at that time.
    fn on_timer(&mut self, waiting: &Lanes, now: Time) {
        let _ = (waiting, now);
    }

    /// See [`Queue::probability`].
    fn probability(&self) -> Option<f64> {
        None
    }

    /// See [`Queue::retune`].
    fn retune(&mut self, newer: &Self) -> bool
    where
        Self: Sized,
    {
        let _ = newer;
        false
    }
}

/// A packet that arrives at a dual queue or leaves it.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// The queue that it joins or leaves.
    pub lane: Lane,
    /// What else waits.
    pub waiting: &'a Lanes,
    /// The present time.
    pub now: Time,
}

/// A low-latency and a classic FIFO with one limit and one scheduler, under a law.
#[derive(Clone, Debug)]
pub struct Dual<L> {
    lanes: Lanes,
    law: L,
    protection: Option<Box<Protection>>,
}

impl<L: DualLaw> Dual<L> {
    /// Around empty queues.
    pub(crate) const fn new(law: L, lanes: Lanes) -> Self {
        Self { lanes, law, protection: None }
    }

    /// With queue protection, if it is configured.
    ///
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn protected(self, config: Option<&ProtectionConfig>, line_rate: Rate) -> Self {
        let protection = config.map(|config| Box::new(Protection::new(config, line_rate)));
        Self { protection, ..self }
    }
}

impl<L: DualLaw> Queue for Dual<L> {
    #[inline]
    fn enqueue(&mut self, packet: &Packet, now: Time, random: &mut Stream) -> Verdict {
        if !self.lanes.fits(packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        let lane = self.law.lane_of(packet);
        let mut passage = Passage { packet, lane, waiting: &self.lanes, now };
        let mut decision = self.law.on_arrival(&passage, random);
        if let Some(protection) = &mut self.protection
            && lane == Lane::Low
            && !matches!(decision, Decision::Drop(_))
        {
            let bytes = self.lanes.low.backlog_with(packet).bytes;
            if protection.redirects(packet, bytes, now, random) {
                passage.lane = Lane::Classic;
                decision = self.law.on_redirection(&passage, decision, random);
            }
        }
        let mark = match decision {
            Decision::Pass => None,
            Decision::Mark(reason) => packet.ecn.is_capable().then_some(reason),
            Decision::Drop(reason) => return Verdict::Dropped(reason),
        };
        self.law.on_joining(&passage);
        let lane = passage.lane;
        self.lanes.push(lane, packet, now, mark.is_some());
        Verdict::Queued { mark }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        let Some(mut scheduled) = self.lanes.take(now) else { return Dequeued::Empty };
        let passage = Passage { packet: &scheduled.packet, lane: scheduled.lane, waiting: &self.lanes, now };
        let was_marked = scheduled.packet.ecn.is_ce();
        let reason = match self.law.on_departure(&passage, random) {
            Decision::Pass => None,
            Decision::Mark(reason) => mark(&mut scheduled.packet).then_some(reason),
            Decision::Drop(reason) => return Dequeued::Dropped { packet: scheduled.packet, reason },
        };
        self.lanes.sent(&scheduled, now);
        Dequeued::Packet { packet: scheduled.packet, mark: reason, was_marked }
    }

    #[inline]
    fn next_bytes(&mut self, _: Time) -> Option<u16> {
        let lane = self.lanes.next_lane()?;
        self.lanes.lane(lane).next_bytes()
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.lanes.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.lanes.class_backlog(class)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.law.next_timer()
    }

    #[inline]
    fn on_timer(&mut self, now: Time) {
        self.law.on_timer(&self.lanes, now);
    }

    #[inline]
    fn probability(&self) -> Option<f64> {
        self.law.probability()
    }

    fn set_tunnels(&mut self, tunnels: &Tunnels) {
        if let Some(protection) = &mut self.protection {
            protection.set_tunnels(tunnels);
        }
    }

    fn redirected(&self) -> u64 {
        self.protection.as_ref().map_or(0, |protection| protection.redirected())
    }

    fn retune(&mut self, newer: &Self) -> bool {
        self.law.retune(&newer.law)
    }
}

/// The packets that wait in the two queues, with their common limit and their scheduler.
#[derive(Clone, Debug)]
pub struct Lanes {
    low: Store,
    classic: Store,
    limit: Bound,
    scheduler: Scheduler,
    /// Detects that the line has found both queues empty, which resets the scheduler.
    line: Transmitter,
    /// Whether the scheduler is in its initial state.
    fresh: bool,
}

/// A packet that the scheduler chose. The scheduler is charged for it only if the packet is sent.
#[derive(Clone, Copy, Debug)]
struct Scheduled {
    packet: Packet,
    lane: Lane,
    /// Whether both queues were backlogged.
    contended: bool,
}

impl Lanes {
    /// Empty queues; `mtu` is the link's, in bytes.
    ///
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(limit: Bound, scheduler: SchedulerConfig, mtu: u32, line_rate: Rate) -> Self {
        let store = || Store::new(Extent::Unlimited, line_rate);
        Self {
            low: store(),
            classic: store(),
            limit,
            scheduler: Scheduler::new(scheduler, mtu),
            line: Transmitter::new(line_rate),
            fresh: true,
        }
    }

    /// Backlog of both queues together.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.low.backlog() + self.classic.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.low.class_backlog(class) + self.classic.class_backlog(class)
    }

    /// The queue of the given lane.
    #[inline]
    pub fn lane(&self, lane: Lane) -> &Store {
        match lane {
            Lane::Low => &self.low,
            Lane::Classic => &self.classic,
        }
    }

    /// Time that the oldest packet of `lane` has waited; zero if none waits.
    #[inline]
    pub fn age(&self, lane: Lane, now: Time) -> Span {
        self.lane(lane).head().map_or(Span::ZERO, |arrived| now.since(arrived))
    }

    /// Whether `packet` fits below the common limit.
    #[inline]
    fn fits(&self, packet: &Packet) -> bool {
        let backlog = self.backlog() + Backlog { packets: 1, bytes: packet.size.into() };
        !self.limit.is_exceeded_by(backlog)
    }

    /// Appends `packet`, which fits.
    #[inline]
    fn push(&mut self, lane: Lane, packet: &Packet, now: Time, is_marked: bool) {
        if !self.fresh && self.line.idle_since(now, self.backlog(), now).is_some() {
            self.reset();
        }
        match lane {
            Lane::Low => self.low.push(packet, now, is_marked),
            Lane::Classic => self.classic.push(packet, now, is_marked),
        }
    }

    /// When the oldest packet of each queue arrived.
    #[inline]
    fn heads(&self) -> Heads {
        Heads { low: self.low.head(), classic: self.classic.head() }
    }

    /// The queue that the scheduler chooses.
    #[inline]
    fn next_lane(&self) -> Option<Lane> {
        self.scheduler.pick(self.heads())
    }

    /// Takes the packet that the scheduler chooses.
    #[inline]
    fn take(&mut self, now: Time) -> Option<Scheduled> {
        let heads = self.heads();
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
        store.pop().map(|packet| Scheduled { packet, lane, contended })
    }

    /// Charges the scheduler for a packet that is sent.
    #[inline]
    fn sent(&mut self, scheduled: &Scheduled, now: Time) {
        self.line.on_departure(scheduled.packet.size, now);
        self.scheduler.on_sent(scheduled.lane, scheduled.packet.size, scheduled.contended);
        self.fresh = false;
    }

    fn reset(&mut self) {
        self.scheduler.on_idle();
        self.fresh = true;
    }
}
