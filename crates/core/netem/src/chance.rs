//! Probabilities as netem has them.

use crate::Prandom;
use shoal_units::cast::floor_u32;

/// A probability in units of 1 / (2^32 - 1), as `tc` hands it to the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chance(pub u32);

impl Chance {
    /// Zero: the event never happens, and nothing is drawn for it.
    pub const NEVER: Self = Self(0);
    /// One.
    pub const ALWAYS: Self = Self(u32::MAX);

    /// The nearest probability to `p`, which is from 0 to 1 (iproute2, tc/tc_util.c, `get_percent`).
    pub fn of(p: f64) -> Self {
        Self(floor_u32(libm::rint(p * f64::from(u32::MAX))))
    }
    /// The probability as a number from 0 to 1.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(u32::MAX)
    }
    /// Whether the event may happen at all.
    #[inline]
    pub const fn is_possible(self) -> bool {
        self.0 > 0
    }
    /// Draws whether the event happens: with probability (x + 1) / 2^32 if x is the number stored here, and without a
    /// draw never if x is 0.
    #[inline]
    pub fn happens(self, random: &mut Prandom) -> bool {
        self.is_possible() && self.0 >= random.draw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_rounded_to_the_nearest() {
        assert_eq!(Chance::of(0.0), Chance::NEVER);
        assert_eq!(Chance::of(1.0), Chance::ALWAYS);
        // 0.01 x 4294967295 = 42949672.95, and half of 4294967295 lies between two numbers, of which the even one is
        // taken.
        assert_eq!(Chance::of(0.01), Chance(42_949_673));
        assert_eq!(Chance::of(0.5), Chance(2_147_483_648));
    }

    #[test]
    fn an_impossible_event_draws_nothing() {
        let (mut a, mut b) = (Prandom::new(7), Prandom::new(7));
        assert!(!Chance::NEVER.happens(&mut a));
        assert!(Chance::ALWAYS.happens(&mut b));
        let first = Prandom::new(7).draw();
        assert_eq!(a.draw(), first);
        assert_ne!(b.draw(), first);
    }
}
