//! Retransmission timeout and the Loss state (RFC 6298, RFC 5682; Linux `tcp_enter_loss`, `tcp_process_loss`).

use super::ack::Acked;
use super::{CaState, Sender};
use crate::{EndpointConfig, Output};
use shoal_cc::CongestionControl;
use shoal_units::Time;

impl Sender {
    pub(super) fn on_timeout(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if self.board.packets_out() == 0 {
            self.rto_deadline = Time::NEVER;
            return;
        }
        self.enter_loss(config, now);
        self.retransmit_segment(config, 0, now, out);
        self.timeouts_in_row = self.timeouts_in_row.saturating_add(1);
        self.backoff = (self.backoff + 1).min(16);
        self.arm_rto(config, now);
    }

    fn enter_loss(&mut self, config: &EndpointConfig, now: Time) {
        let signal = self.signal(config, now);
        let first_of_episode = self.state <= CaState::Disorder
            || self.snd_una >= self.high_seq
            || (self.state == CaState::Loss && self.timeouts_in_row == 0);
        if first_of_episode {
            self.undo_ssthresh = self.current_ssthresh();
        }
        self.cc.on_rto(&mut self.window, &signal, !first_of_episode);
        self.window.cwnd = self.window.quantum;
        self.window.cwnd_cnt = 0;
        self.undo_marker = Some(self.snd_una);
        self.undo_retransmissions = 0;
        self.retransmit_stamp = 0;
        // Not when fast recovery was under way: its retransmissions make the evidence ambiguous (RFC 5682 3.1 step 1).
        self.frto = config.stack.frto && (self.state < CaState::Recovery || self.timeouts_in_row > 0);
        self.board.mark_all_lost(self.snd_una);
        self.reno_sacked = 0;
        self.last_sacks = [(0, 0); 3];
        self.high_seq = self.snd_nxt;
        self.controller_cuts = false;
        self.early_deadline = Time::NEVER;
        self.probe_end = None;
        self.queue_cwr();
        self.counters.timeouts += 1;
        self.transition_to(CaState::Loss, now);
    }

    /// An ACK in Loss.
    pub(super) fn in_loss(&mut self, config: &EndpointConfig, acked: &Acked, now: Time, out: &mut impl Output) {
        if acked.delivery.acked_packets > 0 {
            self.timeouts_in_row = 0;
        }
        let recovered = self.snd_una >= self.high_seq;
        if self.frto {
            // RFC 5682 3.1 step 3 b: data never sent twice was delivered, so the timeout was spurious.
            if acked.delivery.original_delivered && self.try_undo_loss(config, acked, true, now) {
                return;
            }
            let beyond = self.snd_nxt > self.high_seq;
            if beyond && (acked.delivery.newly_sacked || acked.duplicate) {
                self.frto = false; // Step 3 a: a duplicate after new data; the loss was real.
            } else if acked.advanced && !recovered {
                // Step 2 b: try two new segments instead of retransmitting.
                self.high_seq = self.snd_nxt;
                self.push(config, now, out);
                if self.snd_nxt > self.high_seq {
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            if !self.try_undo_recovery(config, acked, now) {
                self.transition_to(CaState::Open, now);
            }
            return;
        }
        if self.try_undo_loss(config, acked, false, now) {
            return;
        }
        if config.stack.moderates_bursts {
            self.moderate_cwnd();
        }
        self.retransmit_lost(config, now, out);
    }
}
