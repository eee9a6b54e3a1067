//! Two queues, coupled.

use super::single::{Decision, decide};
use super::slope::{Measure, Slope};
use crate::dual::DualQueue;
use crate::sched::Lane;
use crate::store::mark;
use crate::threshold::Threshold;
use crate::{Backlog, Class, CouplingInput, DecideAt, Dequeued, DualCoupledConfig, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// The coupled dual queue (De Schepper 2015, "Detailed implementation"): ECT packets, CE included, wait in L, others in C.
/// The instantaneous classic queue drives both probabilities; L has a threshold of its own besides.
#[derive(Clone, Debug)]
pub struct DualCoupled {
    queues: DualQueue,
    slope: Slope,
    input: CouplingInput,
    threshold: Threshold,
    decide: DecideAt,
    /// Of the last decision.
    probability: f64,
}

impl DualCoupled {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(config: &DualCoupledConfig, line_rate: Rate) -> Self {
        Self {
            queues: DualQueue::new(config.limit, config.scheduler, config.mtu, line_rate),
            slope: Slope::new(config.slope, line_rate),
            input: config.input,
            threshold: Threshold::new(config.threshold, config.decide, line_rate),
            decide: config.decide,
            probability: 0.0,
        }
    }

    /// Q, with `own` in place of the backlog of `lane` and `waited` for its time: those with the packet that is decided about.
    #[inline]
    fn input(&self, lane: Lane, own: Backlog, waited: Span, now: Time) -> u64 {
        let of = |which: Lane| {
            if which == lane {
                self.slope.queue(own, waited)
            } else {
                self.slope.queue(self.queues.lane(which).backlog(), self.queues.age(which, now))
            }
        };
        match (self.input, self.slope.measure) {
            (CouplingInput::Classic, _) => of(Lane::Classic),
            (CouplingInput::Total, Measure::Time) => of(Lane::Classic).max(of(Lane::Low)),
            (CouplingInput::Total, Measure::Bytes | Measure::Packets) => of(Lane::Classic) + of(Lane::Low),
        }
    }

    /// Slides: mark iff (Q_d > T) || (Q_r << S_d) > R1; drop iff (Q_r << S_r) > R1 && > R2. Above the threshold nothing is
    /// drawn.
    #[inline]
    fn act(
        &mut self,
        packet: &mut Packet,
        above: bool,
        queue: u64,
        random: &mut Stream,
    ) -> Result<Option<Reason>, Reason> {
        if above && mark(packet) {
            self.probability = self.slope.mark(queue).as_f64();
            return Ok(Some(Reason::Threshold));
        }
        match decide(&self.slope, &mut self.probability, packet, queue, random) {
            Decision::Pass => Ok(None),
            Decision::Mark => Ok(Some(Reason::Coupled)),
            Decision::Drop => Err(Reason::Early),
        }
    }
}

/// A packet that is marked already was ECT: it stays with its kind.
#[inline]
const fn lane_of(packet: &Packet) -> Lane {
    if packet.ecn.is_capable() { Lane::Low } else { Lane::Classic }
}

impl Queue for DualCoupled {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, now: Time, random: &mut Stream) -> Verdict {
        if !self.queues.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        let lane = lane_of(&packet);
        let mut reason = None;
        if self.decide == DecideAt::Enqueue {
            let own = self.queues.lane(lane).backlog_with(&packet);
            let above = lane == Lane::Low && self.threshold.is_exceeded_by_queue(own);
            let queue = self.input(lane, own, self.queues.age(lane, now), now);
            match self.act(&mut packet, above, queue, random) {
                Ok(mark) => reason = mark,
                Err(reason) => return Verdict::Dropped(reason),
            }
        }
        self.queues.push(lane, packet, now);
        Verdict::Queued { mark: reason }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        let Some(mut taken) = self.queues.take(now) else { return Dequeued::Empty };
        let mut reason = None;
        if self.decide == DecideAt::Dequeue {
            let own = self.queues.lane(taken.lane).backlog_with(&taken.packet);
            let waited = now.since(taken.packet.enqueued);
            let above = taken.lane == Lane::Low && self.threshold.is_exceeded_by(own, waited);
            let queue = self.input(taken.lane, own, waited, now);
            match self.act(&mut taken.packet, above, queue, random) {
                Ok(mark) => reason = mark,
                // The last packet is spared, as in `Coupled`.
                Err(_) if self.queues.backlog().packets == 0 => {}
                Err(reason) => return Dequeued::Dropped { packet: taken.packet, reason },
            }
        }
        self.queues.sent(&taken, now);
        Dequeued::Packet { packet: taken.packet, mark: reason }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.queues.class_backlog(class)
    }

    /// Of a coupled mark, at the last decision.
    fn probability(&self) -> Option<f64> {
        Some(self.probability)
    }
}
