//! `flows.rtt`

use serde_json::{Value as Json, json};
use shoal_units::Span;

use crate::field::{Field, Section};
use crate::quantity::Duration;
use crate::report::Report;
use crate::tree::{Node, Value};

/// Two-way propagation delays of the flows in a group.
#[derive(Clone, PartialEq, Debug)]
pub enum Rtt {
    /// One delay for all flows.
    Same(Duration),
    /// One delay for each flow.
    List(Vec<Duration>),
    /// Equally spaced delays.
    Range(RttRange),
}

/// Equally spaced delays: the first flow has the shortest, the last flow the longest.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct RttRange {
    /// Delay of the first flow.
    pub from: Duration,
    /// Delay of the last flow.
    pub to: Duration,
}

impl Rtt {
    /// Delay of the first flow, as written.
    pub fn first(&self) -> Option<Duration> {
        match self {
            Self::Same(rtt) => Some(*rtt),
            Self::List(rtts) => rtts.first().copied(),
            Self::Range(range) => Some(range.from),
        }
    }

    /// One entry for all flows, or one for each of `count` flows.
    pub fn spans(&self, count: u32) -> Vec<Span> {
        match self {
            Self::Same(rtt) => vec![rtt.span()],
            Self::List(rtts) => rtts.iter().map(|rtt| rtt.span()).collect(),
            Self::Range(range) => {
                let (from, width) = (range.from.span(), range.to.span().saturating_sub(range.from.span()));
                let part = |n: u32| {
                    let picos = u128::from(width.as_picos()) * u128::from(n) / u128::from(count.max(2) - 1);
                    Span::from_picos(picos as u64)
                };
                (0..count).map(|n| from + part(n)).collect()
            }
        }
    }

    /// Whether all flows have the same delay.
    pub fn is_uniform(&self) -> bool {
        match self {
            Self::Same(_) => true,
            Self::List(rtts) => rtts.windows(2).all(|pair| pair[0].span() == pair[1].span()),
            Self::Range(range) => range.from.span() == range.to.span(),
        }
    }
}

const HINT: &str = "write \"25 ms\", [\"10 ms\", \"40 ms\"] or { from = \"10 ms\", to = \"40 ms\" }";

impl Field for Rtt {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Array(items) if !items.is_empty() => Vec::read(node, report).map(Self::List),
            Value::Array(_) => {
                report.error(&node.mark, "no round-trip time", HINT);
                None
            }
            Value::Table(entries) => RttRange::read_table(entries, &[], &node.mark, report).map(Self::Range),
            _ => Duration::read(node, report).map(Self::Same),
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::Same(rtt) => rtt.write(),
            Self::List(rtts) => rtts.write(),
            Self::Range(range) => range.write(),
        }
    }
    fn schema() -> Json {
        let time = Duration::schema();
        json!({ "oneOf": [
            time,
            { "type": "array", "items": time, "minItems": 1 },
            RttRange::schema(),
        ] })
    }
}
