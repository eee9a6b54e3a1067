//! `module`: a queue discipline that a kernel module of the user registers.

use super::{Discipline, Express, PLACE, QueueMapping, Site};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::ModuleConfig;
use shoal_packet::Reason;

impl Express for ModuleConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let Some(module) = site.kernel.module_of_discipline(&self.name) else {
            let modules = &site.kernel.user_modules;
            let registered: Vec<String> = modules
                .iter()
                .flat_map(|module| {
                    module.run.disciplines.iter().map(|name| format!("{name} ({})", module.run.source))
                })
                .collect();
            let (reason, hint) = if registered.is_empty() {
                let reason = format!("no module registers a queue discipline `{}`", self.name);
                (reason, "add --module FILE with the C file that does".to_owned())
            } else {
                let known = registered.join(", ");
                let reason =
                    format!("no module registers a queue discipline `{}`; they register {known}", self.name);
                (reason, format!("write name = \"{}\"", first_name(&registered)))
            };
            refusals.add(format!("{PLACE}.name"), reason, hint);
            return None;
        };
        let wrong: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
        let wrong: Vec<&str> =
            wrong.into_iter().filter(|name| !module.parameters.contains_key(*name)).collect();
        if !wrong.is_empty() {
            let known: Vec<&str> = module.parameters.keys().map(String::as_str).collect();
            refusals.add(
                format!("{PLACE}.parameters"),
                format!("the module {} has no parameter `{}`", module.run.source, wrong.join("`, `")),
                if known.is_empty() {
                    "it has none at all: see module_param()".to_owned()
                } else {
                    format!("it has: {}", known.join(", "))
                },
            );
            return None;
        }
        let options = self.options.iter();
        let options = options.fold(Attributes::default(), |list, (number, value)| list.bytes(*number, value));
        let given = match self.options.len() {
            0 => "without options".to_owned(),
            count => format!("with {count} option{} of its own", if count == 1 { "" } else { "s" }),
        };
        let tc = format!("{} {given}", self.name);
        let rules = vec![format!(
            "module: `{}` of {} (source {}, module {}); the buffer of the scenario does not limit it",
            self.name, module.run.source, module.run.source_sha256, module.run.module_sha256
        )];
        Some(QueueMapping::of(Discipline::new(self.name.clone(), options, tc), rules))
    }
}

/// The name in the first entry of a list of names with files.
fn first_name(registered: &[String]) -> &str {
    registered.first().and_then(|entry| entry.split(' ').next()).unwrap_or_default()
}
