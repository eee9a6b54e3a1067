//! Same scenario, seed and version: same bytes out, whatever else goes on.

use shoal_tests::{experiment, json, run};

const COEXISTENCE: &str = include_str!("../../../scenarios/coexistence.toml");
const INCAST: &str = include_str!("../../../scenarios/incast-star.toml");
const RED: &str = include_str!("../../../scenarios/red-ecn.toml");

/// The first seconds of it.
fn short(text: &str) -> String {
    let line = |line: &str| match line.split('=').next().map(str::trim) {
        Some("duration") => "duration = \"6 s\"".to_owned(),
        Some("warmup") => "warmup = \"1 s\"".to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(|l| line(l) + "\n").collect()
}

#[test]
fn two_runs_and_runs_on_threads_give_the_same_bytes() {
    for text in [COEXISTENCE, INCAST, RED].map(short) {
        let alone = json(&text, 1);
        assert_eq!(json(&text, 1), alone);
        let together: Vec<String> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(|| json(&text, 1))).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        assert!(together.iter().all(|other| *other == alone));
    }
}

#[test]
fn seeds_matter_where_something_is_drawn() {
    let text = short(COEXISTENCE);
    let outcome = |seed| {
        let document = shoal_scenario::Document::parse(&text, "test.toml").unwrap();
        run(&document.resolve(Some(seed)).unwrap())
    };
    let (one, two) = (outcome(1), outcome(2));
    assert_ne!(one.bottlenecks, two.bottlenecks);
    assert_ne!(one.groups, two.groups);
}

#[test]
fn seeds_do_not_matter_where_nothing_is_drawn() {
    let text = r#"
        duration = "3 s"
        [bottleneck]
        rate = "10 Mbit/s"
        buffer = "20 packets"
        aqm = { kind = "step", threshold = "5 packets" }
        [[flows]]
        cc = "dctcp"
        rtt = "10 ms"
        count = 3
    "#;
    let strip = |seed: u64| json(text, seed).replace(&format!("\"seed\": {seed},"), "");
    // The file's own seed is part of the scenario in both.
    assert_eq!(strip(5), strip(6));
}

/// Two pairs of hosts with a bottleneck each; the second pair is idle or busy.
fn two_islands(second: &str) -> String {
    let law = r#"{ kind = "red", min = "4 packets", max = "12 packets", weight = 0.02, ecn = true }"#;
    format!(
        r#"
        duration = "6 s"
        warmup = "1 s"
        seed = 4
        [topology]
        kind = "graph"
        bdp_rtt = "20 ms"
        nodes = ["a", "b", "c", "d"]
        links = [
            {{ from = "a", to = "b", rate = "10 Mbit/s", delay = "10 ms", buffer = "40 packets", aqm = {law} }},
            {{ from = "b", to = "c", rate = "10 Mbit/s", delay = "10 ms" }},
            {{ from = "c", to = "d", rate = "10 Mbit/s", delay = "10 ms", buffer = "40 packets", aqm = {law} }},
        ]
        [[flows]]
        name = "watched"
        cc = "dctcp"
        from = "a"
        to = "b"
        count = 3
        start = {{ uniform = ["0 s", "1 s"] }}
        {second}
        "#
    )
}

#[test]
fn other_flows_elsewhere_change_no_draw() {
    let quiet = run(&experiment(&two_islands("")));
    let busy = run(&experiment(&two_islands(
        r#"
        [[flows]]
        name = "others"
        cc = "cubic"
        from = "c"
        to = "d"
        count = 5
        start = { uniform = ["0 s", "1 s"] }
        "#,
    )));
    assert!(busy.events > quiet.events + 1000);
    assert!(quiet.bottlenecks[0].marked > 10, "the law draws");
    assert_eq!(busy.groups[0], quiet.groups[0]);
    assert_eq!(busy.bottlenecks[0], quiet.bottlenecks[0]);
}

#[test]
fn growing_a_group_moves_no_start() {
    let starts = |count: u32| -> Vec<_> {
        let text = two_islands("").replace("count = 3", &format!("count = {count}"));
        experiment(&text).flows.iter().map(|flow| flow.start).collect()
    };
    assert_eq!(starts(3), starts(50)[..3]);
}

#[test]
fn recording_changes_nothing() {
    let text = short(COEXISTENCE);
    let silent = experiment(
        &text.replace("controller_flows = 2", "controller_flows = 0").replace("\"100 ms\"", "\"off\""),
    );
    let recorded = experiment(&text);
    assert!(silent.trace != recorded.trace);
    let (silent, (recorded, seen)) = (run(&silent), shoal_tests::run_logged(&recorded));
    assert!(seen.len() > 1000);
    assert_eq!((&silent.groups, &silent.bottlenecks), (&recorded.groups, &recorded.bottlenecks));
}

#[test]
fn traced_flows_are_chosen_per_group_and_their_tables_say_so() {
    let text = short(COEXISTENCE)
        .replace("controller_flows = 2", "controller_flows = 3\nsegment_flows = 2")
        .replace("name  = \"reno\"", "name  = \"reno\"\ncount = 3");
    let experiment = experiment(&text);
    assert_eq!(experiment.flows.len(), 4, "the scenario's groups are reno and dctcp");
    let outcome = run(&experiment);
    let flows = |name: &str| {
        let table = outcome.tables.iter().find(|table| table.spec().name == name).unwrap();
        let Some(shoal_trace::Column::U32(flows)) = table.column("flow") else { panic!("flow") };
        let mut flows = flows.clone();
        flows.sort_unstable();
        flows.dedup();
        (flows, table.coverage().unwrap().to_owned())
    };
    // Two Renos at 0/2 and 1/2 of three, and the DCTCP flow after them.
    for table in ["controller", "events"] {
        let (flows, coverage) = flows(table);
        assert_eq!(flows, [0, 1, 3], "{table}");
        assert!(coverage.contains("3 of 4 flows only, number 0-1, 3."), "{coverage}");
    }
    assert_eq!(flows("segments").0, [0, 3]);
    // Without traced flows there is no table that could be taken for a quiet run.
    let silent =
        run(&self::experiment(&short(COEXISTENCE).replace("controller_flows = 2", "controller_flows = 0")));
    assert!(silent.bottlenecks[0].dropped > 0);
    assert!(silent.tables.iter().all(|table| table.spec().name != "events"));
}
