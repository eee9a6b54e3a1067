//! Hosts that the simulator cannot model.

use shoal_scenario::{Experiment, Group, Refusal};
use shoal_tcp::Pacing;

/// Checks whether the simulator can run an experiment.
///
/// # Errors
/// Everything in the experiment that is not modelled.
pub fn check(experiment: &Experiment) -> Result<(), Vec<Refusal>> {
    let refusals: Vec<Refusal> = experiment.groups.iter().filter_map(refusal).collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

fn refusal(group: &Group) -> Option<Refusal> {
    group.host.offload.filter(|offload| offload.pacing == Pacing::Fq).map(|_| Refusal {
        place: format!("flow group `{}`: host.pacing", group.name),
        reason: "the simulator has no queue discipline in hosts, and fq is one".to_owned(),
        hint:
            "write pacing = \"internal\", which TCP does itself, or run this on the real kernel (--on linux)"
                .to_owned(),
    })
}
