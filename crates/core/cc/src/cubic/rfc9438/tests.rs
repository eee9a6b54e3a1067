use super::*;
use crate::cubic::presets::CUBIC_RFC9438;
use crate::tests::drive::{self, FREEBSD, LINUX_3_2, LINUX_6, MSS};

const RTT: Span = Span::from_millis(100);
/// Without the Reno-friendly region.
const CUBIC_ALONE: CubicConfig = CubicConfig { reno_friendly: false, ..CUBIC_RFC9438 };
const WITH_HYSTART: CubicConfig = CubicConfig { hystart: true, ..CUBIC_RFC9438 };

type Flow = drive::Flow<Rfc9438Cubic>;

impl Flow {
    fn new(config: CubicConfig, rules: GrowthRules, cwnd: u32, rtt: Span) -> Self {
        Self::in_avoidance(Rfc9438Cubic::new(config, rules), cwnd, rtt)
    }
}

#[test]
fn the_window_follows_the_curve() {
    // W(t) = 0.4 (t - K)^3 + 1000 from 700: K = (1000 * 0.3 / 0.4)^(1/3) = 9.09 s (equation 2).
    let k_s = libm::cbrt(300.0 / 0.4);
    for (quantum, name) in [(1, "packets"), (MSS, "bytes")] {
        let mut flow = Flow::new(CUBIC_RFC9438, LINUX_6, 1000, RTT);
        flow.window = Window { cwnd: 1000 * quantum, ssthresh: 999 * quantum, quantum, ..flow.window };
        flow.cut();
        assert_eq!(flow.window.ssthresh, 700 * quantum);
        let start = flow.stream.now;
        for _ in 0..150 {
            flow.run(RTT);
            let t_s = flow.stream.now.since(start).as_secs_f64();
            let distance = t_s - k_s;
            let curve = 0.4 * distance * distance * distance + 1000.0;
            let error = flow.window.cwnd_packets() - curve;
            // Where the curve is steepest, one RTT is 10 packets.
            assert!(error.abs() < 11.0, "{name}, {t_s} s: {error}");
        }
    }
}

#[test]
fn reduces_what_is_in_flight() {
    // Section 4.6: 60 of a window of 100 in flight: floor(0.7 * 60) = 42.
    let mut flow = Flow::new(CUBIC_RFC9438, LINUX_6, 100, RTT);
    flow.stream.snd_nxt = flow.stream.snd_una + 60 * u64::from(MSS);
    flow.lose();
    assert_eq!(flow.window.ssthresh, 42);
    assert_eq!(flow.cc.w_max, 100.0, "W_max is the window");
    // With 120 packets in flight, by limited transmit, the window is reduced.
    flow.stream.snd_nxt = flow.stream.snd_una + 120 * u64::from(MSS);
    flow.lose();
    assert_eq!(flow.window.ssthresh, 70);
}

#[test]
fn fast_convergence_remembers_less() {
    // Section 4.7: 80 < 100: W_max = 80 * (1 + 0.7) / 2 = 68.
    for (fast_convergence, w_max) in [(true, 68.0), (false, 80.0)] {
        let config = CubicConfig { fast_convergence, ..CUBIC_RFC9438 };
        let mut flow = Flow::new(config, LINUX_6, 100, RTT);
        flow.cut();
        flow.window.cwnd = 80;
        flow.cut();
        assert!((flow.cc.w_max - w_max).abs() < 1e-9);
    }
}

#[test]
fn reno_friendly_region_follows_the_estimate() {
    // From 20 to 14 at 10 ms: alpha = 3 * 0.3 / 1.7 = 0.529 an RTT up to cwnd_prior = 20 (11.3 RTTs), then 1 an RTT:
    // after 100 RTTs 20 + 88.7 = 108.7. The cubic alone is below 20 for K = (6 / 0.4)^(1/3) = 2.5 s.
    let after = |reno_friendly| {
        let mut flow =
            Flow::new(CubicConfig { reno_friendly, ..CUBIC_RFC9438 }, LINUX_6, 20, Span::from_millis(10));
        flow.cut();
        flow.run(Span::from_secs(1));
        flow.window.cwnd_packets()
    };
    assert!((after(true) - 108.7).abs() < 2.0, "{}", after(true));
    assert!(after(false) < 20.0);
}

#[test]
fn an_ack_is_worth_what_the_host_counts() {
    // Far below the plateau the target is limited to 1.5 cwnd (section 4.2): 50 packets an RTT of 100 ACKs.
    let grown = |rules| {
        let mut flow = Flow::new(CUBIC_ALONE, rules, 100, RTT);
        flow.cc.w_max = 1e6;
        flow.per_ack = 2;
        flow.grow(2);
        f64::from(flow.window.cwnd) + flow.cc.remainder - 100.0
    };
    assert!((grown(LINUX_6) - 1.0).abs() < 1e-9, "2 packets of (150 - 100) / 100");
    assert!((grown(LINUX_3_2) - 0.5).abs() < 1e-9, "1 ACK of (150 - 100) / 100");
}

#[test]
fn undo_restores_the_window_only() {
    let mut flow = Flow::new(CUBIC_RFC9438, LINUX_6, 100, RTT);
    flow.run(Span::from_millis(500));
    let before = flow.window.cwnd;
    flow.cut();
    assert_eq!(flow.cc.undo_cwnd(&flow.window), before);
    assert!(flow.cc.epoch.is_none());
}

#[test]
fn idle_time_is_not_on_the_curve() {
    let mut flow = Flow::new(CUBIC_RFC9438, LINUX_6, 1000, RTT);
    flow.cut();
    flow.run(Span::from_secs(1));
    let (idle, start) = (Span::from_secs(20), flow.cc.epoch.unwrap().start);
    flow.stream.now += idle;
    flow.cc.on_idle_restart(&mut flow.window, flow.stream.now, idle);
    assert_eq!(flow.cc.epoch.unwrap().start, start + idle);
}

#[test]
fn after_a_timeout_the_curve_starts_on_its_plateau() {
    // Section 4.8.
    let mut flow = Flow::new(CUBIC_RFC9438, LINUX_6, 1000, RTT);
    flow.cut();
    flow.stream.snd_nxt = flow.stream.snd_una + 700 * u64::from(MSS);
    flow.time_out(false);
    assert_eq!(flow.window.ssthresh, 490);
    flow.window.cwnd = 491;
    flow.grow(1);
    let epoch = flow.cc.epoch.unwrap();
    assert_eq!((epoch.k_s, flow.cc.w_max), (0.0, 491.0));
}

/// A train of ACKs 1 ms apart ends slow start after half an RTT of 100 ms, from 16 packets on, once each slow start.
#[test]
fn hystart_ends_every_slow_start() {
    let slow_start = |flow: &mut Flow, cwnd: u32| {
        let quantum = flow.window.quantum;
        flow.window = Window { quantum, ..Window::in_packets(cwnd * quantum) };
        // Beyond the round that is under way: the first ACK begins another.
        flow.stream.snd_una = flow.stream.snd_nxt;
        flow.stream.snd_nxt += 1 << 30;
        for _ in 0..60 {
            flow.stream.now += Span::from_millis(1);
            flow.ack(1, false);
        }
        flow.window.ssthresh == cwnd * quantum
    };
    for quantum in [1, MSS] {
        let mut flow = Flow::new(WITH_HYSTART, LINUX_6, 20, RTT);
        flow.window.quantum = quantum;
        assert!(!slow_start(&mut flow, 15), "below 16 packets");
        assert!(slow_start(&mut flow, 16));
        assert!(!slow_start(&mut flow, 16), "once a slow start");
        flow.time_out(true);
        assert!(slow_start(&mut flow, 16), "a timeout begins another");
    }
}

/// Section 4.7: only a window that stayed below the last maximum releases bandwidth.
#[test]
fn fast_convergence_spares_a_window_that_was_reached_again() {
    let mut flow = Flow::new(CUBIC_RFC9438, LINUX_6, 1000, RTT);
    flow.cut();
    for (cwnd, w_max) in [(1000, 1000.0), (800, 800.0 * 1.7 / 2.0)] {
        flow.window.cwnd = cwnd;
        flow.cut();
        assert_eq!(flow.cc.w_max, w_max);
    }
}

/// Equation 4: W_est grows by alpha segments_acked / cwnd, so by twice as much for an ACK of two packets.
#[test]
fn the_reno_estimate_counts_every_segment() {
    let risen = |packets| {
        let mut flow = Flow::new(CUBIC_RFC9438, LINUX_6, 100, RTT);
        flow.cut();
        flow.grow(packets);
        flow.cc.epoch.unwrap().w_est - 70.0
    };
    assert!((risen(2) - 2.0 * risen(1)).abs() < 1e-12, "{} {}", risen(1), risen(2));
    assert!(risen(1) > 0.0);
}

/// The delay is compared with the smallest one so far, and an eighth of it, and not with the first one or the last.
#[test]
fn hystart_measures_from_the_smallest_delay() {
    // 130, then 100 ms in the first round; the margin is 100 / 8 = 12.5 ms.
    for (delay_ms, ends) in [(112, false), (113, true)] {
        let mut flow = Flow::new(WITH_HYSTART, LINUX_6, 20, RTT);
        flow.window = Window::in_packets(20);
        let round = |flow: &mut Flow, delays_ms: &[u64]| {
            flow.stream.snd_una = flow.stream.snd_nxt;
            flow.stream.snd_nxt += 1 << 30;
            for &ms in delays_ms {
                // Further apart than the 2 ms of a train.
                flow.stream.now += Span::from_millis(5);
                flow.stream.rtt = Span::from_millis(ms);
                flow.ack(1, false);
            }
            flow.window.ssthresh == 20
        };
        assert!(!round(&mut flow, &[130, 100, 100, 100, 100, 100, 100, 100, 100, 100]));
        // Nine samples: eight are gathered before the test.
        assert!(!round(&mut flow, &[delay_ms; 8]));
        assert_eq!(round(&mut flow, &[delay_ms; 9]), ends, "{delay_ms} ms");
    }
}

/// The packets of an ACK that are left when slow start reaches its threshold count for the curve, and no others.
#[test]
fn packets_that_slow_start_leaves_count_for_the_curve() {
    // From 98 with a threshold of 100: two packets end slow start, the other two are worth (150 - 100) / 100 each.
    for (acked, cwnd) in [(2, 100.0), (4, 101.0)] {
        let mut flow = Flow::new(CUBIC_ALONE, LINUX_6, 98, RTT);
        flow.window.ssthresh = 100;
        flow.cc.w_max = 1e6;
        flow.grow(acked);
        assert!((flow.cc.packets(&flow.window) - cwnd).abs() < 1e-9, "{acked}: {}", flow.window.cwnd);
        assert_eq!(flow.cc.epoch.is_some(), acked > 2, "an epoch begins in congestion avoidance");
    }
}

/// On hosts whose windows count bytes, two segments are 2 MSS / MSS packets to the curve.
#[test]
fn windows_in_bytes_follow_the_same_curve() {
    let mut flow = Flow::new(CUBIC_ALONE, FREEBSD, 100, RTT);
    flow.window = Window { cwnd: 100 * MSS, ssthresh: 99 * MSS, quantum: MSS, ..flow.window };
    flow.cc.w_max = 1e6;
    flow.grow(2);
    // 2 (150 - 100) / 100 = 1 packet.
    assert!((flow.cc.packets(&flow.window) - 101.0).abs() < 1e-9, "{}", flow.window.cwnd);
}
