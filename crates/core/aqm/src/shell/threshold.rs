//! A fixed threshold, compared on arrival or departure.

use super::Bound;
use crate::{Backlog, DecideAt, Extent};
use shoal_units::{Rate, Span};

/// A threshold in both interpretations of an [`Extent`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threshold {
    queue: Bound,
    sojourn: Option<Span>,
}

impl Threshold {
    /// A time is a queue length on arrival, when the wait is not yet known, and the packet's own wait on departure.
    pub(crate) fn new(extent: Extent, decide: DecideAt, line_rate: Rate) -> Self {
        match (extent, decide) {
            (Extent::Time(span), DecideAt::Dequeue) => {
                Self { queue: Bound::new(Extent::Unlimited, line_rate), sojourn: Some(span) }
            }
            _ => Self { queue: Bound::new(extent, line_rate), sojourn: None },
        }
    }

    /// On arrival: whether a queue of `backlog` exceeds the threshold.
    #[inline]
    pub(crate) fn is_exceeded_by_queue(self, backlog: Backlog) -> bool {
        self.queue.is_exceeded_by(backlog)
    }

    /// On departure: whether a queue of `backlog`, or the wait of a packet, exceeds the threshold.
    #[inline]
    pub(crate) fn is_exceeded_by(self, backlog: Backlog, waited: Span) -> bool {
        self.queue.is_exceeded_by(backlog) || self.sojourn.is_some_and(|limit| waited > limit)
    }
}
