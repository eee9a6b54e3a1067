//! Requests and responses, against arithmetic.

use shoal_measure::{FlowResult, WaitSummary};
use shoal_tests::{check_conservation, experiment, json, monitor_all_links, run};
use shoal_trace::Column;

/// One group over 10 Mbit/s and 20 ms; `flow` is added to its section.
fn scenario(duration: &str, warmup: &str, flow: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        warmup = "{warmup}"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        name = "web"
        cc = "reno"
        stack = "linux-6"
        rtt = "20 ms"
        {flow}
        [trace]
        series = "1 s"
        "#
    )
}

fn group(text: &str) -> (WaitSummary, FlowResult) {
    let mut experiment = experiment(text);
    monitor_all_links(&mut experiment);
    let outcome = run(&experiment);
    check_conservation(&outcome);
    (outcome.groups[0].exchanges.expect("the group asks"), outcome.groups[0].flows[0].clone())
}

/// A handshake of 20 ms and a SYN of 60 B on the wire (48 us), then half a round trip each way; the first request is
/// acknowledged at once by a packet of 52 B (41.6 us), which shares the wire with the response of 1500 B (1.2 ms).
/// Later exchanges lack the handshake, and the ACK of a request travels with its response.
#[test]
fn the_ack_of_a_request_travels_with_the_response() {
    let app = r#"app = { request = "200 B", response = "1448 B", rounds = 50 }"#;
    let (exchanges, flow) = group(&scenario("5 s", "0 s", app));
    assert_eq!((exchanges.count, exchanges.unfinished), (50, 0));
    assert_eq!(exchanges.time_s.max, Some(0.041_289_6));
    assert_eq!((exchanges.time_s.min, exchanges.time_s.p95), (Some(0.021_2), Some(0.021_2)));
    assert_eq!(flow.delivered_bytes, 50 * 1448);
    // 41.2896 + 49 x 21.2 ms, then FIN and its ACK.
    let stop = flow.stop_s.expect("all exchanges were done");
    assert!((1.08..1.11).contains(&stop), "{stop}");
    assert_eq!(flow.exchanges.as_deref(), Some(&exchanges));
}

#[test]
fn clients_think_before_they_ask_again() {
    let app = r#"app = { request = "200 B", response = "1448 B", think = "100 ms" }"#;
    let (exchanges, _) = group(&scenario("10 s", "0 s", app));
    // 41.2896 + 100 ms, then one every 121.2 ms: (10 s - 141.2896 ms) / 121.2 ms = 81.3 complete ones, and one
    // more begins.
    assert_eq!((exchanges.count + exchanges.unfinished, exchanges.time_s.p50), (83, Some(0.021_2)));

    // Random times of the same mean: 2000 s hold 2000 / 0.1212 +- 3 sqrt(that) exchanges at 121.2 ms each.
    let app = r#"app = { request = "200 B", response = "1448 B", think = { exponential = "100 ms" } }"#;
    let (random, _) = group(&scenario("2000 s", "0 s", app));
    let expected = 2000.0 / 0.121_2;
    // The exponential part has a standard deviation of 100 of 121 ms.
    let sigma = expected * (0.1 / 0.121_2) / f64::sqrt(expected);
    assert!((random.count as f64 - expected).abs() < 4.0 * sigma, "{} {expected}", random.count);
    assert_eq!(random.time_s.p50, Some(0.021_2));
}

#[test]
fn only_exchanges_that_began_in_the_window_count() {
    let app = r#"app = { request = "200 B", response = "1448 B", rounds = 10 }"#;
    // 41.2896 ms, then one every 21.2 ms: six begin before 140 ms.
    let (exchanges, flow) = group(&scenario("5 s", "0 s", app));
    assert_eq!((exchanges.count, flow.exchanges.unwrap().count), (10, 10));
    let outcome = run(&experiment(&scenario("5 s", "140 ms", app)));
    let exchanges = outcome.groups[0].exchanges.unwrap();
    assert_eq!((exchanges.count, exchanges.time_s.max), (4, Some(0.021_2)));
}

#[test]
fn a_stopped_client_gets_its_last_response() {
    // 2 MB at 10 Mbit/s take 1.66 s: the first response is under way at 1 s, and the only one.
    let app = r#"app = { request = "200 B", response = "2 MB" }
        stop = "1 s""#;
    let (exchanges, flow) = group(&scenario("8 s", "0 s", app));
    assert_eq!((exchanges.count, exchanges.unfinished), (1, 0));
    assert_eq!(flow.delivered_bytes, 2_000_000);
    let took = exchanges.time_s.max.unwrap();
    // Nothing but its own packets on the wire: 2 MB and 1382 headers at 10 Mbit/s, and the slow start before.
    assert!((1.6576..1.9).contains(&took), "{took}");
    assert!((took..took + 0.2).contains(&flow.stop_s.expect("it stopped")));
    // One that thinks at its stop is over at once.
    let app = r#"app = { request = "200 B", response = "1448 B", think = "2 s" }
        stop = "1 s""#;
    let (exchanges, flow) = group(&scenario("8 s", "0 s", app));
    assert_eq!((exchanges.count, exchanges.unfinished), (1, 0));
    assert!((1.0..1.03).contains(&flow.stop_s.expect("it stopped")));
}

#[test]
fn a_response_cut_off_by_the_end_is_unfinished() {
    let app = r#"app = { request = "200 B", response = "20 MB" }"#;
    let (exchanges, _) = group(&scenario("3 s", "0 s", app));
    assert_eq!((exchanges.count, exchanges.unfinished, exchanges.time_s.mean), (0, 1, None));
}

#[test]
fn lost_requests_are_sent_again() {
    // Eight clients ask through a queue that drops every tenth packet of either direction.
    let text = r#"
        duration = "60 s"
        warmup = "0 s"
        [topology]
        kind = "graph"
        nodes = ["server", "client"]
        [[topology.links]]
        from = "server"
        to = "client"
        rate = "10 Mbit/s"
        delay = "5 ms"
        buffer = "1000 packets"
        monitored = true
        aqm = { kind = "open-loop", drop = 0.1 }
        [[flows]]
        name = "web"
        cc = "cubic"
        from = "server"
        to = "client"
        count = 8
        app = { request = "3 kB", response = "10 kB", rounds = 20 }
    "#;
    let mut experiment = experiment(text);
    monitor_all_links(&mut experiment);
    let outcome = run(&experiment);
    check_conservation(&outcome);
    let exchanges = outcome.groups[0].exchanges.unwrap();
    assert_eq!((exchanges.count, exchanges.unfinished), (160, 0));
    assert!(outcome.bottlenecks.iter().all(|link| link.dropped > 20), "{:?}", outcome.bottlenecks);
    assert_eq!(outcome.groups[0].totals.delivered_bytes, 160 * 10_000);
}

#[test]
fn deliveries_are_listed_and_the_same_every_time() {
    let app = r#"count = 3
        app = { request = "500 B", response = "30 kB", think = { exponential = "50 ms" } }"#;
    let text = scenario("20 s", "0 s", app);
    let outcome = run(&experiment(&text));
    let table = outcome.tables.iter().find(|table| table.spec().name == "deliveries").expect("recorded");
    assert_eq!(table.len() as u64, outcome.groups[0].exchanges.unwrap().count);
    let took = table.spec().columns.iter().position(|column| column.name == "took_s").unwrap();
    let Column::F64(times) = &table.columns()[took] else { panic!("times are numbers") };
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    assert!((mean - outcome.groups[0].exchanges.unwrap().time_s.mean.unwrap()).abs() < 1e-12);
    assert_eq!(json(&text, 4), json(&text, 4));
    assert_ne!(json(&text, 4), json(&text, 5));
}

/// A group that comes or goes leaves the draws of another one alone; so their requests leave at the same times as long
/// as they do not meet.
#[test]
fn thinking_is_a_stream_of_its_own() {
    let app = r#"app = { request = "200 B", response = "1448 B", think = { exponential = "1 s" } }"#;
    let alone = scenario("20 s", "0 s", app);
    let silent = format!(
        "{}\n[[flows]]\nname = \"late\"\ncc = \"reno\"\nrtt = \"20 ms\"\nstart = \"19.99 s\"\napp = {{ request = \"1 \
         B\", response = \"1 B\", think = {{ exponential = \"1 s\" }} }}",
        alone.replace("[trace]\n        series = \"1 s\"", "")
    );
    let both = run(&experiment(&silent));
    let one = run(&experiment(&alone));
    assert_eq!(one.groups[0].exchanges, both.groups[0].exchanges);
    assert!(one.groups[0].exchanges.unwrap().count > 10);
}
