//! `flows.start`

use serde_json::{Value as Json, json};

use super::moment::{Moment, NEVER};
use crate::field::{Field, Section};
use crate::quantity::{Duration, Frequency};
use crate::report::Report;
use crate::tree::{Node, Value};

/// When the flows of a group connect.
#[derive(Clone, PartialEq, Debug)]
pub enum Start {
    /// All flows at once.
    At(Duration),
    /// One entry for each flow.
    List(Vec<Moment>),
    /// A uniformly distributed time for each flow.
    Uniform {
        /// Earliest start.
        from: Duration,
        /// Latest start.
        to: Duration,
    },
    /// Equally spaced starts.
    Every(Staggered),
    /// A Poisson process with a given rate, which determines the number of flows.
    Poisson(Poisson),
    /// A Poisson process with a given load, which determines the number of flows.
    Load(Load),
    /// The starts of a list of flows, which determines their number, too.
    Listed(Listed),
}

impl Start {
    /// Whether random arrivals or a list determine the number of flows.
    pub fn determines_count(&self) -> bool {
        matches!(self, Self::Poisson(_) | Self::Load(_) | Self::Listed(_))
    }
}

/// Equally spaced starts.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Staggered {
    /// Time between two starts.
    pub every: Duration,
    /// Start of the first flow.
    #[key(default = "0 s")]
    pub first: Duration,
}

/// Flows that arrive as a Poisson process.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Poisson {
    /// Mean rate of arrivals of the whole group.
    pub poisson: Frequency,
    /// Time at which arrivals begin.
    #[key(default = "0 s")]
    pub from: Duration,
    /// Time at which arrivals end. Default: the stop of the group, else the end of the run.
    pub until: Option<Duration>,
}

/// Flows that arrive as a Poisson process whose rate follows from the mean size of their transfers.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Load {
    /// Offered load, headers and framing included, as a fraction of the bottleneck's rate (dumbbell) or of the rates of
    /// the links by which the sending hosts are attached (elsewhere).
    pub load: f64,
    /// Time at which arrivals begin.
    #[key(default = "0 s")]
    pub from: Duration,
    /// Time at which arrivals end. Default: the stop of the group, else the end of the run.
    pub until: Option<Duration>,
}

/// Flows that a file lists: a row for each with its start and its size, and outside a dumbbell its hosts.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Listed {
    /// File with the columns start_s, bytes, source and destination (CSV, JSON, Parquet), or a list of HPCC (flow.txt)
    /// or htsim (.cm), relative to the scenario file. Hosts are needed unless from and to say them.
    pub list: String,
    /// Number of flows in it, which is filled in when the file is read.
    pub flows: Option<u32>,
    /// SHA-256 of the list, which is filled in when the file is read; a file that has changed is refused then.
    pub sha256: Option<String>,
}

const HINT: &str = "write \"1 s\", [\"0 s\", \"1 s\"], { uniform = [\"0 s\", \"1 s\"] }, { every = \"500 ms\", first \
                    = \"0 s\" }, { poisson = \"200 per s\" }, { load = 0.6 } or { list = \
                    \"flows.csv\" }";

impl Field for Start {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == NEVER => {
                let hint = "remove the group, or give a list with a time or \"never\" for each flow";
                report.error(&node.mark, "the group never starts", hint);
                None
            }
            Value::Text(_) => Duration::read(node, report).map(Self::At),
            Value::Array(items) if items.is_empty() => {
                report.error(
                    &node.mark,
                    "the list of start times is empty",
                    "give one time for each flow, or remove the group",
                );
                None
            }
            Value::Array(_) => Vec::read(node, report).map(Self::List),
            Value::Table(entries) => match entries.as_slice() {
                [only] if only.key == "uniform" => {
                    let bounds = Vec::<Duration>::read(&only.node, report)?;
                    if let [from, to] = bounds[..] {
                        return Some(Self::Uniform { from, to });
                    }
                    report.error(
                        &only.node.mark,
                        "uniform needs two times",
                        "as in { uniform = [\"0 s\", \"1 s\"] }",
                    );
                    None
                }
                entries if entries.iter().any(|e| e.key == "every" || e.key == "first") => {
                    Staggered::read_table(entries, &[], &node.mark, report).map(Self::Every)
                }
                entries if entries.iter().any(|e| e.key == "poisson") => {
                    Poisson::read_table(entries, &[], &node.mark, report).map(Self::Poisson)
                }
                entries if entries.iter().any(|e| e.key == "load") => {
                    Load::read_table(entries, &[], &node.mark, report).map(Self::Load)
                }
                entries if entries.iter().any(|e| e.key == "list") => {
                    Listed::read_table(entries, &[], &node.mark, report).map(Self::Listed)
                }
                _ => {
                    report.error(&node.mark, "unknown form of start", HINT);
                    None
                }
            },
            other => {
                report.error(&node.mark, format!("expected start times, found {}", other.what()), HINT);
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::At(time) => time.write(),
            Self::List(times) => times.write(),
            Self::Uniform { from, to } => Some(json!({ "uniform": [from.to_string(), to.to_string()] })),
            Self::Every(staggered) => staggered.write(),
            Self::Poisson(poisson) => poisson.write(),
            Self::Load(load) => load.write(),
            Self::Listed(listed) => listed.write(),
        }
    }
    fn schema() -> Json {
        let time = Duration::schema();
        json!({ "oneOf": [
            time,
            { "type": "array", "items": Moment::schema(), "minItems": 1 },
            { "type": "object", "additionalProperties": false, "required": ["uniform"], "properties": {
                "uniform": { "type": "array", "items": time, "minItems": 2, "maxItems": 2,
                             "description": "Earliest and latest start, drawn for each flow." } } },
            Staggered::schema(),
            Poisson::schema(),
            Load::schema(),
            Listed::schema(),
        ] })
    }
}
