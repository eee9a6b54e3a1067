//! A propagation delay that follows a schedule.

use crate::LinkConfig;
use alloc::sync::Arc;
use shoal_units::{Span, Time};

/// The propagation delay of a link from some time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayChange {
    /// When the delay changes, for packets that leave the transmitter then or later.
    pub at: Time,
    /// The new delay.
    pub delay: Span,
}

/// A propagation delay that changes.
pub(crate) struct MovingDelay {
    delay: Span,
    changes: Arc<[DelayChange]>,
    /// Position in `changes` of the next change.
    next: usize,
}

impl MovingDelay {
    pub(crate) fn new(link: &LinkConfig) -> Self {
        Self { delay: link.delay, changes: link.delay_changes.clone(), next: 0 }
    }

    /// A delay that is only changed by [`Self::set`].
    pub(crate) fn constant(delay: Span) -> Self {
        Self { delay, changes: Arc::default(), next: 0 }
    }

    /// For packets that leave the transmitter at `at` or later the delay is `delay`, and never changes again.
    pub(crate) fn set(&mut self, at: Time, delay: Span) {
        if let Some(before) = at.as_picos().checked_sub(1) {
            self.at(Time::from_picos(before));
        }
        *self = Self { delay: self.delay, changes: [DelayChange { at, delay }].into(), next: 0 };
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
