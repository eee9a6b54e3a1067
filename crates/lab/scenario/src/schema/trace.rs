//! `[trace]`

use serde_json::{Value as Json, json};

use crate::field::{Field, section};
use crate::quantity::Duration;
use crate::report::Report;
use crate::tree::{Node, Value};

section! {
    /// What is recorded beside the summary.
    Trace {
        /// Bin of the time series, or "off".
        series: Series = "100 ms",
        /// Number of flows whose controller is traced: every change of cwnd, ssthresh, alpha and state.
        controller_flows: u32 = 0,
        /// Number of flows whose packets are traced at both hosts: what sequence diagrams show.
        segment_flows: u32 = 0,
        /// Every arrival, mark, drop and departure at monitored links.
        packets: bool = false,
        /// All packets at monitored links as pcapng.
        pcap: bool = false,
        /// Distributions of queue and delay as tables, also without time series.
        distributions: bool = false,
        /// Length of the windows that get distributions of their own, or "off".
        windows: Series = "off",
        /// Time between the samples of `queue_empty_sampled`.
        sample: Duration = "10 ms",
        /// Flows that the result lists one by one, or "all"; what is computed of all flows stays exact.
        flows: KeptFlows = 10_000,
    }
}

/// Number of flows that the result lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptFlows(pub Option<u32>);

impl Field for KeptFlows {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "all" => Some(Self(None)),
            Value::Text(text) => {
                report.error(
                    &node.mark,
                    format!("unknown value \"{text}\""),
                    "write \"all\" or a whole number",
                );
                None
            }
            _ => u32::read(node, report).map(|flows| Self(Some(flows))),
        }
    }
    fn write(&self) -> Option<Json> {
        Some(self.0.map_or_else(|| "all".into(), Json::from))
    }
    fn schema() -> Json {
        json!({ "oneOf": [{ "const": "all" }, u32::schema()] })
    }
}

/// A length of time, or "off".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Series(pub Option<Duration>);

impl Field for Series {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "off" => Some(Self(None)),
            _ => Duration::read(node, report).map(|bin| Self(Some(bin))),
        }
    }
    fn write(&self) -> Option<Json> {
        Some(self.0.map_or_else(|| "off".to_owned(), |bin| bin.to_string()).into())
    }
    fn schema() -> Json {
        json!({ "oneOf": [{ "const": "off" }, Duration::schema()] })
    }
}
