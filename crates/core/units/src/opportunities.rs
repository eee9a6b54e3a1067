//! A link that sends at given instants and not between them.

use crate::cast::fit_u64;
use crate::{Rate, Span, Time};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Opportunities to send, which repeat for ever: a trace of mahimahi
/// ([`LinkQueue`](https://github.com/ravinet/mahimahi/blob/ae477d437615b972217498ba52be07db17a15618/src/frontend/link_queue.cc)).
///
/// Each opportunity is one for [`Self::BYTES`]. What waits then may share it, and a packet that is larger than the rest
/// of it goes on in the next one; what nobody takes is lost. All opportunities are one stream of bytes, of which each
/// belongs to an instant: a position in that stream says all about what has been sent or lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opportunities {
    /// The instants of a lap, in the order of their times; the last one ends the lap.
    instants: Vec<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Instant {
    /// Time since the beginning of the lap, above zero.
    at_ms: u32,
    /// Bytes of this and of all earlier instants of the lap.
    bytes: u64,
}

impl Opportunities {
    /// Bytes of one opportunity: an IP packet of 1500 bytes and the 4 bytes with which the tunnel of mahimahi begins.
    pub const BYTES: u32 = 1504;

    /// Opportunities given as the time from one instant to the next in milliseconds, the first from the start, and
    /// their number there. The trace is repeated after the last of them. `None` if it has no length, or one of more
    /// than `u32::MAX` ms.
    ///
    /// Opportunities at the start of a lap coincide with the end of the one before. Those at the start of the first lap
    /// come before any packet.
    pub fn new(gaps: impl IntoIterator<Item = (u32, u32)>) -> Option<Self> {
        let (mut at_ms, mut bytes, mut at_start) = (0u32, 0u64, 0u64);
        let mut instants: Vec<Instant> = Vec::new();
        for (gap_ms, count) in gaps {
            at_ms = at_ms.checked_add(gap_ms)?;
            let more = u64::from(count) * u64::from(Self::BYTES);
            match instants.last_mut() {
                _ if count == 0 => {}
                _ if at_ms == 0 => at_start += more,
                Some(last) if last.at_ms == at_ms => last.bytes += more,
                _ => instants.push(Instant { at_ms, bytes: bytes + more }),
            }
            bytes = instants.last().map_or(0, |last| last.bytes);
        }
        instants.last_mut()?.bytes += at_start;
        Some(Self { instants })
    }

    /// Time after which the opportunities repeat.
    pub fn period(&self) -> Span {
        Span::from_millis(self.lap().0)
    }

    /// Bytes of all opportunities from `from` on and before `to`.
    pub fn bytes_between(&self, from: Time, to: Time) -> u64 {
        let before =
            |at: Time| at.as_picos().checked_sub(1).map_or(0, |at| self.bytes_by(Time::from_picos(at)));
        before(to).saturating_sub(before(from))
    }

    /// Mean rate from `from` on and before `to`, rounded down to bit/s.
    pub fn mean_rate(&self, from: Time, to: Time) -> Rate {
        let bits = 8 * u128::from(self.bytes_between(from, to));
        let picos = u128::from(to.since(from).as_picos()).max(1);
        Rate::from_bps(fit_u64(bits * 1_000_000_000_000 / picos))
    }

    /// Whether there is an opportunity at `at`.
    pub fn is_instant(&self, at: Time) -> bool {
        self.bytes_between(at, Time::from_picos(at.as_picos() + 1)) > 0
    }

    /// The instants of a lap: times since its beginning, and the bytes of these and of all earlier instants of the lap.
    pub fn instants(&self) -> impl Iterator<Item = (Span, u64)> {
        self.instants.iter().map(|instant| (Span::from_millis(instant.at_ms.into()), instant.bytes))
    }

    /// Length of a lap in milliseconds, and its bytes.
    fn lap(&self) -> (u64, u64) {
        // There is at least one instant.
        self.instants.last().map_or((1, 1), |last| (last.at_ms.into(), last.bytes))
    }

    /// Bytes of all opportunities up to `at` and at `at`.
    fn bytes_by(&self, at: Time) -> u64 {
        let (period_ms, lap_bytes) = self.lap();
        let ms = at.as_picos() / Span::from_millis(1).as_picos();
        let rest = ms % period_ms;
        let passed = self.instants.partition_point(|instant| u64::from(instant.at_ms) <= rest);
        let bytes = passed.checked_sub(1).map_or(0, |last| self.instants[last].bytes);
        (ms / period_ms).saturating_mul(lap_bytes).saturating_add(bytes)
    }

    /// The instant to which the byte at `position` belongs; the first byte has the position 1.
    fn instant_of(&self, position: u64) -> Time {
        let (period_ms, lap_bytes) = self.lap();
        let before = position.saturating_sub(1);
        let rest = before % lap_bytes;
        let index = self.instants.partition_point(|instant| instant.bytes <= rest);
        let at_ms = (before / lap_bytes).saturating_mul(period_ms) + u64::from(self.instants[index].at_ms);
        Time::ZERO + Span::from_millis(1).saturating_mul(at_ms)
    }
}

/// A transmitter that sends at [`Opportunities`].
///
/// A packet may use those that come after it: one at the very instant of its arrival has passed, as everywhere a
/// departure comes before a simultaneous arrival.
#[derive(Clone, Debug)]
pub struct OpportunityLine {
    opportunities: Arc<Opportunities>,
    /// Bytes that were sent or lost: a position in the stream of all opportunities.
    gone: u64,
}

impl OpportunityLine {
    /// A transmitter at the start of the trace.
    pub const fn new(opportunities: Arc<Opportunities>) -> Self {
        Self { opportunities, gone: 0 }
    }

    /// The opportunities up to `at` and at `at`, at which nothing waits, are lost.
    pub fn lose(&mut self, at: Time) {
        self.gone = self.gone.max(self.opportunities.bytes_by(at));
    }

    /// When the next transmission can begin.
    pub fn ready(&self) -> Time {
        self.opportunities.instant_of(self.gone + 1)
    }

    /// Sends `bytes`, beginning at [`Self::ready`]; returns the instant at which the last of them leaves.
    pub fn send(&mut self, bytes: u32) -> Time {
        self.gone += u64::from(bytes);
        self.opportunities.instant_of(self.gone)
    }

    /// The instant at which the last of `bytes` would leave.
    pub fn sent_by(&self, bytes: u64) -> Time {
        self.opportunities.instant_of(self.gone.saturating_add(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Lines 0, 3, 3, 5 of a file; the lap takes 5 ms and ends with what was at its start.
    fn trace() -> Opportunities {
        Opportunities::new([(0, 1), (3, 2), (2, 1)]).unwrap()
    }

    #[test]
    fn a_lap_begins_where_the_last_one_ended() {
        let found: Vec<_> = trace().instants().collect();
        assert_eq!(found, vec![(Span::from_millis(3), 3008), (Span::from_millis(5), 6016)]);
        assert_eq!(trace().period(), Span::from_millis(5));
        // 3, 5, 8 and 10 ms: the times are included where an interval begins, and not where it ends.
        assert_eq!(trace().bytes_between(ms(3), ms(10)), 3008 * 3);
        assert_eq!(trace().bytes_between(ms(4), Time::from_picos(ms(10).as_picos() + 1)), 3008 * 3);
        assert_eq!(trace().bytes_between(ms(0), ms(3)), 0);
        // 1000 laps of 6016 B but for the last instant.
        assert_eq!(trace().mean_rate(ms(0), ms(5_000)).as_bps(), 9_620_787);
        let at: Vec<u64> = (0..12).filter(|at| trace().is_instant(ms(*at))).collect();
        assert_eq!(at, [3, 5, 8, 10]);
        assert!(!trace().is_instant(Time::from_picos(ms(3).as_picos() + 1)));
    }

    #[test]
    fn packets_share_opportunities_and_go_on_in_the_next() {
        let mut line = OpportunityLine::new(Arc::new(trace()));
        line.lose(ms(1));
        // 1504 B fill the first of two opportunities at 3 ms; of the next 1600 B, 96 leave at 5 ms.
        assert_eq!((line.ready(), line.send(1504), line.ready()), (ms(3), ms(3), ms(3)));
        assert_eq!((line.send(1600), line.ready()), (ms(5), ms(5)));
        assert_eq!((line.sent_by(2912), line.sent_by(2913)), (ms(5), ms(8)));
        // What is left at 5 ms and all of 8 ms are lost for a packet that comes at 8 ms.
        line.lose(ms(8));
        assert_eq!((line.ready(), line.send(9000)), (ms(10), ms(15)));
        // Nothing is lost twice.
        line.lose(ms(9));
        assert_eq!(line.ready(), ms(15));
    }

    #[test]
    fn a_trace_without_length_is_none() {
        assert_eq!(Opportunities::new([]), None);
        assert_eq!(Opportunities::new([(0, 3)]), None);
        assert_eq!(Opportunities::new([(1, 0)]), None);
        assert_eq!(Opportunities::new([(u32::MAX, 1), (1, 1)]), None);
        assert!(Opportunities::new([(u32::MAX, 1)]).is_some());
    }
}
