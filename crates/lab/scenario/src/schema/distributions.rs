//! `[distributions]`

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::field::{Field, Section, entries};
use crate::quantity::Size;
use crate::report::Report;
use crate::tree::{Node, Value};

/// Distributions of transfer sizes, by name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Distributions(pub BTreeMap<String, Distribution>);

/// A distribution of transfer sizes.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Distribution {
    /// Cumulative distribution as [size, probability of at most this size], linear in between and from 0 B to the first
    /// point; two points of one size are a jump: so many transfers have this size. Drawn sizes are rounded up to whole
    /// bytes.
    pub cdf: Vec<CdfPoint>,
}

/// A point of a cumulative distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CdfPoint {
    /// Size of a transfer.
    pub size: Size,
    /// Probability of at most this size.
    pub probability: f64,
}

impl Field for Distributions {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let entries =
            entries(node, "as in [distributions.mine] with cdf = [[\"6 kB\", 0.15], [\"1 MB\", 1]]", report)?;
        // Collected before any is unwrapped, so that every distribution reports its own problems.
        let read: Vec<Option<(String, Distribution)>> = entries
            .iter()
            .map(|entry| Some((entry.key.clone(), Distribution::read(&entry.node, report)?)))
            .collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
    fn write(&self) -> Option<Json> {
        let written = self.0.iter().filter_map(|(name, own)| Some((name.clone(), own.write()?)));
        (!self.0.is_empty()).then(|| Json::Object(written.collect()))
    }
    fn schema() -> Json {
        json!({ "type": "object", "additionalProperties": Distribution::schema() })
    }
}

impl Field for CdfPoint {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        const HINT: &str = "write a size and a probability, as in [\"6 kB\", 0.15]";
        match &node.value {
            Value::Array(items) if items.len() == 2 => {
                let (size, probability) = (Size::read(&items[0], report), f64::read(&items[1], report));
                Some(Self { size: size?, probability: probability? })
            }
            other => {
                let message = format!("expected a point of the distribution, found {}", other.what());
                report.error(&node.mark, message, HINT);
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        Some(json!([self.size.to_string(), self.probability]))
    }
    fn schema() -> Json {
        json!({ "type": "array", "minItems": 2, "maxItems": 2,
                "prefixItems": [Size::schema(), { "type": "number", "minimum": 0, "maximum": 1 }] })
    }
}
