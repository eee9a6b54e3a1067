//! Step marking: every ECT packet above a threshold of the instantaneous queue is marked.
//!
//! An ECT packet is marked if Q > K, another one dropped if Q > K', where Q includes the packet itself: the queue on
//! arrival, or on departure the queue or the packet's own wait. Follows DCTCP, RFC 8257 section 3.1
//! (<https://www.rfc-editor.org/rfc/rfc8257#section-3.1>), in the reading of Kuehlewind et al. 2014 section IV-B; where
//! it departs is listed in [`StepConfig::DOC`]. Draws no random numbers.

mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

use crate::shell::{Decision, Law, Single, Threshold, Waiting};
use crate::{DecideAt, Extent, LawConfig, Level, Reason, TcError};
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::{Ecn, Packet};
use shoal_units::{ModelDoc, Rate, Stream, Time};

/// Step marking: ECT packets above the threshold are marked, others dropped above their own limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StepConfig {
    /// K: ECT packets that find more than this (the arriving packet included) are marked.
    pub threshold: Extent,
    /// When the queue is compared with the thresholds.
    pub decide: DecideAt,
    /// Packets that are not ECT are dropped above this; usually [`Extent::Unlimited`] (only the buffer limits them).
    pub drop_threshold: Extent,
    /// Capacity for waiting packets.
    pub limit: Extent,
}

/// Two thresholds, one for each class of packets.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    decide: DecideAt,
    marks: Threshold,
    drops: Threshold,
}

impl Step {
    #[inline]
    fn threshold_of(&self, packet: &Packet) -> Threshold {
        if packet.ecn.is_capable() { self.marks } else { self.drops }
    }
}

impl Law for Step {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, _: Time, _: &mut Stream) -> Decision {
        if self.decide == DecideAt::Enqueue
            && self.threshold_of(packet).is_exceeded_by_queue(waiting.backlog_with(packet))
        {
            return Decision::signal(packet, Reason::Threshold);
        }
        Decision::Pass
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, waiting: &Waiting, now: Time, _: &mut Stream) -> Decision {
        if self.decide == DecideAt::Dequeue
            && self
                .threshold_of(packet)
                .is_exceeded_by(waiting.backlog_with(packet), now.since(packet.enqueued))
        {
            return Decision::signal(packet, Reason::Threshold);
        }
        Decision::Pass
    }

    fn decides_on_arrival(&self) -> bool {
        self.decide == DecideAt::Enqueue
    }

    fn retune(&mut self, newer: &Self) -> bool {
        *self = *newer;
        true
    }
}

impl LawConfig for StepConfig {
    type Queue = Single<Step>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        let threshold = |extent| Threshold::new(extent, self.decide, line_rate);
        let law = Step {
            decide: self.decide,
            marks: threshold(self.threshold),
            drops: threshold(self.drop_threshold),
        };
        Ok(Single::new(law, self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        Some(self.threshold)
    }

    fn levels(&self) -> Vec<Level> {
        vec![Level::new("K", self.threshold), Level::new("limit", self.limit)]
    }
}
