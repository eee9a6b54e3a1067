//! Interactive applications: requests and responses, pages of objects as [RFC
//! 7928](https://www.rfc-editor.org/rfc/rfc7928) has them, and frames with a deadline.

use serde_json::{Value as Json, json};

use super::workload::TransferSize;
use crate::field::{Field, KeyDoc, Section};
use crate::quantity::{DataRate, Duration, Size};
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

/// Pages of objects, as a browser loads them: several connections, each of which asks for the next object of the page
/// when its last one has come (HTTP/1.1 with persistent connections). A page ends with its last object; then somebody
/// reads, and the next page begins. The flows of the group are the connections, and each `connections` of them one
/// browser. The sending end of the group is the server.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Pages {
    /// Objects of a page. RFC 7928 asks for at least 50.
    #[key(
        unit = "objects",
        source = "RFC 7928 section 7.2, https://www.rfc-editor.org/rfc/rfc7928#section-7.2"
    )]
    pub page: u32,
    /// Size of an object, or { distribution = "web-search" }: drawn for each object.
    #[key(unit = "bytes | { distribution }")]
    pub object: TransferSize,
    /// Size of the request for an object.
    pub request: Size,
    /// Connections of a browser.
    #[key(default = 6, unit = "connections", source = "RFC 7928 section 7.2")]
    pub connections: u32,
    /// Number of pages that each browser loads. They follow one another.
    #[key(otherwise = "until the flow stops")]
    pub rounds: Option<u32>,
    /// Time from the last byte of a page to the next page: a time, or { exponential = "10 s" } for random times.
    #[key(default = "0 s", unit = "time | { exponential }")]
    pub think: Think,
}

/// Frames that are useful only until a deadline, such as video. Every frame is sent, in order; none is skipped.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Frames {
    /// Size of a frame, or { min_rate = "150 kbit/s", max_rate = "8 Mbit/s" }: an encoder whose frames follow the rate
    /// of the sender, its window a smoothed round trip or the rate at which it paces itself, whichever is lower.
    #[key(unit = "bytes | { min_rate, max_rate, budget }")]
    pub frame: Frame,
    /// Time from one frame to the next.
    pub every: Duration,
    /// Longest useful time from the write of a frame to the arrival of its last byte.
    pub deadline: Duration,
}

/// Size of the frames.
#[derive(Clone, PartialEq, Debug)]
pub enum Frame {
    /// All have this size.
    Constant(Size),
    /// An encoder adapts it.
    Adaptive(Encoder),
}

/// An encoder whose frames follow the rate of the sender: each is as large as that rate carries in the budget, less
/// what waits of earlier frames, and its bit rate stays between two bounds.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Encoder {
    /// Lowest bit rate of the frames.
    #[key(source = "RFC 8836 section 2, https://www.rfc-editor.org/rfc/rfc8836#section-2")]
    pub min_rate: DataRate,
    /// Highest bit rate of the frames.
    pub max_rate: DataRate,
    /// Time in which the rate of the sender is to carry a frame, at most `every`. Senders do not widen a window that
    /// frames do not fill, so a budget below a round trip keeps the rate where it is.
    #[key(otherwise = "nine tenths of every", source = "L4STeam/udp_prague prague_cc.cpp, frame_budget")]
    pub budget: Option<Duration>,
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

impl Field for Frame {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Table(entries) => {
                Encoder::read_table(entries, &[], &node.mark, report).map(Self::Adaptive)
            }
            _ => Size::read(node, report).map(Self::Constant),
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::Constant(size) => size.write(),
            Self::Adaptive(encoder) => encoder.write(),
        }
    }
    fn key_docs_of(kind: &str) -> Option<Vec<KeyDoc>> {
        (kind == "adaptive").then(Encoder::key_docs)
    }
    fn schema() -> Json {
        json!({ "oneOf": [Size::schema(), Encoder::schema()] })
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
