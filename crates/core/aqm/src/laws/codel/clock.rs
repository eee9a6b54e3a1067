//! The clock of CoDel: 32 bits of 1024 ns (Linux
//! [`include/net/codel.h`](https://elixir.bootlin.com/linux/v6.12/source/include/net/codel.h)). It wraps
//! after 4398 s, so instants are compared by the sign of their distance.

use shoal_units::cast::low_u32;
use shoal_units::{Span, Time};

const PICOS: u64 = 1_024_000;

/// An instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Instant(pub(super) u32);

impl Instant {
    /// Zero of a kernel's clock, 100 s before the experiment. To a law, what it did at the boot is then neither
    /// recent nor, for half a period of the clock (2199 s), in the future.
    pub(super) const BOOT: Self = Self(0u32.wrapping_sub(97_656_250));

    #[inline]
    pub(super) const fn of(time: Time) -> Self {
        Self(low_u32(time.as_picos() / PICOS))
    }

    /// `codel_time_after`.
    #[inline]
    pub(super) const fn is_after(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }

    /// Whether the instant is `now` or earlier (`codel_time_after_eq` with exchanged arguments).
    #[inline]
    pub(super) const fn has_come(self, now: Self) -> bool {
        now.0.wrapping_sub(self.0).cast_signed() >= 0
    }

    /// Ticks since `earlier`.
    #[inline]
    pub(super) const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    #[inline]
    pub(super) const fn plus(self, ticks: u32) -> Self {
        Self(self.0.wrapping_add(ticks))
    }
}

/// Converts a parameter to ticks: tc accepts 32 bits of whole microseconds, and the kernel shifts their
/// nanoseconds.
pub(super) fn ticks(span: Span) -> u32 {
    let micros = span.as_micros().min(u64::from(u32::MAX));
    low_u32((micros * 1000) >> 10)
}

/// Whether a sojourn time is below a parameter (`codel_time_before` on differences).
#[inline]
pub(super) const fn is_below(sojourn: u32, limit: u32) -> bool {
    limit.wrapping_sub(sojourn).cast_signed() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5 ms: 5,000,000 / 1024 = 4882.8; 100 ms: 97,656.25.
    #[test]
    fn parameters_are_cut_to_ticks() {
        assert_eq!(ticks(Span::from_millis(5)), 4882);
        assert_eq!(ticks(Span::from_millis(100)), 97_656);
        assert_eq!(ticks(Span::from_nanos(999)), 0);
        // 2^32 - 1 us.
        assert_eq!(ticks(Span::MAX), ((u64::from(u32::MAX) * 1000) >> 10) as u32);
    }

    #[test]
    fn instants_are_cut_to_ticks_and_wrap() {
        assert_eq!(Instant::of(Time::from_picos(1_023_999)), Instant(0));
        assert_eq!(Instant::of(Time::from_picos(1_024_000)), Instant(1));
        assert_eq!(Instant::of(Time::from_picos(1_024_000 * ((1 << 32) + 7))), Instant(7));
        assert!(Instant(5).is_after(Instant(u32::MAX)) && !Instant(u32::MAX).is_after(Instant(5)));
        assert!(!Instant(5).is_after(Instant(5)) && Instant(5).has_come(Instant(5)));
        assert!(Instant(u32::MAX).has_come(Instant(5)) && !Instant(5).has_come(Instant(u32::MAX)));
        assert_eq!(Instant(4).since(Instant(u32::MAX)), 5);
    }
}
