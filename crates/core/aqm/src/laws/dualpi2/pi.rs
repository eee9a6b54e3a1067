//! The controller of DualPI2 in the kernel's integers (Linux
//! [`net/sched/sch_dualpi2.c`](https://elixir.bootlin.com/linux/v6.17/source/net/sched/sch_dualpi2.c),
//! `calculate_probability`).

use super::DualPi2Form;
use shoal_units::cast::low_u32;

/// The controller's state: the base probability p', as a fraction of 2^32 - 1.
///
/// Gains are per nanosecond in 2^-38: they are scaled so that 1/256 Hz is not lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pi {
    form: DualPi2Form,
    target_ns: i64,
    alpha: u32,
    beta: u32,
    /// Upper bound of p'.
    cap: u32,
    probability: u32,
    last_delay_ns: u64,
}

/// Probability 1.
pub(super) const MAX_PROBABILITY: u32 = u32::MAX;

impl Pi {
    /// A controller with gains in 1/256 Hz. With `stop_at` k the probability stops at 1/k.
    pub(super) fn new(form: DualPi2Form, target_ns: u64, alpha: u32, beta: u32, stop_at: Option<u8>) -> Self {
        Self {
            form,
            target_ns: target_ns.cast_signed(),
            alpha: scale(alpha),
            beta: scale(beta),
            cap: stop_at.map_or(MAX_PROBABILITY, |k| MAX_PROBABILITY / u32::from(k.max(1))),
            probability: 0,
            last_delay_ns: 0,
        }
    }

    #[inline]
    pub(super) const fn probability(&self) -> u32 {
        self.probability
    }

    /// Takes the state of another controller, and keeps its own parameters.
    pub(super) fn learn_from(&mut self, other: &Self) {
        (self.probability, self.last_delay_ns) = (other.probability.min(self.cap), other.last_delay_ns);
    }

    /// Updates p' for a queueing time of `delay_ns`. It wraps where the kernel's does: a change of p' by 1 or
    /// more in one update counts modulo 1. With the default gains this takes a delay that grows by some 300
    /// ms from one update to the next.
    pub(super) fn update(&mut self, delay_ns: u64) {
        let delay = delay_ns.cast_signed();
        let integral = delay.wrapping_sub(self.target_ns).wrapping_mul(i64::from(self.alpha));
        let proportional =
            delay.wrapping_sub(self.last_delay_ns.cast_signed()).wrapping_mul(i64::from(self.beta));
        let delta = self.form.change(integral, proportional);
        self.last_delay_ns = delay_ns;
        let step = low_u32(delta.unsigned_abs());
        let old = self.probability;
        let new = if delta > 0 {
            let new = old.wrapping_add(step);
            if new < old { MAX_PROBABILITY } else { new }
        } else {
            let new = old.wrapping_sub(step);
            if new > old { 0 } else { new }
        };
        self.probability = new.min(self.cap);
    }
}

/// `dualpi2_scale_alpha_beta`: from 1/256 Hz to 2^-38 per nanosecond.
fn scale(gain: u32) -> u32 {
    // 2^8 in the unit against 2^6 of the granularity leaves two bits.
    low_u32(((u64::from(gain) * u64::from(MAX_PROBABILITY)) >> 2) / 1_000_000_000)
}

/// The gain in Hz that acts for one in 1/256 Hz: a second adds 10^9 times the scaled gain, less its fractional bits, to
/// a probability of which 2^32 - 1 is one.
pub(super) fn acting_hz(gain: u32, form: DualPi2Form) -> f64 {
    form.acting(scale(gain)) * 1e9 / f64::from(MAX_PROBABILITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Linux' defaults: target 15 ms, 41/256 and 819/256 Hz.
    fn linux() -> Pi {
        Pi::new(DualPi2Form::Mainline, 15 * MS, 41, 819, None)
    }

    #[test]
    fn gains_are_scaled_as_the_kernel_does() {
        // 41 (2^32 - 1) >> 2 = 44,023,414,773; / 10^9 = 44. 819 (2^32 - 1) >> 2 = 879,394,553,651; / 10^9 = 879.
        assert_eq!((scale(41), scale(819)), (44, 879));
        // The smallest gain does not become zero: (2^32 - 1) >> 2 = 1,073,741,823; / 10^9 = 1. The largest does not
        // overflow.
        assert_eq!((scale(1), scale((1 << 31) - 1)), (1, 2_305_843_007));
    }

    #[test]
    fn the_probability_to_the_digit() {
        let mut pi = linux();
        let mut after = |delay_ns| {
            pi.update(delay_ns);
            pi.probability()
        };
        // (10 - 15) ms * 44 + 10 ms * 879 = -220e6 + 8790e6 = 8570e6; >> 6 = 133,906,250.
        assert_eq!(after(10 * MS), 133_906_250);
        // 5 ms * 44 + 10 ms * 879 = 9010e6; >> 6 = 140,781,250.
        assert_eq!(after(20 * MS), 274_687_500);
        // 5 ms * 44 + 0 = 220e6; >> 6 = 3,437,500.
        assert_eq!(after(20 * MS), 278_125_000);
        // (15,000,001 - 15e6) * 44 + (15,000,001 - 20e6) * 879 = 44 - 4,394,999,121 = -4,394,999,077; the magnitude >>
        // 6 is 68,671,860 (times 64: 4,394,999,040).
        assert_eq!(after(15_000_001), 209_453_140);
        // -15 ms * 44 - 15,000,001 * 879 = -660e6 - 13,185,000,879; >> 6 = 216,328,138.7: below zero.
        assert_eq!(after(0), 0);
        // -660e6 at each update while the queue is empty.
        assert_eq!(after(0), 0);
    }

    #[test]
    fn sums_beyond_the_range_stop_at_it() {
        let mut pi = linux();
        // An increase by 4 s in one update would wrap; steps of 100 ms are 85 ms * 44 + 100 ms * 879 = 91,640e6 >> 6 =
        // 1,431,875,000.
        pi.update(100 * MS);
        assert_eq!(pi.probability(), 1_431_875_000);
        // 185 ms * 44 + 100 ms * 879 = 96,040e6 >> 6 = 1,500,625,000.
        pi.update(200 * MS);
        assert_eq!(pi.probability(), 2_932_500_000);
        // 285 ms * 44 + 87,900e6 = 100,440e6 >> 6 = 1,569,375,000: 4,501,875,000 is above 2^32 - 1.
        pi.update(300 * MS);
        assert_eq!(pi.probability(), MAX_PROBABILITY);
    }

    /// 985 ms * 44 + 1 s * 879 = 922,340e6; >> 6 = 14,411,562,500 = 3 * 2^32 + 1,526,660,612: the kernel keeps 32 bits.
    #[test]
    fn a_jump_of_more_than_one_wraps_as_in_the_kernel() {
        let mut pi = linux();
        pi.update(1000 * MS);
        assert_eq!(pi.probability(), 1_526_660_612);
    }

    #[test]
    fn without_drops_on_overload_it_stops_where_l_is_certain() {
        let mut pi = Pi::new(DualPi2Form::Mainline, 15 * MS, 41, 819, Some(2));
        for n in 1..20 {
            pi.update(n * 50 * MS);
        }
        assert_eq!(pi.probability(), MAX_PROBABILITY / 2);
    }

    /// Changes of less than 2^-32 are truncated to zero in both directions: 1 ns * 44 >> 6 = 0.
    #[test]
    fn changes_below_the_unit_are_lost() {
        let mut pi = Pi::new(DualPi2Form::Mainline, 15 * MS, 41, 0, None);
        // 10 ms * 44 >> 6.
        pi.update(25 * MS);
        for delay_ns in [15 * MS + 1, 15 * MS, 15 * MS - 1] {
            pi.update(delay_ns);
            assert_eq!(pi.probability(), 6_875_000, "{delay_ns}");
        }
    }

    /// The delays of [`the_probability_to_the_digit`] in the L4S team's integers: 10 ms make -220e6 / 127 = -1,732,283
    /// and 8790e6 / 127 = 69,212,598; 20 ms then 220e6 / 127 = 1,732,283 and 69,212,598; 15,000,001 ns then 44 / 127
    /// = 0 and -4,394,999,121 / 127 = -34,606,292.3; and 0 is below zero.
    #[test]
    fn the_l4s_team_divides_each_product_by_127() {
        let mut pi = Pi::new(DualPi2Form::L4sTeam, 15 * MS, 41, 819, None);
        for (delay_ns, sum) in
            [(10 * MS, 67_480_315), (20 * MS, 138_425_196), (15_000_001, 103_818_904), (0, 0), (0, 0)]
        {
            pi.update(delay_ns);
            assert_eq!(pi.probability(), sum, "{delay_ns}");
        }
    }

    /// Without proportional gain a constant error is integrated linearly: each update adds alpha (q - target).
    #[test]
    fn a_constant_error_integrates() {
        let mut pi = Pi::new(DualPi2Form::Mainline, 15 * MS, 41, 0, None);
        for _ in 0..100 {
            pi.update(25 * MS);
        }
        // 100 * 10 ms * 0.16015625 Hz = 0.16; the scaled gain is 44 / 44.02 of it.
        let p = f64::from(pi.probability()) / f64::from(MAX_PROBABILITY);
        assert!((p - 0.16 * 44.0 / 43.98).abs() < 2e-4, "{p}");
    }
}
