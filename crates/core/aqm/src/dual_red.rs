//! Two RED instances on one queue (Kuehlewind et al. 2014 section III-C).

use crate::red::{Instance, Transmitter};
use crate::store::{Store, mark};
use crate::{AverageScope, Backlog, Class, Dequeued, DualRedConfig, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// One queue, two RED instances chosen by ECN capability: the one for ECT packets marks, the other drops.
#[derive(Clone, Debug)]
pub struct DualRed {
    store: Store,
    line: Transmitter,
    not_ect: Instance,
    ect: Instance,
    average: AverageScope,
}

impl DualRed {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If a rate is zero.
    pub fn new(config: &DualRedConfig, line_rate: Rate) -> Self {
        let instance = |parameters| Instance::new(parameters, config.rate, config.mean_packet_bytes);
        Self {
            store: Store::new(config.limit, line_rate),
            line: Transmitter::new(line_rate),
            not_ect: instance(config.not_ect),
            ect: instance(config.ect),
            average: config.average,
        }
    }

    /// The averaged queue in bytes as one class's instance sees it.
    pub fn class_average_bytes(&self, class: Class) -> f64 {
        match class {
            Class::Ect => self.ect.average_bytes(),
            Class::NotEct => self.not_ect.average_bytes(),
        }
    }
}

impl Queue for DualRed {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        let backlog = self.store.backlog();
        let (own, other) = match Class::of(&packet) {
            Class::Ect => (&mut self.ect, &mut self.not_ect),
            Class::NotEct => (&mut self.not_ect, &mut self.ect),
        };
        own.on_arrival(backlog, &self.line, now);
        if self.average == AverageScope::Shared {
            other.on_arrival(backlog, &self.line, now);
        }
        let decision = own.decide(self.store.backlog_with(&packet), random);
        if let Some(reason) = decision
            && !mark(&mut packet)
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

    /// The average of the instance for packets that are not ECT; the other one is usually the instantaneous queue.
    fn average_bytes(&self) -> Option<f64> {
        Some(self.not_ect.average_bytes())
    }
}
