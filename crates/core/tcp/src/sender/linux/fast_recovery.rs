//! Fast retransmit and fast recovery (RFC 6675, <https://www.rfc-editor.org/rfc/rfc6675>, as Linux has it;
//! [RFC 6582](https://www.rfc-editor.org/rfc/rfc6582) without SACK).

use super::acked::{Acked, Resend};
use super::{CaState, LinuxSender, Moment};
use crate::{LossDetection, Undo};
use shoal_cc::CongestionControl;

impl LinuxSender {
    /// Linux `tcp_time_to_recover`.
    pub(super) fn is_time_to_recover(&self, at: &Moment<'_>) -> bool {
        if self.board.lost > 0 {
            return true;
        }
        if !at.config.sack {
            return self.board.duplicates + 1 > self.degree.packets();
        }
        // RACK marks, and a mark was seen above.
        at.rules.loss_detection == LossDetection::Fack && self.board.forward_packets() > self.degree.packets()
    }

    /// Enters Recovery on this ACK and makes the first retransmission.
    #[cold]
    pub(super) fn enter_recovery(&mut self, at: &Moment<'_>, acked: &Acked) -> Resend {
        self.begin_recovery(at, acked.ece);
        self.mark_losses(at);
        self.reduce_in_recovery(at, acked, true);
        Resend::Lost
    }

    /// Linux `tcp_enter_recovery`.
    pub(super) fn begin_recovery(&mut self, at: &Moment<'_>, ece: bool) {
        let signal = self.signal(at);
        // A loss during a reduction for marks causes no second one (3.2 counts Loss as a reduction, later
        // kernels do not).
        let already_reducing = if at.rules.recovery_restarts_reduction {
            self.state >= CaState::Cwr
        } else {
            matches!(self.state, CaState::Cwr | CaState::Recovery)
        };
        self.undo.forbid();
        self.undo.begin(at.rules.undo, self.snd_una, self.board.retransmitted);
        if !already_reducing && !ece {
            self.undo.remember(self.current_ssthresh());
        }
        if !already_reducing || at.rules.recovery_restarts_reduction {
            self.begin_reduction();
            self.window.cwnd_cnt = 0;
        }
        if already_reducing {
            let cwnd = self.window.cwnd;
            if self.cc.on_loss_in_cwr(&mut self.window, &signal) {
                self.reduction.raise_base(cwnd);
            }
        } else {
            self.cc.on_loss(&mut self.window, &signal);
            self.connection.ecn.queue_cwr(&self.cc);
        }
        self.counters.fast_recoveries += 1;
        self.begin_repair(at, CaState::Recovery);
    }

    /// Begins Recovery or Loss, which ends CWR and tail loss probes.
    pub(super) fn begin_repair(&mut self, at: &Moment<'_>, state: CaState) {
        self.usage.stamp = at.now;
        self.reduction.controller_cuts = false;
        self.timers.stop_early();
        self.probe.close();
        self.transition_to(state, at.now);
    }

    /// Handles a further ACK in Recovery.
    #[cold]
    pub(super) fn in_recovery(&mut self, at: &Moment<'_>, acked: &mut Acked) -> Resend {
        let forward = self.board.forward_packets();
        let mut look_for_losses =
            acked.duplicate || (acked.delivery.newly_sacked && forward > self.degree.packets());
        if acked.advanced {
            look_for_losses = !at.config.sack || forward > self.degree.packets();
        } else {
            self.add_duplicate(at, acked);
        }
        if at.rules.undo == Undo::Linux32 {
            look_for_losses &= !(acked.advanced && self.undo_partly(at, acked));
        } else if acked.advanced && self.undo.is_delayed(acked) {
            self.note_overtaken(at, acked.prior_una);
            // The original filled the hole. While retransmissions are outstanding, continue without marking
            // or retransmitting anything.
            if self.board.retransmitted > 0 {
                self.reduce_in_recovery(at, acked, false);
                return Resend::Nothing;
            }
            self.undo_in_recovery(at);
            return self.after_undo_in_recovery(at, acked);
        } else if self.try_undo_dsack(at) {
            self.keep_open(at.now);
            return self.after_undo_in_recovery(at, acked);
        }
        if Self::uses_rack(at) {
            self.detect_rack_losses(at);
        } else if look_for_losses {
            self.mark_losses(at);
        }
        self.reduce_in_recovery(at, acked, false);
        Resend::Lost
    }

    /// Applies one ACK's share of the reduction, unless the controller owns the window.
    fn reduce_in_recovery(&mut self, at: &Moment<'_>, acked: &Acked, first_retransmission: bool) {
        if self.rates.is_none() {
            self.reduce(at, at.rules.recovery, acked, first_retransmission);
        }
    }

    /// Continues after Recovery ended as spurious. RACK tests again, since there may be a loss behind the
    /// reordering.
    fn after_undo_in_recovery(&mut self, at: &Moment<'_>, acked: &Acked) -> Resend {
        if !Self::uses_rack(at) {
            return Resend::Nothing;
        }
        self.detect_rack_losses(at);
        if self.board.lost == 0 {
            return Resend::Nothing;
        }
        self.enter_recovery(at, acked)
    }

    /// Without SACK a duplicate ACK stands for one packet that has arrived (Linux `tcp_add_reno_sack`,
    /// `tcp_limit_reno_sacked`).
    pub(super) fn add_duplicate(&mut self, at: &Moment<'_>, acked: &mut Acked) {
        if at.config.sack || !acked.duplicate {
            return;
        }
        if !self.board.add_duplicate() {
            self.note_surplus(at, 0);
            return;
        }
        if at.rules.prr_counts_duplicates {
            acked.reno_delivered += 1;
            self.counters.delivered_packets += 1;
            self.counters.delivered_ce_packets += u64::from(acked.ece);
        }
    }

    /// Linux `tcp_update_scoreboard`; `tcp_newreno_mark_lost` without SACK.
    fn mark_losses(&mut self, at: &Moment<'_>) {
        if !at.config.sack {
            // NewReno: the head is lost, on entry and on every partial ACK (RFC 6582).
            self.board.mark_head_lost(1);
        } else if at.rules.loss_detection == LossDetection::Fack {
            let beyond = self.board.forward_packets().saturating_sub(self.degree.packets());
            self.board.mark_head_lost(beyond.max(1));
            self.board.mark_lost_retransmissions(self.snd_una);
        }
    }
}
