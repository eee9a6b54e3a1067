//! Probabilities as fixed-point numbers, so that a random decision is one integer comparison.

use crate::cast::floor_u64;
use core::fmt;

/// A probability in 0..=1 with a resolution of 2^-32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Probability(u64);

impl Probability {
    /// Probability 0.
    pub const ZERO: Self = Self(0);
    /// Probability 1.
    pub const ONE: Self = Self(1 << 32);

    /// The nearest representable probability; values outside 0..=1 and NaN are clamped.
    pub fn from_f64(p: f64) -> Self {
        Self(floor_u64(p * 4_294_967_296.0 + 0.5).min(1 << 32))
    }
    /// The probability `q32 / 2^32`.
    pub const fn from_q32(q32: u64) -> Self {
        Self(if q32 > 1 << 32 { 1 << 32 } else { q32 })
    }
    /// The probability as a multiple of 2^-32.
    pub const fn as_q32(self) -> u64 {
        self.0
    }
    /// The probability as a floating-point number (exact).
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 4_294_967_296.0
    }
    /// Whether an event of this probability happens, given a uniform draw from 0..2^32.
    #[inline]
    pub const fn happens(self, uniform: u32) -> bool {
        (uniform as u64) < self.0
    }
}

impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_and_impossible_are_exact() {
        assert!(Probability::ONE.happens(u32::MAX));
        assert!(!Probability::ZERO.happens(0));
        assert_eq!(Probability::from_f64(2.0), Probability::ONE);
        assert_eq!(Probability::from_f64(f64::NAN), Probability::ZERO);
        assert_eq!(Probability::from_f64(0.25).as_q32(), 1 << 30);
    }
}
