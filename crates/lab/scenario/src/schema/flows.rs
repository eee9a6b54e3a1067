//! `[[flows]]`

use serde_json::{Value as Json, json};
use shoal_tcp::{EcnFeedback, EcnSetting};

use super::{CcOptions, Host, Rtt, Start, Stop, Workload};
use crate::dscp::Dscp;
use crate::field::{Field, choices, section};
use crate::quantity::{PacketCount, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

section! {
    /// Flows that differ only in their start, their hosts and their rtt.
    FlowGroup {
        /// Name in reports.
        #[otherwise = "the name of the controller"]
        name: Option<String>,
        /// Congestion controller: the name of a preset, or "none" for unresponsive traffic.
        cc: String,
        /// Policies of the controller that differ from the preset.
        cc_options: Option<CcOptions>,
        /// Host stack of both ends.
        stack: String = "linux-6",
        /// What both ends are: a preset, or a table of what differs from one. ideal sends and receives packet by packet; the
        /// others hand over several segments at once, have a card with a rate, and collect what they receive.
        host: Host = "ideal",
        /// Properties of the receiving end that differ from the sending end.
        receiver: Option<Receiver>,
        /// Whether ECN is negotiated.
        #[source = "RFC 3168 section 6.1.1"]
        #[otherwise = "on for dctcp and its variants and for ecn-reno and ecn-newreno, else off"]
        ecn: Option<EcnSetting>,
        /// Two-way propagation delay without any serialisation or queueing: one for all flows, a list with one for each, or
        /// { from = "10 ms", to = "40 ms" } for equal distances. Required in a dumbbell, excluded elsewhere.
        rtt: Option<Rtt>,
        /// Number of flows.
        #[otherwise = "1, or the number of start times, round-trip times or stop times, or of the hosts of a permutation"]
        count: Option<u32>,
        /// When the flows connect: one time, a list with a time or "never" for each flow, { uniform = [from, to] } or { every = time }.
        start: Start = "0 s",
        /// When the applications stop writing: one time, or a list with a time or "never" for each flow.
        #[otherwise = "never"]
        stop: Option<Stop>,
        /// DiffServ code point of all packets of the flows, data and ACKs: a number from 0 to 63 or a name, as in 10 or "af11". Queues for
        /// traffic classes (an aqm of kind "classes") are chosen by it, and captures show it.
        #[source = "RFC 2474 section 3"]
        #[otherwise = "0 (best effort)"]
        dscp: Option<Dscp>,
        /// What the applications write.
        app: Workload = "bulk",
        /// Size of a full IP packet.
        #[source = "RFC 894"]
        mtu: Size = "1500 B",
        /// IP and TCP headers with the timestamp option, in bytes (52 for IPv4).
        #[source = "RFC 9293, RFC 7323"]
        #[unit = "bytes"]
        header_bytes: u16 = 52,
        /// Whether SACK is negotiated.
        #[source = "RFC 2018"]
        sack: bool = true,
        /// Whether the receiver delays ACKs.
        #[source = "RFC 5681 section 4.2"]
        delayed_ack: bool = true,
        /// Initial congestion window.
        #[source = "RFC 6928"]
        #[otherwise = "the stack's"]
        initial_window: Option<PacketCount>,
        /// Receive buffer, which bounds the data in flight. Unlimited is the largest window of TCP, 65,535 x
        /// 2^14 B.
        #[source = "RFC 7323 section 2"]
        receive_window: Size = "unlimited",
        /// Upper bound of the congestion window.
        #[source = "Linux snd_cwnd_clamp"]
        cwnd_clamp: PacketCount = "unlimited",
        /// Which of the two shared links of a dumbbell takes the data: the bottleneck, or that of [reverse]. ACKs take the other.
        #[otherwise = "forward"]
        direction: Option<Direction>,
        /// Sending host (of requests: the server), or several as a list or as "h1..h8". Only outside a dumbbell.
        from: Option<Hosts>,
        /// Receiving host (of requests: the client), or several as a list or as "h1..h8". Only outside a dumbbell.
        to: Option<Hosts>,
        /// Which hosts exchange data. in-turn: flow n uses entry n of both lists, each of which starts again at its end.
        /// random: each flow draws two different hosts. permutation: every host of from sends to one host of to and every
        /// host of to receives from one, drawn at random so that no host sends to itself; the lists are equally long, and
        /// each further round of flows over the hosts draws a permutation of its own.
        pairing: Pairing = "in-turn",
        /// Nodes that data must pass, in this order; between them the path of least cost is taken. Only
        /// outside a dumbbell.
        via: Option<Hosts>,
        /// Nodes that ACKs must pass, in this order.
        #[otherwise = "the least cost decides alone"]
        via_back: Option<Hosts>,
    }
}

section! {
    /// The receiving end where it differs from the sending end: hosts of which only one has been upgraded.
    Receiver {
        /// Host stack. Default: the sender's.
        stack: Option<String>,
        /// How marks are echoed: ECE until CWR arrives (classic), or the state of the latest packet (dctcp).
        /// Default: what the sender's controller needs.
        feedback: Option<EcnFeedback>,
        /// Whether the acknowledgement of data with CWR is delayed like any other, even if it carries new
        /// feedback. Default: as the stack does it.
        delays_cwr_acks: Option<bool>,
    }
}

choices!(EcnFeedback { "classic" => Self::Classic, "dctcp" => Self::Dctcp, });
choices!(EcnSetting { "off" => Self::Off, "on" => Self::On, });

choices!(Pairing {
    "in-turn" => Self::InTurn,
    "random" => Self::Random,
    "permutation" => Self::Permutation,
});

choices!(Direction { "forward" => Self::Forward, "reverse" => Self::Reverse, });

/// Which of the two shared links of a dumbbell takes the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The bottleneck.
    Forward,
    /// The link in the opposite direction.
    Reverse,
}

/// How flows choose among several hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairing {
    /// Flow n uses entry n of both lists; each list starts again at its end.
    InTurn,
    /// Every pair of two different hosts is equally likely.
    Random,
    /// With N hosts in each list, flows rN to rN + N - 1 are round r: each goes from another sender to another receiver,
    /// and never from a host to itself. All such permutations are equally likely, in each round anew. Random arrivals may
    /// leave the last round incomplete.
    Permutation,
}

/// Most hosts of a star or a leaf-spine network, and most names in a range.
pub(crate) const MAX_HOSTS: u32 = 16_384;

/// One or several hosts or other nodes, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosts(pub Vec<String>);

impl Hosts {
    /// All names, with ranges expanded: "h2..h4" is h2, h3, h4.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().flat_map(|text| range(text).unwrap_or_else(|| vec![text.clone()])).collect()
    }
}

fn range(text: &str) -> Option<Vec<String>> {
    let (first, last) = text.split_once("..")?;
    let digits = first.find(|c: char| c.is_ascii_digit())?;
    let (prefix, from) = first.split_at(digits);
    let (from, to): (u32, u32) = (from.parse().ok()?, last.strip_prefix(prefix)?.parse().ok()?);
    (from <= to && to - from < MAX_HOSTS).then(|| (from..=to).map(|n| format!("{prefix}{n}")).collect())
}

impl Field for Hosts {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::Text(name) => Some(Self(vec![name.clone()])),
            Value::Array(items) if items.is_empty() => {
                report.error(
                    &node.mark,
                    "the list of nodes is empty",
                    "name at least one, or remove the key",
                );
                None
            }
            Value::Array(_) => Vec::read(node, report).map(Self),
            other => {
                let hint = "write \"h1\" or [\"h1\", \"h2\"]";
                report.error(&node.mark, format!("expected names of nodes, found {}", other.what()), hint);
                None
            }
        }
    }
    fn write(&self) -> Option<Json> {
        if let [one] = self.0.as_slice() { Some(one.as_str().into()) } else { self.0.write() }
    }
    fn schema() -> Json {
        json!({ "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }] })
    }
}
