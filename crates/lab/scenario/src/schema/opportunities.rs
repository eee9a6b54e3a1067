//! `opportunity_gaps` of a schedule.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use shoal_units::Opportunities;

use crate::field::Field;
use crate::report::Report;
use crate::tree::{Node, Value};

/// Most instants of a trace: a resolved scenario holds them all, and has to stay a file of at most a megabyte.
const MAX_INSTANTS: usize = 200_000;
const FORM: &str = "write the whole milliseconds from one instant to the next, with `x` and a number for several \
                    opportunities at once, as in \"3 1x2 2\"";

/// Opportunities to send: milliseconds from one instant to the next, the first from the start, and how many there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpportunityGaps {
    gaps: Vec<(u32, u32)>,
    opportunities: Arc<Opportunities>,
}

impl OpportunityGaps {
    /// The opportunities of which these are the gaps.
    pub fn opportunities(&self) -> &Arc<Opportunities> {
        &self.opportunities
    }
}

/// A gap and perhaps a number of opportunities, of at least one.
fn gap(word: &str) -> Option<(u32, u32)> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let (gap, count) = word.split_once('x').unwrap_or((word, "1"));
    Some((digits(gap)?, digits(count).filter(|count| *count > 0)?))
}

impl Field for OpportunityGaps {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            report.error(&node.mark, format!("expected a string, found {}", node.value.what()), FORM);
            return None;
        };
        let mut gaps = Vec::new();
        for word in text.split_ascii_whitespace() {
            let Some(found) = gap(word) else {
                report.error(&node.mark, format!("`{word}` is no gap between opportunities"), FORM);
                return None;
            };
            gaps.push(found);
        }
        if gaps.len() > MAX_INSTANTS {
            let message = format!("there are {} instants, more than {MAX_INSTANTS}", gaps.len());
            report.error(&node.mark, message, "take a shorter part of the trace, which is repeated");
            return None;
        }
        let Some(opportunities) = Opportunities::new(gaps.iter().copied()) else {
            let message = if gaps.is_empty() {
                "there are no opportunities"
            } else {
                "the opportunities take no time, or too much: the trace is repeated after the last one"
            };
            report.error(&node.mark, message, FORM);
            return None;
        };
        Some(Self { gaps, opportunities: Arc::new(opportunities) })
    }

    fn write(&self) -> Option<Json> {
        let word = |(gap, count): &(u32, u32)| match count {
            1 => gap.to_string(),
            _ => format!("{gap}x{count}"),
        };
        Some(json!(self.gaps.iter().map(word).collect::<Vec<_>>().join(" ")))
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^\\s*[0-9]+(x[0-9]+)?(\\s+[0-9]+(x[0-9]+)?)*\\s*$" })
    }

    fn unit() -> String {
        "ms between opportunities".to_owned()
    }
}
