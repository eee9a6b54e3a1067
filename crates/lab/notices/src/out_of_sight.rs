//! Groups whose data pass no link that the result reports.

use shoal_measure::{Finished, Notice};
use shoal_scenario::Experiment;

use crate::backlogged::is_unseen;

/// Kind of the notice that the result knows nothing of a group's rate on the wire.
pub const OUT_OF_SIGHT: &str = "out-of-sight";

pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    let groups = finished.groups.iter().enumerate();
    let unseen = groups.filter(|(index, group)| {
        let flows = experiment.flows.numbered(experiment.flows.of_group(*index as u32));
        let mut arrived = flows.zip(&group.flows).filter(|(_, result)| result.delivered_bytes > 0).peekable();
        arrived.peek().is_some() && arrived.all(|((_, flow), result)| is_unseen(&flow, result, experiment))
    });
    let notices = unseen.map(|(_, group)| Notice {
        kind: OUT_OF_SIGHT.to_owned(),
        text: format!(
            "no reported link carries the data of {}: its rate on the wire and its share are not measured, and its \
             goodput is",
            group.name
        ),
        groups: vec![group.name.clone()],
        links: Vec::new(),
        mechanisms: Vec::new(),
    });
    notices.collect()
}
