use super::{Flow, PRAGUE_0_6, PRAGUE_0_7, PRAGUE_0_7_EARLY, PRAGUE_2020, VERSIONS, at_once};
use crate::{CongestionControl, IncreaseUnit, PragueConfig};
use shoal_units::Span;

/// 1/cwnd for each packet: a window of `w` packets gains one with `w` ACKs. Each of them is rounded to 2^-20; what
/// becomes a step is not lost. 200 windows from 10 packets up: the window after n packets is the w with 10 + ... +
/// (w - 1) = n.
#[test]
fn fractions_are_carried_from_step_to_step() {
    for config in [PRAGUE_2020, PRAGUE_0_6] {
        let mut flow = Flow::prague(config, 10, 30);
        let mut packets = 0u32;
        for window in 10..210 {
            // Rounded up, the window of a packet more is the divisor as soon as there is a fraction.
            let divisor = if config == PRAGUE_0_6 { window + 1 } else { window };
            for _ in 0..divisor {
                flow.process(1, 0);
                packets += 1;
            }
            let exact = flow.exact();
            assert!((exact - f64::from(window + 1)).abs() < 0.01, "{packets} packets: {exact}");
        }
    }
}

/// The sum of what was added and of what was cut is the window, however many steps there were in between.
#[test]
fn the_long_run_sum_is_exact() {
    for config in [PRAGUE_2020, PRAGUE_0_6] {
        let mut flow = Flow::prague(config, 10, 30);
        let mut sum = 10i64 << 20;
        for packet in 0..100_000u32 {
            let cwnd = i64::from(flow.window.cwnd);
            let marked = packet % 40 == 0;
            flow.process(1, u32::from(marked));
            if !marked {
                sum += ((1 << 20) + cwnd / 2) / cwnd;
            }
            if packet % 40 == 20 {
                // What a cut takes of the exact window.
                let before = flow.cc.level.window(&config, &flow.window);
                flow.ecn();
                sum -= before - flow.cc.level.window(&config, &flow.window);
            }
            assert_eq!(flow.cc.level.window(&config, &flow.window), sum, "packet {packet}");
        }
    }
}

/// Ten of eleven packets with CE: one is added for, in CWR, too.
#[test]
fn packets_without_ce_make_the_window_grow_in_cwr() {
    for grows_in_cwr in [true, false] {
        let config = PragueConfig { grows_in_cwr, ..PRAGUE_2020 };
        let mut flow = Flow::prague(config, 100, 30);
        let mut ack = flow.stream.ack(11, true);
        (ack.marked_packets, ack.in_cwr) = (10, true);
        flow.cc.on_growth(&mut flow.window, &ack);
        assert_eq!(flow.exact(), if grows_in_cwr { 100.0 + 10_486.0 / 1_048_576.0 } else { 100.0 });
        // An ACK that reports more marks than packets adds nothing, and takes nothing away.
        (ack.acked_packets, ack.marked_packets) = (2, 5);
        let before = flow.exact();
        flow.cc.on_growth(&mut flow.window, &ack);
        assert_eq!(flow.exact(), before);
    }
}

#[test]
fn only_a_flow_that_fills_its_window_grows() {
    let mut flow = Flow::prague(PRAGUE_0_7, 100, 30);
    let mut ack = flow.stream.ack(10, false);
    ack.app_limited = true;
    flow.cc.on_growth(&mut flow.window, &ack);
    assert_eq!(flow.exact(), 100.0);
}

/// With an RTT of 5 ms the window grows by a packet in each until the law is independent of it, and then by (1/5)^2.
#[test]
fn independence_of_the_rtt_begins_after_500_or_4_rounds() {
    for (config, rounds) in [(PRAGUE_0_6, 500), (PRAGUE_0_7_EARLY, 4), (PRAGUE_0_7, 4)] {
        let mut flow = Flow::prague(config, 1000, 5);
        for round in 1..rounds + 50 {
            let window = flow.window.cwnd;
            let before = flow.exact();
            // A round is over when all that was in flight is acknowledged.
            flow.stream.now += flow.stream.rtt;
            let flight = flow.stream.flight();
            flow.process(flight, 0);
            let gained = (flow.exact() - before) * f64::from(window) / f64::from(flight);
            let expected = if round <= rounds { 1.0 } else { 0.04 };
            assert!((gained - expected).abs() < 0.01, "round {round}: {gained}");
        }
    }
    let off = PragueConfig { independent_after_rounds: 0, ..PRAGUE_2020 };
    let mut flow = Flow::prague(off, 1000, 5);
    flow.process(1000, 0);
    assert!((flow.exact() - 1001.0).abs() < 0.01, "off by default in 0.5");
}

#[test]
fn the_increase_is_that_of_the_ratio_squared_below_the_target_only() {
    for (ms, gained) in [(1, 0.0016), (10, 0.16), (25, 1.0), (50, 1.0), (200, 1.0)] {
        let mut flow = Flow::prague(at_once(PRAGUE_0_7), 1000, ms);
        flow.process(1000, 0);
        assert!((flow.exact() - 1000.0 - gained).abs() < 1e-5, "{ms} ms: {}", flow.exact());
    }
    let target = PragueConfig { rtt_target_us: 10_000, ..at_once(PRAGUE_0_7) };
    let mut flow = Flow::prague(target, 1000, 5);
    flow.process(1000, 0);
    assert!((flow.exact() - 1000.25).abs() < 1e-5);
}

/// 1500 B in a round trip are a sixth of a jumbo frame.
#[test]
fn in_0_7_the_window_gains_1500_bytes_whatever_the_packet_size() {
    for (increase_unit, gained) in [(IncreaseUnit::Bytes1500, 1.0 / 6.0), (IncreaseUnit::Packet, 1.0)] {
        let config = PragueConfig { increase_unit, ..PRAGUE_0_7 };
        let mut flow = Flow::prague(config, 1000, 30);
        let mut ack = flow.stream.ack(1000, false);
        ack.mss = 9000 - 52;
        flow.cc.on_growth(&mut flow.window, &ack);
        assert!((flow.exact() - 1000.0 - gained).abs() < 1e-5, "{}", flow.exact());
    }
}

/// (10 us / 25 ms)^2 of a packet is 2^-22.6: with windows of whole packets nothing is added, unless many packets are
/// acknowledged at once.
#[test]
fn at_tiny_round_trips_20_bits_cannot_hold_an_increase() {
    let mut flow = Flow::prague(at_once(PRAGUE_0_6), 10, 1);
    flow.stream.rtt = Span::from_micros(10);
    for _ in 0..1000 {
        flow.process(1, 0);
    }
    assert_eq!(flow.exact(), 10.0);
}

#[test]
fn slow_start_is_standard_and_counts_packets_without_ce() {
    for config in VERSIONS {
        let mut flow = Flow::prague(config, 10, 30);
        flow.window.ssthresh = 25;
        flow.process(10, 0);
        assert_eq!(flow.window.cwnd, 20);
        flow.process(6, 2);
        assert_eq!(flow.window.cwnd, 24);
        // One packet up to the threshold, and 25 of 25 beyond it.
        flow.process(26, 0);
        assert_eq!(flow.exact(), 26.0);
        // The round of slow start does not make the law independent of the RTT.
        assert!(!flow.cc.is_independent(&flow.window));
    }
}

#[test]
fn the_window_stays_below_its_clamp() {
    for config in VERSIONS {
        let mut flow = Flow::prague(config, 10, 30);
        flow.window.clamp = 12;
        for _ in 0..100 {
            flow.process(10, 0);
        }
        assert_eq!(flow.window.cwnd, 12);
        assert!((12.0..=13.0).contains(&flow.exact()), "nothing piles up: {}", flow.exact());
    }
}
