//! The receiving half of an [`Endpoint`](crate::Endpoint) in the handshake, and after it.

use super::ecn::Feedback;
use super::{Phase, Receiver};
use crate::accurate::{AccurateEcn, Agreed, reflect, with_ace};
use crate::{EndpointConfig, Output};
use alloc::vec::Vec;
use shoal_packet::Packet;
use shoal_units::Time;

impl Receiver {
    /// The other half has opened the connection, and `syn_ack` has come.
    pub(crate) fn begin(&mut self, config: &EndpointConfig, agreed: Agreed, syn_ack: &Packet) {
        self.phase = Phase::Established;
        self.feedback = Feedback::of(config, agreed);
        self.ts_recent = syn_ack.ts_val;
    }

    /// Repeats the SYN/ACK that answers `syn`, without the option of accurate ECN, and with its flags if it `says_ecn`
    /// (RFC 9768 section 3.1.4, <https://www.rfc-editor.org/rfc/rfc9768#section-3.1.4>).
    pub(crate) fn repeat_syn_ack(
        &mut self,
        config: &EndpointConfig,
        syn: &Packet,
        says_ecn: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        self.ts_recent = syn.ts_val;
        let mut reply = self.syn_ack(config, now);
        if says_ecn {
            self.feedback.grant(config, syn, true, &mut reply);
        }
        out.transmit(reply);
    }

    /// Answers a SYN on the open connection with an ACK: the peer repeats its SYN/ACK because the ACK of it was lost
    /// (RFC 9293 section 3.10.7.4, <https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4>; Linux
    /// `tcp_send_challenge_ack`). With accurate ECN it says with which codepoint this SYN has come.
    pub(crate) fn answer_syn(
        &mut self,
        config: &EndpointConfig,
        syn: &Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        let mut acks = Vec::new();
        let sack = self.sack_option(config, None);
        self.send_ack(config, self.reassembly.next(), sack, now, &mut acks);
        for mut ack in acks {
            if let Some(accurate) = self.feedback.accurate() {
                accurate.see_option(syn);
                ack.flags = with_ace(ack.flags, reflect(syn.ecn));
            }
            out.transmit(ack);
        }
    }

    /// What the handshake has agreed on.
    pub(crate) fn agreed(&self) -> Agreed {
        self.feedback.agreed()
    }
    /// Accurate ECN, if that is what this half uses.
    pub(crate) fn accurate(&mut self) -> Option<&mut AccurateEcn> {
        self.feedback.accurate()
    }
}
