//! Nodes that the packets of a flow group must pass (`via`, `via_back`), and the check that such paths exist.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::ends::{Ends, Names};
use super::network::Network;
use super::routing::Router;
use crate::experiment::NodeId;
use crate::field::suggest;
use crate::schema::{FlowGroup, Hosts};

/// Reports names in `via` and `via_back` that no node has.
pub(super) fn check_names(index: usize, group: &FlowGroup, names: &Names, cx: &Context<'_>) {
    for (key, via) in [("via", &group.via), ("via_back", &group.via_back)] {
        let unknown = via.iter().flat_map(Hosts::names).filter(|name| !names.contains_key(name));
        for name in unknown {
            let known: Vec<&str> = names.keys().map(String::as_str).collect();
            let message = format!("unknown node \"{name}\"");
            cx.group(index).error(key, message, suggest(&name, &known));
        }
    }
}

/// Checks that every pair of hosts has a path through the nodes that the group names, and that no path passes
/// a node twice.
pub(super) fn check(
    index: usize,
    ends: &Ends,
    network: &Network,
    router: &mut Router,
    cx: &Context<'_>,
) -> bool {
    let directions = [
        ("via", &ends.from, &ends.via.forward, &ends.to),
        ("via_back", &ends.to, &ends.via.backward, &ends.from),
    ];
    let mut right = true;
    for (key, from, via, to) in directions {
        let (Some(first), Some(last)) = (via.first(), via.last()) else { continue };
        let name = |id: NodeId| network.nodes[id.0 as usize].name.as_str();
        let mut refuse = |message: String, hint: &str| {
            cx.group(index).error(key, message, hint);
            right = false;
        };
        let mut trip = Trip { router, all: network.ecmp, passed: BTreeMap::new() };
        let result = via.windows(2).try_for_each(|leg| trip.middle(leg[0], leg[1])).and_then(|()| {
            let mark = |(turn, host): (usize, &NodeId)| (*host, ends.mark(turn, *host));
            from.iter().enumerate().map(mark).try_for_each(|(host, mark)| trip.head(mark, host, *first))?;
            to.iter()
                .enumerate()
                .map(mark)
                .try_for_each(|(host, mark)| trip.tail(*last, host, |heads| ends.meet(heads, mark)))
        });
        match result {
            Ok(()) => {}
            Err(Wrong::NoWay(a, b)) => refuse(
                format!("there is no path from \"{}\" to \"{}\"", name(a), name(b)),
                "add links, or name the nodes in the order in which packets pass them",
            ),
            Err(Wrong::Twice(node)) => refuse(
                format!("a routing loop: packets would pass \"{}\" twice", name(node)),
                "leave out the node that makes the path turn back, or name more of the nodes between",
            ),
        }
    }
    right
}

/// Why a path cannot be taken.
enum Wrong {
    NoWay(NodeId, NodeId),
    Twice(NodeId),
}

/// The nodes on a path, one leg after the other.
struct Trip<'r> {
    router: &'r mut Router,
    /// Whether flows take any of several paths of equal cost.
    all: bool,
    /// Which paths pass each node.
    passed: BTreeMap<NodeId, Passed>,
}

enum Passed {
    /// All paths.
    Always,
    /// The paths from the first hosts with these marks ([`Ends::mark`]).
    From(BTreeSet<usize>),
}

impl Trip<'_> {
    /// Adds a leg between two named nodes; its end belongs to the following leg.
    fn middle(&mut self, from: NodeId, to: NodeId) -> Result<(), Wrong> {
        for node in self.leg(from, to)?.into_iter().filter(|node| *node != to) {
            if self.passed.insert(node, Passed::Always).is_some() {
                return Err(Wrong::Twice(node));
            }
        }
        Ok(())
    }

    /// Adds the leg from a host with this mark to the first named node.
    fn head(&mut self, mark: usize, host: NodeId, first: NodeId) -> Result<(), Wrong> {
        for node in self.leg(host, first)?.into_iter().filter(|node| *node != first) {
            match self.passed.entry(node) {
                Entry::Vacant(entry) => {
                    entry.insert(Passed::From(BTreeSet::from([mark])));
                }
                Entry::Occupied(mut entry) => match entry.get_mut() {
                    Passed::Always => return Err(Wrong::Twice(node)),
                    Passed::From(marks) => {
                        marks.insert(mark);
                    }
                },
            }
        }
        Ok(())
    }

    /// Adds the leg from the last named node to a host; `meets` tells whether a path leads there from a first host with
    /// one of these marks.
    fn tail(
        &mut self,
        last: NodeId,
        host: NodeId,
        meets: impl Fn(&BTreeSet<usize>) -> bool,
    ) -> Result<(), Wrong> {
        let leg = self.leg(last, host)?;
        let twice = |node: &NodeId| match self.passed.get(node) {
            None => false,
            Some(Passed::Always) => true,
            Some(Passed::From(marks)) => meets(marks),
        };
        leg.into_iter().find(twice).map_or(Ok(()), |node| Err(Wrong::Twice(node)))
    }

    fn leg(&mut self, from: NodeId, to: NodeId) -> Result<Vec<NodeId>, Wrong> {
        if from == to {
            return Err(Wrong::Twice(from));
        }
        if self.router.path(from, to, |_| 0).is_none() {
            return Err(Wrong::NoWay(from, to));
        }
        Ok(self.router.passed(from, to, self.all).into_iter().collect())
    }
}
