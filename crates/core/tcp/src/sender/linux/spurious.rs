//! Undoing reductions that turn out spurious (Linux `tcp_try_undo_recovery`, `_partial`, `_dsack`, `_loss`). The
//! evidence is in `undo.rs`.

use super::acked::Acked;
use super::{CaState, LinuxSender, Moment};
use crate::BurstLimit;

impl LinuxSender {
    /// Linux `tcp_undo_cwnd_reduction`: the window, and with `whole` the threshold.
    fn undo_reduction(&mut self, at: &Moment<'_>, whole: bool) {
        let rules = at.rules.undo;
        if self.undo.is_allowed() {
            self.note_undo_in_samples(at);
        }
        self.counters.undos += 1;
        if self.undo.restore(rules, whole, &mut self.window, &self.cc) {
            self.connection.ecn.cwr_pending = false;
        }
    }

    fn undo_all(&mut self, at: &Moment<'_>) {
        self.undo_reduction(at, true);
        self.usage.stamp = at.now;
        self.undo.close();
        self.board.rack.look_again();
    }

    /// At the end of Recovery or Loss. Returns true if the state must be held (connections without SACK,
    /// [RFC 6582](https://www.rfc-editor.org/rfc/rfc6582) 3.2 step 4: wait for something above the recovery
    /// point).
    pub(super) fn try_undo_recovery(&mut self, at: &Moment<'_>, acked: &Acked) -> bool {
        if self.undo.may_undo(acked) {
            self.undo_all(at);
        } else {
            self.degree.note_recovery();
        }
        if self.snd_una == self.high_seq && !at.config.sack {
            if at.rules.burst_limit != BurstLimit::Never {
                self.moderate_cwnd();
            }
            return true;
        }
        if !self.undo.is_open() {
            // Undone: the window is already right, and `complete_reduction` must not touch it.
            self.transition_to(CaState::Open, at.now);
        }
        false
    }

    /// Linux 3.2 on a partial ACK in Recovery: the window comes back, Recovery goes on. Returns whether that happened.
    pub(super) fn undo_partly(&mut self, at: &Moment<'_>, acked: &Acked) -> bool {
        if !self.undo.may_undo(acked) {
            return false;
        }
        if !self.board.any_retransmission_done() {
            self.undo.forget_retransmissions();
        }
        self.undo_reduction(at, false);
        true
    }

    /// Later kernels on a partial ACK in Recovery with no retransmission out: nothing was lost after all.
    pub(super) fn undo_in_recovery(&mut self, at: &Moment<'_>) {
        if !self.board.any_retransmission_done() {
            self.undo.forget_retransmissions();
        }
        self.board.forget_losses();
        self.undo_all(at);
        self.keep_open(at.now);
    }

    /// All retransmissions were reported as duplicates. Returns whether the reduction was undone.
    pub(super) fn try_undo_dsack(&mut self, at: &Moment<'_>) -> bool {
        let explained = self.undo.is_explained();
        if explained {
            self.degree.note_spurious_recovery();
            self.undo_all(at);
        }
        explained
    }

    /// In Loss, with proof (F-RTO) or by timestamps and D-SACK. Returns whether it was undone.
    pub(super) fn try_undo_loss(&mut self, at: &Moment<'_>, acked: &Acked, proven: bool) -> bool {
        if !(proven || self.undo.may_undo(acked)) {
            return false;
        }
        self.board.forget_losses();
        self.undo_all(at);
        self.loss.note_progress();
        if proven || at.config.sack {
            self.transition_to(CaState::Open, at.now);
        }
        true
    }
}
