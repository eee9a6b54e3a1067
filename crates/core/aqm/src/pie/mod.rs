//! PIE (RFC 8033) as Linux runs it: `net/sched/sch_pie.c`.

mod law;
mod rate;
mod timer;

use crate::store::{Store, mark};
use crate::{Backlog, Class, Dequeued, PieConfig, Queue, Reason, Verdict};
use law::{Law, MAX_PROB};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// PIE over one FIFO: drops on arrival with a probability that a controller of the delay sets periodically.
#[derive(Clone, Debug)]
pub struct Pie {
    store: Store,
    law: Law,
    ecn: bool,
    period: Span,
    /// The next update; while it sleeps the last one.
    update_at: Time,
    /// Nothing waits and updates change nothing: they are left out until a packet arrives.
    asleep: bool,
}

impl Pie {
    /// An empty queue at a line of `line_rate`.
    pub fn new(config: &PieConfig, line_rate: Rate) -> Self {
        Self {
            store: Store::new(config.limit, line_rate),
            law: Law::new(config),
            ecn: config.ecn,
            period: timer::period(config.tupdate),
            update_at: Time::ZERO + timer::FIRST_UPDATE,
            asleep: false,
        }
    }

    /// The first update after `now` that the timer would have made: those that were left out keep the rhythm.
    #[cold]
    fn wake(&mut self, now: Time) {
        self.asleep = false;
        let missed = now.since(self.update_at).as_picos() / self.period.as_picos();
        self.update_at = self.update_at.saturating_add(self.period.saturating_mul(missed + 1));
    }
}

impl Queue for Pie {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        if self.asleep {
            self.wake(now);
        }
        if !self.store.fits(&packet) {
            self.law.on_drop();
            return Verdict::Dropped(Reason::Buffer);
        }
        let mut reason = None;
        if self.law.acts(packet.size, self.store.backlog().bytes, random) {
            let may_mark = self.ecn && self.law.probability() <= MAX_PROB / 10;
            if !(may_mark && mark(&mut packet)) {
                self.law.on_drop();
                return Verdict::Dropped(Reason::Early);
            }
            reason = Some(Reason::Early);
        }
        self.store.push(packet, now);
        Verdict::Queued { mark: reason }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Stream) -> Dequeued {
        let Some(packet) = self.store.pop() else { return Dequeued::Empty };
        self.law.on_departure(&packet, self.store.backlog().bytes, now);
        Dequeued::Packet { packet, mark: None }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }

    /// The probability of a drop or mark; the kernel's may exceed 1.
    fn probability(&self) -> Option<f64> {
        Some((self.law.probability() as f64 / MAX_PROB as f64).min(1.0))
    }

    #[inline]
    fn next_timer(&self) -> Time {
        if self.asleep { Time::NEVER } else { self.update_at }
    }

    fn on_timer(&mut self, now: Time) {
        if self.asleep || now < self.update_at {
            return;
        }
        let Backlog { packets, bytes } = self.store.backlog();
        let before = self.law.vars();
        self.law.update(bytes);
        if self.period.is_zero() {
            // `pie_timer` does not set itself again.
            self.update_at = Time::NEVER;
        } else if packets == 0 && self.law.vars() == before {
            // An update is a function of what it changes and of the backlog.
            self.asleep = true;
            self.update_at = now;
        } else {
            self.update_at = now.saturating_add(self.period);
        }
    }
}
