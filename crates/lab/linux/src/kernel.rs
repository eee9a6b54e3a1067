//! Description of the guest's kernel.

use serde::{Deserialize, Serialize};

/// Properties of the guest's kernel that a plan depends on; `shoal linux build` writes them beside the image.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Release, as `uname -r` gives it: `7.3.4-shoal`.
    pub release: String,
    /// Names of the congestion controllers in the kernel.
    pub controllers: Vec<String>,
    /// Kinds of the queue disciplines in the kernel.
    pub disciplines: Vec<String>,
    /// Identification of the build: version, and a digest of configuration and tool chain.
    #[serde(default)]
    pub build: String,
    /// Identification of this project's modules and programs in the guest: a digest of their sources.
    #[serde(default)]
    pub modules: String,
    /// Program that drives bulk flows instead of the guest's own sender and receiver: `iperf3 3.12`.
    #[serde(default)]
    pub generator: Option<String>,
    /// How guest processes are run: `seccomp` or `ptrace`. Each mode gives its own, repeatable sample path.
    pub mode: String,
}

impl Kernel {
    pub(crate) fn has_controller(&self, name: &str) -> bool {
        self.controllers.iter().any(|other| other == name)
    }

    /// Whether a congestion control can ask for accurate ECN (`TCP_CONG_NEEDS_ACCECN` of
    /// [`include/net/tcp.h`](https://elixir.bootlin.com/linux/v7.0/source/include/net/tcp.h)).
    pub(crate) fn has_accurate_ecn(&self) -> bool {
        let major = self.release.split('.').next().and_then(|major| major.parse::<u32>().ok());
        major.is_some_and(|major| major >= 7)
    }
}
