//! Rounds that wait for the slowest flow, against arithmetic.

use shoal_sim::Outcome;
use shoal_tests::{check_conservation, experiment, monitor_all_links, run};

/// Four flows over 10 Mbit/s and 20 ms; `flow` is added to their section.
fn outcome(duration: &str, flow: &str) -> Outcome {
    let mut experiment = experiment(&format!(
        r#"
        duration = "{duration}"
        warmup = "0 s"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "unlimited"
        [[flows]]
        name = "incast"
        cc = "reno"
        stack = "linux-6"
        rtt = "20 ms"
        count = 4
        {flow}
        [trace]
        series = "1 s"
        "#
    ));
    monitor_all_links(&mut experiment);
    let outcome = run(&experiment);
    check_conservation(&outcome);
    outcome
}

/// Four flows of ten segments each share the wire for 48 ms. A round takes the news of its start on the way back (10
/// ms), that and the way there (10 ms); the first one a handshake (20 ms, and 60 B of four SYNs: the last sender hears
/// of its own after 20.192 ms, when the first has begun at 20.048) instead of the news, and four ACKs of 52 B.
#[test]
fn a_round_ends_when_the_last_flow_has_delivered() {
    let outcome = outcome("10 s", r#"app = { transfer = "14480 B", rounds = 20, barrier = true }"#);
    let rounds = outcome.groups[0].rounds.expect("rounds wait");
    assert_eq!((rounds.count, rounds.unfinished), (20, 0));
    assert_eq!((rounds.time_s.max, rounds.time_s.p50), (Some(0.078_214_4), Some(0.068)));
    for flow in &outcome.groups[0].flows {
        assert_eq!((flow.fct_s.len(), flow.delivered_bytes), (20, 20 * 14_480));
        assert!(flow.stop_s.is_some());
        // From its sender's start to its receiver's last byte: no flow can be faster than its own packets.
        assert!(flow.fct_s[1..].iter().all(|fct| (0.022..=0.058).contains(fct)), "{:?}", flow.fct_s);
        assert!(flow.slowdown.iter().all(|slowdown| *slowdown >= 1.0), "{:?}", flow.slowdown);
    }
    // Whoever comes first has the wire for itself: 12 ms and 10 ms of propagation.
    assert_eq!(outcome.groups[0].slowdown.min, Some(1.0));
    // The slowest flow of each round is the round, but for the news.
    for round in 1..20 {
        let slowest = outcome.groups[0].flows.iter().map(|flow| flow.fct_s[round]).fold(0.0, f64::max);
        assert_eq!(slowest, 0.058, "round {round}");
    }
    let table = outcome.tables.iter().find(|table| table.spec().name == "deliveries").expect("recorded");
    assert_eq!(table.len(), 20);
}

/// Without the barrier each flow goes on by itself: the same bytes take less time, because nobody waits for the news.
#[test]
fn the_barrier_makes_flows_wait() {
    let app =
        |barrier: bool| format!(r#"app = {{ transfer = "14480 B", rounds = 20, barrier = {barrier} }}"#);
    let finished = |outcome: &Outcome| {
        outcome.groups[0].flows.iter().map(|flow| flow.stop_s.unwrap()).fold(0.0, f64::max)
    };
    let (with, without) = (outcome("10 s", &app(true)), outcome("10 s", &app(false)));
    assert!(finished(&with) > finished(&without) + 0.1, "{} {}", finished(&with), finished(&without));
    assert_eq!(without.groups[0].rounds, None);
}

#[test]
fn rounds_begin_on_time_if_the_last_one_is_over() {
    // Rounds of 68 ms every 200 ms: the last one begins at 3.8 s and ends 68 ms later, its ACK 10 ms and a delay of at
    // most 40 later.
    let outcome =
        outcome("10 s", r#"app = { transfer = "14480 B", rounds = 20, every = "200 ms", barrier = true }"#);
    let stop = outcome.groups[0].flows.iter().map(|flow| flow.stop_s.unwrap()).fold(0.0, f64::max);
    assert!((3.878..3.92).contains(&stop), "{stop}");
    assert_eq!(outcome.groups[0].rounds.unwrap().time_s.p50, Some(0.068));
}

/// A client that asks four servers at a time: the request goes 10 ms, and its ACK travels with the response.
#[test]
fn requests_of_a_round_leave_together() {
    let app =
        r#"app = { request = "200 B", response = "14480 B", rounds = 20, think = "30 ms", barrier = true }"#;
    let outcome = outcome("10 s", app);
    let (rounds, exchanges) = (outcome.groups[0].rounds.unwrap(), outcome.groups[0].exchanges.unwrap());
    assert_eq!((rounds.count, exchanges.count, exchanges.unfinished), (20, 80, 0));
    // 10 ms, 48 ms on the wire, 10 ms; the round is its slowest exchange.
    assert_eq!((rounds.time_s.p50, exchanges.time_s.min), (Some(0.068), Some(0.032)));
    assert_eq!(rounds.time_s.max, exchanges.time_s.max);
    // 20 rounds and 19 times of thinking.
    let stop = outcome.groups[0].flows.iter().map(|flow| flow.stop_s.unwrap()).fold(0.0, f64::max);
    let rounds_and_thinking = rounds.time_s.mean.unwrap() * 20.0 + 19.0 * 0.03;
    assert!((rounds_and_thinking..rounds_and_thinking + 0.1).contains(&stop), "{stop} {rounds_and_thinking}");
}

#[test]
fn a_stop_ends_the_rounds() {
    let flow = r#"app = { transfer = "14480 B", rounds = 1000, barrier = true }
        stop = "1 s""#;
    let outcome = outcome("3 s", flow);
    let rounds = outcome.groups[0].rounds.unwrap();
    // 78.048 ms and 13 of 68 ms are 962.048 ms: the fifteenth round has sent all at the stop, and is the last.
    assert_eq!((rounds.count, rounds.unfinished), (15, 0));
    assert!(outcome.groups[0].flows.iter().all(|flow| flow.stop_s.is_some_and(|stop| stop < 1.3)));
    assert_eq!(outcome.conservation.inside, 0);
}
