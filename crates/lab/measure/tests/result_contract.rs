//! The JSON of a result against the contract of the design: names, order, nulls, and the way back.

use shoal_measure::{
    FlowCounters, FlowMeter, FlowSpan, GroupResult, MeterPace, Metrics, QueueMeter, RunResult, SCHEMA, Window,
};
use shoal_packet::{Class, Reason};
use shoal_units::{Rate, Span, Time};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Two groups at a link of 10 Mbit/s, measured from 100 ms to 200 ms.
fn small_run() -> RunResult {
    let mut queue = QueueMeter::new(ms(100), Rate::from_bps(10_000_000), MeterPace::default());
    for n in 0..50 {
        let (now, class) = (ms(100 + 2 * n), if n % 2 == 0 { Class::Ect } else { Class::NotEct });
        queue.on_arrival(now, class);
        queue.on_backlog(now, (n % 5) as u32, 1500 * (n % 5));
        if n % 5 > 0 {
            queue.on_join(now, class);
        }
        queue.on_departure(now, class, Span::from_micros(1200 * (n % 5)), 1500);
    }
    queue.on_mark(ms(150), Class::Ect, Reason::Threshold);
    queue.on_drop(ms(151), Class::NotEct, Reason::Early);
    queue.on_drop(ms(152), Class::NotEct, Reason::Buffer);

    let span = FlowSpan { window_start: ms(100), window_end: ms(200), start: ms(5), stop: None };
    let flow = |cwnd, alpha, wire_bytes| {
        let mut meter = FlowMeter::new(ms(100));
        meter.on_window(ms(5), cwnd, alpha);
        meter.on_srtt(ms(120), Span::from_millis(25));
        let counters =
            FlowCounters { delivered_bytes: wire_bytes - 1000, wire_bytes, losses: 1, ..Default::default() };
        meter.finish(&counters, span)
    };
    let mut reno = flow(10, None, 25_000);
    reno.fct_s = vec![0.25, 0.5];
    let groups = vec![
        GroupResult::new("reno".into(), "reno".into(), vec![reno]),
        GroupResult::new("dctcp".into(), "dctcp-ikr".into(), vec![flow(20, Some(0.25), 50_000)]),
    ];
    RunResult {
        schema: SCHEMA,
        version: "0.0.0".into(),
        scenario: serde_json::json!({"title": "small", "bottleneck": {"rate": "10 Mbit/s"}}),
        seed: 1,
        on: "sim".into(),
        window: Window { start_s: 0.1, end_s: 0.2 },
        bottlenecks: vec![queue.finish("bottleneck", ms(200)).0],
        paths: Vec::new(),
        cards: Vec::new(),
        metrics: Metrics::of(&groups),
        groups,
        notices: Vec::new(),
        events: Some(1234),
        linux: None,
    }
}

#[test]
fn json_of_a_small_run() {
    insta::assert_snapshot!(small_run().to_json());
}

/// The paths that `shared/design.md` section 5 promises to other tools.
const PROMISED: &[&str] = &[
    "/schema",
    "/version",
    "/scenario",
    "/seed",
    "/on",
    "/window/start_s",
    "/window/end_s",
    "/bottlenecks/0/name",
    "/bottlenecks/0/rate_bps",
    "/bottlenecks/0/utilisation",
    "/bottlenecks/0/queue_bytes/mean",
    "/bottlenecks/0/queue_bytes/sd",
    "/bottlenecks/0/queue_bytes/p50",
    "/bottlenecks/0/queue_bytes/p95",
    "/bottlenecks/0/queue_bytes/p99",
    "/bottlenecks/0/queue_bytes/max",
    "/bottlenecks/0/delay_s/all/mean",
    "/bottlenecks/0/delay_s/all/p50",
    "/bottlenecks/0/delay_s/all/p99",
    "/bottlenecks/0/delay_s/ect/mean",
    "/bottlenecks/0/delay_s/not_ect/mean",
    "/bottlenecks/0/arrived",
    "/bottlenecks/0/marked",
    "/bottlenecks/0/dropped",
    "/bottlenecks/0/dropped_by/aqm",
    "/bottlenecks/0/dropped_by/buffer",
    "/groups/0/name",
    "/groups/0/cc",
    "/groups/0/flows/0/goodput_bps",
    "/groups/0/flows/0/wire_bps",
    "/groups/0/flows/0/cwnd_packets/mean",
    "/groups/1/flows/0/alpha/mean",
    "/groups/0/flows/0/srtt_s/mean",
    "/groups/0/flows/0/marks_seen",
    "/groups/0/flows/0/losses",
    "/groups/0/flows/0/retransmissions",
    "/groups/0/flows/0/timeouts",
    "/groups/0/flows/0/reductions",
    "/groups/0/flows/0/fct_s/0",
    "/groups/0/wire_bps/mean",
    "/groups/0/wire_bps/sum",
    "/metrics/jain",
    "/metrics/rate_ratio/reno~1dctcp",
];

#[test]
fn every_promised_field_is_there_with_a_value() {
    let json: serde_json::Value = serde_json::from_str(&small_run().to_json()).unwrap();
    for path in PROMISED {
        assert!(json.pointer(path).is_some_and(|value| !value.is_null()), "{path} is missing");
    }
    // Contract: these two are numbers computed from the flows above, 25 kB against 50 kB.
    assert_eq!(json.pointer("/metrics/rate_ratio/reno~1dctcp").unwrap(), 0.5);
    assert_eq!(json.pointer("/metrics/jain").unwrap(), 0.9);
}

#[test]
fn what_cannot_be_measured_is_null() {
    let json: serde_json::Value = serde_json::from_str(&small_run().to_json()).unwrap();
    assert!(json.pointer("/groups/0/flows/0/alpha/mean").unwrap().is_null());
    assert!(json.pointer("/groups/1/fct_s/mean").unwrap().is_null());
    assert!(json.pointer("/groups/0/flows/0/stop_s").unwrap().is_null());
}

#[test]
fn json_is_read_back_unchanged() {
    let run = small_run();
    assert_eq!(serde_json::from_str::<RunResult>(&run.to_json()).unwrap(), run);
}
