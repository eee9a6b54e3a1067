//! Step marking: every ECT packet above a threshold of the instantaneous queue is marked (DCTCP, RFC 8257 section 3.1).

use crate::store::{Store, mark};
use crate::threshold::Threshold;
use crate::{Backlog, Class, DecideAt, Dequeued, Queue, Reason, StepConfig, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// Step marking. The comparison includes the packet it decides about (Kuehlewind et al. 2014 section IV-B) and draws no random numbers.
#[derive(Clone, Debug)]
pub struct Step {
    store: Store,
    decide: DecideAt,
    marks: Threshold,
    drops: Threshold,
}

impl Step {
    /// An empty queue at a line of `line_rate`.
    pub fn new(config: &StepConfig, line_rate: Rate) -> Self {
        let threshold = |extent| Threshold::new(extent, config.decide, line_rate);
        Self {
            store: Store::new(config.limit, line_rate),
            decide: config.decide,
            marks: threshold(config.threshold),
            drops: threshold(config.drop_threshold),
        }
    }

    #[inline]
    fn threshold_of(&self, packet: &Packet) -> Threshold {
        if packet.ecn.is_capable() { self.marks } else { self.drops }
    }
}

impl Queue for Step {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, _: &mut Stream) -> Verdict {
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        let mut reason = None;
        if self.decide == DecideAt::Enqueue
            && self.threshold_of(&packet).is_exceeded_by_queue(self.store.backlog_with(&packet))
        {
            if !mark(&mut packet) {
                return Verdict::Dropped(Reason::Threshold);
            }
            reason = Some(Reason::Threshold);
        }
        self.store.push(packet, now);
        Verdict::Queued { mark: reason }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Stream) -> Dequeued {
        let backlog = self.store.backlog();
        let Some(mut packet) = self.store.pop() else { return Dequeued::Empty };
        if self.decide == DecideAt::Enqueue {
            return Dequeued::Packet { packet, mark: None };
        }
        if !self.threshold_of(&packet).is_exceeded_by(backlog, now.since(packet.enqueued)) {
            return Dequeued::Packet { packet, mark: None };
        }
        if mark(&mut packet) {
            Dequeued::Packet { packet, mark: Some(Reason::Threshold) }
        } else {
            Dequeued::Dropped { packet, reason: Reason::Threshold }
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
