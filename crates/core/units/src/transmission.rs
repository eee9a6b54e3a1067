//! The rate of a transmitter over time.

use crate::{Rate, Serialiser, Span, Time};
use alloc::boxed::Box;
use alloc::sync::Arc;

/// The rate of a link from some time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateChange {
    /// When the rate changes.
    pub at: Time,
    /// The new rate; zero while the link is down.
    pub rate: Rate,
}

/// How long a transmitter needs for a packet if its rate may change, and when it cannot begin with one.
///
/// A packet keeps the rate with which its transmission began. An outage ends no transmission either; no other begins
/// before its end. A link whose rate never changes costs one comparison a packet more than its [`Serialiser`].
#[derive(Clone, Debug)]
pub struct Transmission {
    serialiser: Serialiser,
    /// The time from which on `changes` must be looked at: that of the next change, or zero while the link is down.
    look: Time,
    /// None for a rate that never changes: what a packet needs of such a link is half a cache line.
    changes: Option<Box<Changes>>,
}

#[derive(Clone, Debug)]
struct Changes {
    all: Arc<[RateChange]>,
    /// Position of the next change.
    next: usize,
    down: bool,
}

impl Transmission {
    /// A transmitter of `rate` until the first of `changes`, which are in the order of their times.
    ///
    /// # Panics
    /// If `rate` is zero.
    pub fn new(rate: Rate, changes: Arc<[RateChange]>) -> Self {
        let look = changes.first().map_or(Time::NEVER, |change| change.at);
        let changes = (!changes.is_empty()).then(|| Box::new(Changes { all: changes, next: 0, down: false }));
        Self { serialiser: Serialiser::new(rate), look, changes }
    }

    /// What packets need if the rate never changes.
    pub fn constant(&self) -> Option<Serialiser> {
        self.changes.is_none().then_some(self.serialiser)
    }

    /// The rate changes as `changes` say. They differ from those before only later than any time that was asked for.
    pub fn replan(&mut self, changes: Arc<[RateChange]>) {
        let (next, down) = self.changes.as_deref().map_or((0, false), |changes| (changes.next, changes.down));
        if !down {
            self.look = changes.get(next).map_or(Time::NEVER, |change| change.at);
        }
        self.changes = (!changes.is_empty()).then(|| Box::new(Changes { all: changes, next, down }));
    }

    /// From `at` on the rate is `rate`, or the link is down if that is zero, and never changes again. Nothing has been
    /// asked for that time or later, unless the link was down.
    pub fn set(&mut self, at: Time, rate: Rate) {
        if let Some(before) = at.as_picos().checked_sub(1).map(Time::from_picos) {
            self.ready(before);
        }
        let down = self.changes.as_deref().is_some_and(|changes| changes.down);
        self.look = if down { Time::ZERO } else { at };
        self.changes = Some(Box::new(Changes { all: [RateChange { at, rate }].into(), next: 0, down }));
    }

    /// The earliest time not before `at` at which a transmission can begin: `at` itself, or the end of the outage.
    /// [`Time::NEVER`] if the link stays down. Times must not decrease from one call to the next, except that what was
    /// asked for a time ahead may be asked again.
    #[inline]
    pub fn ready(&mut self, at: Time) -> Time {
        if at < self.look { at } else { self.ready_after_change(at) }
    }

    #[cold]
    #[inline(never)]
    fn ready_after_change(&mut self, at: Time) -> Time {
        let Some(Changes { all, next, down }) = self.changes.as_deref_mut() else { return at };
        while let Some(change) = all.get(*next).filter(|change| change.at <= at) {
            *down = change.rate.as_bps() == 0;
            if !*down {
                self.serialiser = Serialiser::new(change.rate);
            }
            *next += 1;
        }
        if !*down {
            self.look = all.get(*next).map_or(Time::NEVER, |change| change.at);
            return at;
        }
        self.look = Time::ZERO;
        let up = all[*next..].iter().find(|change| change.rate.as_bps() > 0);
        up.map_or(Time::NEVER, |change| change.at)
    }

    /// Time that `bytes` take if their transmission begins at the time for which [`Self::ready`] was asked last, and
    /// the link is up.
    #[inline]
    pub const fn span_now(&self, bytes: u32) -> Span {
        self.serialiser.span(bytes)
    }

    /// Time that `bytes` take if their transmission begins at `at`, at which the link is up.
    #[inline]
    pub fn span(&mut self, bytes: u32, at: Time) -> Span {
        if at >= self.look {
            self.ready_after_change(at);
        }
        self.serialiser.span(bytes)
    }

    /// Whether the rate changes before `end`, at which a transmission ends whose span was asked last.
    #[inline]
    pub fn may_exceed(&self, end: Time) -> bool {
        end > self.look
    }

    /// Bits that a transmission carries beyond what the link's rates allow in its time, because it goes on after the
    /// rate has fallen or an outage has begun. It begins at `at`, for which [`Self::span`] of `bytes` was asked last,
    /// and takes `span`.
    #[cold]
    #[inline(never)]
    pub fn excess_bits(&self, bytes: u32, at: Time, span: Span) -> u64 {
        let Some(Changes { all, next, .. }) = self.changes.as_deref() else { return 0 };
        let (end, bits) = (at + span, u64::from(bytes) * 8);
        let changes = &all[*next..];
        let ends = changes.iter().skip(1).map(|change| change.at).chain([Time::NEVER]);
        let pieces = changes.iter().zip(ends).take_while(|(change, _)| change.at < end);
        // Bits times picoseconds of a second, which needs more than 64 bits.
        let allowed = pieces
            .map(|(change, until)| {
                u128::from(change.rate.as_bps()) * u128::from((until.min(end) - change.at).as_picos())
            })
            .sum::<u128>()
            / 1_000_000_000_000;
        let rest = u128::from(bits) * u128::from((end - self.look.min(end)).as_picos())
            / u128::from(span.as_picos());
        u64::try_from(rest.saturating_sub(allowed)).unwrap_or(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1500 B take 1.2 ms at 10 Mbit/s and 0.6 ms at 20 Mbit/s.
    fn with_changes(changes: &[(u64, u64)]) -> Transmission {
        let change =
            |&(ms, bps)| RateChange { at: Time::ZERO + Span::from_millis(ms), rate: Rate::from_bps(bps) };
        Transmission::new(Rate::from_bps(10_000_000), changes.iter().map(change).collect())
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_packet_keeps_the_rate_with_which_it_began() {
        let mut line = with_changes(&[(10, 20_000_000)]);
        let before = Time::from_picos(ms(10).as_picos() - 1);
        assert_eq!(line.span(1500, before), Span::from_micros(1200));
        assert_eq!(line.span(1500, ms(10)), Span::from_micros(600));
        assert_eq!(line.span(1500, ms(500)), Span::from_micros(600));
    }

    #[test]
    fn what_a_transmission_carries_beyond_the_rate() {
        // 12,000 bits take 1.2 ms; the half from 0.6 ms on meets what the link allows then.
        let half = Time::from_picos(ms(10).as_picos() - 600_000_000);
        for (changes, excess) in [
            (&[(10, 0)][..], 6_000),
            (&[(10, 5_000_000)], 3_000),
            (&[(10, 20_000_000)], 0),
            (&[(10, 0), (11, 10_000_000)], 6_000),
            (&[], 0),
        ] {
            let mut line = with_changes(changes);
            let span = line.span(1500, half);
            assert_eq!(line.excess_bits(1500, half, span), excess, "{changes:?}");
            assert_eq!(line.excess_bits(1500, ms(5), span), 0, "it ends before the change");
        }
    }

    #[test]
    fn an_outage_ends_with_the_next_rate() {
        let mut line =
            with_changes(&[(10, 0), (30, 20_000_000), (40, 0), (45, 0), (50, 10_000_000), (60, 0)]);
        assert_eq!(line.ready(ms(9)), ms(9));
        assert_eq!(line.ready(ms(10)), ms(30));
        // The same question again has the same answer.
        assert_eq!(line.ready(ms(29)), ms(30));
        assert_eq!(line.ready(ms(30)), ms(30));
        assert_eq!(line.span(1500, ms(30)), Span::from_micros(600));
        assert_eq!(line.ready(ms(42)), ms(50));
        assert_eq!(line.span(1500, ms(50)), Span::from_micros(1200));
        assert_eq!(line.ready(ms(60)), Time::NEVER);
    }

    #[test]
    fn another_plan_keeps_what_has_happened() {
        let plan = |changes: &[(u64, u64)]| with_changes(changes).changes.unwrap().all;
        let mut line = with_changes(&[(10, 20_000_000), (30, 5_000_000)]);
        assert_eq!(line.span(1500, ms(20)), Span::from_micros(600));
        // The change at 30 ms is no longer planned, and another comes before it.
        line.replan(plan(&[(10, 20_000_000), (25, 40_000_000)]));
        assert_eq!(line.span(1500, ms(24)), Span::from_micros(600));
        assert_eq!(line.span(1500, ms(25)), Span::from_micros(300));
        assert_eq!(line.span(1500, ms(30)), Span::from_micros(300));
        // A rate that was never to change does change, and then no longer.
        let mut constant = with_changes(&[]);
        assert_eq!(constant.span(1500, ms(1)), Span::from_micros(1200));
        constant.replan(plan(&[(2, 20_000_000)]));
        assert_eq!(constant.span(1500, ms(1)), Span::from_micros(1200));
        constant.replan([].into());
        assert_eq!(constant.span(1500, ms(3)), Span::from_micros(1200));
    }

    #[test]
    fn a_rate_that_is_set_takes_the_place_of_the_plan() {
        let mut line = with_changes(&[(10, 20_000_000), (30, 5_000_000)]);
        assert_eq!(line.span(1500, ms(20)), Span::from_micros(600));
        line.set(ms(21), Rate::from_bps(0));
        assert_eq!(line.ready(ms(21)), Time::NEVER);
        line.set(ms(40), Rate::from_bps(40_000_000));
        assert_eq!(line.ready(ms(39)), ms(40), "it is still down");
        assert_eq!(line.ready(ms(40)), ms(40));
        assert_eq!(line.span(1500, ms(50)), Span::from_micros(300));
        // The rate of a link that was to have a constant one.
        let mut constant = with_changes(&[]);
        constant.set(ms(1), Rate::from_bps(20_000_000));
        assert_eq!(constant.span(1500, ms(1)), Span::from_micros(600));
    }

    #[test]
    fn several_changes_between_two_packets() {
        let mut line = with_changes(&[(1, 1_000_000), (2, 0), (3, 20_000_000)]);
        assert_eq!(line.ready(ms(4)), ms(4));
        assert_eq!(line.span(1500, ms(4)), Span::from_micros(600));
    }
}
