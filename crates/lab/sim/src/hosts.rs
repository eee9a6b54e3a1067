//! End hosts that the simulator does not model.

use shoal_scenario::{Experiment, Group, Host, Refusal};

/// Checks whether the simulator can run an experiment.
///
/// # Errors
/// Everything in the experiment that is not modelled.
pub fn check(experiment: &Experiment) -> Result<(), Vec<Refusal>> {
    let refusals: Vec<Refusal> = experiment.groups.iter().filter_map(refusal).collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

fn refusal(group: &Group) -> Option<Refusal> {
    match group.host {
        Host::Ideal => None,
        Host::Linux => Some(Refusal {
            place: format!("flow group `{}`", group.name),
            reason: format!(
                "host = \"{}\": the simulator's hosts send packet by packet; segmentation in the host is not modelled",
                group.host.name()
            ),
            hint: format!(
                "run this on the real kernel (--on linux), or write host = \"{}\"",
                Host::Ideal.name()
            ),
        }),
    }
}
