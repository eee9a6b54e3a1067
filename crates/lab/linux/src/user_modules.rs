//! Parameters of the modules that the user wrote.

use crate::kernel::{Kernel, UserModule};
use crate::refusal::Refusals;
use shoal_aqm::{ModuleConfig, QueueConfig};
use shoal_cc::{CcConfig, ExternalConfig};
use shoal_scenario::Experiment;
use std::collections::BTreeMap;

/// Names and values by the names of the modules.
pub(crate) type Parameters = BTreeMap<String, BTreeMap<String, String>>;

/// What the scenario gives to each module. A module is loaded once: two values of the same parameter are refused.
pub(crate) fn parameters(experiment: &Experiment, kernel: &Kernel, refusals: &mut Refusals) -> Parameters {
    let mut given = Given { all: Parameters::new(), refusals };
    for link in &experiment.links {
        each_module(&link.queue, &mut |config| {
            if let Some(module) = kernel.module_of_discipline(&config.name) {
                for (name, value) in &config.parameters {
                    given.add(module, "bottleneck.aqm.parameters", name, value.to_string());
                }
            }
        });
    }
    for (index, group) in experiment.groups.iter().enumerate() {
        let flow = experiment.flows.iter().find(|flow| flow.group as usize == index);
        let sender = flow.map(|flow| (group.cc.as_str(), experiment.endpoints[flow.endpoint as usize].cc));
        let successor = group.replacement.as_ref().map(|next| (next.cc.as_str(), next.config));
        for (name, config) in sender.into_iter().chain(successor) {
            if let (CcConfig::External(config), Some(module)) = (config, kernel.module_of_controller(name)) {
                let place = format!("flow group `{}`: cc_options", group.name);
                given.add_options(module, &place, config);
            }
        }
    }
    given.all
}

struct Given<'a> {
    all: Parameters,
    refusals: &'a mut Refusals,
}

impl Given<'_> {
    /// Adds the parameters of a law. The simulator's form of it may have others, but at their defaults only.
    fn add_options(&mut self, module: &UserModule, place: &str, config: ExternalConfig) {
        for (parameter, value) in config.law().parameters() {
            let is_known = module.parameters.contains_key(&parameter.name);
            let is_default = config.law().has_model() && *value == parameter.default;
            if !is_known && !is_default {
                let known: Vec<&str> = module.parameters.keys().map(String::as_str).collect();
                let hint = match known.as_slice() {
                    [] => "it has none at all: see module_param()".to_owned(),
                    known => format!("it has: {}", known.join(", ")),
                };
                let reason =
                    format!("the module {} has no parameter `{}`", module.run.source, parameter.name);
                self.refusals.add(place, reason, hint);
            } else if is_known && value.fract() != 0.0 {
                let reason =
                    format!("`{}` is {value}, and parameters of a module are whole numbers", parameter.name);
                self.refusals.add(place, reason, "write a whole number, in a smaller unit");
            } else if is_known {
                self.add(module, place, &parameter.name, format!("{value:.0}"));
            }
        }
    }

    fn add(&mut self, module: &UserModule, place: &str, name: &str, value: String) {
        let values = self.all.entry(module.run.name.clone()).or_default();
        let first = values.entry(name.to_owned()).or_insert_with(|| value.clone());
        if *first != value {
            let reason = format!("`{name}` is {first} in one place and {value} in another");
            let hint = "parameters are those of the module, which is loaded once: give both the same value, or make \
                        it an option of the queue";
            self.refusals.add(place, reason, hint);
        }
    }
}

fn each_module(queue: &QueueConfig, act: &mut impl FnMut(&ModuleConfig)) {
    match queue {
        QueueConfig::Module(config) => act(config),
        QueueConfig::Classes(classes) => classes.queues.iter().for_each(|class| each_module(&class.law, act)),
        _ => {}
    }
}
