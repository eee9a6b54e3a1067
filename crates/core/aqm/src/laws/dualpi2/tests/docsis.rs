//! The ramp of DOCSIS in the low-latency queue.

use super::HELD;
use crate::testing::bench::{Bench, is_likely, mark_of};
use crate::{
    DecideAt, DelayRampConfig, DualPi2Config, NativeMarking, Queue, Reason, SchedulerConfig, Tossing,
};
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_units::{Span, Time};

/// On the bench's line of 10 Mbit/s a packet of 1500 B takes 1.2 ms. The ramp ends at 12 ms: below 6 ms nothing, at
/// 9 ms half.
const RAMP: DualPi2Config = DualPi2Config {
    native: NativeMarking::DelayRamp(DelayRampConfig {
        max: Span::from_millis(12),
        range: Span::from_millis(6),
        floor_bytes: 4000,
    }),
    decide: DecideAt::Enqueue,
    ..HELD
};

/// Arriving packets make the queue 1.2, 2.4 ... ms long: the first five meet at most 6 ms; the sixth makes 7.2 ms
/// (0.2), then
/// 0.4, 0.6, 0.8 and 1 from 12 ms on. Added up: 0.2, 0.6, 1.2 (a mark leaves 0.2), 1.0, 2.0 (1.0), 2.0 (1.0), 2.0.
#[test]
fn arrivals_are_marked_by_the_bytes_that_they_meet() {
    let mut bench = Bench::any(DualPi2Config { tossing: Tossing::Recur, ..RAMP });
    let marks: Vec<_> = (0..12).map(|_| mark_of(bench.arrive(1500, Ecn::Ect1)).is_some()).collect();
    assert_eq!(marks, [false, false, false, false, false, false, false, true, false, true, true, true]);
    // Departures are not marked again, and classic packets do not count.
    bench.wait(Span::from_secs(1));
    let departures = (0..12).filter(|_| bench.send().1.is_some()).count();
    assert_eq!(departures, 0);
    bench.arrivals(20, 1500, Ecn::NotEct);
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect1)), None);
}

/// The larger of the native and the coupled probability decides, with one random number, and is the reason of the mark.
#[test]
fn the_larger_probability_decides_on_arrival() {
    let n = 20_000;
    let count = |packets: u32, reason| {
        let scheduler = SchedulerConfig::Weighted { classic_percent: 90 };
        let mut bench = Bench::any(DualPi2Config { scheduler, coupling: 1, ..RAMP });
        // The classic packets make p' the 0.247 of `HELD`; low-latency packets meet 1.2 ms each before.
        bench.arrivals(3, 1500, Ecn::NotEct);
        bench.advance_to(Time::ZERO + Span::from_secs(1));
        bench.arrivals(packets, 1500, Ecn::Ect1);
        let packet = Packet { ecn: Ecn::Ect1, ..Packet::empty(FlowId(0), 1500) };
        (0..n)
            .filter(|_| {
                let verdict = bench.queue.clone().enqueue(&packet, bench.now, &mut bench.random);
                mark_of(verdict) == Some(reason)
            })
            .count()
    };
    let coupled = count(0, Reason::Coupled);
    assert!(is_likely(coupled, n, super::HELD_P), "{coupled}");
    // Seven wait, and the arriving one makes 9.6 ms: 0.6.
    let native = count(7, Reason::Threshold);
    assert!(is_likely(native, n, 0.6), "{native}");
}
