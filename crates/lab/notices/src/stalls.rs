//! Waits of an old kernel that its model leaves out.

use shoal_measure::{Finished, Notice};
use shoal_scenario::Experiment;
use shoal_tcp::EcnFeedback;

use crate::backlogged::numbered;

/// Kind of the notice that the kernel of a group's receivers would stand still where its model does not.
pub const LEFT_OUT: &str = "stalls-left-out";

/// The stack whose kernel cancels the delayed ACK of a packet that changes the state of the echo.
const STACK: &str = "linux-3.18";
/// Mean window in packets below which that ACK is often the only one that a sender waits for: a larger window has
/// packets behind the one that changed the state, and their ACKs come.
const FEW: f64 = 4.0;

pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    let mut groups: Vec<(usize, f64, f64)> = Vec::new();
    for (group, flow, result) in numbered(experiment, finished.groups) {
        let endpoint = &experiment.endpoints[flow.endpoint as usize];
        let echoes = endpoint.feedback() == EcnFeedback::Dctcp && endpoint.receiver_stack().name == STACK;
        // Some packets are marked and some are not, so that the state changes.
        let toggles = result.data_packets.is_some_and(|packets| (1..packets).contains(&result.marks_seen));
        let Some(window) = result.cwnd_packets.mean.filter(|_| echoes && endpoint.delayed_ack && toggles)
        else {
            continue;
        };
        match groups.last_mut() {
            Some((last, sum, flows)) if *last == group => (*sum, *flows) = (*sum + window, *flows + 1.0),
            _ => groups.push((group, window, 1.0)),
        }
    }
    let short = groups.into_iter().filter(|(_, sum, flows)| sum / flows < FEW);
    short.map(|(group, sum, flows)| notice(&experiment.groups[group].name, sum / flows)).collect()
}

fn notice(group: &str, window: f64) -> Notice {
    Notice {
        kind: LEFT_OUT.to_owned(),
        text: format!(
            "flows of {group} have windows of {window:.1} packets on average, with which Linux 3.18 stands still for \
             40 ms or longer when marks begin or end (its receiver cancels the delayed ACK; fixed in 4.18); this is \
             left out"
        ),
        groups: vec![group.to_owned()],
        links: Vec::new(),
        mechanisms: Vec::new(),
    }
}
