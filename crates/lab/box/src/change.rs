//! What may change while a box runs.

use crate::Direction;
use shoal_aqm::QueueConfig;
use shoal_bottleneck::LinkError;
use shoal_units::{Rate, Span, Time};

/// Position of the way through the bottleneck.
pub(crate) const THERE: usize = 0;
/// Position of the way back.
pub(crate) const BACK: usize = 1;

/// A change of a box that runs.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// The bottleneck has this rate, and changes that its scenario plans for later do not happen any more.
    Rate(Rate),
    /// The law of the bottleneck's queue has these parameters; see
    /// [`Bottleneck::set_law`](shoal_bottleneck::Bottleneck::set_law).
    Law(Box<QueueConfig>),
    /// What comes back waits so long.
    DelayBack(Span),
}

impl Change {
    /// Carries it out.
    ///
    /// # Errors
    /// [`LinkError`], and the ways are as before.
    pub fn apply(&self, now: Time, ways: &mut [Direction; 2]) -> Result<(), LinkError> {
        match self {
            Self::Rate(rate) => ways[THERE].link_mut().set_rate(now, *rate),
            Self::Law(law) => ways[THERE].link_mut().set_law(now, law),
            Self::DelayBack(delay) => ways[BACK].link_mut().set_delay(now, *delay),
        }
    }
}
