//! Tail loss probe (RFC 8985 section 7; Linux `tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`).

use super::ack::Acked;
use super::{CaState, Sender};
use crate::{EndpointConfig, Output};
use shoal_cc::CongestionControl;
use shoal_units::{Span, Time};

/// Shortest probe timeout: two jiffies and a tick at HZ=1000 (Linux `TCP_TIMEOUT_MIN`).
const PROBE_TIMEOUT_MIN: Span = Span::from_millis(2);

impl Sender {
    /// Arms the probe timer after a transmission or an advancing ACK, if nothing else is suspicious.
    pub(super) fn schedule_tail_probe(&mut self, config: &EndpointConfig, now: Time) {
        if !config.stack.tail_loss_probe || !config.sack {
            return;
        }
        let out = self.board.packets_out();
        if self.probe_end.is_some() || out == 0 || self.state != CaState::Open || self.board.sacked > 0 {
            if self.early_is_probe {
                self.early_deadline = Time::NEVER;
            }
            return;
        }
        let srtt = self.rtt.srtt();
        let mut timeout = if srtt.is_zero() { config.stack.rto_initial } else { srtt * 2 };
        if out == 1 {
            // The peer may delay the ACK of a single packet.
            timeout += config.stack.delack_max;
        }
        let due = now + timeout.max(PROBE_TIMEOUT_MIN);
        self.early_is_probe = true;
        // Never later than the timeout it is meant to pre-empt.
        self.early_deadline = if due < self.rto_deadline { due } else { Time::NEVER };
    }

    /// The probe timer fired: one new segment if there is one, else the last one again.
    pub(super) fn send_tail_probe(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if self.board.packets_out() == 0 || self.state != CaState::Open {
            return;
        }
        self.counters.probes += 1;
        let before = self.snd_nxt;
        if self.has_unsent() {
            let cwnd = self.window.cwnd;
            self.window.cwnd = self.flight() + 1; // The probe may exceed the window by one segment.
            self.push(config, now, out);
            self.window.cwnd = cwnd;
        }
        self.probe_repeats = self.snd_nxt == before;
        if self.probe_repeats {
            let last = self.board.last_index();
            self.retransmit_segment(config, last, now, out);
        }
        self.probe_end = Some(self.snd_nxt);
        self.arm_rto(config, now);
    }

    /// The probe's acknowledgement: if it repaired a loss, the window is reduced once (RFC 8985 7.4).
    ///
    /// A probe with new data repairs nothing. A repeated segment was unnecessary if a D-SACK or a plain duplicate follows,
    /// and necessary if the next thing acknowledged lies beyond it.
    pub(super) fn judge_tail_probe(&mut self, config: &EndpointConfig, acked: &Acked, end: u64, now: Time) {
        if self.snd_una < end {
            return;
        }
        if self.probe_repeats && !acked.dsack && !acked.duplicate && self.snd_una == end {
            return; // Not decided yet.
        }
        self.probe_end = None;
        let repaired = self.probe_repeats && !acked.dsack && self.snd_una > end;
        if repaired && self.state <= CaState::Disorder {
            let signal = self.signal(config, now);
            self.cc.on_loss(&mut self.window, &signal);
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            self.window.cwnd_cnt = 0;
            self.queue_cwr();
        }
    }
}
