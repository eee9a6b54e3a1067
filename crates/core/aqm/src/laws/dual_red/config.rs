//! The configuration of dual RED.

use super::{DualRed, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, Level, RedParameters, TcError};
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::cast::floor_u64;
use shoal_units::{ModelDoc, Rate};

/// Whether the two RED instances share the input of their averages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AverageScope {
    /// Each instance averages the whole queue at every arrival, as WRED does.
    Shared,
    /// Each instance averages the whole queue only at arrivals of its own class, which can lock
    /// a group out for minutes: its own few packets must bring the average down.
    PerClass,
}

/// Two RED instances on one queue, chosen by ECN capability (Kuehlewind et al. 2014 section III-C).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualRedConfig {
    /// For packets that are not ECT: they are dropped.
    pub not_ect: RedParameters,
    /// For ECT packets: they are marked.
    pub ect: RedParameters,
    /// Whether the averages share their input.
    pub average: AverageScope,
    /// Waiting packets that fit.
    pub limit: Extent,
    /// Line rate, for idle ageing.
    pub rate: Rate,
    /// Mean packet size in bytes for idle ageing.
    pub mean_packet_bytes: u32,
}

impl LawConfig for DualRedConfig {
    type Queue = Single<DualRed>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(DualRed::new(self, line_rate), self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        Some(Extent::Bytes(floor_u64(self.ect.min_bytes)))
    }

    fn levels(&self) -> Vec<Level> {
        [self.not_ect.levels(" not-ECT"), self.ect.levels(" ECT")].concat()
    }
}
