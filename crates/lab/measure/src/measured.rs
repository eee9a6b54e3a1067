//! The measurements of a run on either plane.

use crate::laws::BrokenLaw;
use crate::{
    Bottleneck, CardResult, GroupResult, LinuxRun, Metrics, Notice, PathResult, RunResult, SCHEMA, Window,
};
use shoal_trace::Table;

/// The measurements of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Monitored links, in scenario order.
    pub bottlenecks: Vec<Bottleneck>,
    /// Links with impairments, in scenario order; the plane fills them in.
    pub paths: Vec<PathResult>,
    /// Network cards of hosts that make packets wait, in the order of the hosts; the plane fills them in.
    pub cards: Vec<CardResult>,
    /// Flow groups, in scenario order.
    pub groups: Vec<GroupResult>,
    /// Metrics between flows.
    pub metrics: Metrics,
    /// What a reader of the numbers has to know.
    pub notices: Vec<Notice>,
    /// Recorded tables.
    pub tables: Vec<Table>,
    /// A law that the numbers violate, in which case they are wrong.
    pub broken: Option<BrokenLaw>,
    pub(crate) window: Window,
    pub(crate) seed: u64,
}

/// The plane on which the experiment ran.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "a run has one")]
pub enum Plane {
    /// The simulator.
    Simulator {
        /// Number of events processed.
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
            paths: self.paths.clone(),
            cards: self.cards.clone(),
            groups: self.groups.clone(),
            metrics: self.metrics.clone(),
            notices: self.notices.clone(),
            events,
            linux,
        }
    }
}
