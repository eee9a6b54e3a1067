//! Shortest paths, and the choice among several of equal cost.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use shoal_units::Stream;

use crate::experiment::{Link, LinkId, NodeId};

/// Finds paths of least cost. The cost of a path is the sum of the weights of its links.
pub(super) struct Router {
    /// Links that leave and that enter each node, in file order.
    outgoing: Vec<Vec<LinkId>>,
    incoming: Vec<Vec<LinkId>>,
    ends: Vec<(NodeId, NodeId)>,
    weights: Vec<u32>,
    /// Cost from every node to a destination, computed on first use.
    costs: BTreeMap<NodeId, Vec<Option<u64>>>,
}

impl Router {
    /// A router for these links; a link beyond the end of `weights` weighs 1.
    pub fn new(nodes: usize, links: &[Link], weights: &[u32]) -> Self {
        let mut router = Self {
            outgoing: vec![Vec::new(); nodes],
            incoming: vec![Vec::new(); nodes],
            ends: Vec::with_capacity(links.len()),
            weights: weights.to_vec(),
            costs: BTreeMap::new(),
        };
        router.weights.resize(links.len(), 1);
        for (id, link) in (0u32..).map(LinkId).zip(links) {
            router.outgoing[link.from.0 as usize].push(id);
            router.incoming[link.to.0 as usize].push(id);
            router.ends.push((link.from, link.to));
        }
        router
    }

    /// A path of least cost from one node to another. `choose` picks one of several next hops, which come in
    /// file order: always taking the first gives, of all these paths, the one whose first differing link
    /// comes first in the file.
    pub fn path(
        &mut self,
        from: NodeId,
        to: NodeId,
        mut choose: impl FnMut(usize) -> usize,
    ) -> Option<Vec<LinkId>> {
        if from == to {
            return None;
        }
        if !self.costs.contains_key(&to) {
            let costs = self.costs_to(to);
            self.costs.insert(to, costs);
        }
        let costs = &self.costs[&to];
        let mut links = Vec::new();
        let mut node = from;
        while node != to {
            costs[node.0 as usize]?;
            let hops: Vec<LinkId> = self.next_hops(node, costs).collect();
            let hop = if hops.len() == 1 { hops[0] } else { hops[choose(hops.len())] };
            links.push(hop);
            node = self.ends[hop.0 as usize].1;
        }
        Some(links)
    }

    /// A path through all `stops` in their order, with least cost between neighbouring stops.
    pub fn route(&mut self, stops: &[NodeId], mut choose: impl FnMut(usize) -> usize) -> Option<Vec<LinkId>> {
        let mut links = Vec::new();
        for leg in stops.windows(2) {
            links.extend(self.path(leg[0], leg[1], &mut choose)?);
        }
        Some(links)
    }

    /// The nodes on paths of least cost, both ends included: those of every such path if `all`, else those of
    /// the path that takes the first of several next hops.
    pub fn passed(&mut self, from: NodeId, to: NodeId, all: bool) -> BTreeSet<NodeId> {
        let mut passed = BTreeSet::from([from]);
        let Some(path) = self.path(from, to, |_| 0) else { return passed };
        if !all {
            passed.extend(path.iter().map(|id| self.ends[id.0 as usize].1));
            return passed;
        }
        let costs = &self.costs[&to];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            let next = self.next_hops(node, costs).map(|id| self.ends[id.0 as usize].1);
            open.extend(
                next.filter(|node| *node != to).filter(|node| passed.insert(*node)).collect::<Vec<_>>(),
            );
        }
        passed.insert(to);
        passed
    }

    /// Links by which paths of least cost leave a node, in file order; `costs` are the costs to the
    /// destination.
    fn next_hops(&self, node: NodeId, costs: &[Option<u64>]) -> impl Iterator<Item = LinkId> {
        let left = costs[node.0 as usize];
        self.outgoing[node.0 as usize].iter().copied().filter(move |id| {
            let beyond = costs[self.ends[id.0 as usize].1.0 as usize];
            beyond.is_some_and(|beyond| Some(beyond + u64::from(self.weights[id.0 as usize])) == left)
        })
    }

    /// Costs from all nodes to `to`: Dijkstra's algorithm against the direction of the links.
    fn costs_to(&self, to: NodeId) -> Vec<Option<u64>> {
        let mut costs = vec![None; self.outgoing.len()];
        let mut open = BinaryHeap::from([Reverse((0u64, to))]);
        while let Some(Reverse((cost, node))) = open.pop() {
            if costs[node.0 as usize].is_some() {
                continue;
            }
            costs[node.0 as usize] = Some(cost);
            for id in &self.incoming[node.0 as usize] {
                let before = self.ends[id.0 as usize].0;
                if costs[before.0 as usize].is_none() {
                    open.push(Reverse((cost + u64::from(self.weights[id.0 as usize]), before)));
                }
            }
        }
        costs
    }
}

/// The choices of one flow among next hops of equal cost: a hash of the flow, as switches hash the
/// five-tuple, drawn anew for each hop and direction.
pub(super) struct FlowHash(Stream);

impl FlowHash {
    /// The hash of flow `number` of `group`.
    pub fn new(seed: u64, group: &str, number: u32) -> Self {
        Self(Stream::new(seed, &format!("ecmp/{group}/{number}")))
    }
    /// Chooses one of `count` next hops.
    pub fn choose(&mut self, count: usize) -> usize {
        ((u128::from(self.0.uniform_u64()) * count as u128) >> 64) as usize
    }
}
