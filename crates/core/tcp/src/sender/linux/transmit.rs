//! Sending of data as the windows allow.

use super::segment::Segment;
use super::{CaState, Call, LinuxSender, Moment};
use crate::Output;
use crate::timestamps::tick;
use shoal_cc::CongestionControl;
use shoal_packet::{Ecn, Flags, Packet};
use shoal_units::Time;
use shoal_units::cast::fit_u16;

/// What a segment has.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub len: u16,
    pub fin: bool,
}

impl LinuxSender {
    /// Sends new data as long as the application, the congestion window and the peer's window allow
    /// (Linux `tcp_write_xmit`). Returns the packets sent.
    #[inline]
    pub(super) fn push(&mut self, call: &mut Call<'_, impl Output>) -> u32 {
        if !self.connection.is_established() {
            return 0;
        }
        if self.segmentation.is_some() {
            return self.push_segments(call);
        }
        let mut sent = 0;
        let mut stopped = false;
        let mut flight = self.board.in_flight();
        while self.has_unsent() {
            let next = self.next_segment(call);
            if flight >= self.window.cwnd && !(next.fin && call.rules.fin_beyond_cwnd) {
                stopped = true;
                break;
            }
            if !self.fits_peer_window(next) || self.waits_for_more(call, next) {
                break;
            }
            if sent == 0 && self.board.packets_out() == 0 {
                self.on_restart(call);
            }
            self.send_new(call, next, false, call.now);
            sent += 1;
            flight += 1;
        }
        if sent > 0 {
            self.after_sending(call, sent);
        }
        self.validate_cwnd(call, sent, stopped);
        sent
    }

    /// Sends one new segment whatever `cwnd` is. Returns whether there was one that the peer's window allows.
    #[cold]
    pub(super) fn push_one(&mut self, call: &mut Call<'_, impl Output>) -> bool {
        if !self.has_unsent() {
            return false;
        }
        let next = self.next_segment(call);
        if !self.fits_peer_window(next) || self.is_refused(call, next.len.into()) {
            return false;
        }
        let leaves = self.begin_paced(call);
        self.send_new(call, next, false, leaves);
        self.end_paced(call, next.len);
        self.after_sending(call, 1);
        true
    }

    #[inline]
    pub(super) fn after_sending(&mut self, at: &Moment<'_>, sent: u32) {
        self.cc.on_sent(at.now, sent, self.snd_nxt);
        self.count_sent_in_reduction(sent);
        if !self.timers.retransmission_is_armed() {
            self.arm_rto(at);
        }
        self.schedule_tail_probe(at, false);
    }

    #[inline]
    fn count_sent_in_reduction(&mut self, packets: u32) {
        if matches!(self.state, CaState::Cwr | CaState::Recovery) {
            self.reduction.note_sent(packets);
        }
    }

    /// Whether the application has data, or a FIN, that was not yet sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.stream.has_unsent(self.snd_nxt)
    }

    #[inline]
    fn next_segment(&self, at: &Moment<'_>) -> Next {
        let available = self.stream.written - self.snd_nxt;
        let len = fit_u16(available.min(u64::from(at.mss)));
        Next { len, fin: self.stream.closing && u64::from(len) == available }
    }

    #[inline]
    pub(super) fn fits_peer_window(&self, next: Next) -> bool {
        let end = self.snd_nxt + u64::from(next.len) + u64::from(next.fin);
        end <= self.snd_una + u64::from(self.connection.peer_window)
    }

    /// Whether a small segment waits. Not for the last one.
    #[inline]
    pub(super) fn waits_for_more(&self, at: &Moment<'_>, next: Next) -> bool {
        !next.fin && next.len < at.mss && self.small_ones_wait(at)
    }

    /// Whether small segments wait now: Nagle as modified by Minshall allows one in flight (Linux `tcp_nagle_check`).
    pub(super) fn small_ones_wait(&self, at: &Moment<'_>) -> bool {
        !at.config.no_delay && self.small_end > self.snd_una
    }

    /// Sends a new packet that leaves the host at `leaves`, or later.
    #[inline]
    pub(super) fn send_new(
        &mut self,
        call: &mut Call<'_, impl Output>,
        next: Next,
        pushes: bool,
        leaves: Time,
    ) {
        let Next { len, fin } = next;
        let start = self.snd_nxt;
        let span = len + u16::from(fin);
        self.snd_nxt += u64::from(span);
        if fin {
            self.stream.end_at(self.snd_nxt);
        } else if len < call.mss {
            self.small_end = self.snd_nxt;
        }
        self.board.push(Segment::new(start, span, fin, leaves, self.snd_nxt));
        if let Some(rates) = &mut self.rates {
            rates.note_sent(&self.board, leaves, self.counters.delivered_packets + 1);
        }
        let mut packet = self.packet_of(call, start, next, leaves);
        if pushes {
            packet.flags = packet.flags.with(Flags::PSH);
        }
        // Linux tcp_ecn_send: a FIN without data counts as a pure ACK.
        if self.connection.ecn.classic {
            if len > 0 || self.uses_dctcp() {
                packet.ecn = Ecn::Ect0;
            }
            // RFC 3168 (https://www.rfc-editor.org/rfc/rfc3168) 6.1.2: CWR only on new data.
            if len > 0 {
                self.connection.ecn.attach_cwr(&mut packet);
            }
        } else if self.connection.ecn.accurate.is_some() {
            return self.transmit_accurate(call, packet);
        }
        self.transmit(call, packet);
    }

    #[inline]
    fn packet_of(&self, at: &Moment<'_>, start: u64, Next { len, fin }: Next, leaves: Time) -> Packet {
        let mut packet = self.connection.segment(at.config, start, len, leaves);
        if fin {
            packet.flags = packet.flags.with(Flags::FIN);
        }
        // The end of a write (Linux tcp_push), and half of a window within one.
        let ends = start + u64::from(len) == self.stream.written && len > 0;
        if ends || self.stream.is_pushed(start, at.mss) {
            packet.flags = packet.flags.with(Flags::PSH);
        }
        packet
    }

    #[inline]
    fn transmit(&mut self, call: &mut Call<'_, impl Output>, packet: Packet) {
        self.counters.segments_sent += 1;
        self.last_sent = call.now;
        call.transmit(packet);
    }

    /// Sends a packet with the feedback of accurate ECN. Apart from [`Self::transmit`], so that other packets need
    /// not lie in memory.
    #[cold]
    #[inline(never)]
    fn transmit_accurate(&mut self, call: &mut Call<'_, impl Output>, mut packet: Packet) {
        self.connection.ecn.write_accurate(call.config, &mut packet, call.now, self.rtt.srtt());
        self.transmit(call, packet);
    }

    /// Retransmits lost segments as far as the congestion window allows (Linux `tcp_xmit_retransmit_queue`).
    #[cold]
    pub(super) fn retransmit_lost(&mut self, call: &mut Call<'_, impl Output>) {
        while self.board.in_flight() < self.window.cwnd {
            if self.waits_for_pacing(call) {
                break;
            }
            let Some(index) = self.board.next_lost() else { break };
            if !self.retransmit_segment(call, index) {
                break;
            }
            self.count_sent_in_reduction(1);
        }
    }

    /// Retransmits segment `index` of the queue (Linux `tcp_retransmit_skb`). Returns whether the host has taken it;
    /// what it refuses counts as retransmitted.
    #[cold]
    pub(super) fn retransmit_segment(&mut self, call: &mut Call<'_, impl Output>, index: usize) -> bool {
        if self.is_refused(call, self.board.segment(index).payload().into()) {
            self.board.note_attempt(index);
            self.undo.note_retransmission(tick(call.now));
            self.counters.retransmissions += 1;
            return false;
        }
        let leaves = self.begin_paced(call);
        self.board.retransmit(index, leaves, self.snd_nxt);
        self.undo.note_retransmission(tick(leaves));
        if index == 0 {
            self.arm_rto(call);
        }
        self.transmit_again(call, index, leaves);
        true
    }

    /// Sends segment `index` again as a probe, which recovery does not count as a retransmission. Returns whether the
    /// host has taken it.
    #[cold]
    pub(super) fn repeat_segment(&mut self, call: &mut Call<'_, impl Output>, index: usize) -> bool {
        if self.is_refused(call, self.board.segment(index).payload().into()) {
            return false;
        }
        let leaves = self.begin_paced(call);
        self.board.repeat(index, leaves, self.snd_nxt);
        self.transmit_again(call, index, leaves);
        true
    }

    fn transmit_again(&mut self, call: &mut Call<'_, impl Output>, index: usize, leaves: Time) {
        if let Some(rates) = &mut self.rates {
            rates.note_sent_again(&self.board, index, self.counters.delivered_packets + 1);
        }
        let segment = self.board.segment(index);
        let content = Next { len: segment.payload(), fin: segment.is_fin() };
        let mut packet = self.packet_of(call, segment.start, content, leaves);
        // RFC 3168 6.1.5: retransmissions are not ECT; DCTCP stacks set ECT on everything.
        if self.uses_dctcp() {
            packet.ecn = Ecn::Ect0;
        }
        self.counters.retransmissions += 1;
        let len = packet.payload;
        if self.connection.ecn.accurate.is_some() {
            self.transmit_accurate(call, packet);
        } else {
            self.transmit(call, packet);
        }
        self.end_paced(call, len);
    }

    /// Starts the retransmission timer, or stops it if nothing is in flight.
    pub(super) fn arm_rto(&mut self, at: &Moment<'_>) {
        if self.board.packets_out() == 0 {
            self.timers.stop_retransmission();
        } else {
            let timeout = self.rtt.backed_off_timeout(&at.config.stack);
            self.timers.start_retransmission(at.now + timeout, at.now);
        }
    }
}
