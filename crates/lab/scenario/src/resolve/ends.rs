//! The hosts of a flow group outside a dumbbell, and the nodes that its packets must pass.

use std::collections::{BTreeMap, BTreeSet};

use shoal_units::Stream;

use crate::experiment::NodeId;
use crate::schema::{FlowGroup, Hosts, Pairing};

/// The hosts of a flow group.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub from: Vec<NodeId>,
    pub to: Vec<NodeId>,
    pub via: Via,
    pairing: Pairing,
}

impl Ends {
    /// The hosts of `group`; `None` if one is missing or unknown.
    pub fn of(group: &FlowGroup, names: &Names) -> Option<Self> {
        let all = |hosts: &[String]| hosts.iter().map(|name| names.get(name).copied()).collect::<Option<_>>();
        let (from, to) = (group.from.as_ref()?.names(), group.to.as_ref()?.names());
        Some(Self { from: all(&from)?, to: all(&to)?, via: Via::of(group, names)?, pairing: group.pairing })
    }

    /// Whether some flow goes from entry `i` of the senders' list to entry `j` of the receivers'.
    pub fn pairs(&self, i: usize, j: usize) -> bool {
        match self.pairing {
            // With F senders and T receivers, flow n uses entries n mod F and n mod T: i and j meet if i = j
            // mod gcd(F, T).
            Pairing::InTurn => {
                let period = gcd(self.from.len(), self.to.len());
                i % period == j % period
            }
            Pairing::Random => self.from[i] != self.to[j],
        }
    }

    /// Sending and receiving host of flow `number`.
    pub fn pair(&self, seed: u64, group: &str, number: u32) -> (NodeId, NodeId) {
        let n = number as usize;
        match self.pairing {
            Pairing::InTurn => (self.from[n % self.from.len()], self.to[n % self.to.len()]),
            Pairing::Random => {
                let mut stream = Stream::new(seed, &format!("pair/{group}/{number}"));
                let mut pick = |of: &[NodeId]| {
                    of[((u128::from(stream.uniform_u64()) * of.len() as u128) >> 64) as usize]
                };
                // A pair of different hosts exists, otherwise the scenario has been refused.
                loop {
                    let (from, to) = (pick(&self.from), pick(&self.to));
                    if from != to {
                        return (from, to);
                    }
                }
            }
        }
    }

    /// A host that would be both ends of some flow.
    pub fn self_pair(&self) -> Option<NodeId> {
        match self.pairing {
            Pairing::InTurn => {
                let meets = |(i, from): (usize, &NodeId)| {
                    self.to.iter().enumerate().any(|(j, to)| from == to && self.pairs(i, j))
                };
                self.from.iter().enumerate().find(|pair| meets(*pair)).map(|(_, from)| *from)
            }
            Pairing::Random => {
                let hosts: BTreeSet<_> = self.from.iter().chain(&self.to).collect();
                (hosts.len() == 1).then(|| self.from[0])
            }
        }
    }
}

const fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Node by its name.
pub(super) type Names = BTreeMap<String, NodeId>;

/// The nodes that `via` and `via_back` name.
#[derive(Clone, Debug)]
pub(super) struct Via {
    /// Those of data.
    pub forward: Vec<NodeId>,
    /// Those of ACKs.
    pub backward: Vec<NodeId>,
}

impl Via {
    /// The nodes that `group` names; `None` if one is unknown.
    pub fn of(group: &FlowGroup, names: &Names) -> Option<Self> {
        let nodes = |via: &Option<Hosts>| -> Option<Vec<NodeId>> {
            via.iter().flat_map(Hosts::names).map(|name| names.get(&name).copied()).collect()
        };
        Some(Self { forward: nodes(&group.via)?, backward: nodes(&group.via_back)? })
    }

    /// The stops of data from host `from` to host `to`.
    pub fn forward(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        stops(from, &self.forward, to)
    }

    /// The stops of ACKs from the receiving host `from` to the sending host `to`.
    pub fn backward(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        stops(from, &self.backward, to)
    }
}

fn stops(from: NodeId, via: &[NodeId], to: NodeId) -> Vec<NodeId> {
    [&[from], via, &[to]].concat()
}
