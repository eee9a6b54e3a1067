//! The packet and its header fields.

use crate::{Ecn, Seq};
use shoal_units::Time;

/// Number of a flow in its experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FlowId(pub u32);

/// TCP header flags; the bits are those of the wire ([RFC 9293, section
/// 3.1](https://www.rfc-editor.org/rfc/rfc9293#section-3.1)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Deliver data to the application without waiting for more (push).
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN-Echo ([RFC 3168, section 6.1](https://www.rfc-editor.org/rfc/rfc3168#section-6.1)).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced ([RFC 3168, section
    /// 6.1](https://www.rfc-editor.org/rfc/rfc3168#section-6.1)).
    pub const CWR: Self = Self(0x80);

    /// The union of both sets of flags.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether all flags of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One SACK block; it includes the left edge and excludes the right edge ([RFC
/// 2018](https://www.rfc-editor.org/rfc/rfc2018)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sack {
    /// First sequence number of the block.
    pub left: Seq,
    /// Sequence number after the last of the block.
    pub right: Seq,
}

/// Up to three SACK blocks, as many as fit beside a timestamp option. Unused places hold empty blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks([Sack; 3]);

impl SackBlocks {
    /// No blocks.
    pub const EMPTY: Self = Self([Sack { left: Seq(0), right: Seq(0) }; 3]);

    /// Appends a block; returns false and drops the block if it is empty or three are present already.
    pub fn push(&mut self, block: Sack) -> bool {
        let len = self.as_slice().len();
        match self.0.get_mut(len) {
            Some(slot) if block.left != block.right => {
                *slot = block;
                true
            }
            _ => false,
        }
    }
    /// The blocks, in the order in which they were pushed.
    #[inline]
    pub fn as_slice(&self) -> &[Sack] {
        let len = self.0.iter().take_while(|b| b.left != b.right).count();
        &self.0[..len]
    }
    /// Whether there are no blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0].left == self.0[0].right
    }
}

/// A packet: the IP and TCP header fields that endpoints and queues act on, plus what the simulator needs to carry it.
///
/// A packet is copied at every hop, as a whole cache line. Where a field changes on the way, it is written in the copy
/// and not before it: a load of 16 bytes that spans several stores which have not retired yet waits for them
/// (docs/internals/performance.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// When the packet entered where it is, a queue or the wire behind it: what is there sets it, and reads it for the
    /// time that the packet has spent there.
    pub enqueued: Time,
    /// SACK option.
    pub sack: SackBlocks,
    /// Sequence number of the first payload byte (of SYN or FIN if there is no payload).
    pub seq: Seq,
    /// Next sequence number expected; valid if [`Flags::ACK`] is set.
    pub ack: Seq,
    /// Timestamp value in microseconds of the sender's clock, wrapping ([RFC
    /// 7323](https://www.rfc-editor.org/rfc/rfc7323); the wire carries milliseconds).
    pub ts_val: u32,
    /// Timestamp echo reply in the same unit; 0 if nothing is echoed.
    pub ts_ecr: u32,
    /// Flow to which the packet belongs.
    pub flow: FlowId,
    /// Position in the engine's route table; queues and endpoints do not use it.
    pub route: u32,
    /// Payload in bytes.
    pub payload: u16,
    /// Size of the whole IP packet in bytes: what a link serialises and a queue counts.
    pub size: u16,
    /// Receive window as on the wire, in units of 2^scale bytes with the scale of the handshake (RFC 7323).
    pub window: u16,
    /// TCP flags.
    pub flags: Flags,
    /// ECN codepoint.
    pub ecn: Ecn,
}

impl Packet {
    /// A packet of the given flow and size without data; all other fields are zero.
    pub const fn empty(flow: FlowId, size: u16) -> Self {
        Self {
            enqueued: Time::ZERO,
            sack: SackBlocks::EMPTY,
            seq: Seq(0),
            ack: Seq(0),
            ts_val: 0,
            ts_ecr: 0,
            flow,
            route: 0,
            payload: 0,
            size,
            window: 0,
            flags: Flags(0),
            ecn: Ecn::NotEct,
        }
    }
}

// Packets are copied at every hop, so that growing beyond a cache line must be a decision.
const _: () = assert!(core::mem::size_of::<Packet>() == 64);
// No byte of a packet may have unused values that could hold the tag of an `Option`; see [`Ecn`].
const _: () = assert!(core::mem::size_of::<Option<Packet>>() > 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_sack_block_is_refused() {
        let mut sack = SackBlocks::EMPTY;
        for n in 0..3 {
            assert!(sack.push(Sack { left: Seq(n), right: Seq(n + 1) }));
        }
        assert!(!sack.push(Sack { left: Seq(9), right: Seq(10) }));
        assert_eq!(sack.as_slice().len(), 3);
    }

    #[test]
    fn flags_combine() {
        let f = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
        assert!(f.has(Flags::ECE) && f.has(Flags::SYN.with(Flags::CWR)) && !f.has(Flags::ACK));
    }
}
