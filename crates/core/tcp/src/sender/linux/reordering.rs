//! Detection of losses by RACK, with an ACK and when the reordering window closes (RFC 8985 section 6.2 and
//! 6.3, <https://www.rfc-editor.org/rfc/rfc8985#section-6.2>; Linux
//! [`tcp_recovery.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_recovery.c)).

use super::reduction::Progress;
use super::segment::Delivery;
use super::timers::TIMEOUT_MIN;
use super::{CaState, Call, LinuxSender, Moment};
use crate::{LossDetection, Output};
use shoal_units::{JIFFY, Span};

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

    /// Time to wait for packets that others overtook: none with the third SACK or in recovery, as long as no reordering
    /// was seen.
    fn reordering_window(&self) -> Span {
        let is_proof = self.state >= CaState::Recovery || self.board.sacked >= self.degree.packets();
        if is_proof && !self.degree.was_seen() {
            return Span::ZERO;
        }
        self.degree.window(self.rtt.min(), self.rtt.srtt())
    }

    /// A segment from `start` that was sent once is delivered; data beyond it were delivered before (Linux
    /// `tcp_check_sack_reordering`). Only the kernels with RACK learn from it here.
    #[cold]
    pub(super) fn note_overtaken(&mut self, at: &Moment<'_>, start: u64) {
        let highest = self.board.highest_sacked_or(self.snd_una);
        if start < highest && at.rules.loss_detection == LossDetection::Rack {
            self.degree.note_overtaken(highest - start, at.mss);
        }
    }

    /// An ACK that delivers something may widen or narrow the time to wait (Linux `tcp_rack_update_reo_wnd`).
    #[cold]
    #[inline(never)]
    pub(super) fn adjust_degree(&mut self, at: &Moment<'_>, delivery: &Delivery) {
        if let Some(newest) = delivery.newest_sent() {
            self.degree.adjust(newest, at.now);
        }
    }

    /// Without SACK: more duplicate ACKs came than packets can be missing, when `acked` packets more were out (Linux
    /// `tcp_check_reno_reordering`).
    #[cold]
    pub(super) fn note_surplus(&mut self, at: &Moment<'_>, acked: u32) {
        if at.rules.loss_detection == LossDetection::Rack {
            self.degree.note_surplus(self.board.packets_out() + acked);
        }
    }

    fn scan_for_losses(&mut self, at: &Moment<'_>) {
        let wake = self.board.mark_rack_lost(at.now, self.reordering_window());
        if let Some(wake) = wake {
            self.timers.start_reordering(wake + TIMEOUT_MIN, at.now);
        } else if self.timers.stop_reordering() {
            self.resume_rto(at);
        }
    }

    /// The retransmission timeout, in the place of which a probe or the reordering window was waited for, counts from
    /// when the head was sent, with the RTT that is known now (Linux `tcp_rearm_rto`).
    #[cold]
    #[inline(never)]
    pub(super) fn resume_rto(&mut self, at: &Moment<'_>) {
        if self.board.packets_out() > 0
            && let Some(head) = self.board.head()
        {
            let due = head.sent + self.rtt.timeout_in_jiffies(&at.config.stack);
            self.timers.start_retransmission(due.max(at.now + JIFFY), at.now);
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
                if self.rates.is_none() {
                    self.reduce_proportionally(call, progress);
                }
            }
            self.note_losses_in_samples(call);
            self.retransmit_lost(call);
        }
        self.push(call);
        if !self.timers.early_is_armed() {
            self.resume_rto(call);
        }
    }
}
