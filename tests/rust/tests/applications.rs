//! What applications write, when, and what is measured of it.

use shoal_tests::{experiment, run};

/// One flow over 10 Mbit/s and 20 ms with an unlimited buffer; `flow` is added to its section.
fn scenario(duration: &str, warmup: &str, flow: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        warmup = "{warmup}"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        name = "a"
        cc = "reno"
        stack = "linux-6"
        rtt = "20 ms"
        {flow}
        "#
    )
}

#[test]
fn rounds_begin_on_time_or_when_the_one_before_has_finished() {
    // 100 kB are 70 packets: 84 ms on the wire and a few round trips of slow start, well below 1 s.
    let app = r#"app = { transfer = "100 kB", rounds = 5, every = "1 s" }"#;
    let outcome = run(&experiment(&scenario("8 s", "0 s", app)));
    let flow = &outcome.groups[0].flows[0];
    assert_eq!(flow.fct_s.len(), 5);
    assert_eq!(flow.delivered_bytes, 500_000);
    // The last begins at 4 s; nothing happens afterwards.
    let stop = flow.stop_s.expect("all rounds were done");
    assert!((stop - 4.0 - flow.fct_s[4]).abs() < 1e-9, "{stop} {:?}", flow.fct_s);

    // Every 10 ms is too fast: each round begins when the one before ends, so their times add up to the whole.
    let app = r#"app = { transfer = "100 kB", rounds = 5, every = "10 ms" }"#;
    let outcome = run(&experiment(&scenario("8 s", "0 s", app)));
    let flow = &outcome.groups[0].flows[0];
    let stop = flow.stop_s.expect("all rounds were done");
    assert!((flow.fct_s.iter().sum::<f64>() - stop).abs() < 1e-9, "{stop} {:?}", flow.fct_s);
    // Alone on the path nothing can be faster than the ideal, and slow start costs less than a factor of 4.
    assert!(flow.slowdown.iter().all(|s| (1.0..4.0).contains(s)), "{:?}", flow.slowdown);
}

#[test]
fn constant_rate_is_what_it_says() {
    // 2 Mbit/s of payload below 10 Mbit/s: all of it arrives. 10 s hold 1726.5 writes of 1448 B, so +-1 write of
    // rounding.
    let outcome = run(&experiment(&scenario(
        "12 s",
        "2 s",
        r#"app = { constant_rate = "2 Mbit/s", packet = "1448 B" }"#,
    )));
    let goodput = outcome.groups[0].flows[0].goodput_bps.expect("it is measured");
    assert!((goodput - 2e6).abs() <= 1448.0 * 8.0 / 10.0, "{goodput}");
    assert_eq!(outcome.groups[0].flows[0].retransmissions, 0);
}

#[test]
fn silence_between_bursts_is_silent() {
    // On 1 s, off 3 s from 0 s: in [4 s, 12 s) the wire is used for two on periods. A window of 15 kB in 20 ms and the
    // time of its own packets keeps the queue short, so nothing spills over: at most a quarter of the time is used, and
    // at 6 Mbit/s (15 kB in 20 ms, slow start and delayed ACKs aside) at least an eighth.
    let flow = r#"app = { on = "1 s", off = "3 s" }
        receive_window = "15 kB""#;
    let outcome = run(&experiment(&scenario("12 s", "4 s", flow)));
    let utilisation = outcome.bottlenecks[0].utilisation.expect("it is measured");
    assert!((0.1..0.26).contains(&utilisation), "{utilisation}");
}

#[test]
fn stopped_flow_finishes_what_it_has_sent() {
    let outcome = run(&experiment(&scenario("10 s", "0 s", r#"stop = "3 s""#)));
    let flow = &outcome.groups[0].flows[0];
    let stop = flow.stop_s.expect("it stopped");
    // The unlimited buffer holds what was in flight: it drains after 3 s, and nothing else is sent.
    assert!((3.0..6.0).contains(&stop), "{stop}");
    assert_eq!(outcome.conservation.inside, 0);
    assert_eq!(outcome.conservation.sent, outcome.conservation.delivered);
}

#[test]
fn flows_of_a_group_stop_one_by_one() {
    // At 3 s at most 2 x 100 kB are on the way, which leave within 160 ms; the last ACK comes within 20 ms of
    // propagation and 40 ms that it may be delayed. From then on one flow has the link alone: 100 kB a round trip fill
    // 10 Mbit/s x 20 ms.
    let flow = "count = 2\nreceive_window = \"100 kB\"\nstop = [\"3 s\", \"never\"]";
    let outcome = run(&experiment(&scenario("10 s", "6 s", flow)));
    let [first, second] = &outcome.groups[0].flows[..] else { panic!("two flows") };
    assert!((3.0..3.23).contains(&first.stop_s.expect("it stopped")), "{:?}", first.stop_s);
    assert_eq!(first.delivered_bytes, 0);
    assert_eq!(second.stop_s, None);
    assert!(second.wire_bps.expect("it sends") > 9.9e6, "{:?}", second.wire_bps);
}

#[test]
fn transfer_cut_off_by_its_end_is_not_completed() {
    // 100 MB take 80 s; stopped after 1 s.
    let app = r#"app = { transfer = "100 MB", rounds = 2, every = "1 s" }
        stop = "1 s""#;
    let outcome = run(&experiment(&scenario("5 s", "0 s", app)));
    let flow = &outcome.groups[0].flows[0];
    assert_eq!(flow.fct_s.len(), 0);
    assert!((1.0..4.0).contains(&flow.stop_s.expect("it stopped")));
}
