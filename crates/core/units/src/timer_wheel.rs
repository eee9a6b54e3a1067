//! When a timer of the Linux kernel goes off: not when it is due, but with a tick of the kernel's clock behind it.

use crate::{Span, Time};

/// A tick of the kernel's clock. HZ of the kernel is 1000, as everywhere in the models of Linux.
pub const JIFFY: Span = Span::from_millis(1);

/// Number of levels of the wheel above the first.
const LEVELS: u32 = 8;
/// Each level has slots of eight times the length of those below it (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// Longest wait, in slots of a level, that has a place on it (`LVL_SIZE` - 1).
const LONGEST_WAIT_SLOTS: u64 = 63;

/// Count of jiffies at the start of the experiment. The kernel begins five minutes before 32 bits of them wrap
/// (`INITIAL_JIFFIES`), and the guest begins the experiment two seconds after its boot.
const START_JIFFIES: u64 = (1 << 32) - 300_000 + 2000;

/// Jiffy with which a timer goes off that was set in jiffy `now` for `wait` jiffies. A timer must never be early, so
/// that it takes the next slot of its level of the wheel; levels have slots of 8^n jiffies and begin at 63 times that
/// (`calc_wheel_index` of
/// [`kernel/time/timer.c`](https://elixir.bootlin.com/linux/v6.12/source/kernel/time/timer.c), since 4.8).
#[must_use]
#[inline]
pub const fn wheel_slot(now: u64, wait: u64) -> u64 {
    // The delay of an ACK has its slot on the first level.
    if wait <= LONGEST_WAIT_SLOTS { now + wait + 1 } else { far_slot(now, wait) }
}

#[cold]
#[inline(never)]
const fn far_slot(now: u64, wait: u64) -> u64 {
    let mut shift = LEVEL_SHIFT;
    // The wheel's clock is one jiffy ahead while timers run.
    while shift < LEVELS * LEVEL_SHIFT && wait > LONGEST_WAIT_SLOTS << shift {
        shift += LEVEL_SHIFT;
    }
    (((now + wait) >> shift) + 1) << shift
}

/// A wait in whole jiffies, rounded up (`usecs_to_jiffies`).
#[must_use]
pub const fn whole_jiffies(wait: Span) -> u64 {
    wait.as_picos().div_ceil(JIFFY.as_picos())
}

/// Ticks of the kernel's clock between two instants, as a time: what a kernel measures in jiffies.
#[must_use]
pub const fn jiffies_between(earlier: Time, later: Time) -> Span {
    let tick = JIFFY.as_picos();
    Span::from_picos((later.as_picos() / tick).saturating_sub(earlier.as_picos() / tick) * tick)
}

/// Instant at which a timer goes off that was set at `now` for `wait` from then, which the kernel counts in whole
/// jiffies from the last tick on.
#[must_use]
#[inline(never)]
pub const fn wheel_expiry(now: Time, wait: Span) -> Time {
    let now_jiffies = START_JIFFIES + now.as_picos() / JIFFY.as_picos();
    let slot = wheel_slot(now_jiffies, whole_jiffies(wait));
    Time::ZERO.saturating_add(JIFFY.saturating_mul(slot - START_JIFFIES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// 15 jiffies become 16. From 64 jiffies on a slot is 8 jiffies wide, from 505 on 64.
    #[test]
    fn timers_take_the_next_slot() {
        for (asked, gets) in
            [(1, 2), (15, 16), (63, 64), (64, 72), (71, 72), (72, 80), (504, 512), (505, 512), (512, 576)]
        {
            assert_eq!(wheel_slot(0, asked), gets, "{asked}");
        }
    }

    /// A delayed ACK of 40 ms after a packet at 959.6 ms was sent at 1000 ms by Linux 7.3.4, and a probe that was due
    /// at 1.8 s at 1.808 s.
    #[test]
    fn the_wait_counts_from_the_last_tick() {
        assert_eq!(wheel_expiry(at(959_582), Span::from_millis(40)), at(1_000_000));
        assert_eq!(wheel_expiry(at(960_000), Span::from_millis(40)), at(1_001_000));
        assert_eq!(wheel_expiry(at(0), Span::from_micros(14_001)), at(16_000));
        // 1001 + 300 = 1301 ms is in the slot that ends at 1304 ms.
        assert_eq!(wheel_expiry(at(1_001_900), Span::from_micros(299_001)), at(1_304_000));
        // Slots of 64 ms end 16 ms behind multiples of that.
        assert_eq!(wheel_expiry(at(600_000), Span::from_millis(1200)), at(1_808_000));
    }

    #[test]
    fn times_are_whole_ticks() {
        for (earlier, later, ticks) in [(1900, 2100, 1), (2000, 2999, 0), (1999, 4000, 3), (5000, 4000, 0)] {
            assert_eq!(jiffies_between(at(earlier), at(later)), JIFFY * ticks, "{earlier} {later}");
        }
    }

    #[test]
    fn no_wait_is_too_long() {
        assert!(wheel_expiry(Time::ZERO, Span::from_picos(u64::MAX)) > at(1));
        assert!(wheel_expiry(at(5), Span::from_secs(3_000_000)) > at(3_000_000_000_000));
    }
}
