//! How a window comes down: entering CWR, rate halving, proportional rate reduction.

use super::ack::Acked;
use super::{CaState, LinuxSender};
use crate::{EndpointConfig, Recovery};
use shoal_cc::{CongestionControl, INFINITE_SSTHRESH, Reduction};
use shoal_units::Time;

impl LinuxSender {
    /// First ECN-Echo of an episode (Linux `tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, config: &EndpointConfig, now: Time) {
        self.undo_ssthresh = 0;
        self.undo_marker = None;
        self.begin_ecn_reduction(config, now);
        self.counters.ecn_reductions += 1;
        self.transition_to(CaState::Cwr, now);
    }

    /// Linux `tcp_init_cwnd_reduction` with the controller's answer to ECN.
    pub(super) fn begin_ecn_reduction(&mut self, config: &EndpointConfig, now: Time) {
        let signal = self.signal(config, now);
        self.begin_prr();
        let reduction = self.cc.on_ecn(&mut self.window, &signal);
        self.controller_cuts = reduction == Reduction::Done;
        if !self.controller_cuts {
            if config.stack.cwr == Recovery::RateHalving {
                self.window.cwnd = self.window.cwnd.min(self.flight() + 1);
            }
            self.window.cwnd_cnt = 0;
        }
        self.cwnd_stamp = now;
        self.probe_end = None;
        self.queue_cwr();
    }

    /// A new episode, up to what was sent so far.
    pub(super) fn begin_prr(&mut self) {
        self.high_seq = self.snd_nxt;
        self.prr_prior_cwnd = self.window.cwnd;
        self.prr_delivered = 0;
        self.prr_out = 0;
    }

    /// One ACK's share of the reduction in CWR.
    #[inline]
    pub(super) fn reduce_in_cwr(&mut self, config: &EndpointConfig, acked: &Acked) {
        match config.stack.cwr {
            Recovery::RateHalving => self.halve_rate(config, acked),
            Recovery::Prr => self.reduce_by_prr(config, acked, false),
        }
    }

    /// One packet less for every second ACK, and never more than one packet beyond the flight (Linux `tcp_cwnd_down`).
    pub(super) fn halve_rate(&mut self, config: &EndpointConfig, acked: &Acked) {
        let progress = acked.advanced || acked.delivery.newly_sacked || acked.dsack;
        if !(progress || (!config.sack && acked.duplicate)) {
            return;
        }
        let count = self.window.cwnd_cnt + 1;
        self.window.cwnd_cnt = count & 1;
        let step = count >> 1;
        if step > 0 && self.window.cwnd > self.cc.rate_halving_floor(&self.window) {
            self.window.cwnd -= step.min(self.window.cwnd - 1);
        }
        self.window.cwnd = self.window.cwnd.min(self.flight() + 1).max(1);
    }

    /// One ACK's share of a proportional reduction.
    #[inline]
    pub(super) fn reduce_by_prr(&mut self, config: &EndpointConfig, acked: &Acked, force_one: bool) {
        let new_losses = self.board.losses > acked.prior_losses;
        let newly = acked.delivery.delivered_packets + acked.reno_delivered;
        self.reduce_proportionally(config, newly, new_losses, acked.advanced, force_one);
    }

    /// RFC 6937 as in Linux `tcp_cwnd_reduction`.
    pub(super) fn reduce_proportionally(
        &mut self,
        config: &EndpointConfig,
        newly: u32,
        new_losses: bool,
        advanced: bool,
        force_one: bool,
    ) {
        let always = config.stack.prr_always_one_more;
        if !always && newly == 0 {
            return;
        }
        self.prr_delivered = self.prr_delivered.saturating_add(newly);
        let flight = self.flight();
        let ssthresh = self.window.ssthresh;
        let out = i64::from(self.prr_out);
        let mut send = if flight > ssthresh {
            let prior = u64::from(self.prr_prior_cwnd.max(1));
            let target = (u64::from(ssthresh) * u64::from(self.prr_delivered)).div_ceil(prior);
            target as i64 - out
        } else {
            let room = i64::from(ssthresh) - i64::from(flight);
            let mut allowed = (i64::from(self.prr_delivered) - out).max(i64::from(newly));
            if always || (advanced && !new_losses) {
                allowed += 1;
            }
            allowed.min(room)
        };
        // A fast retransmission goes out whatever the flight (since 4.5: until the first one has).
        let force = if always { force_one } else { self.prr_out == 0 };
        send = send.max(i64::from(force));
        self.window.cwnd = (i64::from(flight) + send).max(1) as u32;
    }

    /// The episode is over (Linux `tcp_complete_cwr`, `tcp_end_cwnd_reduction`).
    pub(super) fn complete_reduction(&mut self, config: &EndpointConfig, now: Time) {
        if self.controller_cuts || self.window.ssthresh >= INFINITE_SSTHRESH {
            return;
        }
        let reset = match (self.state, config.stack.cwr) {
            // 3.2 clears the undo marker on entering CWR and tests it here, so the window stays where halving left it.
            (CaState::Cwr, Recovery::RateHalving) => false,
            (CaState::Cwr, Recovery::Prr) => true,
            _ => self.undo_marker.is_some(),
        };
        if reset {
            self.window.cwnd = self.window.ssthresh;
            self.cwnd_stamp = now;
        }
    }

    /// Linux `tcp_moderate_cwnd`: at most three packets beyond the flight.
    pub(super) fn moderate_cwnd(&mut self) {
        self.window.cwnd = self.window.cwnd.min(self.flight() + 3).max(1);
    }
}
