//! Models of loss.

use crate::{Chance, Correlated, Prandom};

/// How packets are lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// Each packet with the same probability; if correlated, with a draw that depends on the one before.
    Random {
        /// Probability of a loss.
        probability: Chance,
        /// Correlation of the draws.
        correlation: Chance,
    },
    /// A Markov chain with four states (Salsano et al. 2012): good packets in a gap (1) and in a burst (2), lost
    /// packets in a burst (3) and isolated ones (4). `pAB` is the probability of going from state A to state B.
    FourState {
        /// From a gap to a loss in a burst.
        p13: Chance,
        /// From a loss in a burst to a gap.
        p31: Chance,
        /// From a loss in a burst to a good packet in the burst.
        p32: Chance,
        /// From a good packet in a burst to a loss.
        p23: Chance,
        /// From a gap to an isolated loss.
        p14: Chance,
    },
    /// Two states, each with a probability of loss (Gilbert 1960, Elliott 1963). A packet is judged in the state before
    /// the transition that comes with it.
    GilbertElliott {
        /// From the good to the bad state.
        p: Chance,
        /// From the bad to the good state.
        r: Chance,
        /// Loss in the bad state.
        loss_in_bad: Chance,
        /// Loss in the good state.
        loss_in_good: Chance,
    },
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self::Random { probability: Chance::NEVER, correlation: Chance::NEVER };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Period {
    Gap,
    GoodInBurst,
    LostInBurst,
    Isolated,
}

/// A model of loss in operation.
#[derive(Clone, Debug)]
pub struct LossState {
    model: Loss,
    draws: Correlated,
    period: Period,
    is_bad: bool,
}

impl LossState {
    /// The model at its start: in a gap, in the good state. `last` stands for the draw before the first, if draws are
    /// correlated.
    pub fn new(model: Loss, last: u32) -> Self {
        let correlation = match model {
            Loss::Random { correlation, .. } => correlation,
            Loss::FourState { .. } | Loss::GilbertElliott { .. } => Chance::NEVER,
        };
        Self { model, draws: Correlated::new(correlation, last), period: Period::Gap, is_bad: false }
    }

    /// Whether the next packet is lost
    /// ([sch_netem.c](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_netem.c), `loss_event`): one draw, or
    /// two with Gilbert and Elliott's model, or none if nothing is ever lost.
    #[inline]
    pub fn loses(&mut self, random: &mut Prandom) -> bool {
        match self.model {
            Loss::Random { probability, .. } => {
                probability.is_possible() && probability.0 >= self.draws.draw(random)
            }
            Loss::FourState { p13, p31, p32, p23, p14 } => {
                let draw = random.draw();
                let next =
                    |first: Chance, then: Chance| (draw < first.0, draw < first.0.wrapping_add(then.0));
                self.period = match self.period {
                    Period::Gap => match next(p14, p13) {
                        (true, _) => Period::Isolated,
                        (_, true) => Period::LostInBurst,
                        _ => Period::Gap,
                    },
                    Period::GoodInBurst if draw < p23.0 => Period::LostInBurst,
                    Period::GoodInBurst => Period::GoodInBurst,
                    Period::LostInBurst => match next(p32, p31) {
                        (true, _) => Period::GoodInBurst,
                        (_, true) => Period::Gap,
                        _ => Period::LostInBurst,
                    },
                    Period::Isolated => Period::Gap,
                };
                matches!(self.period, Period::LostInBurst | Period::Isolated)
            }
            Loss::GilbertElliott { p, r, loss_in_bad, loss_in_good } => {
                let was_bad = self.is_bad;
                let leaves = random.draw() < if was_bad { r.0 } else { p.0 };
                self.is_bad = was_bad != leaves;
                let draw = random.draw();
                // The kernel keeps 1 - loss_in_bad, and compares from the other side.
                if was_bad { draw > u32::MAX - loss_in_bad.0 } else { draw < loss_in_good.0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn losses(model: Loss, n: usize, seed: u64) -> Vec<bool> {
        let (mut state, mut random) = (LossState::new(model, 1 << 31), Prandom::new(seed));
        (0..n).map(|_| state.loses(&mut random)).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    /// Mean length of the runs of losses.
    fn mean_run(losses: &[bool]) -> f64 {
        let begins = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        losses.iter().filter(|lost| **lost).count() as f64 / begins
    }

    #[test]
    fn independent_losses_have_their_probability() {
        let model = Loss::Random { probability: Chance::of(0.03), correlation: Chance::NEVER };
        let found = share(&losses(model, 400_000, 5));
        // Four standard errors: 4 sqrt(0.03 x 0.97 / 400000) = 0.0011.
        assert!((found - 0.03).abs() < 0.0011, "{found}");
    }

    /// Loss rate pi_bad loss_in_bad + pi_good loss_in_good with pi_bad = p / (p + r).
    #[test]
    fn gilbert_elliott_loses_what_its_stationary_distribution_says() {
        for (p, r, bad, good) in [(0.01, 0.2, 1.0, 0.0), (0.05, 0.5, 0.7, 0.02), (0.002, 0.1, 0.5, 0.001)] {
            let model = Loss::GilbertElliott {
                p: Chance::of(p),
                r: Chance::of(r),
                loss_in_bad: Chance::of(bad),
                loss_in_good: Chance::of(good),
            };
            let n = 1_000_000;
            let found = share(&losses(model, n, 11));
            let in_bad = p / (p + r);
            let expected = in_bad * bad + (1.0 - in_bad) * good;
            // Runs in the bad state last 1 / r packets: the variance of a mean is at most 2 / (p + r) times that of
            // independent draws. Four standard errors.
            let bound = 4.0 * (expected * (1.0 - expected) * 2.0 / (p + r) / n as f64).sqrt();
            assert!((found - expected).abs() < bound, "{found} {expected} {bound}");
        }
    }

    /// If the bad state loses everything and the good one nothing, runs of losses last 1 / r packets.
    #[test]
    fn bursts_of_gilberts_model_last_one_over_r() {
        let model = Loss::GilbertElliott {
            p: Chance::of(0.01),
            r: Chance::of(0.2),
            loss_in_bad: Chance::ALWAYS,
            loss_in_good: Chance::NEVER,
        };
        let found = mean_run(&losses(model, 1_000_000, 12));
        // Some 9500 runs, geometric with a standard deviation of sqrt(0.8) / 0.2 = 4.5: four standard errors are 0.18.
        assert!((found - 5.0).abs() < 0.18, "{found}");
    }

    /// The first packet is judged in the good state although the chain leaves it for certain.
    #[test]
    fn a_packet_is_judged_before_the_transition() {
        let model = Loss::GilbertElliott {
            p: Chance::ALWAYS,
            r: Chance::ALWAYS,
            loss_in_bad: Chance::ALWAYS,
            loss_in_good: Chance::NEVER,
        };
        // The states alternate, and the bad one loses.
        assert_eq!(losses(model, 6, 1), [false, true, false, true, false, true]);
    }

    /// The stationary distribution of the chain 1 -> {1, 3, 4}, 3 -> {1, 2, 3}, 2 -> {2, 3}, 4 -> 1.
    #[test]
    fn the_four_states_lose_what_their_stationary_distribution_says() {
        let (p13, p31, p32, p23, p14) = (0.02, 0.3, 0.2, 0.6, 0.01);
        let [a, b, c, d, e] = [p13, p31, p32, p23, p14].map(Chance::of);
        let model = Loss::FourState { p13: a, p31: b, p32: c, p23: d, p14: e };
        let n = 1_000_000;
        let found = share(&losses(model, n, 13));
        // Balance: pi3 p31 = pi1 p13 (the chain enters and leaves states 2 and 3 together), pi2 p23 = pi3 p32, pi4 =
        // pi1 p14.
        let (three, four) = (p13 / p31, p14);
        let all = 1.0 + three * p32 / p23 + three + four;
        let expected = (three + four) / all;
        // Bursts last about 1 / p31 (1 + p32 / p23) packets: the variance is at most some 2 x 4.4 times that of
        // independent draws. Four standard errors.
        let bound = 4.0 * (expected * (1.0 - expected) * 9.0 / n as f64).sqrt();
        assert!((found - expected).abs() < bound, "{found} {expected} {bound}");
    }

    #[test]
    fn an_isolated_loss_is_followed_by_a_success() {
        let model = Loss::FourState {
            p13: Chance::NEVER,
            p31: Chance::ALWAYS,
            p32: Chance::NEVER,
            p23: Chance::ALWAYS,
            p14: Chance::ALWAYS,
        };
        // The largest draw, 2^32 - 1, is not below the probability of one; it does not come up here.
        assert_eq!(losses(model, 6, 1), [true, false, true, false, true, false]);
    }

    #[test]
    fn correlation_makes_random_loss_rarer() {
        let model = Loss::Random { probability: Chance::of(0.05), correlation: Chance::of(0.25) };
        // A draw is 3/4 of a uniform number and 1/4 of the last draw: it is below 0.05 only if both are small.
        // Simulating the recursion gives 0.19 %.
        let found = share(&losses(model, 1_000_000, 14));
        assert!((0.0015..0.0024).contains(&found), "{found}");
    }
}
