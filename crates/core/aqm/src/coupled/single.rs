//! One queue, two probabilities.

use super::slope::Slope;
use crate::store::{Store, mark};
use crate::{Backlog, Class, CoupledConfig, DecideAt, Dequeued, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// One FIFO: ECT packets are marked with p, others dropped with (p/k)^2, where p rises linearly from the origin with the
/// instantaneous queue (De Schepper 2015, "Coupled AQM", "Single Q").
#[derive(Clone, Debug)]
pub struct Coupled {
    store: Store,
    slope: Slope,
    decide: DecideAt,
    /// Of the last decision.
    probability: f64,
}

impl Coupled {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(config: &CoupledConfig, line_rate: Rate) -> Self {
        Self {
            store: Store::new(config.limit, line_rate),
            slope: Slope::new(config.slope, line_rate),
            decide: config.decide,
            probability: 0.0,
        }
    }

    /// What the law does to a packet while the queue is `queue`.
    #[inline]
    fn decide(&mut self, packet: &mut Packet, queue: u64, random: &mut Stream) -> Decision {
        decide(&self.slope, &mut self.probability, packet, queue, random)
    }
}

/// What the law does to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    Pass,
    Mark,
    Drop,
}

/// Slides, "Detailed implementation": a mark needs one random number below p_d, a drop two below the root of p_r. The second
/// is drawn only if the first was below.
#[inline]
pub(super) fn decide(
    slope: &Slope,
    probability: &mut f64,
    packet: &mut Packet,
    queue: u64,
    random: &mut Stream,
) -> Decision {
    let marks = slope.mark(queue);
    *probability = marks.as_f64();
    if packet.ecn.is_capable() {
        if marks.happens(random.uniform_u32()) && mark(packet) {
            return Decision::Mark;
        }
        return Decision::Pass;
    }
    let root = slope.drop_root(queue);
    if root.happens(random.uniform_u32()) && root.happens(random.uniform_u32()) {
        Decision::Drop
    } else {
        Decision::Pass
    }
}

impl Queue for Coupled {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        let mut reason = None;
        if self.decide == DecideAt::Enqueue {
            let queue = self.slope.queue_length(self.store.backlog_with(&packet));
            match self.decide(&mut packet, queue, random) {
                Decision::Pass => {}
                Decision::Mark => reason = Some(Reason::Coupled),
                Decision::Drop => return Verdict::Dropped(Reason::Early),
            }
        }
        self.store.push(packet, now);
        Verdict::Queued { mark: reason }
    }

    /// The last packet is not dropped, whatever was drawn: in a kernel, who asks a queue for a packet and gets none takes it for
    /// empty (`sch_codel` and `sch_dualpi2` spare what waits last, too).
    #[inline]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        let backlog = self.store.backlog();
        let Some(mut packet) = self.store.pop() else { return Dequeued::Empty };
        if self.decide == DecideAt::Enqueue {
            return Dequeued::Packet { packet, mark: None };
        }
        let queue = self.slope.queue(backlog, now.since(packet.enqueued));
        match self.decide(&mut packet, queue, random) {
            Decision::Pass => Dequeued::Packet { packet, mark: None },
            Decision::Mark => Dequeued::Packet { packet, mark: Some(Reason::Coupled) },
            Decision::Drop if self.store.backlog().packets == 0 => Dequeued::Packet { packet, mark: None },
            Decision::Drop => Dequeued::Dropped { packet, reason: Reason::Early },
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

    /// Of a mark, at the last decision.
    fn probability(&self) -> Option<f64> {
        Some(self.probability)
    }
}
