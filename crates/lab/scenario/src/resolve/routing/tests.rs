//! The router beside a plain one that searches the whole network for each destination, on random networks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use proptest::prelude::*;

use super::Router;
use crate::experiment::{Link, LinkId, NodeId};
use crate::resolve::network::{ENDLESS, template};

/// Finds paths with the costs of all nodes to each destination.
struct Plain<'n> {
    nodes: usize,
    links: &'n [Link],
    weights: &'n [u32],
}

impl Plain<'_> {
    fn path(&self, from: NodeId, to: NodeId, mut choose: impl FnMut(usize) -> usize) -> Option<Vec<LinkId>> {
        let costs = self.costs_to(to);
        if from == to || costs[from.0 as usize].is_none() {
            return None;
        }
        let mut links = Vec::new();
        let mut node = from;
        while node != to {
            let hops = self.next_hops(node, &costs);
            let hop = if hops.len() == 1 { hops[0] } else { hops[choose(hops.len())] };
            links.push(hop);
            node = self.links[hop.0 as usize].to;
        }
        Some(links)
    }

    fn passed(&self, from: NodeId, to: NodeId, all: bool) -> BTreeSet<NodeId> {
        let mut passed = BTreeSet::from([from]);
        let Some(path) = self.path(from, to, |_| 0) else { return passed };
        if !all {
            passed.extend(path.iter().map(|id| self.links[id.0 as usize].to));
            return passed;
        }
        let costs = self.costs_to(to);
        let mut open = vec![from];
        while let Some(node) = open.pop().filter(|node| *node != to) {
            let next = self.next_hops(node, &costs).into_iter().map(|id| self.links[id.0 as usize].to);
            open.extend(next.filter(|node| *node != to && passed.insert(*node)));
        }
        passed.insert(to);
        passed
    }

    fn next_hops(&self, node: NodeId, costs: &[Option<u64>]) -> Vec<LinkId> {
        let links = (0u32..).map(LinkId).zip(self.links).filter(|(_, link)| link.from == node);
        let best = links.filter(|(id, link)| {
            let beyond = costs[link.to.0 as usize];
            beyond.map(|beyond| beyond + u64::from(self.weights[id.0 as usize])) == costs[node.0 as usize]
        });
        best.map(|(id, _)| id).collect()
    }

    fn costs_to(&self, to: NodeId) -> Vec<Option<u64>> {
        let mut costs = vec![None; self.nodes];
        let mut open = BinaryHeap::from([Reverse((0u64, to))]);
        while let Some(Reverse((cost, node))) = open.pop() {
            if costs[node.0 as usize].is_some() {
                continue;
            }
            costs[node.0 as usize] = Some(cost);
            for (link, weight) in self.links.iter().zip(self.weights).filter(|(link, _)| link.to == node) {
                open.push(Reverse((cost + u64::from(*weight), link.from)));
            }
        }
        costs
    }
}

fn link(from: u32, to: u32) -> Link {
    let nowhere = template(None, shoal_units::Span::ZERO, 0, ENDLESS);
    Link { from: NodeId(from), to: NodeId(to), ..nowhere }
}

/// A few switches with links of any kind between them, parallel ones and links in one direction too, and hosts with
/// one or several switches; some nodes stay alone.
fn networks() -> impl Strategy<Value = (usize, Vec<Link>, Vec<u32>)> {
    (1u32..7, 0u32..7).prop_flat_map(|(switches, hosts)| {
        let trunk = (0..switches, 0..switches, 1u32..3, any::<bool>());
        let trunks = prop::collection::vec(trunk, 0..16);
        let access = prop::collection::vec((0..switches, 1u32..3, 0u32..8), hosts as usize);
        (Just(switches + hosts), trunks, access, any::<prop::sample::Index>()).prop_map(
            move |(nodes, trunks, access, lonely)| {
                let mut links = Vec::new();
                for (from, to, weight, both) in trunks.into_iter().filter(|(from, to, ..)| from != to) {
                    links.push((link(from, to), weight));
                    if both {
                        links.push((link(to, from), weight));
                    }
                }
                for (host, (switch, weight, extra)) in (switches..).zip(access) {
                    links.extend([(link(host, switch), weight), (link(switch, host), weight)]);
                    // Some hosts have a second link, to any node or in one direction only.
                    match extra {
                        0 => links.push((link(host, switch), weight)),
                        1 if host > switches => links.push((link(switches, host), 1)),
                        2 => links.extend([(link(host, 0), 2), (link(0, host), 1)]),
                        _ => {}
                    }
                }
                if links.len() > 8 {
                    links.remove(lonely.index(links.len()));
                }
                let (links, weights) = links.into_iter().unzip();
                (nodes as usize, links, weights)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn paths_are_those_of_a_search_through_the_whole_network(
        (nodes, links, weights) in networks(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let plain = Plain { nodes, links: &links, weights: &weights };
        let mut router = Router::new(nodes, &links, &weights);
        for from in (0..nodes as u32).map(NodeId) {
            for to in (0..nodes as u32).map(NodeId) {
                let walk = |asked: &mut Vec<usize>, count: usize| {
                    asked.push(count);
                    choices[(asked.len() - 1) % choices.len()].index(count)
                };
                let (mut asked, mut wanted) = (Vec::new(), Vec::new());
                let path = router.path(from, to, |count| walk(&mut asked, count));
                prop_assert_eq!(path, plain.path(from, to, |count| walk(&mut wanted, count)));
                prop_assert_eq!(asked, wanted, "as many choices among as many hops");
                for all in [false, true] {
                    prop_assert_eq!(router.passed(from, to, all), plain.passed(from, to, all));
                }
            }
        }
    }
}

/// Two hosts that have only each other, and a chain whose ends have a single neighbour.
#[test]
fn networks_without_switches() {
    let both = |a: u32, b: u32| [link(a, b), link(b, a)];
    for (nodes, links) in [
        (2, both(0, 1).to_vec()),
        (3, [both(0, 1), both(1, 2)].concat()),
        (4, [both(0, 3), both(1, 2)].concat()),
    ] {
        let weights = vec![1; links.len()];
        let plain = Plain { nodes, links: &links, weights: &weights };
        let mut router = Router::new(nodes, &links, &[]);
        for (from, to) in
            (0..nodes as u32).flat_map(|a| (0..nodes as u32).map(move |b| (NodeId(a), NodeId(b))))
        {
            assert_eq!(router.path(from, to, |_| 0), plain.path(from, to, |_| 0));
        }
    }
}

/// The tables of costs are those of the switches, not those of the hosts.
#[test]
fn hosts_of_a_switch_share_its_costs() {
    let hosts = 1000;
    let links: Vec<Link> = (1..=hosts).flat_map(|host| [link(host, 0), link(0, host)]).collect();
    let mut router = Router::new(hosts as usize + 1, &links, &[]);
    for host in 2..=hosts {
        assert_eq!(router.path(NodeId(1), NodeId(host), |_| 0).map(|path| path.len()), Some(2));
    }
    let kept: usize = router.costs.iter().flatten().map(|costs| costs.len()).sum();
    assert_eq!(kept, 1);
}
