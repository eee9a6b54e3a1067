//! Data rates, and the time that bytes take on a link.

use crate::Span;
use crate::cast::fit_u64;

/// A data rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `bps` bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// The rate in bit/s.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// Bytes that the link transmits in `span`, rounded down: the bandwidth-delay product.
    pub const fn bytes_in(self, span: Span) -> u64 {
        fit_u64(self.0 as u128 * span.as_picos() as u128 / 8_000_000_000_000)
    }
    /// Time to serialise `bytes`, rounded down to a picosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    pub const fn time_for(self, bytes: u64) -> Span {
        Span::from_picos(fit_u64(bytes as u128 * 8_000_000_000_000 / self.0 as u128))
    }
}

/// [`Rate::time_for`] with the division done in advance: a multiplication and a shift for each packet.
///
/// Stores the picoseconds of a byte with 32 fractional bits, those apart from the whole ones, so that a packet takes
/// products of 64 bits. For packets up to 65,535 B the result differs from the exact quotient by less than one
/// picosecond (65,535 / 2^32).
#[derive(Clone, Copy, Debug)]
pub struct Serialiser {
    whole_ps: u64,
    fraction_q32: u64,
}

impl Serialiser {
    /// Prepares the constant for `rate`.
    ///
    /// # Panics
    /// If the rate is zero.
    pub const fn new(rate: Rate) -> Self {
        let ps_per_byte_q32 = (8_000_000_000_000u128 << 32).div_ceil(rate.as_bps() as u128);
        Self {
            whole_ps: fit_u64(ps_per_byte_q32 >> 32),
            fraction_q32: fit_u64(ps_per_byte_q32 & 0xffff_ffff),
        }
    }
    /// Time to serialise `bytes`.
    #[inline]
    pub const fn span(&self, bytes: u32) -> Span {
        let bytes = bytes as u64;
        Span::from_picos(self.whole_ps * bytes + ((self.fraction_q32 * bytes) >> 32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn published_scenario_constants() {
        // Kuehlewind et al. 2014: 10 Mbit/s x 25 ms = 31,250 B; 1500 B take 1.2 ms.
        let rate = Rate::from_bps(10_000_000);
        assert_eq!(rate.bytes_in(Span::from_millis(25)), 31_250);
        assert_eq!(rate.time_for(1500), Span::from_micros(1200));
        assert_eq!(Serialiser::new(Rate::from_bps(40_000_000_000)).span(1500), Span::from_nanos(300));
    }

    proptest! {
        #[test]
        fn serialiser_agrees_with_division(bps in 1_000u64..400_000_000_000, bytes in 0u32..65_536) {
            let exact = Rate::from_bps(bps).time_for(u64::from(bytes)).as_picos();
            let quick = Serialiser::new(Rate::from_bps(bps)).span(bytes).as_picos();
            prop_assert!(quick == exact || quick == exact + 1, "{quick} against {exact}");
        }
    }
}
