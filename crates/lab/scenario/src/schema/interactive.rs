//! Interactive applications: requests and responses, and frames with a deadline.

use serde_json::{Value as Json, json};

use crate::field::{Field, Section};
use crate::quantity::{Duration, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

/// Requests and their responses, one after the other on one connection. The sending end of the group is the server.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Requests {
    /// Size of a request.
    pub request: Size,
    /// Size of a response.
    pub response: Size,
    /// Number of exchanges. They follow one another.
    #[key(otherwise = "until the flow stops")]
    pub rounds: Option<u32>,
    /// Time from the last byte of a response to the next request: a time, or { exponential = "10 ms" } for random
    /// times.
    #[key(default = "0 s", unit = "time | { exponential }")]
    pub think: Think,
    /// Whether the next requests wait until all flows of the group have received their responses; the clients then wait
    /// their think time and send together.
    #[key(
        default = false,
        source = "Phanishayee et al., Measurement and Analysis of TCP Throughput Collapse in Cluster-based Storage \
                  Systems, FAST 2008"
    )]
    pub barrier: bool,
}

/// Frames that are useful only until a deadline, such as video. Every frame is sent, in order; none is skipped.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Frames {
    /// Size of a frame.
    pub frame: Size,
    /// Time from one frame to the next.
    pub every: Duration,
    /// Longest useful time from the write of a frame to the arrival of its last byte.
    pub deadline: Duration,
}

/// Think time of a client before its next request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Think {
    /// A constant time.
    Fixed(Duration),
    /// An exponentially distributed time with this mean.
    Exponential(Duration),
}

impl Think {
    /// Mean think time.
    pub const fn mean(self) -> Duration {
        match self {
            Self::Fixed(mean) | Self::Exponential(mean) => mean,
        }
    }
}

impl Field for Think {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Table(entries) => match entries.as_slice() {
                [only] if only.key == "exponential" => {
                    Duration::read(&only.node, report).map(Self::Exponential)
                }
                _ => {
                    let hint = "write \"10 ms\" or { exponential = \"10 ms\" }";
                    report.error(&node.mark, "unknown form of think", hint);
                    None
                }
            },
            _ => Duration::read(node, report).map(Self::Fixed),
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::Fixed(time) => time.write(),
            Self::Exponential(mean) => Some(json!({ "exponential": mean.to_string() })),
        }
    }
    fn schema() -> Json {
        let mut mean = Duration::schema();
        mean["description"] = "Mean of the times, drawn for each exchange.".into();
        json!({ "oneOf": [
            Duration::schema(),
            { "type": "object", "additionalProperties": false, "required": ["exponential"],
              "properties": { "exponential": mean } },
        ] })
    }
}
