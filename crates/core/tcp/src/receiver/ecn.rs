//! ECN feedback: the RFC 3168 latch, and the DCTCP echo (RFC 8257 section 3.2, semantics C1 and C2).

use crate::{EchoChange, EndpointConfig};
use shoal_cc::{CcConfig, EcnUse};
use shoal_packet::{Ecn, Flags, Packet};

/// State of the feedback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Feedback {
    /// ECN was not negotiated.
    None,
    /// RFC 3168: ECE on every ACK from a CE mark until CWR arrives.
    Classic { latched: bool },
    /// ECE is the CE state of the last data packet.
    Dctcp { ce: bool },
}

/// What a data packet asks of the ACK machinery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reaction {
    /// Send a pending delayed ACK first, with `flush_ece`.
    pub flush: bool,
    pub flush_ece: bool,
    /// Acknowledge this packet at once.
    pub at_once: bool,
    /// Enter quick-ACK mode for two ACKs.
    pub quick: bool,
}

impl Feedback {
    pub(super) fn for_config(config: &EndpointConfig) -> Self {
        match cc_ecn_use(&config.cc) {
            EcnUse::Classic => Self::Classic { latched: false },
            EcnUse::Dctcp => Self::Dctcp { ce: false },
        }
    }
    #[inline]
    pub(super) fn ece(&self) -> bool {
        matches!(self, Self::Classic { latched: true } | Self::Dctcp { ce: true })
    }
    /// DCTCP stacks set ECT on every packet; RFC 3168 6.1.4 forbids it on pure ACKs.
    #[inline]
    pub(super) fn sets_ect_on_acks(&self) -> bool {
        matches!(self, Self::Dctcp { .. })
    }

    #[inline]
    pub(super) fn on_data(&mut self, config: &EndpointConfig, packet: &Packet, ack_pending: bool) -> Reaction {
        let mut reaction = Reaction::default();
        match self {
            Self::None => {}
            Self::Classic { latched } => {
                if packet.flags.has(Flags::CWR) {
                    *latched = false;
                }
                if packet.ecn.is_ce() && !*latched {
                    *latched = true;
                    // Linux tcp_ecn_check_ce: the sender should learn soon.
                    reaction.quick = true;
                }
            }
            Self::Dctcp { ce } => {
                if packet.ecn == Ecn::NotEct {
                    return reaction; // Retransmissions of stacks that do not mark them say nothing about the queue.
                }
                let new = packet.ecn.is_ce();
                if new != *ce {
                    reaction.flush = ack_pending;
                    reaction.flush_ece = *ce;
                    reaction.at_once = config.stack.echo_change == EchoChange::FlushAndAck;
                    *ce = new;
                }
                if packet.flags.has(Flags::CWR) && config.stack.echo_change == EchoChange::FlushAndAck {
                    reaction.at_once = true; // Linux tcp_ecn_accept_cwr: data with CWR is acknowledged at once.
                }
            }
        }
        reaction
    }

    /// Data that had arrived before: only the RFC 3168 latch listens to it.
    pub(super) fn on_old_data(&mut self, packet: &Packet) {
        if let Self::Classic { latched } = self {
            if packet.flags.has(Flags::CWR) {
                *latched = false;
            }
            *latched |= packet.ecn.is_ce();
        }
    }
}

fn cc_ecn_use(cc: &CcConfig) -> EcnUse {
    match cc {
        CcConfig::Dctcp(_) => EcnUse::Dctcp,
        CcConfig::Reno(_) | CcConfig::Cubic(_) => EcnUse::Classic,
    }
}
