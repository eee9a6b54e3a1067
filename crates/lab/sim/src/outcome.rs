//! What a run gives: its measurements, and what only a simulator knows.

use shoal_measure::{Measured, Plane, RunResult};
use std::ops::Deref;

/// The measurements of a run, which read as its own, and what the simulator knows beside them.
#[derive(Debug)]
pub struct Outcome {
    /// What both planes measure.
    pub measured: Measured,
    /// Events processed.
    pub events: u64,
    /// Packets sent by hosts, delivered to hosts, and still inside the network at the end; the rest was dropped.
    pub conservation: Conservation,
    /// Memory of one flow: both endpoints with their queues, averaged at the end of the run. In bytes.
    pub flow_bytes: u64,
}

/// Where packets went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conservation {
    /// Packets that hosts sent.
    pub sent: u64,
    /// Packets that reached a host.
    pub delivered: u64,
    /// Packets in queues and on wires at the end.
    pub inside: u64,
}

impl Outcome {
    /// The result object, given the resolved scenario and the version of the program.
    pub fn result(&self, scenario: serde_json::Value, version: &str) -> RunResult {
        self.measured.result(scenario, version, Plane::Simulator { events: self.events })
    }
}

impl Deref for Outcome {
    type Target = Measured;
    fn deref(&self) -> &Measured {
        &self.measured
    }
}
