//! The packet and its header fields.

use crate::accurate::{ByteCounters, CounterOrder};
use crate::{Ecn, Seq};
use shoal_units::Time;
use shoal_units::cast::count_u32;

/// Number of a flow in its experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FlowId(pub u32);

/// TCP header flags; the bits are those of the wire ([RFC 9293, section
/// 3.1](https://www.rfc-editor.org/rfc/rfc9293#section-3.1)), but for [`Flags::AE`].
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
    /// Accurate ECN ([RFC 9768, section 3.1](https://www.rfc-editor.org/rfc/rfc9768#section-3.1)): 0x100 on the wire;
    /// here it takes the bit of URG, which nothing sends.
    pub const AE: Self = Self(0x20);
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
    /// The flags without those of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// The flags as in the 16 bits of the wire that hold them.
    #[inline]
    pub const fn wire_bits(self) -> u16 {
        (self.without(Self::AE).0 as u16) | if self.has(Self::AE) { 0x100 } else { 0 }
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

impl Sack {
    const EMPTY: Self = Self { left: Seq(0), right: Seq(0) };

    /// Whether the right edge lies behind the left one.
    #[inline]
    const fn is_block(self) -> bool {
        self.right.0.wrapping_sub(self.left.0).cast_signed() > 0
    }
}

/// Up to three SACK blocks, as many as fit beside a timestamp option, and the counters of accurate ECN in the places
/// that they leave: all three of them beside one block, two beside two blocks. Unused places hold empty blocks.
///
/// Counters stand in the last place as a block whose right edge lies before its left one, which no block of a stream
/// has; a third one stands in the same way in the place before it. So a packet stays one cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks([Sack; 3]);

/// Left edge of what holds counters: with 30 further bits it lies less than 2^31 behind any number of 24 bits.
const COUNTERS: u32 = 1 << 30;
/// Where the order and the number of the fields stand in it, above a field.
const ORDER_SHIFT: u32 = 24;
const FIELDS_SHIFT: u32 = 25;

impl SackBlocks {
    /// No blocks.
    pub const EMPTY: Self = Self([Sack::EMPTY; 3]);

    /// Appends a block; returns false and drops the block if it is empty or no place is left.
    pub fn push(&mut self, block: Sack) -> bool {
        let len = self.as_slice().len();
        match self.0.get_mut(len) {
            Some(slot) if *slot == Sack::EMPTY && block.is_block() => {
                *slot = block;
                true
            }
            _ => false,
        }
    }
    /// The blocks, in the order in which they were pushed.
    #[inline]
    pub fn as_slice(&self) -> &[Sack] {
        let len = self.0.iter().take_while(|block| block.is_block()).count();
        &self.0[..len]
    }
    /// Whether there are no blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.0[0].is_block()
    }

    /// Keeps the first `len` blocks.
    pub fn truncate(&mut self, len: usize) {
        let blocks = self.as_slice().len();
        if let Some(rest) = self.0.get_mut(len..blocks) {
            rest.fill(Sack::EMPTY);
        }
    }

    /// Adds the counters of accurate ECN; returns false and drops them if the blocks leave no room for them.
    pub fn set_counters(&mut self, counters: &ByteCounters) -> bool {
        let blocks = self.as_slice().len();
        let len = counters.fields().len();
        let field = |n: usize| counters.fields().get(n).copied().unwrap_or_default();
        if blocks + usize::from(len == ByteCounters::FIELDS) > 2 {
            return false;
        }
        let order = u32::from(counters.order == CounterOrder::Ect1First) << ORDER_SHIFT;
        let number = count_u32(len) << FIELDS_SHIFT;
        self.0[2] = Sack { left: Seq(COUNTERS | number | order | field(0)), right: Seq(field(1)) };
        if len == ByteCounters::FIELDS {
            self.0[1] = Sack { left: Seq(COUNTERS | field(2)), right: Seq(0) };
        }
        true
    }
    /// The counters of accurate ECN, if there are any.
    pub fn counters(&self) -> Option<ByteCounters> {
        let Sack { left: Seq(left), right: Seq(second) } = self.0[2];
        if self.0[2].is_block() || left & COUNTERS == 0 {
            return None;
        }
        let order =
            if left >> ORDER_SHIFT & 1 == 1 { CounterOrder::Ect1First } else { CounterOrder::Ect0First };
        let third = self.0[1].left.0;
        Some(ByteCounters::new(order, [left, second, third], (left >> FIELDS_SHIFT & 3) as usize))
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
    /// SACK option, and that of accurate ECN.
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
    fn counters_stand_beside_the_blocks_that_leave_room() {
        let block = |n: u32| Sack { left: Seq(n), right: Seq(n.wrapping_add(1448)) };
        let extremes = [0, 1, 0x7f_ffff, 0xff_ffff];
        for order in [CounterOrder::Ect0First, CounterOrder::Ect1First] {
            for n in 0..64 {
                let [a, b, c] = [n & 3, n >> 2 & 3, n >> 4].map(|n: usize| extremes[n]);
                for len in 0..=3 {
                    for blocks in 0..=3_u32 {
                        let mut sack = SackBlocks::EMPTY;
                        for n in 0..blocks {
                            // Blocks on both sides of the wrap, and beside the mark of counters.
                            assert!(
                                sack.push(block(
                                    [u32::MAX - 7, COUNTERS - 1, COUNTERS | 1 << 25][n as usize]
                                ))
                            );
                        }
                        let before = sack;
                        let counters = ByteCounters::new(order, [a, b, c], len);
                        let fits = blocks as usize + usize::from(len == 3) <= 2;
                        assert_eq!(sack.set_counters(&counters), fits, "{blocks} blocks, {len} fields");
                        assert_eq!(sack.as_slice(), before.as_slice());
                        assert_eq!(sack.is_empty(), blocks == 0);
                        let read = sack.counters();
                        assert_eq!(
                            read.map(|read| (read.order, read.fields().to_vec())),
                            fits.then(|| (order, [a, b, c][..len].to_vec()))
                        );
                    }
                }
            }
        }
        assert_eq!(SackBlocks::EMPTY.counters(), None);
    }

    #[test]
    fn a_block_that_ends_before_it_begins_is_none() {
        let mut sack = SackBlocks::EMPTY;
        assert!(!sack.push(Sack { left: Seq(60), right: Seq(50) }));
        assert!(!sack.push(Sack { left: Seq(60), right: Seq(60) }));
        assert!(sack.push(Sack { left: Seq(u32::MAX), right: Seq(50) }));
    }

    #[test]
    fn a_block_takes_no_place_of_counters() {
        let mut sack = SackBlocks::EMPTY;
        assert!(sack.set_counters(&ByteCounters::new(CounterOrder::Ect1First, [1, 0, 1], 3)));
        assert!(sack.push(Sack { left: Seq(5), right: Seq(9) }));
        assert!(!sack.push(Sack { left: Seq(15), right: Seq(19) }));
        assert_eq!(sack.counters().map(|counters| counters.bytes()), Some(11));
    }

    #[test]
    fn the_bit_of_accurate_ecn_has_its_own_place_on_the_wire() {
        assert_eq!(Flags::SYN.with(Flags::AE).with(Flags::ECE).with(Flags::CWR).wire_bits(), 0x1c2);
        assert_eq!(Flags::ACK.wire_bits(), 0x010);
    }

    #[test]
    fn flags_combine() {
        let f = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
        assert!(f.has(Flags::ECE) && f.has(Flags::SYN.with(Flags::CWR)) && !f.has(Flags::ACK));
    }
}
