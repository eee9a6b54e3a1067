//! Kernel modules of the user, which the simulator cannot run.

use shoal_aqm::QueueConfig;
use shoal_cc::CcConfig;
use shoal_scenario::{Experiment, Refusal};
use std::collections::BTreeSet;

/// What of an experiment only a kernel has.
pub(crate) fn refusals(experiment: &Experiment) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for link in &experiment.links {
        let named = module_of(&link.queue);
        refusals.extend(named.map(|name| Refusal {
            place: format!("link `{}`: aqm", link.name),
            reason: format!("the queue `{name}` is a kernel module, of which the simulator knows nothing"),
            hint: "add --on linux, or give the law a WebAssembly file: laws.NAME.simulator".to_owned(),
        }));
    }
    let mut groups = BTreeSet::new();
    for flow in experiment.flows.patterns() {
        let group = &experiment.groups[flow.group as usize];
        let configs = [
            Some(experiment.endpoints[flow.endpoint as usize].cc),
            group.replacement.as_ref().map(|replacement| replacement.config),
        ];
        let is_kernel_only =
            |config: &CcConfig| matches!(config, CcConfig::External(config) if !config.law().has_model());
        if configs.iter().flatten().any(is_kernel_only) && groups.insert(flow.group) {
            refusals.push(Refusal {
                place: format!("flow group `{}`: cc", group.name),
                reason: format!(
                    "the law `{}` is a kernel module, of which the simulator knows nothing",
                    group.cc
                ),
                hint: "add --on linux, or give the law a WebAssembly file: laws.NAME.simulator".to_owned(),
            });
        }
    }
    refusals
}

/// The name of the kernel module in a queue, if it is nothing else or has one.
fn module_of(queue: &QueueConfig) -> Option<&str> {
    match queue {
        QueueConfig::Module(config) if config.law.is_none() => Some(&config.name),
        QueueConfig::Classes(classes) => classes.queues.iter().find_map(|class| module_of(&class.law)),
        _ => None,
    }
}
