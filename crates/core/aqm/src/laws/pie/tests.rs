//! PIE: the queue around the law.

use crate::testing::bench::{Bench, LINE, dropped};
use crate::{Dequeued, Extent, LawConfig, Pie, PieConfig, Queue, Reason, Single, Verdict};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

pub(super) const CONFIG: PieConfig = PieConfig {
    target: Span::from_millis(15),
    tupdate: Span::from_millis(15),
    alpha: 2,
    beta: 20,
    ecn: false,
    bytemode: false,
    dq_rate_estimator: false,
    mtu_bytes: 1500,
    limit: Extent::Unlimited,
};

fn bench(config: PieConfig) -> Bench<Single<Pie>> {
    Bench::new(config.build(LINE).unwrap())
}

fn probability(bench: &Bench<Single<Pie>>) -> f64 {
    bench.queue.probability().unwrap()
}

/// Serves the timers until `then`.
fn advance(bench: &mut Bench<Single<Pie>>, then: Time) {
    while bench.queue.next_timer() <= then {
        let due = bench.queue.next_timer();
        bench.queue.on_timer(due);
    }
    bench.now = then;
}

/// A queue whose packets wait `wait`, one leaving every 100 us, until `end`: the share of arrivals from `from` on that the
/// law acted against, by what it did.
fn standing(bench: &mut Bench<Single<Pie>>, wait: Span, ecn: Ecn, from: Time, end: Time) -> (u32, u32, u32) {
    let step = Span::from_micros(100);
    let (mut arrived, mut marks, mut drops) = (0, 0, 0);
    let started = bench.now;
    while bench.now < end {
        // What is dropped arrives again, so that the delay stands.
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
                Verdict::Displaced => panic!("nobody is displaced"),
            }
        }
        if bench.now.since(started) >= wait {
            assert!(matches!(bench.take(), Dequeued::Packet { mark: None, .. }));
        }
        let next = bench.now + step;
        advance(bench, next);
    }
    (arrived, marks, drops)
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// The first update comes after 0.5 s, then every tupdate, as the kernel's timers round them up; before it nothing is dropped,
/// whatever the delay.
#[test]
fn the_timer_takes_the_next_slot() {
    let mut bench = bench(CONFIG);
    assert_eq!(bench.queue.next_timer(), at(504));
    assert_eq!(standing(&mut bench, Span::from_millis(100), Ecn::NotEct, at(0), at(504)).2, 0);
    assert!(probability(&bench) > 0.0);
    assert_eq!(bench.queue.next_timer(), at(520));
}

/// [RFC 8033](https://www.rfc-editor.org/rfc/rfc8033): the controller raises the probability while the delay
/// is above the target and lowers it below. At a standing 30 ms it rises; at 10 ms it falls to nothing.
#[test]
fn the_probability_rises_above_the_target_and_falls_below() {
    let mut bench = bench(CONFIG);
    let _ = standing(&mut bench, Span::from_millis(30), Ecn::NotEct, at(0), at(2500));
    let high = probability(&bench);
    assert!(high > 0.002, "{high}");
    // Let 20 ms leave.
    for _ in 0..200 {
        let _ = bench.take();
    }
    let _ = standing(&mut bench, Span::ZERO, Ecn::NotEct, at(0), at(8000));
    assert!(probability(&bench) < high / 100.0, "{}", probability(&bench));
}

/// Derandomised drops (RFC 8033 section 5.4): while the probability is p and rises slowly, the rate of drops is that of
/// waiting for the sum 0.85 and then tossing coins: one in 0.85/p + 1/p - 1 or so packets.
#[test]
fn drops_are_spaced_by_the_accumulated_probability() {
    let config = PieConfig { alpha: 0, beta: 8000, ..CONFIG };
    let mut bench = bench(config);
    // The first update finds a growth from 0 to 200 ms; then the probability stands, as alpha is 0.
    let _ = standing(&mut bench, Span::from_millis(200), Ecn::NotEct, at(0), at(1500));
    let p = probability(&bench);
    assert!((0.0005..0.5).contains(&p), "{p}");
    let (arrived, _, drops) = standing(&mut bench, Span::ZERO, Ecn::NotEct, at(1500), at(61_500));
    assert_eq!(probability(&bench), p, "it stands");
    // The sum grows by p a packet; the first coin falls at the smallest n with n p >= 0.85, then each succeeds with p.
    let mean_gap = (0.85 / p).ceil() + (1.0 - p) / p;
    let expected = f64::from(arrived) / mean_gap;
    assert!(
        (f64::from(drops) / expected - 1.0).abs() < 4.0 / expected.sqrt(),
        "{drops} of {arrived}, expected {expected}, p {p}"
    );
}

/// ECT packets are marked up to 10 % and dropped above; others are always dropped.
#[test]
fn marks_end_at_ten_percent() {
    for (ecn_flag, ecn) in [(true, Ecn::Ect0), (true, Ecn::NotEct), (false, Ecn::Ect0)] {
        let mut bench = bench(PieConfig { ecn: ecn_flag, ..CONFIG });
        let _ = standing(&mut bench, Span::from_millis(60), ecn, at(0), at(1000));
        let (mut low, mut high) = ((0, 0), (0, 0));
        while probability(&bench) < 0.3 {
            let now = bench.now;
            let is_low = probability(&bench) <= 0.1;
            // Up to the next update, during which the probability stands.
            let until = bench.queue.next_timer();
            let (_, marks, drops) =
                standing(&mut bench, Span::ZERO, ecn, now, until - Span::from_micros(100));
            let counts = if is_low { &mut low } else { &mut high };
            *counts = (counts.0 + marks, counts.1 + drops);
            advance(&mut bench, until);
        }
        let marking = ecn_flag && ecn.is_capable();
        assert!(low.0 + low.1 > 100 && high.1 > 100, "{low:?} {high:?}");
        assert_eq!((low.0 > 0, low.1 > 0, high.0 > 0), (marking, !marking, false), "{low:?} {high:?}");
    }
}

/// A probability of 1 or more would drop all; with less than 3000 B waiting it drops none.
#[test]
fn nothing_is_dropped_below_two_packets() {
    let mut bench = bench(PieConfig { alpha: 0, beta: 1 << 20, ..CONFIG });
    let _ = standing(&mut bench, Span::from_millis(200), Ecn::NotEct, at(0), at(504));
    assert_eq!(probability(&bench), 1.0);
    while bench.queue.backlog().bytes > 1500 {
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
    let mut bench = bench(PieConfig { limit: Extent::Packets(2), ..CONFIG });
    assert_eq!(dropped(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(dropped(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(dropped(bench.arrive(1500, Ecn::Ect0)), Some(Reason::Buffer));
}

#[test]
fn updates_that_change_nothing_are_left_out() {
    let mut bench = bench(CONFIG);
    advance(&mut bench, at(504));
    // The first update changes nothing: asleep.
    assert_eq!(bench.queue.next_timer(), Time::NEVER);
    // Its rhythm goes on: 504 ms + 100 * 16 ms = 2104 ms is over at 2104 ms, the next is due 16 ms later.
    bench.now = at(2104);
    let _ = bench.arrive(1500, Ecn::NotEct);
    assert_eq!(bench.queue.next_timer(), at(2120));
    let _ = bench.take();
    // Awake until an update finds nothing to change: the packet's departure is one (its time is forgotten).
    advance(&mut bench, at(2120));
    assert_eq!(bench.queue.next_timer(), at(2136));
    advance(&mut bench, at(2136));
    assert_eq!(bench.queue.next_timer(), Time::NEVER);
    bench.now = at(2151);
    let _ = bench.arrive(1500, Ecn::NotEct);
    assert_eq!(bench.queue.next_timer(), at(2152));
}
