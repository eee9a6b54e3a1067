//! What a plane cannot run.

use std::fmt;

/// One reason why an experiment cannot run on a plane (the simulator, or the real kernel) as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Part of the scenario: `bottleneck.aqm`, or `flow group "reno"`.
    pub place: String,
    /// What that part asks for, and why the plane does not offer it.
    pub reason: String,
    /// What the user can write instead.
    pub hint: String,
}

impl Refusal {
    /// The text of refusals; empty if there are none.
    pub fn all(refusals: &[Self]) -> String {
        let texts: Vec<String> = refusals.iter().map(|refusal| format!("{refusal}\n")).collect();
        texts.join("\n")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}: {}\nhint: {}", self.place, self.reason, self.hint)
    }
}
