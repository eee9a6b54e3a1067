//! Processing of acknowledgements (Linux `tcp_ack`, RFC 9293 section 3.10.7.4).

use super::scoreboard::Delivery;
use super::{CaState, LinuxSender, echo_age};
use crate::{BurstLimit, EndpointConfig, GrowthTurn, LossDetection, Output};
use shoal_cc::{AckSample, CongestionControl};
use shoal_packet::{Flags, Packet};
use shoal_units::{Span, Time};

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
    /// Deliveries inferred from a duplicate on a connection without SACK.
    pub reno_delivered: u32,
    /// Packets ever declared lost before it.
    pub prior_losses: u64,
}

/// What the judgement of an ACK wants to be sent, before new data as the window allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resend {
    /// Nothing.
    Nothing,
    /// New data; if there is none, what is lost (F-RTO, Linux `REXMIT_NEW`).
    New,
    /// What is lost (Linux `REXMIT_LOST`).
    Lost,
}

impl LinuxSender {
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        let ack = packet.ack.near(self.snd_una);
        if ack > self.snd_nxt || ack < self.snd_una {
            return; // Acknowledges what was never sent, or is older than what we know.
        }
        let prior_una = self.snd_una;
        let flight_before = self.flight();
        let prior_out = self.board.packets_out();
        let advanced = ack > prior_una;
        let window = u32::from(packet.window) << self.peer_window_scale;
        let window_update = advanced || window > self.peer_window;
        if window_update {
            self.peer_window = window;
        }
        let mut acked = Acked {
            delivery: Delivery::NOTHING,
            advanced,
            ece: self.ecn_ok && packet.flags.has(Flags::ECE),
            duplicate: !window_update && packet.payload == 0,
            dsack: false,
            ts_ecr: packet.ts_ecr,
            reno_delivered: 0,
            prior_losses: self.board.losses,
        };
        self.ts_recent = packet.ts_val;
        self.snd_una = ack;
        let timeout_high = if self.state == CaState::Loss { self.high_seq } else { 0 };
        if config.sack && !packet.sack.is_empty() {
            self.read_sacks(packet, prior_una, timeout_high, now, &mut acked);
        }
        if prior_out == 0 {
            self.on_ack_of_nothing(config, &mut acked, now, out);
            return;
        }
        if advanced {
            self.board.acknowledge(ack, timeout_high, now, &mut acked.delivery);
            let fin = self.fin_sent && ack == self.snd_nxt;
            self.counters.acked_bytes += ack - prior_una - u64::from(fin);
            if !config.sack {
                self.remove_reno_sacks(&mut acked);
            }
        }
        let rtt = self.measure(config, packet, &acked.delivery, now);
        if acked.delivery.acked_packets > 0 {
            self.arm_rto(config, now);
        }
        self.count(&acked);
        let mut sample = self.sample(config, &acked, ack - prior_una, flight_before, rtt, now);
        self.cc.on_ack(&mut self.window, &sample);
        if let Some(end) = self.probe_end {
            self.judge_tail_probe(config, &acked, end, now);
        }
        let resend = self.judge(config, &mut acked, &mut sample, now);
        if resend != Resend::Nothing {
            self.resend(config, resend, now, out);
        }
        let sent = self.push(config, now, out);
        // Also to stop it: with something missing there are better ways to learn more.
        if sent == 0 && (advanced || (self.early_is_probe && self.state != CaState::Open)) {
            self.schedule_tail_probe(config, now);
        }
    }

    /// Nothing was in flight: the window may have opened, or a D-SACK arrived late (Linux label `no_queue`).
    #[cold]
    fn on_ack_of_nothing(
        &mut self,
        config: &EndpointConfig,
        acked: &mut Acked,
        now: Time,
        out: &mut impl Output,
    ) {
        if acked.dsack && self.state <= CaState::Disorder {
            self.try_undo_dsack(config, now);
            self.keep_open(now);
        }
        if let Some(end) = self.probe_end {
            self.judge_tail_probe(config, acked, end, now);
        }
        self.push(config, now, out);
    }

    /// The duplicates stood for packets that the cumulative ACK now covers; one ACK covers one hole besides (Linux
    /// `tcp_remove_reno_sacks`).
    #[cold]
    fn remove_reno_sacks(&mut self, acked: &mut Acked) {
        let covered = acked.delivery.acked_packets;
        if acked.delivery.retransmitted_acked {
            acked.delivery.original_delivered = false; // Who knows which of the two arrived.
        }
        if self.reno_sacked > 0 && covered > 0 {
            // They were counted as delivered when their duplicates came.
            acked.delivery.delivered_packets = covered.saturating_sub(self.reno_sacked).max(1);
            self.reno_sacked = self.reno_sacked.saturating_sub(covered - 1);
        }
        self.reno_sacked = self.reno_sacked.min(self.board.packets_out().saturating_sub(1));
    }

    /// Takes an RTT sample if the ACK gives one; returns what controllers may use (Linux `tcp_ack_update_rtt`).
    #[inline]
    fn measure(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        delivery: &Delivery,
        now: Time,
    ) -> Option<Span> {
        // Karn: no transmission time of an ACK that covers a retransmission. The estimator takes the first segment, as
        // the echoed timestamp would; controllers take the last (Linux seq_rtt and ca_rtt).
        if delivery.first_sent != Time::NEVER && !delivery.retransmitted_acked {
            self.take_rtt(config, now.since(delivery.first_sent));
            return Some(now.since(delivery.last_sent));
        }
        self.measure_otherwise(config, packet, delivery, now)
    }

    #[cold]
    fn measure_otherwise(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        delivery: &Delivery,
        now: Time,
    ) -> Option<Span> {
        if config.stack.rtt_from_sack && delivery.first_sacked != Time::NEVER {
            let rtt = now.since(delivery.first_sacked);
            self.take_rtt(config, rtt);
            return Some(rtt);
        }
        if delivery.acked_packets > 0
            && let Some(rtt) = echo_age(packet, now)
        {
            self.take_rtt(config, rtt);
        }
        None
    }

    #[inline]
    fn take_rtt(&mut self, config: &EndpointConfig, rtt: Span) {
        self.rtt.sample(rtt, self.snd_una, self.snd_nxt, &config.stack);
        self.board.rack.set_min_rtt(self.rtt.min());
        self.backoff = 0;
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
        rtt: Option<Span>,
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
    fn judge(
        &mut self,
        config: &EndpointConfig,
        acked: &mut Acked,
        sample: &mut AckSample,
        now: Time,
    ) -> Resend {
        let dubious = acked.duplicate
            || acked.ece
            || acked.dsack
            || acked.delivery.newly_sacked
            || self.state != CaState::Open;
        let new_data = acked.delivery.acked_packets > 0;
        if !dubious {
            if new_data {
                self.grow(sample);
            }
            return Resend::Nothing;
        }
        let grows_first = match config.stack.growth_turn {
            GrowthTurn::BeforeUnlessEce => {
                (!acked.ece || self.window.cwnd < self.window.ssthresh || self.cc.grows_in_cwr())
                    && self.may_grow()
            }
            GrowthTurn::Before => self.may_grow(),
            GrowthTurn::After => false,
        };
        if new_data && grows_first {
            self.grow(sample);
        }
        let resend = self.alert(config, acked, sample, now);
        if new_data && config.stack.growth_turn == GrowthTurn::After && self.may_grow() {
            // Linux since 4.6 passes what was delivered: SACKed packets have had their turn.
            sample.acked_packets = acked.delivery.delivered_packets + acked.reno_delivered;
            self.grow(sample);
        }
        resend
    }

    #[inline]
    fn grow(&mut self, sample: &AckSample) {
        self.cc.on_growth(&mut self.window, sample);
        self.cwnd_stamp = sample.now;
    }

    /// Whether the state allows growth (Linux `tcp_may_raise_cwnd`), with the relaxation of controllers that grow in CWR
    /// (Kuehlewind et al. 2014, section III-A b).
    fn may_grow(&self) -> bool {
        match self.state {
            CaState::Recovery => false,
            CaState::Cwr => self.cc.grows_in_cwr(),
            _ => true,
        }
    }

    /// The recovery state machine (Linux `tcp_fastretrans_alert`).
    fn alert(&mut self, config: &EndpointConfig, acked: &mut Acked, sample: &AckSample, now: Time) -> Resend {
        if acked.ece {
            self.undo_ssthresh = 0; // The reduction is required; it must not be undone.
        }
        if self.board.sacked > 0 && self.is_reneging() {
            return self.on_reneging(config, now);
        }
        if self.state == CaState::Open {
            self.retransmit_stamp = 0;
        } else if self.snd_una >= self.high_seq && self.leave_episode(config, acked, now) {
            return Resend::Nothing;
        }
        match self.state {
            CaState::Recovery => self.in_recovery(config, acked, now),
            CaState::Loss => {
                let resend = self.in_loss(config, acked, now);
                if self.lost_again_in_loss(config, now) || self.state == CaState::Open {
                    return self.in_open(config, acked, sample, now);
                }
                if config.stack.burst_limit == BurstLimit::Always && resend == Resend::Lost {
                    self.moderate_cwnd();
                }
                resend
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => self.in_open(config, acked, sample, now),
        }
    }

    /// The peer acknowledged up to data that it had SACKed.
    fn is_reneging(&self) -> bool {
        self.board.head().is_some_and(super::scoreboard::Segment::is_sacked)
    }

    /// Everything sent before the episode is acknowledged. Returns true if the ACK needs no further thought.
    fn leave_episode(&mut self, config: &EndpointConfig, acked: &Acked, now: Time) -> bool {
        match self.state {
            CaState::Cwr => {
                // Held until something above high_seq is acknowledged, so that CWR reaches the receiver.
                if self.snd_una != self.high_seq {
                    self.complete_reduction(config, now);
                    self.transition_to(CaState::Open, now);
                }
                false
            }
            CaState::Recovery => {
                self.reno_sacked = 0;
                if self.try_undo_recovery(config, acked, now) {
                    return true;
                }
                self.complete_reduction(config, now);
                self.transition_to(CaState::Open, now);
                false
            }
            // Loss leaves by its own path, which must see the F-RTO flags first.
            CaState::Loss | CaState::Open | CaState::Disorder => false,
        }
    }

    /// Open, Disorder and CWR: watch for losses and ECN-Echo.
    fn in_open(
        &mut self,
        config: &EndpointConfig,
        acked: &mut Acked,
        sample: &AckSample,
        now: Time,
    ) -> Resend {
        if !config.sack {
            if acked.advanced {
                self.reno_sacked = 0;
            }
            self.add_reno_sack(config, acked);
        }
        if self.state <= CaState::Disorder {
            self.try_undo_dsack(config, now);
        }
        if config.stack.loss_detection == LossDetection::Rack && config.sack && self.may_have_lost() {
            self.detect_rack_losses(now);
        }
        if self.is_time_to_recover(config) {
            return self.enter_recovery(config, acked, now);
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
            return Resend::Nothing;
        }
        self.keep_open(now);
        if self.state != CaState::Open && config.stack.burst_limit == BurstLimit::Always {
            self.moderate_cwnd();
        }
        Resend::Nothing
    }

    /// RACK needs something delivered out of order: a SACK, or a retransmission.
    fn may_have_lost(&self) -> bool {
        self.board.sacked > 0 || self.board.retransmitted > 0 || self.board.any_retransmission_done()
    }

    /// Sends what the judgement asked for.
    #[cold]
    fn resend(&mut self, config: &EndpointConfig, resend: Resend, now: Time, out: &mut impl Output) {
        if resend == Resend::New {
            self.push(config, now, out);
            if self.snd_nxt > self.high_seq {
                return;
            }
            self.frto = false;
        }
        self.retransmit_lost(config, now, out);
    }
}
