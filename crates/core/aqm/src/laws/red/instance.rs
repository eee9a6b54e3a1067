//! One RED control law: from the average to a decision about one packet.

use super::average::Average;
use crate::shell::Transmitter;
use crate::{Backlog, MarkSpacing, Reason, RedParameters};
use shoal_units::{Probability, Rate, Stream, Time};

/// A RED instance: parameters, average, and the packets counted since the last decision against one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    parameters: RedParameters,
    average: Average,
    /// Packets that passed since the last one that did not, while the average was above the minimum threshold.
    passed: u32,
}

impl Instance {
    pub(crate) fn new(parameters: RedParameters, rate: Rate, mean_packet_bytes: u32) -> Self {
        Self { parameters, average: Average::new(parameters.weight, rate, mean_packet_bytes), passed: 0 }
    }

    #[inline]
    pub(crate) fn average_bytes(&self) -> f64 {
        self.average.bytes()
    }

    /// Any packet arrives and finds `backlog`: see [`Average::on_arrival`].
    #[inline]
    pub(crate) fn on_arrival(&mut self, backlog: Backlog, line: &Transmitter, now: Time) {
        self.average.on_arrival(backlog, line, now);
    }

    /// Decides whether a packet is hit, and why; `with_packet` is the backlog including the packet. The
    /// caller decides whether a hit is a mark or a drop.
    #[inline]
    pub(crate) fn decide(&mut self, with_packet: Backlog, random: &mut Stream) -> Option<Reason> {
        if self.is_step() {
            return (with_packet.bytes as f64 > self.parameters.max_bytes).then_some(Reason::Threshold);
        }
        match self.zone(self.average.bytes()) {
            Zone::Pass => {
                self.passed = 0;
                None
            }
            Zone::Forced => {
                self.passed = 0;
                Some(Reason::Forced)
            }
            Zone::Early(probability) => self.early(probability, random),
        }
    }

    /// Kuehlewind et al. 2014 section II-A: min = max = K and weight 1 is step marking; it includes the arriving packet
    /// (section IV-B).
    #[inline]
    fn is_step(&self) -> bool {
        self.parameters.weight >= 1.0 && self.parameters.min_bytes >= self.parameters.max_bytes
    }

    /// Probability of a packet at this average (Kuehlewind et al. 2014 figure 3; gentle: Floyd, "Recommendation on
    /// using the gentle variant of RED", 2000).
    #[inline]
    fn zone(&self, average: f64) -> Zone {
        let RedParameters { min_bytes, max_bytes, max_probability, gentle, .. } = self.parameters;
        if average < min_bytes {
            Zone::Pass
        } else if average < max_bytes {
            Zone::Early(max_probability * (average - min_bytes) / (max_bytes - min_bytes))
        } else if gentle && average < 2.0 * max_bytes {
            Zone::Early(max_probability + (1.0 - max_probability) * (average - max_bytes) / max_bytes)
        } else {
            Zone::Forced
        }
    }

    /// Uniformised: pb / (1 - n pb) for the packet after n that passed makes the gap between marks uniform on
    /// 1..=1/pb (Floyd and Jacobson 1993, section 4, method 2).
    #[inline]
    fn early(&mut self, probability: f64, random: &mut Stream) -> Option<Reason> {
        let probability = match self.parameters.spacing {
            MarkSpacing::Independent => probability,
            MarkSpacing::Uniformised => {
                let left = 1.0 - f64::from(self.passed) * probability;
                // Certain from 1/pb on. The comparison also keeps 0/0 and negative quotients out.
                if probability >= left { 1.0 } else { probability / left }
            }
        };
        if Probability::from_f64(probability).happens(random.uniform_u32()) {
            self.passed = 0;
            Some(Reason::Early)
        } else {
            self.passed = self.passed.saturating_add(1);
            None
        }
    }
}

/// Where an average is in the profile.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Zone {
    /// Below the minimum threshold.
    Pass,
    /// Between the thresholds, with the probability there.
    Early(f64),
    /// Above the maximum threshold.
    Forced,
}
