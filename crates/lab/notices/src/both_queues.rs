//! Packets with ECT in both queues of a pair, which results count as one class.

use shoal_measure::{Finished, Notice};
use shoal_scenario::{Codepoint, Experiment, Flow, Link};

use crate::cleared::clearing;

/// Kind of the notice that packets with ECT wait in both queues of a pair.
pub const BOTH_QUEUES: &str = "ect-in-both-queues";

/// A notice for each link whose numbers of packets with ECT are those of two queues. There is no threshold: one packet
/// in the other queue has a delay of that queue.
pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    let links = experiment.monitored().map(|(_, link)| link).zip(finished.bottlenecks);
    let passed = links.filter(|(_, numbers)| numbers.ect.arrived > 0);
    passed.filter_map(|(link, _)| notice(experiment, link)).collect()
}

fn notice(experiment: &Experiment, link: &Link) -> Option<Notice> {
    let [ect0, ect1] = link.joins_low_latency()?;
    if ect0 == ect1 {
        return None;
    }
    let groups = [senders(experiment, link, Codepoint::Ect0), senders(experiment, link, Codepoint::Ect1)];
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
fn senders(experiment: &Experiment, link: &Link, codepoint: Codepoint) -> Vec<String> {
    let comes = |flow: &Flow| {
        let before = experiment.links_of(flow.forward).take_while(|other| other.name != link.name);
        let passes = experiment.links_of(flow.forward).any(|other| other.name == link.name);
        passes && experiment.codepoint_of(flow) == codepoint && clearing(before).is_none()
    };
    let flows = experiment.flows.numbered(0..experiment.flows.len() as u32);
    let mut groups: Vec<u32> = flows.filter(|(_, flow)| comes(flow)).map(|(_, flow)| flow.group).collect();
    groups.dedup();
    groups.into_iter().map(|group| experiment.groups[group as usize].name.clone()).collect()
}
