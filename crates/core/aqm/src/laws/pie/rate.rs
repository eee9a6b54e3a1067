//! PIE's estimate of the departure rate
//! ([RFC 8033, section 4.3](https://www.rfc-editor.org/rfc/rfc8033#section-4.3); `dq_rate_estimator` of
//! [`net/sched/sch_pie.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_pie.c)).

use shoal_units::cast::low_u32;
/// Bytes of backlog with which a measurement begins, and bytes that it covers.
const THRESHOLD: u32 = 16_384;
/// Fractional bits of rates, which are in bytes per tick.
const SCALE: u32 = 8;

/// Estimator of the departure rate, which measures while enough bytes wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Estimator {
    /// The measurement in progress.
    cycle: Option<Cycle>,
    /// Averaged rate; 0 before the first measurement.
    rate: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cycle {
    since: u64,
    bytes: u64,
}

impl Estimator {
    pub(super) fn rate(&self) -> u32 {
        self.rate
    }

    /// A packet of `size` bytes leaves `backlog` bytes behind. If that ends a measurement: how long it took, ticks.
    #[inline]
    pub(super) fn on_departure(&mut self, size: u16, backlog: u32, now: u64) -> Option<u32> {
        if backlog >= THRESHOLD && self.cycle.is_none() {
            self.cycle = Some(Cycle { since: now, bytes: 0 });
        }
        let cycle = self.cycle.as_mut()?;
        cycle.bytes += u64::from(size);
        if cycle.bytes < THRESHOLD.into() {
            return None;
        }
        let passed = low_u32(now - cycle.since);
        if passed == 0 {
            return None;
        }
        let measured = low_u32(cycle.bytes << SCALE) / passed;
        self.rate = match self.rate {
            0 => measured,
            rate => (rate - (rate >> 3)).wrapping_add(measured >> 3),
        };
        self.cycle = (backlog >= THRESHOLD).then_some(Cycle { since: now, bytes: 0 });
        Some(passed)
    }
}

/// The delay of `backlog` bytes at `rate`, ticks; 0 without a rate. The kernel's product has 32 bits: from 16 MiB on it
/// wraps.
#[inline]
pub(super) fn qdelay_of(backlog: u32, rate: u32) -> u64 {
    (backlog << SCALE).checked_div(rate).unwrap_or(0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1500 B every 300 us (40 Mbit/s) are 4687.5 ticks. The measurement starts with the first departure, whose bytes
    /// count although its time does not: 11 packets in 10 intervals, 16,500 B = 4,224,000 / 46,875 = 90 (exact: 81.9).
    #[test]
    fn a_measurement_counts_its_first_packet_but_not_its_time() {
        let mut estimator = Estimator::default();
        let at = |n: u64| n * 300_000 / 64;
        for n in 0..10 {
            assert_eq!(estimator.on_departure(1500, 20_000, at(n)), None);
        }
        assert_eq!(estimator.on_departure(1500, 20_000, at(10)), Some(46_875));
        assert_eq!(estimator.rate, 90);
        // The next one starts there: 11 packets in 11 intervals, 51,562 ticks: 4,224,000 / 51,562 = 81; 90 - 11 + 10.
        for n in 11..21 {
            assert_eq!(estimator.on_departure(1500, 20_000, at(n)), None);
        }
        assert_eq!(estimator.on_departure(1500, 16_383, at(21)), Some(51_562));
        assert_eq!(estimator.rate, 89);
        // Too little waits now for another measurement, and the rate stays.
        assert_eq!(estimator, Estimator { cycle: None, rate: 89 });
        assert_eq!(estimator.on_departure(1500, 16_383, at(22)), None);
        assert_eq!(estimator.cycle, None);
    }

    #[test]
    fn a_measurement_without_time_goes_on() {
        let mut estimator = Estimator::default();
        assert_eq!(estimator.on_departure(20_000, 20_000, 7), None);
        // 20,000 + 1000 B = 5,376,000 / 100.
        assert_eq!(estimator.on_departure(1000, 0, 107), Some(100));
        assert_eq!(estimator, Estimator { cycle: None, rate: 53_760 });
    }

    /// 100,000 B << 8 = 25,600,000; / 82 = 312,195 ticks = 19.98 ms. 2^24 B << 8 wraps to 0.
    #[test]
    fn delay_is_backlog_over_rate_in_32_bits() {
        assert_eq!(qdelay_of(100_000, 82), 312_195);
        assert_eq!(qdelay_of(100_000, 0), 0);
        assert_eq!(qdelay_of(1 << 24, 82), 0);
    }
}
