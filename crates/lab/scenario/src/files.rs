//! Files that a scenario names, whose contents are given beside it: the core reads none.

use crate::flow_list::FlowLists;
use shoal_aqm::ExternalQueueConfig;
use shoal_cc::ExternalConfig;
use shoal_units::Unmodelled;
use std::collections::BTreeMap;

/// What is given beside the text of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Lists of flows by the SHA-256 with which the scenario names them.
    pub lists: FlowLists,
    /// Laws by their names.
    pub laws: Laws,
}

/// Laws by the names that `cc` gives them.
pub type Laws = BTreeMap<String, GivenLaw>;

/// A law from files.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenLaw {
    /// What the simulator runs.
    pub simulator: Option<GivenFile>,
    /// A class in Python that the simulator runs.
    pub python: Option<GivenFile>,
    /// What the kernel runs.
    pub kernel: Option<GivenFile>,
    /// Its controller, or why it has none: a sentence without a full stop.
    pub controller: Result<ExternalConfig, String>,
    /// Its law of a queue or why there is none to run, or why it is no such law: a sentence likewise.
    pub queue: Result<Result<ExternalQueueConfig, Unmodelled>, String>,
}

/// A file of a law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenFile {
    /// The file, as the scenario names it.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

impl From<FlowLists> for Files {
    fn from(lists: FlowLists) -> Self {
        Self { lists, laws: Laws::new() }
    }
}
