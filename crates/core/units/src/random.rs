//! Random streams derived from a seed and the name of their consumer.

use crate::Span;
use crate::cast::floor_u64;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A reproducible stream of random numbers (xoshiro256++, Blackman and Vigna 2019).
///
/// Each consumer has its own stream named after it, so that adding a consumer never changes another one's
/// draws.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the consumer `name` in the experiment `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a distinguishes the names; the generator's own SplitMix64 seeding spreads the bits.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in seed.to_le_bytes().into_iter().chain(name.bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }
    /// A uniform draw from 0..2^32.
    #[inline]
    pub fn uniform_u32(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }
    /// A uniform draw from 0..2^64.
    #[inline]
    pub fn uniform_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// An exponentially distributed draw with this mean.
    pub fn exponential(&mut self, mean: Span) -> Span {
        // `1 - u` is never zero.
        Span::from_picos(floor_u64(-libm::log(1.0 - self.uniform_f64()) * mean.as_picos() as f64))
    }
    /// A uniform draw from [0, 1) with 53 bits.
    #[inline]
    pub fn uniform_f64(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let draw = |seed, name: &str| Stream::new(seed, name).uniform_u64();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    #[test]
    fn exponential_mean_and_share_above_it() {
        let (mut s, mean, n) = (Stream::new(7, "gaps"), Span::from_millis(3), 100_000);
        let (mut sum, mut above) = (Span::ZERO, 0);
        for gap in (0..n).map(|_| s.exponential(mean)) {
            sum += gap;
            above += u32::from(gap > mean);
        }
        // Bounds of 4 sigma: the mean has mean / sqrt(n), the share above it sqrt(p (1 - p) / n) with p = 1 /
        // e.
        assert!((sum.as_secs_f64() / f64::from(n) / mean.as_secs_f64() - 1.0).abs() < 0.0127);
        let above = f64::from(above) / f64::from(n);
        assert!((above - 0.367_88).abs() < 0.0061, "{above}");
    }

    #[test]
    fn uniform_mean_and_range() {
        let mut s = Stream::new(7, "mean");
        let n = 100_000;
        let mean = (0..n).map(|_| s.uniform_f64()).inspect(|x| assert!((0.0..1.0).contains(x))).sum::<f64>()
            / f64::from(n);
        // Bound of 4 sigma of the mean of n uniform draws: 4 / sqrt(12 n).
        assert!((mean - 0.5).abs() < 0.0037, "{mean}");
    }
}
