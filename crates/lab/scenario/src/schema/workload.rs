//! `flows.app`

use serde_json::{Value as Json, json};

use super::interactive::{Frames, Pages, Requests};
use crate::experiment::Codepoint;
use crate::field::{Field, KeyDoc, Section, choices, suggest};
use crate::quantity::{DataRate, Duration, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

/// What an application sends.
#[derive(Clone, PartialEq, Debug)]
pub enum Workload {
    /// There is always data to send.
    Bulk,
    /// Transfers of a given size.
    Transfers(Transfers),
    /// Writes at a constant bit rate.
    ConstantRate(ConstantRate),
    /// Bulk transfer during on periods, silence during off periods.
    OnOff(OnOff),
    /// Requests and their responses.
    Requests(Requests),
    /// Pages of objects.
    Pages(Pages),
    /// Frames with a deadline.
    Frames(Frames),
    /// Packets without a connection (UDP).
    Unresponsive(Unresponsive),
}

/// Transfers on one connection.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Transfers {
    /// Size of one transfer, { distribution = "web-search" }: drawn for each flow, or "listed": by start.list.
    #[key(unit = "bytes | { distribution }")]
    pub transfer: TransferSize,
    /// Number of transfers.
    #[key(default = 1)]
    pub rounds: u32,
    /// Time from one start to the next; a transfer whose predecessor is still running starts when that one ends.
    #[key(default = "0 s")]
    pub every: Duration,
    /// Whether the next round waits until all flows of the group have delivered this one. The senders learn of it one
    /// propagation delay of the ACKs' path later, and a transfer is complete when its last byte arrives.
    #[key(
        default = false,
        source = "Phanishayee et al., Measurement and Analysis of TCP Throughput Collapse in Cluster-based Storage \
                  Systems, FAST 2008"
    )]
    pub barrier: bool,
}

/// An application-limited flow that writes at a constant rate.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct ConstantRate {
    /// Rate of the writes.
    pub constant_rate: DataRate,
    /// Size of one write.
    #[key(default = "1448 B")]
    pub packet: Size,
}

/// Bulk transfer during on periods, silence during off periods; it starts with an on period.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct OnOff {
    /// Length of an on period.
    pub on: Duration,
    /// Length of an off period.
    pub off: Duration,
}

/// Packets without a connection, as UDP sends them: nothing acknowledges or retransmits them. Needs cc = "none".
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Unresponsive {
    /// Mean rate of the IP packets.
    pub unresponsive: DataRate,
    /// Size of an IP packet, of which 28 B are IPv4 and UDP headers.
    #[key(default = "1500 B", source = "RFC 768, RFC 791")]
    pub packet: Size,
    /// Whether packets are equally spaced or arrive as a Poisson process.
    #[key(default = "constant")]
    pub arrivals: Arrivals,
    /// ECN field of the packets.
    #[key(default = "none", source = "RFC 3168 section 5")]
    pub ecn: Codepoint,
}

choices!(Codepoint { "none" => Self::None, "ect0" => Self::Ect0, "ect1" => Self::Ect1, });
choices!(Arrivals { "constant" => Self::Constant, "poisson" => Self::Poisson, });

/// Spacing of the packets of unresponsive traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// Equally spaced packets.
    Constant,
    /// A Poisson process.
    Poisson,
}

/// Size of a transfer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransferSize {
    /// A constant size.
    Fixed(Size),
    /// A size drawn for each flow from the distribution of this name.
    Drawn(String),
    /// The size that the list of flows has.
    Listed,
}

impl Field for TransferSize {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        const HINT: &str = "as in { distribution = \"web-search\" }";
        match &node.value {
            Value::Table(entries) => match entries.as_slice() {
                [only] if only.key == "distribution" => String::read(&only.node, report).map(Self::Drawn),
                _ => {
                    report.error(&node.mark, "a drawn size has one key", HINT);
                    None
                }
            },
            Value::Text(text) if text == "listed" => Some(Self::Listed),
            _ => Size::read(node, report).map(Self::Fixed),
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::Fixed(size) => size.write(),
            Self::Listed => Some("listed".into()),
            Self::Drawn(name) => Some(json!({ "distribution": name })),
        }
    }
    fn schema() -> Json {
        json!({ "oneOf": [
            { "const": "listed" },
            Size::schema(),
            { "type": "object", "additionalProperties": false, "required": ["distribution"], "properties": {
                "distribution": { "type": "string", "description": "web-search, data-mining, or a key of \
                                                                    [distributions]." } } },
        ] })
    }
}

const HINT: &str = "write \"bulk\", { transfer = \"800 kB\", rounds = 50, every = \"100 ms\" }, { request = \"200 \
                    B\", response = \"20 kB\" }, { page = 60, object = \"10 kB\", request = \"400 B\" }, { frame = \
                    \"20 kB\", every = \"40 ms\", deadline = \"100 ms\" }, { \
                    constant_rate = \"1 Mbit/s\" }, { on = \"1 s\", off = \"1 s\" } or { unresponsive = \"1 Mbit/s\" }";

impl Field for Workload {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(name) if name == "bulk" => Some(Self::Bulk),
            Value::Text(name) => {
                report.error(
                    &node.mark,
                    format!("unknown application \"{name}\""),
                    suggest(name, &["bulk"]) + "; or " + HINT,
                );
                None
            }
            Value::Table(entries) => {
                let has = |key| entries.iter().any(|e| e.key == key);
                if has("transfer") {
                    Transfers::read_table(entries, &[], &node.mark, report).map(Self::Transfers)
                } else if has("constant_rate") {
                    ConstantRate::read_table(entries, &[], &node.mark, report).map(Self::ConstantRate)
                } else if has("page") || has("object") {
                    Pages::read_table(entries, &[], &node.mark, report).map(Self::Pages)
                } else if has("request") || has("response") {
                    Requests::read_table(entries, &[], &node.mark, report).map(Self::Requests)
                } else if has("frame") || has("deadline") {
                    Frames::read_table(entries, &[], &node.mark, report).map(Self::Frames)
                } else if has("on") || has("off") {
                    OnOff::read_table(entries, &[], &node.mark, report).map(Self::OnOff)
                } else if has("unresponsive") {
                    Unresponsive::read_table(entries, &[], &node.mark, report).map(Self::Unresponsive)
                } else {
                    report.error(&node.mark, "unknown form of app", HINT);
                    None
                }
            }
            other => {
                report.error(&node.mark, format!("expected an application, found {}", other.what()), HINT);
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        match self {
            Self::Bulk => Some("bulk".into()),
            Self::Transfers(section) => section.write(),
            Self::ConstantRate(section) => section.write(),
            Self::OnOff(section) => section.write(),
            Self::Requests(section) => section.write(),
            Self::Pages(section) => section.write(),
            Self::Frames(section) => section.write(),
            Self::Unresponsive(section) => section.write(),
        }
    }
    fn key_docs_of(kind: &str) -> Option<Vec<KeyDoc>> {
        Some(match kind {
            "transfers" => Transfers::key_docs(),
            "constant-rate" => ConstantRate::key_docs(),
            "requests" => Requests::key_docs(),
            "pages" => Pages::key_docs(),
            "frames" => Frames::key_docs(),
            "on-off" => OnOff::key_docs(),
            "unresponsive" => Unresponsive::key_docs(),
            _ => return None,
        })
    }
    fn schema() -> Json {
        json!({ "oneOf": [
            { "const": "bulk" },
            Transfers::schema(),
            ConstantRate::schema(),
            Requests::schema(),
            Pages::schema(),
            Frames::schema(),
            OnOff::schema(),
            Unresponsive::schema(),
        ] })
    }
}
