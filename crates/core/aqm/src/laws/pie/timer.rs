//! When the kernel's timer sets off an update.

use shoal_units::Span;

/// HZ of the kernel is 1000, as everywhere in the models of Linux.
const JIFFY: Span = Span::from_millis(1);

/// From one update to the next: `pie_timer` asks for `tupdate` in jiffies, rounded up (`usecs_to_jiffies`). Zero stays
/// zero: then it does not ask.
pub(super) fn period(tupdate: Span) -> Span {
    if tupdate.is_zero() {
        return Span::ZERO;
    }
    JIFFY.saturating_mul(expiry(tupdate.as_picos().div_ceil(JIFFY.as_picos())))
}

/// Jiffies until a timer goes off that was set for `wait` jiffies, at an instant that is a multiple of what
/// this returns (`calc_wheel_index` of
/// [`kernel/time/timer.c`](https://elixir.bootlin.com/linux/v6.12/source/kernel/time/timer.c), since 4.8): a
/// timer must never be early, so it takes the next slot of its level of the wheel; levels have slots of 8^n
/// jiffies and begin at 63 times that.
const fn expiry(wait: u64) -> u64 {
    let mut shift = 0;
    // The wheel's clock is one ahead while timers run.
    while shift < 24 && wait > 63 << shift {
        shift += 3;
    }
    ((wait >> shift) + 1) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 15 jiffies become 16. From 64 jiffies on a slot is 8 jiffies wide, from 505 on 64.
    #[test]
    fn timers_take_the_next_slot() {
        let ms = Span::from_millis;
        for (asked, gets) in
            [(1, 2), (15, 16), (63, 64), (64, 72), (71, 72), (72, 80), (504, 512), (505, 512), (512, 576)]
        {
            assert_eq!(period(ms(asked)), ms(gets), "{asked}");
        }
        assert_eq!(period(Span::from_micros(14_001)), ms(16));
        assert_eq!(period(Span::ZERO), Span::ZERO);
    }
}
