//! Retransmission timeout and the Loss state (RFC 6298, RFC 5682; Linux `tcp_enter_loss`, `tcp_process_loss`).

use super::ack::{Acked, Resend};
use super::{CaState, LinuxSender};
use crate::{EndpointConfig, LossDetection, Output, Undo};
use shoal_cc::CongestionControl;
use shoal_units::{Span, Time};

/// Shortest wait before SACKs are disbelieved (Linux `tcp_check_sack_reneging`).
const RENEGING_WAIT_MIN: Span = Span::from_millis(10);

impl LinuxSender {
    #[cold]
    pub(super) fn on_timeout(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if self.board.packets_out() == 0 {
            self.rto_deadline = Time::NEVER;
            return;
        }
        self.counters.timeouts += 1;
        self.enter_loss(config, now);
        self.retransmit_segment(config, 0, now, out);
        self.backoff = (self.backoff + 1).min(16);
        self.arm_rto(config, now);
    }

    fn enter_loss(&mut self, config: &EndpointConfig, now: Time) {
        let signal = self.signal(config, now);
        let stack = &config.stack;
        let new_recovery = self.state < CaState::Recovery;
        let first_of_episode = self.state <= CaState::Disorder
            || self.snd_una >= self.high_seq
            || (self.state == CaState::Loss && self.timeouts_in_row == 0);
        if first_of_episode {
            self.undo_ssthresh = self.current_ssthresh();
        }
        if stack.undo == Undo::Linux32 {
            self.undo_marker = (!self.board.holds_retransmissions()).then_some(self.snd_una);
            self.undo_retransmissions = 0;
        } else if first_of_episode {
            self.begin_undo(config);
        }
        self.board.mark_all_lost(self.snd_una, now, stack.timeout_spares_recent && config.sack);
        self.reno_sacked = 0;
        self.last_sacks = [(0, 0); 3];
        self.cc.on_rto(&mut self.window, &signal, !first_of_episode);
        let flight = if stack.timeout_spares_recent { self.board.in_flight() } else { 0 };
        self.window.cwnd = (flight + 1) * self.window.quantum;
        self.window.cwnd_cnt = 0;
        self.cwnd_stamp = now;
        // Not when fast recovery was under way: its retransmissions make the evidence ambiguous (RFC 5682 3.1 step 1).
        self.frto = stack.frto && (new_recovery || self.timeouts_in_row > 0);
        self.timeouts_in_row = self.timeouts_in_row.saturating_add(1);
        self.high_seq = self.snd_nxt;
        self.controller_cuts = false;
        self.early_deadline = Time::NEVER;
        self.probe_end = None;
        self.queue_cwr();
        self.transition_to(CaState::Loss, now);
    }

    /// The peer acknowledged up to data that it had SACKed, but not that data (RFC 2018 section 8). Linux 3.2 acts at once;
    /// later kernels wait half an RTT for an ACK that explains it.
    #[cold]
    pub(super) fn on_reneging(&mut self, config: &EndpointConfig, now: Time) -> Resend {
        if config.stack.undo == Undo::Linux32 {
            self.enter_loss(config, now);
            return Resend::Lost;
        }
        self.rto_deadline = now + (self.rtt.srtt() / 2).max(RENEGING_WAIT_MIN);
        Resend::Nothing
    }

    /// An ACK in Loss.
    #[cold]
    pub(super) fn in_loss(&mut self, config: &EndpointConfig, acked: &mut Acked, now: Time) -> Resend {
        if acked.delivery.acked_packets > 0 {
            self.timeouts_in_row = 0;
        }
        let recovered = self.snd_una >= self.high_seq;
        if acked.advanced && self.try_undo_loss(config, acked, false, now) {
            return Resend::Nothing;
        }
        if self.frto {
            // RFC 5682 3.1 step 3 b: data never sent twice was delivered, so the timeout was spurious.
            if acked.delivery.original_delivered && self.try_undo_loss(config, acked, true, now) {
                return Resend::Nothing;
            }
            if self.snd_nxt > self.high_seq {
                if acked.delivery.newly_sacked || acked.duplicate {
                    self.frto = false; // Step 3 a: a duplicate after new data; the loss was real.
                }
            } else if acked.advanced && !recovered {
                // Step 2 b: try two new segments instead of retransmitting.
                self.high_seq = self.snd_nxt;
                return Resend::New;
            }
        }
        if recovered {
            if !self.try_undo_recovery(config, acked, now) {
                self.transition_to(CaState::Open, now);
            }
            return Resend::Nothing;
        }
        if !config.sack {
            if self.snd_nxt > self.high_seq && acked.duplicate {
                self.add_reno_sack(config, acked);
            } else if acked.advanced {
                self.reno_sacked = 0;
            }
        }
        Resend::Lost
    }

    /// In Loss with RACK: retransmissions that were lost again end the wait for a timeout (Linux `FLAG_LOST_RETRANS`).
    pub(super) fn lost_again_in_loss(&mut self, config: &EndpointConfig, now: Time) -> bool {
        config.sack
            && self.state == CaState::Loss
            && config.stack.loss_detection == LossDetection::Rack
            && self.detect_rack_losses(now)
    }
}
