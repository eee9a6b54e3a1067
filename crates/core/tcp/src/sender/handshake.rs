//! Opening the connection, with ECN negotiation (RFC 9293 section 3.5, RFC 3168 section 6.1.1).

use super::{Connection, LinuxSender};
use crate::{EcnSetting, EndpointConfig, Output};
use shoal_cc::{AnyController, CongestionControl, EcnUse};
use shoal_packet::{Ecn, Flags, Packet, Seq};
use shoal_units::{Span, Time};

/// SYN and SYN/ACK: 20 B IP, 20 B TCP, 20 B options (MSS, SACK permitted, timestamps, window scale).
pub(crate) const SYN_BYTES: u16 = 60;

impl LinuxSender {
    /// Opens the connection: sends SYN.
    pub fn connect(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        debug_assert_eq!(self.connection, Connection::Closed);
        self.connection = Connection::SynSent;
        self.snd_nxt = 1;
        self.send_syn(config, now, out);
    }

    fn send_syn(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        let mut syn = Packet::empty(self.flow, SYN_BYTES);
        syn.seq = Seq(0);
        syn.flags = Flags::SYN;
        syn.window = config.syn_window();
        if config.ecn == EcnSetting::On && !(self.backoff > 0 && config.stack.ecn_fallback) {
            syn.flags = syn.flags.with(Flags::ECE).with(Flags::CWR);
        }
        // RFC 3168 6.1.1 forbids ECT on SYN; DCTCP stacks set it on every packet (Linux INET_ECN_xmit).
        if config.ecn == EcnSetting::On && self.cc.ecn_use() == EcnUse::Dctcp {
            syn.ecn = Ecn::Ect0;
        }
        syn.ts_val = timestamp(now);
        self.rto_deadline =
            now + config.stack.rto_initial.saturating_mul(1 << self.backoff).min(config.stack.rto_max);
        self.last_sent = now;
        out.transmit(syn);
    }

    pub(super) fn on_syn_timeout(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        self.backoff = (self.backoff + 1).min(7);
        self.counters.timeouts += 1;
        self.send_syn(config, now, out);
    }

    pub(super) fn on_syn_ack(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        if !packet.flags.has(Flags::SYN.with(Flags::ACK)) || packet.ack != Seq(1) {
            return;
        }
        self.connection = Connection::Established;
        self.snd_una = 1;
        self.rto_deadline = Time::NEVER;
        // ECE without CWR in the SYN/ACK accepts ECN (RFC 3168 6.1.1).
        self.ecn_ok =
            config.ecn == EcnSetting::On && packet.flags.has(Flags::ECE) && !packet.flags.has(Flags::CWR);
        if !self.ecn_ok {
            // Linux dctcp_init: without ECN the connection runs plain Reno.
            self.cc = AnyController::new(&config.cc.without_ecn(), config.stack.growth);
        }
        self.ts_recent = packet.ts_val;
        self.peer_window_scale = config.window_scale();
        // The window of a SYN is never scaled (RFC 7323 2.2).
        self.peer_window = u32::from(packet.window);
        if let Some(sample) = echo_age(packet, now) {
            self.rtt.sample(sample, self.snd_una, self.snd_nxt, &config.stack);
            self.board.rack.set_min_rtt(self.rtt.min());
        }
        if self.backoff > 1 {
            // Linux tcp_init_metrics: one lost SYN is forgiven (the timeout is only 1 s), two are not (RFC 5681 3.1).
            self.window.cwnd = 1;
        }
        self.backoff = 0;
        self.cwnd_stamp = now;
        self.last_sent = now;
        self.cc.on_established(now, self.snd_nxt);
        let sent_before = self.snd_nxt;
        self.push(config, now, out);
        if self.snd_nxt == sent_before {
            self.send_pure_ack(config, now, out);
        }
    }

    /// An acknowledgement without data: completes the handshake when there is nothing to send.
    fn send_pure_ack(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        let mut ack = Packet::empty(self.flow, config.header_bytes);
        ack.seq = Seq::of(self.snd_nxt);
        ack.ack = Seq(1);
        ack.flags = Flags::ACK;
        ack.window = config.advertised_window();
        ack.ts_val = timestamp(now);
        ack.ts_ecr = self.ts_recent;
        if self.uses_dctcp() {
            ack.ecn = Ecn::Ect0;
        }
        out.transmit(ack);
    }
}

/// How long ago the segment left whose timestamp `packet` echoes: its RTT, also after a retransmission (RFC 7323 section 4.1).
pub(crate) fn echo_age(packet: &Packet, now: Time) -> Option<Span> {
    let elapsed = timestamp(now).wrapping_sub(packet.ts_ecr);
    (packet.ts_ecr != 0 && elapsed < 1 << 31).then(|| Span::from_micros(elapsed.into()))
}

/// The timestamp clock: microseconds, never zero at the start because zero means "nothing to echo".
#[inline]
pub(crate) fn timestamp(now: Time) -> u32 {
    (now.as_micros() as u32).wrapping_add(1)
}
