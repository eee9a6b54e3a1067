//! Linux RED, to the integer.

use crate::testing::bench::{Bench, LINE, LINUX_RED, chi_square, chi_square_limit, dropped, mark_of};
use crate::{LawConfig, LinuxRed, LinuxRedConfig, Queue, Reason, Single, TcError, Verdict};
use shoal_packet::Ecn;
use shoal_units::{Rate, Span, Time};

/// The testbed of De Schepper et al. 2015: `limit 1600000 min 120000 max 360000 avpkt 1000 burst 220 ecn bandwidth
/// 40Mbit`.
const TESTBED: LinuxRedConfig = LinuxRedConfig {
    limit_bytes: 1_600_000,
    min_bytes: 120_000,
    max_bytes: 360_000,
    avpkt_bytes: 1000,
    burst_packets: 220,
    probability: 0.02,
    bandwidth: Rate::from_bps(40_000_000),
    ..LINUX_RED
};

/// Mininet-HiFi DCTCP with the probability 0.1. Wlog 1, so at a constant backlog of B bytes the scaled average settles
/// at 2 B (or 2 B + 1), the average at B.
const HIFI: LinuxRedConfig = LinuxRedConfig {
    max_bytes: 35_000,
    burst_packets: 20,
    bandwidth: Rate::from_bps(100_000_000),
    ..LINUX_RED
};

/// The CS244 study: min = K, max = K + 1 packets of 1500 B, burst K + 1, probability 1.
fn cs(k: u32) -> LinuxRedConfig {
    LinuxRedConfig {
        min_bytes: 1500 * k,
        max_bytes: 1500 * (k + 1),
        burst_packets: k + 1,
        probability: 1.0,
        ..HIFI
    }
}

/// The average scaled by 2^Wlog, as the kernel keeps it.
fn scaled(bench: &Bench<Single<LinuxRed>>, wlog: u32) -> u64 {
    (bench.queue.average_bytes().unwrap() * f64::from(1 << wlog)) as u64
}

/// 220 + 1 - 120 = 101 <= (1 - (127/128)^220) 128 = 105.2, but > (1 - (63/64)^220) 64 = 62.
/// 0.02 / 240,000 * 2^24 = 1.4 > 1, * 2^23 = 0.7.
#[test]
fn the_testbed_line_gives_wlog_7_and_plog_24() {
    let tc = TESTBED.solve().unwrap();
    assert_eq!((tc.wlog, tc.plog), (7, 24));
    // 0.02 * 2^32 = 85,899,345.92.
    assert_eq!(tc.max_p, 85_899_345);
}

/// K + 2 - K = 2 <= (1 - (3/4)^(K+1)) 4 from K = 2 on (2.3). Wlog 1 would need 2 <= (1 - 2^-(K+1)) 2, which is false
/// for every K in exact numbers but true in doubles once 1 - 2^-(K+1) rounds to 1: K + 1 >= 54.
#[test]
fn cs244_lines_give_a_weight_of_a_quarter_up_to_52_packets() {
    for k in 2..=200 {
        assert_eq!(cs(k).solve().unwrap().wlog, if k <= 52 { 2 } else { 1 }, "K = {k}");
    }
}

/// K = 1: 2 <= (1 - (1-W)^2) / W = 2 - W is false for every W in exact numbers. In doubles it becomes true at W =
/// 2^-27, where W^2 is lost; the kernel refuses 1500 << 27.
#[test]
fn k_of_one_packet_cannot_be_configured() {
    assert_eq!(cs(1).solve(), Err(TcError::Threshold));
}

#[test]
fn the_mininet_hifi_line_gives_wlog_1() {
    assert_eq!(HIFI.solve().unwrap().wlog, 1);
}

/// max = 3 min (limit/4 without min), min = max/3, burst = (2 min + max) / (3 avpkt).
#[test]
fn parameters_that_are_not_given_have_the_defaults_of_tc() {
    let config = LinuxRedConfig { min_bytes: 30_000, max_bytes: 0, burst_packets: 0, ..HIFI };
    let tc = config.solve().unwrap();
    assert_eq!(tc.max_bytes, 90_000);
    // (60,000 + 90,000) / 4500 = 33.
    assert_eq!(LinuxRedConfig { max_bytes: 90_000, burst_packets: 33, ..config }.solve().unwrap(), tc);
    let tc = LinuxRedConfig { min_bytes: 0, ..config }.solve().unwrap();
    assert_eq!((tc.min_bytes, tc.max_bytes), (83_333, 250_000));
}

#[test]
fn tc_refuses_what_it_cannot_express() {
    let error = |config: LinuxRedConfig| config.solve().unwrap_err();
    assert_eq!(error(LinuxRedConfig { avpkt_bytes: 0, ..TESTBED }), TcError::Missing);
    assert_eq!(error(LinuxRedConfig { limit_bytes: 0, ..TESTBED }), TcError::Missing);
    let burst = error(LinuxRedConfig { burst_packets: 119, ..TESTBED });
    assert_eq!(burst, TcError::Burst { given: 119, recommended: 121 });
    assert_eq!(error(LinuxRedConfig { max_bytes: 119_999, ..TESTBED }), TcError::Probability);
    assert_eq!(error(LinuxRedConfig { probability: 1e-6, ..TESTBED }), TcError::Probability);
    // 2^32 B/s = 34.36 Gbit/s.
    let bandwidth = Rate::from_bps(34_359_738_368);
    assert_eq!(error(LinuxRedConfig { bandwidth, ..TESTBED }), TcError::Bandwidth);
    assert_eq!(error(LinuxRedConfig { ecn: false, nodrop: true, ..TESTBED }), TcError::NodropWithoutEcn);
    let legacy = LinuxRedConfig { adaptive: true, legacy_probability: true, ..TESTBED };
    assert_eq!(error(legacy), TcError::AdaptiveInLegacyKernel);
}

/// 1000 B at 40 Mbit/s = 200 us = 3125 ticks. Logarithm per tick: 0.0078432 / 3125 = 2.5098e-6; 31 of it in 1.2352e7; /
/// 2^14 = 754 >= 512, / 2^15 = 377 < 512. Entry 12: 12 * 32768 * 2.5098e-6 = 0.987; 13: 1.07; 254: 20.9; the last is
/// 31.
#[test]
fn idle_table_of_the_testbed_line() {
    let tc = TESTBED.solve().unwrap();
    assert_eq!(tc.scell_log, 15);
    assert_eq!([0, 1, 12, 13, 254, 255].map(|i: usize| tc.stab[i]), [0, 0, 0, 1, 20, 31]);
}

/// qavg' = qavg + backlog - (qavg >> 7), the backlog being what the packet finds.
#[test]
fn the_average_is_kept_in_integers() {
    let mut bench = Bench::of(TESTBED);
    // The first packet finds 0, and an average of 0 that the idle time cannot age. The others find 1500; 1500 + 3000 -
    // 11 = 4489; 4489 + 4500 - 35 = 8954.
    for expected in [0, 1500, 4489, 8954] {
        let _ = bench.arrive(1500, Ecn::Ect0);
        assert_eq!(scaled(&bench, 7), expected);
    }
}

/// The average, scaled by 128, that a packet finds which comes after `idle` on an idle line; it was 8954 before.
fn scaled_after_idle(idle: Span) -> u64 {
    let mut bench = Bench::of(TESTBED);
    bench.arrivals(4, 1500, Ecn::Ect0);
    bench.transmit_all();
    bench.wait(idle);
    let _ = bench.arrive(1500, Ecn::Ect0);
    scaled(&bench, 7)
}

#[test]
fn a_short_idle_time_fades_linearly() {
    assert_eq!(scaled_after_idle(Span::ZERO), 8954);
    // 8954 * 1000 >> 15 = 273.
    assert_eq!(scaled_after_idle(Span::from_micros(1000)), 8954 - 273);
    assert_eq!(scaled_after_idle(Span::from_nanos(1_000_999)), 8954 - 273);
    // At most half: 8954 * 16,384 >> 15 = 4477 = 8954 >> 1. The table says 0 up to entry 12.
    assert_eq!(scaled_after_idle(Span::from_micros(16_384)), 4477);
    assert_eq!(scaled_after_idle(Span::from_micros((13 << 15) - 1)), 4477);
}

#[test]
fn a_long_idle_time_shifts_by_the_table() {
    // Entry 13 is 1, entry 254 is 20, everything later counts as entry 255.
    assert_eq!(scaled_after_idle(Span::from_micros(13 << 15)), 8954 >> 1);
    assert_eq!(scaled_after_idle(Span::from_micros(26 << 15)), 8954 >> 2);
    assert_eq!(scaled_after_idle(Span::from_micros(90 << 15)), 8954 >> 7);
    assert_eq!(scaled_after_idle(Span::from_secs(3600)), 0);
}

/// Where the table is used, the average ages far less than by Floyd's formula: 13 << 15 us = 0.426 s are 2130 packets
/// of 200 us, which gives (127/128)^2130 = 5.6e-8, but the kernel only halves the average.
#[test]
fn the_table_ages_far_slower_than_the_formula() {
    let ours = scaled_after_idle(Span::from_micros(13 << 15)) as f64 / 8954.0;
    let formula = (127.0f64 / 128.0).powi(2130);
    assert!(ours == 0.5 && formula < 1e-7, "{ours} {formula}");
}

/// With Wlog 1, an average far above max and an idle line, packets that are not ECT are dropped; each idle time counts
/// once, until packets are queued again. Scell_log is 8: 50 us take avg * 50 >> 8 off the average, 1000 us (entry 3,
/// which is 0) half.
#[test]
fn a_drop_on_an_empty_queue_restarts_the_idle_time() {
    let mut bench = Bench::of(HIFI);
    assert_eq!((HIFI.solve().unwrap().scell_log, HIFI.solve().unwrap().stab[3]), (8, 0));
    bench.fill(1500, 90_000);
    bench.transmit_all();
    let mut expected = scaled(&bench, 1);
    assert!(expected > 140_000);
    for _ in 0..2 {
        bench.wait(Span::from_micros(50));
        assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Forced));
        expected -= (expected * 50) >> 8;
        assert_eq!(scaled(&bench, 1), expected);
    }
    while expected >> 1 >= 70_000 {
        bench.wait(Span::from_micros(1000));
        assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Forced));
        expected >>= 1;
        assert_eq!(scaled(&bench, 1), expected);
    }
    bench.wait(Span::from_micros(1000));
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), None);
}

/// A queue at `backlog` bytes whose average has settled there.
fn settled(config: LinuxRedConfig, backlog: u64, seed: u64) -> Bench<Single<LinuxRed>> {
    let mut bench = Bench::seeded(config.build(LINE).unwrap(), seed);
    bench.fill(500, backlog);
    for _ in 0..100 {
        let _ = bench.cycle(500, Ecn::Ect0);
    }
    bench
}

/// Below min no packet is marked and no random number drawn; from max on every packet is marked without one.
#[test]
fn below_min_nothing_is_marked_and_above_max_everything() {
    for (backlog, mark) in [(29_500, None), (35_000, Some(Reason::Forced))] {
        let mut bench = settled(HIFI, backlog, 1);
        for _ in 0..100 {
            assert_eq!(mark_of(bench.cycle(500, Ecn::Ect0)), mark);
        }
    }
    assert_eq!(settled(HIFI, 29_500, 1).draws(), 0);
}

/// For the packet with which the average exceeds min a random number is drawn, but it is not marked, whatever the seed.
#[test]
fn the_first_packet_in_the_zone_is_never_marked() {
    // R is at most 65,536 / 0.99; the packet after the first adds enough to be marked often.
    let config = LinuxRedConfig { max_bytes: 95_536, probability: 0.99, ..HIFI };
    let mut second = 0;
    for seed in 0..500 {
        let mut bench = Bench::seeded(config.build(LINE).unwrap(), seed);
        bench.fill(1500, 28_500);
        while bench.queue.average_bytes().unwrap() < 30_000.0 {
            assert_eq!(mark_of(bench.arrive(6000, Ecn::Ect0)), None);
        }
        assert_eq!(bench.draws(), 1);
        second += u32::from(mark_of(bench.arrive(60_000, Ecn::Ect0)).is_some());
    }
    assert!(second > 20, "{second}");
}

/// max_P = 0.1 * 2^32 = 429,496,729; / 5000 = 85,899; R = random / 85,899 is uniform on 0..=50,000. At 2500 B above min
/// a packet is marked when 2500 n >= R: gaps of 1..=20, 1/pb = 5000 / (0.1 * 2500) = 20.
#[test]
fn gaps_between_marks_are_uniform() {
    let mut bench = settled(HIFI, 32_500, 1);
    let mut counts = [0u32; 20];
    for _ in 0..20_000 {
        let gap = 1 + (0..20).take_while(|_| mark_of(bench.cycle(500, Ecn::Ect0)).is_none()).count();
        counts[gap - 1] += 1;
    }
    let statistic = chi_square(&counts);
    assert!(statistic < chi_square_limit(19), "{statistic}: {counts:?}");
}

/// Fraction of gaps of 1 at 1024 B above min, for the CS244 study with K = 20: whether R <= 1024 (above * 1 >= R).
fn share_of_gaps_of_one(legacy_probability: bool) -> f64 {
    let config = LinuxRedConfig { legacy_probability, ..cs(20) };
    // Wlog 2: the scaled average settles at 4 B to 4 B + 3.
    let mut bench = Bench::of(config);
    bench.fill(1, 31_024);
    for _ in 0..100 {
        let _ = bench.cycle(1, Ecn::Ect0);
    }
    assert_eq!(scaled(&bench, 2) >> 2, 31_024);
    let gaps = 40_000;
    let ones = (0..gaps).filter(|_| {
        let first = mark_of(bench.cycle(1, Ecn::Ect0)).is_some();
        // R is at most 2048: the second packet is marked at the latest.
        assert!(first || mark_of(bench.cycle(1, Ecn::Ect0)).is_some());
        first
    });
    ones.count() as f64 / f64::from(gaps)
}

/// Before 3.3: Plog 11 (2048/1500 > 1), R = 11 random bits, so the probability at max is 1500/2048 = 0.73 although tc
/// was told 1. P(R <= 1024) = 1025/2048; 4 sigma of 40,000: 0.01.
#[test]
fn legacy_kernels_round_the_probability_to_a_power_of_two() {
    let share = share_of_gaps_of_one(true);
    assert!((share - 1025.0 / 2048.0).abs() < 0.01, "{share}");
}

/// Since 3.3 probability 1 is 2^32, which becomes 0 in 32 bits: the kernel falls back to Plog, max_P = (2^32-1 >> 11)
/// 1500, and R = random / 2,097,151, up to 2048. A real 1 would give P(R <= 1024) = 1025/1500 = 0.68.
#[test]
fn probability_one_falls_back_to_a_power_of_two() {
    let share = share_of_gaps_of_one(false);
    assert!((share - 1025.0 / 2048.0).abs() < 0.01, "{share}");
}

/// The verdict on a packet that finds the average above max. Wlog is 1. The first packet finds 0; the second finds
/// 60,000 B, so that the scaled average is 60,000, just above min, where the first packet passes; the third finds
/// 60,001 B: 60,000 + 60,001 - 30,000 >= 70,000.
fn forced(config: LinuxRedConfig, ecn: Ecn) -> Verdict {
    let mut bench = Bench::of(config);
    for size in [60_000, 1] {
        assert_eq!(dropped(bench.arrive(size, Ecn::NotEct)), None);
    }
    bench.arrive(500, ecn)
}

const HARD: LinuxRedConfig = LinuxRedConfig { harddrop: true, ..HIFI };
const NODROP: LinuxRedConfig = LinuxRedConfig { nodrop: true, ..HIFI };
const NO_ECN: LinuxRedConfig = LinuxRedConfig { ecn: false, ..HIFI };

#[test]
fn flags_decide_above_max() {
    const DROPPED: Verdict = Verdict::Dropped(Reason::Forced);
    const MARKED: Verdict = Verdict::Queued { mark: Some(Reason::Forced) };
    const PASSED: Verdict = Verdict::Queued { mark: None };
    for (config, ect, not_ect) in [
        (HIFI, MARKED, DROPPED),
        (HARD, DROPPED, DROPPED),
        (NODROP, MARKED, PASSED),
        (NO_ECN, DROPPED, DROPPED),
        // harddrop comes before nodrop.
        (LinuxRedConfig { harddrop: true, ..NODROP }, DROPPED, DROPPED),
    ] {
        assert_eq!(forced(config, Ecn::Ect0), ect, "{config:?}");
        assert_eq!(forced(config, Ecn::NotEct), not_ect, "{config:?}");
    }
}

#[test]
fn flags_decide_between_the_thresholds() {
    // Whether many of 2000 packets are marked, and whether many are dropped: at 32,500 B the rate is 2 * 0.05 / 1.05,
    // which gives about 190.
    let counts = |config: LinuxRedConfig, ecn| {
        let mut bench = Bench::of(config);
        while bench.queue.backlog().bytes < 32_500 {
            let _ = bench.arrive(500, Ecn::Ect0);
        }
        let verdicts: Vec<Verdict> = (0..2000).map(|_| bench.cycle(500, ecn)).collect();
        let count = |wanted| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
        let mark = Some(Reason::Early);
        (count(Verdict::Queued { mark }) > 100, count(Verdict::Dropped(Reason::Early)) > 100)
    };
    for (config, ect, not_ect) in [
        (HIFI, (true, false), (false, true)),
        // harddrop only matters above max.
        (HARD, (true, false), (false, true)),
        (NODROP, (true, false), (false, false)),
        (NO_ECN, (false, true), (false, true)),
    ] {
        assert_eq!(counts(config, Ecn::Ect0), ect, "{config:?}");
        assert_eq!(counts(config, Ecn::NotEct), not_ect, "{config:?}");
    }
}

#[test]
fn the_child_drops_at_the_limit_after_the_law() {
    let mut bench = Bench::of(LinuxRedConfig { limit_bytes: 40_000, ..HIFI });
    bench.fill(1000, 40_000);
    let before = scaled(&bench, 1);
    assert_eq!(dropped(bench.arrive(1, Ecn::Ect0)), Some(Reason::Buffer));
    // The average has been updated nevertheless.
    assert!(scaled(&bench, 1) > before);
}

#[test]
fn adaptive_red_asks_for_a_timer_every_half_second() {
    let mut bench = Bench::of(LinuxRedConfig { adaptive: true, ..HIFI });
    assert_eq!(bench.queue.next_timer(), Time::ZERO + Span::from_millis(500));
    bench.queue.on_timer(Time::ZERO + Span::from_millis(500));
    assert_eq!(bench.queue.next_timer(), Time::ZERO + Span::from_millis(1000));
    assert_eq!(HIFI.build(LINE).unwrap().next_timer(), Time::NEVER);
}
