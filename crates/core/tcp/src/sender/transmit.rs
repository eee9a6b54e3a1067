//! What is sent, and when the windows allow it.

use super::handshake::timestamp;
use super::scoreboard::Segment;
use super::{CaState, Connection, Sender};
use crate::{EndpointConfig, Output};
use shoal_cc::CongestionControl;
use shoal_packet::{Ecn, Flags, Packet, Seq};
use shoal_units::Time;

impl Sender {
    /// Sends new data as long as the application, the congestion window and the peer's window allow
    /// (Linux `tcp_write_xmit`).
    #[inline]
    pub(super) fn push(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if self.connection != Connection::Established {
            return;
        }
        let mut sent = 0;
        let mut limited_by_cwnd = false;
        let flight = self.flight();
        while self.has_unsent() {
            let available = self.written - self.snd_nxt;
            let len = available.min(u64::from(config.mss())) as u16;
            let fin = self.closing && u64::from(len) == available;
            if flight + sent >= self.window.cwnd {
                limited_by_cwnd = true;
                break;
            }
            if self.snd_nxt + u64::from(len) > self.snd_una + u64::from(self.peer_window) {
                break;
            }
            if !fin && len < config.mss() && self.small_end > self.snd_una {
                break; // Nagle as modified by Minshall: one small segment in flight at most (Linux tcp_nagle_check).
            }
            if sent == 0 && self.board.packets_out() == 0 {
                self.on_restart(config, now);
            }
            self.send_new(config, len, fin, now, out);
            sent += 1;
        }
        if sent > 0 {
            self.cc.on_sent(now, sent, self.snd_nxt);
            if self.state >= CaState::Cwr && self.state != CaState::Loss {
                self.prr_out += sent;
            }
            if self.rto_deadline == Time::NEVER {
                self.arm_rto(config, now);
            }
            self.schedule_tail_probe(config, now);
        }
        self.validate_cwnd(config, now, limited_by_cwnd);
    }

    /// Whether the application has data, or a FIN, that was not yet sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.snd_nxt < self.written || (self.closing && !self.fin_sent)
    }

    fn send_new(&mut self, config: &EndpointConfig, len: u16, fin: bool, now: Time, out: &mut impl Output) {
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
        if self.ecn_ok {
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
        packet.payload = len;
        packet.window = config.advertised_window();
        packet.ts_val = timestamp(now);
        packet
    }

    /// Retransmits lost segments as far as the congestion window allows (Linux `tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        while self.flight() < self.window.cwnd {
            let Some((index, _)) = self.board.next_lost() else { break };
            self.retransmit_segment(config, index, now, out);
            if matches!(self.state, CaState::Cwr | CaState::Recovery) {
                self.prr_out += 1;
            }
        }
    }

    /// Sends segment `index` of the queue again.
    pub(super) fn retransmit_segment(&mut self, config: &EndpointConfig, index: usize, now: Time, out: &mut impl Output) {
        let segment = self.board.segment(index);
        let mut packet = self.data_packet(config, segment.start, segment.payload(), segment.is_fin(), now);
        // RFC 3168 6.1.5: retransmissions are not ECT; DCTCP stacks set ECT on everything.
        if self.uses_dctcp() {
            packet.ecn = Ecn::Ect0;
        }
        self.board.retransmit(index, now, self.snd_nxt);
        self.undo_retransmissions += 1;
        if self.retransmit_stamp == 0 {
            self.retransmit_stamp = packet.ts_val;
        }
        self.counters.retransmissions += 1;
        self.counters.segments_sent += 1;
        self.last_sent = now;
        if index == 0 {
            self.arm_rto(config, now);
        }
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
