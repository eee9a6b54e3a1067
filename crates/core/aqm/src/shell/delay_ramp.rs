//! The ramp of low-latency queues in DOCSIS: a probability that rises with the delay of the queue.

use crate::DelayRampConfig;
use shoal_units::Rate;
use shoal_units::cast::fit_u64;

/// Probability 1, in 2^-32.
pub(crate) const CERTAIN: u64 = 1 << 32;

/// The ramp at a line ([RFC 9957, section 4.1](https://www.rfc-editor.org/rfc/rfc9957#section-4.1)).
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayRamp {
    /// MINTH.
    min_ns: u64,
    /// RANGE.
    range_ns: u64,
    bits_per_second: u64,
}

impl DelayRamp {
    /// # Panics
    /// If the rate is zero.
    pub(crate) fn new(config: DelayRampConfig, line_rate: Rate) -> Self {
        let bits_per_second = line_rate.as_bps();
        assert!(bits_per_second > 0, "a rate of zero");
        let mut ramp = Self { min_ns: 0, range_ns: config.range.as_nanos(), bits_per_second };
        let floor = ramp.delay_ns(config.floor_bytes.into());
        ramp.min_ns = config.max.as_nanos().saturating_sub(ramp.range_ns).max(floor);
        ramp
    }

    /// MAXTH: the delay from which everything is marked.
    pub(crate) const fn max_ns(&self) -> u64 {
        self.min_ns.saturating_add(self.range_ns)
    }

    /// The delay of a queue of so many bytes: whole nanoseconds at the line's rate.
    #[inline]
    pub(crate) fn delay_ns(&self, bytes: u64) -> u64 {
        const BITS_NS: u64 = 8_000_000_000;
        match bytes.checked_mul(BITS_NS) {
            Some(product) => product / self.bits_per_second,
            // 10^9 bytes and more.
            None => {
                let product = u128::from(bytes) * u128::from(BITS_NS);
                u64::try_from(product / u128::from(self.bits_per_second)).unwrap_or(u64::MAX)
            }
        }
    }

    /// probNative: the probability at such a delay, in 2^-32, [`CERTAIN`] included.
    #[inline]
    pub(crate) fn likelihood(&self, delay_ns: u64) -> u64 {
        if delay_ns >= self.max_ns() {
            return CERTAIN;
        }
        match delay_ns.saturating_sub(self.min_ns) {
            0 => 0,
            beyond => fit_u64((u128::from(beyond) << 32) / u128::from(self.range_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Span;

    /// MINTH = 1 ms - 2^19 ns = 475,712 ns; in the middle of the ramp, 2^18 ns on, the probability is a half.
    #[test]
    fn the_ramp_lies_below_its_end() {
        let ramp = DelayRamp::new(DelayRampConfig::RFC_9957, Rate::from_bps(100_000_000));
        let at = |delay_ns| ramp.likelihood(delay_ns);
        assert_eq!((at(0), at(475_712), at(475_713)), (0, 0, (1 << 32) / (1 << 19)));
        assert_eq!(at(475_712 + (1 << 18)), CERTAIN / 2);
        assert_eq!((at(999_999), at(1_000_000), at(u64::MAX)), (CERTAIN - (1 << 13), CERTAIN, CERTAIN));
        assert_eq!(ramp.max_ns(), 1_000_000);
        // 100 Mbit/s: 80 ns a byte.
        assert_eq!(ramp.delay_ns(1500), 120_000);
    }

    /// Two frames of 2000 B take 3.2 ms at 10 Mbit/s, and 0.4757 ms at 67.27 Mbit/s.
    #[test]
    fn slow_links_begin_to_mark_at_two_frames() {
        for (bps, min_ns) in [(10_000_000, 3_200_000), (67_200_000, 476_190), (67_300_000, 475_712)] {
            let ramp = DelayRamp::new(DelayRampConfig::RFC_9957, Rate::from_bps(bps));
            assert_eq!((ramp.min_ns, ramp.max_ns()), (min_ns, min_ns + (1 << 19)), "{bps}");
        }
    }

    #[test]
    fn a_ramp_without_range_is_a_step() {
        let config = DelayRampConfig { range: Span::ZERO, ..DelayRampConfig::RFC_9957 };
        let ramp = DelayRamp::new(config, Rate::from_bps(100_000_000));
        assert_eq!((ramp.likelihood(999_999), ramp.likelihood(1_000_000)), (0, CERTAIN));
    }

    #[test]
    fn long_queues_do_not_overflow() {
        let ramp = DelayRamp::new(DelayRampConfig::RFC_9957, Rate::from_bps(8));
        assert_eq!(ramp.delay_ns(10_000_000_000), 10_000_000_000_000_000_000);
        assert_eq!(ramp.delay_ns(u64::MAX), u64::MAX);
    }
}
