//! The law alone: a stream whose one-way delay the test sets.

use super::presets::LEDBAT;
use super::{Ledbat, LedbatConfig};
use crate::tests::drive::{FREEBSD, Flow, LINUX_6, MSS};
use crate::{AckSample, CongestionControl, Reduction, Window};
use shoal_units::Span;
use std::vec::Vec;

/// Delay of the empty path.
const BASE_US: u32 = 20_000;

/// LEDBAT with a clock of 1 us and the latest sample alone as the current delay.
const PLAIN: LedbatConfig = LedbatConfig { clock_us: 1, current_filter: 1, ..LEDBAT };

/// A flow with `cwnd` packets that has seen the empty path once.
fn flow(config: LedbatConfig, cwnd: u32) -> Flow<Ledbat> {
    let mut flow = Flow::in_avoidance(Ledbat::new(config, LINUX_6), cwnd, Span::from_millis(40));
    flow.stream.one_way_us = BASE_US;
    flow.ack(1, false);
    flow.window = Window { ssthresh: cwnd, ..Window::in_packets(cwnd) };
    flow
}

/// An ACK for `packets` with this queueing delay.
fn step(flow: &mut Flow<Ledbat>, packets: u32, queueing_us: u32) {
    flow.stream.one_way_us = BASE_US + queueing_us;
    let sample = flow.stream.ack(packets, false);
    flow.cc.on_ack(&mut flow.window, &sample);
    flow.cc.on_growth(&mut flow.window, &sample);
}

/// The window with its fraction, in packets.
fn exact(flow: &Flow<Ledbat>) -> f64 {
    f64::from(flow.window.cwnd) + f64::from(flow.cc.fraction) / f64::from(1 << super::FRACTION_BITS)
}

/// RFC 6817 section 2.4.2 (<https://www.rfc-editor.org/rfc/rfc6817#section-2.4.2>): an ACK for one packet changes the
/// window by GAIN (1 - d / TARGET) / W, so that W^2 changes by twice the numerator, less what the square of a step
/// amounts to: W_n^2 = W_0^2 + 2 n GAIN (1 - d / TARGET).
#[test]
fn at_a_constant_delay_the_square_of_the_window_changes_linearly() {
    for (gain_percent, queueing_us) in [(100, 0), (100, 50_000), (50, 25_000), (100, 150_000), (100, 300_000)]
    {
        let mut flow = flow(LedbatConfig { gain_percent, ..PLAIN }, 50);
        for _ in 0..400 {
            step(&mut flow, 1, queueing_us);
        }
        let gain = f64::from(gain_percent) / 100.0;
        let off_target = 1.0 - f64::from(queueing_us) / 100_000.0;
        let law = (50.0 * 50.0 + 2.0 * 400.0 * gain * off_target).sqrt();
        // The steps are exact to 2^-20 each, and the squares of steps of 1/50 sum up to 400 / 2500 = 0.16 at most.
        assert!((exact(&flow) - law).abs() < 0.02, "{} {law}", exact(&flow));
    }
}

#[test]
fn at_the_target_the_window_stays() {
    let mut flow = flow(PLAIN, 50);
    for _ in 0..1000 {
        step(&mut flow, 2, 100_000);
    }
    assert_eq!(exact(&flow), 50.0);
}

/// With the whole window in a queue behind a link of C packets a second and a base delay b, the delay is W / C - b.
/// Then the distance e from the target obeys de/dt = -GAIN e / (TARGET W): it falls by e in TARGET W / GAIN.
#[test]
fn behind_a_link_the_delay_approaches_the_target_exponentially() {
    const PACKETS_PER_S: f64 = 5000.0;
    let base_s = 0.5;
    let mut flow = flow(PLAIN, 2500);
    flow.stream.snd_nxt = u64::from(MSS) * 4000;
    let queueing_s = |flow: &Flow<Ledbat>| (exact(flow) / PACKETS_PER_S - base_s).max(0.0);
    let distance = |flow: &Flow<Ledbat>| 0.1 - queueing_s(flow);
    let before = distance(&flow);
    assert!((before - 0.1).abs() < 1e-6, "the queue is empty");
    // W goes from 2500 to 2500 + 500 (1 - 1/e) = 2816; with its mean, 2684 by the integral of 1 / W, this takes
    // 0.1 * 2684 s = 268.4 s, which are 1,342,000 packets.
    for _ in 0..1_342_000 {
        let queueing_us = (queueing_s(&flow) * 1e6) as u32;
        step(&mut flow, 1, queueing_us);
    }
    let fallen = distance(&flow) / before;
    assert!((fallen - (1.0 / std::f64::consts::E)).abs() < 0.01, "{fallen}");
}

/// With a window in bytes (FreeBSD) the steps are the same in bytes: 1448 * 1448 / 14480 = 144.8 B for each packet.
#[test]
fn windows_in_bytes_grow_by_as_many_packets() {
    let mut bytes = Flow::in_avoidance(Ledbat::new(PLAIN, FREEBSD), 10, Span::from_millis(40));
    bytes.window = Window::in_bytes(10, MSS);
    let mut packets = flow(PLAIN, 10);
    for _ in 0..25 {
        let sample = bytes.stream.ack(1, false);
        bytes.cc.on_ack(&mut bytes.window, &sample);
        bytes.cc.on_growth(&mut bytes.window, &sample);
        step(&mut packets, 1, 0);
    }
    let in_packets = f64::from(bytes.window.cwnd) / f64::from(MSS);
    assert!((in_packets - exact(&packets)).abs() < 0.001, "{in_packets} {}", exact(&packets));
    assert_eq!(packets.window.cwnd, 12, "sqrt(100 + 50) = 12.2");
}

/// The base is the lowest of ten minutes: when the path has become longer, the first minute is forgotten with the first
/// sample of the eleventh.
#[test]
fn a_longer_path_is_believed_after_ten_minutes() {
    let mut flow = flow(PLAIN, 50);
    let begin = flow.stream.now;
    let mut seen = Vec::new();
    for minute in 0..12 {
        flow.stream.now = begin + Span::from_secs(60 * minute + 1);
        step(&mut flow, 1, 30_000);
        seen.push(flow.cc.delays.queueing_us(&PLAIN).unwrap());
    }
    assert_eq!(seen, [[30_000; 10].as_slice(), &[0, 0]].concat());
    // A shorter path is believed at once.
    step(&mut flow, 1, 10_000);
    step(&mut flow, 1, 12_000);
    assert_eq!(flow.cc.delays.queueing_us(&PLAIN), Some(2_000));
}

#[test]
fn the_history_is_as_long_as_configured() {
    let config = LedbatConfig { base_history_minutes: 2, ..PLAIN };
    let mut flow = flow(config, 50);
    let begin = flow.stream.now;
    for (minute, queueing_us) in [(1, 30_000), (2, 0)] {
        flow.stream.now = begin + Span::from_secs(60 * minute);
        step(&mut flow, 1, 30_000);
        assert_eq!(flow.cc.delays.queueing_us(&config), Some(queueing_us), "minute {minute}");
    }
}

#[test]
fn the_current_delay_is_the_lowest_of_the_latest_samples() {
    let config = LedbatConfig { current_filter: 4, ..PLAIN };
    let mut flow = flow(config, 50);
    let mut seen = Vec::new();
    for queueing_us in [7_000, 9_000, 5_000, 8_000, 9_000, 9_000, 9_000] {
        step(&mut flow, 1, queueing_us);
        seen.push(flow.cc.delays.queueing_us(&config).unwrap());
    }
    // The first sample, of the empty path, is the fourth oldest until the fourth of these.
    assert_eq!(seen, [0, 0, 0, 5_000, 5_000, 5_000, 8_000]);
}

#[test]
fn an_offset_of_the_clocks_changes_nothing() {
    let run = |offset_us: u32| {
        let mut flow = flow(PLAIN, 50);
        flow.cc = Ledbat::new(PLAIN, LINUX_6);
        for n in 0..200 {
            flow.stream.one_way_us = offset_us + BASE_US + n * 1000;
            let sample = flow.stream.ack(1, false);
            flow.cc.on_ack(&mut flow.window, &sample);
            flow.cc.on_growth(&mut flow.window, &sample);
        }
        exact(&flow)
    };
    assert_eq!(run(0), run(3_000_000_000));
}

/// At most a tick is missing of a difference of two delays that are whole ticks.
#[test]
fn a_coarse_clock_moves_the_queue_by_at_most_a_tick() {
    let config = LedbatConfig { clock_us: 1000, ..PLAIN };
    for queueing_us in (0..20_000).step_by(137) {
        let mut flow = flow(config, 50);
        step(&mut flow, 1, queueing_us);
        let seen = flow.cc.delays.queueing_us(&config).unwrap();
        assert!(seen.is_multiple_of(1000) && seen.abs_diff(queueing_us) < 1000, "{queueing_us}: {seen}");
    }
}

#[test]
fn an_ack_of_several_packets_gives_one_sample() {
    let config = LedbatConfig { current_filter: 4, ..PLAIN };
    let mut flow = flow(config, 50);
    for _ in 0..3 {
        step(&mut flow, 10, 9_000);
    }
    // Three samples of thirty packets, and the first one of the empty path, which would be gone with thirty.
    assert_eq!(flow.cc.delays.queueing_us(&config), Some(0));
    step(&mut flow, 10, 9_000);
    assert_eq!(flow.cc.delays.queueing_us(&config), Some(9_000));
}

#[test]
fn duplicates_give_no_sample() {
    let mut flow = flow(PLAIN, 50);
    flow.stream.one_way_us = BASE_US + 90_000;
    flow.ack(0, false);
    assert_eq!(flow.cc.delays.queueing_us(&PLAIN), Some(0));
    let unstamped = AckSample { ts_ecr: 0, ..flow.stream.ack(1, false) };
    flow.cc.on_ack(&mut flow.window, &unstamped);
    assert_eq!(flow.cc.delays.queueing_us(&PLAIN), Some(0));
}

/// Without any sample there is no delay to go by, and the window stays.
#[test]
fn without_timestamps_the_window_stays() {
    let mut flow = Flow::in_avoidance(Ledbat::new(PLAIN, LINUX_6), 10, Span::from_millis(40));
    let unstamped = AckSample { ts_ecr: 0, ..flow.stream.ack(1, false) };
    flow.cc.on_ack(&mut flow.window, &unstamped);
    flow.cc.on_growth(&mut flow.window, &unstamped);
    assert_eq!(flow.window.cwnd, 10);
}

#[test]
fn samples_in_recovery_leave_the_window_to_the_endpoint() {
    let mut flow = flow(PLAIN, 50);
    flow.lose();
    flow.window.cwnd = 40; // The endpoint is on the way from 50 to 25.
    flow.stream.one_way_us = BASE_US + 500_000;
    flow.ack(1, false);
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (40, 25));
    assert_eq!(flow.cc.delays.queueing_us(&PLAIN), Some(500_000));
}

#[test]
fn a_loss_and_a_mark_halve_the_window_down_to_the_smallest() {
    for (cwnd, left) in [(50, 25), (51, 25), (5, 2), (3, 2), (2, 2)] {
        let mut lost = flow(PLAIN, cwnd);
        lost.lose();
        assert_eq!(lost.window.ssthresh, left);
        assert_eq!(lost.cc.undo_cwnd(&lost.window), cwnd);
        let mut marked = flow(PLAIN, cwnd);
        let reduction = marked.cc.on_ecn(&mut marked.window, &marked.stream.signal());
        assert_eq!((reduction, marked.window.ssthresh), (Reduction::Spread, left));
    }
    let mut larger = flow(LedbatConfig { min_cwnd: 8, ..PLAIN }, 10);
    larger.lose();
    assert_eq!(larger.window.ssthresh, 8);
}

/// Delays far above the target take the window down to MIN_CWND, and no further.
#[test]
fn the_window_does_not_fall_below_the_smallest() {
    let mut flow = flow(LedbatConfig { min_cwnd: 4, ..PLAIN }, 50);
    for _ in 0..200 {
        step(&mut flow, 1, 2_000_000);
    }
    assert_eq!(exact(&flow), 4.0);
}

#[test]
fn after_a_timeout_the_window_grows_from_the_smallest_on() {
    let mut flow = flow(PLAIN, 50);
    flow.time_out(false);
    assert_eq!(flow.window.ssthresh, 25);
    flow.window.cwnd = 1;
    // In slow start the first three ACKs would bring 2, 3, 4. The first brings MIN_CWND and each of the next 1 / W.
    step(&mut flow, 1, 0);
    assert_eq!(exact(&flow), 2.0);
    step(&mut flow, 1, 0);
    step(&mut flow, 1, 0);
    assert!((exact(&flow) - (2.0 + 0.5 + 0.4)).abs() < 1e-5, "{}", exact(&flow));
    // A timeout in an episode that has cut already leaves the threshold.
    let ssthresh = flow.window.ssthresh;
    flow.time_out(true);
    assert_eq!(flow.window.ssthresh, ssthresh);
}

#[test]
fn the_window_exceeds_an_unused_one_by_the_allowed_increase() {
    for allowed_increase in [1, 3] {
        let mut flow = flow(LedbatConfig { allowed_increase, ..PLAIN }, 50);
        let sample = AckSample { app_limited: true, in_flight_before: 12, ..flow.stream.ack(1, false) };
        flow.cc.on_ack(&mut flow.window, &sample);
        flow.cc.on_growth(&mut flow.window, &sample);
        assert_eq!(flow.window.cwnd, 12 + u32::from(allowed_increase));
    }
    // A gain of ten in a window of two would bring ten packets: one is allowed.
    let mut flow = flow(LedbatConfig { gain_percent: 1000, ..PLAIN }, 2);
    step(&mut flow, 2, 0);
    assert_eq!(exact(&flow), 3.0);
}

#[test]
fn the_clamp_bounds_the_window() {
    let mut flow = flow(PLAIN, 50);
    flow.window.clamp = 50;
    step(&mut flow, 50, 0);
    assert_eq!(exact(&flow), 50.0);
}
