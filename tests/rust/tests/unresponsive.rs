//! Unresponsive traffic against what queueing theory and arithmetic say.

use shoal_tests::{check_conservation, experiment, monitor_all_links, run};

fn at_bottleneck(duration: &str, warmup: &str, buffer: &str, aqm: &str, app: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        warmup = "{warmup}"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "{buffer}"
        aqm = {aqm}
        [[flows]]
        name = "a"
        cc = "none"
        rtt = "20 ms"
        app = {app}
        "#
    )
}

const FIFO: &str = r#"{ kind = "fifo" }"#;

/// Pollaczek and Khinchine with constant service time: W = rho / (2 (1 - rho)) service times of 1.2 ms.
#[test]
fn poisson_traffic_waits_as_in_m_d_1() {
    for (rate, rho, tolerance) in [("3 Mbit/s", 0.3, 0.03), ("6 Mbit/s", 0.6, 0.03), ("8 Mbit/s", 0.8, 0.05)]
    {
        let app = format!(r#"{{ unresponsive = "{rate}", arrivals = "poisson" }}"#);
        let outcome = run(&experiment(&at_bottleneck("1000 s", "10 s", "unlimited", FIFO, &app)));
        let theory = rho / (2.0 * (1.0 - rho)) * 1.2e-3;
        let waits = outcome.bottlenecks[0].delay_s.all.mean.unwrap();
        assert!((waits / theory - 1.0).abs() < tolerance, "rho {rho}: {waits} against {theory}");
        // One way: the wait, 1.2 ms on the wire and 10 ms of propagation.
        let datagrams = outcome.groups[0].flows[0].datagrams.as_deref().unwrap();
        let delay = datagrams.delay_s.mean.unwrap();
        assert!((delay - waits - 0.0112).abs() < 1e-6, "{delay} {waits}");
        assert_eq!(datagrams.delay_s.min, Some(0.0112));
        assert_eq!(datagrams.lost, 0);
        let utilisation = outcome.bottlenecks[0].utilisation.unwrap();
        assert!((utilisation - rho).abs() < 4.0 * (rho * 1.2e-3 / 990.0).sqrt(), "{utilisation}");
    }
}

#[test]
fn constant_traffic_below_the_rate_never_waits() {
    let app = r#"{ unresponsive = "9999 kbit/s" }"#;
    let outcome = run(&experiment(&at_bottleneck("10 s", "0 s", "1 packet", FIFO, app)));
    let datagrams = outcome.groups[0].flows[0].datagrams.as_deref().unwrap();
    // A packet every 1.20012 ms from 0 s on: 8333 of them begin before 10 s.
    assert_eq!((datagrams.sent, datagrams.lost), (8333, 0));
    assert_eq!((datagrams.delay_s.min, datagrams.delay_s.max), (Some(0.0112), Some(0.0112)));
}

#[test]
fn overload_loses_the_excess_and_marks_without_an_answer() {
    // 12.5 Mbit/s into 10 Mbit/s: one packet in five is lost, and with a threshold of 3 packets all are marked once the
    // queue stands.
    let step = r#"{ kind = "step", threshold = "3 packets" }"#;
    let app = r#"{ unresponsive = "12.5 Mbit/s", ecn = "ect1" }"#;
    let outcome = run(&experiment(&at_bottleneck("20 s", "10 s", "50 packets", step, app)));
    let datagrams = outcome.groups[0].flows[0].datagrams.as_deref().unwrap();
    assert!((datagrams.sent as f64 - 10.0 / 0.96e-3).abs() <= 1.0, "{datagrams:?}");
    let lost = datagrams.lost as f64 / (datagrams.lost + datagrams.received) as f64;
    assert!((lost - 0.2).abs() < 1e-3, "{lost}");
    assert_eq!(datagrams.marked, datagrams.received);
    // It waits behind 50 others.
    let longest = datagrams.delay_s.max.unwrap();
    assert!((0.0112 + 49.0 * 1.2e-3..=0.0112 + 51.0 * 1.2e-3).contains(&longest), "{longest}");
}

#[test]
fn a_stop_is_a_stop() {
    let app = "{ unresponsive = \"1 Mbit/s\" }\nstart = \"1 s\"\nstop = \"2 s\"";
    let mut experiment = experiment(&at_bottleneck("5 s", "0 s", "unlimited", FIFO, app));
    monitor_all_links(&mut experiment);
    let outcome = run(&experiment);
    let flow = &outcome.groups[0].flows[0];
    // Every 12 ms from 1 s on, not at 2 s: 84 packets.
    assert_eq!(
        (flow.datagrams.as_deref().unwrap().sent, flow.datagrams.as_deref().unwrap().received),
        (84, 84)
    );
    assert_eq!((flow.start_s, flow.stop_s), (Some(1.0), Some(2.0)));
    assert_eq!(flow.delivered_bytes, 84 * 1472);
    check_conservation(&outcome);
}

/// Two bottlenecks of 10 Mbit/s. The long stream of 8 Mbit/s meets 6 Mbit/s at the first and what is left of it meets 2
/// Mbit/s at the second. Streams of equal packets share a full buffer by their rates, so the first passes 8 x 10 / 14
/// Mbit/s, which is 5.714: with 2 more the second is not full.
#[test]
fn streams_share_a_parking_lot_by_their_rates() {
    let text = r#"
        duration = "30 s"
        warmup = "5 s"
        seed = 3
        [topology]
        kind = "parking-lot"
        bottlenecks = 2
        rate = "10 Mbit/s"
        delay = "1 ms"
        buffer = "20 packets"
        [[flows]]
        name = "through"
        cc = "none"
        from = "in"
        to = "out"
        app = { unresponsive = "8 Mbit/s", arrivals = "poisson" }
        [[flows]]
        name = "first"
        cc = "none"
        from = "in1"
        to = "out1"
        app = { unresponsive = "6 Mbit/s", arrivals = "poisson" }
        [[flows]]
        name = "second"
        cc = "none"
        from = "in2"
        to = "out2"
        app = { unresponsive = "2 Mbit/s", arrivals = "poisson" }
    "#;
    let mut experiment = experiment(text);
    let outcome = run(&experiment);
    let goodput = |group: usize| outcome.groups[group].goodput_bps.sum.unwrap() * 1500.0 / 1472.0 / 1e6;
    for (group, expected) in [(0, 80.0 / 14.0), (1, 60.0 / 14.0), (2, 2.0)] {
        // 25 s hold some 12,000 packets of the long stream: about 1 % of deviation each for the shorter ones.
        assert!((goodput(group) / expected - 1.0).abs() < 0.04, "{group}: {} {expected}", goodput(group));
    }
    assert!(outcome.bottlenecks[0].utilisation.unwrap() > 0.999);
    assert!((outcome.bottlenecks[1].utilisation.unwrap() - (80.0 / 14.0 + 2.0) / 10.0).abs() < 0.02);
    monitor_all_links(&mut experiment);
    check_conservation(&run(&experiment));
}

/// n overloaded ports hold alpha B / (1 + n alpha) each (Choudhury and Hahne 1998, equation 4).
#[test]
fn overloaded_ports_share_a_pool_equally() {
    for (alpha, ports) in [(1.0, 1u32), (1.0, 2), (1.0, 3), (0.5, 3), (4.0, 2)] {
        let group = |port: u32| {
            format!(
                "[[flows]]\nname = \"g{port}\"\ncc = \"none\"\nfrom = \"h{port}\"\nto = \"h{}\"\ncount = 2\napp = {{ \
                 unresponsive = \"90 Mbit/s\" }}\n",
                port + 3
            )
        };
        let groups: String = (1..=ports).map(group).collect();
        let text = format!(
            "duration = \"1 s\"\nwarmup = \"500 ms\"\n[topology]\nkind = \"star\"\nhosts = 6\nrate = \"100 \
             Mbit/s\"\ndelay = \"5 us\"\n\
             buffer = \"unlimited\"\nhost_buffer = \"unlimited\"\nshared_buffer = {{ size = \"600 kB\", alpha = \
             {alpha} }}\n{groups}"
        );
        // Each port gets 100 Mbit/s from its one sender's link: let the links of senders be faster.
        let mut experiment = experiment(&text);
        for link in experiment.links.iter_mut().filter(|link| link.name.ends_with("->switch")) {
            link.rate = Some(shoal_units::Rate::from_bps(1_000_000_000));
        }
        let outcome = run(&experiment);
        let expected = alpha * 600_000.0 / (1.0 + f64::from(ports) * alpha);
        for link in &outcome.bottlenecks {
            let (low, high) = (link.queue_bytes.min.unwrap(), link.queue_bytes.max.unwrap());
            assert!(
                high <= expected + 1500.0 && low >= expected - 2.0 * 1500.0 * (1.0 + alpha),
                "{alpha} {ports}: {low} to {high}, not {expected}"
            );
            assert!(link.dropped_by.shared_buffer > 1000 && link.dropped == link.dropped_by.shared_buffer);
        }
    }
}
