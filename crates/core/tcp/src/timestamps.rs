//! The timestamp option ([RFC 7323](https://www.rfc-editor.org/rfc/rfc7323)). Packets carry microseconds, so that
//! traces tell copies of a segment apart; hosts count ticks of a millisecond, and decide by those (Linux `TCP_TS_HZ`,
//! FreeBSD `tcp_ts_getticks`).

use shoal_packet::Packet;
use shoal_units::cast::low_u32;
use shoal_units::{Span, Time};

/// A tick in microseconds.
const TICK_US: u32 = 1000;

/// The timestamp of a packet that is sent now: microseconds, never zero at the start because zero means "nothing to
/// echo".
#[inline]
pub(crate) fn timestamp(now: Time) -> u32 {
    low_u32(now.as_micros()).wrapping_add(1)
}

/// The first timestamp of the tick in which `now` lies, by which echoes are compared.
pub(crate) fn tick(now: Time) -> u32 {
    let micros = now.as_micros();
    low_u32(micros - micros % u64::from(TICK_US)).wrapping_add(1)
}

/// Whether a timestamp is echoed that is older than `tick`: then what was sent in that tick is not what arrived.
pub(crate) fn echoes_before(echo: u32, tick: u32) -> bool {
    echo != 0 && echo.wrapping_sub(tick).cast_signed() < 0
}

/// Whether a timestamp of `tick` is echoed.
pub(crate) fn echoes_tick(echo: u32, tick: u32) -> bool {
    echo != 0 && echo.wrapping_sub(tick) < TICK_US
}

/// Time since the segment left whose timestamp `packet` echoes: its RTT, also after a retransmission (RFC 7323 section
/// 4.1).
pub(crate) fn echo_age(packet: &Packet, now: Time) -> Option<Span> {
    elapsed_us(packet, now.as_micros()).map(Span::from_micros)
}

/// Microseconds from the timestamp that `packet` echoes to `now_us`; `None` if it echoes nothing, or what is to come.
fn elapsed_us(packet: &Packet, now_us: u64) -> Option<u64> {
    let elapsed = low_u32(now_us).wrapping_add(1).wrapping_sub(packet.ts_ecr);
    (packet.ts_ecr != 0 && elapsed < 1 << 31).then_some(elapsed.into())
}

/// What an echo says in ticks of the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Echoed {
    /// First timestamp of the tick that is echoed.
    pub tick: u32,
    /// Microseconds from its begin to that of the present tick.
    pub age_us: u64,
}

/// Which tick `packet` echoes; `None` if none.
pub(crate) fn echoed(packet: &Packet, now: Time) -> Option<Echoed> {
    let (tick_us, now_us) = (u64::from(TICK_US), now.as_micros());
    elapsed_us(packet, now_us).map(|elapsed| {
        let sent_us = now_us.saturating_sub(elapsed) / tick_us * tick_us;
        Echoed { tick: low_u32(sent_us).wrapping_add(1), age_us: now_us / tick_us * tick_us - sent_us }
    })
}

/// The instant `age` before `now`.
pub(crate) fn time_before(now: Time, age: Span) -> Time {
    Time::from_picos(now.as_picos().saturating_sub(age.as_picos()))
}

/// [`echo_age`] as hosts measure it, in ticks of their clock, at least `least` (Linux `tcp_rtt_tsopt_us`).
pub(crate) fn echo_age_in_ticks(packet: &Packet, least: u64, now: Time) -> Option<Span> {
    echoed(packet, now).map(|echoed| Span::from_micros(echoed.age_us.max(least * u64::from(TICK_US))))
}

/// The latest tick of the peer's clock from which something has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Youngest {
    /// The microsecond at which it begins.
    tick_us: u32,
}

impl Youngest {
    /// Takes note of a timestamp. Returns whether it is from a later tick than all before.
    pub(crate) fn advance(&mut self, timestamp: u32) -> bool {
        let since_us = timestamp.wrapping_sub(1).wrapping_sub(self.tick_us);
        let is_later = since_us.cast_signed() >= TICK_US.cast_signed();
        if is_later {
            self.tick_us = self.tick_us.wrapping_add(since_us - since_us % TICK_US);
        }
        is_later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_packet::FlowId;

    fn echoing(echo: u32) -> Packet {
        Packet { ts_ecr: echo, ..Packet::empty(FlowId(0), 52) }
    }

    #[test]
    fn echoes_are_measured_across_the_wrap_of_the_clock() {
        let now = at_us((1 << 32) + 100);
        // Clock 2^32 - 100; now it shows 101: 201 us.
        assert_eq!(echo_age(&echoing(u32::MAX - 99), now), Some(Span::from_micros(201)));
        assert_eq!(echo_age(&echoing(102), now), None, "from the future");
        assert_eq!(echo_age(&echoing(0), now), None, "nothing is echoed");
        // 4294967.195 to 4294967.396 ms: the same tick; 2 us earlier than a whole tick: one.
        assert_eq!(echo_age_in_ticks(&echoing(u32::MAX - 99), 0, now), Some(Span::ZERO));
        assert_eq!(echo_age_in_ticks(&echoing(u32::MAX - 99), 1, now), Some(ms(1)));
        let earlier = echoing(timestamp(at_us(4_294_966_999)));
        assert_eq!(echo_age_in_ticks(&earlier, 0, now), Some(ms(1)));
    }

    #[test]
    fn later_ticks_are_younger_across_the_wrap_of_the_clock() {
        let mut youngest = Youngest::default();
        let start_us = (1 << 32) - 1_000_000;
        for (us, younger) in [
            (2_000_000_000, true), // Half of the range is the past.
            (4_000_000_000, true),
            (start_us, true),
            (start_us + 703, false), // start_us ends in 296, so the tick has 703 more.
            (start_us + 704, true),
            (start_us, false),
            (start_us + 1_000_703, true),
            (start_us + 1_000_703, false),
            (start_us + 1_000_704, true),
        ] {
            assert_eq!(youngest.advance(timestamp(at_us(us))), younger, "{us}");
        }
    }

    #[test]
    fn hosts_see_whole_ticks() {
        // From 1.9 to 4.1 ms are three ticks, from 2.0 to 4.9 ms two.
        for (sent_us, now_us, ticks) in [(1900, 4100, 3), (2000, 4900, 2), (2000, 2999, 0)] {
            let packet = echoing(timestamp(at_us(sent_us)));
            assert_eq!(echo_age_in_ticks(&packet, 0, at_us(now_us)), Some(ms(ticks)));
        }
        let second = tick(at_us(2900));
        for (sent_us, before, same) in [(1999, true, false), (2000, false, true), (3000, false, false)] {
            let echo = timestamp(at_us(sent_us));
            assert_eq!((echoes_before(echo, second), echoes_tick(echo, second)), (before, same), "{sent_us}");
        }
        assert!(!echoes_before(0, second) && !echoes_tick(0, 1));
    }

    fn at_us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }
    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }
}
