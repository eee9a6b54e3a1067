//! RED as the Linux kernel runs it: the queue of `net/sched/sch_red.c`.

mod law;

pub(crate) use law::Law;

use super::{TcError, Transmitter};
use crate::store::{Store, mark};
use crate::{Backlog, Class, Dequeued, Extent, LinuxRedConfig, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// ARED adapts every HZ/2.
const ADAPT_EVERY: Span = Span::from_millis(500);

/// Linux RED over a byte-limited FIFO.
#[derive(Clone, Debug)]
pub struct LinuxRed {
    store: Store,
    line: Transmitter,
    law: Law,
    /// The last arrival, from which on idle time counts.
    updated: Time,
    ecn: bool,
    harddrop: bool,
    nodrop: bool,
    adapt_at: Time,
}

impl LinuxRed {
    /// An empty queue at a line of `line_rate`, configured as tc would do it.
    ///
    /// # Errors
    /// If tc refuses the configuration.
    ///
    /// # Panics
    /// If the line rate is zero.
    pub fn new(config: &LinuxRedConfig, line_rate: Rate) -> Result<Self, TcError> {
        let law = Law::new(config)?;
        Ok(Self {
            store: Store::new(Extent::Bytes(config.limit_bytes.into()), line_rate),
            line: Transmitter::new(line_rate),
            law,
            updated: Time::ZERO,
            ecn: config.ecn,
            harddrop: config.harddrop,
            nodrop: config.nodrop,
            adapt_at: if config.adaptive { Time::ZERO + ADAPT_EVERY } else { Time::NEVER },
        })
    }

    /// What becomes of a packet that the law acts against (`red_enqueue`): `Ok` if it is queued, marked or not.
    #[inline]
    fn act(&self, reason: Reason, packet: &mut Packet) -> Result<Option<Reason>, Reason> {
        if !self.ecn || (reason == Reason::Forced && self.harddrop) {
            Err(reason)
        } else if mark(packet) {
            Ok(Some(reason))
        } else if self.nodrop {
            Ok(None)
        } else {
            Err(reason)
        }
    }
}

impl Queue for LinuxRed {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        let backlog = self.store.backlog();
        self.law.on_arrival(backlog.bytes, self.line.idle_since(self.updated, backlog, now));
        self.updated = now;
        let mark = match self.law.decide(0, random) {
            None => None,
            Some(reason) => match self.act(reason, &mut packet) {
                Ok(mark) => mark,
                Err(reason) => return Verdict::Dropped(reason),
            },
        };
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        self.store.push(packet, now);
        Verdict::Queued { mark }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Stream) -> Dequeued {
        self.line.take_from(&mut self.store, now)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.adapt_at
    }

    fn on_timer(&mut self, now: Time) {
        if now >= self.adapt_at {
            self.law.adapt(self.line.idle_since(self.updated, self.store.backlog(), now));
            self.adapt_at = now.saturating_add(ADAPT_EVERY);
        }
    }

    fn average_bytes(&self) -> Option<f64> {
        Some(self.law.average_bytes())
    }
}
