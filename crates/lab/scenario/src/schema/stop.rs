//! `flows.stop`

use serde_json::{Value as Json, json};
use shoal_units::Time;

use crate::field::Field;
use crate::quantity::Duration;
use crate::report::Report;
use crate::tree::{Node, Value};

const NEVER: &str = "never";

/// When the applications of a group stop writing.
#[derive(Clone, PartialEq, Debug)]
pub enum Stop {
    /// All at once.
    At(Duration),
    /// One entry for each flow; `None` stands for a flow that never stops.
    List(Vec<Option<Duration>>),
}

impl Stop {
    /// When flow `number` of the group stops; `None` if it never does.
    pub fn of_flow(&self, number: u32) -> Option<Time> {
        let stop = match self {
            Self::At(time) => Some(*time),
            Self::List(times) => times.get(number as usize).copied().flatten(),
        };
        stop.map(|stop| Time::ZERO + stop.span())
    }
}

impl Field for Stop {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Array(items) if items.is_empty() => {
                let hint = "give one time for each flow, or leave stop out";
                report.error(&node.mark, "the list of stop times is empty", hint);
                None
            }
            Value::Array(items) => {
                let read = |item: &Node, report: &mut Report| match &item.value {
                    Value::Text(text) if text == NEVER => Some(None),
                    _ => Duration::read(item, report).map(Some),
                };
                // All entries are read, so that all errors are reported.
                let times: Vec<_> = items.iter().map(|item| read(item, report)).collect();
                times.into_iter().collect::<Option<_>>().map(Self::List)
            }
            _ => Duration::read(node, report).map(Self::At),
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::At(time) => time.write(),
            Self::List(times) => Some(
                times.iter().map(|time| time.map_or(json!(NEVER), |time| json!(time.to_string()))).collect(),
            ),
        }
    }
    fn schema() -> Json {
        let time = Duration::schema();
        json!({ "oneOf": [
            time,
            { "type": "array", "items": { "anyOf": [time, { "const": NEVER }] }, "minItems": 1 },
        ] })
    }
}
