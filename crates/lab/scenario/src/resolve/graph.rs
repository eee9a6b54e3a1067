//! Graphs of any nodes and links, and routes through them.

use std::collections::{BTreeMap, BTreeSet};

use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_units::Span;

use super::Context;
use super::hosts::connect;
use super::network::{Network, checked_overhead, largest_packet};
use crate::aqm::{Port, queue};
use crate::experiment::{Link, LinkId, NodeId};
use crate::field::suggest;
use crate::line_rate::checked_rate;
use crate::schema::{Graph, SharedBuffer};

/// The network of a graph as written.
pub(super) fn network(graph: &Graph, cx: &mut Context<'_>) -> Option<Network> {
    refuse_bottleneck(cx);
    let mut network = Network { ecmp: graph.ecmp, ..Network::default() };
    let mut ids = BTreeMap::new();
    for (index, name) in graph.nodes.iter().enumerate() {
        let id = network.node(name.as_str());
        if ids.insert(name.as_str(), id).is_some() {
            cx.error(
                &format!("topology.nodes[{index}]"),
                format!("duplicate node \"{name}\""),
                "name each node once",
            );
        }
    }
    // A queue may be given in BDP, whose round-trip time depends on the routes: links come first, queues
    // later.
    let mut written = Vec::new();
    for (index, link) in graph.links.iter().enumerate() {
        let path = format!("topology.links[{index}]");
        let mut end = |key: &str, name: &str| {
            let id = ids.get(name).copied();
            if id.is_none() {
                let names: Vec<&str> = graph.nodes.iter().map(String::as_str).collect();
                cx.error(&format!("{path}.{key}"), format!("unknown node \"{name}\""), suggest(name, &names));
            }
            id
        };
        let (from, to) = (end("from", &link.from), end("to", &link.to));
        let rate = checked_rate(link.rate, &format!("{path}.rate"), &mut cx.remarks);
        let overhead_bytes = checked_overhead(link.overhead, &format!("{path}.overhead"), cx);
        let (Some(from), Some(to), Ok(rate)) = (from, to, rate) else { continue };
        if from == to {
            cx.error(&format!("{path}.to"), "the link ends where it starts", "name two different nodes");
        }
        let there = Link {
            name: link.name.clone().unwrap_or_default(),
            from,
            to,
            rate,
            delay: link.delay.span(),
            overhead_bytes,
            queue: QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited }),
            monitored: link.monitored.unwrap_or(false),
            pool: None,
        };
        if link.weight == 0 {
            let hint = "write at least 1: with weight 0 a path could contain a loop";
            cx.error(&format!("{path}.weight"), "the weight of the link is 0", hint);
        }
        written.push((index, network.link(there.clone())));
        network.weights.push(link.weight.max(1));
        if link.both_ways {
            let name = format!("{}/back", there.name);
            written.push((index, network.link(Link { name, from: to, to: from, monitored: false, ..there })));
            network.weights.push(link.weight.max(1));
        }
    }
    duplicate_names(&network, &written, cx);
    // A refused link would make the nodes at its ends look isolated.
    if graph.links.iter().enumerate().all(|(index, _)| written.iter().any(|(link, _)| *link == index)) {
        check_use(graph, &network, &written, cx);
    }
    share_buffers(graph, &mut network, &ids, cx);
    connect(&mut network, cx)?;

    let bdp_rtt = graph.bdp_rtt.map(|rtt| rtt.span()).or_else(|| first_round_trip(&network));
    network.bdp_rtt = bdp_rtt;
    let mtu = largest_packet(cx);
    let mut complete = true;
    for (index, id) in written {
        let link = &graph.links[index];
        let Some(rate) = network.links[id.0 as usize].rate else { continue };
        let (aqm_path, buffer_path) =
            (format!("topology.links[{index}].aqm"), format!("topology.links[{index}].buffer"));
        let port = Port { aqm_path: &aqm_path, buffer_path: &buffer_path, rate, bdp_rtt, mtu };
        match queue(&link.aqm, link.buffer, &port, &mut cx.remarks) {
            Some(queue) => network.links[id.0 as usize].queue = queue,
            None => complete = false,
        }
    }
    complete.then_some(network)
}

fn share_buffers(graph: &Graph, network: &mut Network, ids: &BTreeMap<&str, NodeId>, cx: &mut Context<'_>) {
    let mut seen = BTreeMap::new();
    for (index, shared) in graph.shared_buffers.iter().enumerate() {
        let path = format!("topology.shared_buffers[{index}]");
        let Some(node) = ids.get(shared.node.as_str()) else {
            let names: Vec<&str> = graph.nodes.iter().map(String::as_str).collect();
            let message = format!("unknown node \"{}\"", shared.node);
            cx.error(&format!("{path}.node"), message, suggest(&shared.node, &names));
            continue;
        };
        if seen.insert(*node, index).is_some() {
            let message = format!("\"{}\" has a shared buffer already", shared.node);
            cx.error(&format!("{path}.node"), message, "give each node one shared buffer");
            continue;
        }
        let buffer = SharedBuffer { size: shared.size, alpha: shared.alpha, reserved: shared.reserved };
        super::pool::share(network, *node, &buffer, &path, cx);
    }
}

/// Refuses `[bottleneck]` outside a dumbbell.
pub(super) fn refuse_bottleneck(cx: &mut Context<'_>) {
    if cx.scenario.bottleneck.is_some() {
        let hint = "give rate, buffer and aqm in [topology], and remove [bottleneck]";
        cx.error("bottleneck", "only a dumbbell has a [bottleneck]", hint);
    }
}

/// Refuses duplicate link names, since random streams are named after links.
fn duplicate_names(network: &Network, written: &[(usize, LinkId)], cx: &mut Context<'_>) {
    let mut seen = BTreeMap::new();
    for (index, id) in written {
        let name = &network.links[id.0 as usize].name;
        if seen.insert(name.as_str(), *index).is_some() {
            let hint = "give one of them another name";
            cx.error(
                &format!("topology.links[{index}].name"),
                format!("duplicate link name \"{name}\""),
                hint,
            );
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
fn check_use(graph: &Graph, network: &Network, written: &[(usize, LinkId)], cx: &mut Context<'_>) {
    for (index, node) in (0u32..).map(NodeId).enumerate().take(network.nodes.len()) {
        if !network.links.iter().any(|link| link.from == node || link.to == node) {
            let name = &network.nodes[index].name;
            let hint = "add a link to it, or remove the node";
            cx.error(&format!("topology.nodes[{index}]"), format!("\"{name}\" has no links"), hint);
        }
    }
    for index in islands(network, cx) {
        let name = &network.nodes[index].name;
        let hint = "add a link to the rest of the network, or remove the node and all that is linked to it";
        cx.error(
            &format!("topology.nodes[{index}]"),
            format!("no link joins \"{name}\" to any host with flows"),
            hint,
        );
    }
    if graph.ecmp {
        return;
    }
    let mut seen = BTreeMap::new();
    for (index, id) in written {
        let link = &network.links[id.0 as usize];
        if let Some(first) = seen.insert((link.from, link.to), *index).filter(|first| first != index) {
            let message = format!("a second link like topology.links[{first}]: no flow would take it");
            cx.error(&format!("topology.links[{index}]"), message, "remove it, or set topology.ecmp = true");
        }
    }
}

/// One node of each part of the network that has links but no host of any flow.
fn islands(network: &Network, cx: &Context<'_>) -> Vec<usize> {
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
    let linked = |node: usize| {
        network.links.iter().any(|link| link.from.0 as usize == node || link.to.0 as usize == node)
    };
    (0..part.len()).filter(|node| part[*node] == *node && !used[*node] && linked(*node)).collect()
}
