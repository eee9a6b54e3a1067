//! Opening the connection, with ECN negotiation
//! ([RFC 9293, section 3.5](https://www.rfc-editor.org/rfc/rfc9293#section-3.5),
//! [RFC 3168, section 6.1.1](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1),
//! [RFC 9768, section 3.1](https://www.rfc-editor.org/rfc/rfc9768#section-3.1)).

use super::{Call, LinuxSender};
use crate::accurate::Agreed;
use crate::sender::ecn::EcnSignalling;
use crate::timestamps::{echo_age, echo_age_in_ticks, tick};
use crate::{EcnSetting, Output, Undo};
use shoal_cc::CongestionControl;
use shoal_packet::{Ecn, Flags, Packet};
use shoal_units::Span;

/// Most doublings of the SYN's timeout (Linux `tcp_syn_retries` = 6, and one).
const MOST_DOUBLINGS: u8 = 7;

impl LinuxSender {
    /// Opens the connection: sends SYN.
    pub(in crate::sender) fn connect(&mut self, call: &mut Call<'_, impl Output>) {
        self.connection.open();
        self.snd_nxt = 1;
        self.send_syn(call);
    }

    fn send_syn(&mut self, call: &mut Call<'_, impl Output>) {
        let wants_ecn = call.config.ecn == EcnSetting::On;
        // A SYN that asks for accurate ECN is repeated once as it is (RFC 9768 section 3.1.4).
        let is_accurate = call.config.is_accurate();
        let gives_up = self.rtt.backoff() > u8::from(is_accurate) && call.rules.ecn_fallback;
        let asks = wants_ecn && !gives_up;
        let mut syn = self.connection.syn(call.config, asks, call.now);
        if asks && is_accurate {
            syn.flags = syn.flags.with(Flags::AE);
        }
        if wants_ecn {
            syn.ecn = EcnSignalling::of_syn(&self.cc);
        }
        let stack = &call.config.stack;
        let doublings = self.rtt.backoff().saturating_sub(call.rules.syn_linear_timeouts);
        let timeout = self.rtt.timeout(stack).saturating_mul(1 << doublings).min(stack.rto_max);
        self.timers.start_retransmission(call.now + timeout, call.now);
        self.last_sent = call.now;
        self.undo.note_tick(tick(call.now));
        call.transmit(syn);
    }

    pub(super) fn on_syn_timeout(&mut self, call: &mut Call<'_, impl Output>) {
        self.rtt.back_off(MOST_DOUBLINGS + call.rules.syn_linear_timeouts);
        self.counters.timeouts += 1;
        // Linux tcp_enter_loss. Only the SYN is in flight, and what the window is now is shown and not used.
        self.window.cwnd = 1;
        self.send_syn(call);
    }

    pub(super) fn on_syn_ack(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet) {
        if !self.connection.accept(call.config, packet) {
            return;
        }
        self.connection.ecn.negotiate(call.config, packet, &mut self.cc);
        let is_spurious = call.rules.undo == Undo::Linux6 && self.undo.is_first_syn_answered(packet);
        self.undo.forget_retransmissions();
        let rtt = if self.rtt.backoff() == 0 {
            echo_age(packet, call.now)
        } else {
            // Karn: only the echo tells which SYN was answered.
            echo_age_in_ticks(packet, 1, call.now)
        };
        self.begin(call, rtt, is_spurious);
        self.send_pure_ack(call, packet);
        self.push(call);
    }

    /// The receiving half of this end has opened the connection, and `packet` has completed it (Linux
    /// `tcp_rcv_state_process` in `TCP_SYN_RECV`); `rtt` is the time since the SYN/ACK.
    pub(in crate::sender) fn accept(
        &mut self,
        call: &mut Call<'_, impl Output>,
        packet: &Packet,
        agreed: Agreed,
        rtt: Option<Span>,
    ) {
        self.connection.accept_ack(call.config, packet);
        self.snd_nxt = 1;
        self.connection.ecn.adopt(call.config, agreed, &mut self.cc);
        if let Some(accurate) = &mut self.connection.ecn.accurate {
            accurate.note_timestamp(packet.ts_val);
            self.counters.delivered_ce_packets = accurate.reported_packets().into();
        }
        self.begin(call, rtt, false);
        self.push(call);
    }

    /// The connection is open; `rtt` is the time that the handshake took, if that is known. `is_spurious`: its SYN was
    /// repeated though the first one had arrived.
    fn begin(&mut self, call: &mut Call<'_, impl Output>, rtt: Option<Span>, is_spurious: bool) {
        self.snd_una = 1;
        self.timers.stop_retransmission();
        self.adapt_mss(call);
        if self.rtt.backoff() == 1 || is_spurious {
            // Linux tcp_init_transfer: one lost SYN is forgiven (the timeout is only 1 s), two are not (RFC 5681,
            // https://www.rfc-editor.org/rfc/rfc5681 3.1).
            self.window.cwnd = call.config.initial_window_packets().min(self.window.clamp);
        }
        self.rtt.end_backoff();
        if let Some(sample) = rtt {
            self.take_rtt(call, sample, sample);
        }
        if call.config.offload.is_none() {
            let sent = u64::from(self.window.cwnd) * u64::from(call.mss);
            self.stream.begin_packets(sent + u64::from(call.config.unsent_bytes));
        }
        self.usage.stamp = call.now;
        self.last_sent = call.now;
        self.cc.on_established(call.now, self.snd_nxt);
        self.start_samples(call, rtt);
    }

    /// The ACK that completes the handshake. It goes out at once: the program writes when it is connected (Linux
    /// `tcp_rcv_synsent_state_process`).
    fn send_pure_ack(&mut self, call: &mut Call<'_, impl Output>, syn_ack: &Packet) {
        let mut ack = self.connection.segment(call.config, self.snd_nxt, 0, call.now);
        if self.uses_dctcp() {
            ack.ecn = Ecn::Ect0;
        }
        self.connection.ecn.write_accurate(call.config, &mut ack, call.now, self.rtt.srtt());
        self.connection.ecn.reflect(syn_ack, &mut ack);
        call.transmit(ack);
    }
}
