//! Turns probabilities into decisions.

use super::pi::MAX_PROBABILITY;
use crate::Tossing;
use crate::sched::Lane;
use shoal_units::Stream;

/// Takes decisions with given probabilities, randomly or by adding the probabilities up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coin {
    Random,
    /// Sums of likelihoods that have not become an event yet, in 2^-32: of L and of C.
    Recur([u64; 2]),
}

impl Coin {
    pub(super) const fn new(tossing: Tossing) -> Self {
        match tossing {
            Tossing::Random => Self::Random,
            Tossing::Recur => Self::Recur([0; 2]),
        }
    }

    /// Decides on an event of probability `likelihood` in 2^-32 for a packet of `lane`. As in Linux
    /// (`dualpi2_roll`), a random number at or below it is an event, so that 2^32 - 1 is certain.
    #[inline]
    pub(super) fn toss(&mut self, lane: Lane, likelihood: u64, random: &mut Stream) -> bool {
        match self {
            Self::Random => u64::from(random.uniform_u32()) <= likelihood,
            Self::Recur(sums) => recur(&mut sums[lane as usize], likelihood),
        }
    }

    /// Decides on an event of probability `root` squared with two random numbers, of which the second is
    /// drawn only if the first succeeds.
    #[inline]
    pub(super) fn toss_squared(&mut self, lane: Lane, root: u32, random: &mut Stream) -> bool {
        match self {
            Self::Random => random.uniform_u32() <= root && random.uniform_u32() <= root,
            Self::Recur(sums) => recur(
                &mut sums[lane as usize],
                u64::from(root) * u64::from(root) / u64::from(MAX_PROBABILITY),
            ),
        }
    }
}

/// [RFC 9332, appendix A.1](https://www.rfc-editor.org/rfc/rfc9332#appendix-A.1), `recur`.
#[inline]
fn recur(sum: &mut u64, likelihood: u64) -> bool {
    const ONE: u64 = 1 << 32;
    *sum += likelihood.min(ONE);
    let event = *sum > ONE;
    if event {
        *sum -= ONE;
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::bench::is_likely;

    #[test]
    fn added_likelihoods_space_events_evenly() {
        let mut coin = Coin::new(Tossing::Recur);
        let mut random = Stream::new(1, "unused");
        let mut run = |likelihood, n| -> Vec<bool> {
            (0..n).map(|_| coin.toss(Lane::Low, likelihood, &mut random)).collect()
        };
        // Sums of 1/4: 1/4, 2/4, 3/4 and 4/4 are not above one, 5/4 is.
        assert_eq!(run(1 << 30, 9), [false, false, false, false, true, false, false, false, true]);
        // The other queue has a sum of its own: 1/2, 1, 3/2.
        let tosses: Vec<bool> = (0..4).map(|_| coin.toss(Lane::Classic, 1 << 31, &mut random)).collect();
        assert_eq!(tosses, [false, false, true, false]);
        assert_eq!(random.uniform_u64(), Stream::new(1, "unused").uniform_u64());
    }

    #[test]
    fn added_squares_space_events_evenly() {
        let mut coin = Coin::new(Tossing::Recur);
        let mut random = Stream::new(1, "unused");
        let root = 3_000_000_000;
        // 9 * 10^18 / (2^32 - 1) = 2,095,475,793, which is 0.4879 of 2^32: sums of 0.49, 0.98, 1.46, 0.95, 1.44, 0.93,
        // 1.42, 0.90.
        let tosses: Vec<bool> = (0..8).map(|_| coin.toss_squared(Lane::Classic, root, &mut random)).collect();
        assert_eq!(tosses, [false, false, true, false, true, false, true, false]);
    }

    #[test]
    fn random_tosses_have_their_likelihood() {
        let mut random = Stream::new(9, "coin");
        let mut coin = Coin::new(Tossing::Random);
        let n = 400_000;
        let root = 1u32 << 30;
        let mut count = |squared| {
            let toss = |_: &u32| {
                if squared {
                    coin.toss_squared(Lane::Classic, root, &mut random)
                } else {
                    coin.toss(Lane::Low, root.into(), &mut random)
                }
            };
            (0..n).filter(toss).count()
        };
        for (squared, p) in [(false, 0.25), (true, 0.0625)] {
            let count = count(squared);
            assert!(is_likely(count, n, p), "{count}, seed 9");
        }
        assert!((0..1000).all(|_| coin.toss(Lane::Low, MAX_PROBABILITY.into(), &mut random)));
    }
}
