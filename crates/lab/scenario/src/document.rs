//! A scenario that has been read and checked.

use std::cell::RefCell;

use serde_json::Value as Json;

use crate::diagnostic::{Diagnostic, Errors, Mark, Severity};
use crate::experiment::Experiment;
use crate::facts::Facts;
use crate::field::Field;
use crate::files::{Files, Laws};
use crate::remarks::Remarks;
use crate::report::Report;
use crate::resolve::Plan;
use crate::schema::{Scenario, Seed, Series};
use crate::tree::{Node, Value};
use crate::{fill, overrides, resolve, tree};

/// Largest text that is read. Scenario files are written by hand and are far smaller.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// A scenario with all defaults filled in, checked and planned once: [`Document::resolve`] adds only what depends on
/// the seed.
#[derive(Clone, Debug)]
pub struct Document {
    scenario: Scenario,
    plan: Plan,
    /// The scenario as written, needed for the places of problems.
    tree: Node,
    /// What was given with it.
    files: Files,
    sources: Vec<crate::Source>,
    warnings: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
}

/// Documents are equal if they describe the same scenario, wherever it was written.
impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.scenario == other.scenario
    }
}

impl Document {
    /// Reads a scenario file. `file_name` is only used in messages.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, Errors> {
        Self::with_overrides(text, file_name, &[])
    }

    /// Reads a scenario file and applies `--set key=value` arguments in order. Keys are dotted and may count
    /// (`flows[0].cc`), name (`flows.reno.cc`) or all (`flows.*.cc`) flow groups; a value that is not TOML is a string.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn with_overrides(
        text: &str,
        file_name: &str,
        arguments: &[(String, String)],
    ) -> Result<Self, Errors> {
        Self::with_files(text, file_name, arguments, Files::default())
    }

    /// [`Document::with_overrides`] with the files that the scenario names.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn with_files(
        text: &str,
        file_name: &str,
        arguments: &[(String, String)],
        files: Files,
    ) -> Result<Self, Errors> {
        let mut report = Report::default();
        // A byte-order mark is not part of the text.
        let source = report.add_source(file_name, text.strip_prefix('\u{feff}').unwrap_or(text));
        let start = Mark { source, range: 0..0 };
        if text.len() > MAX_TEXT_BYTES {
            report.sources[source].text = "".into();
            let message = format!("the file has {} bytes, more than {MAX_TEXT_BYTES}", text.len());
            report.error(&start, message, "a scenario file is a few kilobytes; is this the right file?");
            return Err(Errors(report.into_found(Severity::Error)));
        }
        let tree = tree::from_toml(source, &mut report);
        Self::from_tree(tree, arguments, report, files)
    }

    /// Reads the JSON form ([`Document::to_json`]). `name` is only used in messages.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn from_json(json: &Json, name: &str) -> Result<Self, Errors> {
        Self::from_json_with_overrides(json, name, &[])
    }

    /// [`Document::from_json`] with the files that it names ([`Document::with_files`]).
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn from_json_with_files(json: &Json, name: &str, files: Files) -> Result<Self, Errors> {
        let mut report = Report::default();
        let tree = tree::from_json(json, name, &mut report);
        Self::from_tree(tree, &[], report, files)
    }

    /// [`Document::from_json`] with `--set` arguments as in [`Document::with_overrides`].
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn from_json_with_overrides(
        json: &Json,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<Self, Errors> {
        let mut report = Report::default();
        let tree = tree::from_json(json, name, &mut report);
        Self::from_tree(tree, arguments, report, Files::default())
    }

    /// The document with further `--set` arguments, and further laws that these name: the same, with the same messages,
    /// as reading its text again with all arguments, but for the time that takes.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn overridden(&self, arguments: &[(String, String)], laws: Laws) -> Result<Self, Errors> {
        let mut files = self.files.clone();
        files.laws.extend(laws);
        Self::from_tree(self.tree.clone(), arguments, Report::of(self.sources.clone()), files)
    }

    fn from_tree(
        mut tree: Node,
        arguments: &[(String, String)],
        mut report: Report,
        files: Files,
    ) -> Result<Self, Errors> {
        if report.has_errors() {
            return Err(Errors(report.into_found(Severity::Error)));
        }
        if matches!(&tree.value, Value::Table(entries) if entries.is_empty()) && arguments.is_empty() {
            let hint = "a scenario needs at least duration, [bottleneck] and one [[flows]]; see the scenarios folder";
            report.error(&tree.mark.clone(), "the scenario is empty", hint);
            return Err(Errors(report.into_found(Severity::Error)));
        }
        for (key, value) in arguments {
            overrides::apply(&mut tree, key, value, &mut report);
        }
        let scenario = Scenario::read(&tree, &mut report);
        let Some(mut scenario) = scenario.filter(|_| !report.has_errors()) else {
            return Err(Errors(report.into_found(Severity::Error)));
        };
        let shared = RefCell::new(report);
        let remarks = Remarks { tree: &tree, report: &shared, laws: &files.laws };
        fill::defaults(&mut scenario, remarks);
        let plan =
            if shared.borrow().has_errors() { None } else { resolve::plan(&scenario, remarks, &files.lists) };
        let mut report = shared.into_inner();
        let Some(mut plan) = plan.filter(|_| !report.has_errors()) else {
            return Err(Errors(report.into_found(Severity::Error)));
        };
        if scenario.trace.series == Series::Auto {
            let experiment = plan.experiment(scenario.seed);
            scenario.trace.series = if experiment.flows.len() as u64 > resolve::MAX_LASTING {
                Series::Off
            } else {
                let bin = resolve::fitting_bin(&experiment);
                plan.set_series_interval(bin.span());
                Series::Bin(bin)
            };
        }
        Ok(Self {
            scenario,
            plan,
            tree,
            files,
            sources: report.sources.clone(),
            warnings: report.take(Severity::Warning),
            notes: report.take(Severity::Note),
        })
    }

    /// The experiment in base units. `seed` replaces the seed of the file.
    ///
    /// # Errors
    /// If a scenario file cannot hold `seed`.
    pub fn resolve(&self, seed: Option<u64>) -> Result<Experiment, Errors> {
        let Some(chosen) = seed.map_or(Some(self.scenario.seed), Seed::new) else {
            let mut report = Report::of(self.sources.clone());
            let (message, hint) = Seed::refusal(seed.unwrap_or_default().into());
            report.error(&self.tree.mark_of("seed"), message, hint);
            return Err(Errors(report.into_found(Severity::Error)));
        };
        Ok(self.plan.experiment(chosen))
    }

    /// [`Facts`] of the experiment with the seed of the file.
    pub fn facts(&self) -> Facts {
        Facts::of(&self.plan.experiment(self.scenario.seed), self.plan.bdp_rtt)
    }

    /// Warnings: what is allowed but probably not meant.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Notes: effects of the scenario that its author may not expect ([`crate::Experiment::notes`]), with
    /// their places.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// The scenario with every default filled in.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The resolved scenario in the units of the file; [`Document::from_json`] gives an equal document.
    #[allow(clippy::missing_panics_doc, reason = "a table is always written")]
    pub fn to_json(&self) -> Json {
        self.scenario.write().expect("a table is always written")
    }

    /// The JSON of a run with `seed` ([`Document::to_json`]), so that what is stored with a result reproduces
    /// that run.
    pub fn to_json_with_seed(&self, seed: u64) -> Json {
        let mut json = self.to_json();
        json["seed"] = seed.into();
        json
    }

    /// The resolved scenario as a scenario file; [`Document::parse`] gives an equal document.
    #[allow(clippy::missing_panics_doc, reason = "everything in a scenario has a form in TOML")]
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_json())
            .expect("tables, arrays, strings, booleans and numbers in the range of TOML")
    }
}
