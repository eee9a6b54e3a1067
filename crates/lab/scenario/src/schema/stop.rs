//! `flows.stop`

use serde_json::{Value as Json, json};
use shoal_units::Time;

use super::moment::Moment;
use crate::field::Field;
use crate::quantity::Duration;
use crate::report::Report;
use crate::tree::{Node, Value};

/// When the applications of a group stop writing.
#[derive(Clone, PartialEq, Debug)]
pub enum Stop {
    /// All at once.
    At(Duration),
    /// One entry for each flow.
    List(Vec<Moment>),
}

impl Stop {
    /// When flow `number` of the group stops; `None` if it never does.
    pub fn of_flow(&self, number: u32) -> Option<Time> {
        match self {
            Self::At(time) => Some(Time::ZERO + time.span()),
            Self::List(times) => times.get(number as usize)?.time(),
        }
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
            Value::Array(_) => Vec::read(node, report).map(Self::List),
            _ => Duration::read(node, report).map(Self::At),
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::At(time) => time.write(),
            Self::List(times) => times.write(),
        }
    }
    fn schema() -> Json {
        json!({ "oneOf": [
            Duration::schema(),
            { "type": "array", "items": Moment::schema(), "minItems": 1 },
        ] })
    }
}
