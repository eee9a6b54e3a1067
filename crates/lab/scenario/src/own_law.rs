//! Values that a scenario gives to the parameters of laws of one's own.

use serde_json::Value as Json;
use shoal_units::Parameter;

use crate::field::{Field, entries, suggest};
use crate::report::Report;
use crate::tree::Node;

/// Where the parameters of such a law are listed.
pub(crate) const HINT: &str = "`shoal describe` with the file lists its parameters";
/// Where it is said what such a law is.
pub(crate) const PAGE: &str = "docs/how-to/write-your-own-law.md shows what a law has to be";

/// The values in `node`, which are checked if the parameters are `known`.
pub(crate) fn values<'n>(
    node: &'n Node,
    known: Option<&[(Parameter, f64)]>,
    report: &mut Report,
) -> Option<Vec<(&'n str, f64)>> {
    let mut values = Vec::new();
    let mut is_wrong = false;
    for entry in entries(node, "as in { gain = 0.1 }", report)? {
        let parameter = known.map(|known| known.iter().find(|(parameter, _)| parameter.name == entry.key));
        if parameter == Some(None) {
            let names: Vec<&str> =
                known.into_iter().flatten().map(|(parameter, _)| parameter.name.as_str()).collect();
            let message = format!("the law has no parameter \"{}\"", entry.key);
            let hint =
                if names.is_empty() { "it has none at all".to_owned() } else { suggest(&entry.key, &names) };
            report.error(&entry.node.mark, message, hint);
            is_wrong = true;
            continue;
        }
        let value = f64::read(&entry.node, report).filter(|value| {
            let checked = parameter.flatten().map_or(Ok(()), |(parameter, _)| parameter.check(*value));
            checked.map_err(|why| report.error(&entry.node.mark, why, HINT)).is_ok()
        });
        match value {
            Some(value) => values.push((entry.key.as_str(), value)),
            None => is_wrong = true,
        }
    }
    (!is_wrong).then_some(values)
}

/// A value as a scenario file writes it.
pub(crate) fn number_of(parameter: &Parameter, value: f64) -> Json {
    if parameter.is_whole { Json::from(value as i64) } else { Json::from(value) }
}
