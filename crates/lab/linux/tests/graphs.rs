//! Graphs as testbeds: every path is a destination, and every queue a transmitter.

mod common;

use common::{experiment, kernel_with};
use shoal_linux::{Plan, Refusal};
use shoal_scenario::Experiment;
use std::collections::BTreeMap;

fn plan(experiment: &Experiment) -> Result<Plan, Vec<Refusal>> {
    Plan::new(experiment, &kernel_with("cubic dctcp reno", "bfifo netem pfifo red"), false)
}

/// The network that a kernel would build from the instructions of a plan.
struct Network {
    /// Host and device at one end of a wire, by the address at the other end.
    by_address: BTreeMap<String, (String, String)>,
    /// Gateways, by host and destination, or by host and "default".
    routes: BTreeMap<(String, String), String>,
    /// Host that has each address.
    hosts: BTreeMap<String, String>,
    /// Host and device through which a gateway is reached.
    devices: BTreeMap<(String, String), String>,
}

impl Network {
    fn of(plan: &Plan) -> Self {
        let mut network = Self {
            by_address: BTreeMap::new(),
            routes: BTreeMap::new(),
            hosts: BTreeMap::new(),
            devices: BTreeMap::new(),
        };
        for line in plan.config.lines() {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            match words[0].as_str() {
                "veth" => {
                    let [a, b] = [&words[1..4], &words[4..7]];
                    for (own, peer) in [(a, b), (b, a)] {
                        network.by_address.insert(own[2].clone(), (own[0].clone(), own[1].clone()));
                        network.hosts.insert(own[2].clone(), own[0].clone());
                        network.devices.insert((own[0].clone(), peer[2].clone()), own[1].clone());
                    }
                }
                "address" => {
                    network.hosts.insert(words[3].clone(), words[1].clone());
                }
                "route" => {
                    let known = network.routes.insert((words[1].clone(), words[2].clone()), words[4].clone());
                    assert_eq!(known, None, "{line}");
                }
                _ => {}
            }
        }
        network
    }

    /// Devices through which a packet leaves the hosts on its path.
    fn way(&self, from: &str, destination: &str) -> Vec<(String, String)> {
        let mut host = from.to_owned();
        let mut way = Vec::new();
        while self.hosts[destination] != host {
            let exact = self.routes.get(&(host.clone(), destination.to_owned()));
            let gateway = exact.or_else(|| self.routes.get(&(host.clone(), "0.0.0.0".to_owned())));
            let gateway = gateway.unwrap_or_else(|| panic!("{host} has no route to {destination}"));
            way.push((host.clone(), self.devices[&(host, gateway.clone())].clone()));
            host = self.by_address[gateway].0.clone();
            assert!(way.len() < 20, "{way:?}");
        }
        way
    }
}

/// Checks that every flow takes, in both directions, exactly the links of the experiment.
fn assert_ways(experiment: &Experiment, plan: &Plan) {
    let network = Network::of(plan);
    let flows: Vec<Vec<&str>> =
        plan.config.lines().filter(|l| l.starts_with("flow ")).map(|l| l.split(' ').collect()).collect();
    assert_eq!(flows.len(), experiment.flows.len());
    for (words, flow) in flows.iter().zip(&experiment.flows) {
        let (sender, receiver, source, destination) = (words[1], words[2], words[3], words[4]);
        for (host, target, path) in [(sender, destination, flow.forward), (receiver, source, flow.backward)] {
            let links = &experiment.paths[path as usize];
            let wanted: Vec<(String, String)> = links
                .iter()
                .map(|id| (format!("n{}", experiment.links[id.0 as usize].from.0), format!("l{}", id.0)))
                .collect();
            let way = network.way(host, target);
            // The host's own wire comes first, and the last node's wire to the host comes last.
            assert_eq!(way[1..way.len() - 1], wanted, "{words:?}");
        }
    }
}

const LEAF_SPINE: &str = r#"
duration = "1 s"
warmup = "0 s"
topology = { kind = "leaf-spine", leaves = 3, spines = 2, hosts_per_leaf = 2, rate = "1 Gbit/s", delay = "5 us",
  buffer = "100 packets", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "dctcp", from = "h1..h6", to = "h1..h6", pairing = "random", count = 40, app = { transfer = "20 kB" } }]
"#;

const FAT_TREE: &str = r#"
duration = "1 s"
warmup = "0 s"
topology = { kind = "fat-tree", k = 4, rate = "1 Gbit/s", delay = "5 us", buffer = "100 packets" }
flows = [{ cc = "reno", from = "h1..h16", to = "h1..h16", pairing = "permutation", app = { transfer = "20 kB" } }]
"#;

#[test]
fn every_flow_takes_its_path() {
    let leaf_spine = experiment(LEAF_SPINE);
    assert!(leaf_spine.paths.len() > 20, "the hash spreads the flows");
    assert_ways(&leaf_spine, &plan(&leaf_spine).unwrap());
    let fat_tree = experiment(FAT_TREE);
    assert_ways(&fat_tree, &plan(&fat_tree).unwrap());
    let lot = experiment(
        r#"
duration = "1 s"
topology = { kind = "parking-lot", bottlenecks = 3, rate = "10 Mbit/s", delay = "2 ms",
  access_delay = "1 ms", buffer = "50 packets" }
[[flows]]
cc = "reno"
from = "in"
to = "out"
[[flows]]
name = "cross"
cc = "cubic"
from = ["in1", "in2", "in3"]
to = ["out1", "out2", "out3"]
count = 3
"#,
    );
    let planned = plan(&lot).unwrap();
    assert_ways(&lot, &planned);
    // Access links have no rate: they are pure delays. The three bottlenecks and their reverse links are
    // lines.
    let qdiscs = |kind: &str| planned.config.matches(&format!(" {kind} ")).count();
    assert_eq!(qdiscs("line"), 6);
    assert_eq!(qdiscs("netem"), 16);
}

#[test]
fn host_with_two_settings_is_two_hosts_at_one_node() {
    let star = experiment(
        r#"
duration = "1 s"
topology = { kind = "star", hosts = 3, rate = "1 Gbit/s", delay = "25 us", buffer = "100 packets" }
flows = [{ cc = "dctcp", from = "h1", to = "h2" }, { cc = "reno", from = "h1", to = "h2" }]
"#,
    );
    let planned = plan(&star).unwrap();
    assert_ways(&star, &planned);
    // Node 0 is the switch.
    let at = |node: &str| {
        planned
            .config
            .lines()
            .filter(|l| l.starts_with("veth h") && l.contains(&format!(" {node} h")))
            .count()
    };
    assert_eq!((at("n1"), at("n2"), at("n3")), (2, 2, 0));
}

#[test]
fn transmitters_know_their_delay_and_number() {
    let star = experiment(
        r#"
duration = "1 s"
topology = { kind = "star", hosts = 2, rate = "1 Gbit/s", delay = "25 us", buffer = "100 packets" }
flows = [{ cc = "reno", from = "h1", to = "h2" }]
"#,
    );
    let planned = plan(&star).unwrap();
    let lines: Vec<&str> = planned.config.lines().filter(|line| line.contains(" line ")).collect();
    // Both directions of both hosts.
    assert_eq!(lines.len(), 4);
    let number = |line: &str| {
        let hex = line.rsplit(' ').next().unwrap();
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect();
        // rate: 12 bytes, overhead: 8, number: 8, delay: 12
        let number = u32::from_ne_bytes(bytes[24..28].try_into().unwrap());
        (number, u64::from_ne_bytes(bytes[32..40].try_into().unwrap()))
    };
    let mut numbers: Vec<(u32, u64)> = lines.iter().map(|line| number(line)).collect();
    numbers.sort_unstable();
    // Only the port towards the receiver is monitored.
    assert_eq!(numbers, [(0, 25_000), (255, 25_000), (255, 25_000), (255, 25_000)]);
}

#[test]
fn shared_memory_is_refused() {
    let star = experiment(
        r#"
duration = "1 s"
topology = { kind = "star", hosts = 3, rate = "1 Gbit/s", delay = "25 us", buffer = "unlimited",
  shared_buffer = { size = "400 kB" } }
flows = [{ cc = "reno", from = "h1", to = "h2" }]
"#,
    );
    let refusals = plan(&star).unwrap_err();
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0].reason.contains("dynamic thresholds"), "{refusals:?}");
}

#[test]
fn queue_that_is_refused_is_named_by_its_link() {
    let star = experiment(
        r#"
duration = "1 s"
topology = { kind = "star", hosts = 2, rate = "1 Gbit/s", delay = "25 us", buffer = "100 packets",
  aqm = { kind = "red", min = "20 packets", max = "60 packets" } }
flows = [{ cc = "reno", from = "h1", to = "h2" }]
"#,
    );
    let refusals = plan(&star).unwrap_err();
    assert_eq!(refusals[0].place, "link `switch->h1`: aqm");
}

#[test]
fn memory_is_bounded_by_what_flows_have_to_send() {
    let memory = |app: &str| {
        let text = format!(
            r#"
duration = "1 s"
topology = {{ kind = "star", hosts = 5, rate = "1 Gbit/s", delay = "25 us", buffer = "unlimited" }}
flows = [{{ cc = "reno", from = "h1..h4", to = "h5", count = 40, app = {app} }}]
"#
        );
        plan(&experiment(&text)).unwrap().memory_mib
    };
    // 40 windows of 42 MB take 7 GB as packets; 40 transfers of 100 kB take 17 MB.
    assert_eq!((memory("\"bulk\""), memory("{ transfer = \"100 kB\" }")), (8192, 256));
}
