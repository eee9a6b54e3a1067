//! Flows whose state goes when they have ended have the results of flows that are kept.

use proptest::prelude::*;
use shoal_scenario::{Document, Experiment};
use shoal_sim::{Live, Outcome};
use shoal_tests::{Bytes, experiment, random_scenario, run};

/// Everything that a run gives, as text.
fn all_of(outcome: &Outcome, experiment: &Experiment) -> String {
    let json = outcome.result(serde_json::Value::Null, "test").to_json();
    format!("{}\n{json}\n{:?}\n{:?}", experiment.flows.len(), outcome.tables, outcome.conservation)
}

/// Compares a run with a live one, which keeps all flows.
fn compare(text: &str) -> Outcome {
    let experiment = experiment(text);
    let kept = Live::new(Box::new(experiment.clone()), None).finish();
    let outcome = run(&experiment);
    let (all, kept) = (all_of(&outcome, &experiment), all_of(&kept, &experiment));
    let difference = all.lines().zip(kept.lines()).find(|(one, other)| one != other);
    assert!(all == kept, "{difference:?} of\n{text}");
    outcome
}

/// Flows that meet losses, late copies and timeouts, of both kernels, with several transfers and with a stop, before,
/// during and after the warm-up; some do not end.
fn scenario(link: &str, seed: u64) -> String {
    format!(
        r#"
        duration = "900 ms"
        warmup = "300 ms"
        seed = {seed}
        {link}
        [[flows]]
        name = "small"
        cc = "dctcp"
        rtt = "1 ms"
        app = {{ transfer = "3 kB" }}
        start = {{ poisson = "3000 per s" }}
        [[flows]]
        name = "mixed"
        cc = "cubic"
        rtt = "2 ms"
        app = {{ transfer = {{ distribution = "web-search" }} }}
        start = {{ load = 0.7, until = "800 ms" }}
        [[flows]]
        name = "stopped"
        cc = "reno"
        rtt = "1 ms"
        app = {{ transfer = "20 kB" }}
        start = {{ poisson = "200 per s", until = "400 ms" }}
        stop = "500 ms"
        [[flows]]
        name = "rounds"
        cc = "reno"
        rtt = "1 ms"
        count = 40
        app = {{ transfer = "5 kB", rounds = 3, every = "20 ms" }}
        start = {{ uniform = ["0 s", "700 ms"] }}
        [[flows]]
        name = "bsd"
        cc = "reno"
        stack = "freebsd-2015"
        rtt = "1 ms"
        count = 200
        app = {{ transfer = "8 kB" }}
        start = {{ every = "4 ms" }}
        [[flows]]
        name = "long"
        cc = "dctcp"
        rtt = "1 ms"
        [trace]
        series = "off"
        flows = 30
        controller_flows = 6
        "#
    )
}

#[test]
fn what_ends_has_the_results_of_what_is_kept() {
    for link in [
        r#"bottleneck = { rate = "200 Mbit/s", buffer = "20 packets" }"#,
        r#"bottleneck = { rate = "200 Mbit/s", buffer = "40 packets", aqm = { kind = "step", threshold = "9 kB" } }"#,
        r#"bottleneck = { rate = "200 Mbit/s", buffer = "40 packets", aqm = { kind = "codel", target = "1 ms" } }"#,
        r#"bottleneck = { rate = "200 Mbit/s", buffer = "60 packets", aqm = { kind = "fq-codel" } }"#,
    ] {
        let outcome = compare(&scenario(link, 3));
        assert!(outcome.bottlenecks[0].dropped > 50, "{link}: {}", outcome.bottlenecks[0].dropped);
        let group = &outcome.groups[0];
        assert!(group.flow_count > 2000 && group.flows.len() < 10, "{}", group.flow_count);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(shoal_tests::cases(60)))]
    /// Random scenarios with everything that the simulator has.
    #[test]
    fn random_runs_do_not_depend_on_what_is_kept(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = random_scenario(&mut Bytes::new(&bytes)).replace("series = \"50 ms\"", "series = \"off\"");
        if Document::parse(&text, "test.toml").is_ok() {
            compare(&text);
        }
    }
}
