//! The configuration of CoDel, and of its law wherever it is used.

use super::{Codel, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, Level, TcError};
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate, Span};

/// The parameters of the CoDel law ([RFC 8289](https://www.rfc-editor.org/rfc/rfc8289); Linux `struct
/// codel_params`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelParameters {
    /// Largest acceptable sojourn time.
    pub target: Span,
    /// Time for which the target must be exceeded before the first drop; it also scales the gaps between
    /// drops.
    pub interval: Span,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
    /// Sojourn time beyond which ECT packets are marked, whatever the law decides.
    pub ce_threshold: Option<Span>,
    /// Packets to which `ce_threshold` applies.
    pub ce_threshold_for: CeThresholdFor,
    /// Largest backlog in bytes at which the law gives no signal.
    pub mtu_bytes: u32,
}

impl CodelParameters {
    /// The wait from which on packets with `codepoint` may be marked.
    pub(crate) fn marks_from(&self, codepoint: Ecn) -> Option<Extent> {
        let threshold = self.ce_threshold.filter(|_| self.ce_threshold_for.applies_to(codepoint));
        let target = self.ecn.then_some(self.target);
        [threshold, target].into_iter().flatten().min().map(Extent::Time)
    }
}

/// Packets to which a `ce_threshold` applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CeThresholdFor {
    /// All ECN-capable packets.
    Ect,
    /// The packets among these whose DS field, of which packets here have the two bits of ECN, has `value` where `mask`
    /// has ones (tc's `ce_threshold_selector VALUE/MASK`).
    Field {
        /// Value of the masked bits.
        value: u8,
        /// The bits that count.
        mask: u8,
    },
}

impl CeThresholdFor {
    /// Packets with ECT(1) only, `ce_threshold_selector 0x1/0x3`
    /// ([RFC 9331](https://www.rfc-editor.org/rfc/rfc9331)).
    pub const ECT1: Self = Self::Field { value: 0b01, mask: 0b11 };

    /// Whether it applies to packets with `codepoint`.
    #[inline]
    pub fn applies_to(self, codepoint: Ecn) -> bool {
        match self {
            Self::Ect => codepoint.is_capable(),
            Self::Field { value, mask } => codepoint.is_capable() && codepoint.bits() & mask == value,
        }
    }
}

/// CoDel over one FIFO (Linux
/// [`net/sched/sch_codel.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_codel.c)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelConfig {
    /// The law.
    pub law: CodelParameters,
    /// Capacity for waiting packets.
    pub limit: Extent,
}

impl LawConfig for CodelConfig {
    type Queue = Single<Codel>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(Codel::new(self, line_rate), self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, codepoint: Ecn) -> Option<Extent> {
        self.law.marks_from(codepoint)
    }

    fn levels(&self) -> Vec<Level> {
        let target = Extent::Time(self.law.target);
        vec![Level::new("target", target), Level::new("limit", self.limit)]
    }
}
