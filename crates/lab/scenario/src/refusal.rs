//! What a plane cannot express.

use std::fmt;

/// One reason why an experiment cannot run on a plane (the simulator, or the real kernel) as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Part of the scenario: `bottleneck.aqm`, `flow group "reno"`.
    pub place: String,
    /// What it asks for and why the plane has no such thing.
    pub reason: String,
    /// What would be right.
    pub hint: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}: {}\nhint: {}", self.place, self.reason, self.hint)
    }
}
