//! Processing of acknowledgements (Linux `tcp_ack`, RFC 9293 section 3.10.7.4, RFC 2018, RFC 2883).

use super::scoreboard::Delivery;
use super::{CaState, Sender};
use crate::{EndpointConfig, LossDetection, Output};
use shoal_cc::{AckSample, CongestionControl};
use shoal_packet::{Flags, Packet};
use shoal_units::Time;

/// What one ACK said; the flags of Linux `tcp_ack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub delivery: Delivery,
    /// It acknowledged new data cumulatively.
    pub advanced: bool,
    /// It carries ECN-Echo on an ECN connection.
    pub ece: bool,
    /// It says nothing new: same position, no data, no window update.
    pub duplicate: bool,
    /// It reports data received twice.
    pub dsack: bool,
    /// Echoed timestamp.
    pub ts_ecr: u32,
    /// Packets lost before it.
    pub prior_lost: u32,
}

impl Sender {
    #[inline]
    pub(super) fn on_ack(&mut self, config: &EndpointConfig, packet: &Packet, now: Time, out: &mut impl Output) {
        let ack = packet.ack.near(self.snd_una);
        if ack > self.snd_nxt || ack < self.snd_una {
            return; // Acknowledges what was never sent, or is older than what we know.
        }
        let prior_una = self.snd_una;
        let flight_before = self.flight();
        let prior_out = self.board.packets_out();
        let mut acked = Acked {
            delivery: Delivery::default(),
            advanced: ack > prior_una,
            ece: self.ecn_ok && packet.flags.has(Flags::ECE),
            duplicate: false,
            dsack: false,
            ts_ecr: packet.ts_ecr,
            prior_lost: self.board.lost,
        };
        let window = u32::from(packet.window) << self.peer_window_scale;
        let window_update = acked.advanced || window > self.peer_window;
        if window_update {
            self.peer_window = window;
        }
        acked.duplicate = !window_update && packet.payload == 0;
        self.snd_una = ack;
        if config.sack && !packet.sack.is_empty() {
            self.read_sacks(packet, prior_una, &mut acked);
        }
        if prior_out == 0 {
            // A window update, or an ACK for nothing: only the window may have changed.
            self.push(config, now, out);
            return;
        }
        let timeout_high = if self.state == CaState::Loss { self.high_seq } else { 0 };
        if acked.advanced {
            self.board.acknowledge(ack, timeout_high, &mut acked.delivery);
            self.counters.acked_bytes += ack - prior_una;
        }
        if self.reno_sacked > 0 && acked.advanced {
            // Duplicates stood for packets that the cumulative ACK now covers (Linux tcp_remove_reno_sacks).
            self.reno_sacked = self.reno_sacked.saturating_sub(acked.delivery.acked_packets.saturating_sub(1));
            self.reno_sacked = self.reno_sacked.min(self.board.packets_out().saturating_sub(1));
        }
        let rtt = match acked.delivery {
            // Karn: nothing from an ACK that covers a retransmission. The estimator takes the first segment, as the
            // echoed timestamp would; controllers take the last (Linux seq_rtt and ca_rtt).
            Delivery { retransmitted_acked: false, first_sent: Some(first), last_sent: Some(last), .. } => {
                self.rtt.sample(now.since(first), self.snd_una, self.snd_nxt, &config.stack);
                self.backoff = 0;
                Some(now.since(last))
            }
            _ => None,
        };
        if acked.delivery.acked_packets > 0 {
            self.arm_rto(config, now);
        }
        self.count(&acked);
        let sample = self.sample(config, &acked, ack - prior_una, flight_before, rtt, now);
        self.cc.on_ack(&mut self.window, &sample);
        if let Some(end) = self.probe_end {
            self.judge_tail_probe(config, &acked, end, now);
        }
        self.judge(config, &acked, &sample, now, out);
        if self.state == CaState::Open && acked.advanced {
            self.schedule_tail_probe(config, now);
        }
        self.push(config, now, out);
    }

    #[inline]
    fn count(&mut self, acked: &Acked) {
        let delivered = u64::from(acked.delivery.delivered_packets);
        self.counters.delivered_packets += delivered;
        if acked.ece {
            self.counters.ece_acks += 1;
            // Linux tcp_newly_delivered: everything an ACK with ECE delivers counts as marked.
            self.counters.delivered_ce_packets += delivered;
        }
    }

    #[inline]
    fn sample(
        &self,
        config: &EndpointConfig,
        acked: &Acked,
        acked_bytes: u64,
        flight_before: u32,
        rtt: Option<shoal_units::Span>,
        now: Time,
    ) -> AckSample {
        AckSample {
            now,
            acked_packets: acked.delivery.acked_packets,
            acked_bytes,
            delivered_packets: acked.delivery.delivered_packets,
            marked_packets: if acked.ece { acked.delivery.delivered_packets } else { 0 },
            in_flight_before: flight_before,
            delivered: self.counters.delivered_packets,
            delivered_ce: self.counters.delivered_ce_packets,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: u32::from(config.mss()),
            rtt,
            srtt: self.rtt.srtt(),
            ece: acked.ece,
            duplicate: acked.duplicate,
            app_limited: !self.is_cwnd_limited(config, flight_before),
            in_cwr: self.state == CaState::Cwr,
        }
    }

    /// Growth and the recovery state machine, in the order of the stack.
    #[inline]
    fn judge(&mut self, config: &EndpointConfig, acked: &Acked, sample: &AckSample, now: Time, out: &mut impl Output) {
        let suspicious = acked.duplicate
            || acked.ece
            || acked.dsack
            || acked.delivery.newly_sacked
            || self.state != CaState::Open;
        let new_data = acked.delivery.acked_packets > 0;
        if config.stack.grows_before_judging {
            if new_data && (!suspicious || self.may_grow_before(acked)) {
                self.cc.on_growth(&mut self.window, sample);
            }
            if suspicious {
                self.alert(config, acked, sample, now, out);
            }
        } else {
            if suspicious {
                self.alert(config, acked, sample, now, out);
            }
            let reducing = match self.state {
                CaState::Recovery => true,
                CaState::Cwr => !self.cc.grows_in_cwr(),
                _ => false,
            };
            if new_data && !reducing {
                self.cc.on_growth(&mut self.window, sample);
            }
        }
    }

    /// Linux 3.2 `tcp_may_raise_cwnd`, and its relaxation by controllers that grow in CWR (K13 III-A b).
    fn may_grow_before(&self, acked: &Acked) -> bool {
        if self.cc.grows_in_cwr() {
            return self.state != CaState::Recovery;
        }
        (!acked.ece || self.window.cwnd < self.window.ssthresh)
            && !matches!(self.state, CaState::Recovery | CaState::Cwr)
    }

    /// Reads the SACK option (Linux `tcp_sacktag_write_queue`).
    fn read_sacks(&mut self, packet: &Packet, prior_una: u64, acked: &mut Acked) {
        let timeout_high = if self.state == CaState::Loss { self.high_seq } else { 0 };
        let mut seen = [(0, 0); 3];
        for (n, block) in packet.sack.as_slice().iter().enumerate() {
            let left = block.left.near(self.snd_una);
            let right = block.right.near(self.snd_una);
            if left >= right || right > self.snd_nxt {
                continue;
            }
            if n == 0 && self.is_dsack(packet, left, right) {
                acked.dsack = true;
                // Each D-SACK explains one retransmission as unnecessary (Linux tcp_check_dsack).
                let in_episode = self.undo_marker.is_some_and(|m| right > m);
                if in_episode && self.undo_retransmissions > 0 && right <= prior_una {
                    self.undo_retransmissions -= 1;
                }
                continue;
            }
            if right <= self.snd_una {
                continue;
            }
            seen[n] = (left, right);
            // What the last ACK already said need not be read again.
            let mut from = left;
            for &(old_left, old_right) in &self.last_sacks {
                if old_left <= from && from < old_right {
                    from = old_right;
                }
            }
            if from < right {
                self.board.sack(from, right, timeout_high, &mut acked.delivery);
            }
        }
        self.last_sacks = seen;
    }

    /// RFC 2883 section 4: the first block lies below the cumulative ACK or inside the second block.
    fn is_dsack(&self, packet: &Packet, left: u64, right: u64) -> bool {
        if left < self.snd_una {
            return true;
        }
        packet.sack.as_slice().get(1).is_some_and(|second| {
            left >= second.left.near(self.snd_una) && right <= second.right.near(self.snd_una)
        })
    }

    /// The recovery state machine (Linux `tcp_fastretrans_alert`).
    fn alert(&mut self, config: &EndpointConfig, acked: &Acked, sample: &AckSample, now: Time, out: &mut impl Output) {
        if acked.ece {
            self.undo_ssthresh = 0; // The reduction is required; it must not be undone.
        }
        if self.state == CaState::Open {
            self.retransmit_stamp = 0;
        } else if self.snd_una >= self.high_seq && self.leave_episode(config, acked, now) {
            return;
        }
        match self.state {
            CaState::Recovery => self.in_recovery(config, acked, now, out),
            CaState::Loss => {
                self.in_loss(config, acked, now, out);
                if self.state == CaState::Open {
                    self.in_open(config, acked, sample, now, out);
                }
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => self.in_open(config, acked, sample, now, out),
        }
    }

    /// Everything sent before the episode is acknowledged. Returns true if the ACK needs no further thought.
    fn leave_episode(&mut self, config: &EndpointConfig, acked: &Acked, now: Time) -> bool {
        match self.state {
            CaState::Cwr => {
                // Held until something above high_seq is acknowledged, so that CWR reaches the receiver.
                if self.snd_una != self.high_seq {
                    self.complete_reduction(config);
                    self.transition_to(CaState::Open, now);
                }
                false
            }
            CaState::Recovery => {
                self.reno_sacked = 0;
                if self.try_undo_recovery(config, acked, now) {
                    return true;
                }
                self.complete_reduction(config);
                self.transition_to(CaState::Open, now);
                false
            }
            // Loss leaves by its own path, which must see the F-RTO flags first.
            CaState::Loss | CaState::Open | CaState::Disorder => false,
        }
    }

    /// Open, Disorder and CWR: watch for losses and ECN-Echo.
    fn in_open(&mut self, config: &EndpointConfig, acked: &Acked, sample: &AckSample, now: Time, out: &mut impl Output) {
        if !config.sack {
            if acked.advanced {
                self.reno_sacked = 0;
            }
            if acked.duplicate && self.reno_sacked + 1 < self.board.packets_out() {
                self.reno_sacked += 1;
            }
        }
        if self.state <= CaState::Disorder {
            self.try_undo_dsack(config);
        }
        if config.stack.loss_detection == LossDetection::Rack && config.sack {
            self.detect_rack_losses(now);
        }
        if self.is_time_to_recover(config) {
            self.enter_recovery(config, acked, now, out);
            return;
        }
        if !self.board.any_retransmission_done() {
            self.retransmit_stamp = 0;
        }
        if acked.ece {
            if self.state == CaState::Cwr {
                self.cc.on_ece_in_cwr(&mut self.window, sample);
            } else {
                self.enter_cwr(config, now);
            }
        }
        if self.state == CaState::Cwr {
            if !self.controller_cuts {
                self.reduce_in_cwr(config, acked);
            }
            return;
        }
        let disordered = self.board.left_out() + self.reno_sacked > 0 || self.board.any_retransmission_done();
        let state = if disordered { CaState::Disorder } else { CaState::Open };
        if self.state != state {
            self.transition_to(state, now);
            self.high_seq = self.snd_nxt;
        }
        if self.state != CaState::Open && config.stack.moderates_bursts {
            self.moderate_cwnd();
        }
    }
}
