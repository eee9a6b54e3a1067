//! How many flows an experiment may have.

use shoal_scenario::Document;
use shoal_tests::{check_conservation, experiment, monitor_all_links, run};

fn flows(count: u64) -> String {
    format!(
        r#"
        duration = "1 ms"
        bottleneck = {{ rate = "10 Gbit/s", buffer = "100 packets" }}
        flows = [{{ cc = "dctcp", rtt = "100 us", count = {count} }}]
        trace = {{ series = "off" }}
        "#
    )
}

#[test]
fn a_million_flows_are_planned_and_one_more_is_refused() {
    let document =
        Document::parse(&flows(1_000_000), "test.toml").unwrap_or_else(|errors| panic!("{errors}"));
    assert!(document.warnings()[0].message.contains("MiB"), "{:?}", document.warnings());
    assert_eq!(document.resolve(None).unwrap().flows.len(), 1_000_000);
    let errors = Document::parse(&flows(1_000_001), "test.toml").unwrap_err();
    assert_eq!(errors.0.len(), 1);
    assert!(errors.to_string().contains("1000001 flows are too many"), "{errors}");
}

#[test]
fn thirty_thousand_flows_that_start_at_once_are_run() {
    let mut experiment = experiment(&flows(30_000));
    monitor_all_links(&mut experiment);
    let outcome = run(&experiment);
    check_conservation(&outcome);
    // All count, the default lists 10,000 of them.
    assert_eq!((outcome.groups[0].flow_count, outcome.groups[0].flows.len()), (30_000, 10_000));
    // All SYNs at once into a buffer of 100 packets with one in transmission: the others are dropped.
    assert!(outcome.bottlenecks[0].dropped >= 30_000 - 101);
    assert!(outcome.flow_bytes <= 2048, "{} B a flow", outcome.flow_bytes);
}
