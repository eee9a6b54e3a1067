//! The measurements of a run, on whatever plane.

use crate::laws::BrokenLaw;
use crate::{Bottleneck, GroupResult, LinuxRun, Metrics, Notice, RunResult, SCHEMA, Window};
use shoal_trace::Table;

/// The measurements of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Monitored links, in scenario order.
    pub bottlenecks: Vec<Bottleneck>,
    /// Flow groups, in scenario order.
    pub groups: Vec<GroupResult>,
    /// What is computed between flows.
    pub metrics: Metrics,
    /// What a reader has to know.
    pub notices: Vec<Notice>,
    /// Recorded tables.
    pub tables: Vec<Table>,
    /// A law that the numbers break; they are wrong then.
    pub broken: Option<BrokenLaw>,
    pub(crate) window: Window,
    pub(crate) seed: u64,
}

/// Who ran the experiment.
#[derive(Clone, PartialEq, Debug)]
pub enum Plane {
    /// The simulator, which processed so many events.
    Simulator {
        /// Events processed.
        events: u64,
    },
    /// A real kernel.
    Linux(LinuxRun),
}

impl Measured {
    /// The result object, given the resolved scenario, the version of the program and the plane.
    pub fn result(&self, scenario: serde_json::Value, version: &str, plane: Plane) -> RunResult {
        let (on, events, linux) = match plane {
            Plane::Simulator { events } => ("sim", Some(events), None),
            Plane::Linux(run) => ("linux", None, Some(run)),
        };
        RunResult {
            schema: SCHEMA,
            version: version.to_owned(),
            scenario,
            seed: self.seed,
            on: on.to_owned(),
            window: self.window,
            bottlenecks: self.bottlenecks.clone(),
            groups: self.groups.clone(),
            metrics: self.metrics.clone(),
            notices: self.notices.clone(),
            events,
            linux,
        }
    }
}
