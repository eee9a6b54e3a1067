//! Opening the connection (`tcp_output` in `SYN_SENT`, `tcp_do_segment`, `cc_conn_init`).

use super::{Call, FreeBsdSender};
use crate::accurate::Agreed;
use crate::timestamps::{echo_age, time_before};
use crate::{EcnSetting, Output};
use shoal_cc::CongestionControl;
use shoal_packet::Packet;
use shoal_units::{Span, Time};

/// Number of retransmitted SYNs that still request ECN (`net.inet.tcp.ecn.maxretries`).
const ECN_RETRIES: usize = 1;

impl FreeBsdSender {
    /// Opens the connection: sends SYN.
    pub(in crate::sender) fn connect(&mut self, call: &mut Call<'_, impl Output>) {
        self.connection.open();
        (self.snd_nxt, self.snd_max) = (1, 1);
        self.send_syn(call);
    }

    fn send_syn(&mut self, call: &mut Call<'_, impl Output>) {
        let asks = call.config.ecn == EcnSetting::On && self.rtt.timeouts() <= ECN_RETRIES;
        let syn = self.connection.syn(call.config, asks, call.now);
        self.rto_deadline = call.now + self.rtt.current();
        self.last_sent = call.now;
        call.transmit(syn);
    }

    pub(super) fn on_syn_timeout(&mut self, call: &mut Call<'_, impl Output>) {
        self.rtt.back_off_syn(&call.config.stack, call.rules);
        self.counters.timeouts += 1;
        self.send_syn(call);
    }

    pub(super) fn on_syn_ack(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet) {
        if !self.connection.accept(call.config, packet) {
            return;
        }
        self.connection.ecn.negotiate(call.config, packet, &mut self.cc);
        self.begin(call, echo_age(packet, call.now));
        self.send_pure_ack(call);
        self.output(call);
    }

    /// The receiving half of this end has opened the connection, and `packet` has completed it (`tcp_do_segment` in
    /// `SYN_RECEIVED`); `rtt` is the time since the SYN/ACK.
    pub(in crate::sender) fn accept(
        &mut self,
        call: &mut Call<'_, impl Output>,
        packet: &Packet,
        agreed: Agreed,
        rtt: Option<Span>,
    ) {
        self.connection.accept_ack(call.config, packet);
        (self.snd_nxt, self.snd_max) = (1, 1);
        self.connection.ecn.adopt(call.config, agreed, &mut self.cc);
        self.begin(call, rtt);
        self.output(call);
    }

    /// The connection is open; `rtt` is the time that the handshake took, if that is known.
    fn begin(&mut self, call: &mut Call<'_, impl Output>, rtt: Option<Span>) {
        self.snd_una = 1;
        self.last_received = call.now;
        self.rto_deadline = Time::NEVER;
        self.peer_window_max = self.connection.peer_window;
        if self.rtt.timeouts() > 0 {
            // A lost SYN: one segment (RFC 5681 section 3.1,
            // https://www.rfc-editor.org/rfc/rfc5681#section-3.1).
            self.window.cwnd = self.window.quantum;
        }
        if let Some(sent) = rtt.map(|age| time_before(call.now, age)) {
            self.rtt.sample(&call.config.stack, call.rules, sent, call.now);
        }
        self.last_sent = call.now;
        self.cc.on_established(call.now, self.snd_nxt);
    }

    /// The ACK that completes the handshake. It goes out at once (`TF_ACKNOW` in `tcp_do_segment`): the program writes
    /// when it is connected.
    fn send_pure_ack(&mut self, call: &mut Call<'_, impl Output>) {
        let ack = self.connection.segment(call.config, self.snd_nxt, 0, call.now);
        call.transmit(ack);
    }
}

/// Time at which the segment left whose timestamp `packet` echoes.
pub(super) fn echoed_time(packet: &Packet, now: Time) -> Option<Time> {
    echo_age(packet, now).map(|age| time_before(now, age))
}
