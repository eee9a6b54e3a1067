//! RACK: a segment is lost if one sent later was delivered, after a reordering window (RFC 8985 section 6; Linux
//! `tcp_recovery.c`).

use super::scoreboard::{Scoreboard, Segment};
use super::{CaState, LinuxSender};
use crate::{EndpointConfig, Output};
use shoal_units::{Span, Time};

/// Added to the reordering timer: two jiffies at HZ = 1000 (Linux `TCP_TIMEOUT_MIN_US`).
const REORDERING_TIMER_SLACK: Span = Span::from_millis(2);

/// The latest transmission known to be delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    sent: Time,
    end: u64,
    /// RTT of the segment delivered last.
    rtt: Span,
    /// Smallest RTT of the connection, as told by the estimator.
    min_rtt: Span,
    /// Something was delivered since the queue was last looked at.
    advanced: bool,
}

impl Rack {
    /// A segment that was sent once is delivered.
    #[inline]
    pub(super) fn note_original(&mut self, segment: &Segment, now: Time) {
        self.advanced = true;
        self.rtt = now.since(segment.sent);
        if (segment.sent, segment.end()) > (self.sent, self.end) {
            self.sent = segment.sent;
            self.end = segment.end();
        }
    }

    /// Any segment is delivered. One that was retransmitted less than the smallest RTT ago says nothing: it was the
    /// original that arrived (RFC 8985 section 6.2 step 2).
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

    /// When `segment` has been missing for the last RTT and `window`.
    pub(super) fn due(&self, segment: &Segment, window: Span) -> Time {
        segment.sent + self.rtt + window
    }
}

impl Scoreboard {
    /// Marks segments that are due. Returns when the last of those that are not yet due will be, if there are some.
    fn mark_rack_lost(&mut self, now: Time, window: Span) -> Option<Time> {
        let mut wake = None;
        for index in 0..self.segments.len() {
            let segment = &self.segments[index];
            if segment.is_sacked() || (segment.is_lost() && !segment.is_retransmitted()) {
                continue;
            }
            if (segment.sent, segment.end()) >= (self.rack.sent, self.rack.end) {
                if !segment.was_ever_retransmitted() {
                    break; // Everything after it was sent later still.
                }
                continue;
            }
            let due = self.rack.due(segment, window);
            if due > now {
                wake = wake.max(Some(due));
            } else {
                self.mark_lost(index);
            }
        }
        wake
    }
}

impl LinuxSender {
    /// Looks for losses if something was delivered. Returns whether a retransmission was found lost.
    #[cold]
    pub(super) fn detect_rack_losses(&mut self, now: Time) -> bool {
        if !self.board.rack.advanced {
            return false;
        }
        self.board.rack.advanced = false;
        let retransmitted = self.board.retransmitted;
        self.scan_for_losses(now);
        self.board.retransmitted < retransmitted
    }

    /// A quarter of the smallest RTT; none with the third SACK or in recovery (no reordering was seen).
    fn reordering_window(&self) -> Span {
        if self.state >= CaState::Recovery || self.board.sacked >= super::fast_recovery::DUPLICATE_THRESHOLD {
            return Span::ZERO;
        }
        self.rtt.min() / 4
    }

    fn scan_for_losses(&mut self, now: Time) {
        let wake = self.board.mark_rack_lost(now, self.reordering_window());
        if let Some(wake) = wake {
            self.early_deadline = wake + REORDERING_TIMER_SLACK;
            self.early_is_probe = false;
        } else if !self.early_is_probe {
            self.early_deadline = Time::NEVER;
        }
    }

    /// The reordering window closed without the missing ACK (Linux `tcp_rack_reo_timeout`).
    #[cold]
    pub(super) fn on_reordering_timeout(
        &mut self,
        config: &EndpointConfig,
        now: Time,
        out: &mut impl Output,
    ) {
        let prior_flight = self.flight();
        let prior_losses = self.board.losses;
        self.scan_for_losses(now);
        if self.flight() != prior_flight {
            if self.state != CaState::Recovery {
                self.begin_recovery(config, false, now);
                self.reduce_proportionally(config, 1, self.board.losses > prior_losses, false, true);
            }
            self.retransmit_lost(config, now, out);
        }
        self.push(config, now, out);
    }
}
