//! Updates of the probability, digit by digit.

use super::super::tests::CONFIG;
use super::*;
use shoal_packet::FlowId;

/// A law with this probability and these delays in ticks of 64 ns.
fn law(prob: u64, qdelay: u64, qdelay_old: u64) -> Control {
    let mut law = Control::new(&CONFIG);
    law.vars = Vars { prob, qdelay, qdelay_old, ..law.vars };
    law
}

/// The probability after one update with packets waiting.
fn updated(prob: u64, qdelay: u64, qdelay_old: u64) -> u64 {
    let mut law = law(prob, qdelay, qdelay_old);
    law.update(100_000);
    law.probability()
}

/// 2^56 - 1 divided by 15,625,000 is 4,611,686,018 for one tick and one Hz; the gains are 2 and 20 sixteenths of it. 15
/// ms are 234,375 ticks.
#[test]
fn gains_are_those_of_the_kernel() {
    let law = Control::new(&CONFIG);
    assert_eq!(MAX_PROB, 72_057_594_037_927_935);
    assert_eq!((law.alpha, law.beta, law.target), (576_460_752, 5_764_607_522, 234_375));
}

/// From a probability of 0 and a delay of 30 ms (468,750 ticks) both gains are shifted by 11 bits, to 281,474 and
/// 2,814,749; 281,474 * 234,375 + 2,814,749 * 468,750 = 1,385,384,062,500. That is above 10^-5 (720,575,940,379), so
/// that the next update shifts by 7 bits: 4,503,599 * 234,375 = 1,055,531,015,625, as the delay does not grow; and once
/// more. Then the delay falls to 300,000: 4,503,599 * 65,625 - 45,035,996 * 168,750 = -7,304,275,640,625, with which
/// the probability would be negative.
#[test]
fn the_probability_follows_the_delay() {
    let mut law = law(0, 468_750, 0);
    let mut values = Vec::new();
    for next in [468_750, 468_750, 300_000, 0] {
        law.update(100_000);
        values.push(law.probability());
        law.vars.qdelay = next;
    }
    assert_eq!(values, [1_385_384_062_500, 2_440_915_078_125, 3_496_446_093_750, 0]);
}

/// A delay of 250,000 ticks after one of 240,000 changes the probability by 15,625 alpha + 10,000 beta; below each
/// power of ten both gains are a quarter of what they are above.
#[test]
fn gains_shrink_with_the_probability() {
    for (prob, delta) in [
        (MAX_PROB / 1_000_000 - 1, 32_545_521_250),
        (MAX_PROB / 1_000_000, 130_182_161_875),
        (MAX_PROB / 100_000, 520_728_694_375),
        (MAX_PROB / 10_000, 2_082_914_818_750),
        (MAX_PROB / 1000, 8_331_659_306_250),
        (MAX_PROB / 100, 33_326_637_235_000),
        (MAX_PROB / 10, 66_653_274_470_000),
    ] {
        assert_eq!(updated(prob, 250_000, 240_000) - prob, delta, "{prob}");
    }
}

/// From 10 % on an update changes the probability by 2 % at most: 72,057,594,037,927,935 / 100 * 2 =
/// 1,441,151,880,758,558.
#[test]
fn large_steps_are_cut() {
    let tenth = MAX_PROB / 10;
    assert_eq!(updated(tenth, 3_000_000, 0), tenth + 1_441_151_880_758_558);
    // Below 10 % there is no such bound: 288,230,376 * 2,765,625 + 2,882,303,761 * 3,000,000.
    assert_eq!(updated(tenth - 1, 3_000_000, 0), tenth - 1 + 9_444_048_416_625_000);
}

/// A delay beyond 250 ms (3,906,250 ticks) adds 2 % to the 2 % to which 576,460,752 * 3,671,876 is cut.
#[test]
fn a_high_delay_adds_two_percent() {
    let tenth = MAX_PROB / 10;
    assert_eq!(updated(tenth, 3_906_250, 3_906_250), tenth + 1_441_151_880_758_558);
    assert_eq!(updated(tenth, 3_906_251, 3_906_251), tenth + 2 * 1_441_151_880_758_558);
}

/// The kernel only bounds a probability that does not fit into 64 bits: it may be above 1, up to 256.
#[test]
fn the_probability_may_exceed_one() {
    assert_eq!(updated(MAX_PROB, 3_906_251, 3_906_251), MAX_PROB + 2 * 1_441_151_880_758_558);
    assert_eq!(updated(u64::MAX, 3_906_251, 3_906_251), MAX_PROB);
}

/// With an empty queue at two updates: 36,028,797,018,963,967 - 576,460,752 * 234,375 = 35,893,689,030,213,967, of
/// which a 64th is taken off: 35,332,850,139,116,874. If packets wait but the delay is not measurable yet, nothing is
/// taken off.
#[test]
fn an_empty_queue_lets_the_probability_decay() {
    let mut empty = law(MAX_PROB / 2, 0, 0);
    empty.update(0);
    assert_eq!(empty.probability(), 35_332_850_139_116_874);
    assert_eq!(updated(MAX_PROB / 2, 0, 0), 35_893_689_030_213_967);
}

/// With two delays below half of the target and a probability of 0 a new burst is allowed: 150 ms are 2,343,750 ticks.
#[test]
fn low_delays_renew_the_burst_allowance() {
    for (qdelay, qdelay_old, burst) in [(117_186, 117_186, 2_343_750), (117_187, 0, 7), (0, 117_187, 7)] {
        let mut law = law(0, qdelay, qdelay_old);
        law.vars.burst = 7;
        // With 117,186 after 117,186 nothing grows: alpha (117,186 - 234,375) < 0.
        law.alpha = 1 << 30;
        law.beta = 0;
        law.update(100_000);
        assert_eq!((law.probability(), law.vars.burst), (0, burst), "{qdelay} {qdelay_old}");
    }
}

fn acts(law: &mut Control, size: u16, backlog: u64) -> bool {
    law.acts(size, backlog, &mut Stream::new(1, "pie"))
}

/// The first random number of `Stream::new(1, "pie")` is above 0.3 and below 0.9 of 2^64, so that both outcomes are
/// known.
#[test]
fn four_conditions_spare_packets() {
    let draw = Stream::new(1, "pie").uniform_u64();
    assert!((0.3..0.9).contains(&(draw as f64 / u64::MAX as f64)), "choose another stream: {draw}");
    let ready = || {
        let mut law = law(MAX_PROB / 10 * 9, 300_000, 0);
        law.vars.burst = 0;
        law
    };
    assert!(acts(&mut ready(), 1500, 3000));
    let mut bursting = ready();
    bursting.vars.burst = 1;
    assert!(!acts(&mut bursting, 1500, 3000));
    assert!(!acts(&mut ready(), 1500, 2999));
    // A delay below half of 234,375 ticks, and a probability below 20 %; the sum is so large that no random number is
    // drawn.
    for (qdelay, prob, safe) in [
        (117_186, MAX_PROB / 5 - 1, true),
        (117_186, MAX_PROB / 5, false),
        (117_187, MAX_PROB / 5 - 1, false),
    ] {
        let mut short = ready();
        short.vars.qdelay = qdelay;
        short.vars.prob = prob;
        short.vars.accu_prob = MAX_PROB / 2 * 17;
        assert_eq!(acts(&mut short, 1500, 3000), !safe, "{qdelay} {prob}");
    }
    // The sum of probabilities must reach 85 %; then a random number decides, which is below 85 %, too.
    assert!((draw >> 8) < MAX_PROB / 100 * 84, "choose another stream: {draw}");
    for (percent, drops) in [(84, false), (85, true)] {
        let mut early = ready();
        early.vars.prob = MAX_PROB / 100 * percent;
        assert_eq!(acts(&mut early, 1500, 3000), drops, "{percent} %");
    }
}

/// A sum of 8.5, which is 17 * 2^55, drops the packet without a random number: nine packets at 0.95 reach it.
#[test]
fn a_sum_of_eight_and_a_half_decides_without_a_draw() {
    let mut law = law(MAX_PROB / 100, 300_000, 0);
    law.vars.burst = 0;
    law.vars.accu_prob = MAX_PROB / 2 * 17 - MAX_PROB / 100;
    let mut random = Stream::new(1, "pie");
    let before = random.clone().uniform_u64();
    assert!(law.acts(1500, 3000, &mut random));
    assert_eq!(random.uniform_u64(), before);
    // The sum stays until a packet is dropped: the kernel resets it only there.
    assert_eq!(law.vars.accu_prob, MAX_PROB / 2 * 17);
    law.on_drop();
    assert_eq!(law.vars.accu_prob, 0);
}

/// A packet of 150 B adds 150 * (p / 1500), where the division truncates.
#[test]
fn bytemode_scales_with_the_size() {
    let mut law = law(MAX_PROB / 2, 300_000, 0);
    law.bytemode = true;
    law.vars.burst = 0;
    assert!(!acts(&mut law, 150, 3000));
    assert_eq!(law.vars.accu_prob, 150 * (MAX_PROB / 2 / 1500));
    // Packets above the mtu count as one.
    assert!(!acts(&mut law, 1501, 3000));
    assert_eq!(law.vars.accu_prob, 150 * (MAX_PROB / 2 / 1500) + MAX_PROB / 2);
}

/// A packet that waited for 20 ms and leaves others behind measures 312,500 ticks, the last one 0. The allowance of
/// 2,343,750 ticks shrinks by the time between departures, from the second departure on.
#[test]
fn timestamps_measure_the_delay_and_use_up_the_burst() {
    let mut law = Control::new(&CONFIG);
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let packet = |millis| Packet { enqueued: at(millis), ..Packet::empty(FlowId(0), 1500) };
    for (arrived, behind, now, expected) in [
        (10, 1500, 30, (312_500, 2_343_750)),
        (20, 1500, 50, (468_750, 2_031_250)),
        (20, 0, 50, (0, 2_031_250)),
        (20, 0, 500, (0, 0)),
    ] {
        law.on_departure(&packet(arrived), behind, at(now));
        assert_eq!((law.vars.qdelay, law.vars.burst), expected, "at {now} ms");
    }
}

/// At 40 Mbit/s the estimate is 89 after 30 packets (it converges to 82), with which 100,000 B take 287,640 ticks. The
/// delay before was 0.
#[test]
fn the_estimated_rate_turns_a_backlog_into_a_delay() {
    let mut law = Control::new(&PieConfig { dq_rate_estimator: true, ..CONFIG });
    // Before the first measurement the delay is 0, which does not restart anything.
    law.vars.burst = 7;
    law.update(100_000);
    assert_eq!((law.vars.qdelay, law.vars.burst), (0, 7));
    for n in 0..30u64 {
        let now = Time::ZERO + Span::from_micros(300 * n);
        law.on_departure(&Packet::empty(FlowId(0), 1500), 100_000, now);
    }
    let Measured::Rate(rate) = law.vars.measured else { panic!("asked for") };
    assert_eq!(rate.ticks_for(89), 256);
    law.update(100_000);
    // 25,600,000 / 89 = 287,640: 281,474 * 53,265 + 2,814,749 * 287,640.
    assert_eq!((law.vars.qdelay, law.vars.qdelay_old), (287_640, 0));
    assert_eq!(law.probability(), 281_474 * 53_265 + 2_814_749 * 287_640);
    // A delay of 0 after a measurement allows a new burst, and the measurement begins anew.
    law.vars = Vars { prob: 0, qdelay: 0, burst: 7, ..law.vars };
    law.update(0);
    let Measured::Rate(rate) = law.vars.measured else { panic!("asked for") };
    assert_eq!((law.vars.burst, rate), (2_343_750, DepartureRate::new(RATE_THRESHOLD)));
}
