//! `flows.start`

use serde_json::{Value as Json, json};

use crate::field::{Field, Section, section};
use crate::quantity::Duration;
use crate::report::Report;
use crate::tree::{Node, Value};

/// When the flows of a group connect.
#[derive(Clone, PartialEq, Debug)]
pub enum Start {
    /// All at once.
    At(Duration),
    /// One time for each flow.
    List(Vec<Duration>),
    /// Each at its own uniformly drawn time.
    Uniform {
        /// Earliest.
        from: Duration,
        /// Latest.
        to: Duration,
    },
    /// One after the other.
    Every(Staggered),
}

section! {
    /// Starts one after the other.
    Staggered {
        /// Time between two starts.
        every: Duration,
        /// First start.
        first: Duration = "0 s",
    }
}

const HINT: &str = "write \"1 s\", [\"0 s\", \"1 s\"], { uniform = [\"0 s\", \"1 s\"] } or { every = \"500 ms\", first = \"0 s\" }";

impl Field for Start {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(_) => Duration::read(node, report).map(Self::At),
            Value::Array(items) if !items.is_empty() => Vec::read(node, report).map(Self::List),
            Value::Table(entries) => match entries.as_slice() {
                [only] if only.key == "uniform" => {
                    let bounds = Vec::<Duration>::read(&only.node, report)?;
                    if let [from, to] = bounds[..] {
                        return Some(Self::Uniform { from, to });
                    }
                    report.error(
                        &only.node.mark,
                        "uniform needs two times",
                        "as in { uniform = [\"0 s\", \"1 s\"] }",
                    );
                    None
                }
                entries if entries.iter().any(|e| e.key == "every" || e.key == "first") => {
                    Staggered::read_table(entries, &[], &node.mark, report).map(Self::Every)
                }
                _ => {
                    report.error(&node.mark, "unknown form of start", HINT);
                    None
                }
            },
            other => {
                report.error(&node.mark, format!("expected start times, found {}", other.what()), HINT);
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::At(time) => time.write(),
            Self::List(times) => times.write(),
            Self::Uniform { from, to } => Some(json!({ "uniform": [from.to_string(), to.to_string()] })),
            Self::Every(staggered) => staggered.write(),
        }
    }
    fn schema() -> Json {
        let time = Duration::schema();
        json!({ "oneOf": [
            time,
            { "type": "array", "items": time, "minItems": 1 },
            { "type": "object", "additionalProperties": false, "required": ["uniform"], "properties": {
                "uniform": { "type": "array", "items": time, "minItems": 2, "maxItems": 2,
                             "description": "Earliest and latest start, drawn for each flow." } } },
            Staggered::schema(),
        ] })
    }
}
