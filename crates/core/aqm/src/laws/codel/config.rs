//! The configuration of CoDel, and of its law wherever it is used.

use super::{Codel, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, Level, TcError};
use alloc::vec;
use alloc::vec::Vec;
use shoal_units::{ModelDoc, Rate, Span};

/// The parameters of the CoDel law (RFC 8289; Linux `struct codel_params`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelParameters {
    /// Sojourn time that may stand.
    pub target: Span,
    /// How long it must have been exceeded before the first drop; the scale of the gaps between drops.
    pub interval: Span,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
    /// Beyond this sojourn time ECT packets are marked, whatever the law says.
    pub ce_threshold: Option<Span>,
    /// Which packets `ce_threshold` is for.
    pub ce_threshold_for: CeThresholdFor,
    /// No signal while no more than this waits, bytes.
    pub mtu_bytes: u32,
}

/// Which packets a CoDel `ce_threshold` is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CeThresholdFor {
    /// All that are ECN-capable.
    Ect,
    /// Those with ECT(1) only (`ce_threshold_selector 1/3`, RFC 9331).
    Ect1,
}

/// CoDel over one FIFO (Linux `net/sched/sch_codel.c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelConfig {
    /// The law.
    pub law: CodelParameters,
    /// Waiting packets that fit.
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

    fn levels(&self) -> Vec<Level> {
        let target = Extent::Time(self.law.target);
        vec![Level::new("target", target), Level::new("limit", self.limit)]
    }
}
