//! Same scenario, seed and version: same bytes out, whatever else goes on.

use proptest::prelude::*;
use shoal_scenario::{Document, LinkId};
use shoal_sim::Outcome;
use shoal_tests::{Bytes, experiment, json, monitor_all_links, random_scenario, run, run_logged};

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
        let document = Document::parse(&text, "test.toml").unwrap();
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
    let (silent, (recorded, seen)) = (run(&silent), run_logged(&recorded));
    assert!(seen.len() > 1000);
    assert_eq!((&silent.groups, &silent.bottlenecks), (&recorded.groups, &recorded.bottlenecks));
}

/// What hosts see of a run, whatever is measured on the way.
fn seen_by_hosts(outcome: &Outcome) -> String {
    let flows = outcome.groups.iter().flat_map(|group| &group.flows);
    let of_flow = |flow: &shoal_measure::FlowResult| {
        let counts =
            (flow.delivered_bytes, flow.losses, flow.retransmissions, flow.timeouts, flow.reductions);
        format!("{counts:?} {:?} {:?} {:?} {:?}", flow.cwnd_packets, flow.alpha, flow.srtt_s, flow.fct_s)
    };
    format!("{} sent, {:#?}", outcome.conservation.sent, flows.map(of_flow).collect::<Vec<_>>())
}

/// Runs the scenario with all links watched and returns that, after a comparison with what hosts see of it if none is,
/// and with all that is measured if packets are written down, too. Ports that nobody watches need no events in a chain,
/// and those whose packets are written down keep them in a queue where others know beforehand when they leave.
fn watched(document: &Document, text: &str) -> Outcome {
    let mut watched = document.resolve(None).unwrap();
    monitor_all_links(&mut watched);
    // The card of a host that segments is one only as long as nobody watches it: see `docs/linux.md`.
    for path in &watched.paths {
        if let Some(LinkId(first)) = path.first() {
            watched.links[*first as usize].monitored = false;
        }
    }
    let mut unwatched = watched.clone();
    for link in &mut unwatched.links {
        link.monitored = false;
    }
    let measured = run(&watched);
    assert_eq!(seen_by_hosts(&run(&unwatched)), seen_by_hosts(&measured), "{text}");
    let (written, _) = run_logged(&watched);
    assert_eq!(written.groups, measured.groups, "{text}");
    assert_eq!(written.bottlenecks, measured.bottlenecks, "{text}");
    assert_eq!(written.conservation, measured.conservation, "{text}");
    measured
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(shoal_tests::cases(200)))]

    #[test]
    fn being_watched_changes_nothing(bytes in prop::collection::vec(any::<u8>(), 40..80)) {
        let text = random_scenario(&mut Bytes::new(&bytes));
        let Ok(document) = Document::parse(&text, "test.toml") else { return Ok(()) };
        watched(&document, &text);
    }
}

#[test]
fn ports_in_a_chain_mark_and_drop_unwatched_as_watched() {
    // Each link takes all of its packets from the one before it and is slower.
    let text = r#"
        duration = "2 s"
        [topology]
        kind = "graph"
        bdp_rtt = "4 ms"
        nodes = ["a", "s", "t", "b"]
        links = [
            { from = "a", to = "s", rate = "1 Gbit/s", delay = "100 us" },
            { from = "s", to = "t", rate = "100 Mbit/s", delay = "1 ms", buffer = "60 packets",
              aqm = { kind = "step", threshold = "50 packets" } },
            { from = "t", to = "b", rate = "90 Mbit/s", delay = "1 ms", buffer = "40 packets",
              aqm = { kind = "red", min = "5 packets", max = "30 packets", weight = 0.02, ecn = true } },
        ]
        [[flows]]
        cc = "dctcp"
        from = "a"
        to = "b"
        count = 3
        [[flows]]
        cc = "reno"
        from = "a"
        to = "b"
        count = 3
    "#;
    let outcome = watched(&Document::parse(text, "test.toml").unwrap(), text);
    for name in ["s->t", "t->b"] {
        let link = outcome.bottlenecks.iter().find(|link| link.name == name).expect(name);
        assert!(link.marked > 10 && link.dropped > 10, "{}: {} {}", link.name, link.marked, link.dropped);
    }
}

#[test]
fn ports_that_share_memory_refuse_unwatched_as_watched() {
    let text = r#"
        duration = "200 ms"
        [topology]
        kind = "star"
        hosts = 8
        rate = "1 Gbit/s"
        delay = "10 us"
        buffer = "unlimited"
        aqm = { kind = "step", threshold = "30 packets" }
        shared_buffer = { size = "160 kB", alpha = 1.0 }
        [[flows]]
        name = "a"
        cc = "dctcp"
        from = "h1..h3"
        to = "h7"
        count = 12
        [[flows]]
        name = "b"
        cc = "dctcp"
        from = "h4..h6"
        to = "h8"
        count = 12
        start = "50 ms"
        [[flows]]
        name = "c"
        cc = "cubic"
        from = "h4..h6"
        to = "h8"
        count = 3
        start = "100 ms"
    "#;
    let outcome = watched(&Document::parse(text, "test.toml").unwrap(), text);
    let refused = outcome.bottlenecks.iter().filter(|link| link.dropped_by.shared_buffer > 10).count();
    assert_eq!(refused, 2, "both ports of receivers");
    assert!(outcome.bottlenecks.iter().any(|link| link.marked > 10));
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
