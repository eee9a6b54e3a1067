//! 32-bit sequence numbers with wrap-around ([RFC 9293, section
//! 3.4](https://www.rfc-editor.org/rfc/rfc9293#section-3.4)).

use shoal_units::cast::low_u32;

/// A sequence number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// The wire form of position `offset` in an endless stream.
    #[inline]
    pub const fn of(offset: u64) -> Self {
        Self(low_u32(offset))
    }
    /// The stream position nearest to `reference` that has this wire form.
    ///
    /// Unique as long as both are within 2^31 of each other, which every legal window guarantees. Saturates
    /// at 0.
    #[inline]
    pub const fn near(self, reference: u64) -> u64 {
        let ahead = self.0.wrapping_sub(low_u32(reference)).cast_signed();
        reference.saturating_add_signed(ahead as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn near_inverts_of(reference in (1u64 << 31)..(1 << 50), ahead in -(1i64 << 31) + 1..(1 << 31)) {
            let position = reference.saturating_add_signed(ahead);
            prop_assert_eq!(Seq::of(position).near(reference), position);
        }
    }
}
