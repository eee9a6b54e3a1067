//! The configuration of PI2.

use super::{Pi2, doc};
use crate::shell::Single;
use crate::{Extent, LawConfig, TcError};
use shoal_packet::Ecn;
use shoal_units::{ModelDoc, Rate, Span};

/// How PI2 determines the queueing time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelayEstimate {
    /// The backlog over the measured departure rate, as PIE does.
    Rate,
    /// The time for which the oldest packet has waited.
    Sojourn,
}

/// PI2 with the parameters of the sch_pi2 module.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pi2Config {
    /// Queueing time that the controller aims at.
    pub target: Span,
    /// Time between updates of the probability.
    pub tupdate: Span,
    /// Integral gain in 1/16 Hz, for the probability of a scalable mark.
    pub alpha_16th_hz: u32,
    /// Proportional gain in 1/16 Hz, for the probability of a scalable mark.
    pub beta_16th_hz: u32,
    /// k: packets that are not scalable are dropped or marked with (p/k)^2. Not zero.
    pub coupling: u32,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
    /// With `ecn`: packets with one of these bits in their ECN field are scalable and marked with p.
    pub scalable_mask: u8,
    /// How the queueing time is determined.
    pub estimate: DelayEstimate,
    /// MTU of the link in bytes: with less than two of them waiting, no decision is taken.
    pub mtu: u32,
    /// Capacity for waiting packets.
    pub limit: Extent,
}

impl LawConfig for Pi2Config {
    type Queue = Single<Pi2>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        Ok(Single::new(Pi2::new(self), self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        self.ecn.then_some(crate::laws::ANY_BACKLOG)
    }
}
