//! The configuration of PIE.

use super::{Pie, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, Level, TcError};
use alloc::vec;
use alloc::vec::Vec;
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate, Span};

/// Proportional integral controller enhanced ([RFC 8033](https://www.rfc-editor.org/rfc/rfc8033); Linux
/// [`net/sched/sch_pie.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_pie.c)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PieConfig {
    /// Target of the queueing delay.
    pub target: Span,
    /// Time between updates of the probability.
    pub tupdate: Span,
    /// Gain on the distance from the target, in 1/16 Hz as tc writes it.
    pub alpha: u32,
    /// Gain on the growth of the delay, in 1/16 Hz.
    pub beta: u32,
    /// Mark ECT packets instead of dropping them while the probability is low.
    pub ecn: bool,
    /// The highest probability with which they are marked, in percent: 10 in the kernel, whose code has the number
    /// itself (`pie_qdisc_enqueue`); [RFC 8033 section 5.1](https://www.rfc-editor.org/rfc/rfc8033#section-5.1) has a
    /// threshold with this default.
    pub ecn_threshold_percent: u8,
    /// Scale the probability with the size of the packet.
    pub bytemode: bool,
    /// Measure the delay as backlog over departure rate instead of by the last packet's own wait.
    pub dq_rate_estimator: bool,
    /// Backlog in bytes: below twice this much there is no early drop.
    pub mtu_bytes: u32,
    /// Capacity for waiting packets.
    pub limit: Extent,
}

impl LawConfig for PieConfig {
    type Queue = Single<Pie>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(Pie::new(self), self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        self.ecn.then_some(crate::laws::ANY_BACKLOG)
    }

    fn levels(&self) -> Vec<Level> {
        let target = Extent::Time(self.target);
        vec![Level::new("target", target), Level::new("limit", self.limit)]
    }
}
