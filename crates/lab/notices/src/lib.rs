#![doc = include_str!("../README.md")]

mod backlogged;
mod fair_share;
mod implausible;
mod stalls;
mod starvation;
mod storm;
mod unequal;

pub use fair_share::{Demand, max_min};
pub use implausible::{IDLE, UNEXPLAINED};
pub use stalls::LEFT_OUT;
pub use starvation::{
    BACKOFF, BELOW_SHARE, FLOOR, FURTHER_AWAY, GROWING, LOCKED_OUT, SEVERAL_QUEUES, SHARED_THRESHOLD, STARVED,
};
pub use storm::{HEAVY_LOSS, OVERGROWN, SMALL_WINDOWS, STORM, UNDONE_TIMEOUT};
pub use unequal::{CONVERGING, DIFFERENT_ROUND_TRIPS, UNEQUAL, UNEVEN_LOSSES, UNEVEN_MARKS, WITHOUT_ECN};

use shoal_measure::{Finished, Notice};
use shoal_scenario::Experiment;

/// The notices of a run: those of the scenario first, then congestion of the flows' own making, starved groups in the
/// order of the scenario, flows that are alike and share unequally, what is implausible, and what a model leaves out.
pub fn of_run(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    let notes = experiment.notes.iter().map(|note| Notice {
        kind: note.kind.to_owned(),
        text: note.text.clone(),
        groups: note.groups.clone(),
        links: note.links.clone(),
        mechanisms: Vec::new(),
    });
    let mut notices: Vec<Notice> = notes.collect();
    let lossy = storm::find(experiment, finished);
    let (mut short, mut unequal) =
        (starvation::find(experiment, finished), unequal::find(experiment, finished));
    // What is said of a group in one way is not said in a milder one, too.
    let starves =
        |group: &String| short.iter().any(|short| short.kind == STARVED && short.groups.contains(group));
    unequal.retain(|notice| !notice.groups.iter().all(starves));
    let is_alike = |group: &String| {
        unequal.iter().any(|notice| notice.groups.len() > 1 && notice.groups.contains(group))
    };
    short.retain(|notice| notice.kind == STARVED || !notice.groups.iter().any(is_alike));
    let mut implausible = implausible::find(experiment, finished.groups, finished.bottlenecks);
    // The windows of a storm say nothing about rates.
    implausible.retain(|notice| notice.kind != IDLE || lossy.iter().all(|lossy| lossy.links != notice.links));
    notices.extend(lossy.into_iter().chain(short).chain(unequal).chain(implausible));
    notices.extend(stalls::find(experiment, finished));
    notices
}
