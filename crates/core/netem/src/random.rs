//! The kernel's seeded generator, and draws that depend on the one before.

use crate::Chance;
use shoal_units::cast::low_u32;

/// A combined Tausworthe generator with four words, after L'Ecuyer 1999 (Linux
/// [lib/random32.c](https://elixir.bootlin.com/linux/v6.12/source/lib/random32.c),
/// `prandom_u32_state`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prandom([u32; 4]);

impl Prandom {
    /// The generator with this seed
    /// ([include/linux/prandom.h](https://elixir.bootlin.com/linux/v6.12/source/include/linux/prandom.h),
    /// `prandom_seed_state`): all words begin with the same 32 bits, raised where they are below the least value of the
    /// word.
    pub const fn new(seed: u64) -> Self {
        let folded = low_u32((seed >> 32) ^ (seed << 10) ^ seed);
        let least = [2, 8, 16, 128];
        let mut words = [folded; 4];
        let mut i = 0;
        while i < 4 {
            if folded < least[i] {
                words[i] = folded + least[i];
            }
            i += 1;
        }
        Self(words)
    }

    /// The next number from 0 to 2^32 - 1.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let [a, b, c, d] = &mut self.0;
        *a = tausworthe(*a, 6, 13, 0xffff_fffe, 18);
        *b = tausworthe(*b, 2, 27, 0xffff_fff8, 2);
        *c = tausworthe(*c, 13, 21, 0xffff_fff0, 7);
        *d = tausworthe(*d, 3, 12, 0xffff_ff80, 13);
        *a ^ *b ^ *c ^ *d
    }
}

/// One step of a word: what the mask leaves moves up, and the feedback of the word with itself moves in below.
#[inline]
const fn tausworthe(word: u32, feedback: u32, down: u32, mask: u32, up: u32) -> u32 {
    let feedback = (word ^ (word << feedback)) >> down;
    ((word & mask) << up) ^ feedback
}

/// Draws of which each depends on the one before: a first-order autoregression
/// ([sch_netem.c](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_netem.c), `get_crandom`).
///
/// Its values are not uniform: with a correlation of r their variance is (1 - r) / (1 + r) times that of uniform ones,
/// so a correlated random loss is rarer than its probability says.
#[derive(Clone, Debug)]
pub struct Correlated {
    correlation: Chance,
    last: u32,
}

impl Correlated {
    /// Draws with this correlation; `last` stands for the draw before the first.
    pub const fn new(correlation: Chance, last: u32) -> Self {
        Self { correlation, last }
    }

    /// The next number from 0 to 2^32 - 1.
    #[inline]
    pub fn draw(&mut self, random: &mut Prandom) -> u32 {
        let value = random.draw();
        if !self.correlation.is_possible() {
            return value;
        }
        let weight = u64::from(self.correlation.0) + 1;
        // Both products are below 2^64, and so is their sum: the weights add up to 2^32.
        let sum = u64::from(value) * ((1 << 32) - weight) + u64::from(self.last) * weight;
        self.last = low_u32(sum >> 32);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// One step by hand from the seed 1: folded, it is 1 ^ 1 << 10 = 1025 = 0x401 in all four words.
    ///
    /// a: feedback (0x401 ^ 0x10040) >> 13 = 0x10441 >> 13 = 8; 0x400 << 18 = 0x1000_0000; together 0x1000_0008.
    /// b: feedback (0x401 ^ 0x1004) >> 27 = 0; 0x400 << 2 = 0x1000.
    /// c: feedback (0x401 ^ 0x80_2000) >> 21 = 4; 0x400 << 7 = 0x2_0000; together 0x2_0004.
    /// d: feedback (0x401 ^ 0x2008) >> 12 = 2; 0x400 << 13 = 0x80_0000; together 0x80_0002.
    #[test]
    fn the_first_draw_by_hand() {
        assert_eq!(Prandom::new(1).0, [0x401; 4]);
        assert_eq!(Prandom::new(1).draw(), 0x1000_0008 ^ 0x1000 ^ 0x2_0004 ^ 0x80_0002);
    }

    #[test]
    fn words_below_their_least_value_are_raised() {
        assert_eq!(Prandom::new(0).0, [2, 8, 16, 128]);
        // 2^32 + x folds to x ^ 1 for a small x but for x << 10; 5 ^ 5 << 10 is above 128.
        assert_eq!(Prandom::new(5).0, [5 ^ 5 << 10; 4]);
    }

    #[test]
    fn draws_are_uniform() {
        let (mut random, n) = (Prandom::new(20), 1 << 20);
        let mut bins = [0u32; 16];
        for _ in 0..n {
            bins[(random.draw() >> 28) as usize] += 1;
        }
        let expected = f64::from(n) / 16.0;
        let chi2: f64 = bins.iter().map(|&bin| (f64::from(bin) - expected).powi(2) / expected).sum();
        // 15 degrees of freedom: above 44.3 with probability 1e-4.
        assert!(chi2 < 44.3, "{chi2}");
    }

    /// With a correlation of 1/2 (2^31 - 1, weight 2^31) a draw is the mean of the new number and of the last one.
    #[test]
    fn correlated_draws_by_hand() {
        let mut plain = Prandom::new(9);
        let mut last = 4_000_000_000;
        let mut correlated = Correlated::new(Chance((1 << 31) - 1), last);
        let mut random = Prandom::new(9);
        for _ in 0..100 {
            last = u64::midpoint(plain.draw().into(), last.into()) as u32;
            assert_eq!(correlated.draw(&mut random), last);
        }
    }

    #[test]
    fn variance_and_correlation_of_correlated_draws() {
        let (r, n) = (0.25, 200_000);
        let (mut random, mut draws) = (Prandom::new(3), Correlated::new(Chance::of(0.25), 1 << 31));
        let values: Vec<f64> =
            (0..n).map(|_| f64::from(draws.draw(&mut random)) / 4_294_967_296.0 - 0.5).collect();
        let mean = |x: &mut dyn Iterator<Item = f64>| x.sum::<f64>() / f64::from(n);
        let variance = mean(&mut values.iter().map(|x| x * x));
        let neighbours = mean(&mut values.windows(2).map(|pair| pair[0] * pair[1])) / variance;
        // Uniform draws have a variance of 1 / 12. Four standard errors: about 4 sqrt(2 / n) = 1.3 % and 4 / sqrt(n) =
        // 0.009.
        assert!((variance * 12.0 / ((1.0 - r) / (1.0 + r)) - 1.0).abs() < 0.013, "{variance}");
        assert!((neighbours - r).abs() < 0.009, "{neighbours}");
    }
}
