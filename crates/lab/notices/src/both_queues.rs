//! Packets with ECT in both queues of a pair, which results count as one class.

use shoal_measure::{Finished, Notice};
use shoal_scenario::{Codepoint, Experiment, Flow, Link, LinkId};

use crate::cleared::clearing;
use crate::passing::Passing;

/// Kind of the notice that packets with ECT wait in both queues of a pair.
pub const BOTH_QUEUES: &str = "ect-in-both-queues";

/// A notice for each link whose numbers of packets with ECT are those of two queues. There is no threshold: one packet
/// in the other queue has a delay of that queue.
pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>, passing: &Passing<'_>) -> Vec<Notice> {
    let links = experiment.monitored().zip(finished.bottlenecks);
    let passed = links.filter(|(_, numbers)| numbers.ect.arrived > 0);
    passed.filter_map(|(link, _)| notice(experiment, passing, link)).collect()
}

fn notice(experiment: &Experiment, passing: &Passing<'_>, (id, link): (LinkId, &Link)) -> Option<Notice> {
    let [ect0, ect1] = link.joins_low_latency()?;
    if ect0 == ect1 {
        return None;
    }
    let groups =
        [Codepoint::Ect0, Codepoint::Ect1].map(|codepoint| senders(experiment, passing, id, codepoint));
    if groups.iter().any(Vec::is_empty) {
        return None;
    }
    let place = |low_latency| if low_latency { "low-latency" } else { "classic" };
    Some(Notice {
        kind: BOTH_QUEUES.to_owned(),
        text: format!(
            "packets with ECT wait in both queues of {}: those of {} are ECT(1) and join the {} one, those of {} are \
             ECT(0) and join the {} one; what is said of the class ect (delay, length, marks, drops) is of both \
             together, and of neither queue",
            link.name,
            groups[1].join(" and "),
            place(ect1),
            groups[0].join(" and "),
            place(ect0),
        ),
        groups: groups.concat(),
        links: vec![link.name.clone()],
        mechanisms: Vec::new(),
    })
}

/// Names of the groups whose packets come to a link with a codepoint.
fn senders(experiment: &Experiment, passing: &Passing<'_>, id: LinkId, codepoint: Codepoint) -> Vec<String> {
    let comes = |flow: &Flow| {
        let before = experiment.paths[flow.forward as usize].iter().take_while(|other| **other != id);
        let links = before.map(|LinkId(link)| &experiment.links[*link as usize]);
        experiment.codepoint_of(flow) == codepoint && clearing(links).is_none()
    };
    let mut groups: Vec<u32> = passing.flows(id).filter(comes).map(|flow| flow.group).collect();
    groups.dedup();
    groups.into_iter().map(|group| experiment.groups[group as usize].name.clone()).collect()
}
