//! The two ECN bits of the IP header ([RFC 3168, section
//! 5](https://www.rfc-editor.org/rfc/rfc3168#section-5)).

use core::fmt;

/// ECN codepoint, one of the four constants.
///
/// Not an `enum`: the unused values of one would let the compiler hide the tag of `Option<Packet>` in this byte, and
/// every copy of a packet would then be two overlapping unaligned halves (measured: 14 % of the engine's time).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct Ecn(u8);

#[allow(non_upper_case_globals, reason = "they are the variants of what would be an enum")]
impl Ecn {
    /// The sender does not understand ECN: congestion means a drop.
    pub const NotEct: Self = Self(0b00);
    /// ECN-capable; identifies scalable traffic in L4S ([RFC 9331](https://www.rfc-editor.org/rfc/rfc9331)).
    pub const Ect1: Self = Self(0b01);
    /// ECN-capable (RFC 3168 endpoints and DCTCP).
    pub const Ect0: Self = Self(0b10);
    /// Congestion experienced: marked by a queue.
    pub const Ce: Self = Self(0b11);

    /// The codepoint in the two lowest bits of a byte, as in the traffic class of an IP header.
    #[inline]
    pub const fn from_bits(byte: u8) -> Self {
        Self(byte & Self::Ce.0)
    }
    /// The two bits on the wire.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
    /// Whether a queue may mark the packet instead of dropping it.
    #[inline]
    pub const fn is_capable(self) -> bool {
        self.0 != Self::NotEct.0
    }
    /// Whether the packet carries a mark.
    #[inline]
    pub const fn is_ce(self) -> bool {
        self.0 == Self::Ce.0
    }
}

impl fmt::Debug for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["NotEct", "Ect1", "Ect0", "Ce"][usize::from(self.0 & 0b11)])
    }
}
