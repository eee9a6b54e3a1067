//! Named configurations: the values of `cc = "..."` in a scenario.

use crate::{CcConfig, PRESETS};
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

impl Preset {
    /// A preset that asks for ECN if its law needs it.
    pub(crate) const fn new(config: CcConfig, doc: ModelDoc) -> Self {
        Self { name: doc.name, config, ecn: config.ecn_use().is_scalable(), doc }
    }

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

/// The presets of all lists, one after the other; `N` is how many there are.
pub(crate) const fn concatenate<const N: usize>(lists: &[&[Preset]]) -> [Preset; N] {
    let mut all = [lists[0][0]; N];
    let (mut list, mut filled) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[filled] = lists[list][at];
            (at, filled) = (at + 1, filled + 1);
        }
        list += 1;
    }
    assert!(filled == N, "N is the length of all lists");
    all
}

/// How many presets there are in all lists.
pub(crate) const fn count(lists: &[&[Preset]]) -> usize {
    let (mut list, mut count) = (0, 0);
    while list < lists.len() {
        (count, list) = (count + lists[list].len(), list + 1);
    }
    count
}
