//! One profile at work: what it compares, its average, and its decisions.

use super::{WredProfile, WredThresholds};
use crate::shell::Waiting;
use crate::{DecideAt, Reason};
use shoal_units::{Probability, Rate, Span, Stream};

/// A profile with its average.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    measure: Measure,
    /// Thresholds in the unit of the measure. All that waits is a whole number of it, which doubles hold exactly up to
    /// 2^53.
    min: f64,
    max: f64,
    max_probability: f64,
    /// 2^-n.
    gain: f64,
    /// Average of what is compared; stays zero with a gain of 1.
    average: f64,
}

/// What a profile compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Measure {
    /// Bytes of the cells that the waiting packets occupy.
    Bytes,
    /// Waiting packets.
    Packets,
    /// Picoseconds for which the packet has waited itself.
    Wait,
}

impl Profile {
    /// Selects nothing.
    pub(super) const NEVER: Self = Self {
        measure: Measure::Bytes,
        min: f64::INFINITY,
        max: f64::INFINITY,
        max_probability: 0.0,
        gain: 1.0,
        average: 0.0,
    };

    pub(super) fn new(
        profile: &WredProfile,
        decide: DecideAt,
        weight: u8,
        cell_bytes: u32,
        line_rate: Rate,
    ) -> Self {
        let thresholds = match decide {
            DecideAt::Enqueue => profile.thresholds.on_arrival(line_rate),
            DecideAt::Dequeue => profile.thresholds,
        };
        let (measure, min, max) = match thresholds.in_cells(cell_bytes) {
            WredThresholds::Bytes { min, max } => (Measure::Bytes, min as f64, max as f64),
            WredThresholds::Packets { min, max } => (Measure::Packets, min.into(), max.into()),
            WredThresholds::Time { min, max } => {
                (Measure::Wait, min.as_picos() as f64, max.as_picos() as f64)
            }
        };
        let gain = libm::ldexp(1.0, -i32::from(weight));
        Self { measure, min, max, max_probability: profile.max_probability, gain, average: 0.0 }
    }

    /// A packet passes the place where the profile decides: it moves the average, and if the profile is `for_it`, the
    /// profile says whether it selects the packet, and why. `waiting` is what waits besides the packet, which has
    /// `waited` itself.
    #[inline]
    pub(super) fn judge(
        &mut self,
        for_it: bool,
        waiting: &Waiting,
        waited: Span,
        random: &mut Stream,
    ) -> Option<Reason> {
        let compared = self.averaged(match self.measure {
            Measure::Bytes => waiting.occupied_bytes() as f64,
            Measure::Packets => waiting.backlog().packets.into(),
            Measure::Wait => waited.as_picos() as f64,
        });
        if for_it { self.selects(compared, random) } else { None }
    }

    #[inline]
    fn averaged(&mut self, compared: f64) -> f64 {
        if self.gain >= 1.0 {
            return compared;
        }
        self.average += (compared - self.average) * self.gain;
        self.average
    }

    /// No random number is drawn where the probability is 0 or 1.
    #[inline]
    fn selects(&self, compared: f64, random: &mut Stream) -> Option<Reason> {
        if compared < self.min {
            return None;
        }
        if compared >= self.max {
            return Some(if self.min >= self.max { Reason::Threshold } else { Reason::Forced });
        }
        let slope = self.max_probability * (compared - self.min) / (self.max - self.min);
        let is_selected = match Probability::from_f64(slope) {
            Probability::ZERO => false,
            Probability::ONE => true,
            probability => probability.happens(random.uniform_u32()),
        };
        is_selected.then_some(Reason::Early)
    }

    /// The average if the profile keeps one of bytes.
    pub(super) fn average_bytes(&self) -> Option<f64> {
        (self.measure == Measure::Bytes && self.gain < 1.0).then_some(self.average)
    }
}
