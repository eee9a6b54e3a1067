//! What links with impairments did, as netem counts it.

use crate::records::FlowRecord;
use shoal_measure::PathResult;
use shoal_scenario::{Experiment, Link};
use shoal_units::Time;
use std::collections::BTreeMap;

/// Counters of netem when the measurement window opens and at the end, by the number of the link.
#[derive(Default)]
pub(super) struct Paths(BTreeMap<u32, (FlowRecord, FlowRecord)>);

impl Paths {
    /// Handles the counters of a link; those from before the window are of no interest.
    pub(super) fn on_record(&mut self, record: &FlowRecord, now: Time, experiment: &Experiment) {
        if now >= Time::ZERO + experiment.warmup {
            let seen = self.0.entry(record.flow).or_insert((*record, *record));
            seen.1 = *record;
        }
    }

    /// The links with impairments, in scenario order. One that no flow uses has done nothing.
    pub(super) fn results(&self, experiment: &Experiment) -> Vec<PathResult> {
        let links = (0u32..).zip(&experiment.links).filter(|(_, link)| link.impairments.is_some());
        links.map(|(number, link)| self.result(number, link)).collect()
    }

    fn result(&self, number: u32, link: &Link) -> PathResult {
        let count = |of: fn(&FlowRecord) -> u64| match self.0.get(&number) {
            None => Some(0),
            // Linux 6.12 has no such counters.
            Some((first, last)) => last.alpha.map(|_| of(last).saturating_sub(of(first))),
        };
        PathResult {
            link: link.name.clone(),
            lost: count(|record| record.received),
            duplicated: count(|record| record.transfers_begun),
            corrupted: count(|record| record.data_packets.into()),
            reordered: count(|record| record.acks.into()),
        }
    }
}
