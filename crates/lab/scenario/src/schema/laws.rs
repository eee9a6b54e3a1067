//! `[laws]`

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use shoal_cc::Preset;

use crate::field::{Field, Section, entries};
use crate::remarks::Remarks;
use crate::report::Report;
use crate::schema::NO_CONTROLLER;
use crate::tree::Node;

/// What a name of a law begins with that is the name of its file, too.
pub(crate) const OF_FILE: &str = "file:";

/// Laws of one's own, by name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Laws(pub BTreeMap<String, LawFiles>);

/// The files of a law.
#[derive(Clone, PartialEq, Debug, Default, Section)]
pub struct LawFiles {
    /// Its WebAssembly module, with which the simulator runs it.
    pub simulator: Option<String>,
    /// SHA-256 of that file, filled in when it is read: a scenario that has it takes no other file.
    pub simulator_sha256: Option<String>,
    /// A Python file with a class of this name, with which the simulator runs it: only for a command that names the
    /// file with `--python`, since it may do whatever a program may.
    pub python: Option<String>,
    /// SHA-256 of that file, filled in when it is read.
    pub python_sha256: Option<String>,
    /// Its kernel module in C, with which Linux runs it: a congestion control or a queue discipline of this name.
    pub kernel: Option<String>,
    /// SHA-256 of that file and of what it includes of its folder, filled in when it is read.
    pub kernel_sha256: Option<String>,
}

impl Laws {
    /// Writes down which files the laws are in, and refuses those that are not the ones that were meant.
    pub(crate) fn fill(&mut self, remarks: Remarks<'_>) {
        for (name, law) in remarks.laws {
            let files = self.0.entry(name.clone()).or_default();
            let places = [
                ("simulator", &law.simulator, &mut files.simulator, &mut files.simulator_sha256),
                ("python", &law.python, &mut files.python, &mut files.python_sha256),
                ("kernel", &law.kernel, &mut files.kernel, &mut files.kernel_sha256),
            ];
            for (key, given, file, sha256) in places {
                let Some(given) = given else { continue };
                file.get_or_insert_with(|| given.file.clone());
                if *sha256.get_or_insert_with(|| given.sha256.clone()) != given.sha256 {
                    let message =
                        format!("\"{}\" is not the file that the scenario was run with", given.file);
                    let hint = format!("remove {key}_sha256 to take the file as it is now");
                    remarks.error(&format!("laws.{name}.{key}_sha256"), message, hint);
                }
            }
        }
        for (name, files) in &self.0 {
            if files.simulator.is_some() && files.python.is_some() {
                let message =
                    format!("the law \"{name}\" is both a WebAssembly module and a class in Python");
                remarks.error(&format!("laws.{name}.python"), message, "give one of them another name");
            }
            if Preset::by_name(name).is_some() || name == NO_CONTROLLER {
                let message = format!("\"{name}\" is a controller that shoal has itself");
                remarks.error(&format!("laws.{name}"), message, "give the law another name");
            }
        }
    }
}

impl Field for Laws {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let entries = entries(node, "as in [laws.mine] with simulator = \"mine.wasm\"", report)?;
        // Collected before any is unwrapped, so that every law reports its own problems.
        let read: Vec<Option<(String, LawFiles)>> = entries
            .iter()
            .map(|entry| Some((entry.key.clone(), LawFiles::read(&entry.node, report)?)))
            .collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
    fn write(&self) -> Option<Json> {
        let written = self.0.iter().filter_map(|(name, files)| Some((name.clone(), files.write()?)));
        (!self.0.is_empty()).then(|| Json::Object(written.collect()))
    }
    fn schema() -> Json {
        json!({ "type": "object", "additionalProperties": LawFiles::schema() })
    }
}
