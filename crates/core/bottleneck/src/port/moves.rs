//! Changes of a port that nobody has planned.

use super::{Head, Port};
use alloc::boxed::Box;
use shoal_units::{Rate, Span, Time};

/// What happens before the time of a change has been carried out, and nothing that happens at it. The port is not
/// closed.
impl<Near, Far> Port<Near, Far> {
    /// The rate of the link is another one for transmissions that begin at `at` or later, or the link is down if it is
    /// zero; no change that was planned happens any more. Returns false, without an effect, if the link has no
    /// transmitter with a rate.
    pub fn set_rate(&mut self, at: Time, rate: Rate) -> bool {
        let Head::Line(line) = &mut self.head else { return false };
        if line.opportunities.is_some() {
            return false;
        }
        line.transmission.set(at, rate);
        if self.hot.free == line.down_until && self.hot.free > at {
            // The transmitter waits for the end of an outage that may be another one now.
            self.hot.free = at;
        }
        line.waiting_span = None;
        line.await_next(&mut self.hot);
        true
    }

    /// The delay of the link is another one for packets whose last bit leaves the transmitter at `at` or later; no
    /// change that was planned happens any more.
    pub fn set_delay(&mut self, at: Time, delay: Span) {
        if let Some(course) = self.hot.wire.set_delay(self.course.as_deref_mut(), at, delay) {
            self.course = Some(Box::new(course));
            self.hot.has_course = true;
        }
    }
}
