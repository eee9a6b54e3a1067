//! RACK: a segment is lost if one sent later was delivered, after a reordering window
//! ([RFC 8985, section 6](https://www.rfc-editor.org/rfc/rfc8985#section-6); Linux
//! [`tcp_recovery.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_recovery.c)).

use super::segment::Segment;
use shoal_units::{Span, Time};

/// The latest transmission that is known to be delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rack {
    sent: Time,
    end: u64,
    /// RTT of the segment delivered last.
    rtt: Span,
    /// Smallest RTT of the connection, from the estimator.
    min_rtt: Span,
    /// Whether a segment was delivered since the queue was last examined.
    advanced: bool,
}

impl Rack {
    /// Records the delivery of a segment that was sent once.
    #[inline]
    pub(super) fn note_original(&mut self, segment: &Segment, now: Time) {
        self.advanced = true;
        self.rtt = now.since(segment.sent);
        if (segment.sent, segment.end()) > (self.sent, self.end) {
            self.sent = segment.sent;
            self.end = segment.end();
        }
    }

    /// Records the delivery of any segment. One that was retransmitted less than the smallest RTT ago is
    /// ignored, because the original arrived (RFC 8985 section 6.2 step 2).
    pub(super) fn note_delivered(&mut self, segment: &Segment, now: Time) {
        if !(segment.was_ever_retransmitted() && now.since(segment.sent) < self.min_rtt) {
            self.note_original(segment, now);
        }
    }

    #[inline]
    pub(super) fn set_min_rtt(&mut self, min_rtt: Span) {
        self.min_rtt = min_rtt;
    }
    pub(super) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// Whether a segment was delivered since the last call, so that the queue should be examined.
    pub(super) fn take_advance(&mut self) -> bool {
        core::mem::take(&mut self.advanced)
    }
    /// Whether `segment` was sent before the latest transmission known to be delivered.
    #[inline]
    pub(super) fn overtook(&self, segment: &Segment) -> bool {
        (segment.sent, segment.end()) < (self.sent, self.end)
    }

    /// When `segment` has been missing for the last RTT and `window`.
    pub(super) fn due(&self, segment: &Segment, window: Span) -> Time {
        segment.sent + self.rtt + window
    }
}
