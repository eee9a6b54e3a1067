//! Shortest paths, and the choice among several of equal cost.
//!
//! A host with a single link reaches everything through the switch at the other end, and everything reaches it from
//! there. Only the nodes that remain without such hosts are searched: a switch has one table of costs for all its
//! hosts, so that the tables do not grow with the square of the number of hosts.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use shoal_units::Stream;

use crate::experiment::{Link, LinkId, NodeId};

/// Finds paths of least cost. The cost of a path is the sum of the weights of its links.
pub(super) struct Router {
    places: Vec<Place>,
    /// The node at each position of the core.
    core: Vec<NodeId>,
    /// Links between nodes of the core by the position at which they start, in file order.
    outgoing: Vec<Vec<Hop>>,
    /// Links between nodes of the core by the position at which they end; `Hop::node` is where they start.
    incoming: Vec<Vec<Hop>>,
    /// Cost from every position to a destination, computed on first use.
    costs: Vec<Option<Box<[u64]>>>,
}

/// Where a node is in the network.
#[derive(Clone, Copy)]
enum Place {
    /// A node that paths may pass, with its position.
    Core(u32),
    /// A node with a single neighbour, which is at position `gateway`, and a single link in each direction.
    Stub { gateway: u32, up: LinkId, down: LinkId },
}

/// A link between two nodes of the core, as seen from one of them.
#[derive(Clone, Copy)]
struct Hop {
    link: LinkId,
    /// Position of the node at the other end.
    node: u32,
    weight: u32,
}

/// Cost from nodes that have no path to the destination.
const UNREACHABLE: u64 = u64::MAX;

impl Router {
    /// A router for these links; a link beyond the end of `weights` weighs 1.
    pub(super) fn new(nodes: usize, links: &[Link], weights: &[u32]) -> Self {
        let (places, core) = places(nodes, links);
        let none = || vec![Vec::new(); core.len()];
        let (mut outgoing, mut incoming) = (none(), none());
        for (id, link) in (0u32..).map(LinkId).zip(links) {
            let (Place::Core(from), Place::Core(to)) =
                (places[link.from.0 as usize], places[link.to.0 as usize])
            else {
                continue;
            };
            let weight = weights.get(id.0 as usize).copied().unwrap_or(1);
            outgoing[from as usize].push(Hop { link: id, node: to, weight });
            incoming[to as usize].push(Hop { link: id, node: from, weight });
        }
        let costs = vec![None; core.len()];
        Self { places, core, outgoing, incoming, costs }
    }

    /// A path of least cost from one node to another. `choose` picks one of several next hops, which come in
    /// file order: always taking the first gives, of all these paths, the one whose first differing link
    /// comes first in the file.
    pub(super) fn path(
        &mut self,
        from: NodeId,
        to: NodeId,
        mut choose: impl FnMut(usize) -> usize,
    ) -> Option<Vec<LinkId>> {
        let (mut node, end) = self.between(from, to)?;
        let costs = self.costs[end as usize].as_deref()?;
        let mut links = Vec::new();
        if let Place::Stub { up, .. } = self.places[from.0 as usize] {
            links.push(up);
        }
        while node != end {
            let count = self.next_hops(node, costs).count();
            let chosen = if count == 1 { 0 } else { choose(count) };
            let hop = self.next_hops(node, costs).nth(chosen)?;
            links.push(hop.link);
            node = hop.node;
        }
        if let Place::Stub { down, .. } = self.places[to.0 as usize] {
            links.push(down);
        }
        Some(links)
    }

    /// A path through all `stops` in their order, with least cost between neighbouring stops.
    pub(super) fn route(
        &mut self,
        stops: &[NodeId],
        mut choose: impl FnMut(usize) -> usize,
    ) -> Option<Vec<LinkId>> {
        let mut links = Vec::new();
        for leg in stops.windows(2) {
            links.extend(self.path(leg[0], leg[1], &mut choose)?);
        }
        Some(links)
    }

    /// The nodes on paths of least cost, both ends included: those of every such path if `all`, else those of
    /// the path that takes the first of several next hops.
    pub(super) fn passed(&mut self, from: NodeId, to: NodeId, all: bool) -> BTreeSet<NodeId> {
        let mut passed = BTreeSet::from([from]);
        let Some((start, end)) = self.between(from, to) else { return passed };
        let Some(costs) = self.costs[end as usize].as_deref() else { return passed };
        passed.extend([to, self.core[start as usize]]);
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            if node == end {
                continue;
            }
            for hop in self.next_hops(node, costs).take(if all { usize::MAX } else { 1 }) {
                if passed.insert(self.core[hop.node as usize]) {
                    open.push(hop.node);
                }
            }
        }
        passed
    }

    /// The positions between which a path from one node to another has to be found, if there is one. The costs to the
    /// second are known afterwards.
    fn between(&mut self, from: NodeId, to: NodeId) -> Option<(u32, u32)> {
        let position = |node: NodeId| match self.places[node.0 as usize] {
            Place::Core(position) | Place::Stub { gateway: position, .. } => position,
        };
        let (start, end) = (position(from), position(to));
        if self.costs[end as usize].is_none() {
            self.costs[end as usize] = Some(self.costs_to(end));
        }
        let reachable = self.costs[end as usize].as_ref()?[start as usize] != UNREACHABLE;
        (from != to && reachable).then_some((start, end))
    }

    /// Links by which paths of least cost leave a node, in file order; `costs` are the costs to the
    /// destination.
    fn next_hops(&self, node: u32, costs: &[u64]) -> impl Iterator<Item = Hop> {
        let left = costs[node as usize];
        self.outgoing[node as usize].iter().copied().filter(move |hop| {
            let beyond = costs[hop.node as usize];
            beyond != UNREACHABLE && beyond + u64::from(hop.weight) == left
        })
    }

    /// Costs from all positions to `to`: Dijkstra's algorithm against the direction of the links.
    fn costs_to(&self, to: u32) -> Box<[u64]> {
        let mut costs = vec![UNREACHABLE; self.core.len()].into_boxed_slice();
        costs[to as usize] = 0;
        let mut open = BinaryHeap::from([Reverse((0u64, to))]);
        while let Some(Reverse((cost, node))) = open.pop() {
            if cost > costs[node as usize] {
                continue;
            }
            for hop in &self.incoming[node as usize] {
                let through = cost + u64::from(hop.weight);
                if through < costs[hop.node as usize] {
                    costs[hop.node as usize] = through;
                    open.push(Reverse((through, hop.node)));
                }
            }
        }
        costs
    }
}

/// The place of each node, and the nodes of the core in the order of their positions.
fn places(nodes: usize, links: &[Link]) -> (Vec<Place>, Vec<NodeId>) {
    /// The links of a node in one direction.
    #[derive(Clone, Copy)]
    enum Links {
        None,
        One(LinkId, NodeId),
        Several,
    }
    impl Links {
        fn add(&mut self, id: LinkId, neighbour: NodeId) {
            *self = if let Self::None = self { Self::One(id, neighbour) } else { Self::Several };
        }
    }
    let mut of_nodes = vec![(Links::None, Links::None); nodes];
    for (id, link) in (0u32..).map(LinkId).zip(links) {
        of_nodes[link.from.0 as usize].0.add(id, link.to);
        of_nodes[link.to.0 as usize].1.add(id, link.from);
    }
    let single = |node: usize| match of_nodes[node] {
        (Links::One(up, there), Links::One(down, back)) if there == back => Some((there, up, down)),
        _ => None,
    };
    // Of two nodes that have only each other neither is a stub: both would lack a gateway.
    let stub = |node: usize| single(node).filter(|(gateway, ..)| single(gateway.0 as usize).is_none());
    let core: Vec<NodeId> =
        (0..nodes as u32).map(NodeId).filter(|node| stub(node.0 as usize).is_none()).collect();
    let mut places = vec![Place::Core(0); nodes];
    for (position, node) in (0u32..).zip(&core) {
        places[node.0 as usize] = Place::Core(position);
    }
    for node in 0..nodes {
        if let Some((gateway, up, down)) = stub(node)
            && let Place::Core(gateway) = places[gateway.0 as usize]
        {
            places[node] = Place::Stub { gateway, up, down };
        }
    }
    (places, core)
}

/// The choices of one flow among next hops of equal cost: a hash of the flow, as switches hash the
/// five-tuple, drawn anew for each hop and direction.
pub(super) struct FlowHash(Stream);

impl FlowHash {
    /// The hash of flow `number` of `group`.
    pub(super) fn new(seed: u64, group: &str, number: u32) -> Self {
        Self(Stream::new(seed, &format!("ecmp/{group}/{number}")))
    }
    /// Chooses one of `count` next hops.
    pub(super) fn choose(&mut self, count: usize) -> usize {
        ((u128::from(self.0.uniform_u64()) * count as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests;
