//! The configuration of RED, and of one RED instance wherever it is used.

use super::{Red, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, Level, TcError};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::cast::floor_u64;
use shoal_units::{ModelDoc, Rate};

/// How marks are spread between the RED thresholds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkSpacing {
    /// Uniform gaps by counting (Floyd and Jacobson 1993, section 4): long-run rate near 2p/(1+p).
    Uniformised,
    /// An independent coin for each packet: geometric gaps, long-run rate p.
    Independent,
}

/// One RED instance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedParameters {
    /// Minimum threshold of the average, bytes.
    pub min_bytes: f64,
    /// Maximum threshold of the average, bytes; equal to the minimum for a step.
    pub max_bytes: f64,
    /// Probability at the maximum threshold, 0..=1.
    pub max_probability: f64,
    /// Weight of the moving average, 0 < w <= 1. With 1 and min = max the arriving packet is included in the comparison
    /// (Kuehlewind et al. 2014 section IV-B: 7812 B and 8203 B "both able to hold 5 packets without marking").
    pub weight: f64,
    /// Whether the probability rises linearly to 1 between max and 2 max instead of jumping there.
    pub gentle: bool,
    /// How marks are spread.
    pub spacing: MarkSpacing,
}

/// RED as published (Floyd and Jacobson 1993), floating point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedConfig {
    /// The instance.
    pub parameters: RedParameters,
    /// Whether ECT packets are marked instead of dropped.
    pub ecn: bool,
    /// Capacity for waiting packets.
    pub limit: Extent,
    /// Line rate: idle ageing assumes `idle time / time of a mean packet` virtual arrivals.
    pub rate: Rate,
    /// Mean packet size in bytes for idle ageing.
    pub mean_packet_bytes: u32,
}

impl RedParameters {
    /// Thresholds of the instance; `class` is appended to their names.
    pub(crate) fn levels(&self, class: &str) -> Vec<Level> {
        let level = |name: &str, bytes| Level::of_bytes(format!("{name}{class}"), bytes);
        if self.min_bytes == self.max_bytes {
            vec![level("K", self.min_bytes)]
        } else {
            vec![level("min", self.min_bytes), level("max", self.max_bytes)]
        }
    }
}

impl LawConfig for RedConfig {
    type Queue = Single<Red>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(Red::new(self, line_rate), self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        self.ecn.then_some(Extent::Bytes(floor_u64(self.parameters.min_bytes)))
    }

    fn levels(&self) -> Vec<Level> {
        self.parameters.levels("")
    }
}
