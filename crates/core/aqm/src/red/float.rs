//! RED as published, in floating point.

use super::{Instance, Transmitter};
use crate::store::{Store, mark};
use crate::{Backlog, Class, Dequeued, Queue, Reason, RedConfig, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// Random Early Detection (Floyd and Jacobson 1993).
#[derive(Clone, Debug)]
pub struct Red {
    store: Store,
    line: Transmitter,
    instance: Instance,
    ecn: bool,
}

impl Red {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If a rate is zero.
    pub fn new(config: &RedConfig, line_rate: Rate) -> Self {
        Self {
            store: Store::new(config.limit, line_rate),
            line: Transmitter::new(line_rate),
            instance: Instance::new(config.parameters, config.rate, config.mean_packet_bytes),
            ecn: config.ecn,
        }
    }
}

impl Queue for Red {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        self.instance.on_arrival(self.store.backlog(), &self.line, now);
        let decision = self.instance.decide(self.store.backlog_with(&packet), random);
        if let Some(reason) = decision
            && !(self.ecn && mark(&mut packet))
        {
            return Verdict::Dropped(reason);
        }
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        self.store.push(packet, now);
        Verdict::Queued { mark: decision }
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

    fn average_bytes(&self) -> Option<f64> {
        Some(self.instance.average_bytes())
    }
}
