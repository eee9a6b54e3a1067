//! Undoing reductions that turn out spurious: Eifel detection by timestamps (RFC 3522), D-SACK (RFC 3708), F-RTO
//! (RFC 5682); Linux `tcp_may_undo` and friends.

use super::ack::Acked;
use super::{CaState, Sender};
use crate::EndpointConfig;
use shoal_cc::CongestionControl;
use shoal_units::Time;

impl Sender {
    /// Every retransmission of the episode was unnecessary: all explained by D-SACK, or the ACK echoes a timestamp
    /// older than the first of them.
    ///
    /// Only an ACK that advances proves anything by its timestamp (RFC 3522 section 3.2): a duplicate echoes an old one.
    fn may_undo(&self, config: &EndpointConfig, acked: &Acked) -> bool {
        let delayed = acked.advanced
            && (self.retransmit_stamp == 0
                || (acked.ts_ecr != 0 && (acked.ts_ecr.wrapping_sub(self.retransmit_stamp) as i32) < 0));
        config.stack.undo && self.undo_marker.is_some() && (self.undo_retransmissions == 0 || delayed)
    }

    /// Linux `tcp_undo_cwr`.
    fn undo_reduction(&mut self, restore_ssthresh: bool) {
        if self.undo_ssthresh == 0 {
            self.window.cwnd = self.window.cwnd.max(self.window.ssthresh);
            return;
        }
        self.window.cwnd = self.cc.undo_cwnd(&self.window);
        if restore_ssthresh && self.undo_ssthresh > self.window.ssthresh {
            self.window.ssthresh = self.undo_ssthresh;
            self.cwr_pending = false;
        }
    }

    fn note_undo(&mut self) {
        self.undo_marker = None;
        self.counters.undos += 1;
    }

    /// At the end of Recovery or Loss. Returns true if the state must be held (connections without SACK, RFC 6582 3.2
    /// step 4: wait for something above the recovery point).
    pub(super) fn try_undo_recovery(&mut self, config: &EndpointConfig, acked: &Acked, now: Time) -> bool {
        if self.may_undo(config, acked) {
            self.undo_reduction(true);
            self.note_undo();
        }
        if self.snd_una == self.high_seq && !config.sack {
            self.moderate_cwnd();
            return true;
        }
        if self.undo_marker.is_none() {
            // Undone: the window is already right, and `complete_reduction` must not touch it.
            self.transition_to(CaState::Open, now);
        }
        false
    }

    /// On a partial ACK in Recovery. Returns whether losses should be looked for.
    pub(super) fn try_undo_partial(&mut self, config: &EndpointConfig, acked: &Acked) -> bool {
        let failed = !config.sack || self.board.forward_packets() > 3;
        if self.may_undo(config, acked) {
            self.undo_reduction(false);
            self.counters.undos += 1;
            return false;
        }
        failed
    }

    /// All retransmissions were reported as duplicates.
    pub(super) fn try_undo_dsack(&mut self, config: &EndpointConfig) {
        if config.stack.undo && self.undo_marker.is_some() && self.undo_retransmissions == 0 {
            self.undo_reduction(true);
            self.note_undo();
        }
    }

    /// In Loss, with proof (F-RTO) or by timestamps. Returns whether it was undone.
    pub(super) fn try_undo_loss(&mut self, config: &EndpointConfig, acked: &Acked, proven: bool, now: Time) -> bool {
        if !(config.stack.undo && (proven || self.may_undo(config, acked))) {
            return false;
        }
        self.board.forget_losses();
        self.undo_reduction(true);
        self.timeouts_in_row = 0;
        self.note_undo();
        if proven || config.sack {
            self.transition_to(CaState::Open, now);
        }
        true
    }
}
