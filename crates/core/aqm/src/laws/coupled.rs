//! One queue, two coupled probabilities: scalable traffic is marked with p, classic traffic dropped with (p/k)^2.
//!
//! p rises linearly from the origin with the instantaneous queue Q, p = Q / Q_max; a mark needs one random number below
//! p, a drop two below p/k. Follows De Schepper, Data Center to the Home, slides, 2015, "Coupled AQM" and "Single Q";
//! where it departs is listed in [`CoupledConfig::DOC`].

mod config;
mod doc;
mod slope;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use config::{CoupledConfig, CoupledSlope};
pub(crate) use slope::{Measure, Slope};

use crate::shell::{Decision, Law, Waiting};
use crate::{DecideAt, Reason};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// The two probabilities, and when they are applied.
#[derive(Clone, Debug)]
pub struct Coupled {
    slope: Slope,
    decide: DecideAt,
    /// Probability of a mark at the last decision.
    probability: f64,
}

impl Coupled {
    fn new(config: &CoupledConfig, line_rate: Rate) -> Self {
        Self { slope: Slope::new(config.slope, line_rate), decide: config.decide, probability: 0.0 }
    }
}

/// A mark needs one random number below p_d, a drop two below the root of p_r (slides, "Detailed
/// implementation"). The second number is drawn only if the first was below. Sets `probability` to that of a
/// mark.
#[inline]
pub(crate) fn decide(
    slope: &Slope,
    probability: &mut f64,
    packet: &Packet,
    queue: u64,
    random: &mut Stream,
) -> Decision {
    let marks = slope.mark(queue);
    *probability = marks.as_f64();
    if packet.ecn.is_capable() {
        if marks.happens(random.uniform_u32()) {
            return Decision::Mark(Reason::Coupled);
        }
        return Decision::Pass;
    }
    let root = slope.drop_root(queue);
    if root.happens(random.uniform_u32()) && root.happens(random.uniform_u32()) {
        Decision::Drop(Reason::Early)
    } else {
        Decision::Pass
    }
}

impl Law for Coupled {
    fn decides_on_arrival(&self) -> bool {
        self.decide == DecideAt::Enqueue
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, _: Time, random: &mut Stream) -> Decision {
        if self.decide == DecideAt::Dequeue {
            return Decision::Pass;
        }
        let queue = self.slope.queue_length(waiting.backlog_with(packet));
        decide(&self.slope, &mut self.probability, packet, queue, random)
    }

    /// The last packet is not dropped, whatever was drawn: in a kernel, a scheduler that asks a queue for a
    /// packet and gets none takes it for empty (`sch_codel` and `sch_dualpi2` spare the last packet too).
    #[inline]
    fn on_departure(
        &mut self,
        packet: &Packet,
        waiting: &Waiting,
        now: Time,
        random: &mut Stream,
    ) -> Decision {
        if self.decide == DecideAt::Enqueue {
            return Decision::Pass;
        }
        let queue = self.slope.queue(waiting.backlog_with(packet), now.since(packet.enqueued));
        match decide(&self.slope, &mut self.probability, packet, queue, random) {
            Decision::Drop(_) if waiting.backlog().packets == 0 => Decision::Pass,
            decision => decision,
        }
    }

    /// Probability of a mark at the last decision.
    fn probability(&self) -> Option<f64> {
        Some(self.probability)
    }
}
