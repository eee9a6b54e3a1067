//! Two queues, coupled: ECT packets wait in a low-latency queue, others in a classic one, which drives the marks of
//! both.
//!
//! Q, usually the classic queue, gives the probabilities of [`Coupled`](crate::Coupled): ECT packets are marked with p,
//! others dropped with (p/k)^2. The low-latency queue has a threshold T of its own besides, above which every packet is
//! marked. Follows De Schepper, Data Center to the Home, slides, 2015, "Detailed implementation"; where it departs is
//! listed in [`DualCoupledConfig::DOC`].

mod config;
mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{CouplingInput, DualCoupledConfig};

use super::coupled::{Measure, Slope, decide};
use crate::sched::Lane;
use crate::shell::{Decision, DualLaw, Lanes, Passage, Threshold};
use crate::{Backlog, DecideAt, Reason};
use shoal_packet::Packet;
use shoal_units::{Rate, Span, Stream, Time};

/// The two probabilities and the threshold of the low-latency queue.
#[derive(Clone, Debug)]
pub struct DualCoupled {
    slope: Slope,
    input: CouplingInput,
    threshold: Threshold,
    decide: DecideAt,
    /// Probability of a mark at the last decision.
    probability: f64,
}

/// The queue of the packet that is decided on.
#[derive(Clone, Copy)]
struct Own {
    lane: Lane,
    /// Backlog of the queue with that packet.
    backlog: Backlog,
    /// Time that the packet, or on arrival the oldest one, has waited.
    waited: Span,
}

impl DualCoupled {
    fn new(config: &DualCoupledConfig, line_rate: Rate) -> Self {
        Self {
            slope: Slope::new(config.slope, line_rate),
            input: config.input,
            threshold: Threshold::new(config.threshold, config.decide, line_rate),
            decide: config.decide,
            probability: 0.0,
        }
    }

    /// Q, including the packet that is decided on.
    #[inline]
    fn input(&self, own: Own, waiting: &Lanes, now: Time) -> u64 {
        let of = |which: Lane| {
            if which == own.lane {
                self.slope.queue(own.backlog, own.waited)
            } else {
                self.slope.queue(waiting.lane(which).backlog(), waiting.age(which, now))
            }
        };
        match (self.input, self.slope.measure) {
            (CouplingInput::Classic, _) => of(Lane::Classic),
            (CouplingInput::Total, Measure::Time) => of(Lane::Classic).max(of(Lane::Low)),
            (CouplingInput::Total, Measure::Bytes | Measure::Packets) => of(Lane::Classic) + of(Lane::Low),
        }
    }

    /// Slides: mark iff (Q_d > T) || (Q_r << S_d) > R1; drop iff (Q_r << S_r) > R1 && > R2. Above the threshold nothing
    /// is drawn.
    #[inline]
    fn act(&mut self, packet: &Packet, above: bool, queue: u64, random: &mut Stream) -> Decision {
        if above && packet.ecn.is_capable() {
            self.probability = self.slope.mark(queue).as_f64();
            return Decision::Mark(Reason::Threshold);
        }
        decide(&self.slope, &mut self.probability, packet, queue, random)
    }
}

impl DualLaw for DualCoupled {
    /// A packet that is already marked was ECT, so it stays with ECT packets.
    #[inline]
    fn lane_of(&self, packet: &Packet) -> Lane {
        if packet.ecn.is_capable() { Lane::Low } else { Lane::Classic }
    }

    #[inline]
    fn on_arrival(&mut self, passage: &Passage<'_>, random: &mut Stream) -> Decision {
        if self.decide == DecideAt::Dequeue {
            return Decision::Pass;
        }
        let &Passage { packet, lane, waiting, now } = passage;
        let backlog = waiting.lane(lane).backlog_with(packet);
        let above = lane == Lane::Low && self.threshold.is_exceeded_by_queue(backlog);
        let own = Own { lane, backlog, waited: waiting.age(lane, now) };
        let queue = self.input(own, waiting, now);
        self.act(packet, above, queue, random)
    }

    /// The last packet of both queues is spared, as in [`Coupled`](crate::Coupled).
    #[inline]
    fn on_departure(&mut self, passage: &Passage<'_>, random: &mut Stream) -> Decision {
        if self.decide == DecideAt::Enqueue {
            return Decision::Pass;
        }
        let &Passage { packet, lane, waiting, now } = passage;
        let backlog = waiting.lane(lane).backlog_with(packet);
        let waited = now.since(packet.enqueued);
        let above = lane == Lane::Low && self.threshold.is_exceeded_by(backlog, waited);
        let queue = self.input(Own { lane, backlog, waited }, waiting, now);
        match self.act(packet, above, queue, random) {
            Decision::Drop(_) if waiting.backlog().packets == 0 => Decision::Pass,
            decision => decision,
        }
    }

    /// Probability of a coupled mark at the last decision.
    fn probability(&self) -> Option<f64> {
        Some(self.probability)
    }
}
