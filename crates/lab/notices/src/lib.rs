#![doc = include_str!("../README.md")]

mod fair_share;
mod implausible;
mod starvation;

pub use fair_share::{Demand, max_min};
pub use implausible::{IDLE, UNEXPLAINED};
pub use starvation::{BACKOFF, FLOOR, LOCKED_OUT, SHARED_THRESHOLD, STARVED};

use shoal_measure::{Bottleneck, GroupResult, Notice, TransferRates};
use shoal_scenario::Experiment;

/// The notices of a run: those of the scenario first, then starved groups in the order of the scenario, then what is
/// implausible.
///
/// `groups` must still list all their flows, in the order of their numbers; groups with transfers may list fewer, and
/// `transfers` has the rates of all of theirs.
pub fn of_run(
    experiment: &Experiment,
    groups: &[GroupResult],
    bottlenecks: &[Bottleneck],
    transfers: &TransferRates,
) -> Vec<Notice> {
    let notes = experiment.notes.iter().map(|note| Notice {
        kind: note.kind.to_owned(),
        text: note.text.clone(),
        groups: note.groups.clone(),
        links: note.links.clone(),
        mechanisms: Vec::new(),
    });
    let found = starvation::find(experiment, groups, bottlenecks, transfers);
    notes.chain(found).chain(implausible::find(experiment, groups, bottlenecks)).collect()
}
