//! Marks and drops with a given probability, whatever waits: the open loop in which laws of congestion control are
//! stated.
//!
//! An arriving ECT packet is marked with probability p, another one dropped with probability q. Events are independent;
//! or evenly spaced, where a sum grows by p with each packet and every overflow of 1 is an event; or in bursts, where
//! everything is hit for a time t of each period t / p. Follows the steady-state laws of De Schepper et al. 2015 and,
//! for even gaps, Mathis et al. 1997 section 2 (<https://doi.org/10.1145/263932.264023>); where it departs is listed in
//! [`OpenLoopConfig::DOC`].

mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

use crate::shell::{Decision, Law, Single, Waiting};
use crate::{Extent, LawConfig, Reason, TcError};
use shoal_packet::{Ecn, Packet};
use shoal_units::{ModelDoc, Probability, Rate, Span, Stream, Time};

/// How forced marks and drops are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenLoopSpacing {
    /// Each packet is decided on independently.
    Independent,
    /// At gaps that differ by at most one packet.
    Even,
    /// All packets for a time, then none; the fraction of the time is the probability.
    Bursts {
        /// Time for which all packets are hit.
        on: Span,
    },
}

/// Marks and drops with given probabilities on arrival, whatever waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenLoopConfig {
    /// Probability that an ECT packet is marked.
    pub mark: Probability,
    /// Probability that any other packet is dropped.
    pub drop: Probability,
    /// How the events are spread, separately for each class.
    pub spacing: OpenLoopSpacing,
    /// Capacity for waiting packets.
    pub limit: Extent,
}

/// The decisions about both classes.
#[derive(Clone, Debug)]
pub struct OpenLoop {
    marks: Events,
    drops: Events,
}

/// The decisions about one class.
#[derive(Clone, Debug)]
enum Events {
    Independent(Probability),
    /// `sum`, a fraction of 2^32, is below 1; each packet adds the probability to it, and an overflow is an
    /// event.
    Even {
        probability: Probability,
        sum: u64,
    },
    /// All packets in the first `on` of each `period` are hit; none if the period is zero.
    Bursts {
        on: Span,
        period: Span,
    },
}

impl Events {
    fn new(probability: Probability, spacing: OpenLoopSpacing) -> Self {
        match spacing {
            OpenLoopSpacing::Independent => Self::Independent(probability),
            OpenLoopSpacing::Even => Self::Even { probability, sum: 0 },
            OpenLoopSpacing::Bursts { on } => {
                let period = u128::from(on.as_picos()) << 32;
                let period = period.checked_div(probability.as_q32().into()).unwrap_or(0);
                Self::Bursts { on, period: Span::from_picos(u64::try_from(period).unwrap_or(0)) }
            }
        }
    }

    #[inline]
    fn hits(&mut self, now: Time, random: &mut Stream) -> bool {
        match self {
            Self::Independent(probability) => probability.happens(random.uniform_u32()),
            Self::Even { probability, sum } => {
                *sum += probability.as_q32();
                let hit = *sum >= Probability::ONE.as_q32();
                *sum &= Probability::ONE.as_q32() - 1;
                hit
            }
            Self::Bursts { on, period } => {
                !period.is_zero() && now.as_picos() % period.as_picos() < on.as_picos()
            }
        }
    }
}

impl Law for OpenLoop {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, _: &Waiting, now: Time, random: &mut Stream) -> Decision {
        let events = if packet.ecn.is_capable() { &mut self.marks } else { &mut self.drops };
        if events.hits(now, random) { Decision::signal(packet, Reason::Early) } else { Decision::Pass }
    }
}

impl LawConfig for OpenLoopConfig {
    type Queue = Single<OpenLoop>;
    const DOC: ModelDoc = doc::DOC;

    fn build(&self, line_rate: Rate) -> Result<Self::Queue, TcError> {
        let events = |probability| Events::new(probability, self.spacing);
        let law = OpenLoop { marks: events(self.mark), drops: events(self.drop) };
        Ok(Single::new(law, self.limit, line_rate))
    }

    fn limit(&self) -> Extent {
        self.limit
    }

    fn marks_from(&self, _: Ecn) -> Option<Extent> {
        (self.mark != Probability::ZERO).then_some(super::ANY_BACKLOG)
    }
}
