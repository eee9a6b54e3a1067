#![doc = include_str!("../README.md")]

mod backlogged;
mod both_queues;
mod cleared;
mod explanation;
mod fair_share;
mod implausible;
mod limits;
mod no_marks;
mod not_full;
mod out_of_sight;
mod passing;
mod stalls;
mod starvation;
mod storm;
mod unequal;
mod verdict;

pub use both_queues::BOTH_QUEUES;
pub use cleared::{CLEARED, NOT_SEEN};
pub use explanation::{Explanation, explanations};
pub use fair_share::{Demand, max_min};
pub use implausible::{IDLE, UNEXPLAINED};
pub use limits::{NARROWER, RECEIVE_WINDOW, WINDOW_CLAMP};
pub use no_marks::{ABOVE_BUFFER, APPLICATION, NEVER_MARKS, NO_MARKS, NOT_ECT, OTHER_CODEPOINT, SHORT_QUEUE};
pub use not_full::{BURSTS, LOW_THRESHOLD, NOT_FULL, SMALL_BUFFER};
pub use out_of_sight::OUT_OF_SIGHT;
pub use stalls::LEFT_OUT;
pub use starvation::{
    BACKOFF, BELOW_HALF, BELOW_SHARE, CLASSIC_QUEUE, FLOOR, FURTHER_AWAY, GROWING, LOCKED_OUT, REPLACED,
    RUNS_AS_RENO, SAME_MARKS, SEVERAL_QUEUES, SHARED_THRESHOLD, STARVED, UNRESPONSIVE,
};
pub use storm::{HEAVY_LOSS, OVERGROWN, SMALL_WINDOWS, STORM, UNDONE_TIMEOUT};
pub use unequal::{CONVERGING, DIFFERENT_ROUND_TRIPS, UNEQUAL, UNEVEN_LOSSES, UNEVEN_MARKS, WITHOUT_ECN};
pub use verdict::{Kind, Share, Verdict, Wait, verdict};

use shoal_measure::{Finished, Notice};
use shoal_scenario::Experiment;

use crate::passing::Passing;

/// The notices of a run: those of the scenario first, then congestion of the flows' own making, starved groups in the
/// order of the scenario, flows that are alike and share unequally, what is implausible, that nothing was marked, links
/// that are not full, packets with ECT in two queues, what a model leaves out, and what passes no link of the result.
pub fn of_run(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    let notes = experiment.notes.iter().map(|note| Notice {
        kind: note.kind.to_owned(),
        text: note.text.clone(),
        groups: note.groups.clone(),
        links: note.links.clone(),
        mechanisms: Vec::new(),
    });
    let mut notices: Vec<Notice> = notes.collect();
    let passing = Passing::new(experiment, finished.groups);
    let lossy = storm::find(experiment, finished, &passing);
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
    // A link that cannot be right needs no explanation.
    let mut not_full = not_full::find(experiment, finished, &passing);
    not_full.retain(|notice| implausible.iter().chain(&lossy).all(|other| other.links != notice.links));
    notices.extend(lossy.into_iter().chain(short).chain(unequal).chain(implausible));
    notices.extend(no_marks::find(experiment, finished, &passing));
    notices.extend(cleared::find(experiment, finished));
    notices.extend(not_full);
    notices.extend(both_queues::find(experiment, finished, &passing));
    notices.extend(stalls::find(experiment, finished));
    notices.extend(out_of_sight::find(experiment, finished));
    notices
}
