//! Any nodes and links, and routes through them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_units::{Rate, Span};

use super::Context;
use super::arrivals::Reference;
use super::flows::Routes;
use super::network::{Network, checked_overhead, checked_rate};
use super::queue::{Port, largest_packet, queue};
use crate::experiment::{Link, LinkId, NodeId};
use crate::field::suggest;
use crate::schema::{FlowGroup, Graph};

/// The graph as written.
pub(super) fn network(graph: &Graph, cx: &mut Context<'_>) -> Option<Network> {
    refuse_bottleneck(cx);
    let mut network = Network::default();
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
    // Queues may be given in BDP, whose round-trip time depends on the routes: links first, queues later.
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
        let rate = checked_rate(link.rate, &format!("{path}.rate"), cx);
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
        };
        written.push((index, network.link(there.clone())));
        if link.both_ways {
            let name = format!("{}/back", there.name);
            written.push((index, network.link(Link { name, from: to, to: from, monitored: false, ..there })));
        }
    }
    duplicate_names(&network, &written, cx);
    connect(&mut network, cx)?;

    let bdp_rtt = graph.bdp_rtt.map(|rtt| rtt.span()).or_else(|| first_round_trip(&network));
    let mtu = largest_packet(cx);
    let mut complete = true;
    for (index, id) in written {
        let link = &graph.links[index];
        let Some(rate) = network.links[id.0 as usize].rate else { continue };
        let (aqm_path, buffer_path) =
            (format!("topology.links[{index}].aqm"), format!("topology.links[{index}].buffer"));
        let port = Port { aqm_path: &aqm_path, buffer_path: &buffer_path, rate, bdp_rtt, mtu };
        match queue(&link.aqm, link.buffer, &port, cx) {
            Some(queue) => network.links[id.0 as usize].queue = queue,
            None => complete = false,
        }
    }
    complete.then_some(network)
}

/// Only a dumbbell has `[bottleneck]`.
pub(super) fn refuse_bottleneck(cx: &mut Context<'_>) {
    if cx.scenario.bottleneck.is_some() {
        let hint = "give rate, buffer and aqm in [topology], and remove [bottleneck]";
        cx.error("bottleneck", "only a dumbbell has a [bottleneck]", hint);
    }
}

/// Random streams are named after links, so names must differ.
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
    let (forward, backward) = *network.routes.first()?.pairs.first()?;
    let links = network.paths[forward as usize].iter().chain(&network.paths[backward as usize]);
    let total = links.map(|id| network.links[id.0 as usize].delay.as_picos()).fold(0u64, u64::saturating_add);
    (total > 0).then(|| Span::from_picos(total))
}

/// The hosts of a flow group.
pub(super) struct Ends {
    from: Vec<NodeId>,
    pub to: NodeId,
}

impl Ends {
    /// `None` if one is missing or unknown.
    pub fn of(group: &FlowGroup, names: &Names) -> Option<Self> {
        let from =
            group.from.as_ref()?.0.iter().map(|name| names.get(name).copied()).collect::<Option<_>>()?;
        Some(Self { from, to: *names.get(group.to.as_ref()?)? })
    }
}

/// Nodes by name.
pub(super) type Names = BTreeMap<String, NodeId>;

/// The names of all nodes.
pub(super) fn names(network: &Network) -> Names {
    (0u32..).zip(&network.nodes).map(|(index, node)| (node.name.clone(), NodeId(index))).collect()
}

/// Finds the paths of all flow groups.
pub(super) fn connect(network: &mut Network, cx: &mut Context<'_>) -> Option<()> {
    let names = names(network);
    let mut known = BTreeMap::new();
    let mut complete = true;
    for (index, group) in cx.scenario.flows.iter().enumerate() {
        check_ends(index, group, &names, cx);
        let Some(ends) = Ends::of(group, &names) else {
            complete = false;
            continue;
        };
        let mut pairs = Vec::new();
        for (turn, from) in ends.from.iter().enumerate() {
            let there = path(network, *from, ends.to, &mut known);
            let back = path(network, ends.to, *from, &mut known);
            if let (Some(there), Some(back)) = (there, back) {
                pairs.push((there, back));
                continue;
            }
            let name = |id: NodeId| network.nodes[id.0 as usize].name.as_str();
            let (a, b) = if there.is_none() { (*from, ends.to) } else { (ends.to, *from) };
            let message = if a == b {
                format!("flows from \"{}\" to itself", name(a))
            } else {
                format!("there is no way from \"{}\" to \"{}\"", name(a), name(b))
            };
            let hint = if a == b {
                "name two different hosts"
            } else {
                "add links; ACKs need a way back (both_ways = true)"
            };
            let key = if ends.from.len() > 1 {
                format!("flows[{index}].from[{turn}]")
            } else {
                format!("flows[{index}].from")
            };
            cx.error(&key, message, hint);
            complete = false;
        }
        let reference = access(network, &pairs);
        network.routes.push(Routes { pairs: pairs.into(), first: 0, reference });
    }
    complete.then_some(())
}

/// The links by which the senders of these paths are attached, as if they were one: the first on each path that has a rate.
fn access(network: &Network, pairs: &[(u32, u32)]) -> Option<Reference> {
    let links: Option<BTreeSet<LinkId>> = pairs
        .iter()
        .map(|(forward, _)| {
            let path = &network.paths[*forward as usize];
            path.iter().copied().find(|id| network.links[id.0 as usize].rate.is_some())
        })
        .collect();
    let links = links?;
    let link = |id: &LinkId| &network.links[id.0 as usize];
    let bps = links.iter().filter_map(|id| link(id).rate).map(Rate::as_bps).fold(0, u64::saturating_add);
    Some(Reference { rate: Rate::from_bps(bps), overhead_bytes: link(links.first()?).overhead_bytes })
}

fn check_ends(index: usize, group: &FlowGroup, names: &Names, cx: &mut Context<'_>) {
    let at = |key: &str| format!("flows[{index}].{key}");
    let mut check = |key: &str, name: &str| {
        if !names.contains_key(name) {
            let names: Vec<&str> = names.keys().map(String::as_str).collect();
            cx.error(&at(key), format!("unknown node \"{name}\""), suggest(name, &names));
        }
    };
    group.from.iter().flat_map(|hosts| &hosts.0).for_each(|name| check("from", name));
    group.to.iter().for_each(|name| check("to", name));
    for (key, missing) in [("from", group.from.is_none()), ("to", group.to.is_none())] {
        if missing {
            cx.error(
                &at(key),
                format!("missing key `{key}`"),
                format!(
                    "name a host, as in {key} = \"{}\"",
                    names.keys().next().map_or("h1", String::as_str)
                ),
            );
        }
    }
    if group.rtt.is_some() {
        let hint = "remove it: the round-trip time follows from the delays of the links";
        cx.error(&at("rtt"), "only flows of a dumbbell have an rtt", hint);
    }
}

/// The path with the fewest links; among equals the one whose first differing link comes first in the file.
fn path(
    network: &mut Network,
    from: NodeId,
    to: NodeId,
    known: &mut BTreeMap<(NodeId, NodeId), Option<u32>>,
) -> Option<u32> {
    if let Some(path) = known.get(&(from, to)) {
        return *path;
    }
    let found = (from != to).then(|| shortest(network, from, to)).flatten().map(|links| network.path(links));
    known.insert((from, to), found);
    found
}

/// Breadth-first in link order: the first path that reaches a node is the smallest of the shortest ones.
fn shortest(network: &Network, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
    let mut outgoing = vec![Vec::new(); network.nodes.len()];
    for (index, link) in network.links.iter().enumerate() {
        outgoing[link.from.0 as usize].push(LinkId(index as u32));
    }
    let mut reached_by: Vec<Option<LinkId>> = vec![None; network.nodes.len()];
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for id in &outgoing[node.0 as usize] {
            let next = network.links[id.0 as usize].to;
            if next != from && reached_by[next.0 as usize].is_none() {
                reached_by[next.0 as usize] = Some(*id);
                queue.push_back(next);
            }
        }
    }
    let mut links = Vec::new();
    let mut node = to;
    while node != from {
        let id = reached_by[node.0 as usize]?;
        links.push(id);
        node = network.links[id.0 as usize].from;
    }
    links.reverse();
    Some(links)
}
