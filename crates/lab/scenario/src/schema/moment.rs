//! A time in the list of starts or stops of flows.

use serde_json::{Value as Json, json};
use shoal_units::Time;

use crate::field::Field;
use crate::quantity::Duration;
use crate::report::Report;
use crate::tree::{Node, Value};

pub(super) const NEVER: &str = "never";

/// When something happens to one flow of a group: at a time, or `"never"`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moment(Option<Duration>);

impl Moment {
    /// The time; `None` if it never happens.
    pub fn time(self) -> Option<Time> {
        self.0.map(|time| Time::ZERO + time.span())
    }
}

impl Field for Moment {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == NEVER => Some(Self(None)),
            Value::Text(text) if !text.contains(|c: char| c.is_ascii_digit()) => {
                let hint = format!("write a time as in \"500 ms\", or \"{NEVER}\"");
                report.error(&node.mark, format!("\"{text}\" is not a time"), hint);
                None
            }
            _ => Duration::read(node, report).map(|time| Self(Some(time))),
        }
    }
    fn write(&self) -> Option<Json> {
        Some(self.0.map_or(json!(NEVER), |time| json!(time.to_string())))
    }
    fn schema() -> Json {
        json!({ "anyOf": [Duration::schema(), { "const": NEVER }] })
    }
}
