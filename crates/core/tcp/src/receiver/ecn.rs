//! ECN feedback: the [RFC 3168](https://www.rfc-editor.org/rfc/rfc3168) latch, and the DCTCP echo
//! ([RFC 8257, section 3.2](https://www.rfc-editor.org/rfc/rfc8257#section-3.2)); Linux `tcp_ecn_check_ce`,
//! `tcp_ecn_accept_cwr`, `dctcp_ece_ack_update`.

use super::misbehaviour::hides_marks;
use crate::accurate::{AccurateEcn, Agreed, asks, reflect, with_ace};
use crate::{CwrAck, EchoChange, EcnFeedback, EcnSetting, EndpointConfig};
use alloc::boxed::Box;
use shoal_packet::{Ecn, Flags, Packet};

/// State of the feedback.
#[derive(Clone, Debug)]
pub(super) enum Feedback {
    /// ECN was not negotiated.
    None,
    /// RFC 3168: ECE on every ACK from a CE mark until CWR arrives.
    Classic {
        latched: bool,
        /// Whether a packet with ECT has arrived.
        seen: bool,
    },
    /// ECE is the CE state of the last data packet.
    Dctcp { ce: bool, seen: bool },
    /// Negotiated, but what comes is not reported: the receiver misbehaves.
    Hidden,
    /// Counters of what has arrived ([RFC 9768](https://www.rfc-editor.org/rfc/rfc9768)).
    Accurate(Box<AccurateEcn>),
}

/// Effect of a data packet on the sending of ACKs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reaction {
    /// Whether a pending delayed ACK is sent first, with `flush_ece`.
    pub flush: bool,
    pub flush_ece: bool,
    /// Whether this packet is acknowledged immediately.
    pub at_once: bool,
    /// Number of ACKs for which quick-ACK mode is entered.
    pub quick: u32,
}

impl Feedback {
    /// The feedback that a SYN asks for and the configuration has. The request in the first SYN is valid, whatever its
    /// retransmission requests.
    pub(super) fn granted(config: &EndpointConfig, syn: &Packet) -> Self {
        let asks_for_classic = syn.flags.has(Flags::ECE.with(Flags::CWR));
        match config.feedback() {
            _ if config.ecn == EcnSetting::Off => Self::None,
            EcnFeedback::Accurate if asks(syn.flags) => {
                Self::Accurate(Box::new(AccurateEcn::new(config, syn.ecn)))
            }
            _ if !asks_for_classic => Self::None,
            _ if hides_marks(config) => Self::Hidden,
            EcnFeedback::Classic | EcnFeedback::Accurate => Self::Classic { latched: false, seen: false },
            EcnFeedback::Dctcp => Self::Dctcp { ce: false, seen: false },
        }
    }
    /// Writes what a SYN/ACK says of ECN.
    pub(super) fn grant(
        &mut self,
        config: &EndpointConfig,
        syn: &Packet,
        is_repeated: bool,
        reply: &mut Packet,
    ) {
        match self {
            Self::None => {}
            Self::Classic { .. } | Self::Hidden => reply.flags = reply.flags.with(Flags::ECE),
            Self::Dctcp { .. } => {
                reply.flags = reply.flags.with(Flags::ECE);
                reply.ecn = if Self::sets_ect_on_acks(config) { Ecn::Ect0 } else { Ecn::NotEct };
            }
            Self::Accurate(accurate) => {
                // A repeated SYN without a request shows that one with it does not get through.
                if is_repeated && !asks(syn.flags) {
                    accurate.give_up_ect();
                }
                reply.flags = with_ace(reply.flags, reflect(syn.ecn));
                accurate.on_syn_ack(config, reply, is_repeated);
            }
        }
    }
    /// Bytes of heap memory.
    pub(super) fn heap_bytes(&self) -> usize {
        if let Self::Accurate(accurate) = self { size_of_val(accurate.as_ref()) } else { 0 }
    }
    /// What the handshake has agreed on.
    pub(super) fn agreed(&self) -> Agreed {
        match self {
            Self::None => Agreed::Nothing,
            Self::Classic { .. } | Self::Dctcp { .. } | Self::Hidden => Agreed::Classic,
            Self::Accurate(accurate) => Agreed::Accurate(accurate.clone()),
        }
    }
    /// The feedback of an end whose other half has made the handshake.
    pub(super) fn of(config: &EndpointConfig, agreed: Agreed) -> Self {
        match agreed {
            Agreed::Nothing => Self::None,
            Agreed::Classic if config.feedback() == EcnFeedback::Dctcp => {
                Self::Dctcp { ce: false, seen: false }
            }
            Agreed::Classic => Self::Classic { latched: false, seen: false },
            Agreed::Accurate(accurate) => Self::Accurate(accurate),
        }
    }
    /// Accurate ECN, if that is what this end uses.
    #[inline]
    pub(super) fn accurate(&mut self) -> Option<&mut AccurateEcn> {
        match self {
            Self::Accurate(accurate) => Some(accurate),
            _ => None,
        }
    }
    #[inline]
    pub(super) fn ece(&self) -> bool {
        matches!(self, Self::Classic { latched: true, .. } | Self::Dctcp { ce: true, .. })
    }
    /// Linux with DCTCP sets ECT on every packet; RFC 3168 6.1.4 forbids it on pure ACKs.
    #[inline]
    pub(super) fn sets_ect_on_acks(config: &EndpointConfig) -> bool {
        config.receiver_stack().linux().is_some()
    }

    #[inline]
    pub(super) fn on_data(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        ack_pending: bool,
    ) -> Reaction {
        let mut reaction = Reaction::default();
        let stack = config.receiver_stack();
        let cwr = packet.flags.has(Flags::CWR);
        let seen = match self {
            Self::None | Self::Hidden => return reaction,
            Self::Accurate(accurate) => return on_accurate_data(accurate, config, packet),
            Self::Classic { latched, seen } => {
                if cwr {
                    *latched = false;
                }
                if packet.ecn.is_ce() && !*latched {
                    *latched = true;
                    // The sender's window may be small.
                    reaction.quick = stack.linux().map_or(0, |rules| rules.quick_acks_after_ce);
                }
                seen
            }
            Self::Dctcp { ce, seen } => {
                let new = packet.ecn.is_ce();
                if new != *ce && (packet.ecn.is_capable() || stack.not_ect_clears_echo) {
                    reaction.flush = ack_pending && stack.echo_change != EchoChange::Ack;
                    reaction.flush_ece = *ce;
                    reaction.at_once = stack.echo_change != EchoChange::Flush;
                    *ce = new;
                }
                seen
            }
        };
        if cwr {
            match config.cwr_ack() {
                CwrAck::AsUsual => {}
                CwrAck::AtOnce => reaction.at_once = true,
                CwrAck::Delayed => reaction.at_once = false,
            }
        }
        if packet.ecn != Ecn::NotEct {
            *seen = true;
        } else if *seen {
            // Probably a retransmission.
            reaction.quick = stack.linux().map_or(0, |rules| rules.quick_acks_after_not_ect);
        }
        reaction
    }

    /// Handles data that had arrived before. Linux only considers their CWR, and FreeBSD their mark too:
    /// `tcp_do_segment` processes ECN first. Accurate ECN counts whatever arrives, but Linux discards at once what ends
    /// before the last ACK, so that `is_acknowledged` (`tcp_sequence`).
    pub(super) fn on_old_data(&mut self, config: &EndpointConfig, packet: &Packet, is_acknowledged: bool) {
        if let Self::Accurate(accurate) = self {
            if !is_acknowledged {
                on_accurate_data(accurate, config, packet);
            }
            accurate.on_old_data(packet.seq);
        } else if config.receiver_stack().linux().is_none() {
            self.on_data(config, packet, false);
        } else if let Self::Classic { latched, .. } = self {
            *latched &= !packet.flags.has(Flags::CWR);
        }
    }
}

/// The codepoint of data changes: an ACK is due. Data without ECT after some with it are probably a retransmission.
#[cold]
fn on_accurate_data(accurate: &mut AccurateEcn, config: &EndpointConfig, packet: &Packet) -> Reaction {
    accurate.on_first(config, packet);
    let rules = config.receiver_stack().linux();
    let is_resent = packet.ecn == Ecn::NotEct && accurate.saw_ect();
    let packets = packet.payload.div_ceil(config.mss()).max(1);
    let hides = packet.ecn.is_ce() && hides_marks(config);
    accurate.note_arrival(if hides { config.codepoint() } else { packet.ecn }, packet.payload, packets);
    Reaction {
        at_once: accurate.ack_is_due(),
        quick: rules.map_or(0, |rules| if is_resent { rules.quick_acks_after_not_ect } else { 0 }),
        ..Reaction::default()
    }
}
