//! The configuration of WRED.

use super::{Wred, doc};
use crate::shell::Single;
use crate::{DecideAt, Extent, LawConfig, Level, TcError};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate, Span};

/// WRED: one FIFO with a profile for marks and profiles for drops.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WredConfig {
    /// Marks ECT packets; `None`: they are never marked.
    pub mark: Option<WredProfile>,
    /// Drops packets that are not ECT; `None`: only the limit drops them.
    pub drop: Option<WredProfile>,
    /// Drops ECT packets, also those that `mark` would mark; `None`: only the limit drops them.
    pub drop_ect: Option<WredProfile>,
    /// n, 0..=15: each profile averages what it compares with the weight 2^-n. 0 averages nothing.
    pub weight: u8,
    /// When marks are decided. Drops are decided on arrival.
    pub decide: DecideAt,
    /// Size of the cells of the packet memory in bytes, at least 1: packets occupy whole cells, and thresholds in bytes
    /// are rounded up to whole cells. The limit counts bytes.
    pub cell_bytes: u32,
    /// Capacity for waiting packets.
    pub limit: Extent,
}

/// The probability that a packet is selected, over what waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WredProfile {
    /// Where the slope begins and ends.
    pub thresholds: WredThresholds,
    /// Probability at the maximum threshold, 0..=1, from which on it is 1.
    pub max_probability: f64,
}

/// Minimum and maximum threshold in the same unit; below the minimum nothing is selected, from the maximum on every
/// packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WredThresholds {
    /// Bytes that wait, or bytes of the cells that they occupy.
    Bytes {
        /// Minimum threshold.
        min: u64,
        /// Maximum threshold.
        max: u64,
    },
    /// Packets that wait.
    Packets {
        /// Minimum threshold.
        min: u32,
        /// Maximum threshold.
        max: u32,
    },
    /// Queueing time: on arrival the bytes that the line sends in it, on departure the packet's own wait.
    Time {
        /// Minimum threshold.
        min: Span,
        /// Maximum threshold.
        max: Span,
    },
}

impl WredThresholds {
    /// The thresholds in effect with cells of `cell_bytes`; times stay times.
    #[must_use]
    pub fn in_cells(self, cell_bytes: u32) -> Self {
        let up = |bytes: u64| bytes.checked_next_multiple_of(u64::from(cell_bytes)).unwrap_or(u64::MAX);
        match self {
            Self::Bytes { min, max } => Self::Bytes { min: up(min), max: up(max) },
            Self::Packets { .. } | Self::Time { .. } => self,
        }
    }

    /// The thresholds of a queue that is compared on arrival, when no wait is known: the fewest whole bytes that take
    /// at least that time.
    #[must_use]
    pub fn on_arrival(self, line_rate: Rate) -> Self {
        let bytes = |span: Span| {
            let bits_picos = u128::from(line_rate.as_bps()) * u128::from(span.as_picos());
            u64::try_from(bits_picos.div_ceil(8_000_000_000_000)).unwrap_or(u64::MAX)
        };
        match self {
            Self::Time { min, max } => Self::Bytes { min: bytes(min), max: bytes(max) },
            Self::Bytes { .. } | Self::Packets { .. } => self,
        }
    }

    /// For plots; `class` is appended to the names of the levels.
    fn levels(self, class: &str) -> Vec<Level> {
        let (min, max) = match self {
            Self::Bytes { min, max } => (Extent::Bytes(min), Extent::Bytes(max)),
            Self::Packets { min, max } => (Extent::Packets(min), Extent::Packets(max)),
            Self::Time { min, max } => (Extent::Time(min), Extent::Time(max)),
        };
        let level = |name: &str, extent| Level::new(format!("{name}{class}"), extent);
        if min == max { vec![level("K", min)] } else { vec![level("min", min), level("max", max)] }
    }
}

impl LawConfig for WredConfig {
    type Queue = Single<Wred>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(Wred::new(self, line_rate), self.limit, line_rate).in_cells(self.cell_bytes))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        self.mark.map(|profile| match profile.thresholds {
            WredThresholds::Bytes { min, .. } => Extent::Bytes(min),
            WredThresholds::Packets { min, .. } => Extent::Packets(min),
            WredThresholds::Time { min, .. } => Extent::Time(min),
        })
    }

    fn levels(&self) -> Vec<Level> {
        let classes = [(self.mark, " ECT"), (self.drop, " not-ECT"), (self.drop_ect, " ECT drops")];
        let profiles =
            classes.into_iter().filter_map(|(profile, class)| profile.map(|profile| (profile, class)));
        let levels =
            profiles.flat_map(|(profile, class)| profile.thresholds.in_cells(self.cell_bytes).levels(class));
        levels.chain([Level::new("limit", self.limit)]).collect()
    }
}
