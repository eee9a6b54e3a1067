//! `[[flows]]`

use serde_json::{Value as Json, json};
use shoal_tcp::{EcnFeedback, EcnOption, EcnSetting};

use super::{CcOptions, Host, Rtt, Start, Stop, Workload};
use crate::dscp::Dscp;
use crate::field::{Field, Section, choices};
use crate::quantity::{Duration, PacketCount, Size};
use crate::report::Report;
use crate::tree::{Node, Value};

/// Flows that differ only in their start, their hosts and their rtt.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct FlowGroup {
    /// Name in reports.
    #[key(otherwise = "the name of the controller")]
    pub name: Option<String>,
    /// Congestion controller: the name of a preset, or "none" for unresponsive traffic.
    pub cc: String,
    /// Policies of the controller that differ from the preset.
    pub cc_options: Option<CcOptions>,
    /// Host stack of both ends.
    #[key(default = "linux-6")]
    pub stack: String,
    /// What both ends are: a preset, or a table of what differs from one. ideal sends and receives packet by packet;
    /// the others hand over several segments at once, have a card with a rate, and collect what they receive.
    /// linux-6-gso is right for testbeds whose offloads were switched off (ethtool): TCP segments anyway.
    #[key(default = "ideal")]
    pub host: Host,
    /// Properties of the receiving end that differ from the sending end.
    pub receiver: Option<Receiver>,
    /// Whether ECN is negotiated.
    #[key(
        otherwise = "on for dctcp and its variants and for ecn-reno and ecn-newreno, else off",
        source = "RFC 3168 section 6.1.1"
    )]
    pub ecn: Option<EcnSetting>,
    /// When both ends send the byte counters of accurate ECN, which take 12 bytes of a packet: never, for some packets
    /// after a change and a few times a round trip (minimum), or always.
    #[key(
        otherwise = "full, where accurate ECN is used",
        source = "RFC 9768 section 3.2.3, Linux net.ipv4.tcp_ecn_option"
    )]
    pub ecn_option: Option<EcnOption>,
    /// Two-way propagation delay without any serialisation or queueing: one for all flows, a list with one for each, or
    /// { from = "10 ms", to = "40 ms" } for equal distances. Required in a dumbbell, excluded elsewhere.
    pub rtt: Option<Rtt>,
    /// Number of flows.
    #[key(
        otherwise = "1, or the number of start times, round-trip times or stop times, or of the hosts of a permutation"
    )]
    pub count: Option<u32>,
    /// When the flows connect: one time, a list with a time or "never" for each flow, { uniform = [from, to] } or {
    /// every = time }.
    #[key(default = "0 s")]
    pub start: Start,
    /// When the applications stop writing: one time, or a list with a time or "never" for each flow.
    #[key(otherwise = "never")]
    pub stop: Option<Stop>,
    /// Another controller that takes the place of `cc` while a flow runs, as by setting TCP_CONGESTION on its socket:
    /// { cc = "cubic", after = "30 s" }. Window and threshold stay, what `cc` has learnt is forgotten.
    #[key(otherwise = "none", source = "Linux net/ipv4/tcp_cong.c, tcp_reinit_congestion_control")]
    pub replace: Option<Replace>,
    /// DiffServ code point of all packets of the flows, data and ACKs: a number from 0 to 63 or a name, as in 10 or
    /// "af11". Queues for traffic classes (an aqm of kind "classes") are chosen by it, and captures show it.
    #[key(otherwise = "0 (best effort)", source = "RFC 2474 section 3")]
    pub dscp: Option<Dscp>,
    /// Name of a tunnel, as of a VPN, through which the packets of the flows go, data and ACKs: queues that keep
    /// flows apart (fq-codel, queue protection) take all flows of a tunnel for one. Marks are copied to the inner
    /// header, so that nothing else changes, and the outer header is not counted.
    #[key(otherwise = "none", source = "RFC 6040 section 4 (marks)")]
    pub tunnel: Option<String>,
    /// What the applications write.
    #[key(default = "bulk")]
    pub app: Workload,
    /// Size of a full IP packet.
    #[key(default = "1500 B", source = "RFC 894")]
    pub mtu: Size,
    /// IP and TCP headers with the timestamp option, in bytes (52 for IPv4).
    #[key(default = 52, unit = "bytes", source = "RFC 9293, RFC 7323")]
    pub header_bytes: u16,
    /// Whether SACK is negotiated.
    #[key(default = true, source = "RFC 2018")]
    pub sack: bool,
    /// Whether the receiver delays ACKs.
    #[key(default = true, source = "RFC 5681 section 4.2")]
    pub delayed_ack: bool,
    /// Initial congestion window.
    #[key(otherwise = "the stack's", source = "RFC 6928")]
    pub initial_window: Option<PacketCount>,
    /// Receive buffer, which bounds the data in flight. Unlimited is the largest window of TCP, 65,535 x 2^14 B.
    #[key(default = "unlimited", source = "RFC 7323 section 2")]
    pub receive_window: Size,
    /// Upper bound of the congestion window.
    #[key(default = "unlimited", source = "Linux snd_cwnd_clamp")]
    pub cwnd_clamp: PacketCount,
    /// Which of the two shared links of a dumbbell takes the data: the bottleneck, or that of [reverse]. ACKs take the
    /// other.
    #[key(otherwise = "forward")]
    pub direction: Option<Direction>,
    /// Sending host (of requests: the server), or several as a list or as "h1..h8". Only outside a dumbbell.
    pub from: Option<Hosts>,
    /// Receiving host (of requests: the client), or several as a list or as "h1..h8". Only outside a dumbbell.
    pub to: Option<Hosts>,
    /// Which hosts exchange data. in-turn: flow n uses entry n of both lists, each of which starts again at its end.
    /// random: each flow draws two different hosts. permutation: every host of from sends to one host of to and every
    /// host of to receives from one, drawn at random so that no host sends to itself; the lists are equally long, and
    /// each further round of flows over the hosts draws a permutation of its own.
    #[key(default = "in-turn")]
    pub pairing: Pairing,
    /// Nodes that data must pass, in this order; between them the path of least cost is taken. Only outside a dumbbell.
    pub via: Option<Hosts>,
    /// Nodes that ACKs must pass, in this order.
    #[key(otherwise = "the least cost decides alone")]
    pub via_back: Option<Hosts>,
}

/// A controller that takes the place of another one.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Replace {
    /// Congestion controller: the name of a preset. None of Prague, which asks for accurate ECN with its SYN.
    pub cc: String,
    /// Time since the start of the flow.
    pub after: Duration,
}

/// The receiving end where it differs from the sending end: hosts of which only one has been upgraded.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Receiver {
    /// Host stack. Default: the sender's.
    pub stack: Option<String>,
    /// How marks are fed back: ECE until CWR arrives (classic), the state of the latest packet (dctcp), or counters
    /// (accurate, for which the sender asks). Default: what the sender's controller needs.
    pub feedback: Option<EcnFeedback>,
    /// Whether the acknowledgement of data with CWR is delayed like any other, even if it carries new feedback.
    /// Default: as the stack does it.
    pub delays_cwr_acks: Option<bool>,
    /// What it does wrong, in order to get more than its share, or by mistake. On the simulator only.
    #[key(source = "RFC 9743 section 7.6")]
    pub misbehaviour: Option<Misbehaviour>,
}

/// What a receiver does wrong; several at once are possible.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Misbehaviour {
    /// Number of ACKs into which what one would acknowledge is divided. Default: it is not.
    #[key(source = "Savage et al. 1999, section 3.1")]
    pub ack_pieces: Option<u32>,
    /// Number of times that each ACK is sent again. Default: none.
    #[key(source = "Savage et al. 1999, section 3.2")]
    pub ack_copies: Option<u32>,
    /// Number of full packets beyond the last that has come which are acknowledged as if they had come, as is all that
    /// is missing before it. Default: nothing is acknowledged that has not come.
    #[key(source = "Savage et al. 1999, section 3.3")]
    pub packets_ahead: Option<u32>,
    /// Whether marks are not reported.
    #[key(default = false, source = "RFC 9743 section 7.6")]
    pub hides_marks: bool,
    /// Time from which on no ACK is sent. Default: never.
    #[key(source = "RFC 9743 section 5.2")]
    pub silent_from: Option<Duration>,
}

choices!(EcnFeedback { "classic" => Self::Classic, "dctcp" => Self::Dctcp, "accurate" => Self::Accurate, });
choices!(EcnOption { "off" => Self::Off, "minimum" => Self::Minimum, "full" => Self::Full, });
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
    /// With N hosts in each list, flows rN to rN + N - 1 are round r: each goes from another sender to another
    /// receiver, and never from a host to itself. All such permutations are equally likely, in each round anew. Random
    /// arrivals may leave the last round incomplete.
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
