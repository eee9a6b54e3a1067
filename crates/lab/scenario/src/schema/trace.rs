//! `[trace]`
//!
//! Targets of the delay: [RFC 8033](https://www.rfc-editor.org/rfc/rfc8033#section-4.1) for PIE,
//! [RFC 9332](https://www.rfc-editor.org/rfc/rfc9332#appendix-A.1) for DualPI2.

use serde_json::{Value as Json, json};

use crate::field::{Field, Section};
use crate::quantity::Duration;
use crate::report::Report;
use crate::tree::{Node, Value};

/// What is recorded beyond the summary.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Trace {
    /// Bin of the time series, "off", or "auto": the smaller of half of the shortest base round-trip time and 1/200 of
    /// the duration, but no more than 4000 bins and a million rows of flows and links together; rounded up to 1, 2 or 5
    /// times a power of ten, and at most a tenth of the duration. The resolved scenario holds the bin that was chosen,
    /// and "off" with more than a million flows.
    #[key(default = "auto")]
    pub series: Series,
    /// Number of flows that are traced: every change of cwnd, ssthresh, alpha and state, every mark, drop,
    /// retransmission, timeout and reduction. One flow of each group is chosen (of the first groups, if there are more
    /// groups than that); the rest are shared equally among the groups, within a group at equal distances, beginning
    /// with its first flow.
    #[key(default = 0)]
    pub controller_flows: u32,
    /// Number of flows whose packets are traced at both hosts, on the connections of their requests too: what sequence
    /// diagrams show. Chosen like those of `controller_flows`.
    #[key(default = 0)]
    pub segment_flows: u32,
    /// Every arrival, mark, drop and departure at monitored links.
    #[key(default = false)]
    pub packets: bool,
    /// Whether all packets at monitored links are captured as pcapng.
    #[key(default = false)]
    pub pcap: bool,
    /// Whether distributions of queue and delay are written as tables even without time series.
    #[key(default = false)]
    pub distributions: bool,
    /// Length of the windows that have distributions of their own, or "off".
    #[key(default = "off")]
    pub windows: TimeOrOff,
    /// Interval between the samples of `queue_empty_sampled`.
    #[key(default = "10 ms")]
    pub sample: Duration,
    /// Queueing delay above which packets and bytes are counted at monitored links. Without it, links that change count
    /// above 30 ms: twice the target of PIE and of DualPI2's classic queue (15 ms), so that what is above is an
    /// excursion under either.
    #[key(otherwise = "30 ms at links that change, nothing is counted at others")]
    pub delay_target: Option<Duration>,
    /// Number of flows that the result lists one by one, or "all": the first flows of each group, shared equally among
    /// the groups; values computed over all flows stay exact.
    #[key(default = 10_000)]
    pub flows: KeptFlows,
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

/// The bin of the time series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Series {
    /// A bin that follows the time scale of the run; a document that has been read holds the chosen bin.
    Auto,
    /// No time series.
    Off,
    /// A bin of this length.
    Bin(Duration),
}

impl Series {
    /// The bin, if it is given or has been chosen.
    pub const fn bin(self) -> Option<Duration> {
        if let Self::Bin(bin) = self { Some(bin) } else { None }
    }
}

impl Field for Series {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "auto" => Some(Self::Auto),
            _ => TimeOrOff::read(node, report).map(|bin| bin.0.map_or(Self::Off, Self::Bin)),
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::Auto => Some("auto".into()),
            Self::Off => TimeOrOff(None).write(),
            Self::Bin(bin) => TimeOrOff(Some(*bin)).write(),
        }
    }
    fn schema() -> Json {
        json!({ "oneOf": [{ "const": "auto" }, { "const": "off" }, Duration::schema()] })
    }
}

/// A time span, or "off".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeOrOff(pub Option<Duration>);

impl Field for TimeOrOff {
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
