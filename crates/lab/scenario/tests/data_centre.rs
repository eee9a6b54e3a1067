//! Leaf-spine networks, parking lots, shared buffers, and how flows choose hosts and ways.

use std::collections::BTreeMap;

use shoal_scenario::{Document, Experiment, Flow, Pool};

fn resolve(text: &str, seed: u64) -> Experiment {
    let document = Document::parse(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(document.warnings(), []);
    let again = Document::from_json(&document.to_json(), "json").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again, document);
    document.resolve(Some(seed)).unwrap()
}

fn walk(experiment: &Experiment, path: u32) -> Vec<&str> {
    let links: Vec<_> =
        experiment.paths[path as usize].iter().map(|id| &experiment.links[id.0 as usize]).collect();
    assert!(links.windows(2).all(|pair| pair[0].to == pair[1].from), "a gap in the path");
    links.iter().map(|link| link.name.as_str()).collect()
}

/// First and last host.
fn ends<'e>(experiment: &'e Experiment, flow: &Flow) -> (&'e str, &'e str) {
    let path = &experiment.paths[flow.forward as usize];
    let link = |id: &shoal_scenario::LinkId| &experiment.links[id.0 as usize];
    let name = |id: shoal_scenario::NodeId| experiment.nodes[id.0 as usize].name.as_str();
    (name(link(&path[0]).from), name(link(path.last().unwrap()).to))
}

const LEAF_SPINE: &str = r#"
duration = "1 s"
[topology]
kind = "leaf-spine"
leaves = 3
spines = 4
hosts_per_leaf = 2
rate = "10 Gbit/s"
fabric_rate = "40 Gbit/s"
delay = "1 us"
fabric_delay = "2 us"
buffer = "1 BDP"
aqm = { kind = "step", threshold = "5 packets" }
shared_buffer = { size = "4 MB", alpha = 2, reserved = "10 kB" }
[[flows]]
cc = "dctcp"
"#;

#[test]
fn leaf_spine_paths() {
    let experiment =
        resolve(&format!("{LEAF_SPINE}from = [\"h1\", \"h1\"]\nto = [\"h2\", \"h6\"]\ncount = 4000\n"), 1);
    // 6 hosts with two links each, 12 leaf-spine pairs with two links each.
    assert_eq!((experiment.nodes.len(), experiment.links.len()), (6 + 3 + 4, 12 + 24));
    assert_eq!(walk(&experiment, experiment.flows.of(0).forward), ["h1->leaf1", "leaf1->h2"]);
    let mut spines: BTreeMap<(String, String), u32> = BTreeMap::new();
    for flow in experiment.flows.iter().skip(1).step_by(2) {
        let (there, back) = (walk(&experiment, flow.forward), walk(&experiment, flow.backward));
        assert_eq!(
            (there[0], there[3], back[0], back[3]),
            ("h1->leaf1", "leaf3->h6", "h6->leaf3", "leaf1->h1")
        );
        *spines.entry((there[1].to_owned(), back[2].to_owned())).or_default() += 1;
    }
    // Both directions choose on their own: 16 combinations, 125 of 2000 flows each. Four standard deviations are 43.
    assert_eq!(spines.len(), 16);
    assert!(spines.values().all(|count| (82..168).contains(count)), "{spines:?}");
    // One path each way within the leaf, four each way between leaves.
    assert_eq!(experiment.paths.len(), 2 + 8);
    // The round trip between leaves is 4 x (1 + 2) us: 10 Gbit/s x 12 us = 15,000 B.
    let towards_host = experiment.links.iter().find(|link| link.name == "leaf1->h2").unwrap();
    let shoal_aqm::QueueConfig::Step(step) = towards_host.queue else { panic!() };
    assert_eq!(step.limit, shoal_aqm::Extent::Bytes(15_000));
    let reported: Vec<&str> =
        experiment.links.iter().filter(|link| link.monitored).map(|link| link.name.as_str()).collect();
    assert_eq!(reported, ["leaf1->h2", "leaf3->h6"]);
    // Every switch has a pool of its own; network cards of hosts have none.
    assert_eq!(experiment.pools.len(), 7);
    let leaf = Pool { name: "leaf1".into(), size_bytes: 4_000_000, alpha: 2.0, reserved_bytes: 10_000 };
    assert_eq!(experiment.pools[0], leaf);
    let pool = |name: &str| experiment.links.iter().find(|link| link.name == name).unwrap().pool;
    assert_eq!(
        (pool("leaf1->h2"), pool("leaf1->spine4"), pool("spine1->leaf1"), pool("h1->leaf1")),
        (Some(0), Some(0), Some(3), None)
    );
}

#[test]
fn ways_belong_to_flows() {
    let text = |flows: &str| format!("{LEAF_SPINE}from = \"h1\"\nto = \"h6\"\ncount = 50\n{flows}");
    let ways = |text: &str, seed| -> Vec<String> {
        let experiment = resolve(text, seed);
        experiment.flows.iter().take(50).map(|flow| walk(&experiment, flow.forward).join(" ")).collect()
    };
    let other = "[[flows]]\nname = \"other\"\ncc = \"cubic\"\nfrom = \"h3\"\nto = \"h1\"\ncount = 9\n";
    assert_eq!(ways(&text(""), 1), ways(&text(other), 1));
    assert_ne!(ways(&text(""), 1), ways(&text(""), 2));
}

#[test]
fn random_pairs_are_of_different_hosts_and_equally_likely() {
    let text =
        format!("{LEAF_SPINE}from = \"h1..h6\"\nto = \"h1..h6\"\npairing = \"random\"\ncount = 9000\n");
    let experiment = resolve(&text, 4);
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    experiment.flows.iter().for_each(|flow| *counts.entry(ends(&experiment, &flow)).or_default() += 1);
    // 30 pairs, 300 flows each; four standard deviations are 68.
    assert_eq!(counts.len(), 30);
    assert!(counts.iter().all(|((from, to), count)| from != to && (232..368).contains(count)), "{counts:?}");
}

#[test]
fn lists_of_hosts_are_taken_in_turn() {
    let text = format!("{LEAF_SPINE}from = [\"h1..h2\", \"h5\"]\nto = [\"h3\", \"h4\"]\ncount = 6\n");
    let experiment = resolve(&text, 1);
    let pairs: Vec<_> = experiment.flows.iter().map(|flow| ends(&experiment, &flow)).collect();
    assert_eq!(pairs, [("h1", "h3"), ("h2", "h4"), ("h5", "h3"), ("h1", "h4"), ("h2", "h3"), ("h5", "h4")]);
}

#[test]
fn a_parking_lot() {
    let text = r#"
duration = "10 s"
[topology]
kind = "parking-lot"
bottlenecks = 3
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "1 BDP"
aqm = { kind = "step", threshold = "20 packets" }
access_delay = "1 ms"
[[flows]]
name = "through"
cc = "dctcp"
from = "in"
to = "out"
[[flows]]
name = "cross"
cc = "dctcp"
from = ["in1", "in2", "in3"]
to = ["out1", "out2", "out3"]
count = 3
"#;
    let experiment = resolve(text, 1);
    let there: Vec<_> = experiment.flows.iter().map(|flow| walk(&experiment, flow.forward)).collect();
    assert_eq!(there[0], ["in->s1", "bottleneck1", "bottleneck2", "bottleneck3", "s4->out"]);
    assert_eq!(there[2], ["in2->s2", "bottleneck2", "s3->out2"]);
    let back = walk(&experiment, experiment.flows.of(0).backward);
    assert_eq!(back, ["out->s4", "bottleneck3/back", "bottleneck2/back", "bottleneck1/back", "s1->in"]);
    assert_eq!(experiment.links.iter().filter(|link| link.monitored).count(), 3);
    // 2 x (3 x 5 + 2 x 1) ms = 34 ms: 42,500 B.
    let shoal_aqm::QueueConfig::Step(step) =
        experiment.links.iter().find(|link| link.name == "bottleneck2").unwrap().queue
    else {
        panic!()
    };
    assert_eq!(step.limit, shoal_aqm::Extent::Bytes(42_500));
}

#[test]
fn weights_and_equal_ways_of_a_graph() {
    let graph = |extra: &str, keys: &str| {
        format!(
            "duration = \"1 s\"\n[topology]\nkind = \"graph\"\n{keys}nodes = [\"a\", \"b\", \"c\", \"d\"]\nlinks = [\n\
             {{ from = \"a\", to = \"b\", rate = \"1 Gbit/s\"{extra} }},\n{{ from = \"a\", to = \"c\", rate = \"1 \
             Gbit/s\" }},\n\
             {{ from = \"b\", to = \"d\", rate = \"1 Gbit/s\" }},\n{{ from = \"c\", to = \"d\", rate = \"1 Gbit/s\", \
             aqm = {{ kind = \"step\", threshold = \"3 packets\" }} }},\n\
             ]\n[[flows]]\ncc = \"dctcp\"\nfrom = \"a\"\nto = \"d\"\ncount = 40\n"
        )
    };
    let ways = |text: &str| -> Vec<String> {
        let experiment = resolve(text, 1);
        let mut ways: Vec<_> =
            experiment.flows.iter().map(|flow| walk(&experiment, flow.forward).join(" ")).collect();
        ways.sort_unstable();
        ways.dedup();
        ways
    };
    assert_eq!(ways(&graph("", "")), ["a->b b->d"]);
    assert_eq!(ways(&graph(", weight = 2", "")), ["a->c c->d"]);
    assert_eq!(ways(&graph("", "ecmp = true\n")), ["a->b b->d", "a->c c->d"]);
    let experiment = resolve(&graph("", "shared_buffers = [{ node = \"a\", size = \"1 MB\" }]\n"), 1);
    let shared: Vec<&str> =
        experiment.links.iter().filter(|link| link.pool.is_some()).map(|link| link.name.as_str()).collect();
    assert_eq!(shared, ["a->b", "a->c"]);
}

#[test]
fn flows_of_a_leaf_spine_network_over_one_spine() {
    let text = format!("{LEAF_SPINE}from = \"h1..h2\"\nto = \"h5..h6\"\ncount = 200\nvia = \"spine3\"\n");
    let experiment = resolve(&text, 1);
    let there: BTreeMap<Vec<&str>, usize> = experiment.flows.iter().fold(BTreeMap::new(), |mut map, flow| {
        *map.entry(walk(&experiment, flow.forward)).or_default() += 1;
        map
    });
    assert_eq!(
        there.into_iter().collect::<Vec<_>>(),
        [
            (vec!["h1->leaf1", "leaf1->spine3", "spine3->leaf3", "leaf3->h5"], 100),
            (vec!["h2->leaf1", "leaf1->spine3", "spine3->leaf3", "leaf3->h6"], 100),
        ]
    );
    // ACKs still choose among the four spines.
    let back: std::collections::BTreeSet<_> =
        experiment.flows.iter().map(|flow| walk(&experiment, flow.backward)[1]).collect();
    assert_eq!(back.len(), 4);
}
