//! One run on several threads has the bytes of the run on one.

use proptest::prelude::*;
use shoal_scenario::{Document, Experiment};
use shoal_sim::{Conservation, Division, Options, Outcome};
use shoal_tests::{Bytes, check_conservation, experiment, monitor_all_links, random_scenario, run};
use shoal_units::Span;

fn run_divided(experiment: &Experiment, division: Division) -> Outcome {
    let options = Options { division: Some(division), ..Options::default() };
    shoal_sim::run(experiment, options).expect("nobody stops the run")
}

/// Everything that a run gives, as text. What is inside at the end is not: see [`Conservation::inside`].
fn all_of(outcome: &Outcome, text: &str) -> String {
    let document = Document::parse(text, "test.toml").expect("it has run");
    let json = outcome.result(document.to_json(), "test").to_json();
    let balance = Conservation { inside: 0, ..outcome.conservation };
    format!("{json}\n{:?}\n{balance:?}", outcome.tables)
}

/// Compares the run on one thread with those on 2, 3, ... threads, as many as the network has parts. Returns how many
/// these were.
fn compare(experiment: &Experiment, most: u32, text: &str) -> u32 {
    let mut alone = None;
    for threads in 2..=most {
        let Ok(division) = Division::of(experiment, threads) else { return threads - 2 };
        let alone = alone.get_or_insert_with(|| all_of(&run(experiment), text));
        let divided = all_of(&run_divided(experiment, division), text);
        let difference = alone.lines().zip(divided.lines()).find(|(one, other)| one != other);
        assert!(*alone == divided, "{threads} threads change {difference:?} of\n{text}");
    }
    most - 1
}

/// A fabric with everything at once: both classes, random sizes and starts, shared memory, and a series.
fn fabric(topology: &str) -> String {
    format!(
        r#"
        duration = "3 ms"
        warmup = "500 us"
        seed = 7
        {topology}
        [[flows]]
        name = "dctcp"
        cc = "dctcp"
        from = "h1..h16"
        to = "h1..h16"
        pairing = "random"
        app = {{ transfer = {{ distribution = "web-search" }} }}
        start = {{ load = 0.4, until = "3 ms" }}
        [[flows]]
        name = "cubic"
        cc = "cubic"
        from = "h1..h16"
        to = "h1..h16"
        pairing = "permutation"
        stop = "2 ms"
        [trace]
        series = "200 us"
        controller_flows = 0
        "#
    )
}

#[test]
fn fabrics_have_the_same_bytes_on_any_number_of_threads() {
    let queue = r#"buffer = "60 packets"
        aqm = { kind = "step", threshold = "20 packets" }"#;
    let shared = r#"buffer = "unlimited"
        shared_buffer = { size = "200 kB", alpha = 1.0 }
        aqm = { kind = "red", min = "5 packets", max = "40 packets", weight = 0.1, ecn = true }"#;
    let leaf_spine = r#"[topology]
        kind = "leaf-spine"
        leaves = 4
        spines = 3
        hosts_per_leaf = 4
        rate = "10 Gbit/s"
        delay = "1 us""#;
    let fat_tree = r#"[topology]
        kind = "fat-tree"
        k = 4
        rate = "10 Gbit/s"
        delay = "1 us""#;
    let star = r#"[topology]
        kind = "star"
        hosts = 16
        rate = "10 Gbit/s"
        delay = "1 us""#;
    for topology in [leaf_spine, fat_tree, star] {
        for queue in [queue, shared] {
            let text = fabric(&format!("{topology}\n{queue}"));
            let experiment = experiment(&text);
            assert!(experiment.flows.len() > 30, "{}", experiment.flows.len());
            assert_eq!(compare(&experiment, 4, &text), 3);
        }
    }
}

/// Hosts with `fq`, whose cards collect what they receive.
#[test]
fn hosts_with_queues_and_cards_have_the_same_bytes() {
    let text = r#"
        duration = "20 ms"
        warmup = "1 ms"
        [topology]
        kind = "star"
        hosts = 6
        rate = "10 Gbit/s"
        delay = "5 us"
        buffer = "200 packets"
        aqm = { kind = "step", threshold = "65 packets" }
        [[flows]]
        cc = "dctcp"
        from = "h1..h3"
        to = "h4..h6"
        count = 2
        stack = "linux-6"
        host = { preset = "linux-6-10g", pacing = "fq" }
        [trace]
        series = "off"
    "#;
    let experiment = experiment(text);
    assert_eq!(compare(&experiment, 3, text), 2);
    assert!(run(&experiment).cards.iter().any(|card| card.interrupts > 0));
}

/// All starts at once, all rates and delays equal: nearly every event has a tie in another part.
#[test]
fn ties_between_parts_are_in_order() {
    let text = r#"
        duration = "400 us"
        warmup = "0 s"
        [topology]
        kind = "leaf-spine"
        leaves = 8
        spines = 2
        hosts_per_leaf = 2
        rate = "100 Gbit/s"
        delay = "1 us"
        buffer = "40 packets"
        aqm = { kind = "step", threshold = "20 packets" }
        [[flows]]
        cc = "dctcp"
        from = "h1..h16"
        to = "h1..h16"
        pairing = "permutation"
        count = 64
        app = { transfer = "500 kB" }
        [trace]
        series = "off"
    "#;
    let mut experiment = experiment(text);
    monitor_all_links(&mut experiment);
    assert_eq!(compare(&experiment, 8, text), 7);
    let division = Division::of(&experiment, 8).unwrap();
    let outcome = run_divided(&experiment, division);
    check_conservation(&outcome);
    assert!(
        outcome.bottlenecks.iter().map(|link| link.dropped).sum::<u64>() > 100,
        "packets must be in competition"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(shoal_tests::cases(300)))]

    #[test]
    fn random_scenarios_have_the_same_bytes(bytes in prop::collection::vec(any::<u8>(), 40..80)) {
        let text = random_scenario(&mut Bytes::new(&bytes));
        let Ok(document) = Document::parse(&text, "test.toml") else { return Ok(()) };
        let mut experiment = document.resolve(None).unwrap();
        experiment.trace.controller_flows = 0;
        compare(&experiment, 3, &text);
        monitor_all_links(&mut experiment);
        compare(&experiment, 2, &text);
    }
}

/// Guards the property above.
#[test]
fn random_scenarios_are_divided() {
    let mut random = shoal_units::Stream::new(5, "bytes");
    let (mut divided, mut in_three) = (0, 0);
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..60).map(|_| random.uniform_u32() as u8).collect();
        let Ok(document) = Document::parse(&random_scenario(&mut Bytes::new(&bytes)), "test.toml") else {
            continue;
        };
        let mut experiment = document.resolve(None).unwrap();
        experiment.trace.controller_flows = 0;
        divided += u32::from(Division::of(&experiment, 2).is_ok());
        in_three += u32::from(Division::of(&experiment, 3).is_ok());
    }
    println!("{divided} of 200 random scenarios in two parts, {in_three} in three");
    assert!(divided >= 20 && in_three >= 5, "{divided} {in_three}");
}

/// What the division of this scenario says.
fn refusal(text: &str, threads: u32) -> String {
    let refusals = Division::of(&experiment(text), threads).expect_err("refused");
    refusals.iter().map(|refusal| format!("{refusal}\n")).collect()
}

#[test]
fn what_has_no_lookahead_is_refused_with_the_reason() {
    let with = |extra: &str, app: &str| {
        format!(
            r#"
            duration = "1 ms"
            [topology]
            kind = "star"
            hosts = 3
            rate = "10 Gbit/s"
            delay = "1 us"
            buffer = "100 packets"
            [[flows]]
            name = "group"
            cc = "dctcp"
            from = "h1..h2"
            to = "h3"
            count = 2
            {app}
            [trace]
            series = "off"
            {extra}
            "#
        )
    };
    let few = refusal(&with("", ""), 4);
    assert!(few.contains("3 parts at most") && few.contains("use 3 threads"), "{few}");
    let barrier = refusal(&with("", r#"app = { transfer = "10 kB", rounds = 3, barrier = true }"#), 2);
    assert!(barrier.contains("flow group `group`: app") && barrier.contains("barrier"), "{barrier}");
    let packets = refusal(&with("packets = true", ""), 2);
    assert!(packets.contains("trace.packets"), "{packets}");
    // Without delay, the whole star is one part.
    let none = refusal(&with("", "").replace("1 us", "0 us"), 2);
    assert!(none.contains("run it on one thread"), "{none}");
}

#[test]
fn a_run_on_threads_ends_early_when_it_is_asked_to() {
    let text = fabric(
        "[topology]\nkind = \"star\"\nhosts = 16\nrate = \"10 Gbit/s\"\ndelay = \"1 us\"\nbuffer = \"60 \
                       packets\"",
    )
    .replace("3 ms", "100 ms");
    let experiment = experiment(&text);
    let mut calls = 0;
    let mut watch = |time| {
        calls += 1;
        assert!(time < shoal_units::Time::ZERO + Span::from_millis(100));
        calls < 3
    };
    let division = Some(Division::of(&experiment, 2).unwrap());
    let options = Options { progress: Some(&mut watch), division, ..Options::default() };
    assert!(shoal_sim::run(&experiment, options).is_none());
    assert_eq!(calls, 3);
}
