//! PI2, decision by decision. The controller's arithmetic is tested beside it.

use crate::testing::bench::{Bench, LINE, dropped, is_likely, mark_of};
use crate::{AnyQueue, DelayEstimate, Extent, Pi2Config, Queue, Reason};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

/// p follows the change of the queueing time only; after the first update there is one every hour.
const HELD: Pi2Config = Pi2Config {
    target: Span::ZERO,
    tupdate: Span::from_secs(3600),
    alpha_16th_hz: 0,
    beta_16th_hz: 8,
    coupling: 2,
    ecn: true,
    scalable_mask: 0b11,
    estimate: DelayEstimate::Sojourn,
    mtu: 1500,
    limit: Extent::Unlimited,
};
/// p of [`HELD`] after 0.5 s of wait: 274 * 8 >> 4 = 137; 500,000,000 ns / 64 = 7,812,500 ticks; 137 * 7,812,500 of
/// 2^32 - 1. It is far from one half, so that p and 1 - p cannot be confused.
const HELD_P: f64 = 1_070_312_500.0 / 4_294_967_295.0;

/// Two packets have waited for half a second.
fn held(config: Pi2Config) -> Bench<AnyQueue> {
    let mut bench = Bench::any(config);
    let first = Time::ZERO + config.tupdate;
    assert_eq!(bench.queue.next_timer(), first);
    bench.now = Time::ZERO + (config.tupdate - Span::from_millis(500));
    bench.arrivals(2, 1500, Ecn::NotEct);
    bench.queue.on_timer(first);
    bench.now = first;
    assert!((bench.queue.probability().unwrap() - HELD_P).abs() < 1e-9);
    bench
}

#[test]
fn scalable_packets_see_p_and_others_the_square_of_half() {
    let n = 200_000;
    let square = HELD_P * HELD_P / 4.0;
    let classic = Pi2Config { scalable_mask: 0b01, ..HELD };
    let blind = Pi2Config { ecn: false, ..HELD };
    for (config, ecn, mark, drop) in [
        (HELD, Ecn::Ect0, Some((Reason::Coupled, HELD_P)), 0.0),
        (HELD, Ecn::NotEct, None, square),
        // ECT(0) outside the mask is classic traffic that can be marked.
        (classic, Ecn::Ect0, Some((Reason::Early, square)), 0.0),
        (blind, Ecn::Ect0, None, square),
    ] {
        let mut bench = held(config);
        let (mut marks, mut drops) = (0, 0);
        for _ in 0..n {
            let verdict = bench.cycle(1500, ecn);
            if let Some(reason) = dropped(verdict) {
                assert_eq!(reason, Reason::Early);
                drops += 1;
            } else if let Some(reason) = mark_of(verdict) {
                assert_eq!(Some(reason), mark.map(|(reason, _)| reason));
                marks += 1;
            }
        }
        let likely = is_likely(marks, n, mark.map_or(0.0, |(_, p)| p)) && is_likely(drops, n, drop);
        assert!(likely, "{ecn:?}: {marks} {drops}");
    }
}

/// p is the integral of the queueing time, every second.
const INTEGRATING: Pi2Config =
    Pi2Config { alpha_16th_hz: 8, beta_16th_hz: 0, tupdate: Span::from_secs(1), ..HELD };

/// A packet arrives after 0.6 s and waits for 0.4 s: 6,250,000 ticks of 64 ns, times 137.
const INTEGRAL: f64 = 856_250_000.0 / 4_294_967_295.0;

fn integrated() -> Bench<AnyQueue> {
    let mut bench = Bench::any(INTEGRATING);
    bench.now = Time::ZERO + Span::from_millis(600);
    let _ = bench.arrive(1500, Ecn::NotEct);
    update(&mut bench, 1000);
    assert_eq!(bench.queue.probability(), Some(INTEGRAL));
    let _ = bench.take();
    bench
}

fn update(bench: &mut Bench<AnyQueue>, at_ms: u64) {
    let now = Time::ZERO + Span::from_millis(at_ms);
    assert_eq!(bench.queue.next_timer(), now);
    bench.queue.on_timer(now);
    bench.now = now;
}

#[test]
fn an_empty_queue_decays() {
    let mut bench = integrated();
    update(&mut bench, 2000);
    assert_eq!(bench.queue.probability(), Some(INTEGRAL), "the first time without delay");
    update(&mut bench, 3000);
    // 856,250,000 * 98 = 83,912,500,000 = 19 * 2^32 + 2,308,121,376; of that one in a hundred.
    assert_eq!(bench.queue.probability(), Some(23_081_213.0 / 4_294_967_295.0));
}

#[test]
fn a_packet_that_has_not_waited_yet_keeps_p() {
    let mut bench = integrated();
    for at_ms in [2000, 3000, 4000] {
        bench.now = Time::ZERO + Span::from_millis(at_ms);
        let _ = bench.arrive(1500, Ecn::NotEct);
        update(&mut bench, at_ms);
        assert_eq!(bench.queue.probability(), Some(INTEGRAL));
        let _ = bench.take();
    }
}

#[test]
fn small_backlogs_are_left_alone() {
    let mut bench = held(HELD);
    let _ = bench.take();
    // 1500 B wait, fewer than two packets' worth.
    assert!((0..1000).all(|_| mark_of(bench.cycle(1500, Ecn::Ect0)).is_none()));
}

/// At 10 Mbit/s 15 packets of 1500 B wait for 18 ms. The measured rate is 1.25 B/us * 0.064 us * 256 = 20.48 a tick, 20
/// in integers: 22,500 * 256 / 20 = 288,000 ticks = 18.4 ms. The estimate is what the probability follows.
#[test]
fn the_departure_rate_gives_the_delay() {
    let config = Pi2Config { estimate: DelayEstimate::Rate, tupdate: Span::from_millis(32), ..HELD };
    let mut bench = Bench::any(config);
    bench.arrivals(16, 1500, Ecn::NotEct);
    while bench.now < Time::ZERO + Span::from_millis(499) {
        let _ = bench.take();
        bench.now += LINE.time_for(1500);
        let _ = bench.arrive(1500, Ecn::NotEct);
    }
    let _ = bench.take();
    assert_eq!(bench.queue.backlog().bytes, 22_500);
    bench.queue.on_timer(Time::ZERO + Span::from_millis(500));
    // The first sample, of six gaps instead of seven, is 23; 23 - 2 + (20 >> 3) = 23 stays: 22,500 * 256 / 23 = 250,434
    // ticks.
    assert_eq!(bench.queue.probability(), Some(250_434.0 * 137.0 / 4_294_967_295.0));
    assert_eq!(bench.queue.next_timer(), Time::ZERO + Span::from_millis(532));
}
