//! State of the connection in a sender of any kernel: the handshake (RFC 9293 section 3.5,
//! <https://www.rfc-editor.org/rfc/rfc9293#section-3.5>), the peer's window and timestamp, and the headers of
//! packets.

use super::ecn::EcnSignalling;
use crate::EndpointConfig;
use crate::timestamps::timestamp;
use shoal_packet::{Flags, FlowId, Packet, Seq};
use shoal_units::Time;

/// SYN and SYN/ACK: 20 B IP, 20 B TCP, 20 B options (MSS, SACK permitted, timestamps, window scale).
pub(crate) const SYN_BYTES: u16 = 60;

/// Progress of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Closed,
    SynSent,
    Established,
}

/// Meaning of a packet of the peer in the present phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Incoming {
    /// An acknowledgement on the established connection.
    Ack,
    /// What should be the SYN/ACK.
    SynAck,
    /// Nothing that the sender has to handle.
    Ignored,
}

/// The connection as its sender knows it.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    flow: FlowId,
    phase: Phase,
    peer_window_scale: u8,
    /// The receive window that segments announce.
    window: u16,
    /// Latest timestamp of the peer, to be echoed ([RFC 7323](https://www.rfc-editor.org/rfc/rfc7323)).
    ts_recent: u32,
    /// The peer's receive window in bytes.
    pub peer_window: u32,
    pub ecn: EcnSignalling,
}

impl Connection {
    /// A closed connection. `flow` names it in its packets.
    pub(super) const fn new(flow: FlowId) -> Self {
        Self {
            flow,
            phase: Phase::Closed,
            peer_window_scale: 0,
            window: 0,
            ts_recent: 0,
            peer_window: 0,
            ecn: EcnSignalling::NONE,
        }
    }
    #[inline]
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }
    #[inline]
    pub(super) fn is_established(&self) -> bool {
        self.phase == Phase::Established
    }

    /// Meaning of `packet` in the present phase.
    #[inline]
    pub(super) fn incoming(&self, packet: &Packet) -> Incoming {
        match self.phase {
            Phase::Established if packet.flags.has(Flags::ACK) && !packet.flags.has(Flags::SYN) => {
                Incoming::Ack
            }
            Phase::SynSent => Incoming::SynAck,
            Phase::Established | Phase::Closed => Incoming::Ignored,
        }
    }

    /// Notes that the connection is to be opened.
    pub(super) fn open(&mut self) {
        debug_assert_eq!(self.phase, Phase::Closed, "a connection is opened once");
        self.phase = Phase::SynSent;
    }

    /// The SYN, with the flags that request ECN if wanted
    /// ([RFC 3168, section 6.1.1](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1)).
    pub(super) fn syn(&self, config: &EndpointConfig, asks_for_ecn: bool, now: Time) -> Packet {
        let mut syn = Packet::empty(self.flow, SYN_BYTES);
        syn.seq = Seq(0);
        syn.flags = Flags::SYN;
        syn.window = config.syn_window();
        if asks_for_ecn {
            syn.flags = syn.flags.with(Flags::ECE).with(Flags::CWR);
        }
        syn.ts_val = timestamp(now);
        syn
    }

    /// Handles a packet that should be the SYN/ACK. Returns whether it is; the connection is then
    /// established.
    pub(super) fn accept(&mut self, config: &EndpointConfig, packet: &Packet) -> bool {
        if !packet.flags.has(Flags::SYN.with(Flags::ACK)) || packet.ack != Seq(1) {
            return false;
        }
        self.phase = Phase::Established;
        self.ts_recent = packet.ts_val;
        self.peer_window_scale = config.window_scale();
        self.window = config.advertised_window();
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        self.peer_window = u32::from(packet.window);
        true
    }

    /// The ACK of the SYN/ACK that the receiving half of this end has sent, or data behind it, has come: the connection
    /// is established.
    pub(super) fn accept_ack(&mut self, config: &EndpointConfig, packet: &Packet) {
        self.phase = Phase::Established;
        self.peer_window_scale = config.window_scale();
        self.window = config.advertised_window();
        self.peer_window = self.read(packet);
    }

    /// Stores the timestamp of a segment of the peer; returns the receive window that it announces, in bytes.
    #[inline]
    pub(super) fn read(&mut self, packet: &Packet) -> u32 {
        self.ts_recent = packet.ts_val;
        u32::from(packet.window) << self.peer_window_scale
    }

    /// The latest timestamp of the peer.
    #[inline]
    pub(super) const fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// A segment with `len` bytes of payload from `start`; an acknowledgement without data if `len` is zero.
    #[inline]
    pub(super) fn segment(&self, config: &EndpointConfig, start: u64, len: u16, now: Time) -> Packet {
        let mut packet = Packet::empty(self.flow, config.header_bytes + len);
        packet.seq = Seq::of(start);
        packet.ack = Seq(1);
        packet.flags = Flags::ACK;
        packet.payload = len;
        packet.window = self.window;
        packet.ts_val = timestamp(now);
        packet.ts_ecr = self.ts_recent;
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config;

    #[test]
    fn only_a_syn_ack_for_this_syn_establishes() {
        let config = config("reno", "linux-6");
        let mut connection = Connection::new(FlowId(7));
        connection.open();
        let mut reply = Packet::empty(FlowId(7), SYN_BYTES);
        reply.flags = Flags::ACK;
        reply.ack = Seq(1);
        assert!(!connection.accept(&config, &reply), "an ACK without SYN");
        reply.flags = Flags::SYN.with(Flags::ACK);
        reply.ack = Seq(2);
        assert!(!connection.accept(&config, &reply), "the SYN takes position 0, so 1 acknowledges it");
        assert_eq!(connection.phase(), Phase::SynSent);
        reply.ack = Seq(1);
        reply.window = 0xffff;
        assert!(connection.accept(&config, &reply) && connection.is_established());
        // 64 MiB = 2^26 bytes are written as 2^26 >> 11 = 32768; SYNs are not scaled.
        assert_eq!(connection.peer_window, 0xffff);
        reply.window = config.advertised_window();
        assert_eq!(connection.read(&reply), 64 << 20);
    }
}
