//! Description of the guest's kernel.

use serde::{Deserialize, Serialize};
use shoal_measure::ModuleRun;
use std::collections::BTreeMap;

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
    /// Modules of the user, in the order in which they are loaded.
    #[serde(default)]
    pub user_modules: Vec<UserModule>,
    /// How guest processes are run: `seccomp` or `ptrace`. Each mode gives its own, repeatable sample path.
    pub mode: String,
}

/// A kernel module that the user wrote, compiled for this kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UserModule {
    /// What results say of it.
    #[serde(flatten)]
    pub run: ModuleRun,
    /// Its parameters and their types.
    pub parameters: BTreeMap<String, String>,
}

impl UserModule {
    /// What it is, for explanations.
    pub(crate) fn in_words(&self) -> String {
        let of = |what: &str, names: &[String]| {
            names.iter().map(|name| format!("{what} `{name}`")).collect::<Vec<_>>()
        };
        let registered =
            [of("congestion control", &self.run.controllers), of("queue discipline", &self.run.disciplines)]
                .concat();
        let ModuleRun { source, source_sha256, module_sha256, compiler, .. } = &self.run;
        format!(
            "{source}, {}; SHA-256 of the source {source_sha256}, of the module {module_sha256}; {compiler}",
            registered.join(", ")
        )
    }
}

impl Kernel {
    pub(crate) fn has_controller(&self, name: &str) -> bool {
        self.controllers.iter().any(|other| other == name) || self.module_of_controller(name).is_some()
    }

    /// The module of the user that registers a congestion control.
    pub(crate) fn module_of_controller(&self, name: &str) -> Option<&UserModule> {
        self.user_modules.iter().find(|module| module.run.controllers.iter().any(|other| other == name))
    }

    pub(crate) fn has_discipline(&self, kind: &str) -> bool {
        self.disciplines.iter().any(|other| other == kind) || self.module_of_discipline(kind).is_some()
    }

    /// The module of the user that registers a queue discipline.
    pub(crate) fn module_of_discipline(&self, kind: &str) -> Option<&UserModule> {
        self.user_modules.iter().find(|module| module.run.disciplines.iter().any(|other| other == kind))
    }

    /// Whether a congestion control can ask for accurate ECN (`TCP_CONG_NEEDS_ACCECN` of
    /// [`include/net/tcp.h`](https://elixir.bootlin.com/linux/v7.0/source/include/net/tcp.h)).
    pub(crate) fn has_accurate_ecn(&self) -> bool {
        let major = self.release.split('.').next().and_then(|major| major.parse::<u32>().ok());
        major.is_some_and(|major| major >= 7)
    }
}
