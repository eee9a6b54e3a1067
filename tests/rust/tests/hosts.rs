//! Hosts that the simulator has no model of.

use shoal_tests::experiment;

const MIXED: &str = r#"
duration = "1 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets" }
flows = [
    { name = "plain", cc = "reno", rtt = "25 ms" },
    { name = "stock", cc = "dctcp", rtt = "25 ms", host = "linux" },
]
"#;

#[test]
fn hosts_that_are_not_modelled_are_refused_with_group_and_remedy() {
    let refusals = shoal_sim::check(&experiment(MIXED)).unwrap_err();
    let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "error: flow group `stock`: host = \"linux\": the simulator's hosts send packet by packet; segmentation in the host is \
          not modelled\nhint: run this on the real kernel (--on linux), or write host = \"ideal\""
        ]
    );
    let ideal = experiment(&MIXED.replace(", host = \"linux\"", ""));
    assert_eq!(shoal_sim::check(&ideal), Ok(()));
    // It is the default, written or not.
    assert_eq!(experiment(&MIXED.replace("\"linux\"", "\"ideal\"")), ideal);
}

#[test]
#[should_panic(expected = "has no such experiment")]
fn whoever_runs_them_nevertheless_gets_no_result() {
    let _ = shoal_sim::run(&experiment(MIXED), shoal_sim::Options::default());
}
