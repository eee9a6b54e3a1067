//! Applications that somebody waits for.

use serde_json::{Value as Json, json};

use crate::field::{Field, section};
use crate::quantity::{Duration, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

section! {
    /// Requests and their responses, one after the other on one connection. The sending end of the group is the server.
    Requests {
        /// Bytes of a request.
        request: Size,
        /// Bytes of a response.
        response: Size,
        /// How many exchanges, one after the other.
        #[otherwise = "until the flow stops"]
        rounds: Option<u32>,
        /// From the last byte of a response to the next request: a time, or { exponential = "10 ms" } for random ones.
        #[unit = "time | { exponential }"]
        think: Think = "0 s",
        /// Whether the next requests wait until all flows of the group have their response; the clients then think and ask
        /// together.
        #[source = "Phanishayee et al., Measurement and Analysis of TCP Throughput Collapse in Cluster-based Storage Systems, FAST 2008"]
        barrier: bool = false,
    }
}

section! {
    /// Video or anything else that comes in pieces of use only for a while. Frames wait for their turn, none is left out.
    Frames {
        /// Bytes of a frame.
        frame: Size,
        /// From one frame to the next.
        every: Duration,
        /// From the write of a frame until its last byte must be there.
        deadline: Duration,
    }
}

/// How long a client waits before it asks again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Think {
    /// Always the same.
    Fixed(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

impl Think {
    /// Its mean.
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
