//! The facts that plots and metrics use are those that the scenario was resolved with.

use shoal_scenario::{Document, Facts};

fn facts(text: &str) -> Facts {
    Document::parse(text, "test.toml").unwrap_or_else(|errors| panic!("{errors}")).facts()
}

/// A buffer of one bandwidth-delay product is as large as the product that the facts name: there is one round-trip time
/// in which products are meant, also where the first flow has another.
#[test]
fn a_buffer_of_one_bdp_is_the_product_of_the_facts() {
    let topologies = [
        // 4 x 10 us at 1 Gbit/s: 5000 B.
        ("kind = \"star\"\nhosts = 3\ndelay = \"10 us\"", "from = [\"h1\"]\nto = \"h2\"", 5000.0),
        // The longest path crosses four links each way: 8 x 10 us. Both hosts of this flow are below one leaf.
        (
            "kind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\ndelay = \"10 us\"",
            "from = [\"h1\"]\nto = \"h2\"",
            10_000.0,
        ),
        // Through all three bottlenecks and both access links: 2 x 5 x 10 us. This flow crosses one bottleneck.
        (
            "kind = \"parking-lot\"\nbottlenecks = 3\ndelay = \"10 us\"\naccess_delay = \"10 us\"",
            "from = [\"in1\"]\nto = \"out1\"",
            12_500.0,
        ),
    ];
    for (topology, ends, bytes) in topologies {
        let text = format!(
            "duration = \"1 s\"\n[topology]\n{topology}\nrate = \"1 Gbit/s\"\nbuffer = \"1 BDP\"\n[[flows]]\ncc = \
             \"reno\"\n{ends}\n"
        );
        let facts = facts(&text);
        let link = &facts.bottlenecks[0];
        assert_eq!(link.bdp_bytes, Some(bytes), "{topology}");
        let limit = link.thresholds.iter().find(|threshold| threshold.label == "limit");
        assert_eq!(limit.map(|threshold| threshold.bytes), Some(bytes), "{topology}");
    }
}

#[test]
fn groups_describe_their_flows() {
    let facts = facts(
        r#"
        duration = "10 s"
        warmup = "2 s"
        bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
        trace = { controller_flows = 2 }
        [[flows]]
        cc = "dctcp"
        count = 2
        rtt = ["10 ms", "30 ms"]
        [[flows]]
        cc = "reno"
        rtt = "20 ms"
        "#,
    );
    let [dctcp, reno] = &facts.groups[..] else { panic!("two groups") };
    assert_eq!((facts.duration_s, facts.warmup_s), (10.0, 2.0));
    assert_eq!((dctcp.flows, dctcp.base_rtt_s, dctcp.longest_rtt_s), (2, Some(0.01), Some(0.03)));
    assert_eq!((dctcp.ect, reno.ect, reno.deadline_s), (Some(true), Some(false), None));
    // Two traced flows: one of each group.
    assert_eq!(facts.traced.controller, [0, 2]);
    // A threshold in packets counts packets of 1500 B.
    assert_eq!(facts.bottlenecks[0].thresholds[0].label, "K");
    assert!((facts.bottlenecks[0].thresholds[0].bytes - 30_000.0).abs() < 1e-9);
}

#[test]
fn groups_say_which_monitored_links_their_flows_pass() {
    let facts = facts(
        r#"
        duration = "10 s"
        warmup = "2 s"
        [topology]
        kind = "parking-lot"
        bottlenecks = 2
        rate = "10 Mbit/s"
        delay = "2 ms"
        buffer = "20 packets"
        aqm = { kind = "step", threshold = "5 packets" }
        [[flows]]
        cc = "dctcp"
        from = "in"
        to = "out"
        [[flows]]
        cc = "reno"
        from = ["in1", "in2"]
        to = ["out1", "out2"]
        count = 3
        start = ["0 s", "0 s", "3 s"]
        "#,
    );
    let ways = |group: usize| {
        let paths = facts.groups[group].paths.iter();
        paths.map(|path| (path.links.clone(), path.flows, path.always_send)).collect::<Vec<_>>()
    };
    assert_eq!(ways(0), [(vec![0, 1], 1, 1)]);
    // Flows 1 and 3 of the group pass the first link; the third begins after the warm-up.
    assert_eq!(ways(1), [(vec![0], 2, 1), (vec![1], 1, 1)]);
}
