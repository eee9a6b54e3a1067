//! Completion times of flows that arrive at random.

use shoal_measure::metrics::SIZE_BINS;
use shoal_tests::{experiment, run};

fn scenario(duration: &str, app: &str, start: &str, trace: &str) -> String {
    format!(
        r#"
        duration = "{duration}"
        warmup = "0 s"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "200 packets"
        [[flows]]
        name = "a"
        cc = "reno"
        stack = "linux-6"
        rtt = "20 ms"
        app = {app}
        start = {start}
        [trace]
        {trace}
        "#
    )
}

#[test]
fn flows_that_never_meet_take_the_time_of_a_lone_one() {
    // Ten segments take 40.0896 ms + 10 x 1.2 ms (see exact_times.rs). One flow every 20 s meets no other.
    let text = scenario("2000 s", r#"{ transfer = "14480 B" }"#, r#"{ poisson = "3 per min" }"#, "");
    let outcome = run(&experiment(&text));
    let group = &outcome.groups[0];
    assert!((60..140).contains(&group.flow_count), "{}", group.flow_count);
    let fct = group.fct_by_size[1].fct_s;
    assert_eq!((fct.p5, fct.p95), (Some(0.0520896), Some(0.0520896)));
    // The ideal: 20 ms of propagation, and 15,000 B at 10 Mbit/s take 12 ms.
    let slowdown = group.fct_by_size[1].slowdown.p50.unwrap();
    assert!((slowdown - 0.052_089_6 / 0.032).abs() < 1e-9, "{slowdown}");
}

#[test]
fn bins_hold_every_transfer_once() {
    let text = scenario(
        "60 s",
        r#"{ transfer = { distribution = "web-search" } }"#,
        "{ load = 0.6 }",
        "flows = \"all\"",
    );
    let all = run(&experiment(&text));
    let group = &all.groups[0];
    assert_eq!(group.flow_count, group.flows.len() as u64);
    for (index, bin) in group.fct_by_size.iter().enumerate() {
        let inside = |size: u64| {
            size >= SIZE_BINS[index] && SIZE_BINS.get(index + 1).is_none_or(|below| size < *below)
        };
        let flows: Vec<_> = group.flows.iter().filter(|flow| inside(flow.transfer_bytes.unwrap())).collect();
        let done = flows.iter().filter(|flow| !flow.fct_s.is_empty()).count() as u64;
        assert_eq!((bin.count, bin.unfinished), (done, flows.len() as u64 - done));
        assert!(bin.slowdown.min.is_none_or(|slowdown| slowdown >= 1.0), "{bin:?}");
    }
    // Larger transfers take longer (in the median: a loss costs a short one more than its size does), and 60 s hold
    // some of the three smallest ranges.
    let medians: Vec<f64> = group.fct_by_size[..3].iter().map(|bin| bin.fct_s.p50.unwrap()).collect();
    assert!(medians.is_sorted(), "{medians:?}");

    // A list cut short changes nothing else.
    let cut = run(&experiment(&text.replace("flows = \"all\"", "flows = 3")));
    let short = &cut.groups[0];
    assert_eq!((short.flows.len(), short.flows_omitted), (3, group.flow_count - 3));
    assert_eq!(short.flows[..], group.flows[..3]);
    assert_eq!(
        (&short.fct_by_size, short.totals, short.wire_bps),
        (&group.fct_by_size, group.totals, group.wire_bps)
    );
    assert_eq!(cut.metrics, all.metrics);
    let sum: u64 = group.flows.iter().map(|flow| flow.delivered_bytes).sum();
    assert_eq!(short.totals.delivered_bytes, sum);
}
