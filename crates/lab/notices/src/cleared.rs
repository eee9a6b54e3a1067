//! Marks that a link clears before their receivers see them.

use shoal_measure::{Finished, Notice};
use shoal_scenario::{Experiment, Link};

use crate::backlogged::in_words;
use crate::no_marks::asking_flows;

/// Kind of the notice that receivers see none of the marks.
pub const NOT_SEEN: &str = "marks-not-seen";
/// Mechanism: a link clears the ECN field.
pub const CLEARED: &str = "ecn-cleared";

/// The first link that clears the ECN field.
pub(crate) fn clearing<'a>(mut links: impl Iterator<Item = &'a Link>) -> Option<&'a Link> {
    links.find(|link| link.impairments.as_ref().is_some_and(|impairments| impairments.clears_ecn))
}

pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>) -> Option<Notice> {
    let marked: u64 = finished.bottlenecks.iter().map(|link| link.ect.marked).sum();
    let flows = asking_flows(experiment);
    let seen: u64 = flows.iter().map(|flow| finished.groups[flow.group as usize].totals.marks_seen).sum();
    if marked == 0 || seen > 0 || flows.is_empty() {
        return None;
    }
    let link = flows.iter().find_map(|flow| clearing(experiment.links_of(flow.forward)));
    let reason =
        link.map(|link| (CLEARED, format!("the link {} clears the ECN field behind its queue", link.name)));
    let reasons: Vec<_> = reason.into_iter().collect();
    Some(Notice {
        kind: NOT_SEEN.to_owned(),
        text: format!(
            "queues marked {marked} packets, and receivers saw none of these marks, so that senders do not answer \
             them; {}",
            in_words(&reasons)
        ),
        groups: flows.iter().map(|flow| experiment.groups[flow.group as usize].name.clone()).collect(),
        links: link.map(|link| link.name.clone()).into_iter().collect(),
        mechanisms: reasons.into_iter().map(|(mechanism, _)| mechanism.to_owned()).collect(),
    })
}
