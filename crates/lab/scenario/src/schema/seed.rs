//! Seeds of random streams.

use serde_json::{Value as Json, json};

use crate::field::Field;
use crate::report::Report;
use crate::tree::{Node, Value};

/// Seed of all random streams of a run. Only seeds that a scenario file can hold are allowed, so that a file
/// can repeat any result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(u64);

impl Seed {
    /// The largest seed: integers in TOML have 64 bits with a sign.
    pub const MAX: u64 = i64::MAX as u64;

    /// A seed; `None` if it is out of range.
    pub const fn new(seed: u64) -> Option<Self> {
        if seed > Self::MAX { None } else { Some(Self(seed)) }
    }

    /// The seed as a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Message and hint for a number that is not a valid seed.
    pub(crate) fn refusal(number: i128) -> (String, String) {
        (format!("{number} is not a seed"), format!("write a whole number from 0 to {}", Self::MAX))
    }
}

impl Field for Seed {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Integer(number) = node.value else {
            let (_, hint) = Self::refusal(0);
            report.error(&node.mark, format!("expected a whole number, found {}", node.value.what()), hint);
            return None;
        };
        let seed = u64::try_from(number).ok().and_then(Self::new);
        if seed.is_none() {
            let (message, hint) = Self::refusal(number);
            report.error(&node.mark, message, hint);
        }
        seed
    }
    fn write(&self) -> Option<Json> {
        Some(self.0.into())
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0, "maximum": Self::MAX })
    }
}
