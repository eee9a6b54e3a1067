//! The departure rate as PIE measures it
//! ([`sch_pi2.c`](https://github.com/olgabo/dualpi2/blob/d609f2cd7528065da34a9559f1c9cc910c05b136/sch_pi2/sch_pi2.c),
//! `pi2_process_dequeue`, after
//! [`net/sched/sch_pie.c`](https://elixir.bootlin.com/linux/v3.14/source/net/sched/sch_pie.c) of Linux 3.14).

use shoal_units::cast::low_u32;
/// Smoothed departure rate in bytes a tick of 64 ns, times 2^8.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DepartureRate {
    average: u32,
    cycle: Option<Cycle>,
}

/// A measurement that has begun.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    began_ticks: u64,
    bytes: u64,
}

/// Bytes of a measurement, and of the queue that it needs.
const THRESHOLD_BYTES: u64 = 10_000;
/// Fractional bits of the rate.
const SCALE: u32 = 8;

impl DepartureRate {
    /// `size` bytes leave at `now` and `backlog` bytes stay.
    #[inline]
    pub(super) fn on_departure(&mut self, size: u16, backlog: u64, now_ticks: u64) {
        if backlog >= THRESHOLD_BYTES && self.cycle.is_none() {
            self.cycle = Some(Cycle { began_ticks: now_ticks, bytes: 0 });
        }
        let Some(cycle) = &mut self.cycle else { return };
        cycle.bytes += u64::from(size);
        if cycle.bytes < THRESHOLD_BYTES {
            return;
        }
        let ticks = low_u32(now_ticks.wrapping_sub(cycle.began_ticks));
        if ticks == 0 {
            return;
        }
        let sample = low_u32(cycle.bytes << SCALE) / ticks;
        self.average = match self.average {
            0 => sample,
            average => (average - (average >> 3)).wrapping_add(sample >> 3),
        };
        self.cycle = (backlog >= THRESHOLD_BYTES).then_some(Cycle { began_ticks: now_ticks, bytes: 0 });
    }

    /// Ticks that `backlog` bytes take; 0 while no rate is known. The kernel shifts in 32 bits.
    #[inline]
    pub(super) fn ticks_for(&self, backlog: u64) -> u64 {
        match self.average {
            0 => 0,
            average => u64::from(low_u32(backlog).wrapping_shl(SCALE) / average),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 Mbit/s: 1500 B every 300 us = 4687.5 ticks.
    #[test]
    fn a_steady_rate_is_measured_to_the_digit() {
        let mut rate = DepartureRate::default();
        let tick = |n: u64| n * 300_000 / 64;
        // Below the threshold nothing is measured.
        rate.on_departure(1500, 9_999, tick(1));
        assert!(rate.cycle.is_none());
        // The packet that begins a cycle counts in it: seven packets, 10,500 B, in 6 * 300 us = 28,125 ticks.
        for n in 2..=8 {
            rate.on_departure(1500, 30_000, tick(n));
        }
        // 10,500 * 256 / 28,125 = 95.57.
        assert_eq!(rate.average, 95);
        // Later cycles begin after the packet: seven packets in 7 * 300 us, 32,813 ticks or one less: 81.9.
        for n in 9..=15 {
            rate.on_departure(1500, 30_000, tick(n));
        }
        // 95 - 11 + (81 >> 3) = 94.
        assert_eq!(rate.average, 94);
        for n in 16..=400 {
            rate.on_departure(1500, 30_000, tick(n));
        }
        // The average falls by one in each cycle until average >> 3 = 10, at 87, where truncation keeps it.
        assert_eq!(rate.average, 87);
        // 30,000 B * 256 / 87 = 88,275.
        assert_eq!(rate.ticks_for(30_000), 88_275);
        // A short queue ends the measurement.
        for n in 401..=407 {
            rate.on_departure(1500, 3000, tick(n));
        }
        assert!(rate.cycle.is_none());
    }

    #[test]
    fn ten_thousand_bytes_are_a_measurement() {
        let mut rate = DepartureRate::default();
        for n in 1..=10 {
            rate.on_departure(1000, 30_000, n * 1000);
        }
        // 10,000 * 256 / 9000 ticks = 284.4.
        assert_eq!(rate.average, 284);
    }

    #[test]
    fn without_a_rate_there_is_no_delay() {
        assert_eq!(DepartureRate::default().ticks_for(1_000_000), 0);
    }
}
