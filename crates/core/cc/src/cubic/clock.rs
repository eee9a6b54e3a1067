//! The kernel clocks that CUBIC reads, and the version of the module on a host stack.

use crate::{AckCounting, GrowthRules};
use shoal_units::cast::low_u32;
use shoal_units::{Span, Time};

/// Jiffies per second (`CONFIG_HZ`).
pub(super) const HZ: u32 = 1000;

/// Time in jiffies, wrapping as in the kernel.
#[inline]
pub(super) fn jiffies(now: Time) -> u32 {
    low_u32(now.as_millis())
}

/// Time in microseconds (`tcp_mstamp`), wrapping.
#[inline]
pub(super) fn micros(now: Time) -> u32 {
    low_u32(now.as_micros())
}

/// Signed distance of two wrapping clocks.
#[inline]
pub(super) fn elapsed(now: u32, earlier: u32) -> i32 {
    now.wrapping_sub(earlier).cast_signed()
}

/// Version of [`tcp_cubic.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_cubic.c), derived
/// from the host stack's ACK counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Era {
    /// 3.2: counts ACKs, scaled by the delayed-ACK ratio; RTT in jiffies.
    V3_2,
    /// 3.18: as 3.2, but with the RTT in microseconds.
    V3_18,
    /// 6.x: counts packets, computes `cnt` (at least 2) once a jiffy, shifts the epoch after idle periods,
    /// HyStart in microseconds.
    V6,
}

impl Era {
    pub(super) fn of(rules: &GrowthRules) -> Self {
        match (rules.counting, rules.slow_start_counting) {
            (AckCounting::PerPacket, _) => Self::V6,
            (AckCounting::PerAck, AckCounting::PerPacket) => Self::V3_18,
            (AckCounting::PerAck, AckCounting::PerAck) => Self::V3_2,
            // A host other than Linux behaves like current kernels.
            (AckCounting::Bytes, _) | (_, AckCounting::Bytes) => Self::V6,
        }
    }

    /// An RTT sample that was taken at `now`, in the unit of `delay_min`: microseconds in 6.x, else eighths
    /// of a millisecond.
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
