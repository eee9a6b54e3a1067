//! Retransmission timeout and the Loss state (RFC 6298, <https://www.rfc-editor.org/rfc/rfc6298>; F-RTO, RFC 5682,
//! <https://www.rfc-editor.org/rfc/rfc5682>; Linux `tcp_enter_loss`, `tcp_process_loss`).

use super::acked::{Acked, Resend};
use super::{CaState, Call, LinuxSender, Moment};
use crate::sender::DUPLICATE_THRESHOLD;
use crate::{Output, Undo};
use shoal_cc::CongestionControl;
use shoal_units::Span;

/// Shortest wait before SACKs are discarded (Linux `tcp_check_sack_reneging`).
const RENEGING_WAIT_MIN: Span = Span::from_millis(10);
/// Wait after the host itself has refused what a timeout sends again (Linux `TCP_RESOURCE_PROBE_INTERVAL`).
const REFUSAL_WAIT: Span = Span::from_millis(500);
/// Most doublings of the retransmission timeout of data.
const BACKOFF_LIMIT: u8 = 16;

/// State of the timeouts in an episode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossEpisode {
    /// Whether F-RTO is still testing the timeout (Linux `frto`).
    frto: bool,
    /// Consecutive timeouts of the same data (Linux `icsk_retransmits`).
    timeouts: u8,
}

impl LossEpisode {
    /// Records a timeout. F-RTO tests it unless fast recovery was in progress, whose retransmissions make the
    /// evidence ambiguous (RFC 5682 section 3.1 step 1).
    fn begin(&mut self, frto: bool, in_recovery: bool) {
        self.frto = frto && (!in_recovery || self.timeouts > 0);
        self.timeouts = self.timeouts.saturating_add(1);
    }
    /// Records that new data were acknowledged.
    pub(super) fn note_progress(&mut self) {
        self.timeouts = 0;
    }
    /// Records that the timeout was not spurious.
    pub(super) fn end_frto(&mut self) {
        self.frto = false;
    }
}

impl LinuxSender {
    #[cold]
    pub(super) fn on_timeout(&mut self, call: &mut Call<'_, impl Output>) {
        if self.board.packets_out() == 0 {
            self.timers.stop_retransmission();
            return;
        }
        self.counters.timeouts += 1;
        self.enter_loss(call);
        if self.retransmit_segment(call, 0) {
            self.rtt.back_off(BACKOFF_LIMIT);
            self.arm_rto(call);
        } else {
            self.timers.start_retransmission(call.now + REFUSAL_WAIT, call.now);
        }
    }

    fn enter_loss(&mut self, at: &Moment<'_>) {
        let signal = self.signal(at);
        let in_recovery = self.state >= CaState::Recovery;
        let first_of_episode = self.state <= CaState::Disorder
            || self.snd_una >= self.high_seq
            || (self.state == CaState::Loss && self.loss.timeouts == 0);
        if first_of_episode {
            self.undo.remember(self.current_ssthresh());
        }
        if at.rules.undo == Undo::Linux32 {
            self.undo.begin_timeout_3_2(self.snd_una, self.board.holds_retransmissions());
        } else if first_of_episode {
            self.undo.begin(at.rules.undo, self.snd_una, self.board.retransmitted);
        }
        let spares_recent = at.rules.timeout_spares_recent;
        self.board.on_timeout(self.snd_una, at.now, spares_recent && at.config.sack);
        self.cc.on_rto(&mut self.window, &signal, !first_of_episode);
        let flight = if spares_recent { self.board.in_flight() } else { 0 };
        self.window.cwnd = (flight + 1) * self.window.quantum;
        self.window.cwnd_cnt = 0;
        if self.state <= CaState::Disorder && self.board.sacked >= DUPLICATE_THRESHOLD {
            self.degree.note_timeout();
        }
        self.loss.begin(at.rules.frto, in_recovery);
        self.high_seq = self.snd_nxt;
        self.connection.ecn.queue_cwr(&self.cc);
        self.begin_repair(at, CaState::Loss);
        self.note_timeout_in_samples(at);
    }

    /// Handles reneging: the peer acknowledged up to data that it had SACKed, but not these data
    /// ([RFC 2018, section 8](https://www.rfc-editor.org/rfc/rfc2018#section-8)). Linux 3.2 responds
    /// immediately; later kernels wait half an RTT for an ACK that explains it.
    #[cold]
    pub(super) fn on_reneging(&mut self, at: &Moment<'_>) -> Resend {
        if at.rules.undo == Undo::Linux32 {
            self.enter_loss(at);
            return Resend::Lost;
        }
        self.timers.stop_early();
        let wait = (self.rtt.srtt() / 2).max(RENEGING_WAIT_MIN);
        self.timers.start_retransmission(at.now + wait, at.now);
        Resend::Nothing
    }

    /// Handles an ACK in Loss.
    #[cold]
    pub(super) fn in_loss(&mut self, at: &Moment<'_>, acked: &mut Acked) -> Resend {
        if acked.delivery.acked_packets > 0 {
            self.loss.note_progress();
        }
        let recovered = self.snd_una >= self.high_seq;
        if acked.advanced && self.try_undo_loss(at, acked, false) {
            return Resend::Nothing;
        }
        if self.loss.frto {
            // RFC 5682 3.1 step 3 b: data never sent twice was delivered, so the timeout was spurious.
            if acked.delivery.original_delivered && self.try_undo_loss(at, acked, true) {
                return Resend::Nothing;
            }
            if self.snd_nxt > self.high_seq {
                if acked.delivery.newly_sacked || acked.duplicate {
                    self.loss.end_frto(); // Step 3 a: a duplicate after new data; the loss was real.
                }
            } else if acked.advanced && !recovered {
                // Step 2 b: try two new segments instead of retransmitting.
                self.high_seq = self.snd_nxt;
                return Resend::New;
            }
        }
        if recovered {
            if !self.try_undo_recovery(at, acked) {
                self.transition_to(CaState::Open, at.now);
            }
            return Resend::Nothing;
        }
        if !at.config.sack {
            if self.snd_nxt > self.high_seq && acked.duplicate {
                self.add_duplicate(at, acked);
            } else if acked.advanced {
                self.board.duplicates = 0;
            }
        }
        Resend::Lost
    }

    /// In Loss with RACK: retransmissions that are lost again are repeated without waiting for a timeout
    /// (Linux `FLAG_LOST_RETRANS`).
    pub(super) fn lost_again_in_loss(&mut self, at: &Moment<'_>) -> bool {
        self.state == CaState::Loss && Self::uses_rack(at) && self.detect_rack_losses(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_rto_doubts_a_timeout_unless_recovery_was_under_way() {
        for (frto, in_recovery, doubts) in [(true, false, true), (true, true, false), (false, false, false)] {
            let mut loss = LossEpisode::default();
            loss.begin(frto, in_recovery);
            assert_eq!((loss.frto, loss.timeouts), (doubts, 1));
        }
        // A second timeout of the same data: Loss is not fast recovery.
        let mut loss = LossEpisode::default();
        loss.begin(true, false);
        loss.end_frto();
        loss.begin(true, true);
        assert!(loss.frto);
        loss.note_progress();
        loss.begin(true, true);
        assert!(!loss.frto, "fast recovery, and something was acknowledged since the last timeout");
    }
}
