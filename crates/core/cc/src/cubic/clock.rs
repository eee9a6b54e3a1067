//! The kernel clocks CUBIC reads, and which version of the module a host stack runs.

use crate::{AckCounting, GrowthRules};
use shoal_units::cast::low_u32;
use shoal_units::{Span, Time};

/// Jiffies a second (`CONFIG_HZ`).
pub(super) const HZ: u32 = 1000;

/// Instant in jiffies, wrapping as in the kernel.
#[inline]
pub(super) fn jiffies(now: Time) -> u32 {
    low_u32(now.as_picos() / 1_000_000_000)
}

/// Instant in microseconds (`tcp_mstamp`), wrapping.
#[inline]
pub(super) fn micros(now: Time) -> u32 {
    low_u32(now.as_micros())
}

/// Signed distance of two wrapping clocks.
#[inline]
pub(super) fn elapsed(now: u32, earlier: u32) -> i32 {
    now.wrapping_sub(earlier).cast_signed()
}

/// Version of `tcp_cubic.c`, told from the ACK counting of the host stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Era {
    /// 3.2: ACKs counted, scaled by the delayed-ACK ratio; RTT in jiffies.
    V3_2,
    /// 3.18: the same with an RTT in microseconds.
    V3_18,
    /// 6.x: packets counted, `cnt` at least 2 and computed once a jiffy, epoch shifted after idle, HyStart in microseconds.
    V6,
}

impl Era {
    pub(super) fn of(rules: &GrowthRules) -> Self {
        match (rules.counting, rules.slow_start_counting) {
            (AckCounting::PerPacket, _) => Self::V6,
            (AckCounting::PerAck, AckCounting::PerPacket) => Self::V3_18,
            (AckCounting::PerAck, AckCounting::PerAck) => Self::V3_2,
            // Not a Linux host; what current kernels do suits best.
            (AckCounting::Bytes, _) | (_, AckCounting::Bytes) => Self::V6,
        }
    }

    /// An RTT sample that ended `now`, in the unit of `delay_min`: microseconds in 6.x, else eighths of a millisecond.
    pub(super) fn delay(self, now: Time, rtt: Span) -> u32 {
        let micros = u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX >> 3);
        let delay = match self {
            Self::V6 => micros,
            Self::V3_18 => low_u32((u64::from(micros) << 3) / 1000),
            Self::V3_2 => {
                let sent = Time::from_picos(now.as_picos().saturating_sub(rtt.as_picos()));
                jiffies(now).wrapping_sub(jiffies(sent)) << 3
            }
        };
        delay.max(1)
    }

    /// `delay_min` in jiffies, as the cubic function adds it (6.x rounds up: `usecs_to_jiffies`).
    #[inline]
    pub(super) fn delay_in_jiffies(self, delay: u32) -> u32 {
        match self {
            Self::V6 => delay.div_ceil(1_000_000 / HZ),
            Self::V3_18 | Self::V3_2 => delay >> 3,
        }
    }
}
