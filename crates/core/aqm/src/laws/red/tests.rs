//! RED as published, against its formulas.

use crate::testing::bench::{
    Bench, LINE, PACKET_TIME, chi_square, chi_square_limit, dropped, is_likely, mark_of, red_of, unweighted,
};
use crate::{LawConfig, MarkSpacing, Queue, Reason, Red, RedParameters, Single};
use shoal_packet::Ecn;
use shoal_units::Span;

fn red(parameters: RedParameters, ecn: bool) -> Bench<Single<Red>> {
    Bench::of(red_of(parameters, ecn))
}

/// A RED queue with ECN whose random stream has this seed.
fn red_seeded(parameters: RedParameters, seed: u64) -> Bench<Single<Red>> {
    Bench::seeded(red_of(parameters, true).build(LINE).unwrap(), seed)
}

fn average(bench: &Bench<Single<Red>>) -> f64 {
    bench.queue.average_bytes().unwrap()
}

/// Three packets of 1500 B wait at an average with the weight 1/4.
fn three_waiting() -> Bench<Single<Red>> {
    let parameters = unweighted(1e6, 2e6, 0.1, MarkSpacing::Uniformised);
    let mut bench = red(RedParameters { weight: 0.25, ..parameters }, true);
    bench.fill(1500, 4500);
    bench
}

/// Three packets leave, and the queue is not asked for a fourth one.
fn transmit_three(bench: &mut Bench<Single<Red>>) {
    for _ in 0..3 {
        let _ = bench.take();
        bench.wait(PACKET_TIME);
    }
}

const DRAWS: u32 = 100_000;

/// Number of marks among `DRAWS` arrivals that all find an average of `bytes` (a multiple of 10).
fn marks_at(bytes: u64, parameters: RedParameters) -> usize {
    let mut bench = red(parameters, true);
    bench.fill(10, bytes);
    (0..DRAWS).filter(|_| mark_of(bench.cycle(10, Ecn::Ect0)).is_some()).count()
}

/// Claim A5: 20 averages with the probability of a mark; min is 1000 B, max 2000 B, the probability at max 0.1.
fn profile() -> impl Iterator<Item = (u64, f64)> {
    let averages = [
        0, 500, 990, 1000, 1010, 1050, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 1950, 1990,
        2000, 2010, 3000,
    ];
    averages.into_iter().map(|bytes| {
        let probability = match bytes {
            0..1000 => 0.0,
            1000..2000 => 0.1 * (bytes - 1000) as f64 / 1000.0,
            _ => 1.0,
        };
        (bytes, probability)
    })
}

/// Claim A5 with independent decisions: the number of marks is binomial, within 4 sigma.
#[test]
fn independent_marks_follow_the_profile() {
    for (bytes, p) in profile() {
        let marks = marks_at(bytes, unweighted(1000.0, 2000.0, 0.1, MarkSpacing::Independent));
        assert!(is_likely(marks, DRAWS, p), "{bytes} B: {marks} marks with p = {p}");
    }
}

/// Claim A5 with uniform gaps: X = 1..=m with probability p each, m = floor(1/p), and m + 1 with the rest. Marks are a
/// renewal process: n/E[X] of them, variance n Var[X]/E[X]^3. If 1/p is whole, E[X] = (1/p + 1)/2, so the rate is
/// 2p/(1+p).
#[test]
fn uniformised_marks_have_a_rate_of_2p_over_1_plus_p() {
    for (bytes, p) in profile() {
        let marks = marks_at(bytes, unweighted(1000.0, 2000.0, 0.1, MarkSpacing::Uniformised)) as f64;
        let n = f64::from(DRAWS);
        if p == 0.0 || p == 1.0 {
            assert_eq!(marks, n * p, "{bytes} B");
            continue;
        }
        let whole = (1.0 / p + 1e-9).floor();
        let moment = |k: i32| -> f64 {
            let rest = 1.0 - whole * p;
            (1..=whole as i32).map(|x| p * f64::from(x).powi(k)).sum::<f64>() + rest * (whole + 1.0).powi(k)
        };
        let (mean, variance) = (moment(1), moment(2) - moment(1) * moment(1));
        let sigma = (n * variance / mean.powi(3)).sqrt();
        assert!(
            (marks - n / mean).abs() <= 4.0 * sigma + 1.0,
            "{bytes} B: {marks}, expected {} +- {sigma}",
            n / mean
        );
        if (1.0 / p - whole).abs() < 1e-9 {
            let rate = 2.0 * p / (1.0 + p);
            assert!((1.0 / mean - rate).abs() < 1e-9 * rate, "{bytes} B");
        }
    }
}

/// At p = 1/20 each gap from 1 to 20 has probability 1/20 and no other occurs.
#[test]
fn gaps_between_uniformised_marks_are_uniform() {
    let mut bench = red(unweighted(1000.0, 2000.0, 0.1, MarkSpacing::Uniformised), true);
    bench.fill(10, 1500);
    let mut counts = [0u32; 20];
    for _ in 0..20_000 {
        let gap = 1 + (0..20).take_while(|_| mark_of(bench.cycle(10, Ecn::Ect0)).is_none()).count();
        counts[gap - 1] += 1;
    }
    // The first gap began while the queue filled.
    let statistic = chi_square(&counts);
    assert!(statistic < chi_square_limit(19), "{statistic}: {counts:?}");
}

/// The probability is 0.1 at max and 1 at twice max; in the middle it is 0.1 + 0.9 * 1000/2000 = 0.55.
#[test]
fn gentle_rises_to_one_at_twice_max() {
    let parameters =
        RedParameters { gentle: true, ..unweighted(1000.0, 2000.0, 0.1, MarkSpacing::Independent) };
    for (bytes, p) in [(2000, 0.1), (3000, 0.55), (3990, 0.9955), (4000, 1.0)] {
        let marks = marks_at(bytes, parameters);
        assert!(is_likely(marks, DRAWS, p), "{bytes} B: {marks}");
    }
    let mut bench = red(parameters, true);
    bench.fill(4000, 4000);
    assert_eq!(mark_of(bench.arrive(10, Ecn::Ect0)), Some(Reason::Forced));
    assert_eq!(marks_at(2000, RedParameters { gentle: false, ..parameters }), DRAWS as usize);
}

/// avg += w (backlog found - avg): the arriving packet is not in it. w = 1/4:
/// 0; 0 + 1500/4 = 375; 375 + (3000 - 375)/4 = 1031.25.
#[test]
fn the_average_takes_the_backlog_found() {
    let mut bench =
        red(RedParameters { weight: 0.25, ..unweighted(1e6, 2e6, 0.1, MarkSpacing::Uniformised) }, true);
    for expected in [0.0, 375.0, 1031.25] {
        let _ = bench.arrive(1500, Ecn::Ect0);
        assert_eq!(average(&bench), expected);
    }
}

/// The next packet finds an average that an idle time of ten packets has aged: 1031.25 * 0.75^10.
fn assert_aged_by_ten_packets(bench: &mut Bench<Single<Red>>) {
    let _ = bench.arrive(1500, Ecn::Ect0);
    assert!((average(bench) / (1031.25 * 0.75f64.powi(10)) - 1.0).abs() < 1e-12);
}

/// Three packets leave at 0, 1.2 and 2.4 ms; the line is idle from 3.6 ms. 12 ms later 10 packets of 1500 B could have
/// arrived.
#[test]
fn an_idle_line_ages_the_average() {
    let mut bench = three_waiting();
    bench.transmit_all();
    bench.wait(PACKET_TIME * 10);
    assert_aged_by_ten_packets(&mut bench);
}

/// The idle time counts although the empty queue is not asked for a packet, as the engine never does that.
#[test]
fn the_idle_time_is_known_without_asking_the_empty_queue() {
    let mut bench = three_waiting();
    transmit_three(&mut bench);
    bench.wait(PACKET_TIME * 10);
    assert_aged_by_ten_packets(&mut bench);
}

/// Framing makes the last packet take 0.3 ms longer than its IP bytes. A request to the empty queue at that instant
/// corrects the start of the idle time, and a second request changes nothing: it is ten packet times in all.
#[test]
fn asking_the_empty_queue_corrects_the_idle_time_once() {
    let mut bench = three_waiting();
    transmit_three(&mut bench);
    bench.wait(Span::from_micros(300));
    let _ = bench.take();
    bench.wait(PACKET_TIME * 5);
    let _ = bench.take();
    bench.wait(PACKET_TIME * 5);
    assert_aged_by_ten_packets(&mut bench);
}

/// While the last packet is being sent the queue is empty but the line is not idle: the average gets one ordinary
/// update with a backlog of 0.
#[test]
fn a_busy_line_is_not_idle() {
    let mut bench = three_waiting();
    transmit_three(&mut bench);
    bench.now = bench.now - Span::from_picos(1);
    let _ = bench.arrive(1500, Ecn::Ect0);
    assert_eq!(average(&bench), 1031.25 * 0.75);
}

/// Packets dropped on an empty queue restart the idle clock, so the average fades with time however many arrive,
/// each idle time counts once, and the queue opens again.
#[test]
fn a_drop_on_an_empty_queue_restarts_the_idle_time() {
    let parameters =
        RedParameters { weight: 0.25, ..unweighted(100.0, 200.0, 0.1, MarkSpacing::Uniformised) };
    let mut bench = red(parameters, true);
    bench.fill(1500, 4500);
    bench.transmit_all();
    // Packets that are not ECT are dropped above max. 1031.25 B * 0.75^n < 200 B from n = 6 on (0.75^5 * 1031.25 =
    // 244.7).
    for elapsed in 1..=5 {
        bench.wait(PACKET_TIME);
        assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Forced), "{elapsed}");
        let expected = 1031.25 * 0.75f64.powi(elapsed);
        assert!((average(&bench) / expected - 1.0).abs() < 1e-12, "{elapsed}");
    }
    bench.wait(PACKET_TIME * 4);
    // 0.75^9 * 1031.25 = 77.4 B is below min.
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), None);
}

#[test]
fn without_ecn_ect_packets_are_dropped() {
    let mut bench = red(unweighted(1000.0, 2000.0, 0.1, MarkSpacing::Uniformised), false);
    for expected in [None, None, Some(Reason::Forced)] {
        // The packets find 0, 1500 (the first between the thresholds, which seed 1 lets pass) and 3000 B.
        assert_eq!(dropped(bench.arrive(1500, Ecn::Ect0)), expected);
    }
}

/// Figure 2 of the paper counts the first packet between the thresholds, too: unlike in Linux it may be marked.
#[test]
fn the_first_packet_in_the_zone_may_be_marked() {
    let marked = (0..100).filter(|&seed| {
        let mut bench = red_seeded(unweighted(1000.0, 2000.0, 1.0, MarkSpacing::Uniformised), seed);
        assert!(!bench.is_marked());
        // It finds 1500 B: probability 1/2.
        bench.is_marked()
    });
    let marked = marked.count();
    // 4 sigma: sqrt(100/4) * 4 = 20.
    assert!((30..=70).contains(&marked), "{marked}");
}

/// Above max ECT packets are marked, not dropped (Floyd's own simulator drops them there).
#[test]
fn above_max_ect_packets_are_marked() {
    let mut bench = red(unweighted(1000.0, 1200.0, 0.1, MarkSpacing::Uniformised), true);
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), Some(Reason::Forced));
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Forced));
}

/// "Packet mode" with thresholds in bytes: the same random numbers mark the same arrivals whether these have 40 or 1500
/// B. Each arrival has a queue of its own, in which it finds 18,000 B.
#[test]
fn the_probability_does_not_depend_on_the_packet_size() {
    let marks = |size| -> Vec<bool> {
        (0..2000)
            .map(|seed| {
                let parameters = unweighted(12_000.0, 24_000.0, 0.5, MarkSpacing::Independent);
                let mut bench = red_seeded(parameters, seed);
                // This packet finds 0 B, so that no random number is drawn for it.
                bench.fill(18_000, 18_000);
                mark_of(bench.arrive(size, Ecn::Ect0)).is_some()
            })
            .collect()
    };
    let small = marks(40);
    assert_eq!(small, marks(1500));
    // Probability 1/4: 500 +- 4 * 19.4.
    assert!((422..=578).contains(&small.iter().filter(|&&mark| mark).count()));
}
