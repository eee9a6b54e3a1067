//! Processing of acknowledgements (Linux `tcp_ack`, RFC 9293 section 3.10.7.4,
//! <https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4>).

use super::acked::{Acked, Resend};
use super::sacks::SackOption;
use super::segment::Delivery;
use super::{CaState, Call, LinuxSender, Moment};
use crate::accurate::Acknowledged;
use crate::timestamps::echo_age_in_ticks;
use crate::{BurstLimit, GrowthTurn, LossDetection, Output};
use shoal_cc::{AckSample, CongestionControl};
use shoal_packet::Packet;
use shoal_units::Span;
use shoal_units::cast::fit_u32;

impl LinuxSender {
    /// Processes an ACK.
    #[inline]
    pub(super) fn on_ack(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet) {
        let ack = packet.ack.near(self.snd_una);
        if ack > self.snd_nxt || ack < self.snd_una {
            self.on_other_ack(call, packet, ack);
            return;
        }
        let is_sampled = self.rates.is_some();
        if is_sampled {
            self.note_before_ack();
        }
        let flight_before = self.board.in_flight();
        let prior_out = self.board.packets_out();
        let prior_highest = self.board.highest_sacked_or(self.snd_una);
        let mut acked = self.read(packet, ack);
        let timeout_high = if self.state == CaState::Loss { self.high_seq } else { 0 };
        if call.config.sack && !packet.sack.is_empty() {
            self.read_sacks(call, packet, timeout_high, &mut acked);
            if is_sampled {
                self.read_sacked_stamps();
            }
        }
        if prior_out == 0 {
            self.on_ack_of_nothing(call, packet, &mut acked);
            return;
        }
        if acked.advanced {
            if is_sampled {
                self.read_acknowledged_stamps(ack);
            }
            self.advance(call, timeout_high, prior_highest, &mut acked);
        }
        if self.degree.was_seen() {
            self.adjust_degree(call, &acked.delivery);
        }
        self.read_marks(call, packet, &mut acked);
        let rtt = self.measure(call, packet, &acked.delivery);
        if acked.delivery.acked_packets > 0 || self.has_sacked_older_than_head(call, &acked.delivery) {
            self.arm_rto(call);
        }
        self.count(&acked);
        let mut sample = self.sample(call, &acked, flight_before, rtt);
        self.cc.on_ack(&mut self.window, &sample);
        if self.probe.is_open() {
            self.judge_tail_probe(call, &acked);
        }
        let resend = self.judge(call, &mut acked, &mut sample);
        if is_sampled {
            self.give_sample(call, &acked, rtt);
        }
        if resend != Resend::Nothing {
            self.resend(call, resend);
        }
        let sent = self.push(call);
        // Also to stop the probe: if a packet is missing, other mechanisms report sooner.
        let stops_probe = self.timers.early_is_probe() && self.state != CaState::Open;
        if sent == 0 && (acked.advanced || stops_probe) {
            self.schedule_tail_probe(call, true);
        }
    }

    /// Whether an ACK SACKs data that were sent before the head was last sent, which shows an RTT that a
    /// retransmission of the head has yet to take (Linux `tcp_clean_rtx_queue`, `FLAG_SET_XMIT_TIMER`).
    fn has_sacked_older_than_head(&self, at: &Moment<'_>, delivery: &Delivery) -> bool {
        Self::uses_rack(at)
            && delivery.newly_sacked
            && self.board.head().is_some_and(|head| delivery.first_sacked < head.sent)
    }

    /// Reads the position, window and flags of an ACK up to `ack`.
    #[inline]
    fn read(&mut self, packet: &Packet, ack: u64) -> Acked {
        let prior_una = self.snd_una;
        let advanced = ack > prior_una;
        let window = self.connection.read(packet);
        let window_update = advanced || window > self.connection.peer_window;
        if window_update {
            self.connection.peer_window = window;
        }
        self.snd_una = ack;
        Acked {
            delivery: Delivery::NOTHING,
            prior_una,
            advanced,
            ece: self.connection.ecn.echoed_by(packet),
            marked_packets: 0,
            duplicate: !window_update && packet.payload == 0,
            dsack: false,
            ts_ecr: packet.ts_ecr,
            reno_delivered: 0,
            prior_losses: self.board.losses,
        }
    }

    /// Handles an ACK of what was never sent, which is ignored, or one older than what is known, whose SACK blocks may
    /// still be news (Linux label `old_ack`).
    #[cold]
    fn on_other_ack(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet, ack: u64) {
        if ack > self.snd_nxt || !call.config.sack || packet.sack.is_empty() {
            return;
        }
        let mut acked = Acked { ts_ecr: packet.ts_ecr, ..Acked::nothing(self.snd_una, self.board.losses) };
        let flight_before = self.board.in_flight();
        let timeout_high = if self.state == CaState::Loss { self.high_seq } else { 0 };
        self.read_sacks(call, packet, timeout_high, &mut acked);
        self.read_sacked_stamps();
        self.count(&acked);
        let sample = self.sample(call, &acked, flight_before, None);
        if call.rules.growth_turn == GrowthTurn::After {
            acked.delivery.delivered_packets = 0; // The window is not reduced on this path.
        }
        let resend = self.alert(call, &mut acked, &sample);
        if resend != Resend::Nothing {
            self.resend(call, resend);
        }
        self.push(call);
    }

    /// Reads the SACK option: data that were received twice explain retransmissions; the other blocks update the
    /// scoreboard, and show reordering.
    #[cold]
    fn read_sacks(&mut self, at: &Moment<'_>, packet: &Packet, timeout_high: u64, acked: &mut Acked) {
        let option = SackOption::new(packet, self.snd_una, self.snd_nxt);
        let repeated = option.duplicate().and_then(|range| self.on_duplicate(at, range, acked));
        let overtaken = self.board.read_sacks(&option, timeout_high, at.now, &mut acked.delivery);
        let first = [repeated, overtaken].into_iter().flatten().min();
        if let Some(start) = first
            && (self.state != CaState::Loss || self.undo.is_open())
        {
            self.note_overtaken(at, start);
        }
    }

    /// Data were received twice: one retransmission is explained if the data are no longer in the queue (Linux
    /// `tcp_check_dsack`), else those still in the queue. Returns the start of the first segment whose retransmission
    /// came after its original had been SACKed.
    #[cold]
    fn on_duplicate(&mut self, at: &Moment<'_>, (left, right): (u64, u64), acked: &mut Acked) -> Option<u64> {
        let learns = at.rules.loss_detection == LossDetection::Rack;
        if learns {
            let segments = fit_u32((right - left).div_ceil(u64::from(at.mss)));
            let is_probe = segments == 1 && self.probe.ends_at(right);
            if !self.degree.note_duplicates(segments, self.counters.retransmissions, is_probe) {
                return None;
            }
            acked.delivery.delivered_packets += segments;
        }
        acked.dsack = true;
        let forgotten = right <= acked.prior_una;
        let board = &self.board;
        self.undo.explain(
            right,
            |marker| if forgotten { 1 } else { board.retransmitted_within(left, right, marker) },
        );
        self.board.note_arrived_twice(left, right)
    }

    /// Removes what an advancing ACK covers from the queue. `prior_highest`: end of what had been SACKed before it.
    #[inline]
    fn advance(&mut self, at: &Moment<'_>, timeout_high: u64, prior_highest: u64, acked: &mut Acked) {
        let una = self.snd_una;
        let overtaken = if prior_highest > acked.prior_una && at.config.sack {
            self.board.first_original_below(una).filter(|&start| start < prior_highest)
        } else {
            None
        };
        self.board.acknowledge((una, acked.ts_ecr), timeout_high, at.now, &mut acked.delivery);
        if let Some(start) = overtaken {
            self.note_overtaken(at, start);
        }
        let fin = self.stream.fin_sent && self.snd_una == self.snd_nxt;
        self.counters.acked_bytes += self.snd_una - acked.prior_una - u64::from(fin);
        if !at.config.sack && self.board.remove_duplicates(&mut acked.delivery) {
            self.note_surplus(at, acked.delivery.acked_packets);
        }
    }

    /// Handles an ACK with nothing in flight: the window may have opened, or a D-SACK may be late (Linux
    /// label `no_queue`). To DCTCP every such ACK is the end of a window without marks.
    #[cold]
    fn on_ack_of_nothing(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet, acked: &mut Acked) {
        self.read_marks(call, packet, acked);
        let sample = self.sample(call, acked, 0, None);
        self.cc.on_ack(&mut self.window, &sample);
        if acked.dsack {
            self.count(acked);
            if self.state <= CaState::Disorder {
                self.try_undo_dsack(call);
                self.keep_open(call.now);
            }
        }
        if self.probe.is_open() {
            self.judge_tail_probe(call, acked);
        }
        self.push(call);
    }

    /// Takes an RTT sample if the ACK gives one; returns what controllers may use (Linux `tcp_ack_update_rtt`).
    #[inline]
    fn measure(&mut self, at: &Moment<'_>, packet: &Packet, delivery: &Delivery) -> Option<Span> {
        // Karn: no transmission time of an ACK that covers a retransmission. The estimator takes the first segment, as
        // the echoed timestamp would; controllers take the last (Linux seq_rtt and ca_rtt).
        if delivery.gives_rtt() {
            let newest = at.now.since(delivery.last_sent);
            self.take_rtt(at, at.now.since(delivery.first_sent), newest);
            return Some(newest);
        }
        self.measure_otherwise(at, packet, delivery)
    }

    #[cold]
    fn measure_otherwise(&mut self, at: &Moment<'_>, packet: &Packet, delivery: &Delivery) -> Option<Span> {
        if at.rules.rtt_from_sack && delivery.newly_sacked_original() {
            let rtt = at.now.since(delivery.first_sacked);
            self.take_rtt(at, rtt, rtt);
            return Some(rtt);
        }
        if delivery.acked_packets > 0
            && let Some(rtt) = echo_age_in_ticks(packet, 1, at.now)
        {
            self.take_rtt(at, rtt, rtt);
            return at.rules.controllers_take_echoes.then_some(rtt);
        }
        None
    }

    /// Takes a sample of the RTT: `rtt` for the timeout, and `newest`, that of the packet delivered last, for the
    /// smallest (Linux `tcp_ack_update_rtt`).
    #[inline]
    pub(super) fn take_rtt(&mut self, at: &Moment<'_>, rtt: Span, newest: Span) {
        self.rtt.sample(rtt, self.snd_una, self.snd_nxt, &at.config.stack);
        self.rtt.note_newest(newest);
        self.board.rack.set_min_rtt(self.rtt.min());
    }

    /// Finds out how many packets the ACK reports to have been marked: by classic ECN all that an ACK with ECE
    /// delivers (Linux `tcp_newly_delivered`).
    #[inline]
    fn read_marks(&mut self, at: &Moment<'_>, packet: &Packet, acked: &mut Acked) {
        if self.connection.ecn.classic {
            acked.marked_packets = if acked.ece { acked.delivery.delivered_packets } else { 0 };
        } else if self.connection.ecn.accurate.is_some() {
            self.read_accurate_marks(at, packet, acked);
        }
    }

    /// Reads the feedback of accurate ECN (Linux `tcp_accecn_process`).
    #[cold]
    fn read_accurate_marks(&mut self, at: &Moment<'_>, packet: &Packet, acked: &mut Acked) {
        let delivery = &acked.delivery;
        let bytes = (self.snd_una - acked.prior_una).saturating_add_signed(delivery.sacked_bytes);
        let acknowledged = Acknowledged {
            packets: delivery.delivered_packets,
            bytes,
            is_new: delivery.acked_packets > 0 || delivery.newly_sacked,
            has_timestamps: at.config.option_bytes() > 0,
            mss: at.mss,
            knows_packets: at.config.sack || matches!(self.state, CaState::Open | CaState::Cwr),
            sent_bytes: self.snd_nxt,
        };
        acked.marked_packets = self.connection.ecn.read(packet, &acknowledged);
        acked.ece = acked.marked_packets > 0;
    }

    #[inline]
    fn count(&mut self, acked: &Acked) {
        self.counters.delivered_packets += u64::from(acked.delivery.delivered_packets);
        if acked.ece {
            self.counters.ece_acks += 1;
            self.counters.delivered_ce_packets += u64::from(acked.marked_packets);
        }
    }

    #[inline]
    fn sample(&self, at: &Moment<'_>, acked: &Acked, flight_before: u32, rtt: Option<Span>) -> AckSample {
        AckSample {
            now: at.now,
            acked_packets: acked.delivery.acked_packets,
            acked_bytes: self.snd_una - acked.prior_una,
            delivered_packets: acked.delivery.delivered_packets,
            marked_packets: acked.marked_packets,
            in_flight_before: flight_before,
            delivered: self.counters.delivered_packets,
            delivered_ce: self.counters.delivered_ce_packets,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: u32::from(at.config.mss()),
            rtt,
            srtt: self.rtt.srtt(),
            ts_val: self.connection.ts_recent(),
            ts_ecr: acked.ts_ecr,
            ece: acked.ece,
            duplicate: acked.duplicate,
            app_limited: !self.is_cwnd_limited(at, flight_before),
            in_cwr: self.state == CaState::Cwr,
        }
    }

    /// Runs window growth and the recovery state machine, in the order of the stack.
    #[inline]
    fn judge(&mut self, at: &Moment<'_>, acked: &mut Acked, sample: &mut AckSample) -> Resend {
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
        let grows_first = match at.rules.growth_turn {
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
        let resend = self.alert(at, acked, sample);
        let progress = new_data || (self.degree.is_high() && acked.delivery.newly_sacked);
        if progress && at.rules.growth_turn == GrowthTurn::After && self.may_grow() {
            // Linux since 4.6 passes what was delivered: SACKed packets have been counted before.
            sample.acked_packets = acked.delivery.delivered_packets + acked.reno_delivered;
            self.grow(sample);
        }
        resend
    }

    #[inline]
    fn grow(&mut self, sample: &AckSample) {
        self.cc.on_growth(&mut self.window, sample);
        self.usage.stamp = sample.now;
    }

    /// Whether the state allows growth (Linux `tcp_may_raise_cwnd`), with the relaxation of controllers that grow in
    /// CWR (Kuehlewind et al. 2014, section III-A b).
    fn may_grow(&self) -> bool {
        match self.state {
            CaState::Recovery => false,
            CaState::Cwr => self.cc.grows_in_cwr(),
            _ => true,
        }
    }

    /// The recovery state machine (Linux `tcp_fastretrans_alert`).
    fn alert(&mut self, at: &Moment<'_>, acked: &mut Acked, sample: &AckSample) -> Resend {
        if acked.ece {
            self.undo.forbid(); // The reduction is required.
        }
        if self.board.is_reneging() {
            return self.on_reneging(at);
        }
        if self.state == CaState::Open {
            self.undo.forget_retransmissions();
        } else if self.snd_una >= self.high_seq && self.leave_episode(at, acked) {
            return Resend::Nothing;
        }
        match self.state {
            CaState::Recovery => self.in_recovery(at, acked),
            CaState::Loss => {
                let resend = self.in_loss(at, acked);
                if self.lost_again_in_loss(at) || self.state == CaState::Open {
                    return self.in_open(at, acked, sample);
                }
                if at.rules.burst_limit == BurstLimit::Always && resend == Resend::Lost {
                    self.moderate_cwnd();
                }
                resend
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => self.in_open(at, acked, sample),
        }
    }

    /// Ends an episode when everything sent before it is acknowledged. Returns true if the ACK needs no
    /// further processing.
    fn leave_episode(&mut self, at: &Moment<'_>, acked: &Acked) -> bool {
        match self.state {
            CaState::Cwr => {
                // Held until something above high_seq is acknowledged, so that CWR reaches the receiver.
                if self.snd_una != self.high_seq {
                    self.complete_reduction(at);
                    self.transition_to(CaState::Open, at.now);
                }
                false
            }
            CaState::Recovery => {
                self.board.duplicates = 0;
                if self.try_undo_recovery(at, acked) {
                    return true;
                }
                self.complete_reduction(at);
                self.transition_to(CaState::Open, at.now);
                false
            }
            // Loss leaves by its own path, which must see the F-RTO flags first.
            CaState::Loss | CaState::Open | CaState::Disorder => false,
        }
    }

    /// Open, Disorder and CWR: watch for losses and ECN-Echo.
    fn in_open(&mut self, at: &Moment<'_>, acked: &mut Acked, sample: &AckSample) -> Resend {
        if !at.config.sack {
            if acked.advanced {
                self.board.duplicates = 0;
            }
            self.add_duplicate(at, acked);
        }
        if self.state <= CaState::Disorder {
            self.try_undo_dsack(at);
        }
        if Self::uses_rack(at) && self.board.may_have_lost() {
            self.detect_rack_losses(at);
        }
        if self.is_time_to_recover(at) {
            return self.enter_recovery(at, acked);
        }
        if !self.board.any_retransmission_done() {
            self.undo.forget_retransmissions();
        }
        if acked.ece {
            if self.state == CaState::Cwr {
                self.cc.on_ece_in_cwr(&mut self.window, sample);
            } else {
                self.enter_cwr(at);
            }
        }
        if self.state == CaState::Cwr {
            if !self.reduction.controller_cuts {
                self.reduce(at, at.rules.cwr, acked, false);
            }
            return Resend::Nothing;
        }
        self.keep_open(at.now);
        if self.state != CaState::Open && at.rules.burst_limit == BurstLimit::Always {
            self.moderate_cwnd();
        }
        Resend::Nothing
    }

    /// Sends what the state machine requested.
    #[cold]
    fn resend(&mut self, call: &mut Call<'_, impl Output>, resend: Resend) {
        if resend == Resend::New {
            self.push(call);
            if self.snd_nxt > self.high_seq {
                return;
            }
            self.loss.end_frto();
        }
        self.retransmit_lost(call);
    }
}
