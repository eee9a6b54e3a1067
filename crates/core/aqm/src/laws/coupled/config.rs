//! The configuration of the coupled single queue, and of the two coupled probabilities wherever they are used.

use super::{Coupled, doc};
use crate::shell::Single;
use crate::{DecideAt, Extent, LawConfig, TcError};
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate};

/// How the two probabilities follow the instantaneous queue Q: both roots rise linearly from the origin; marks take the
/// root itself, drops its square.
///
/// The dimension of the extents says what Q is: a queueing time or a size. An unlimited extent never acts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CoupledSlope {
    /// Mark with p = Q / `saturation`, at most 1; drop with (Q / `saturation` / `coupling`)^2.
    Linear {
        /// The queue at which every ECT packet is marked.
        saturation: Extent,
        /// k: root of the drop probability = mark probability / k.
        coupling: f64,
    },
    /// The slides' integers: mark if `(Q << mark_bits) > R1`, drop if `(Q << drop_bits) > R1` and `> R2`, with Q
    /// counted in whole `unit`s and R1, R2 uniform over 0..2^32. Shifts do not lose bits: what exceeds 32 of them is
    /// certain.
    Shift {
        /// S_r, 0..=31.
        drop_bits: u8,
        /// S_d, 0..=31. The coupling factor is 2^(S_d - S_r).
        mark_bits: u8,
        /// Unit in which Q is counted.
        unit: Extent,
    },
}

/// One queue: ECT packets are marked, others dropped with the square.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoupledConfig {
    /// The probabilities.
    pub slope: CoupledSlope,
    /// When Q is measured; it includes the packet that is decided on.
    pub decide: DecideAt,
    /// Capacity for waiting packets.
    pub limit: Extent,
}

impl LawConfig for CoupledConfig {
    type Queue = Single<Coupled>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(Coupled::new(self, line_rate), self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        Some(crate::laws::ANY_BACKLOG)
    }
}
