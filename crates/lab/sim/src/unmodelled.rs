//! Laws of the user that the simulator cannot run.

use shoal_aqm::QueueConfig;
use shoal_cc::CcConfig;
use shoal_scenario::{Experiment, Refusal};
use shoal_units::Unmodelled;
use std::collections::BTreeSet;

/// What of an experiment has no model here.
pub(crate) fn refusals(experiment: &Experiment) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for link in &experiment.links {
        let named = module_of(&link.queue);
        refusals.extend(named.map(|(name, why)| {
            let (is_what, hint) = described(why);
            let place = format!("link `{}`: aqm", link.name);
            Refusal { place, reason: format!("the queue `{name}` is {is_what}"), hint: hint.to_owned() }
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

/// The name of a law of one's own in a queue that cannot be run here, and why.
fn module_of(queue: &QueueConfig) -> Option<(&str, Unmodelled)> {
    match queue {
        QueueConfig::Module(config) => config.law.err().map(|why| (config.name.as_str(), why)),
        QueueConfig::Classes(classes) => classes.queues.iter().find_map(|class| module_of(&class.law)),
        _ => None,
    }
}
