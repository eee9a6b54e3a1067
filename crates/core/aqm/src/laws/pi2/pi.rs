//! The controller of PI2 in the module's integers
//! ([`sch_pi2.c`](https://github.com/olgabo/dualpi2/blob/d609f2cd7528065da34a9559f1c9cc910c05b136/sch_pi2/sch_pi2.c),
//! `calculate_probability`).

use crate::Pi2Config;
use shoal_units::cast::low_u32;

/// Probability of a scalable mark, a fraction of 2^32 - 1. Times are ticks of 64 ns (`PSCHED_SHIFT` 6).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pi {
    target_ticks: i64,
    alpha: u32,
    beta: u32,
    probability: u32,
    last_delay_ticks: u64,
}

const MAX_PROBABILITY: u32 = u32::MAX;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> 6;

impl Pi {
    pub(super) fn new(config: &Pi2Config) -> Self {
        // From 1/16 Hz to 2^-32 a tick, as the module rounds it.
        let gain = |sixteenths: u32| {
            low_u32((u64::from(sixteenths) * (u64::from(MAX_PROBABILITY) / TICKS_PER_SECOND)) >> 4)
        };
        Self {
            target_ticks: (config.target.as_nanos() >> 6).cast_signed(),
            alpha: gain(config.alpha_16th_hz),
            beta: gain(config.beta_16th_hz),
            probability: 0,
            last_delay_ticks: 0,
        }
    }

    #[inline]
    pub(super) const fn probability(&self) -> u32 {
        self.probability
    }

    /// Takes the state of another controller, and keeps its own parameters.
    pub(super) fn learn_from(&mut self, other: &Self) {
        (self.probability, self.last_delay_ticks) = (other.probability, other.last_delay_ticks);
    }

    /// Updates the probability for an estimated queueing time of `delay_ticks`; `waits`: packets are waiting.
    /// It wraps where the module's does.
    pub(super) fn update(&mut self, delay_ticks: u64, waits: bool) {
        let last = self.last_delay_ticks;
        // An estimate that is rounded to zero while packets wait carries no information.
        let steady = delay_ticks != 0 || !waits;
        let delay = delay_ticks.cast_signed();
        let integral = delay.wrapping_sub(self.target_ticks).wrapping_mul(i64::from(self.alpha));
        let proportional = delay.wrapping_sub(last.cast_signed()).wrapping_mul(i64::from(self.beta));
        let delta = integral.wrapping_add(proportional);
        let old = self.probability;
        let new = old.wrapping_add(low_u32(delta.cast_unsigned()));
        self.probability = if delta > 0 {
            if new < old { MAX_PROBABILITY } else { new }
        } else if new > old {
            0
        } else {
            new
        };
        // Twice no delay: decay by 2 %, in 32 bits as the module computes it.
        if delay_ticks == 0 && last == 0 && steady {
            self.probability = self.probability.wrapping_mul(98) / 100;
        }
        self.last_delay_ticks = delay_ticks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DelayEstimate, Extent};
    use shoal_units::Span;

    /// The module's defaults.
    fn pi() -> Pi {
        Pi::new(&Pi2Config {
            target: Span::from_millis(20),
            tupdate: Span::from_millis(32),
            alpha_16th_hz: 10,
            beta_16th_hz: 100,
            coupling: 2,
            ecn: true,
            scalable_mask: 0b11,
            estimate: DelayEstimate::Rate,
            mtu: 1500,
            limit: Extent::Unlimited,
        })
    }

    #[test]
    fn the_probability_to_the_digit() {
        let mut pi = pi();
        // (2^32 - 1) / 15,625,000 = 274; 274 * 10 >> 4 = 171; 274 * 100 >> 4 = 1712. 20 ms are 312,500 ticks.
        assert_eq!((pi.alpha, pi.beta, pi.target_ticks), (171, 1712, 312_500));
        let mut after = |ticks, waits| {
            pi.update(ticks, waits);
            pi.probability()
        };
        // (400,000 - 312,500) * 171 + 400,000 * 1712 = 14,962,500 + 684,800,000.
        assert_eq!(after(400_000, true), 699_762_500);
        // (300,000 - 312,500) * 171 - 100,000 * 1712 = -2,137,500 - 171,200,000.
        assert_eq!(after(300_000, true), 526_425_000);
        // -312,500 * 171 - 300,000 * 1712 = -53,437,500 - 513,600,000: below zero.
        assert_eq!(after(0, false), 0);
        assert_eq!(after(0, false), 0);
    }

    #[test]
    fn two_empty_updates_decay() {
        let mut pi = pi();
        pi.probability = 100_000_000;
        pi.update(0, true);
        // -312,500 * 171 = -53,437,500; with a backlog an estimate of 0 does not make the probability decay.
        assert_eq!(pi.probability, 46_562_500);
        pi.target_ticks = 0;
        pi.probability = 40_000_000;
        pi.update(0, false);
        assert_eq!(pi.probability, 39_200_000);
        // 98 * 50,000,000 is beyond 32 bits: 605,032,704 is left.
        pi.probability = 50_000_000;
        pi.update(0, false);
        assert_eq!(pi.probability, 6_050_327);
    }

    /// 65,536 ticks at a gain of 65,536 are 2^32, which is 0 in the 32 bits of the module.
    #[test]
    fn a_jump_of_exactly_one_changes_nothing_as_in_the_module() {
        let mut pi = pi();
        (pi.alpha, pi.beta, pi.target_ticks, pi.probability) = (1 << 16, 0, 0, 123);
        pi.update(1 << 16, true);
        assert_eq!(pi.probability, 123);
    }

    #[test]
    fn sums_beyond_the_range_stop_at_it() {
        let mut pi = pi();
        for n in 1..10 {
            pi.update(n * 1_000_000, true);
        }
        assert_eq!(pi.probability, MAX_PROBABILITY);
    }
}
