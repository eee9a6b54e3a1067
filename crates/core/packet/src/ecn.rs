//! The two ECN bits of the IP header (RFC 3168 section 5).

/// ECN codepoint; the discriminant is the value on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not understand ECN: congestion means a drop.
    #[default]
    NotEct = 0b00,
    /// ECN-capable; identifies scalable traffic in L4S (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable (RFC 3168 endpoints and DCTCP).
    Ect0 = 0b10,
    /// Congestion experienced: marked by a queue.
    Ce = 0b11,
}

impl Ecn {
    /// Whether a queue may mark instead of drop.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
    /// Whether the packet carries a mark.
    #[inline]
    pub const fn is_ce(self) -> bool {
        matches!(self, Self::Ce)
    }
}
