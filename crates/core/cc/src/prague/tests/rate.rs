use super::{Flow, PRAGUE_0_6, PRAGUE_0_7, PRAGUE_0_7_EARLY, at_once};
use crate::{CongestionControl, PragueConfig};
use shoal_units::Span;

/// A flow with 4 packets in an RTT of `ms` that has seen CE, with as much alpha as is asked for.
fn slow(config: PragueConfig, ms: u64) -> Flow {
    let mut flow = Flow::prague(at_once(config), 8, ms);
    flow.enter_cwr();
    for _ in 0..4 {
        flow.process(1, 1);
    }
    flow
}

fn pace(flow: &Flow) -> u64 {
    flow.cc.pacing(&flow.window, flow.stream.rtt, 2, 1448).unwrap().bytes_per_s
}

#[test]
fn with_up_to_four_packets_the_state_is_a_rate_once_ce_was_seen() {
    for (config, is_rate) in [(PRAGUE_0_7, true), (PRAGUE_0_7_EARLY, true), (PRAGUE_0_6, false)] {
        let flow = slow(config, 10);
        assert_eq!(flow.window.cwnd, if is_rate { 5 } else { 4 }, "as much as the faster half needs");
        assert_eq!(flow.cc.level.is_rate, is_rate);
    }
    // 4 x 1500 B / 10 ms.
    assert_eq!(slow(PRAGUE_0_7, 10).cc.level.rate(), Some(600_000));
    // 2 x 1500 B / 500 ms would be 48 kbit/s.
    let mut flow = Flow::prague(PRAGUE_0_7, 2, 500);
    flow.enter_cwr();
    assert_eq!(flow.cc.level.rate(), Some(12_500));
    // No CE, no rate; and no rate with five packets.
    let mut flow = Flow::prague(PRAGUE_0_7, 2, 10);
    flow.process(1, 0);
    assert!(!flow.cc.level.is_rate);
    let mut flow = Flow::prague(PRAGUE_0_7, 10, 10);
    flow.enter_cwr();
    for _ in 0..20 {
        flow.process(1, 1);
    }
    assert_eq!((flow.window.cwnd, flow.cc.level.is_rate), (5, false));
}

/// 3 % up in the first half of 25 ms, and down in the second.
#[test]
fn the_pace_swings_by_4_in_128_between_the_halves_of_a_virtual_round_trip() {
    let mut flow = slow(PRAGUE_0_7, 10);
    flow.stream.now += Span::from_millis(25);
    flow.process(4, 4);
    flow.process(1, 1);
    let rate = flow.cc.level.rate().unwrap();
    assert_eq!(pace(&flow), rate / 128 * 132 + rate % 128 * 132 / 128);
    flow.after(12_499, 1, 1);
    assert!(pace(&flow) > rate);
    flow.after(1, 1, 1);
    assert_eq!(flow.cc.level.rate(), Some(rate), "nothing but CE");
    assert!(pace(&flow).abs_diff(rate - rate * 4 / 128) <= 1, "{} {rate}", pace(&flow));
}

/// In 25 ms, 7500 B are acknowledged, five packets. Each adds (1500 B / 25 ms)^2 / rate, 12,000 B/s: 60,000 B/s in all,
/// which are 1500 B / 25 ms.
#[test]
fn a_virtual_round_trip_adds_1500_bytes_to_the_rate() {
    let mut flow = slow(PRAGUE_0_7, 10);
    flow.cc.level.value = 300_000 << 10;
    flow.process(5, 0);
    assert_eq!(flow.cc.level.rate(), Some(360_000));
}

#[test]
fn a_cut_takes_half_of_alpha_of_the_rate() {
    let mut flow = slow(PRAGUE_0_7, 10);
    flow.cc.estimator.set_to_half(&PRAGUE_0_7);
    flow.stream.now += Span::from_millis(25);
    flow.ecn();
    assert_eq!(flow.cc.level.rate(), Some(450_000));
}

/// 200 kbit/s: 625 B in 25 ms, so packets of 312 B; at 100 kbit/s 156 B; at 50 kbit/s 150 B.
#[test]
fn two_packets_fit_into_a_virtual_round_trip() {
    for (kbps, bytes) in [(50, 150), (100, 156), (200, 312), (800, 1250), (2000, 1500)] {
        let mut flow = slow(PRAGUE_0_7, 10);
        flow.cc.level.value = (kbps * 125) << 10;
        flow.after(25_000, 4, 4);
        flow.process(1, 1);
        assert_eq!(flow.cc.packet_bytes(), Some(bytes), "{kbps} kbit/s");
    }
    // With an RTT of 100 ms: half of that.
    let mut flow = slow(PRAGUE_0_7, 100);
    flow.cc.level.value = (200 * 125) << 10;
    flow.after(100_000, 4, 4);
    flow.process(1, 1);
    assert_eq!(flow.cc.packet_bytes(), Some(1250));
    let fixed = PragueConfig { sizes_packets: false, ..PRAGUE_0_7 };
    let mut flow = slow(fixed, 10);
    flow.cc.level.value = (100 * 125) << 10;
    flow.after(25_000, 4, 4);
    flow.process(1, 1);
    assert_eq!(flow.cc.packet_bytes(), None);
}

/// Small packets count as what they are, and the increase does not depend on their size in 0.7: 200 kbit/s are 625 B in
/// 25 ms, or two packets of 312 B, which are worth 1500 B together. In the early 0.7 they are worth 312 B.
#[test]
fn small_packets_add_as_much_as_large_ones_in_0_7() {
    for (config, gained) in [(PRAGUE_0_7, 60_000), (PRAGUE_0_7_EARLY, 12_480)] {
        let mut flow = slow(config, 10);
        flow.cc.level.value = (200 * 125) << 10;
        flow.after(25_000, 4, 4);
        flow.process(1, 1);
        let before = flow.cc.level.rate().unwrap();
        // Both at once, so that the first does not count in the second.
        flow.process(2, 0);
        let got = flow.cc.level.rate().unwrap() - before;
        assert!(got.abs_diff(gained) < gained / 100, "{got}");
    }
}

#[test]
fn the_rate_stays_at_100_kbps_or_more() {
    let mut flow = slow(PRAGUE_0_7, 10);
    flow.cc.estimator.set_to_half(&PRAGUE_0_7);
    for _ in 0..50 {
        flow.stream.now += Span::from_millis(25);
        flow.ecn();
    }
    assert_eq!(flow.cc.level.rate(), Some(12_500));
    for _ in 0..10 {
        flow.process(1, 1);
    }
    assert_eq!(flow.window.cwnd, 2, "less is up to the pace");
    // 0.97 of it in the second half of a round.
    assert!(pace(&flow).abs_diff(12_500) <= 391);
}

/// The rate goes over into a window and back without a jump.
#[test]
fn a_rate_above_four_packets_is_a_window_again() {
    let mut flow = slow(PRAGUE_0_7, 10);
    let mut packets = 0;
    while flow.cc.level.is_rate {
        flow.process(1, 0);
        packets += 1;
    }
    assert!(packets < 10);
    assert!((4.0..4.1).contains(&flow.exact()), "{}", flow.exact());
    assert_eq!(flow.cc.packet_bytes(), None);
    // `cwnd` is what the faster half needed: it comes down to the window rounded up.
    flow.process(1, 1);
    assert_eq!(flow.window.cwnd, 5);
}

/// A rate is not used up by filling a window of two packets or more.
#[test]
fn a_rate_grows_without_a_filled_window() {
    let mut flow = slow(PRAGUE_0_7, 1);
    let before = flow.cc.level.rate();
    let mut ack = flow.stream.ack(1, false);
    ack.app_limited = true;
    flow.cc.on_ack(&mut flow.window, &ack);
    flow.cc.on_growth(&mut flow.window, &ack);
    assert!(flow.cc.level.rate() > before);
}

#[test]
fn a_loss_halves_the_rate_and_an_undo_restores_it() {
    let mut flow = slow(PRAGUE_0_7, 10);
    assert_eq!(flow.window.cwnd, 5);
    flow.lose();
    assert_eq!((flow.cc.level.rate(), flow.window.ssthresh), (Some(300_000), 2));
    flow.window.cwnd = flow.cc.undo_cwnd(&flow.window);
    flow.cc.on_exit(&mut flow.window, flow.stream.now);
    assert_eq!((flow.cc.level.rate(), flow.window.cwnd), (Some(600_000), 5));
    flow.lose();
    flow.window.cwnd = 2;
    flow.cc.on_exit(&mut flow.window, flow.stream.now);
    assert_eq!(flow.cc.level.rate(), Some(300_000));
}
