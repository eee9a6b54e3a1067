//! Tail loss probe (RFC 8985 section 7; Linux `tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`).

use super::ack::Acked;
use super::{CaState, LinuxSender};
use crate::{EndpointConfig, Output, TailProbe};
use shoal_units::{Span, Time};

/// Added to the probe timeout: two jiffies at HZ = 1000 (Linux `TCP_TIMEOUT_MIN_US`).
const PROBE_SLACK: Span = Span::from_millis(2);
/// Shortest probe timeout of 3.18.
const PROBE_MIN_3_18: Span = Span::from_millis(10);

impl LinuxSender {
    /// Arms the probe timer after a transmission or an advancing ACK. It takes the place of the retransmission timer, so
    /// it is never later.
    #[inline]
    pub(super) fn schedule_tail_probe(&mut self, config: &EndpointConfig, now: Time) {
        let last_state = match config.stack.tail_probe {
            TailProbe::Off => return,
            TailProbe::Linux318 => CaState::Open,
            TailProbe::Linux6 => CaState::Cwr,
        };
        if self.board.packets_out() == 0
            || self.state > last_state
            || self.state == CaState::Disorder
            || !config.sack
        {
            if self.early_is_probe {
                self.early_deadline = Time::NEVER;
            }
            return;
        }
        let due = now + self.probe_timeout(config);
        self.early_is_probe = true;
        self.early_deadline = due.min(self.rto_deadline);
    }

    #[inline]
    fn probe_timeout(&self, config: &EndpointConfig) -> Span {
        let srtt = self.rtt.srtt();
        if srtt.is_zero() {
            return config.stack.rto_initial;
        }
        // The peer may delay the ACK of a single packet.
        let single = self.board.packets_out() == 1;
        match config.stack.tail_probe {
            TailProbe::Linux318 if single => {
                (srtt * 2).max(srtt * 3 / 2 + config.stack.delack_max).max(PROBE_MIN_3_18)
            }
            TailProbe::Linux318 => (srtt * 2).max(PROBE_MIN_3_18),
            _ if single => srtt * 2 + config.stack.rto_min,
            _ => srtt * 2 + PROBE_SLACK,
        }
    }

    /// The probe timer fired: one new segment if there is one, else the last one again. One probe an episode.
    #[cold]
    pub(super) fn send_tail_probe(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if self.board.packets_out() > 0 && self.probe_end.is_none() {
            self.counters.probes += 1;
            let repeats = !self.push_one(config, now, out);
            if repeats {
                self.repeat_segment(config, self.board.last_index(), now, out);
            }
            if repeats || config.stack.tail_probe == TailProbe::Linux6 {
                self.probe_end = Some(self.snd_nxt);
                self.probe_repeats = repeats;
            }
        }
        self.arm_rto(config, now);
    }

    /// The probe's acknowledgement: if it repaired a loss, the window is reduced once (RFC 8985 section 7.4).
    ///
    /// A probe with new data repairs nothing. A repeated segment was unnecessary if a D-SACK or a plain duplicate follows,
    /// and necessary if the next thing acknowledged lies beyond it.
    #[cold]
    pub(super) fn judge_tail_probe(&mut self, config: &EndpointConfig, acked: &Acked, end: u64, now: Time) {
        if self.snd_una < end {
            return;
        }
        let plain_duplicate = !acked.advanced && acked.duplicate && !acked.delivery.newly_sacked;
        if !self.probe_repeats || acked.dsack || plain_duplicate {
            self.probe_end = None;
        } else if self.snd_una > end {
            self.begin_ecn_reduction(config, now);
            self.transition_to(CaState::Cwr, now);
            self.complete_reduction(config, now);
            self.keep_open(now);
        }
    }
}
