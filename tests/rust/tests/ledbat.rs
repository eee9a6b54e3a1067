//! LEDBAT end to end ([RFC 6817](https://www.rfc-editor.org/rfc/rfc6817)): a packet takes 1.2 ms at 10 Mbit/s.

use shoal_sim::Outcome;
use shoal_tests::{experiment, run};

/// Time of one packet of 1500 B on the link.
const PACKET_S: f64 = 1500.0 * 8.0 / 10e6;

/// A flow alone at a deep drop-tail queue.
fn alone(flow: &str, options: &str) -> Outcome {
    run(&experiment(&format!(
        r#"duration = "120 s"
        warmup = "80 s"
        bottleneck = {{ rate = "10 Mbit/s", buffer = "1000 packets" }}
        [[flows]]
        cc = "ledbat"
        rtt = "40 ms"
        {flow}
        cc_options = {{ {options} }}"#
    )))
}

/// RFC 6817 section 2.1: alone, the flow keeps the link busy and the queue at its target. The target equation lets the
/// window rest where the delay is the target; the window has whole packets, so that the delay is within one of it. By
/// that time the distance from the target has fallen for at least six of its time constants, TARGET W / GAIN:
/// 0.1 s of 117 packets are 12 s.
#[test]
fn alone_it_holds_the_queue_at_its_target_within_one_packet_time() {
    for target_us in [10_000, 25_000, 60_000, 100_000] {
        let options = format!("target_us = {target_us}, clock_us = 1, current_filter = 1");
        for flow in ["delayed_ack = false", "stack = \"freebsd-2015\"\ndelayed_ack = false"] {
            let outcome = alone(flow, &options);
            let link = &outcome.bottlenecks[0];
            let target_s = f64::from(target_us) / 1e6;
            let delay = &link.delay_s.all;
            for (what, seen) in [("mean", delay.mean), ("p5", delay.p5), ("p95", delay.p95)] {
                let away = (seen.unwrap() - target_s).abs();
                assert!(away <= PACKET_S, "{flow}, target {target_s}, {what}: {seen:?}");
            }
            assert!(link.utilisation > Some(0.999), "{:?}", link.utilisation);
            assert_eq!(link.dropped, 0);
        }
    }
}

/// With the ticks of 1 ms that Linux has, the lowest of four samples, and delayed ACKs: each of them moves the queue by
/// up to its own size, a tick, a packet, and a packet.
#[test]
fn with_a_coarse_clock_and_delayed_acks_it_is_a_tick_and_two_packets_at_most() {
    let outcome = alone("", "target_us = 25_000");
    let mean = outcome.bottlenecks[0].delay_s.all.mean.unwrap();
    assert!((mean - 0.025).abs() <= 0.001 + 2.0 * PACKET_S, "{mean}");
}

/// RFC 6817 section 1.1: it yields to standard TCP. NewReno keeps the queue above the target for most of its sawtooth:
/// with a buffer of 100 ms and a round trip of 40 ms, half of the window at which it loses packets leaves a queue of
/// 30 ms. So LEDBAT is down to its smallest window, two packets in a round trip of 70 to 140 ms: 170 to 340 kbit/s. It
/// takes the link again when the other has gone.
#[test]
fn it_yields_to_newreno_and_takes_what_is_left() {
    let text = r#"duration = "160 s"
        warmup = "30 s"
        bottleneck = { rate = "10 Mbit/s", buffer = "100 ms" }
        trace = { series = "1 s" }
        [[flows]]
        cc = "ledbat"
        rtt = "40 ms"
        cc_options = { target_us = 25_000 }
        [[flows]]
        cc = "reno"
        rtt = "40 ms"
        start = "5 s"
        stop = "STOP""#;
    let rates = |stop: &str| {
        let outcome = run(&experiment(&text.replace("STOP", stop)));
        [0, 1].map(|group: usize| outcome.groups[group].flows[0].goodput_bps.unwrap())
    };
    let [ledbat, reno] = rates("160 s");
    assert!((150e3..400e3).contains(&ledbat), "{ledbat}");
    assert!(reno > 9.0e6, "{reno}");
    // Reno stops where the measurement begins.
    let [ledbat, _] = rates("30 s");
    assert!(ledbat > 0.9 * 10e6 * 1448.0 / 1500.0, "{ledbat}");
}
