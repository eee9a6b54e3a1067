//! Sending and receiving hosts of the flows of a group, outside a dumbbell.

use std::collections::{BTreeMap, BTreeSet};

use shoal_units::Rate;

use super::Context;
use super::ends::{Ends, Names};
use super::network::{Network, Reference, Routes};
use super::pairing::{self, Pairs};
use super::routing::{FlowHash, Router};
use super::via;
use crate::experiment::{LinkId, NodeId};
use crate::field::suggest;
use crate::schema::FlowGroup;

/// The names of all nodes.
pub(super) fn names(network: &Network) -> Names {
    (0u32..).zip(&network.nodes).map(|(index, node)| (node.name.clone(), NodeId(index))).collect()
}

/// Checks that all flow groups have a forward and a backward path, and stores their hosts.
pub(super) fn connect(network: &mut Network, cx: &Context<'_>) -> Option<()> {
    let names = names(network);
    let mut router = Router::new(network.nodes.len(), &network.links, &network.weights);
    let mut complete = true;
    for (index, group) in cx.scenario.flows.iter().enumerate() {
        check_ends(index, group, &names, cx);
        via::check_names(index, group, &names, cx);
        let Some(ends) = Ends::of(group, cx.list_of(index), &names) else {
            complete = false;
            continue;
        };
        complete &= pairing::check(index, &ends, network, cx)
            && check_paths(index, &ends, network, &mut router, cx)
            && via::check(index, &ends, network, &mut router, cx);
        network.ends.push(ends);
    }
    if !complete {
        return None;
    }
    for ends in network.ends.clone() {
        let reference = access(network, &ends, &mut router);
        network.routes.push(Routes { reference, ..Default::default() });
    }
    // Where a round trip is needed before flows are known, the first pair stands for the first flow.
    let ends = network.ends.first()?;
    let (from, to) =
        ends.from.iter().find_map(|from| Some((*from, *ends.to.iter().find(|to| *to != from)?)))?;
    let forward = router.route(&ends.via.forward(from, to), |_| 0)?;
    let backward = router.route(&ends.via.backward(to, from), |_| 0)?;
    network.first_round_trip = [forward, backward].concat();
    Some(())
}

fn check_paths(index: usize, ends: &Ends, network: &Network, router: &mut Router, cx: &Context<'_>) -> bool {
    let name = |id: NodeId| network.nodes[id.0 as usize].name.as_str();
    let keys = cx.group(index);
    let key = |turn: usize| if ends.from.len() > 1 { format!("from[{turn}]") } else { "from".to_owned() };
    if let Some(host) = ends.self_pair() {
        let turn = ends.from.iter().position(|from| *from == host).unwrap_or(0);
        let message = format!("flows from \"{}\" to itself", name(host));
        keys.error(&key(turn), message, "name two different hosts");
        return false;
    }
    // If one node reaches all others and all others reach it, every pair is connected; this avoids checking
    // the product of long lists.
    let lists = ends.from.len() > 1 && ends.to.len() > 1;
    let mut complete = true;
    for (turn, from) in ends.from.iter().enumerate() {
        for to in ends.to.iter().filter(|to| *to != from).take(if lists { 2 } else { usize::MAX }) {
            for (a, b) in [(*from, *to), (*to, *from)] {
                if router.path(a, b, |_| 0).is_none() && complete {
                    let message = format!("there is no path from \"{}\" to \"{}\"", name(a), name(b));
                    keys.error(&key(turn), message, "add links; ACKs need a return path (both_ways = true)");
                    complete = false;
                }
            }
        }
    }
    if lists && complete {
        for to in &ends.to {
            let from = ends.from.iter().find(|from| *from != to);
            if let Some(from) = from
                && (router.path(*from, *to, |_| 0).is_none() || router.path(*to, *from, |_| 0).is_none())
            {
                let message = format!("there is no path between \"{}\" and \"{}\"", name(*from), name(*to));
                keys.error("to", message, "add links; ACKs need a return path (both_ways = true)");
                complete = false;
            }
        }
    }
    complete
}

/// Combined capacity of the links that attach the senders: on each path, the first link that has a rate.
fn access(network: &Network, ends: &Ends, router: &mut Router) -> Option<Reference> {
    let links: Option<BTreeSet<LinkId>> = ends
        .from
        .iter()
        .map(|from| {
            let to = ends.to.iter().find(|to| *to != from)?;
            let path = router.route(&ends.via.forward(*from, *to), |_| 0)?;
            path.into_iter().find(|id| network.links[id.0 as usize].rate.is_some())
        })
        .collect();
    let links = links?;
    let link = |id: &LinkId| &network.links[id.0 as usize];
    let bps = links.iter().filter_map(|id| link(id).rate).map(Rate::as_bps).fold(0, u64::saturating_add);
    Some(Reference { rate: Rate::from_bps(bps), overhead_bytes: link(links.first()?).overhead_bytes })
}

fn check_ends(index: usize, group: &FlowGroup, names: &Names, cx: &Context<'_>) {
    let keys = cx.group(index);
    let listed = cx.list_of(index).and_then(|list| list.hosts());
    if let Some(hosts) = listed {
        for name in hosts.names.iter().filter(|name| !names.contains_key(*name)) {
            let known: Vec<&str> = names.keys().map(String::as_str).collect();
            keys.error(
                "start.list",
                format!("the list has an unknown node \"{name}\""),
                suggest(name, &known),
            );
        }
    }
    for (key, hosts) in [("from", &group.from), ("to", &group.to)] {
        if listed.is_some() {
            if hosts.is_some() {
                keys.error(key, "the list says the hosts of its flows", format!("remove {key}"));
            }
            continue;
        }
        let Some(hosts) = hosts else {
            let first = names.keys().next().map_or("h1", String::as_str);
            let hint = format!("name a host, as in {key} = \"{first}\"");
            keys.error(key, format!("missing key `{key}`"), hint);
            continue;
        };
        for name in hosts.names().iter().filter(|name| !names.contains_key(*name)) {
            let known: Vec<&str> = names.keys().map(String::as_str).collect();
            keys.error(key, format!("unknown node \"{name}\""), suggest(name, &known));
        }
    }
    if group.rtt.is_some() {
        let hint = "remove it: the round-trip time follows from the delays of the links";
        keys.error("rtt", "only flows of a dumbbell have an rtt", hint);
    }
}

/// Builds the paths of flows, each path once.
pub(super) struct Paths {
    router: Router,
    ecmp: bool,
    /// The paths, and their numbers in the order in which they were found.
    known: BTreeMap<Vec<LinkId>, u32>,
    /// Paths by their stops: without a choice among equal costs there is one path through the same stops.
    by_stops: BTreeMap<Vec<NodeId>, u32>,
}

impl Paths {
    pub(super) fn new(router: Router, ecmp: bool) -> Self {
        Self { router, ecmp, known: BTreeMap::new(), by_stops: BTreeMap::new() }
    }

    /// Numbers of the forward and the backward path of flow `number` of the group of these `pairs`.
    pub(super) fn of(&mut self, pairs: &mut Pairs<'_>, number: u32) -> (u32, u32) {
        let (from, to) = pairs.of(number);
        let via = &pairs.ends.via;
        let (forward, backward) = (via.forward(from, to), via.backward(to, from));
        if !self.ecmp {
            return (self.only(forward), self.only(backward));
        }
        let mut hash = FlowHash::new(pairs.seed, pairs.group, number);
        let forward = self.router.route(&forward, |count| hash.choose(count));
        let backward = self.router.route(&backward, |count| hash.choose(count));
        (self.place(forward), self.place(backward))
    }

    /// All paths by their numbers.
    pub(super) fn all(self) -> Vec<Vec<LinkId>> {
        let mut paths = vec![Vec::new(); self.known.len()];
        for (path, number) in self.known {
            paths[number as usize] = path;
        }
        paths
    }

    fn only(&mut self, stops: Vec<NodeId>) -> u32 {
        if let Some(path) = self.by_stops.get(&stops) {
            return *path;
        }
        let route = self.router.route(&stops, |_| 0);
        let path = self.place(route);
        self.by_stops.insert(stops, path);
        path
    }

    /// The number of a path, which is a new one if no flow has taken the path before.
    fn place(&mut self, path: Option<Vec<LinkId>>) -> u32 {
        let next = self.known.len() as u32;
        *self.known.entry(path.unwrap_or_default()).or_insert(next)
    }
}
