//! The kernel of the guest.

use serde::{Deserialize, Serialize};

/// What a plan must know of the guest's kernel; written by `shoal linux build` beside the image.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Release, as `uname -r` gives it: `7.3.4-shoal`.
    pub release: String,
    /// Names of the congestion controls it has.
    pub controllers: Vec<String>,
    /// Kinds of the queue disciplines it has.
    pub disciplines: Vec<String>,
    /// Which build: version, and a digest of configuration and tool chain.
    #[serde(default)]
    pub build: String,
    /// Which modules and programs of ours it runs: a digest of their sources.
    #[serde(default)]
    pub modules: String,
    /// Program that drives bulk flows instead of the guest's own sender and receiver: `iperf3 3.12`.
    #[serde(default)]
    pub generator: Option<String>,
    /// How guest processes are run: `seccomp` or `ptrace`. Each gives its own, repeatable, sample path.
    pub mode: String,
}

impl Kernel {
    pub(crate) fn has_controller(&self, name: &str) -> bool {
        self.controllers.iter().any(|other| other == name)
    }
}
