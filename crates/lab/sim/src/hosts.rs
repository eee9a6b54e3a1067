//! Hosts that the simulator has no model of.

use shoal_scenario::{Experiment, Flow, Refusal};
use shoal_tcp::{Pacing, Tso};
use std::collections::BTreeSet;

use crate::unmodelled;

/// Checks whether the simulator can run an experiment.
///
/// # Errors
/// Everything in the experiment that is not modelled.
pub fn check(experiment: &Experiment) -> Result<(), Vec<Refusal>> {
    let mut groups = BTreeSet::new();
    let mut refusals = unmodelled::refusals(experiment);
    let of_hosts = experiment
        .flows
        .patterns()
        .filter(|flow| has_unknown_discipline(experiment, flow) && groups.insert(flow.group))
        .map(|flow| refusal(experiment, flow));
    refusals.extend(of_hosts);
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// Whether the hosts of a flow have the discipline `fq` of an older kernel, which spaces packets by the rate of their
/// socket instead of by times that TCP gives them (Linux 3.12 to 4.19), or none, as FreeBSD.
fn has_unknown_discipline(experiment: &Experiment, flow: &Flow) -> bool {
    let host = experiment.host_of(flow);
    let stack = &experiment.endpoints[flow.endpoint as usize].stack;
    host.offload.is_some_and(|offload| offload.pacing == Pacing::Fq)
        && stack.linux().is_none_or(|rules| rules.tso != Tso::Linux6)
}

fn refusal(experiment: &Experiment, flow: &Flow) -> Refusal {
    let stack = experiment.endpoints[flow.endpoint as usize].stack.name;
    Refusal {
        place: format!("flow group `{}`: host.pacing", experiment.groups[flow.group as usize].name),
        reason: format!("the simulator has fq as of current Linux, and not for the stack {stack}"),
        hint: "write stack = \"linux-6\", or leave pacing out, or run this on the real kernel (--on linux), whose \
               stack it is then"
            .to_owned(),
    }
}
