//! Named configurations: what a scenario's `cc = "..."` may say.

use crate::{CcConfig, cubic, dctcp, reno};
use shoal_units::ModelDoc;

/// A named configuration with its description.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name in the scenario file.
    pub name: &'static str,
    /// What it stands for.
    pub config: CcConfig,
    /// Parameters, sources, known differences.
    pub doc: ModelDoc,
}

/// All presets, in the order in which they are listed.
pub const PRESETS: &[Preset] = &[
    preset(CcConfig::Reno(reno::RENO), reno::RENO_DOC),
    preset(CcConfig::Cubic(cubic::presets::CUBIC), cubic::presets::CUBIC_DOC),
    preset(CcConfig::Cubic(cubic::presets::CUBIC_RFC9438), cubic::presets::CUBIC_RFC9438_DOC),
    preset(CcConfig::Dctcp(dctcp::presets::DCTCP), dctcp::presets::DCTCP_DOC),
    preset(CcConfig::Dctcp(dctcp::presets::LINUX_3_18), dctcp::presets::LINUX_3_18_DOC),
    preset(CcConfig::Dctcp(dctcp::presets::STANFORD), dctcp::presets::STANFORD_DOC),
    preset(CcConfig::Dctcp(dctcp::presets::IKR), dctcp::presets::IKR_DOC),
];

const fn preset(config: CcConfig, doc: ModelDoc) -> Preset {
    Preset { name: doc.name, config, doc }
}

impl CcConfig {
    /// The configuration called `name`.
    pub fn preset(name: &str) -> Option<Self> {
        PRESETS.iter().find(|preset| preset.name == name).map(|preset| preset.config)
    }
}
