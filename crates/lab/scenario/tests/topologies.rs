//! The paths of each topology, link by link.

use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_scenario::{Document, Experiment, Flow};

fn resolve(text: &str) -> Experiment {
    let document = Document::parse(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(document.warnings(), []);
    document.resolve(None).unwrap()
}

/// `from -name(rate, delay)-> to` for each link of a path.
fn walk(experiment: &Experiment, path: u32) -> Vec<String> {
    let node = |id: shoal_scenario::NodeId| experiment.nodes[id.0 as usize].name.as_str();
    let links: Vec<_> =
        experiment.paths[path as usize].iter().map(|id| &experiment.links[id.0 as usize]).collect();
    assert!(links.windows(2).all(|pair| pair[0].to == pair[1].from), "a gap in the path");
    let rate = |link: &shoal_scenario::Link| {
        link.rate.map_or("-".to_owned(), |rate| format!("{} bit/s", rate.as_bps()))
    };
    links
        .iter()
        .map(|link| {
            format!("{} {} -> {}, {}, {}", link.name, node(link.from), node(link.to), rate(link), link.delay)
        })
        .collect()
}

fn round_trip(experiment: &Experiment, flow: &Flow) -> (Vec<String>, Vec<String>) {
    let (there, back) = (&experiment.paths[flow.forward as usize], &experiment.paths[flow.backward as usize]);
    let link = |id: &shoal_scenario::LinkId| &experiment.links[id.0 as usize];
    assert_eq!(link(there.last().unwrap()).to, link(&back[0]).from, "ACKs leave where data arrive");
    assert_eq!(link(back.last().unwrap()).to, link(&there[0]).from, "and arrive where data leave");
    (walk(experiment, flow.forward), walk(experiment, flow.backward))
}

const DUMBBELL: &str = r#"
duration = "10 s"
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets", delay = "1 ms" }
flows = [{ cc = "reno", rtt = "25 ms" }, { cc = "cubic", rtt = "8.000000001 ms", count = 3 }]
"#;

#[test]
fn a_dumbbell_of_pure_delays() {
    let experiment = resolve(DUMBBELL);
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(
        there,
        ["bottleneck left -> right, 10000000 bit/s, 1 ms", "reno/forward right -> reno/receiver, -, 12 ms"]
    );
    assert_eq!(back, ["reno/back reno/receiver -> left, -, 12 ms"]);
    // 7.000000001 ms: the odd picosecond is on the way back, the sum is exact.
    let delays: Vec<u64> = experiment.links[3..5].iter().map(|link| link.delay.as_picos()).collect();
    assert_eq!(delays, [3_500_000_000, 3_500_000_001]);
    assert_eq!(
        experiment.flows.iter().skip(1).map(|flow| (flow.forward, flow.backward)).collect::<Vec<_>>(),
        [(2, 3); 3]
    );
    assert_eq!(experiment.links.iter().filter(|link| link.monitored).count(), 1);
}

#[test]
fn an_access_rate_without_switches_leaves_acks_alone() {
    let text = format!("{DUMBBELL}topology = {{ kind = \"dumbbell\", access_rate = \"1 Gbit/s\" }}\n");
    let experiment = resolve(&text);
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(
        there,
        [
            "reno/access reno/sender -> left, 1000000000 bit/s, 6 ms",
            "bottleneck left -> right, 10000000 bit/s, 1 ms",
            "reno/egress right -> reno/receiver, -, 6 ms",
        ]
    );
    assert_eq!(back, ["reno/back reno/receiver -> reno/sender, -, 12 ms"]);
}

#[test]
fn switches_put_acks_through_queues() {
    let text = format!(
        "{DUMBBELL}topology = {{ kind = \"dumbbell\", access_rate = \"1 Gbit/s\", switches = true }}\n"
    );
    let experiment = resolve(&text);
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    // 25 ms less 1 ms of the bottleneck each way: 23 ms, in halves, in halves.
    assert_eq!(
        there,
        [
            "reno/access reno/sender -> left, 1000000000 bit/s, 5.75 ms",
            "bottleneck left -> right, 10000000 bit/s, 1 ms",
            "reno/egress right -> reno/receiver, 1000000000 bit/s, 5.75 ms",
        ]
    );
    assert_eq!(
        back,
        [
            "reno/access/back reno/receiver -> right, 1000000000 bit/s, 5.75 ms",
            "bottleneck/back right -> left, 10000000 bit/s, 1 ms",
            "reno/egress/back left -> reno/sender, 1000000000 bit/s, 5.75 ms",
        ]
    );
    let back_link = experiment.links.iter().find(|link| link.name == "bottleneck/back").unwrap();
    assert_eq!(back_link.queue, QueueConfig::Fifo(FifoConfig { limit: Extent::Packets(100) }));
}

/// 25 ms less 1 ms of the bottleneck and 3 ms of the link in the opposite direction: 21 ms, in halves.
const REVERSE: &str = "[reverse]\nrate = \"1 Mbit/s\"\ndelay = \"3 ms\"\nbuffer = \"20 packets\"\n";

#[test]
fn acks_share_the_link_in_the_opposite_direction() {
    let experiment = resolve(&format!("{DUMBBELL}{REVERSE}"));
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(
        there,
        ["bottleneck left -> right, 10000000 bit/s, 1 ms", "reno/forward right -> reno/receiver, -, 10.5 ms"]
    );
    assert_eq!(
        back,
        ["reno/back reno/receiver -> right, -, 10.5 ms", "reverse right -> left, 1000000 bit/s, 3 ms"]
    );
    let monitored: Vec<_> = experiment.monitored().map(|(_, link)| link.name.as_str()).collect();
    assert_eq!(monitored, ["bottleneck", "reverse"]);
    let link = &experiment.links[1];
    assert_eq!(link.queue, QueueConfig::Fifo(FifoConfig { limit: Extent::Packets(20) }));
}

#[test]
fn data_in_the_opposite_direction_swap_both_links() {
    let upward = DUMBBELL.replace("rtt = \"25 ms\"", "rtt = \"25 ms\", direction = \"reverse\"");
    let experiment = resolve(&format!("{upward}{REVERSE}"));
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(
        there,
        ["reverse right -> left, 1000000 bit/s, 3 ms", "reno/forward left -> reno/receiver, -, 10.5 ms"]
    );
    assert_eq!(
        back,
        ["reno/back reno/receiver -> left, -, 10.5 ms", "bottleneck left -> right, 10000000 bit/s, 1 ms"]
    );
}

#[test]
fn a_link_for_acks_lies_between_hosts_with_links_of_their_own() {
    let with = |switches: bool| {
        let topology =
            format!("[topology]\nkind = \"dumbbell\"\naccess_rate = \"1 Gbit/s\"\nswitches = {switches}\n");
        let experiment = resolve(&format!("{DUMBBELL}{REVERSE}{topology}"));
        round_trip(&experiment, &experiment.flows.of(0)).1
    };
    assert_eq!(
        with(false),
        [
            "reno/back reno/receiver -> right, -, 10.5 ms",
            "reverse right -> left, 1000000 bit/s, 3 ms",
            "reno/return left -> reno/sender, -, 0 s",
        ]
    );
    assert_eq!(
        with(true),
        [
            "reno/access/back reno/receiver -> right, 1000000000 bit/s, 5.25 ms",
            "reverse right -> left, 1000000 bit/s, 3 ms",
            "reno/egress/back left -> reno/sender, 1000000000 bit/s, 5.25 ms",
        ]
    );
}

#[test]
fn flows_take_turns_in_host_pairs_across_groups() {
    let text = r#"
duration = "10 s"
topology = { kind = "dumbbell", access_rate = "1 Gbit/s", hosts = 3, switches = true }
bottleneck = { rate = "10 Mbit/s", buffer = "100 packets" }
flows = [{ cc = "reno", rtt = "8 ms", count = 2 }, { cc = "cubic", rtt = "8 ms", count = 5 }]
"#;
    let experiment = resolve(text);
    let hosts: Vec<String> =
        experiment.flows.iter().map(|flow| walk(&experiment, flow.forward)[0][..5].to_owned()).collect();
    assert_eq!(hosts, ["host1", "host2", "host3", "host1", "host2", "host3", "host1"]);
    // 3 pairs with 4 links each, the bottleneck, and its way back.
    assert_eq!(experiment.links.len(), 14);
}

#[test]
fn a_star_monitors_the_ports_that_receive() {
    let text = r#"
duration = "10 s"
[topology]
kind = "star"
hosts = 4
rate = "1 Gbit/s"
delay = "25 us"
buffer = "1 BDP"
aqm = { kind = "step", threshold = "0.5 BDP" }
[[flows]]
cc = "dctcp"
from = ["h1", "h2", "h3"]
to = "h4"
count = 4
"#;
    let experiment = resolve(text);
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(
        there,
        [
            "h1->switch h1 -> switch, 1000000000 bit/s, 25 us",
            "switch->h4 switch -> h4, 1000000000 bit/s, 25 us"
        ]
    );
    assert_eq!(
        back,
        [
            "h4->switch h4 -> switch, 1000000000 bit/s, 25 us",
            "switch->h1 switch -> h1, 1000000000 bit/s, 25 us"
        ]
    );
    let first: Vec<String> =
        experiment.flows.iter().map(|flow| walk(&experiment, flow.forward)[0][..2].to_owned()).collect();
    assert_eq!(first, ["h1", "h2", "h3", "h1"]);
    let monitored: Vec<&str> =
        experiment.links.iter().filter(|link| link.monitored).map(|link| link.name.as_str()).collect();
    assert_eq!(monitored, ["switch->h4"]);
    // 1 Gbit/s x 4 x 25 us = 12,500 B.
    let QueueConfig::Step(step) = experiment.links[1].queue else { panic!() };
    assert_eq!((step.threshold, step.limit), (Extent::Bytes(6_250), Extent::Bytes(12_500)));
    assert_eq!(experiment.links[0].queue, QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited }));
}

/// A diamond with a long way round: s - a - d, s - b - d, s - c - e - d.
const DIAMOND: &str = r#"
duration = "10 s"
[topology]
kind = "graph"
nodes = ["s", "a", "b", "c", "e", "d"]
links = [
  { from = "s", to = "c", rate = "1 Gbit/s" },
  { from = "c", to = "e", rate = "1 Gbit/s" },
  { from = "e", to = "d", rate = "1 Gbit/s" },
  { from = "s", to = "b", rate = "1 Gbit/s", delay = "2 ms" },
  { from = "s", to = "a", rate = "unlimited" },
  { from = "a", to = "d", rate = "1 Gbit/s" },
  { name = "narrow", from = "b", to = "d", rate = "10 Mbit/s", delay = "3 ms", buffer = "2 BDP",
    aqm = { kind = "step", threshold = "1 BDP" } },
]
[[flows]]
cc = "dctcp"
from = "s"
to = "d"
"#;

#[test]
fn a_graph_routes_by_fewest_links_then_file_order() {
    let experiment = resolve(DIAMOND);
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(there, ["s->b s -> b, 1000000000 bit/s, 2 ms", "narrow b -> d, 10000000 bit/s, 3 ms"]);
    // From d the link back of a->d comes before that of narrow.
    assert_eq!(back, ["a->d/back d -> a, 1000000000 bit/s, 0 s", "s->a/back a -> s, -, 0 s"]);
    let narrow = experiment.links.iter().find(|link| link.name == "narrow").unwrap();
    assert!(narrow.monitored);
    assert_eq!(experiment.links.iter().filter(|link| link.monitored).count(), 1);
    // The round trip of the first group is 2 + 3 + 0 + 0 ms: 10 Mbit/s x 5 ms = 6250 B.
    let QueueConfig::Step(step) = narrow.queue else { panic!() };
    assert_eq!((step.threshold, step.limit), (Extent::Bytes(6_250), Extent::Bytes(12_500)));
}

#[test]
fn the_round_trip_behind_bdp_can_be_given() {
    let text = DUMBBELL.replace("\"100 packets\"", "\"2 BDP\", bdp_rtt = \"8 ms\"");
    // 10 Mbit/s x 8 ms = 10,000 B.
    assert_eq!(resolve(&text).links[0].queue, QueueConfig::Fifo(FifoConfig { limit: Extent::Bytes(20_000) }));
    let text = DIAMOND.replace("kind = \"graph\"", "kind = \"graph\"\nbdp_rtt = \"16 ms\"");
    let QueueConfig::Step(step) =
        resolve(&text).links.iter().find(|link| link.name == "narrow").unwrap().queue
    else {
        panic!()
    };
    assert_eq!(step.threshold, Extent::Bytes(20_000));
}

#[test]
fn data_and_acks_take_the_ways_that_are_asked_for() {
    let diamond = DIAMOND.replace("kind = \"graph\"", "kind = \"graph\"\nbdp_rtt = \"16 ms\"");
    let experiment = resolve(&format!("{diamond}via = \"a\"\nvia_back = [\"e\", \"c\"]\n"));
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(there, ["s->a s -> a, -, 0 s", "a->d a -> d, 1000000000 bit/s, 0 s"]);
    let names: Vec<&str> = back.iter().map(|hop| hop.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["e->d/back", "c->e/back", "s->c/back"]);
    // Between named nodes the least cost decides: over c to d there is one way, which passes e.
    let experiment = resolve(&format!("{diamond}via = \"c\"\n"));
    let (there, back) = round_trip(&experiment, &experiment.flows.of(0));
    assert_eq!(there.len(), 3);
    assert_eq!(back.len(), 2, "without via_back ACKs return as they would");
}

#[test]
fn the_round_trip_behind_bdp_follows_the_ways() {
    // Over a there and over b back: 3 + 2 ms, all of it on the way back.
    let experiment = resolve(&format!("{DIAMOND}via = \"a\"\nvia_back = \"b\"\n"));
    let narrow = experiment.links.iter().find(|link| link.name == "narrow").unwrap();
    let QueueConfig::Step(step) = narrow.queue else { panic!() };
    assert_eq!(step.threshold, Extent::Bytes(6_250));
    // Over a in both directions nothing has a delay: then BDP has no meaning.
    let text = format!("{DIAMOND}via = \"a\"\nvia_back = \"a\"\n");
    let error = Document::parse(&text, "test.toml").unwrap_err();
    assert!(error.to_string().contains("BDP has no meaning here"), "{error}");
}
