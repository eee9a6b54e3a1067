//! The configuration of the coupled dual queue.

use super::{DualCoupled, doc};
use crate::shell::{Bound, Dual, Lanes};
use crate::{CoupledSlope, DecideAt, Extent, LawConfig, Level, ProtectionConfig, SchedulerConfig, TcError};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate};

/// Which queue is Q, the input of both probabilities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CouplingInput {
    /// The classic queue.
    Classic,
    /// The two queues: their size in total, or the longer of their times.
    Total,
}

/// A low-latency queue for ECT packets and a classic one for the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualCoupledConfig {
    /// The probabilities.
    pub slope: CoupledSlope,
    /// Which queue drives them.
    pub input: CouplingInput,
    /// T: a packet that finds more than this in the low-latency queue, itself included, is marked.
    pub threshold: Extent,
    /// When decisions are taken. A time is then the wait so far: on arrival that of the classic queue's oldest packet,
    /// on departure the leaving packet's own.
    pub decide: DecideAt,
    /// The scheduler.
    pub scheduler: SchedulerConfig,
    /// The link's MTU in bytes, for the scheduler.
    pub mtu: u32,
    /// Queue protection, if there is one.
    pub protection: Option<ProtectionConfig>,
    /// Waiting packets that fit into both queues together.
    pub limit: Extent,
}

impl LawConfig for DualCoupledConfig {
    type Queue = Box<Dual<DualCoupled>>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        let limit = Bound::new(self.limit, line_rate);
        let lanes = Lanes::new(limit, self.scheduler, self.mtu, line_rate);
        let law = DualCoupled::new(self, line_rate);
        Ok(Box::new(Dual::new(law, lanes).protected(self.protection.as_ref(), line_rate)))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        Some(crate::laws::ANY_BACKLOG)
    }

    fn has_protection(&self) -> bool {
        self.protection.is_some()
    }

    fn levels(&self) -> Vec<Level> {
        vec![Level::new("T", self.threshold), Level::new("limit", self.limit)]
    }
}
