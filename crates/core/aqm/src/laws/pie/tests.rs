//! PIE: the queue around the law.

use super::control::{MAX_PROB, probability_of};
use crate::testing::bench::{Bench, dropped};
use crate::{Dequeued, Extent, Pie, PieConfig, Queue, Reason, Single, Verdict};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

pub(super) const CONFIG: PieConfig = PieConfig {
    target: Span::from_millis(15),
    tupdate: Span::from_millis(15),
    alpha: 2,
    beta: 20,
    ecn: false,
    ecn_threshold_percent: 10,
    bytemode: false,
    dq_rate_estimator: false,
    mtu_bytes: 1500,
    limit: Extent::Unlimited,
};

fn probability(bench: &Bench<Single<Pie>>) -> f64 {
    bench.queue.probability().unwrap()
}

/// Until `end` a packet arrives and one leaves every 100 us, so that each waits for `wait`. Counts the packets that
/// arrive, are marked and are dropped from `from` on.
fn standing(bench: &mut Bench<Single<Pie>>, wait: Span, ecn: Ecn, from: Time, end: Time) -> (u32, u32, u32) {
    let step = Span::from_micros(100);
    let (mut arrived, mut marks, mut drops) = (0, 0, 0);
    let started = bench.now;
    while bench.now < end {
        // A packet that is dropped arrives again, so that the delay stays constant.
        loop {
            let verdict = bench.arrive(1500, ecn);
            let counts = u32::from(bench.now >= from);
            arrived += counts;
            match verdict {
                Verdict::Queued { mark } => {
                    marks += if mark.is_some() { counts } else { 0 };
                    break;
                }
                Verdict::Dropped(reason) => {
                    assert_eq!(reason, Reason::Early);
                    drops += counts;
                }
                Verdict::Displaced => panic!("no packet is displaced"),
            }
        }
        if bench.now.since(started) >= wait {
            assert!(matches!(bench.take(), Dequeued::Packet { mark: None, .. }));
        }
        bench.advance_to(bench.now + step);
    }
    (arrived, marks, drops)
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// An update comes every tupdate, as the kernel's timers round them up. Without a tupdate there is none: `pie_timer`
/// does not re-arm itself.
#[test]
fn the_timer_takes_the_next_slot() {
    let mut bench = Bench::of(CONFIG);
    assert_eq!(bench.queue.next_timer(), at(16));
    let _ = standing(&mut bench, Span::from_millis(100), Ecn::NotEct, at(0), at(112));
    assert!(probability(&bench) > 0.0);
    assert_eq!(bench.queue.next_timer(), at(128));
    let first = |tupdate| Bench::of(PieConfig { tupdate, ..CONFIG }).queue.next_timer();
    assert_eq!(first(Span::from_micros(14_001)), at(16), "whole jiffies, rounded up");
    assert_eq!(first(Span::from_millis(64)), at(72));
    assert_eq!(first(Span::ZERO), Time::NEVER);
}

/// [RFC 8033](https://www.rfc-editor.org/rfc/rfc8033): the controller raises the probability while the delay
/// is above the target and lowers it below. At a standing 30 ms it rises; at 10 ms it falls to nothing.
#[test]
fn the_probability_rises_above_the_target_and_falls_below() {
    let mut bench = Bench::of(CONFIG);
    let _ = standing(&mut bench, Span::from_millis(30), Ecn::NotEct, at(0), at(2500));
    let high = probability(&bench);
    assert!(high > 0.002, "{high}");
    // Let 20 ms leave.
    for _ in 0..200 {
        let _ = bench.take();
    }
    let _ = standing(&mut bench, Span::ZERO, Ecn::NotEct, at(0), at(10_000));
    assert!(probability(&bench) < high / 100.0, "{}", probability(&bench));
}

/// Derandomised drops (RFC 8033 section 5.4): with a constant probability p, no packet is dropped until the
/// probabilities add up to 0.85, and then each with p. So one packet is dropped in about 0.85/p + 1/p - 1.
#[test]
fn drops_are_spaced_by_the_accumulated_probability() {
    let config = PieConfig { alpha: 0, beta: 8000, ..CONFIG };
    let mut bench = Bench::of(config);
    // The first update finds a growth from 0 to 200 ms; then the probability is constant, as alpha is 0.
    let _ = standing(&mut bench, Span::from_millis(200), Ecn::NotEct, at(0), at(1500));
    let p = probability(&bench);
    assert!((0.0005..0.5).contains(&p), "{p}");
    let (arrived, _, drops) = standing(&mut bench, Span::ZERO, Ecn::NotEct, at(1500), at(61_500));
    assert_eq!(probability(&bench), p, "it is constant");
    // The sum grows by p with each packet; from the smallest n with n p >= 0.85 on each packet is dropped with p.
    let mean_gap = (0.85 / p).ceil() + (1.0 - p) / p;
    let expected = f64::from(arrived) / mean_gap;
    let error = f64::from(drops) / expected - 1.0;
    assert!(error.abs() < 4.0 / expected.sqrt(), "{drops} of {arrived}, expected {expected}, p {p}");
}

/// The kernel divides by ten, and whole parts of a hundred are as exact.
#[test]
fn ten_percent_are_a_tenth() {
    assert_eq!(probability_of(10), MAX_PROB / 10);
    assert_eq!((probability_of(0), probability_of(100)), (0, u64::MAX));
}

/// With a threshold of 25 % ECT packets are marked up to that.
#[test]
fn marks_end_at_the_threshold() {
    let mut bench = Bench::of(PieConfig { ecn: true, ecn_threshold_percent: 25, ..CONFIG });
    let _ = standing(&mut bench, Span::from_millis(60), Ecn::Ect0, at(0), at(400));
    let mut counts = [(0, 0); 2];
    while probability(&bench) < 0.4 {
        let now = bench.now;
        let above = usize::from(probability(&bench) > 0.25);
        // The probability is constant up to the next update.
        let until = bench.queue.next_timer();
        let (_, marks, drops) =
            standing(&mut bench, Span::ZERO, Ecn::Ect0, now, until - Span::from_micros(100));
        counts[above] = (counts[above].0 + marks, counts[above].1 + drops);
        bench.advance_to(until);
    }
    let [below, above] = counts;
    assert!(below.0 > 100 && below.1 == 0 && above.0 == 0 && above.1 > 100, "{counts:?}");
}

/// ECT packets are marked up to 10 % and dropped above; others are always dropped.
#[test]
fn marks_end_at_ten_percent() {
    for (ecn_flag, ecn) in
        [(true, Ecn::Ect0), (true, Ecn::Ect1), (true, Ecn::NotEct), (false, Ecn::Ect0), (false, Ecn::Ect1)]
    {
        let mut bench = Bench::of(PieConfig { ecn: ecn_flag, ..CONFIG });
        let _ = standing(&mut bench, Span::from_millis(60), ecn, at(0), at(400));
        let (mut low, mut high) = ((0, 0), (0, 0));
        while probability(&bench) < 0.3 {
            let now = bench.now;
            let is_low = probability(&bench) <= 0.1;
            // The probability is constant up to the next update.
            let until = bench.queue.next_timer();
            let end = until - Span::from_micros(100);
            let (_, marks, drops) = standing(&mut bench, Span::ZERO, ecn, now, end);
            let counts = if is_low { &mut low } else { &mut high };
            *counts = (counts.0 + marks, counts.1 + drops);
            bench.advance_to(until);
        }
        let marking = ecn_flag && ecn.is_capable();
        assert!(low.0 + low.1 > 100 && high.1 > 100, "{low:?} {high:?}");
        assert_eq!((low.0 > 0, low.1 > 0, high.0 > 0), (marking, !marking, false), "{low:?} {high:?}");
    }
}

/// With a probability of 1 all packets would be dropped, but with less than 3000 B waiting none is.
#[test]
fn nothing_is_dropped_below_two_packets() {
    let mut bench = Bench::of(PieConfig { alpha: 0, beta: 1 << 20, ..CONFIG });
    let _ = standing(&mut bench, Span::from_millis(200), Ecn::NotEct, at(0), at(208));
    assert_eq!(probability(&bench), 1.0);
    // Meanwhile the burst allowance is used up.
    while bench.queue.backlog().bytes > 1500 {
        bench.now += Span::from_millis(1);
        let _ = bench.take();
    }
    assert_eq!(dropped(bench.arrive(1499, Ecn::NotEct)), None);
    let _ = bench.take();
    assert_eq!(dropped(bench.arrive(1501, Ecn::NotEct)), None);
    assert_eq!(bench.queue.backlog().bytes, 3000);
    assert_eq!(dropped(bench.arrive(1, Ecn::NotEct)), Some(Reason::Early));
}

#[test]
fn the_limit_comes_first() {
    let mut bench = Bench::of(PieConfig { limit: Extent::Packets(2), ..CONFIG });
    for expected in [None, None, Some(Reason::Buffer)] {
        assert_eq!(dropped(bench.arrive(1500, Ecn::Ect0)), expected);
    }
}

#[test]
fn updates_that_change_nothing_are_left_out() {
    let mut bench = Bench::of(CONFIG);
    bench.advance_to(at(16));
    // The first update changes nothing, so that the timer is switched off.
    assert_eq!(bench.queue.next_timer(), Time::NEVER);
    // It keeps its period: 131 * 16 ms = 2096 ms has passed at 2104 ms, and the next update is due at 2112 ms.
    bench.now = at(2104);
    let _ = bench.arrive(1500, Ecn::NotEct);
    assert_eq!(bench.queue.next_timer(), at(2112));
    let _ = bench.take();
    // It runs until an update changes nothing. The first one forgets the delay of the packet that has left.
    bench.advance_to(at(2112));
    assert_eq!(bench.queue.next_timer(), at(2128));
    bench.advance_to(at(2128));
    assert_eq!(bench.queue.next_timer(), Time::NEVER);
    bench.now = at(2159);
    let _ = bench.arrive(1500, Ecn::NotEct);
    assert_eq!(bench.queue.next_timer(), at(2160));
}
