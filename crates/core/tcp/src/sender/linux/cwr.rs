//! CWR: the window comes down after an ECN-Echo (Linux `tcp_enter_cwr`).

use super::acked::Acked;
use super::reduction::{Progress, halve_rate, moderate_cwnd};
use super::{CaState, LinuxSender, Moment};
use crate::Recovery;
use shoal_cc::{CongestionControl, INFINITE_SSTHRESH, Reduction};

impl LinuxSender {
    /// Handles the first ECN-Echo of an episode, or what the host itself refuses.
    pub(super) fn enter_cwr(&mut self, at: &Moment<'_>) {
        self.undo.forbid();
        self.undo.close();
        self.begin_ecn_reduction(at);
        self.counters.cwr_reductions += 1;
        self.transition_to(CaState::Cwr, at.now);
    }

    /// Linux `tcp_init_cwnd_reduction` with the controller's answer to ECN.
    pub(super) fn begin_ecn_reduction(&mut self, at: &Moment<'_>) {
        let signal = self.signal(at);
        self.begin_reduction();
        let reduction = self.cc.on_ecn(&mut self.window, &signal);
        self.reduction.controller_cuts = reduction == Reduction::Done;
        if !self.reduction.controller_cuts {
            if at.rules.cwr == Recovery::RateHalving {
                self.window.cwnd = self.window.cwnd.min(self.board.in_flight() + 1);
            }
            self.window.cwnd_cnt = 0;
        }
        self.usage.stamp = at.now;
        self.probe.close();
        self.connection.ecn.queue_cwr(&self.cc);
    }

    /// Begins an episode that ends with the data sent so far.
    pub(super) fn begin_reduction(&mut self) {
        self.high_seq = self.snd_nxt;
        self.reduction.begin(self.window.cwnd);
    }

    /// Applies one ACK's share of the reduction. `first_retransmission`: the ACK enters Recovery, and one
    /// segment is sent whatever the flight.
    #[inline]
    pub(super) fn reduce(
        &mut self,
        at: &Moment<'_>,
        method: Recovery,
        acked: &Acked,
        first_retransmission: bool,
    ) {
        let flight = self.board.in_flight();
        match method {
            Recovery::Prr => {
                let progress = Progress {
                    delivered: acked.delivery.delivered_packets + acked.reno_delivered,
                    advanced_without_loss: acked.advanced && self.board.losses <= acked.prior_losses,
                    first_retransmission,
                };
                self.reduce_proportionally(at, progress);
            }
            Recovery::RateHalving => {
                let progress = acked.advanced || acked.delivery.newly_sacked || acked.dsack;
                if progress || (!at.config.sack && acked.duplicate) {
                    let floor = self.cc.rate_halving_floor(&self.window);
                    halve_rate(&mut self.window, floor, flight);
                }
                if first_retransmission {
                    self.window.cwnd = self.window.cwnd.max(flight + 1);
                }
            }
        }
    }

    pub(super) fn reduce_proportionally(&mut self, at: &Moment<'_>, progress: Progress) {
        let flight = self.board.in_flight();
        let always_one_more = at.rules.prr_always_one_more;
        self.reduction.reduce_proportionally(&mut self.window, flight, progress, always_one_more);
    }

    /// Ends the episode (Linux `tcp_complete_cwr`, `tcp_end_cwnd_reduction`).
    pub(super) fn complete_reduction(&mut self, at: &Moment<'_>) {
        let is_controllers = self.reduction.controller_cuts || self.rates.is_some();
        if is_controllers || self.window.ssthresh >= INFINITE_SSTHRESH {
            return;
        }
        let reset = match (self.state, at.rules.cwr) {
            // 3.2 clears the undo marker on entering CWR and tests it here, so the window stays where halving left it.
            (CaState::Cwr, Recovery::RateHalving) => false,
            (CaState::Cwr, Recovery::Prr) => true,
            _ => self.undo.is_open(),
        };
        if reset {
            self.window.cwnd = self.window.ssthresh;
            self.usage.stamp = at.now;
        }
    }

    /// Limits a burst (Linux `tcp_moderate_cwnd`).
    pub(super) fn moderate_cwnd(&mut self) {
        moderate_cwnd(&mut self.window, self.board.in_flight());
    }
}
