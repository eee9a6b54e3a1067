//! What a link cannot be.

use crate::{Bottleneck, LinkConfig};
use core::fmt;
use shoal_aqm::{AnyQueue, QueueConfig, TcError};
use shoal_units::{Span, Time};

/// Why a link cannot be configured or changed so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkError {
    /// The link has no rate that could change: it is a pure delay, or sends at opportunities.
    NoRate,
    /// The rate is zero from the beginning; outages are changes of the rate.
    ZeroRate,
    /// A delay is beyond [`Bottleneck::LAST`].
    LongDelay,
    /// Changes of the rate or of the delay are not in the order of their times.
    Order,
    /// The link sends at opportunities, and its queue has classes whose rate is limited: which packets share an
    /// opportunity is not defined then.
    ShapedOpportunities,
    /// `tc` refuses the parameters of the queue.
    Queue(TcError),
    /// The law of the queue is another one, or takes no parameters once it has begun.
    FixedLaw,
}

impl LinkError {
    pub(crate) fn of_delay(delay: Span) -> Result<(), Self> {
        if Time::ZERO + delay > Bottleneck::LAST { Err(Self::LongDelay) } else { Ok(()) }
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRate => {
                "the link has no rate that could change: it is a pure delay or sends at opportunities"
            }
            Self::ZeroRate => {
                "the rate of the link is zero from the beginning; make an outage a change of the rate"
            }
            Self::LongDelay => "a propagation delay is beyond 2^62 ps (53 days)",
            Self::Order => "changes of the rate or of the delay are not in the order of their times",
            Self::ShapedOpportunities => {
                "a queue whose classes have a limited rate stands before a link that sends at opportunities; \
                 leave one of both out"
            }
            Self::Queue(error) => return write!(f, "the queue: {error}"),
            Self::FixedLaw => "the law of the queue is another one, or takes no parameters once it has begun",
        })
    }
}

impl core::error::Error for LinkError {}

impl LinkConfig {
    /// Whether there can be such a link.
    ///
    /// # Errors
    /// If there cannot.
    pub fn check(&self) -> Result<(), LinkError> {
        LinkError::of_delay(self.delay)?;
        self.delay_changes.iter().try_for_each(|change| LinkError::of_delay(change.delay))?;
        if !self.rate_changes.is_sorted_by_key(|change| change.at)
            || !self.delay_changes.is_sorted_by_key(|change| change.at)
        {
            return Err(LinkError::Order);
        }
        let Some(rate) = self.rate else { return Ok(()) };
        if rate.as_bps() == 0 {
            return Err(LinkError::ZeroRate);
        }
        let is_shaped = matches!(&self.queue, QueueConfig::Classes(classes)
            if classes.queues.iter().any(|class| class.shaper.is_some()));
        if is_shaped && self.opportunities.is_some() {
            return Err(LinkError::ShapedOpportunities);
        }
        AnyQueue::try_new(&self.queue, rate).map(drop).map_err(LinkError::Queue)
    }
}
