//! PIE's estimate of the departure rate
//! ([RFC 8033, section 4.3](https://www.rfc-editor.org/rfc/rfc8033#section-4.3); `dq_rate_estimator` of
//! [`net/sched/sch_pie.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_pie.c)), which PI2 has too
//! ([`sch_pi2.c`](https://github.com/olgabo/dualpi2/blob/d609f2cd7528065da34a9559f1c9cc910c05b136/sch_pi2/sch_pi2.c),
//! `pi2_process_dequeue`).

use shoal_units::cast::low_u32;

/// Fractional bits of rates, which are in bytes per tick of 64 ns.
const SCALE: u32 = 8;

/// The departure rate, which is measured while enough bytes wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DepartureRate {
    /// Bytes of backlog with which a measurement begins, and bytes that it covers.
    threshold: u64,
    /// The measurement in progress.
    cycle: Option<Cycle>,
    /// Averaged rate; 0 before the first measurement.
    average: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cycle {
    since: u64,
    bytes: u64,
}

impl DepartureRate {
    /// `threshold`: bytes of backlog with which a measurement begins, and bytes that it covers.
    pub(crate) const fn new(threshold: u64) -> Self {
        Self { threshold, cycle: None, average: 0 }
    }

    /// Whether no measurement has ended yet.
    pub(crate) const fn is_unknown(&self) -> bool {
        self.average == 0
    }

    /// A packet of `size` bytes leaves `backlog` bytes behind. If that ends a measurement: how long it took, ticks.
    #[inline]
    pub(crate) fn on_departure(&mut self, size: u16, backlog: u64, now: u64) -> Option<u32> {
        if backlog >= self.threshold && self.cycle.is_none() {
            self.cycle = Some(Cycle { since: now, bytes: 0 });
        }
        let cycle = self.cycle.as_mut()?;
        cycle.bytes += u64::from(size);
        if cycle.bytes < self.threshold {
            return None;
        }
        let passed = low_u32(now - cycle.since);
        if passed == 0 {
            return None;
        }
        let measured = low_u32(cycle.bytes << SCALE) / passed;
        self.average = match self.average {
            0 => measured,
            average => (average - (average >> 3)).wrapping_add(measured >> 3),
        };
        self.cycle = (backlog >= self.threshold).then_some(Cycle { since: now, bytes: 0 });
        Some(passed)
    }

    /// Ticks that `backlog` bytes take; 0 without a rate. The kernel's product has 32 bits: from 16 MiB on it wraps.
    #[inline]
    pub(crate) fn ticks_for(&self, backlog: u64) -> u64 {
        (low_u32(backlog) << SCALE).checked_div(self.average).unwrap_or(0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of PIE.
    const THRESHOLD: u64 = 16_384;

    /// 1500 B every 300 us (40 Mbit/s) are 4687.5 ticks. The measurement starts with the first departure, whose bytes
    /// count although its time does not: 11 packets in 10 intervals, 16,500 B = 4,224,000 / 46,875 = 90 (exact: 81.9).
    #[test]
    fn a_measurement_counts_its_first_packet_but_not_its_time() {
        let mut rate = DepartureRate::new(THRESHOLD);
        let at = |n: u64| n * 300_000 / 64;
        // Below the threshold nothing is measured.
        assert_eq!(rate.on_departure(1500, 16_383, at(0)), None);
        assert_eq!(rate, DepartureRate::new(THRESHOLD));
        for n in 0..10 {
            assert_eq!(rate.on_departure(1500, 20_000, at(n)), None);
        }
        assert_eq!(rate.on_departure(1500, 20_000, at(10)), Some(46_875));
        assert_eq!(rate.average, 90);
        // The next one starts there: 11 packets in 11 intervals, 51,562 ticks: 4,224,000 / 51,562 = 81; 90 - 11 + 10.
        for n in 11..21 {
            assert_eq!(rate.on_departure(1500, 20_000, at(n)), None);
        }
        assert_eq!(rate.on_departure(1500, 16_383, at(21)), Some(51_562));
        // Too little waits now for another measurement, and the rate stays.
        let idle = DepartureRate { average: 89, ..DepartureRate::new(THRESHOLD) };
        assert_eq!(rate, idle);
        assert_eq!(rate.on_departure(1500, 16_383, at(22)), None);
        assert_eq!(rate, idle);
    }

    #[test]
    fn a_measurement_without_time_goes_on() {
        let mut rate = DepartureRate::new(THRESHOLD);
        assert_eq!(rate.on_departure(20_000, 20_000, 7), None);
        // 20,000 + 1000 B = 5,376,000 / 100.
        assert_eq!(rate.on_departure(1000, 0, 107), Some(100));
        assert_eq!(rate, DepartureRate { average: 53_760, ..DepartureRate::new(THRESHOLD) });
    }

    /// The average falls by one in each cycle until average >> 3 = 10, at 87, where truncation keeps it; the rate is
    /// 81.9.
    #[test]
    fn truncation_keeps_the_average_above_the_rate() {
        let mut rate = DepartureRate::new(10_000);
        for n in 2..=400 {
            rate.on_departure(1500, 30_000, n * 300_000 / 64);
        }
        assert_eq!(rate.average, 87);
    }

    #[test]
    fn a_measurement_of_exactly_the_threshold_ends() {
        let mut rate = DepartureRate::new(10_000);
        for n in 1..=10 {
            rate.on_departure(1000, 30_000, n * 1000);
        }
        // 10,000 * 256 / 9000 ticks = 284.4.
        assert_eq!(rate.average, 284);
    }

    /// 100,000 B << 8 = 25,600,000; / 82 = 312,195 ticks = 19.98 ms. 2^24 B << 8 wraps to 0.
    #[test]
    fn delay_is_backlog_over_rate_in_32_bits() {
        let ticks =
            |average, backlog| DepartureRate { average, ..DepartureRate::new(THRESHOLD) }.ticks_for(backlog);
        assert_eq!(ticks(82, 100_000), 312_195);
        assert_eq!(ticks(0, 100_000), 0);
        assert_eq!(ticks(82, 1 << 24), 0);
    }
}
