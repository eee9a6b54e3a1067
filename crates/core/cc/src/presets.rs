//! Named configurations: the values of `cc = "..."` in a scenario.

use crate::{CcConfig, cubic, dctcp, reno};
use shoal_units::ModelDoc;

/// A named configuration with its description.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name in the scenario file.
    pub name: &'static str,
    /// Configuration of the preset.
    pub config: CcConfig,
    /// Whether the flow asks for ECN unless the scenario says otherwise.
    pub ecn: bool,
    /// Description with sources and known differences.
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
    preset(CcConfig::Dctcp(dctcp::freebsd::FREEBSD), dctcp::freebsd::FREEBSD_DOC),
    preset(CcConfig::Dctcp(dctcp::freebsd::FREEBSD_14), dctcp::freebsd::FREEBSD_14_DOC),
    classic_ecn(reno::RENO, reno::ECN_RENO_DOC),
    classic_ecn(reno::NEWRENO, reno::ECN_NEWRENO_DOC),
];

const fn preset(config: CcConfig, doc: ModelDoc) -> Preset {
    Preset { name: doc.name, config, ecn: matches!(config, CcConfig::Dctcp(_)), doc }
}

/// Reno with ECN requested by default.
const fn classic_ecn(config: crate::RenoConfig, doc: ModelDoc) -> Preset {
    Preset { name: doc.name, config: CcConfig::Reno(config), ecn: true, doc }
}

impl Preset {
    /// The preset called `name`.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }
}

impl CcConfig {
    /// The configuration called `name`.
    pub fn preset(name: &str) -> Option<Self> {
        Preset::by_name(name).map(|preset| preset.config)
    }
}
