//! Routes that begin with the queue discipline of a host.

use crate::cards::Cards;
use crate::network::Network;
use shoal_host::Quanta;
use shoal_scenario::{Experiment, Flow};
use shoal_tcp::Pacing;
use std::collections::BTreeMap;

/// What flows share a queue discipline by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Host {
    /// The host whose card this link is.
    Card(u32),
    /// The hosts at the beginning of this path, which are no nodes of their own.
    Path(u32),
}

/// Routes of the flows whose hosts have a queue discipline.
#[derive(Default)]
pub(crate) struct QueuedRoutes {
    queues: BTreeMap<Host, u32>,
    /// By path and end.
    routes: BTreeMap<(u32, u32), u32>,
}

impl QueuedRoutes {
    /// Route over a path of the flow to one of the ends of [`crate::network`]; `None` if its hosts have no queue
    /// discipline.
    pub(crate) fn route(
        &mut self,
        network: &mut Network,
        (experiment, cards): (&Experiment, &Cards),
        flow: &Flow,
        path: u32,
        end: u32,
    ) -> Option<u32> {
        experiment.host_of(flow).offload.filter(|offload| offload.pacing == Pacing::Fq)?;
        if let Some(route) = self.routes.get(&(path, end)) {
            return Some(*route);
        }
        let links = &experiment.paths[path as usize];
        let first = links.first()?;
        let card = experiment.is_card(&experiment.links[first.0 as usize]).then_some(first.0);
        let quanta = Quanta::of_mtu(experiment.endpoints[flow.endpoint as usize].mtu_bytes);
        let queue = *self
            .queues
            .entry(card.map_or(Host::Path(path), Host::Card))
            .or_insert_with(|| network.add_host_queue(quanta, first.0, card));
        let hops = std::iter::once(queue).chain(links.iter().map(|link| link.0));
        let route = network.add_route(hops, cards.at_end(experiment, path as usize), end);
        self.routes.insert((path, end), route);
        Some(route)
    }
}
