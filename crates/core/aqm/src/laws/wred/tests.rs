//! WRED packet by packet, against its formula, and against the laws that it contains.

use crate::testing::bench::{Bench, PACKET_TIME, dropped, dual_red_of, is_likely, mark_of, unweighted};
use crate::{
    AverageScope, CeThresholdFor, CodelConfig, CodelParameters, DecideAt, Dequeued, DualRedConfig, Extent,
    LawConfig, MarkSpacing, Queue, QueueConfig, Reason, StepConfig, Verdict, WredConfig, WredProfile,
    WredThresholds,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Stream};

/// Does nothing, on arrival.
const NOTHING: WredConfig = WredConfig {
    mark: None,
    drop: None,
    drop_ect: None,
    weight: 0,
    decide: DecideAt::Enqueue,
    cell_bytes: 1,
    limit: Extent::Unlimited,
};

fn bytes(min: u64, max: u64, max_probability: f64) -> WredProfile {
    WredProfile { thresholds: WredThresholds::Bytes { min, max }, max_probability }
}

fn packets(min: u32, max: u32, max_probability: f64) -> WredProfile {
    WredProfile { thresholds: WredThresholds::Packets { min, max }, max_probability }
}

fn time(min: Span, max: Span, max_probability: f64) -> WredProfile {
    WredProfile { thresholds: WredThresholds::Time { min, max }, max_probability }
}

/// Marks of a step at two packets and drops of one at three. A comment gives the packets that the arriving one finds.
#[test]
fn the_ecn_field_alone_chooses_the_profile() {
    let config = WredConfig { mark: Some(packets(2, 2, 1.0)), drop: Some(packets(3, 3, 1.0)), ..NOTHING };
    let mut bench = Bench::any(config);
    let mut arrive = |flow, ecn| bench.arrive_of(flow, 1500, ecn);
    let pass = Verdict::Queued { mark: None };
    let mark = Verdict::Queued { mark: Some(Reason::Threshold) };
    assert_eq!(arrive(0, Ecn::Ect0), pass); //    0
    assert_eq!(arrive(1, Ecn::NotEct), pass); //  1
    assert_eq!(arrive(2, Ecn::NotEct), pass); //  2: not above the threshold of its class
    assert_eq!(arrive(0, Ecn::NotEct), Verdict::Dropped(Reason::Threshold)); // 3
    assert_eq!(arrive(0, Ecn::Ect0), mark); //    3
    assert_eq!(arrive(1, Ecn::Ect1), mark); //    4
    assert_eq!(arrive(2, Ecn::Ce), mark); //      5: a mark of an earlier queue does not exempt
    assert_eq!(arrive(1, Ecn::NotEct), Verdict::Dropped(Reason::Threshold)); // 6
    assert_eq!(bench.draws(), 0);
}

/// The slope from 3000 B to 6000 B at a probability of 0 below its end: no packet is selected at 3000 or 4500 B, every
/// one from 6000 B on, as "forced" because the profile has a slope. No random number is drawn anywhere.
#[test]
fn nothing_is_drawn_where_the_probability_is_0_or_1() {
    let mut bench = Bench::any(WredConfig { mark: Some(bytes(3000, 6000, 0.0)), ..NOTHING });
    let marks: Vec<Option<Reason>> = (0..5).map(|_| mark_of(bench.arrive(1500, Ecn::Ect0))).collect();
    assert_eq!(marks, [None, None, None, None, Some(Reason::Forced)]);
    // With a probability of 1 at the end the slope is 0 at 3000 B and 1/2 at 4500 B: the first number.
    let mut bench = Bench::any(WredConfig { mark: Some(bytes(3000, 6000, 1.0)), ..NOTHING });
    bench.arrivals(3, 1500, Ecn::Ect0);
    assert_eq!(bench.draws(), 0);
    let _ = bench.arrive(1500, Ecn::Ect0);
    assert_eq!(bench.draws(), 1);
}

/// Four packets of 1500 B with a step at 3000 B: behind them are 4500, 3000, 1500 and 0 B, so the first two are marked.
/// Arrivals are not.
#[test]
fn on_departure_the_queue_is_what_is_behind() {
    let mut bench =
        Bench::any(WredConfig { mark: Some(bytes(3000, 3000, 1.0)), decide: DecideAt::Dequeue, ..NOTHING });
    for _ in 0..4 {
        assert!(!bench.is_marked());
    }
    let marks: Vec<bool> = (0..4).map(|_| bench.send().1.is_some()).collect();
    assert_eq!(marks, [true, true, false, false]);
    assert_eq!(bench.draws(), 0);
}

/// At 10 Mbit/s 1500 B take 1.2 ms. A packet that has waited 1.2 ms is marked from 1.2 ms on; packets that are not ECT
/// pass.
#[test]
fn on_departure_a_time_is_the_packets_own_wait() {
    let ms = Span::from_micros(1200);
    let mut bench =
        Bench::any(WredConfig { mark: Some(time(ms, ms, 1.0)), decide: DecideAt::Dequeue, ..NOTHING });
    bench.arrivals(3, 1500, Ecn::Ect0);
    bench.arrivals(1, 1500, Ecn::NotEct);
    bench.wait(ms - Span::from_picos(1));
    assert_eq!(bench.send().1, None);
    bench.wait(Span::from_picos(1));
    assert_eq!(bench.send().1, Some(Reason::Threshold));
    bench.wait(ms);
    assert_eq!(bench.send().1, Some(Reason::Threshold));
    assert_eq!(bench.send().1, None);
}

/// On arrival 2.4 ms are 3000 B of the line, and one picosecond less is still more than 2999 B.
#[test]
fn on_arrival_a_time_is_the_bytes_that_the_line_sends_in_it() {
    for picos in [2_400_000_000, 2_399_999_999] {
        let span = Span::from_picos(picos);
        let mut bench = Bench::any(WredConfig { mark: Some(time(span, span, 1.0)), ..NOTHING });
        let marks: Vec<bool> =
            [1500, 1499, 1, 40].map(|size| mark_of(bench.arrive(size, Ecn::Ect0)).is_some()).into();
        // They find 0, 1500, 2999 and 3000 B.
        assert_eq!(marks, [false, false, false, true], "{picos} ps");
    }
}

/// With decide = "dequeue" the drops of the same step at two packets come on arrival all the same, and none on
/// departure. ECT packets are marked on departure.
#[test]
fn drops_are_decided_on_arrival() {
    let step = Some(packets(2, 2, 1.0));
    let mut bench = Bench::any(WredConfig { mark: step, drop: step, decide: DecideAt::Dequeue, ..NOTHING });
    let drops: Vec<bool> = (0..4).map(|_| dropped(bench.arrive(1500, Ecn::NotEct)).is_some()).collect();
    assert_eq!(drops, [false, false, true, true]);
    assert!(!bench.is_marked());
    assert!(!bench.is_marked());
    // Behind the first packet are three and behind the second two; neither is ECT. Behind the third is one.
    let marks: Vec<Option<Reason>> = (0..4).map(|_| bench.send().1).collect();
    assert_eq!(marks, [None; 4]);
    assert!(matches!(bench.take(), Dequeued::Empty));
    // Seen from departures the same step marks: behind the first of four are three.
    bench.arrivals(4, 1500, Ecn::Ect0);
    assert_eq!(bench.send().1, Some(Reason::Threshold));
}

/// A profile that drops ECT packets beats the one that marks them (EOS: `random-detect drop` acts on ECT packets, too),
/// on arrival as on departure. Packets that are not ECT are not its concern.
#[test]
fn an_ect_packet_that_both_profiles_select_is_dropped() {
    for decide in [DecideAt::Enqueue, DecideAt::Dequeue] {
        let (mark, drop_ect) = (Some(packets(1, 1, 1.0)), Some(packets(2, 2, 1.0)));
        let mut bench = Bench::any(WredConfig { mark, drop_ect, decide, ..NOTHING });
        bench.arrivals(2, 1500, Ecn::Ect0);
        assert_eq!(bench.arrive(1500, Ecn::Ect0), Verdict::Dropped(Reason::Threshold), "{decide:?}");
        assert_eq!(bench.arrive(1500, Ecn::NotEct), Verdict::Queued { mark: None }, "{decide:?}");
    }
}

/// Either slope selects with 1/2 at one packet: 1/2 of the ECT packets are dropped and 1/4 marked.
#[test]
fn the_profiles_for_ect_packets_are_independent() {
    const DRAWS: u32 = 100_000;
    let slope = Some(packets(0, 2, 1.0));
    let mut bench = Bench::any(WredConfig { mark: slope, drop_ect: slope, ..NOTHING });
    let _ = bench.arrive(1500, Ecn::NotEct);
    let (mut marks, mut drops) = (0, 0);
    for _ in 0..DRAWS {
        match bench.cycle(1500, Ecn::Ect0) {
            Verdict::Dropped(reason) => {
                assert_eq!(reason, Reason::Early);
                drops += 1;
            }
            verdict => marks += usize::from(mark_of(verdict).is_some()),
        }
    }
    assert!(is_likely(drops, DRAWS, 0.5), "seed 1: {drops}");
    assert!(is_likely(marks, DRAWS, 0.25), "seed 1: {marks}");
}

/// min = 1000 B, max = 2000 B, 0.1 at the maximum. 15 queues, on arrival and on departure, with 100,000 packets each:
/// the number of marks is binomial, within 4 standard deviations of n p(q).
#[test]
fn marks_are_binomial_with_the_probability_of_the_profile() {
    const DRAWS: u32 = 100_000;
    let queues = [0, 500, 990, 1000, 1010, 1100, 1200, 1400, 1500, 1700, 1900, 1990, 2000, 2010, 3000];
    for decide in [DecideAt::Enqueue, DecideAt::Dequeue] {
        for queue in queues {
            let p = match queue {
                0..1000 => 0.0,
                1000..2000 => 0.1 * (queue - 1000) as f64 / 1000.0,
                _ => 1.0,
            };
            let config = WredConfig { mark: Some(bytes(1000, 2000, 0.1)), decide, ..NOTHING };
            let mut bench = Bench::any(config);
            bench.fill(10, queue);
            let marks = (0..DRAWS).filter(|_| {
                // One arrives and one leaves, behind which the same queue waits.
                let on_arrival = mark_of(bench.arrive(10, Ecn::Ect0)).is_some();
                let on_departure = bench.send().1.is_some();
                assert!(
                    !(on_arrival && decide == DecideAt::Dequeue
                        || on_departure && decide == DecideAt::Enqueue)
                );
                on_arrival || on_departure
            });
            let marks = marks.count();
            assert!(is_likely(marks, DRAWS, p), "seed 1, {decide:?}, {queue} B: {marks} marks with p = {p}");
        }
    }
}

/// Cells of 256 B: packets of 1500, 40 and 257 B take 6, 1 and 2 of them; a step at 2000 B is one at 8 cells, 2048 B. A
/// comment gives the cells that the arriving packet finds.
#[test]
fn packets_and_thresholds_take_whole_cells() {
    let mut bench = Bench::any(WredConfig { mark: Some(bytes(2000, 2000, 1.0)), cell_bytes: 256, ..NOTHING });
    let mut is_marked = |size| mark_of(bench.arrive(size, Ecn::Ect0)).is_some();
    assert!(!is_marked(1500)); // 0
    assert!(!is_marked(40)); //   6
    assert!(!is_marked(40)); //   7
    assert!(is_marked(257)); //   8, although only 1580 B wait
    assert!(is_marked(40)); //    10
    // The packets of 6 and 1 cells leave, and 4 remain; 4 small packets fill them up to 8.
    let _ = bench.take();
    let _ = bench.take();
    let marks: Vec<bool> = (0..5).map(|_| mark_of(bench.arrive(1, Ecn::Ect0)).is_some()).collect();
    assert_eq!(marks, [false, false, false, false, true]);
    bench.transmit_all();
    // An empty queue has no cells left over.
    assert!(!bench.is_marked());
    assert!(!bench.is_marked());
    assert!(bench.is_marked());
    // Exactly whole cells are not rounded, and a threshold that is all of the memory stays.
    assert_eq!(
        WredThresholds::Bytes { min: 2048, max: u64::MAX }.in_cells(256),
        WredThresholds::Bytes { min: 2048, max: u64::MAX }
    );
}

/// A limit of 3000 B holds two packets of 1500 B, although these take 12 cells of 256 B, 3072 B. The profile is asked
/// first.
#[test]
fn the_limit_counts_bytes() {
    let limit = Extent::Bytes(3000);
    let mut bench =
        Bench::any(WredConfig { drop: Some(bytes(3072, 3072, 1.0)), cell_bytes: 256, limit, ..NOTHING });
    assert!(!bench.is_marked());
    assert!(!bench.is_marked());
    assert_eq!(bench.arrive(1500, Ecn::Ect0), Verdict::Dropped(Reason::Buffer));
    assert_eq!(bench.arrive(1500, Ecn::NotEct), Verdict::Dropped(Reason::Threshold));
}

/// n = 2, packets of 1500 B: the drop profile's average is 0, 1500/4 = 375, 375 + (3000 - 375)/4 = 1031.25, and a
/// packet that is dropped moves it, too: 1031.25 + (4500 - 1031.25)/4 = 1898.4375 exceeds 1500 B. The profile of marks
/// averages what is behind departures.
#[test]
fn averages_follow_powers_of_two() {
    let config = WredConfig {
        mark: Some(packets(1, 1, 1.0)),
        drop: Some(bytes(1500, 1500, 1.0)),
        weight: 2,
        decide: DecideAt::Dequeue,
        ..NOTHING
    };
    let mut bench = Bench::any(config);
    for expected in [0.0, 375.0, 1031.25] {
        // Every packet moves the average, also one that the profile is not for.
        assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
        assert_eq!(bench.queue.average_bytes(), Some(expected));
    }
    assert_eq!(bench.arrive(1500, Ecn::NotEct), Verdict::Dropped(Reason::Threshold));
    assert_eq!(bench.queue.average_bytes(), Some(1898.4375));
    // Two more make it five. Behind departures are 4, 3, 2, 1 and 0 packets: 1, 1.5, 1.625, 1.469, 1.102.
    bench.arrivals(2, 1500, Ecn::Ect0);
    let marks: Vec<bool> = (0..5).map(|_| bench.send().1.is_some()).collect();
    assert_eq!(marks, [true; 5]);
    // Without a weight there is no average to show.
    assert_eq!(Bench::any(WredConfig { weight: 0, ..config }).queue.average_bytes(), None);
}

/// The average of `averages_follow_powers_of_two` is the same after a second in which the line is idle: a packet that
/// is not ECT and finds an empty queue is dropped for the queue of a second ago, 1898.4375 x 3/4 = 1423.8 B on average.
#[test]
fn an_idle_line_does_not_age_an_average() {
    let mut bench = Bench::any(WredConfig { drop: Some(bytes(1400, 1400, 1.0)), weight: 2, ..NOTHING });
    bench.arrivals(4, 1500, Ecn::Ect0);
    bench.transmit_all();
    bench.wait(PACKET_TIME * 1000);
    assert_eq!(bench.queue.average_bytes(), Some(1898.4375));
    assert_eq!(bench.arrive(1500, Ecn::NotEct), Verdict::Dropped(Reason::Threshold));
    // The next one finds 1067.9 B.
    assert_eq!(bench.arrive(1500, Ecn::NotEct), Verdict::Queued { mark: None });
}

/// Arrivals of the given sizes and departures in random order give the same verdicts and draw as many random numbers in
/// both queues.
fn assert_same(one: impl Into<QueueConfig>, other: impl Into<QueueConfig>, sizes: &[u16]) {
    const SEED: u64 = 5;
    let (mut one, mut other) = (Bench::any(one), Bench::any(other));
    let mut script = Stream::new(SEED, "script");
    let (mut hits, mut passes) = (0, 0);
    for turn in 0..20_000 {
        let number = script.uniform_u32() as usize;
        if number % 16 < 9 {
            let size = sizes[number / 16 % sizes.len()];
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct][number / 65_536 % 4];
            let verdict = one.arrive(size, ecn);
            assert_eq!(other.arrive(size, ecn), verdict, "seed {SEED}, turn {turn}");
            match verdict {
                Verdict::Queued { mark: None } => passes += 1,
                _ => hits += 1,
            }
        } else {
            let sent = |bench: &mut Bench<_>| match bench.take() {
                Dequeued::Packet { packet, mark, .. } => Some((packet, mark)),
                _ => None,
            };
            assert_eq!(sent(&mut other), sent(&mut one), "seed {SEED}, turn {turn}");
        }
        assert_eq!(one.queue.backlog(), other.queue.backlog(), "seed {SEED}, turn {turn}");
    }
    assert_eq!(one.draws(), other.draws());
    assert!(hits > 1000 && passes > 1000, "seed {SEED}: {hits} hits, {passes} passes");
}

/// `step` marks if more than K packets wait with the arriving one; here at least K wait before it. In bytes, more than
/// K with a packet of 1500 B is at least K + 1 - 1500 before it.
#[test]
fn a_step_on_arrival_is_the_law_step() {
    let step = |threshold, drop_threshold, limit| StepConfig {
        threshold,
        drop_threshold,
        decide: DecideAt::Enqueue,
        limit,
    };
    let in_packets = step(Extent::Packets(3), Extent::Packets(6), Extent::Unlimited);
    let wred = WredConfig { mark: Some(packets(3, 3, 1.0)), drop: Some(packets(6, 6, 1.0)), ..NOTHING };
    assert_same(wred, in_packets, &[1500, 40, 9000]);

    let in_bytes = step(Extent::Bytes(7812), Extent::Bytes(12_000), Extent::Unlimited);
    let wred =
        WredConfig { mark: Some(bytes(6313, 6313, 1.0)), drop: Some(bytes(10_501, 10_501, 1.0)), ..NOTHING };
    assert_same(wred, in_bytes, &[1500]);

    // A packet that a full queue and the profile both drop counts for the profile here, for the buffer there; without a
    // profile for drops they are the same in full queues, too.
    let limit = Extent::Packets(10);
    let wred = WredConfig { mark: Some(packets(3, 3, 1.0)), limit, ..NOTHING };
    assert_same(wred, step(Extent::Packets(3), Extent::Unlimited, limit), &[1500, 40]);
}

/// Dual RED with weight 1 and independent coins has the same slopes on the queue that a packet finds. It draws a random
/// number at exactly min, where the probability is 0, so no queue of the script may be that long: min is no multiple of
/// 100 B. Its step, min = max, counts the arriving packet, so both have slopes here.
#[test]
fn slopes_on_arrival_are_dual_red_with_weight_1() {
    let limit = Extent::Packets(20);
    let slope = |min, max, p| unweighted(min, max, p, MarkSpacing::Independent);
    let dual = dual_red_of(slope(5001.0, 20_001.0, 0.3), slope(2001.0, 9001.0, 0.8), AverageScope::Shared);
    let wred = WredConfig {
        mark: Some(bytes(2001, 9001, 0.8)),
        drop: Some(bytes(5001, 20_001, 0.3)),
        limit,
        ..NOTHING
    };
    assert_same(wred, DualRedConfig { limit, ..dual }, &[1500, 100, 1000]);
}

/// On departure a wait of at least T is one of more than T - 1 ps. CoDel's `ce_threshold` marks waits of more than T on
/// a clock of 1024 ns; 1024 us are 1000 of its units, and no wait of the script, a multiple of 100 us, is in the unit
/// after it. A target of 1000 s keeps CoDel's own law silent: this is how Linux has such a step.
#[test]
fn a_step_in_time_on_departure_is_the_law_step_and_ce_threshold() {
    const SEED: u64 = 6;
    let (threshold, before) = (Span::from_micros(1024), Span::from_picos(1_023_999_999));
    let (decide, limit) = (DecideAt::Dequeue, Extent::Unlimited);
    let wred = WredConfig { mark: Some(time(threshold, threshold, 1.0)), decide, ..NOTHING };
    let step =
        StepConfig { threshold: Extent::Time(before), drop_threshold: Extent::Unlimited, decide, limit };
    let never = Span::from_secs(1000);
    let law = CodelParameters {
        target: never,
        interval: never,
        ecn: false,
        ce_threshold: Some(threshold),
        ce_threshold_for: CeThresholdFor::Ect,
        mtu_bytes: 1500,
    };
    let mut benches = [Bench::any(wred), Bench::any(step), Bench::any(CodelConfig { law, limit })];
    let mut script = Stream::new(SEED, "script");
    let mut marks = 0;
    for turn in 0..5000 {
        let wait = Span::from_micros(u64::from(script.uniform_u32() % 8) * 100);
        let arrives = script.uniform_u32() % 100 < 48;
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][(script.uniform_u32() % 3) as usize];
        let fates = benches.each_mut().map(|bench| {
            bench.wait(wait);
            if arrives {
                assert_eq!(
                    bench.arrive(1500, ecn),
                    Verdict::Queued { mark: None },
                    "seed {SEED}, turn {turn}"
                );
                return None;
            }
            match bench.take() {
                Dequeued::Packet { packet, mark, .. } => Some((packet, mark.is_some())),
                Dequeued::Empty | Dequeued::Held { .. } => None,
                Dequeued::Dropped { .. } => panic!("seed {SEED}, turn {turn}: a drop"),
            }
        });
        assert!(fates.iter().all(|fate| *fate == fates[0]), "seed {SEED}, turn {turn}: {fates:?}");
        marks += u32::from(fates[0].is_some_and(|(_, is_marked)| is_marked));
    }
    assert!((200..2200).contains(&marks), "seed {SEED}: {marks}");
}

/// Levels for plots are those in effect.
#[test]
fn levels_are_rounded_up_to_cells() {
    let config = WredConfig {
        mark: Some(bytes(1000, 1000, 1.0)),
        drop: Some(bytes(2000, 4000, 0.1)),
        cell_bytes: 256,
        limit: Extent::Bytes(9000),
        ..NOTHING
    };
    let levels: Vec<(String, String)> =
        config.levels().into_iter().map(|level| (level.label, format!("{:?}", level.height))).collect();
    let expected = [
        ("K ECT", "Extent(Bytes(1024))"),
        ("min not-ECT", "Extent(Bytes(2048))"),
        ("max not-ECT", "Extent(Bytes(4096))"),
        ("limit", "Extent(Bytes(9000))"),
    ];
    assert_eq!(levels, expected.map(|(label, height)| (label.to_owned(), height.to_owned())));
}
