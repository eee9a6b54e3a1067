//! Parameters of laws from files.

use serde_json::{Map, Value as Json};
use shoal_cc::ExternalConfig;

use crate::own_law::{HINT, number_of, values};
use crate::report::Report;
use crate::tree::Node;

/// The law with the values of `node`.
pub(super) fn apply(config: ExternalConfig, node: &Node, report: &mut Report) -> Option<ExternalConfig> {
    let known = config.law().has_model().then(|| config.law().parameters());
    let values = values(node, known, report)?;
    config.law().with(&values).map_err(|why| report.error(&node.mark, why, HINT)).ok()
}

/// The parameters with their values.
pub(super) fn describe(config: ExternalConfig, map: &mut Map<String, Json>) {
    for (parameter, value) in config.law().parameters() {
        map.insert(parameter.name.clone(), number_of(parameter, *value));
    }
}
