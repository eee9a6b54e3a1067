//! Graphs of any nodes and links, and routes through them.

use std::collections::{BTreeMap, BTreeSet};

use shoal_units::Span;

use super::Context;
use super::hosts::connect;
use super::impairments::impairments;
use super::network::{ENDLESS, Network, checked_overhead, port, template};
use super::schedule::{Start, schedule};
use crate::aqm::{Port, check_shapers, queue};
use crate::experiment::{Link, LinkId, NodeId};
use crate::field::suggest;
use crate::quantity::Duration;
use crate::remarks::Table;
use crate::schema::{Direction, FlowGroup, Graph, SharedBuffer};

/// The network of a graph as written.
pub(super) fn network(graph: &Graph, cx: &Context<'_>) -> Option<Network> {
    refuse_bottleneck(cx);
    let mut network = Network { ecmp: graph.ecmp, ..Network::default() };
    let mut ids = BTreeMap::new();
    for (index, name) in graph.nodes.iter().enumerate() {
        let id = network.node(name.as_str());
        if ids.insert(name.as_str(), id).is_some() {
            let message = format!("duplicate node \"{name}\"");
            cx.error(&format!("topology.nodes[{index}]"), message, "name each node once");
        }
    }
    // A queue may be given in BDP, whose round-trip time depends on the routes: links come first, queues
    // later.
    let written = add_links(graph, &mut network, &ids, cx);
    duplicate_names(&network, &written, cx);
    // A refused link would make the nodes at its ends look isolated.
    let accepted: BTreeSet<usize> = written.iter().map(|(index, _)| *index).collect();
    if accepted.len() == graph.links.len() {
        check_use(graph, &network, &written, cx);
    }
    share_buffers(graph, &mut network, &ids, cx);
    connect(&mut network, cx)?;

    network.bdp_rtt = graph.bdp_rtt.map(Duration::span).or_else(|| first_round_trip(&network));
    let mut complete = true;
    for (index, id) in written {
        let link = &graph.links[index];
        let Some(rate) = network.links[id.0 as usize].rate else { continue };
        let keys = of_link(index, cx);
        let paths = (keys.at("aqm"), keys.at("buffer"));
        let has_pool = graph.shared_buffers.iter().any(|shared| shared.node == link.from);
        let port = Port { has_pool, ..port((&paths.0, &paths.1), rate, network.bdp_rtt, cx) };
        match queue(&link.aqm, link.buffer, &port) {
            Some(queue) => {
                check_shapers(Some(&queue), &network.links[id.0 as usize].schedule, &keys);
                network.links[id.0 as usize].queue = queue;
            }
            None => complete = false,
        }
    }
    complete.then_some(network)
}

/// The keys of a link.
fn of_link<'a>(index: usize, cx: &Context<'a>) -> Table<'a> {
    cx.table(format!("topology.links[{index}]"))
}

/// Adds the links without their queues. Returns each with its position in the file; one that is refused is missing.
fn add_links(
    graph: &Graph,
    network: &mut Network,
    ids: &BTreeMap<&str, NodeId>,
    cx: &Context<'_>,
) -> Vec<(usize, LinkId)> {
    let mut written = Vec::new();
    for (index, link) in graph.links.iter().enumerate() {
        let keys = of_link(index, cx);
        let end = |key: &str, name: &str| {
            let id = ids.get(name).copied();
            if id.is_none() {
                unknown_node(graph, name, key, &keys);
            }
            id
        };
        let (from, to) = (end("from", &link.from), end("to", &link.to));
        let rate = cx.remarks.checked_rate(link.rate, &keys.at("rate"));
        let overhead_bytes = checked_overhead(link.overhead, &keys.at("overhead"), cx);
        let (Some(from), Some(to), Ok(rate)) = (from, to, rate) else { continue };
        if from == to {
            keys.error("to", "the link ends where it starts", "name two different nodes");
        }
        let delay = link.delay.span();
        let schedule = schedule(link.schedule.as_ref(), Start { rate, delay }, &keys, cx);
        let there = Link {
            name: link.name.clone().unwrap_or_default(),
            from,
            to,
            monitored: link.monitored.unwrap_or(false),
            impairments: impairments(link.impairments.as_ref(), delay, &schedule, &keys),
            schedule,
            ..template(rate, delay, overhead_bytes, ENDLESS)
        };
        if link.weight == 0 {
            let hint = "write at least 1: with weight 0 a path could contain a loop";
            keys.error("weight", "the weight of the link is 0", hint);
        }
        written.push((index, network.link(there.clone())));
        network.weights.push(link.weight.max(1));
        if link.both_ways {
            let name = format!("{}/back", there.name);
            written.push((index, network.link(Link { name, from: to, to: from, monitored: false, ..there })));
            network.weights.push(link.weight.max(1));
        }
    }
    written
}

fn unknown_node(graph: &Graph, name: &str, key: &str, keys: &Table<'_>) {
    let names: Vec<&str> = graph.nodes.iter().map(String::as_str).collect();
    keys.error(key, format!("unknown node \"{name}\""), suggest(name, &names));
}

fn share_buffers(graph: &Graph, network: &mut Network, ids: &BTreeMap<&str, NodeId>, cx: &Context<'_>) {
    let mut seen = BTreeMap::new();
    let ports = super::pool::ports(network);
    for (index, shared) in graph.shared_buffers.iter().enumerate() {
        let keys = cx.table(format!("topology.shared_buffers[{index}]"));
        let Some(node) = ids.get(shared.node.as_str()) else {
            unknown_node(graph, &shared.node, "node", &keys);
            continue;
        };
        if seen.insert(*node, index).is_some() {
            let message = format!("\"{}\" has a shared buffer already", shared.node);
            keys.error("node", message, "give each node one shared buffer");
            continue;
        }
        let buffer = SharedBuffer {
            size: shared.size,
            alpha: shared.alpha,
            reserved: shared.reserved,
            headroom: shared.headroom,
        };
        super::pool::share(network, *node, &ports[node.0 as usize], &buffer, &keys);
    }
}

/// Refuses `[bottleneck]`, `[reverse]` and directions outside a dumbbell.
pub(super) fn refuse_bottleneck(cx: &Context<'_>) {
    if cx.scenario.bottleneck.is_some() {
        let hint = "give rate, buffer and aqm in [topology], and remove [bottleneck]";
        cx.error("bottleneck", "only a dumbbell has a [bottleneck]", hint);
    }
    if cx.scenario.reverse.is_some() {
        let hint =
            "give the links of a graph a rate in each direction (both_ways = false), and remove [reverse]";
        cx.error("reverse", "only a dumbbell has a [reverse]", hint);
    }
    for (index, _) in directed(cx) {
        let hint = "remove it, and exchange from and to";
        cx.group(index).error("direction", "only the flows of a dumbbell have a direction", hint);
    }
}

/// The flow groups whose data take the reverse link of a dumbbell.
pub(super) fn directed<'a>(cx: &Context<'a>) -> impl Iterator<Item = (usize, &'a FlowGroup)> {
    let groups = cx.scenario.flows.iter().enumerate();
    groups.filter(|(_, group)| group.direction == Some(Direction::Reverse))
}

/// Refuses duplicate link names, since random streams are named after links.
fn duplicate_names(network: &Network, written: &[(usize, LinkId)], cx: &Context<'_>) {
    let mut seen = BTreeMap::new();
    for (index, id) in written {
        let name = &network.links[id.0 as usize].name;
        if seen.insert(name.as_str(), *index).is_some() {
            let hint = "give one of them another name";
            of_link(*index, cx).error("name", format!("duplicate link name \"{name}\""), hint);
        }
    }
}

fn first_round_trip(network: &Network) -> Option<Span> {
    let delays = network.first_round_trip.iter().map(|id| network.links[id.0 as usize].delay.as_picos());
    let total = delays.fold(0u64, u64::saturating_add);
    (total > 0).then(|| Span::from_picos(total))
}

/// Warns of nodes without links, and of links that no flow can take because one with the same ends precedes
/// them.
fn check_use(graph: &Graph, network: &Network, written: &[(usize, LinkId)], cx: &Context<'_>) {
    let linked = linked(network);
    for (index, node) in network.nodes.iter().enumerate() {
        if !linked[index] {
            let name = &node.name;
            let hint = "add a link to it, or remove the node";
            cx.error(&format!("topology.nodes[{index}]"), format!("\"{name}\" has no links"), hint);
        }
    }
    for index in islands(network, &linked, cx) {
        let name = &network.nodes[index].name;
        let hint = "add a link to the rest of the network, or remove the node and all that is linked to it";
        let message = format!("no link joins \"{name}\" to any host with flows");
        cx.error(&format!("topology.nodes[{index}]"), message, hint);
    }
    if graph.ecmp {
        return;
    }
    let mut seen = BTreeMap::new();
    for (index, id) in written {
        let link = &network.links[id.0 as usize];
        if let Some(first) = seen.insert((link.from, link.to), *index).filter(|first| first != index) {
            let message = format!("a second link like topology.links[{first}]: no flow would take it");
            of_link(*index, cx).refuse(message, "remove it, or set topology.ecmp = true");
        }
    }
}

/// Whether each node has a link.
fn linked(network: &Network) -> Vec<bool> {
    let mut linked = vec![false; network.nodes.len()];
    for link in &network.links {
        linked[link.from.0 as usize] = true;
        linked[link.to.0 as usize] = true;
    }
    linked
}

/// One node of each part of the network that has links but no host of any flow.
fn islands(network: &Network, linked: &[bool], cx: &Context<'_>) -> Vec<usize> {
    let mut part: Vec<usize> = (0..network.nodes.len()).collect();
    fn root(part: &mut [usize], mut node: usize) -> usize {
        while part[node] != node {
            part[node] = part[part[node]];
            node = part[node];
        }
        node
    }
    for link in &network.links {
        let (a, b) = (root(&mut part, link.from.0 as usize), root(&mut part, link.to.0 as usize));
        // Each part is represented by its first node.
        part[a.max(b)] = a.min(b);
    }
    let hosts: BTreeSet<String> = cx
        .scenario
        .flows
        .iter()
        .flat_map(|group| group.from.iter().chain(&group.to))
        .flat_map(|hosts| hosts.names())
        .collect();
    let mut used = vec![false; part.len()];
    for (node, _) in network.nodes.iter().enumerate().filter(|(_, node)| hosts.contains(&node.name)) {
        used[root(&mut part, node)] = true;
    }
    (0..part.len()).filter(|node| part[*node] == *node && !used[*node] && linked[*node]).collect()
}
