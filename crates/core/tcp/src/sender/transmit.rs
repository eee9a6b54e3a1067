//! What is sent, and when the windows allow it.

use super::handshake::timestamp;
use super::scoreboard::Segment;
use super::{CaState, Connection, LinuxSender};
use crate::{EndpointConfig, Output};
use shoal_cc::CongestionControl;
use shoal_packet::{Ecn, Flags, Packet, Seq};
use shoal_units::Time;

/// The next new segment.
#[derive(Clone, Copy)]
struct Next {
    len: u16,
    fin: bool,
}

impl LinuxSender {
    /// Sends new data as long as the application, the congestion window and the peer's window allow
    /// (Linux `tcp_write_xmit`). Returns the packets sent.
    #[inline]
    pub(super) fn push(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) -> u32 {
        if self.connection != Connection::Established {
            return 0;
        }
        let mut sent = 0;
        let mut stopped = false;
        if self.has_unsent() {
            let mut flight = self.flight();
            while self.has_unsent() {
                let next = self.next_segment(config);
                if flight >= self.window.cwnd && !(next.fin && config.stack.fin_beyond_cwnd) {
                    stopped = true;
                    break;
                }
                if !self.fits_peer_window(next) || self.waits_for_more(config, next) {
                    break;
                }
                if sent == 0 && self.board.packets_out() == 0 {
                    self.on_restart(config, now);
                }
                self.send_new(config, next, now, out);
                sent += 1;
                flight += 1;
            }
        }
        if sent > 0 {
            self.after_sending(config, sent, now);
        }
        self.validate_cwnd(config, now, sent, stopped);
        sent
    }

    /// Sends one new segment whatever `cwnd` says. Returns whether there was one that the peer's window allows.
    #[cold]
    pub(super) fn push_one(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) -> bool {
        if !self.has_unsent() {
            return false;
        }
        let next = self.next_segment(config);
        if !self.fits_peer_window(next) {
            return false;
        }
        self.send_new(config, next, now, out);
        self.after_sending(config, 1, now);
        true
    }

    #[inline]
    fn after_sending(&mut self, config: &EndpointConfig, sent: u32, now: Time) {
        self.cc.on_sent(now, sent, self.snd_nxt);
        if matches!(self.state, CaState::Cwr | CaState::Recovery) {
            self.prr_out += sent;
        }
        if self.rto_deadline == Time::NEVER {
            self.arm_rto(config, now);
        }
        self.schedule_tail_probe(config, now);
    }

    /// Whether the application has data, or a FIN, that was not yet sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.snd_nxt < self.written || (self.closing && !self.fin_sent)
    }

    #[inline]
    fn next_segment(&self, config: &EndpointConfig) -> Next {
        let available = self.written - self.snd_nxt;
        let len = available.min(u64::from(config.mss())) as u16;
        Next { len, fin: self.closing && u64::from(len) == available }
    }

    #[inline]
    fn fits_peer_window(&self, next: Next) -> bool {
        let end = self.snd_nxt + u64::from(next.len) + u64::from(next.fin);
        end <= self.snd_una + u64::from(self.peer_window)
    }

    /// Nagle as modified by Minshall: one small segment in flight at most (Linux `tcp_nagle_check`). Not for the last one.
    #[inline]
    fn waits_for_more(&self, config: &EndpointConfig, next: Next) -> bool {
        !next.fin && next.len < config.mss() && self.small_end > self.snd_una
    }

    #[inline]
    fn send_new(&mut self, config: &EndpointConfig, next: Next, now: Time, out: &mut impl Output) {
        let Next { len, fin } = next;
        let start = self.snd_nxt;
        let span = len + u16::from(fin);
        self.snd_nxt += u64::from(span);
        if fin {
            self.fin_sent = true;
            // The FIN takes a stream position of its own; nothing may be written after it.
            self.written = self.snd_nxt;
        } else if len < config.mss() {
            self.small_end = self.snd_nxt;
        }
        self.board.push(Segment::new(start, span, fin, now, self.snd_nxt));
        let mut packet = self.data_packet(config, start, len, fin, now);
        // Linux tcp_ecn_send: a FIN without data counts as a pure ACK.
        if self.ecn_ok && (len > 0 || self.uses_dctcp()) {
            packet.ecn = Ecn::Ect0;
            // RFC 3168 6.1.2: CWR only on new data.
            if self.cwr_pending && len > 0 {
                packet.flags = packet.flags.with(Flags::CWR);
                self.cwr_pending = false;
            }
        }
        self.counters.segments_sent += 1;
        self.last_sent = now;
        out.transmit(packet);
    }

    #[inline]
    fn data_packet(&self, config: &EndpointConfig, start: u64, len: u16, fin: bool, now: Time) -> Packet {
        let mut packet = Packet::empty(self.flow, config.header_bytes + len);
        packet.seq = Seq::of(start);
        packet.ack = Seq(1);
        packet.flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        if start + u64::from(len) == self.written && len > 0 {
            packet.flags = packet.flags.with(Flags::PSH); // The end of a write (Linux tcp_push).
        }
        packet.payload = len;
        packet.window = config.advertised_window();
        packet.ts_val = timestamp(now);
        packet.ts_ecr = self.ts_recent;
        packet
    }

    /// Retransmits lost segments as far as the congestion window allows (Linux `tcp_xmit_retransmit_queue`).
    #[cold]
    pub(super) fn retransmit_lost(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        while self.flight() < self.window.cwnd {
            let Some(index) = self.board.next_lost() else { break };
            self.retransmit_segment(config, index, now, out);
            if matches!(self.state, CaState::Cwr | CaState::Recovery) {
                self.prr_out += 1;
            }
        }
    }

    /// Sends segment `index` of the queue again (Linux `tcp_retransmit_skb`).
    #[cold]
    pub(super) fn retransmit_segment(
        &mut self,
        config: &EndpointConfig,
        index: usize,
        now: Time,
        out: &mut impl Output,
    ) {
        self.board.retransmit(index, now, self.snd_nxt);
        self.undo_retransmissions = self.undo_retransmissions.max(0) + 1;
        if self.retransmit_stamp == 0 {
            self.retransmit_stamp = timestamp(now);
        }
        if index == 0 {
            self.arm_rto(config, now);
        }
        self.transmit_again(config, index, now, out);
    }

    /// Sends segment `index` again as a probe: no retransmission as far as recovery is concerned.
    #[cold]
    pub(super) fn repeat_segment(
        &mut self,
        config: &EndpointConfig,
        index: usize,
        now: Time,
        out: &mut impl Output,
    ) {
        self.board.repeat(index, now, self.snd_nxt);
        self.transmit_again(config, index, now, out);
    }

    fn transmit_again(&mut self, config: &EndpointConfig, index: usize, now: Time, out: &mut impl Output) {
        let segment = self.board.segment(index);
        let mut packet = self.data_packet(config, segment.start, segment.payload(), segment.is_fin(), now);
        // RFC 3168 6.1.5: retransmissions are not ECT; DCTCP stacks set ECT on everything.
        if self.uses_dctcp() {
            packet.ecn = Ecn::Ect0;
        }
        self.counters.retransmissions += 1;
        self.counters.segments_sent += 1;
        self.last_sent = now;
        out.transmit(packet);
    }

    /// Starts the retransmission timer, or stops it if nothing is in flight.
    #[inline]
    pub(super) fn arm_rto(&mut self, config: &EndpointConfig, now: Time) {
        if self.board.packets_out() == 0 {
            self.rto_deadline = Time::NEVER;
            return;
        }
        let span = self.rtt.timeout(&config.stack).saturating_mul(1 << self.backoff);
        self.rto_deadline = now + span.min(config.stack.rto_max);
    }

    /// CWR will go out with the next new data (Linux `TCP_ECN_queue_cwr`).
    pub(super) fn queue_cwr(&mut self) {
        if self.ecn_ok && self.cc.sends_cwr() {
            self.cwr_pending = true;
        }
    }
}
