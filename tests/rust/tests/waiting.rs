//! Utilisation and waiting times that theory gives exactly or bounds.

use shoal_tests::{experiment, run, run_logged};

fn close(measured: f64, expected: f64, tolerance: f64) {
    assert!((measured - expected).abs() <= tolerance, "{measured} instead of {expected} +- {tolerance}");
}

#[test]
fn saturated_link_has_utilisation_one() {
    // 60 packets of 1.2 ms are 72 ms in flight on a path of 20 ms: the queue never empties.
    let outcome = run(&experiment(
        r#"
        duration = "10 s"
        warmup = "1 s"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        cc = "reno"
        rtt = "20 ms"
        delayed_ack = false
        cwnd_clamp = "60 packets"
        "#,
    ));
    let link = &outcome.bottlenecks[0];
    assert_eq!((link.utilisation, link.queue_empty), (Some(1.0), Some(0.0)));
    // 9 s / 1.2 ms = 7500 transmissions begin.
    assert_eq!((link.departed, link.departed_bytes), (7500, 7500 * 1500));
    assert_eq!(outcome.groups[0].flows[0].wire_bps, Some(10e6));
    // 60 packets circulate: 20 ms of them (16 2/3) travel and one is in transmission. The others wait, and a packet's
    // wait is the round trip of 60 x 1.2 ms less its own transmission and the propagation.
    let delay = link.delay_s.all;
    close(delay.mean.unwrap(), 0.072 - 0.0012 - 0.020, 1e-9);
}

#[test]
fn fixed_window_gives_window_over_round_trip_time() {
    for window in [2u32, 5, 17] {
        let outcome = run(&experiment(&format!(
            r#"
            duration = "100 s"
            warmup = "10 s"
            [bottleneck]
            rate = "10 Mbit/s"
            buffer = "unlimited"
            [[flows]]
            cc = "reno"
            rtt = "20 ms"
            delayed_ack = false
            cwnd_clamp = "{window} packets"
            "#
        )));
        // `window` packets of 1.2 ms every 21.2 ms; a window more or less at the ends of 90 s.
        let expected = f64::from(window) * 1.2 / 21.2;
        let link = &outcome.bottlenecks[0];
        close(link.utilisation.unwrap(), expected, 0.0012 * f64::from(window) / 90.0 + 1e-12);
        // They keep the distance that the line gave them.
        assert_eq!(link.delay_s.all.max, Some(0.0), "window {window}");
    }
}

/// Sources of constant rate with different periods, so that their phases drift through all constellations.
fn constant_rates(sources: u32) -> String {
    let mut text = String::from(
        "duration = \"60 s\"\nwarmup = \"1 s\"\n[bottleneck]\nrate = \"10 Mbit/s\"\nbuffer = \"unlimited\"\n",
    );
    for number in 0..sources {
        let kbit = 200 + 10 * number + number % 7;
        text += &format!(
            "[[flows]]\nname = \"f{number}\"\ncc = \"reno\"\nrtt = \"{} ms\"\nstart = \"{} us\"\napp = {{ \
             constant_rate = \"{kbit} kbit/s\" }}\n",
            10 + number,
            1370 * number,
        );
    }
    text
}

#[test]
fn one_periodic_source_never_waits() {
    // D/D/1 below the line rate.
    let outcome = run(&experiment(&constant_rates(1)));
    let link = &outcome.bottlenecks[0];
    assert_eq!((link.delay_s.all.max, link.queue_empty), (Some(0.0), Some(1.0)));
    // A write of 1448 B every 57.92 ms: 1.2 / 57.92, one packet more or less in 59 s.
    close(link.utilisation.unwrap(), 1.2 / 57.92, 0.0012 / 59.0);
}

#[test]
fn periodic_sources_wait_for_at_most_one_packet_of_each_other() {
    // Network calculus: 20 sources, each bounded by one packet plus its rate, into a line faster than their sum (6
    // Mbit/s): backlog at most 20 packets, so at most 19 packets of 1.2 ms are ahead of any. Between 29 ms and 58 ms of
    // period against 30 ms of round trip, the window (10) never holds a write back.
    let (outcome, seen) = run_logged(&experiment(&constant_rates(20)));
    let link = &outcome.bottlenecks[0];
    let worst = link.delay_s.all.max.unwrap();
    assert!(worst <= 19.0 * 0.0012 + 1e-12, "{worst}");
    // The bound is not idle: constellations with several packets at once do occur.
    assert!(worst >= 3.0 * 0.0012, "{worst}");
    assert_eq!(link.dropped, 0);
    let data = seen.iter().filter(|seen| seen.packet.payload > 0);
    assert!(data.clone().count() > 10_000 && data.clone().all(|seen| seen.packet.payload == 1448));
}
