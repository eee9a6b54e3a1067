//! Loss detection, fast retransmit and fast recovery (RFC 6675 as Linux has it; RFC 6582 without SACK; RFC 8985).

use super::ack::Acked;
use super::{CaState, Sender};
use crate::{EndpointConfig, LossDetection, Output, Recovery};
use shoal_cc::CongestionControl;
use shoal_units::{Span, Time};

/// Duplicate ACKs that mean a loss (RFC 5681 section 3.2; Linux `sysctl_tcp_reordering`).
const DUPLICATE_THRESHOLD: u32 = 3;

impl Sender {
    /// Linux `tcp_time_to_recover`.
    pub(super) fn is_time_to_recover(&self, config: &EndpointConfig) -> bool {
        if self.board.lost > 0 {
            return true;
        }
        if !config.sack {
            return self.reno_sacked + 1 > DUPLICATE_THRESHOLD;
        }
        if config.stack.loss_detection == LossDetection::Rack {
            return false; // RACK marks; a mark was seen above.
        }
        if self.board.forward_packets() > DUPLICATE_THRESHOLD {
            return true;
        }
        // A flight too small for three duplicates, nothing new to send: all but the head was delivered.
        let out = self.board.packets_out();
        out <= DUPLICATE_THRESHOLD
            && self.board.sacked >= (out / 2).max(DUPLICATE_THRESHOLD)
            && !(self.has_unsent() && self.flight() < self.window.cwnd)
    }

    /// RACK's verdict on every segment in flight (RFC 8985 section 6.2).
    pub(super) fn detect_rack_losses(&mut self, now: Time) {
        let window = if self.state >= CaState::Recovery || self.board.sacked >= DUPLICATE_THRESHOLD {
            Span::ZERO
        } else {
            self.rtt.min() / 4
        };
        let wake = self.board.mark_rack_lost(now, window);
        if wake != Time::NEVER {
            self.early_deadline = wake;
            self.early_is_probe = false;
        } else if !self.early_is_probe {
            self.early_deadline = Time::NEVER;
        }
    }

    /// The reordering window closed without the missing ACK (Linux `tcp_rack_reo_timeout`).
    pub(super) fn on_reordering_timeout(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        let prior_lost = self.board.lost;
        self.detect_rack_losses(now);
        if self.board.lost > prior_lost {
            if self.state < CaState::Recovery {
                self.begin_recovery(config, false, now);
            }
            // No ACK, so nothing newly delivered: PRR lets the first retransmission out.
            self.window.cwnd = self.window.cwnd.min(self.flight() + 1).max(1);
            self.retransmit_lost(config, now, out);
        }
        self.push(config, now, out);
    }

    /// Enters Recovery on this ACK and makes the first retransmission.
    pub(super) fn enter_recovery(&mut self, config: &EndpointConfig, acked: &Acked, now: Time, out: &mut impl Output) {
        self.begin_recovery(config, acked.ece, now);
        self.mark_losses(config, true);
        self.recover(config, acked, true, now, out);
    }

    fn begin_recovery(&mut self, config: &EndpointConfig, ece: bool, now: Time) {
        let signal = self.signal(config, now);
        let was_reducing = self.state >= CaState::Cwr;
        self.high_seq = self.snd_nxt;
        self.undo_ssthresh = 0;
        self.undo_marker = Some(self.snd_una);
        self.undo_retransmissions = self.board.retransmitted as i32;
        self.begin_prr();
        if was_reducing {
            self.cc.on_loss_in_cwr(&mut self.window, &signal);
        } else {
            if !ece {
                self.undo_ssthresh = self.current_ssthresh();
            }
            self.cc.on_loss(&mut self.window, &signal);
            self.queue_cwr();
        }
        self.window.cwnd_cnt = 0;
        self.controller_cuts = false;
        self.early_deadline = Time::NEVER;
        self.probe_end = None;
        self.counters.fast_recoveries += 1;
        self.transition_to(CaState::Recovery, now);
    }

    /// A further ACK in Recovery.
    pub(super) fn in_recovery(&mut self, config: &EndpointConfig, acked: &Acked, now: Time, out: &mut impl Output) {
        let mut look_for_losses = acked.duplicate
            || (acked.delivery.newly_sacked && self.board.forward_packets() > DUPLICATE_THRESHOLD);
        if acked.advanced {
            look_for_losses = self.try_undo_partial(config, acked);
        } else if !config.sack && acked.duplicate && self.reno_sacked + 1 < self.board.packets_out() {
            self.reno_sacked += 1;
        }
        if look_for_losses || config.stack.loss_detection == LossDetection::Rack {
            self.mark_losses(config, false);
            if config.stack.loss_detection == LossDetection::Rack && config.sack {
                self.detect_rack_losses(now);
            }
        }
        self.recover(config, acked, false, now, out);
    }

    /// Linux `tcp_update_scoreboard`.
    fn mark_losses(&mut self, config: &EndpointConfig, entering: bool) {
        if !config.sack {
            // NewReno: the head is lost, on entry and on every partial ACK (RFC 6582).
            self.board.mark_head_lost(1);
            return;
        }
        if config.stack.loss_detection == LossDetection::Fack {
            let beyond = self.board.forward_packets().saturating_sub(DUPLICATE_THRESHOLD);
            self.board.mark_head_lost(beyond.max(1));
            self.board.mark_lost_retransmissions(self.snd_una);
        } else if entering && self.board.lost == 0 {
            self.board.mark_head_lost(1);
        }
    }

    /// Window and retransmissions for one ACK in Recovery.
    fn recover(&mut self, config: &EndpointConfig, acked: &Acked, entering: bool, now: Time, out: &mut impl Output) {
        match config.stack.recovery {
            Recovery::Prr => self.reduce_proportionally(config, acked, entering),
            Recovery::RateHalving => {
                self.halve_rate(config, acked);
                if entering {
                    self.window.cwnd = self.window.cwnd.max(self.flight() + 1);
                }
            }
        }
        self.retransmit_lost(config, now, out);
    }
}
