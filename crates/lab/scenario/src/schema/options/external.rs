//! Parameters of laws from files.

use serde_json::{Map, Value as Json};
use shoal_cc::ExternalConfig;

use crate::field::{Field, entries, suggest};
use crate::report::Report;
use crate::tree::Node;

/// The law with the values of `node`.
pub(super) fn apply(config: ExternalConfig, node: &Node, report: &mut Report) -> Option<ExternalConfig> {
    let parameters = config.law().parameters();
    let names: Vec<&str> = parameters.iter().map(|(parameter, _)| parameter.name.as_str()).collect();
    let hint = "`shoal describe` with the file lists its parameters";
    let mut values = Vec::new();
    let mut is_wrong = false;
    for entry in entries(node, "as in cc_options = { gain = 0.1 }", report)? {
        if !config.law().has_model() {
            match f64::read(&entry.node, report) {
                Some(value) => values.push((entry.key.as_str(), value)),
                None => is_wrong = true,
            }
            continue;
        }
        let Some((parameter, _)) = parameters.iter().find(|(known, _)| known.name == entry.key) else {
            let message = format!("the law has no parameter \"{}\"", entry.key);
            let hint =
                if names.is_empty() { "it has none at all".to_owned() } else { suggest(&entry.key, &names) };
            report.error(&entry.node.mark, message, hint);
            is_wrong = true;
            continue;
        };
        match f64::read(&entry.node, report) {
            Some(value) => match parameter.check(value) {
                Ok(()) => values.push((entry.key.as_str(), value)),
                Err(why) => {
                    report.error(&entry.node.mark, why, hint);
                    is_wrong = true;
                }
            },
            None => is_wrong = true,
        }
    }
    if is_wrong {
        return None;
    }
    config.law().with(&values).map_err(|why| report.error(&node.mark, why, hint)).ok()
}

/// The parameters with their values.
pub(super) fn describe(config: ExternalConfig, map: &mut Map<String, Json>) {
    for (parameter, value) in config.law().parameters() {
        let number = if parameter.is_whole { Json::from(*value as i64) } else { Json::from(*value) };
        map.insert(parameter.name.clone(), number);
    }
}
