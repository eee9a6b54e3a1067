//! CoDel (RFC 8289) as Linux runs it: `net/sched/sch_codel.c`.

mod clock;
mod law;

pub(crate) use law::{Law, Outcome, Parameters};

use crate::red::Transmitter;
use crate::store::Store;
use crate::{Backlog, Class, CodelConfig, Dequeued, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// CoDel over one FIFO: decides on departure by the packet's own wait, and draws no random numbers.
#[derive(Clone, Debug)]
pub struct Codel {
    store: Store,
    line: Transmitter,
    parameters: Parameters,
    law: Law,
}

impl Codel {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If the line rate is zero.
    pub fn new(config: &CodelConfig, line_rate: Rate) -> Self {
        Self {
            store: Store::new(config.limit, line_rate),
            line: Transmitter::new(line_rate),
            parameters: Parameters::new(&config.law),
            law: Law::new(),
        }
    }
}

impl Queue for Codel {
    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, _: &mut Stream) -> Verdict {
        // The kernel asked again when the line was free, and found nothing.
        if self.line.idle_since(Time::ZERO, self.store.backlog(), now).is_some() {
            self.law.on_empty();
        }
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        self.store.push(packet, now);
        Verdict::Queued { mark: None }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Stream) -> Dequeued {
        let Some(mut packet) = self.store.pop() else {
            self.law.on_empty();
            self.line.on_empty(now);
            return Dequeued::Empty;
        };
        let backlog_bytes = self.store.backlog().bytes;
        match self.law.on_packet(&self.parameters, &mut packet, backlog_bytes, now) {
            Outcome::Send(mark) => {
                self.line.on_departure(packet.size, now);
                Dequeued::Packet { packet, mark }
            }
            Outcome::Drop => Dequeued::Dropped { packet, reason: Reason::Sojourn },
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }
}
