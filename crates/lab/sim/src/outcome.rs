//! The outcome of a run: its measurements, and what only a simulator knows.

use shoal_measure::{Measured, Plane, RunResult};
use std::ops::Deref;

/// The measurements of a run, to which it dereferences, and further numbers of the simulator.
#[derive(Debug)]
pub struct Outcome {
    /// Measurements that both planes make.
    pub measured: Measured,
    /// Number of events processed.
    pub events: u64,
    /// Packets sent by hosts or copied by paths, delivered to hosts, lost by paths, and still inside the network at the
    /// end; all others were dropped.
    pub conservation: Conservation,
    /// Memory of one flow in bytes: both endpoints with their queues, averaged at the end of the run.
    pub flow_bytes: u64,
}

/// Balance of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conservation {
    /// Packets that hosts sent.
    pub sent: u64,
    /// Packets that reached a host.
    pub delivered: u64,
    /// Packets in queues and on links at the end. A link that nobody watches may decide on a packet before it comes:
    /// one that is to be dropped there just after the end may be missing here, and not be if threads share the run.
    pub inside: u64,
    /// Packets that paths lost or corrupted.
    pub lost: u64,
    /// Copies that paths made.
    pub duplicated: u64,
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
