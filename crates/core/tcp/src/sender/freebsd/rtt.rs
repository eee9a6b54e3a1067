//! Round-trip time and the retransmission timeout in ticks of 1 ms (`tcp_xmit_timer`, `TCP_REXMTVAL`, `TCPT_RANGESET`).

use crate::{FreeBsd, Profile};
use shoal_units::{Span, Time};

/// `hz` = 1000: a tick, and the unit of the timestamp clock.
const TICK: Span = Span::from_millis(1);
/// Backoff by consecutive timeouts (`tcp_backoff`).
const BACKOFF: [u64; 13] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 512, 512, 512];
/// Backoff of SYNs with equal spacing (`tcp_syn_backoff`).
const SYN_BACKOFF: [u64; 13] = [1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 64, 64];
/// Number of timeouts after which the estimate is discarded (`TCP_MAXRXTSHIFT / 4`).
const INVALID_AFTER: usize = 3;
const SRTT_SHIFT: u32 = 5;
const RTTVAR_SHIFT: u32 = 4;
const DELTA_SHIFT: u32 = 2;

/// Smoothed RTT (`t_srtt`, 1/32 tick) and mean deviation (`t_rttvar`, 1/16 tick).
#[derive(Clone, Copy, Debug)]
pub(super) struct TickRtt {
    srtt: i64,
    rttvar: i64,
    /// Consecutive timeouts (`t_rxtshift`).
    timeouts: usize,
    /// The present timeout with backoff (`t_rxtcur`).
    current: Span,
}

impl TickRtt {
    pub(super) fn new(stack: &Profile) -> Self {
        let initial = ticks(stack.rto_initial);
        // An assumed deviation makes TCP_REXMTVAL the initial timeout.
        Self { srtt: 0, rttvar: (initial << RTTVAR_SHIFT) / 4, timeouts: 0, current: stack.rto_initial }
    }
    pub(super) fn srtt(&self) -> Span {
        Span::from_picos(self.srtt.cast_unsigned() * (TICK.as_picos() >> SRTT_SHIFT))
    }
    pub(super) fn current(&self) -> Span {
        self.current
    }
    pub(super) fn timeouts(&self) -> usize {
        self.timeouts
    }

    /// Takes a sample from a segment that left at `sent` and is acknowledged `now`; both clocks count whole
    /// ticks.
    pub(super) fn sample(&mut self, stack: &Profile, rules: &FreeBsd, sent: Time, now: Time) {
        let rtt = (now.as_picos() / TICK.as_picos()).cast_signed()
            - (sent.as_picos() / TICK.as_picos()).cast_signed()
            + 1;
        if self.srtt == 0 {
            self.srtt = rtt << SRTT_SHIFT;
            self.rttvar = rtt << (RTTVAR_SHIFT - 1);
        } else {
            let delta = ((rtt - 1) << DELTA_SHIFT) - (self.srtt >> (SRTT_SHIFT - DELTA_SHIFT));
            self.srtt = (self.srtt + delta).max(1);
            let deviation = delta.abs() - (self.rttvar >> (RTTVAR_SHIFT - DELTA_SHIFT));
            self.rttvar = (self.rttvar + deviation).max(1);
        }
        self.timeouts = 0;
        self.current = in_range(stack, rules, self.base(stack), span((rtt + 2).max(ticks(stack.rto_min))));
    }

    /// Backs off after a timeout of data.
    pub(super) fn back_off(&mut self, stack: &Profile, rules: &FreeBsd) {
        self.timeouts = (self.timeouts + 1).min(BACKOFF.len() - 1);
        let wait = self.base(stack).saturating_mul(BACKOFF[self.timeouts]);
        self.current = in_range(stack, rules, wait, stack.rto_min);
        if self.timeouts > INVALID_AFTER {
            self.rttvar += self.srtt >> SRTT_SHIFT;
            self.srtt = 0;
        }
    }

    /// Backs off after a timeout of the SYN.
    pub(super) fn back_off_syn(&mut self, stack: &Profile, rules: &FreeBsd) {
        self.timeouts = (self.timeouts + 1).min(BACKOFF.len() - 1);
        let table = if rules.syns_keep_pace { &SYN_BACKOFF } else { &BACKOFF };
        let wait = stack.rto_initial.saturating_mul(table[self.timeouts]);
        self.current = in_range(stack, rules, wait, stack.rto_min);
    }

    /// SRTT and four deviations, not below the minimum (`TCP_REXMTVAL`).
    fn base(&self, stack: &Profile) -> Span {
        let value = ((self.srtt >> (SRTT_SHIFT - DELTA_SHIFT)) + self.rttvar) >> DELTA_SHIFT;
        span(value.max(ticks(stack.rto_min)))
    }
}

/// `TCPT_RANGESET`.
fn in_range(stack: &Profile, rules: &FreeBsd, wait: Span, min: Span) -> Span {
    (wait + rules.rto_slop).max(min).min(stack.rto_max)
}

fn ticks(span: Span) -> i64 {
    (span.as_picos() / TICK.as_picos()).cast_signed()
}

fn span(ticks: i64) -> Span {
    TICK.saturating_mul(ticks.max(0).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    fn estimator_of(stack: Profile) -> (TickRtt, Profile, FreeBsd) {
        let Kernel::FreeBsd(rules) = stack.kernel else { panic!("{} is FreeBSD", stack.name) };
        (TickRtt::new(&stack), stack, rules)
    }

    fn estimator() -> (TickRtt, Profile, FreeBsd) {
        estimator_of(Profile::FREEBSD_2015)
    }

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn the_timeout_is_at_least_230_ms() {
        // 0.2 ms within one tick: rtt = 0 + 1; srtt = 1 << 5 = 32, rttvar = 1 << 3 = 8: (32 >> 3 + 8) >> 2 = 3 ticks,
        // below the minimum of 30; with the slop 230 ms.
        let (mut e, stack, rules) = estimator();
        assert_eq!(e.current(), Span::from_secs(3));
        e.sample(&stack, &rules, at(100), at(300));
        assert_eq!((e.srtt, e.rttvar, e.current()), (32, 8, Span::from_millis(230)));
        // Again: delta = 0 - (32 >> 3) = -4, srtt 28; 4 - (8 >> 2) = 2, rttvar 10.
        e.sample(&stack, &rules, at(1100), at(1300));
        assert_eq!((e.srtt, e.rttvar), (28, 10));
        assert_eq!(e.srtt(), Span::from_micros(875));
        // 0.2 ms across a tick: rtt = 1 + 1; delta = 4 - (28 >> 3) = 1.
        e.sample(&stack, &rules, at(1900), at(2100));
        assert_eq!(e.srtt, 29);
    }

    #[test]
    fn a_long_round_trip_sets_the_timeout() {
        // 100 ms: rtt = 101; srtt = 3232, rttvar = 808: (404 + 808) >> 2 = 303 ticks, with the slop 503 ms.
        let (mut e, stack, rules) = estimator();
        e.sample(&stack, &rules, at(0), at(100_000));
        assert_eq!(e.current(), Span::from_millis(503));
    }

    #[test]
    fn backoff_does_not_multiply_the_slop() {
        // Base 30 ms: 60 + 200, 120 + 200, 240 + 200, 480 + 200; the fifth forgets SRTT: rttvar = 8 + 1 = 9, base still
        // 30.
        let (mut e, stack, rules) = estimator();
        e.sample(&stack, &rules, at(100), at(300));
        let mut seen = Vec::new();
        for _ in 0..13 {
            e.back_off(&stack, &rules);
            seen.push(e.current().as_micros() / 1000);
        }
        assert_eq!(
            seen,
            [260, 320, 440, 680, 1160, 2120, 4040, 7880, 15_560, 15_560, 15_560, 15_560, 15_560]
        );
        assert_eq!((e.srtt(), e.rttvar), (Span::ZERO, 9));
    }

    #[test]
    fn the_timeout_ends_at_64_seconds() {
        let (mut e, stack, rules) = estimator();
        for _ in 0..10 {
            e.back_off(&stack, &rules);
        }
        assert_eq!(e.current(), Span::from_secs(64));
    }

    #[test]
    fn syns_keep_pace_in_2015_only() {
        // 3 s without slop the first time, then 3 s x 1, 1, 1, 1, 2 each with the slop.
        let (mut e, stack, rules) = estimator();
        let mut waits = |stack: &Profile, rules: &FreeBsd| {
            (0..5)
                .map(|_| {
                    e.back_off_syn(stack, rules);
                    e.current().as_micros() / 1000
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(waits(&stack, &rules), [3200, 3200, 3200, 3200, 6200]);
        let (mut e, stack, rules) = estimator_of(Profile::FREEBSD_14);
        e.back_off_syn(&stack, &rules);
        assert_eq!(e.current(), Span::from_millis(2200));
    }
}
