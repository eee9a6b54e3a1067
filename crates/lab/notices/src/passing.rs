//! The flows that pass each link.

use shoal_measure::{FlowResult, GroupResult};
use shoal_scenario::{Experiment, Flow, LinkId};

use crate::backlogged::transfers;

/// The flows whose data pass each link. They are sorted in one pass, since a network has about as many links as flows
/// and nothing may look at each flow for each link.
pub(crate) struct Passing<'a> {
    experiment: &'a Experiment,
    groups: &'a [GroupResult],
    /// Where the flows of each link begin in `flows`; the last one is where they end.
    first: Vec<usize>,
    /// Numbers of flows, link by link, rising at each.
    flows: Vec<u32>,
}

impl<'a> Passing<'a> {
    pub(crate) fn new(experiment: &'a Experiment, groups: &'a [GroupResult]) -> Self {
        let paths = || experiment.flows.iter().map(|flow| &experiment.paths[flow.forward as usize]);
        let mut first = vec![0; experiment.links.len() + 1];
        for LinkId(link) in paths().flatten() {
            first[*link as usize + 1] += 1;
        }
        for link in 1..first.len() {
            first[link] += first[link - 1];
        }
        let mut next = first.clone();
        let mut flows = vec![0; first[experiment.links.len()]];
        for (number, path) in (0..).zip(paths()) {
            for LinkId(link) in path {
                let place = &mut next[*link as usize];
                flows[*place] = number;
                *place += 1;
            }
        }
        Self { experiment, groups, first, flows }
    }

    /// The flows that pass a link.
    pub(crate) fn flows(&self, link: LinkId) -> impl Iterator<Item = Flow> {
        self.numbers(link).filter_map(|number| self.experiment.flows.get(number as usize))
    }

    /// The flows that pass a link and do not transfer, each with its group and its result.
    pub(crate) fn numbered(&self, link: LinkId) -> impl Iterator<Item = (usize, Flow, &'a FlowResult)> {
        let with_result = self.numbers(link).filter_map(|number| {
            let flow = self.experiment.flows.get(number as usize)?;
            let place = number - self.experiment.flows.of_group(flow.group).start;
            let group = flow.group as usize;
            Some((group, flow, self.groups[group].flows.get(place as usize)?))
        });
        with_result.filter(|(_, flow, _)| !transfers(flow))
    }

    fn numbers(&self, LinkId(link): LinkId) -> impl Iterator<Item = u32> {
        let places = self.first[link as usize]..self.first[link as usize + 1];
        self.flows[places].iter().copied()
    }
}
