//! Fat-trees, and permutations of hosts.

use std::collections::{BTreeMap, BTreeSet};

use shoal_scenario::{Document, Experiment, Flow, LinkId};

fn resolve(text: &str, seed: u64) -> Experiment {
    let document = Document::parse(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(document.warnings(), []);
    let again = Document::from_json(&document.to_json(), "json").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again, document);
    document.resolve(Some(seed)).unwrap()
}

fn fat_tree(k: u32, flows: &str) -> String {
    format!(
        "duration = \"1 s\"\ntopology = {{ kind = \"fat-tree\", k = {k}, rate = \"10 Gbit/s\", fabric_rate = \"40 \
         Gbit/s\", delay = \"1 us\", fabric_delay = \"2 us\", buffer = \"1 BDP\", aqm = {{ kind = \"step\", threshold \
         = \"5 packets\" }}, reported = \"fabric\", shared_buffer = {{ size = \"4 MB\" }} }}\n[[flows]]\ncc = \
         \"dctcp\"\n{flows}"
    )
}

/// The nodes of a path.
fn walk(experiment: &Experiment, path: u32) -> Vec<&str> {
    let link = |id: &LinkId| &experiment.links[id.0 as usize];
    let links: Vec<_> = experiment.paths[path as usize].iter().map(link).collect();
    assert!(links.windows(2).all(|pair| pair[0].to == pair[1].from), "a gap in the path");
    let ends = links.iter().map(|link| link.to);
    let nodes = std::iter::once(links[0].from).chain(ends);
    nodes.map(|id| experiment.nodes[id.0 as usize].name.as_str()).collect()
}

/// Numbers of the first and the last host.
fn ends(experiment: &Experiment, flow: &Flow) -> (u32, u32) {
    let path = walk(experiment, flow.forward);
    let number = |name: &str| name.strip_prefix('h').and_then(|number| number.parse().ok()).unwrap();
    (number(path[0]), number(path[path.len() - 1]))
}

#[test]
fn a_fat_tree_has_the_nodes_and_links_of_the_paper() {
    for k in [4, 6, 8, 16, 32] {
        let experiment = resolve(&fat_tree(k, "from = \"h1\"\nto = \"h2\"\n"), 1);
        let count = |kind: &str| {
            let named = |name: &str| name.strip_prefix(kind).is_some_and(|rest| rest.parse::<u32>().is_ok());
            experiment.nodes.iter().filter(|node| named(&node.name)).count() as u32
        };
        let half = k / 2;
        assert_eq!(
            [count("h"), count("edge"), count("aggregation"), count("core")],
            [k * k * k / 4, k * half, k * half, half * half],
            "k = {k}"
        );
        // Every switch uses its k ports: as many links leave it, and as many arrive.
        let mut ports = vec![(0, 0); experiment.nodes.len()];
        for link in &experiment.links {
            ports[link.from.0 as usize].0 += 1;
            ports[link.to.0 as usize].1 += 1;
        }
        for (node, ports) in experiment.nodes.iter().zip(ports) {
            let wanted = if node.name.starts_with('h') { (1, 1) } else { (k, k) };
            assert_eq!(ports, wanted, "{} of k = {k}", node.name);
        }
        // k^3/4 links of hosts and as many in each of the two layers above, in both directions.
        assert_eq!(experiment.links.len() as u32, 2 * 3 * k * k * k / 4);
        assert_eq!(experiment.pools.len() as u32, 2 * k * half + half * half);
        assert_eq!(experiment.monitored().count() as u32, 2 * 2 * k * k * k / 4);
    }
}

#[test]
fn a_core_switch_has_a_link_to_every_pod() {
    let experiment = resolve(&fat_tree(8, "from = \"h1\"\nto = \"h2\"\n"), 1);
    let name = |id: shoal_scenario::NodeId| experiment.nodes[id.0 as usize].name.as_str();
    for core in 1..=16 {
        let core = format!("core{core}");
        let pods: Vec<u32> = experiment
            .links
            .iter()
            .filter(|link| name(link.from) == core)
            .map(|link| name(link.to).strip_prefix("aggregation").unwrap().parse::<u32>().unwrap())
            .map(|aggregation| (aggregation - 1) / 4)
            .collect();
        assert_eq!(pods, (0..8).collect::<Vec<_>>(), "{core}");
    }
}

#[test]
fn paths_of_a_fat_tree_have_2_4_or_6_links() {
    // With k = 8 a switch has 4 hosts and a pod 16.
    let flows = "from = [\"h1\"]\nto = [\"h2\", \"h5\", \"h17\"]\ncount = 3000\n";
    let experiment = resolve(&fat_tree(8, flows), 1);
    let mut paths: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for flow in &experiment.flows {
        paths.entry(ends(&experiment, &flow).1).or_default().insert(flow.forward);
    }
    let of = |host: u32| {
        let lengths: BTreeSet<usize> =
            paths[&host].iter().map(|path| experiment.paths[*path as usize].len()).collect();
        (paths[&host].len(), lengths)
    };
    assert_eq!(of(2), (1, BTreeSet::from([2])), "at the same switch");
    assert_eq!(of(5), (4, BTreeSet::from([4])), "one for each aggregation switch of the pod");
    assert_eq!(of(17), (16, BTreeSet::from([6])), "one for each core switch");
    // 1 BDP: 10 Gbit/s x (4 x 1 us + 8 x 2 us) = 25,000 B.
    let queue = &experiment.links.iter().find(|link| link.name == "edge1->h1").unwrap().queue;
    let shoal_aqm::QueueConfig::Step(step) = queue else { panic!("{queue:?}") };
    assert_eq!(step.limit, shoal_aqm::Extent::Bytes(25_000));
    assert_eq!(experiment.base_rtt(&experiment.flows.of(2)), shoal_units::Span::from_micros(20));
}

/// All paths between two pods are equally likely, on the way of data and on that of ACKs: the statistic of Pearson's
/// test of 16 paths exceeds 37.7 with a probability of 0.001.
#[test]
fn a_hash_spreads_flows_over_the_paths_between_pods() {
    const SEED: u64 = 20_081;
    let experiment = resolve(&fat_tree(8, "from = \"h1\"\nto = \"h128\"\ncount = 8000\n"), SEED);
    for way in [|flow: &Flow| flow.forward, |flow: &Flow| flow.backward] {
        let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
        experiment.flows.iter().for_each(|flow| *taken.entry(way(&flow)).or_default() += 1);
        assert_eq!(taken.len(), 16);
        let expected = 8000.0 / 16.0;
        let statistic: f64 = taken.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        assert!(statistic < 37.7, "seed {SEED}: chi-square {statistic} of {taken:?}");
    }
    // Two flows take the same path of data and the same of ACKs with a probability of 1/256.
    let ways: BTreeSet<_> = experiment.flows.iter().map(|flow| (flow.forward, flow.backward)).collect();
    assert_eq!(ways.len(), 256);
}

fn permutation(seed: u64, flows: &str) -> Vec<(u32, u32)> {
    let experiment = resolve(&fat_tree(4, &format!("pairing = \"permutation\"\n{flows}")), seed);
    experiment.flows.iter().map(|flow| ends(&experiment, &flow)).collect()
}

fn assert_derangement(pairs: &[(u32, u32)], hosts: u32) {
    let senders: Vec<u32> = pairs.iter().map(|(from, _)| *from).collect();
    assert_eq!(senders, (1..=hosts).collect::<Vec<_>>());
    let receivers: BTreeSet<u32> = pairs.iter().map(|(_, to)| *to).collect();
    assert_eq!(receivers, (1..=hosts).collect());
    assert!(pairs.iter().all(|(from, to)| from != to), "{pairs:?}");
}

#[test]
fn every_host_of_a_permutation_sends_to_one_and_receives_from_one() {
    let all = "from = \"h1..h16\"\nto = \"h1..h16\"\n";
    let mut drawn = BTreeSet::new();
    for seed in 0..50 {
        let pairs = permutation(seed, all);
        assert_derangement(&pairs, 16);
        drawn.insert(pairs);
    }
    assert_eq!(drawn.len(), 50, "each seed draws another one");
    // Further rounds draw permutations of their own, and leave the first as it was.
    let rounds = permutation(1, &format!("{all}count = 48\n"));
    rounds.chunks(16).for_each(|round| assert_derangement(round, 16));
    assert_eq!(rounds[..16], permutation(1, all));
    assert_ne!(rounds[..16], rounds[16..32]);
    assert_ne!(rounds[16..32], rounds[32..]);
    // Other groups change nothing; the name of the group does.
    let other = format!("{all}[[flows]]\ncc = \"cubic\"\nfrom = \"h1\"\nto = \"h2\"\n");
    assert_eq!(permutation(1, &other)[..16], rounds[..16]);
    assert_ne!(permutation(1, &format!("{all}name = \"other\"\n")), rounds[..16]);
}

/// Three hosts have two permutations without a host that sends to itself, four have nine.
#[test]
fn permutations_are_equally_likely() {
    for (hosts, all, bound) in [(3, 2, 10.8), (4, 9, 26.1)] {
        let flows = format!("from = \"h1..h{hosts}\"\nto = \"h1..h{hosts}\"\ncount = {}\n", 900 * hosts);
        let pairs = permutation(3, &flows);
        let mut counts: BTreeMap<&[(u32, u32)], u32> = BTreeMap::new();
        pairs.chunks(hosts).for_each(|round| *counts.entry(round).or_default() += 1);
        assert_eq!(counts.len(), all);
        let expected = 900.0 / all as f64;
        let statistic: f64 = counts.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        // The 0.999 quantiles of chi-square with 1 and 8 degrees of freedom.
        assert!(statistic < bound, "{hosts} hosts, seed 3: chi-square {statistic} of {counts:?}");
    }
}

#[test]
fn lists_of_a_permutation_may_differ() {
    for seed in 0..20 {
        assert_eq!(permutation(seed, "from = \"h3\"\nto = \"h9\"\n"), [(3, 9)]);
        // h1 cannot send to itself: only one order remains.
        let pairs = permutation(seed, "from = [\"h1\", \"h2\"]\nto = [\"h1\", \"h5\"]\n");
        assert_eq!(pairs, [(1, 5), (2, 1)]);
    }
    // Arrivals at random leave the last round incomplete.
    let flows = "from = \"h1..h16\"\nto = \"h1..h16\"\napp = { transfer = \"9 kB\" }\nstart = { poisson = \"90 per \
                 s\" }\n";
    let pairs = permutation(5, flows);
    assert_derangement(&pairs[..16], 16);
    assert_derangement(&pairs[16..32], 16);
    assert!(!pairs.len().is_multiple_of(16), "choose a seed with a last round that is incomplete");
}

/// The largest network: what its set-up costs grows with hosts, links and flows, not with their squares.
#[test]
fn a_leaf_spine_network_of_16384_hosts_resolves() {
    let text = "duration = \"1 ms\"\ntopology = { kind = \"leaf-spine\", leaves = 128, spines = 64, hosts_per_leaf = \
                128, \
                rate = \"100 Gbit/s\", delay = \"1 us\", buffer = \"100 packets\" }\n\
                flows = [{ cc = \"dctcp\", from = \"h1..h16384\", to = \"h1..h16384\", pairing = \"permutation\" }]\n\
                trace = { series = \"off\" }\n";
    let experiment = Document::parse(text, "test.toml").unwrap().resolve(None).unwrap();
    let pairs: Vec<_> = experiment.flows.iter().map(|flow| ends(&experiment, &flow)).collect();
    assert_derangement(&pairs, 16_384);
}
