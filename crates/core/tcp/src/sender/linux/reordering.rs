//! Detection of losses by RACK, with an ACK and when the reordering window closes (RFC 8985 section 6.2 and
//! 6.3, <https://www.rfc-editor.org/rfc/rfc8985#section-6.2>; Linux
//! [`tcp_recovery.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_recovery.c)).

use super::reduction::Progress;
use super::{CaState, Call, LinuxSender, Moment};
use crate::sender::DUPLICATE_THRESHOLD;
use crate::{LossDetection, Output};
use shoal_units::Span;

/// Added to the reordering timer: two jiffies at HZ = 1000 (Linux `TCP_TIMEOUT_MIN_US`).
const REORDERING_TIMER_SLACK: Span = Span::from_millis(2);

impl LinuxSender {
    /// Whether RACK is used: it needs SACK.
    #[inline]
    pub(super) fn uses_rack(at: &Moment<'_>) -> bool {
        at.config.sack && at.rules.loss_detection == LossDetection::Rack
    }

    /// Detects losses if a segment was delivered. Returns whether a retransmission was found lost.
    #[cold]
    pub(super) fn detect_rack_losses(&mut self, at: &Moment<'_>) -> bool {
        if !self.board.rack.take_advance() {
            return false;
        }
        let retransmitted = self.board.retransmitted;
        self.scan_for_losses(at);
        self.board.retransmitted < retransmitted
    }

    /// A quarter of the smallest RTT; zero with the third SACK or in recovery if no reordering was seen.
    fn reordering_window(&self) -> Span {
        if self.state >= CaState::Recovery || self.board.sacked >= DUPLICATE_THRESHOLD {
            return Span::ZERO;
        }
        self.rtt.min() / 4
    }

    fn scan_for_losses(&mut self, at: &Moment<'_>) {
        let wake = self.board.mark_rack_lost(at.now, self.reordering_window());
        if let Some(wake) = wake {
            self.timers.start_reordering(wake + REORDERING_TIMER_SLACK);
        } else if !self.timers.early_is_probe() {
            self.timers.stop_early();
        }
    }

    /// Handles the end of the reordering window without the missing ACK (Linux `tcp_rack_reo_timeout`).
    #[cold]
    pub(super) fn on_reordering_timeout(&mut self, call: &mut Call<'_, impl Output>) {
        let prior_flight = self.board.in_flight();
        self.scan_for_losses(call);
        if self.board.in_flight() != prior_flight {
            if self.state != CaState::Recovery {
                self.begin_recovery(call, false);
                // The timer counts as one delivery; it does not advance.
                let progress =
                    Progress { delivered: 1, advanced_without_loss: false, first_retransmission: true };
                self.reduce_proportionally(call, progress);
            }
            self.retransmit_lost(call);
        }
        self.push(call);
    }
}
