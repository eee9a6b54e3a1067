//! Laws of the user that the simulator cannot run.

use shoal_aqm::QueueConfig;
use shoal_cc::{CcConfig, Unmodelled};
use shoal_scenario::{Experiment, Refusal};
use std::collections::BTreeSet;

/// What of an experiment has no model here.
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
        let why = configs.iter().flatten().find_map(|config| match config {
            CcConfig::External(config) => config.law().unmodelled(),
            _ => None,
        });
        if let Some(why) = why
            && groups.insert(flow.group)
        {
            let (is_what, hint) = described(why);
            refusals.push(Refusal {
                place: format!("flow group `{}`: cc", group.name),
                reason: format!("the law `{}` is {is_what}", group.cc),
                hint: hint.to_owned(),
            });
        }
    }
    refusals
}

/// What a law is that the simulator cannot run, and what helps.
const fn described(why: Unmodelled) -> (&'static str, &'static str) {
    match why {
        Unmodelled::KernelModule => (
            "a kernel module, of which the simulator knows nothing",
            "add --on linux, or give the law a WebAssembly file: laws.NAME.simulator",
        ),
        Unmodelled::PythonNotGiven => (
            "a class in Python, which runs only if the command names its file",
            "add --python FILE with the file that laws.NAME.python names, if you trust it",
        ),
    }
}

/// The name of the kernel module in a queue, if it is nothing else or has one.
fn module_of(queue: &QueueConfig) -> Option<&str> {
    match queue {
        QueueConfig::Module(config) if config.law.is_none() => Some(&config.name),
        QueueConfig::Classes(classes) => classes.queues.iter().find_map(|class| module_of(&class.law)),
        _ => None,
    }
}
