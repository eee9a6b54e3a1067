//! Undoing reductions that turn out spurious: Eifel detection by timestamps (RFC 3522), D-SACK (RFC 3708), F-RTO
//! (RFC 5682); Linux `tcp_may_undo` and friends.

use super::ack::Acked;
use super::{CaState, LinuxSender};
use crate::{BurstLimit, EndpointConfig, Undo};
use shoal_cc::CongestionControl;
use shoal_units::Time;

impl LinuxSender {
    /// From here on retransmissions are counted, so that D-SACKs can explain them (Linux `tcp_init_undo`). Negative:
    /// nothing was retransmitted yet, which is not the same as everything being explained.
    pub(super) fn begin_undo(&mut self, config: &EndpointConfig) {
        self.undo_marker = Some(self.snd_una);
        let out = self.board.retransmitted as i32;
        self.undo_retransmissions = if out == 0 && config.stack.undo != Undo::Linux32 { -1 } else { out };
    }

    /// The ACK echoes a timestamp older than the first retransmission, or nothing was retransmitted.
    ///
    /// Only an ACK that advances proves anything by its timestamp (RFC 3522 section 3.2): a duplicate echoes an old one.
    pub(super) fn is_delayed(&self, config: &EndpointConfig, acked: &Acked) -> bool {
        let echoes_older =
            || acked.ts_ecr != 0 && (acked.ts_ecr.wrapping_sub(self.retransmit_stamp) as i32) < 0;
        config.stack.undo != Undo::Off
            && self.undo_marker.is_some()
            && acked.advanced
            && (self.retransmit_stamp == 0 || echoes_older())
    }

    /// Every retransmission of the episode was unnecessary: all explained by D-SACK, or the first one delayed.
    fn may_undo(&self, config: &EndpointConfig, acked: &Acked) -> bool {
        let explained =
            config.stack.undo != Undo::Off && self.undo_marker.is_some() && self.undo_retransmissions == 0;
        explained || self.is_delayed(config, acked)
    }

    /// Linux `tcp_undo_cwr`.
    fn undo_reduction(&mut self, rules: Undo, restore_ssthresh: bool, now: Time) {
        self.counters.undos += 1;
        self.cwnd_stamp = now;
        if self.undo_ssthresh == 0 {
            if rules != Undo::Linux6 {
                self.window.cwnd = self.window.cwnd.max(self.window.ssthresh);
            }
            return;
        }
        self.window.cwnd = self.cc.undo_cwnd(&self.window);
        if restore_ssthresh && self.undo_ssthresh > self.window.ssthresh {
            self.window.ssthresh = self.undo_ssthresh;
            if rules == Undo::Linux6 {
                self.cwr_pending = false;
            }
        }
    }

    fn undo_all(&mut self, rules: Undo, now: Time) {
        self.undo_reduction(rules, true, now);
        self.undo_marker = None;
        self.board.rack.look_again();
    }

    /// At the end of Recovery or Loss. Returns true if the state must be held (connections without SACK, RFC 6582 3.2
    /// step 4: wait for something above the recovery point).
    pub(super) fn try_undo_recovery(&mut self, config: &EndpointConfig, acked: &Acked, now: Time) -> bool {
        if self.may_undo(config, acked) {
            self.undo_all(config.stack.undo, now);
        }
        if self.snd_una == self.high_seq && !config.sack {
            if config.stack.burst_limit != BurstLimit::Never {
                self.moderate_cwnd();
            }
            return true;
        }
        if self.undo_marker.is_none() {
            // Undone: the window is already right, and `complete_reduction` must not touch it.
            self.transition_to(CaState::Open, now);
        }
        false
    }

    /// Linux 3.2 on a partial ACK in Recovery: the window comes back, Recovery goes on. Returns whether that happened.
    pub(super) fn undo_partly(&mut self, config: &EndpointConfig, acked: &Acked) -> bool {
        if !self.may_undo(config, acked) {
            return false;
        }
        if !self.board.any_retransmission_done() {
            self.retransmit_stamp = 0;
        }
        self.undo_reduction(config.stack.undo, false, self.cwnd_stamp);
        true
    }

    /// Later kernels on a partial ACK in Recovery with no retransmission out: nothing was lost after all.
    pub(super) fn undo_in_recovery(&mut self, config: &EndpointConfig, now: Time) {
        if !self.board.any_retransmission_done() {
            self.retransmit_stamp = 0;
        }
        self.board.forget_losses();
        self.undo_all(config.stack.undo, now);
        self.keep_open(now);
    }

    /// All retransmissions were reported as duplicates. Returns whether the reduction was undone.
    pub(super) fn try_undo_dsack(&mut self, config: &EndpointConfig, now: Time) -> bool {
        let explained =
            config.stack.undo != Undo::Off && self.undo_marker.is_some() && self.undo_retransmissions == 0;
        if explained {
            self.undo_all(config.stack.undo, now);
        }
        explained
    }

    /// In Loss, with proof (F-RTO) or by timestamps and D-SACK. Returns whether it was undone.
    pub(super) fn try_undo_loss(
        &mut self,
        config: &EndpointConfig,
        acked: &Acked,
        proven: bool,
        now: Time,
    ) -> bool {
        if config.stack.undo == Undo::Off || !(proven || self.may_undo(config, acked)) {
            return false;
        }
        self.board.forget_losses();
        self.undo_all(config.stack.undo, now);
        self.timeouts_in_row = 0;
        if proven || config.sack {
            self.transition_to(CaState::Open, now);
        }
        true
    }
}
