//! The hosts of a flow group outside a dumbbell, and the nodes that its packets must pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::experiment::NodeId;
use crate::flow_list::FlowList;
use crate::schema::{FlowGroup, Hosts, Pairing};

/// The hosts of a flow group.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub from: Vec<NodeId>,
    pub to: Vec<NodeId>,
    pub via: Via,
    pub pairing: Pairing,
    /// The hosts of each flow, if a list says them: nodes by their places in the list's names, which are `listed` with
    /// the list.
    pub listed: Option<(Vec<NodeId>, Arc<FlowList>)>,
}

impl Ends {
    /// The hosts of `group`; `None` if one is missing or unknown.
    pub(super) fn of(group: &FlowGroup, list: Option<&Arc<FlowList>>, names: &Names) -> Option<Self> {
        let all = |hosts: &[String]| hosts.iter().map(|name| names.get(name).copied()).collect::<Option<_>>();
        if let Some((list, hosts)) = list.and_then(|list| Some((list, list.hosts()?))) {
            return Some(Self {
                from: all(&hosts.names_in(&hosts.sources))?,
                to: all(&hosts.names_in(&hosts.destinations))?,
                via: Via::of(group, names)?,
                // Any two of them may exchange data.
                pairing: Pairing::Random,
                listed: Some((all(&hosts.names)?, Arc::clone(list))),
            });
        }
        let (from, to) = (group.from.as_ref()?.names(), group.to.as_ref()?.names());
        Some(Self {
            from: all(&from)?,
            to: all(&to)?,
            via: Via::of(group, names)?,
            pairing: group.pairing,
            listed: None,
        })
    }
}

/// Node by its name.
pub(super) type Names = BTreeMap<String, NodeId>;

/// The nodes that `via` and `via_back` name.
#[derive(Clone, Debug)]
pub(super) struct Via {
    /// Nodes that data must pass, in this order.
    pub forward: Vec<NodeId>,
    /// Nodes that ACKs must pass, in this order.
    pub backward: Vec<NodeId>,
}

impl Via {
    /// The nodes that `group` names; `None` if one is unknown.
    pub(super) fn of(group: &FlowGroup, names: &Names) -> Option<Self> {
        let nodes = |via: &Option<Hosts>| -> Option<Vec<NodeId>> {
            via.iter().flat_map(Hosts::names).map(|name| names.get(&name).copied()).collect()
        };
        Some(Self { forward: nodes(&group.via)?, backward: nodes(&group.via_back)? })
    }

    /// The stops of data from host `from` to host `to`.
    pub(super) fn forward(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        stops(from, &self.forward, to)
    }

    /// The stops of ACKs from the receiving host `from` to the sending host `to`.
    pub(super) fn backward(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        stops(from, &self.backward, to)
    }
}

fn stops(from: NodeId, via: &[NodeId], to: NodeId) -> Vec<NodeId> {
    [&[from], via, &[to]].concat()
}
