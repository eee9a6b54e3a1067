//! A propagation delay that follows a schedule.

use shoal_scenario::{DelayChange, Link};
use shoal_units::{Span, Time};
use std::sync::Arc;

/// A propagation delay that changes.
pub(crate) struct MovingDelay {
    delay: Span,
    changes: Arc<[DelayChange]>,
    /// Position in `changes` of the next change.
    next: usize,
}

impl MovingDelay {
    pub(crate) fn new(link: &Link) -> Self {
        Self { delay: link.delay, changes: link.schedule.delay.clone(), next: 0 }
    }

    /// The delay changes as `changes` say, which differ from those before only later than for any packet so far.
    pub(crate) fn replan(&mut self, changes: Arc<[DelayChange]>) {
        self.changes = changes;
    }

    /// The delay of a packet that leaves the transmitter at `left`.
    pub(crate) fn at(&mut self, left: Time) -> Span {
        while let Some(change) = self.changes.get(self.next).filter(|change| change.at <= left) {
            self.delay = change.delay;
            self.next += 1;
        }
        self.delay
    }
}
