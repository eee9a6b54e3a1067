//! Determines when the line behind a queue became idle.

use crate::Backlog;
use shoal_units::{Rate, Serialiser, Span, Time};

/// The time since which the transmitter has been idle, derived from the packets that left the queue.
///
/// A packet that leaves the queue occupies the line for its size at the line rate. Asking an empty queue proves that
/// the line is free and replaces the computed instant.
#[derive(Clone, Copy, Debug)]
pub struct Transmitter {
    serialiser: Serialiser,
    free: Time,
    confirmed: bool,
}

impl Transmitter {
    pub(crate) fn new(line_rate: Rate) -> Self {
        Self { serialiser: Serialiser::new(line_rate), free: Time::ZERO, confirmed: true }
    }

    /// A packet of `size` bytes left the queue at `now`.
    #[inline]
    pub(crate) fn on_departure(&mut self, size: u16, now: Time) {
        self.free = now.saturating_add(self.serialiser.span(u32::from(size)));
        self.confirmed = false;
    }

    /// The queue was asked for a packet at `now` and had none.
    #[inline]
    pub(crate) fn on_empty(&mut self, now: Time) {
        if !self.confirmed {
            self.free = now;
            self.confirmed = true;
        }
    }

    /// How long the line has been idle at `now`, not counting what was before `counted` (the last arrival, which
    /// restarts the clock even if it was dropped on an empty queue); `None` while it transmits or packets wait.
    ///
    /// A departure at `now` comes before an arrival at `now`, so the line may have been idle for no time at all.
    #[inline]
    pub(crate) fn idle_since(&self, counted: Time, backlog: Backlog, now: Time) -> Option<Span> {
        (backlog.packets == 0 && self.free <= now).then(|| now.since(self.free.max(counted)))
    }
}
