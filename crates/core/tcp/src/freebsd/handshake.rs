//! Opening the connection (`tcp_output` in `SYN_SENT`, `tcp_do_segment`, `cc_conn_init`).

use super::FreeBsdSender;
use crate::sender::{Connection, SYN_BYTES, echo_age, timestamp};
use crate::{EcnSetting, EndpointConfig, Output};
use shoal_cc::{AnyController, CongestionControl};
use shoal_packet::{Flags, Packet, Seq};
use shoal_units::Time;

/// SYNs sent again that still ask for ECN (`net.inet.tcp.ecn.maxretries`).
const ECN_RETRIES: usize = 1;

impl FreeBsdSender {
    pub(crate) fn connect(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        debug_assert_eq!(self.connection, Connection::Closed);
        self.connection = Connection::SynSent;
        (self.snd_nxt, self.snd_max) = (1, 1);
        self.send_syn(config, now, out);
    }

    fn send_syn(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        let mut syn = Packet::empty(self.flow, SYN_BYTES);
        syn.seq = Seq(0);
        syn.flags = Flags::SYN;
        syn.window = config.syn_window();
        if config.ecn == EcnSetting::On && self.rtt.timeouts() <= ECN_RETRIES {
            syn.flags = syn.flags.with(Flags::ECE).with(Flags::CWR);
        }
        syn.ts_val = timestamp(now);
        self.rto_deadline = now + self.rtt.current();
        self.last_sent = now;
        out.transmit(syn);
    }

    pub(super) fn on_syn_timeout(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        self.rtt.back_off_syn(&config.stack, Self::rules(config));
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
        self.last_received = now;
        self.rto_deadline = Time::NEVER;
        self.ecn_ok =
            config.ecn == EcnSetting::On && packet.flags.has(Flags::ECE) && !packet.flags.has(Flags::CWR);
        if !self.ecn_ok {
            self.cc = AnyController::new(&config.cc.without_ecn(), config.stack.growth);
        }
        self.ts_recent = packet.ts_val;
        self.peer_window_scale = config.window_scale();
        // The window of a SYN is never scaled (RFC 7323 2.2).
        self.peer_window = u32::from(packet.window);
        self.peer_window_max = self.peer_window;
        if self.rtt.timeouts() > 0 {
            // A lost SYN: one segment (RFC 5681 section 3.1).
            self.window.cwnd = self.window.quantum;
        }
        if let Some(sent) = echoed_time(packet, now) {
            self.rtt.sample(&config.stack, Self::rules(config), sent, now);
        }
        self.last_sent = now;
        self.cc.on_established(now, self.snd_nxt);
        let sent_before = self.snd_max;
        self.output(config, now, out);
        if self.snd_max == sent_before {
            self.send_pure_ack(config, now, out);
        }
    }

    fn send_pure_ack(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        let mut ack = Packet::empty(self.flow, config.header_bytes);
        ack.seq = Seq::of(self.snd_nxt);
        ack.ack = Seq(1);
        ack.flags = Flags::ACK;
        ack.window = config.advertised_window();
        ack.ts_val = timestamp(now);
        ack.ts_ecr = self.ts_recent;
        out.transmit(ack);
    }
}

/// When the segment left whose timestamp `packet` echoes.
pub(super) fn echoed_time(packet: &Packet, now: Time) -> Option<Time> {
    echo_age(packet, now).map(|age| Time::from_picos(now.as_picos().saturating_sub(age.as_picos())))
}
