//! Fast retransmit and fast recovery (RFC 6675 as Linux has it; RFC 6582 without SACK).

use super::ack::{Acked, Resend};
use super::{CaState, LinuxSender};
use crate::{EndpointConfig, LossDetection, Recovery, Undo};
use shoal_cc::CongestionControl;
use shoal_units::Time;

/// Duplicate ACKs that mean a loss (RFC 5681 section 3.2; Linux `sysctl_tcp_reordering`).
pub(super) const DUPLICATE_THRESHOLD: u32 = 3;

impl LinuxSender {
    /// Linux `tcp_time_to_recover`.
    pub(super) fn is_time_to_recover(&self, config: &EndpointConfig) -> bool {
        if self.board.lost > 0 {
            return true;
        }
        if !config.sack {
            return self.reno_sacked + 1 > DUPLICATE_THRESHOLD;
        }
        // RACK marks, and a mark was seen above.
        config.stack.loss_detection == LossDetection::Fack
            && self.board.forward_packets() > DUPLICATE_THRESHOLD
    }

    /// Enters Recovery on this ACK and makes the first retransmission.
    #[cold]
    pub(super) fn enter_recovery(&mut self, config: &EndpointConfig, acked: &Acked, now: Time) -> Resend {
        self.begin_recovery(config, acked.ece, now);
        self.mark_losses(config);
        self.reduce_in_recovery(config, acked, true);
        Resend::Lost
    }

    /// Linux `tcp_enter_recovery`.
    pub(super) fn begin_recovery(&mut self, config: &EndpointConfig, ece: bool, now: Time) {
        let signal = self.signal(config, now);
        // Loss in a reduction that marks began: no second one (3.2 counts Loss as a reduction, later kernels do not).
        let already_reducing = if config.stack.recovery_restarts_reduction {
            self.state >= CaState::Cwr
        } else {
            matches!(self.state, CaState::Cwr | CaState::Recovery)
        };
        self.undo_ssthresh = 0;
        self.begin_undo(config);
        if !already_reducing && !ece {
            self.undo_ssthresh = self.current_ssthresh();
        }
        if !already_reducing || config.stack.recovery_restarts_reduction {
            self.begin_prr();
            self.window.cwnd_cnt = 0;
        }
        if already_reducing {
            self.cc.on_loss_in_cwr(&mut self.window, &signal);
        } else {
            self.cc.on_loss(&mut self.window, &signal);
            self.queue_cwr();
        }
        self.cwnd_stamp = now;
        self.controller_cuts = false;
        self.early_deadline = Time::NEVER;
        self.probe_end = None;
        self.counters.fast_recoveries += 1;
        self.transition_to(CaState::Recovery, now);
    }

    /// A further ACK in Recovery.
    #[cold]
    pub(super) fn in_recovery(&mut self, config: &EndpointConfig, acked: &mut Acked, now: Time) -> Resend {
        let forward = self.board.forward_packets();
        let mut look_for_losses =
            acked.duplicate || (acked.delivery.newly_sacked && forward > DUPLICATE_THRESHOLD);
        if !acked.advanced {
            self.add_reno_sack(config, acked);
        } else if config.stack.undo == Undo::Linux32 {
            look_for_losses =
                !self.undo_partly(config, acked) && (!config.sack || forward > DUPLICATE_THRESHOLD);
        } else if self.is_delayed(config, acked) {
            // The hole was filled by the original. With retransmissions still out: go on, but mark and repeat nothing.
            if self.board.retransmitted > 0 {
                self.reduce_in_recovery(config, acked, false);
                return Resend::Nothing;
            }
            self.undo_in_recovery(config, now);
            return self.after_undo_in_recovery(config, acked, now);
        } else {
            look_for_losses = !config.sack || forward > DUPLICATE_THRESHOLD;
        }
        if config.stack.undo != Undo::Linux32 && self.try_undo_dsack(config, now) {
            self.keep_open(now);
            return self.after_undo_in_recovery(config, acked, now);
        }
        if config.sack && config.stack.loss_detection == LossDetection::Rack {
            self.detect_rack_losses(now);
        } else if look_for_losses {
            self.mark_losses(config);
        }
        self.reduce_in_recovery(config, acked, false);
        Resend::Lost
    }

    /// Recovery ended as spurious. RACK looks once more: there may be a loss behind the reordering.
    fn after_undo_in_recovery(&mut self, config: &EndpointConfig, acked: &Acked, now: Time) -> Resend {
        if config.stack.loss_detection != LossDetection::Rack || !config.sack {
            return Resend::Nothing;
        }
        self.detect_rack_losses(now);
        if self.board.lost == 0 {
            return Resend::Nothing;
        }
        self.enter_recovery(config, acked, now)
    }

    /// Without SACK a duplicate ACK stands for one packet that has arrived (Linux `tcp_add_reno_sack`,
    /// `tcp_limit_reno_sacked`).
    pub(super) fn add_reno_sack(&mut self, config: &EndpointConfig, acked: &mut Acked) {
        if config.sack || !acked.duplicate {
            return;
        }
        let out = self.board.packets_out();
        let holes = self.board.lost.max(1).min(out);
        if self.reno_sacked + holes < out {
            self.reno_sacked += 1;
            if config.stack.prr_counts_duplicates {
                acked.reno_delivered += 1;
                self.counters.delivered_packets += 1;
                self.counters.delivered_ce_packets += u64::from(acked.ece);
            }
        }
    }

    /// Linux `tcp_update_scoreboard`; `tcp_newreno_mark_lost` without SACK.
    fn mark_losses(&mut self, config: &EndpointConfig) {
        if !config.sack {
            // NewReno: the head is lost, on entry and on every partial ACK (RFC 6582).
            self.board.mark_head_lost(1);
        } else if config.stack.loss_detection == LossDetection::Fack {
            let beyond = self.board.forward_packets().saturating_sub(DUPLICATE_THRESHOLD);
            self.board.mark_head_lost(beyond.max(1));
            self.board.mark_lost_retransmissions(self.snd_una);
        }
    }

    fn reduce_in_recovery(&mut self, config: &EndpointConfig, acked: &Acked, entering: bool) {
        match config.stack.recovery {
            Recovery::Prr => self.reduce_by_prr(config, acked, entering),
            Recovery::RateHalving => {
                self.halve_rate(config, acked);
                if entering {
                    self.window.cwnd = self.window.cwnd.max(self.flight() + 1);
                }
            }
        }
    }
}
