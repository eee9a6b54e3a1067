//! What LEDBAT remembers of one-way delays: the lowest of each minute, and the latest ones.

use super::config::{LONGEST_FILTER, LONGEST_HISTORY, LedbatConfig};
use crate::AckSample;
use shoal_units::Time;
use shoal_units::cast::fit_u32;

/// Stands for a delay that has not been measured.
const UNKNOWN: u32 = u32::MAX;

/// Delays in ticks of the timestamp clock, with the difference of the hosts' clocks in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    /// Lowest delay of each minute, the latest minute last.
    base: [u32; LONGEST_HISTORY],
    /// Latest samples, in no order.
    current: [u32; LONGEST_FILTER],
    /// Place of the next sample.
    next: u8,
    /// Minute of the clock to which the last minimum belongs.
    minute: u32,
}

impl Delays {
    pub(super) const NONE: Self = Self {
        base: [UNKNOWN; LONGEST_HISTORY],
        current: [UNKNOWN; LONGEST_FILTER],
        next: 0,
        minute: UNKNOWN,
    };

    /// Takes the sample of an acknowledgement, if it has one: by [RFC 7323, section
    /// 4.1](https://www.rfc-editor.org/rfc/rfc7323#section-4.1), an echo says something of the path only if the ACK
    /// acknowledges new data.
    pub(super) fn note(&mut self, config: &LedbatConfig, ack: &AckSample) {
        if ack.acked_bytes == 0 || ack.ts_ecr == 0 {
            return;
        }
        let delay = ticks(ack.ts_val, ack.ts_ecr, config.clock_us);
        self.note_base(usize::from(config.base_history_minutes), minute(ack.now), delay);
        self.current[usize::from(self.next)] = delay;
        self.next = (self.next + 1) % config.current_filter.max(1);
    }

    /// `update_base_delay` of RFC 6817 section 2.4.2 (<https://www.rfc-editor.org/rfc/rfc6817#section-2.4.2>).
    fn note_base(&mut self, minutes: usize, minute: u32, delay: u32) {
        let history = &mut self.base[LONGEST_HISTORY - minutes.clamp(1, LONGEST_HISTORY)..];
        let Some(last) = history.len().checked_sub(1) else { return };
        if minute == self.minute {
            history[last] = history[last].min(delay);
        } else {
            history.rotate_left(1);
            history[last] = delay;
            self.minute = minute;
        }
    }

    /// Queueing delay in us: the lowest of the latest samples less the lowest of the history. `None` before the first
    /// sample.
    pub(super) fn queueing_us(&self, config: &LedbatConfig) -> Option<u32> {
        let lowest = |samples: &[u32]| samples.iter().copied().min().filter(|&delay| delay != UNKNOWN);
        // The base is the lowest of all samples of the present minute and before, so it is not above the current delay.
        let ticks = lowest(&self.current)?.saturating_sub(lowest(&self.base)?);
        Some(ticks.saturating_mul(config.clock_us))
    }
}

/// Ticks of a clock of `clock_us` between two stamps in us, which wrap after 2^32 us.
fn ticks(received_us: u32, sent_us: u32, clock_us: u32) -> u32 {
    let clock_us = clock_us.max(1);
    let passed = u64::from(received_us.wrapping_sub(sent_us));
    fit_u32((u64::from(sent_us % clock_us) + passed) / u64::from(clock_us)).min(UNKNOWN - 1)
}

/// Minute of the clock.
fn minute(now: Time) -> u32 {
    fit_u32(now.as_micros() / 60_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_those_that_a_coarse_clock_shows_across_its_wrap() {
        // Clock of 1 ms: sent at 1.9 ms (1) and received at 3.1 ms (3): 2. Received at 2.9 ms (2): 1.
        assert_eq!(ticks(3100, 1900, 1000), 2);
        assert_eq!(ticks(2900, 1900, 1000), 1);
        // Sent at 2^32 - 700 us, where the clock is 4,294,966.596 ms, and received 5 ms later.
        assert_eq!(ticks(4300, u32::MAX - 699, 1000), 5);
        assert_eq!(ticks(4300, u32::MAX - 699, 1), 5000);
    }
}
