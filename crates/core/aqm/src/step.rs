//! Step marking: every ECT packet above a threshold of the instantaneous queue is marked (DCTCP, RFC 8257 section 3.1).

use crate::store::{Bound, Store, mark};
use crate::{Backlog, Class, DecideAt, Dequeued, Extent, Queue, Reason, StepConfig, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// Step marking. The comparison includes the packet it decides about (K13 section IV-B) and draws no random numbers.
#[derive(Clone, Debug)]
pub struct Step {
    store: Store,
    decide: DecideAt,
    marks: Threshold,
    drops: Threshold,
}

/// One threshold in both its readings.
#[derive(Clone, Copy, Debug)]
struct Threshold {
    queue: Bound,
    sojourn: Option<Span>,
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

impl Threshold {
    /// A time is a queue length on arrival, when the wait is not yet known, and the packet's own wait on departure.
    fn new(extent: Extent, decide: DecideAt, line_rate: Rate) -> Self {
        match (extent, decide) {
            (Extent::Time(span), DecideAt::Dequeue) => {
                Self { queue: Bound::new(Extent::Unlimited, line_rate), sojourn: Some(span) }
            }
            _ => Self { queue: Bound::new(extent, line_rate), sojourn: None },
        }
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
            && self.threshold_of(&packet).queue.is_exceeded_by(self.store.backlog_with(&packet))
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
        let Threshold { queue, sojourn } = self.threshold_of(&packet);
        let waited = now.since(packet.enqueued);
        if !queue.is_exceeded_by(backlog) && sojourn.is_none_or(|limit| waited <= limit) {
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
