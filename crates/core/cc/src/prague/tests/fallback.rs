use super::super::fallback::{Fallback, gain};
use super::{Flow, PRAGUE_0_6, PRAGUE_0_7, PRAGUE_0_7_EARLY, PRAGUE_2020};
use crate::{FallbackConstants, PragueConfig};
use shoal_units::Span;

/// An indicator that has seen RTTs of `least_us` up to `rtt_us`, smoothed, with deviations of `us`.
fn seen(least_us: u64, rtt_us: u64, us: u64) -> Fallback {
    let mut fallback = Fallback::default();
    fallback.on_rtt(1, Span::from_micros(least_us));
    for _ in 0..200 {
        fallback.on_rtt(1, Span::from_micros(rtt_us));
    }
    // The deviation goes half of the way to a deviation of the same sign with each pair of samples.
    for sample in 0..4000 {
        let swing = if sample % 2 == 0 { rtt_us + us } else { rtt_us - us };
        fallback.on_rtt(6, Span::from_micros(swing));
    }
    fallback
}

/// 0.5 lg(10 ms / 750 us) = 1.87 and 0.5 lg(50 ms / 2 ms) = 2.32: 4.19 a round, so two rounds are enough for 8.
#[test]
fn a_deep_queue_that_varies_looks_classic_after_two_rounds() {
    for config in [PRAGUE_2020, PRAGUE_0_7] {
        let mut fallback = seen(20_000, 70_000, 10_000);
        fallback.end_round(&config);
        assert!((fallback.indicator(&config) - 4.19).abs() < 0.05, "{}", fallback.indicator(&config));
        assert_eq!(fallback.least_alpha(&config), 0);
        fallback.end_round(&config);
        let (indicator, alpha) = (fallback.indicator(&config), fallback.least_alpha(&config));
        assert!((indicator - 8.38).abs() < 0.1, "{indicator}");
        let alpha = f64::from(alpha) / f64::from(1u32 << config.alpha_bits);
        assert!((alpha - 0.625 * (indicator - 8.0)).abs() < 1e-4, "{alpha}");
        // From 9 on it is 0.625, and the indicator ends at 17.
        for _ in 0..10 {
            fallback.end_round(&config);
        }
        assert_eq!(fallback.indicator(&config), 17.0);
        assert_eq!(fallback.least_alpha(&config), (1 << config.alpha_bits) / 8 * 5);
    }
}

#[test]
fn a_queue_of_50_us_looks_like_l4s_with_the_right_constants_and_classic_with_the_wrong_ones() {
    let right = PragueConfig { fallback_constants: FallbackConstants::Scaled, ..PRAGUE_0_7_EARLY };
    let (mut l4s, mut classic) = (seen(20_000, 20_050, 25), seen(20_000, 20_050, 25));
    for _ in 0..4 {
        l4s.end_round(&right);
        classic.end_round(&PRAGUE_0_7_EARLY);
    }
    assert_eq!(l4s.indicator(&right), 0.0);
    // 0.5 lg(25 / 1.5) + 0.5 lg(50 / 1.6) = 2.0 + 2.5 a round.
    assert!((classic.indicator(&PRAGUE_0_7_EARLY) - 17.0).abs() < 2.0);
    assert!(classic.least_alpha(&PRAGUE_0_7_EARLY) > 0);
}

/// After one RTT the mean deviation is half of it: 10 ms, so 1.87. That there is no queue is no evidence against that.
#[test]
fn a_shallow_queue_takes_nothing_from_the_indicator() {
    let mut fallback = Fallback::default();
    fallback.end_round(&PRAGUE_0_7);
    assert_eq!(fallback.indicator(&PRAGUE_0_7), 0.0, "no sample");
    fallback.on_rtt(1, Span::from_millis(20));
    fallback.end_round(&PRAGUE_0_7);
    assert!((fallback.indicator(&PRAGUE_0_7) - 1.868).abs() < 1e-3, "{}", fallback.indicator(&PRAGUE_0_7));
}

/// With 20 bits the constants of 20 bits are the right ones.
#[test]
fn constants_of_20_bits_fit_an_alpha_of_20_bits() {
    let by_name = PragueConfig { fallback_constants: FallbackConstants::Of20Bits, ..PRAGUE_0_6 };
    let (mut scaled, mut named) = (seen(20_000, 70_000, 10_000), seen(20_000, 70_000, 10_000));
    scaled.end_round(&PRAGUE_0_6);
    named.end_round(&by_name);
    assert_eq!(scaled.indicator(&PRAGUE_0_6), named.indicator(&by_name));
}

#[test]
fn the_gains_slow_down_with_the_threshold() {
    let thresholds = [1, 2, 4, 100, 1000, 4096, crate::INFINITE_SSTHRESH];
    assert_eq!(thresholds.map(gain), [1, 2, 4, 10, 14, 18, 18]);
}

/// The averages have units of 2^-8 us: with a gain of 2^-18 a deviation of less than half a millisecond moves nothing.
#[test]
fn the_slowest_average_of_the_rtt_does_not_see_less_than_half_a_millisecond() {
    for (rtt_us, moves) in [(20_400, false), (21_000, true)] {
        let mut fallback = Fallback::default();
        fallback.on_rtt(18, Span::from_millis(20));
        let before = std::format!("{fallback:?}");
        fallback.on_rtt(18, Span::from_micros(rtt_us));
        let srtt = |text: &str| std::string::String::from(text.split(',').next().unwrap());
        assert_eq!(srtt(&std::format!("{fallback:?}")) != srtt(&before), moves, "{rtt_us}");
    }
}

/// A classic queue of 50 ms that varies by 10 ms: with the fallback a cut takes up to 0.625/2 of the window.
#[test]
fn the_fallback_makes_cuts_larger_only_if_switched_on() {
    for (classic_fallback, part) in [(false, 0.0), (true, 0.3125)] {
        let config = PragueConfig { classic_fallback, ..PRAGUE_0_7 };
        let mut flow = Flow::prague(config, 10, 20);
        flow.enter_cwr();
        flow.window.cwnd = 1000;
        flow.cc.level.value = 0;
        flow.cc.level.is_rate = false;
        flow.cc.estimator.set_to_zero();
        flow.process(1, 0);
        for round in 0..200 {
            flow.stream.rtt = Span::from_millis(if round % 2 == 0 { 60 } else { 80 });
            flow.stream.now += flow.stream.rtt;
            flow.stream.snd_nxt = flow.stream.snd_una + 1448;
            flow.process(1, 0);
        }
        flow.stream.now += Span::from_millis(30);
        let before = flow.exact();
        flow.ecn();
        let cut = (before - flow.exact()) / before;
        assert!((cut - part).abs() < 0.01, "{cut}");
        assert!(flow.alpha() < 0.01);
    }
}
