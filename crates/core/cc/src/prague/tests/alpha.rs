use super::{Flow, PRAGUE_0_6, PRAGUE_0_7, PRAGUE_2020, VERSIONS, at_once};
use crate::{CongestionControl, PragueConfig};

#[test]
fn the_first_value_is_one_up_to_0_6_and_zero_in_0_7() {
    assert_eq!(VERSIONS.map(|version| Flow::prague(version, 10, 10).alpha()), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn alpha_waits_for_the_first_mark() {
    let mut flow = Flow::prague(PRAGUE_2020, 10, 10);
    for _ in 0..50 {
        flow.round(0, 10);
    }
    assert_eq!(flow.alpha(), 1.0);
    // The mark is in the round that the last ACK began, of which one ACK more ends it.
    flow.round(1, 11);
    flow.round(0, 11);
    assert!(flow.alpha() < 1.0 - 0.9 / 16.0, "{}", flow.alpha());
}

/// From one, each round without marks leaves 15/16, to within the 2^-20 of alpha, whatever the number of rounds.
/// Divisions that truncate would stop at 15/2^20, and without the remainder the sum of many small steps would be
/// another.
#[test]
fn nothing_of_the_average_is_lost_to_rounding() {
    for bits in [20, 24] {
        let config = PragueConfig { alpha_bits: bits, ..PRAGUE_2020 };
        let mut flow = Flow::prague(config, 10, 10);
        flow.process(1, 1);
        assert_eq!(flow.alpha(), 1.0);
        for rounds in 1..200 {
            let flight = flow.stream.flight();
            flow.process(flight, 0);
            let expected = libm::pow(15.0 / 16.0, f64::from(rounds));
            let unit = 1.0 / f64::from(1u32 << bits);
            assert!((flow.alpha() - expected).abs() <= 2.0 * unit, "{rounds}: {} {expected}", flow.alpha());
        }
    }
    // Half of the packets marked, for long: alpha is a half, to the last bit but one.
    let mut flow = Flow::prague(PRAGUE_2020, 10, 10);
    for _ in 0..1000 {
        flow.process(2, 1);
        flow.stream.snd_nxt = flow.stream.snd_una;
    }
    assert!((flow.alpha() - 0.5).abs() <= 2.0 / f64::from(1 << 20), "{}", flow.alpha());
}

#[test]
fn without_remainders_alpha_stays_where_its_sixteenth_truncates_to_nothing() {
    let config = PragueConfig { keeps_remainder: false, ..PRAGUE_2020 };
    let mut flow = Flow::prague(config, 10, 10);
    flow.process(2, 1);
    for _ in 0..1000 {
        flow.process(1, 0);
        flow.stream.snd_nxt = flow.stream.snd_una;
    }
    assert_eq!(flow.alpha(), 15.0 / f64::from(1 << 20));
}

/// With an RTT of 1 ms, 0.5 updates alpha in each, and 0.6 on, once independent of it, after 25 ms.
#[test]
fn alpha_waits_for_25_ms_once_independent_of_the_rtt() {
    let in_100_rounds = |config| {
        let mut flow = Flow::prague(config, 10, 1);
        flow.process(1, 1);
        let mut updates = 0;
        for _ in 0..100 {
            let before = flow.alpha();
            flow.round(0, 10);
            updates += u32::from(flow.alpha() != before);
        }
        updates
    };
    // As the window grows by a packet a round, rounds of ten packets are not quite as many.
    assert!((80..=100).contains(&in_100_rounds(PRAGUE_2020)), "{}", in_100_rounds(PRAGUE_2020));
    assert_eq!(in_100_rounds(at_once(PRAGUE_0_6)), 4);
    let per_rtt = PragueConfig { alpha_waits_for_target: false, ..at_once(PRAGUE_0_6) };
    assert!(in_100_rounds(per_rtt) > 80);
}

/// In slow start the law depends on the RTT, however many rounds there were.
#[test]
fn alpha_does_not_wait_in_slow_start() {
    let mut flow = Flow::prague(at_once(PRAGUE_0_6), 10, 1);
    flow.window.ssthresh = 1000;
    flow.process(1, 1);
    flow.window.ssthresh = 1000;
    let before = flow.alpha();
    let flight = flow.stream.flight();
    flow.after(1000, flight, 0);
    assert!(flow.alpha() < before);
}

/// In fast recovery and on duplicate ACKs nothing grows: alpha is updated before the next ACK counts.
#[test]
fn alpha_is_updated_where_the_window_does_not_grow() {
    let mut flow = Flow::prague(PRAGUE_2020, 10, 10);
    flow.process(1, 1);
    for rounds in 0..5 {
        assert_eq!(flow.alpha(), libm::pow(15.0 / 16.0, f64::from(rounds)));
        let flight = flow.stream.flight();
        flow.ack(flight, false);
        flow.ack(0, false);
    }
}

/// The kernel updates alpha at the end of the ACK that ends a round, so that a cut with this ACK is made with the
/// old one.
#[test]
fn a_cut_with_the_ack_that_ends_a_round_is_made_with_the_alpha_before() {
    let mut flow = Flow::prague(PRAGUE_2020, 100, 10);
    flow.process(1, 1);
    flow.cc.estimator.set_to_half(&PRAGUE_2020);
    let alpha = flow.alpha();
    let before = flow.exact();
    flow.stream.snd_una = flow.stream.snd_nxt - 1448;
    flow.enter_cwr();
    let cut = (before - flow.exact()) / before;
    assert!((cut - alpha / 2.0).abs() < 1e-3, "{cut} {alpha}");
    assert!(flow.alpha() != alpha);
}

#[test]
fn an_ack_without_delivery_does_not_count_as_a_round_without_marks() {
    let mut flow = Flow::prague(PRAGUE_0_7, 10, 10);
    flow.process(10, 5);
    flow.process(1, 1);
    let before = flow.alpha();
    assert!(before > 0.0);
    for _ in 0..5 {
        flow.stream.snd_nxt = flow.stream.snd_una;
        flow.process(0, 0);
    }
    assert_eq!(flow.alpha(), before);
    assert!(flow.cc.alpha().is_some());
}
