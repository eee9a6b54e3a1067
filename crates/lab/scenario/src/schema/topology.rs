//! `[topology]`

use super::{Aqm, FatTree, Impairments, LeafSpine, LinkSchedule};
use crate::field::{Kinds, Section};
use crate::quantity::{Amount, DataRate, Duration, Size};

/// Hosts, switches and links.
#[derive(Clone, PartialEq, Debug, Kinds)]
#[allow(clippy::large_enum_variant, reason = "a scenario has few of them, and none is moved about")]
pub enum Topology {
    /// Hosts on both sides of [bottleneck].
    #[kind("dumbbell")]
    Dumbbell(Dumbbell),
    /// Hosts h1, h2, ... around one switch.
    #[kind("star")]
    Star(Star),
    /// Any nodes and links; routes take the least sum of weights, among equals the links listed first.
    #[kind("graph")]
    Graph(Graph),
    /// Hosts h1, h2, ... at leaf switches, each of which has a link to every spine switch; flows take paths as with
    /// ecmp in a graph.
    #[kind("leaf-spine")]
    LeafSpine(LeafSpine),
    /// Hosts h1, h2, ... at the edge switches of pods, whose aggregation switches are joined by core switches
    /// (Al-Fares, Loukissas and Vahdat 2008, section 3); flows take paths as with ecmp in a graph.
    #[kind("fat-tree")]
    FatTree(FatTree),
    /// Bottlenecks in a row: through flows from in to out, cross flows from in1 to out1 and so on.
    #[kind("parking-lot")]
    ParkingLot(ParkingLot),
}

/// Hosts on both sides of [bottleneck].
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Dumbbell {
    /// Rate of the links of hosts; unlimited means a pure delay.
    #[key(default = "unlimited")]
    pub access_rate: DataRate,
    /// Buffer of the links of hosts.
    #[key(default = "unlimited")]
    pub access_buffer: Amount,
    /// Queue of the links of hosts.
    #[key(default = { "kind": "fifo" })]
    pub access_aqm: Aqm,
    /// Number of pairs of hosts, which the flows use in turn. Default: one for each flow group, or for each rtt in it.
    /// Needs an access_rate.
    pub hosts: Option<u32>,
    /// Host - switch - switch - host: ACKs pass three queues on their path as data do on theirs.
    #[key(default = false)]
    pub switches: bool,
}

/// Hosts h1, h2, ... around one switch.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Star {
    /// Number of hosts.
    pub hosts: u32,
    /// Rate of every link.
    pub rate: DataRate,
    /// Propagation delay of every link: the round trip between two hosts has four of them.
    pub delay: Duration,
    /// Buffer of each port of the switch.
    pub buffer: Amount,
    /// Buffer of each host's network card.
    #[key(default = "unlimited")]
    pub host_buffer: Amount,
    /// Bytes that a packet takes on the wire beyond its IP size.
    #[key(default = "0 B")]
    pub overhead: Size,
    /// Round-trip time behind the unit BDP. Default: four times the delay.
    pub bdp_rtt: Option<Duration>,
    /// Marking and dropping law of each port of the switch.
    #[key(default = { "kind": "fifo" })]
    pub aqm: Aqm,
    /// Memory that all ports of the switch share; buffer then only limits a single port.
    pub shared_buffer: Option<SharedBuffer>,
}

/// Memory that the ports of a switch share: a port may hold up to alpha times what is free (Choudhury and Hahne 1998).
/// Each queue for a traffic class counts as a port does, unless queues of its port share memory of their own.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct SharedBuffer {
    /// Size of the whole memory; the link's buffer and the law of its queue limit a single port in addition.
    #[key(source = "Choudhury and Hahne 1998, section II")]
    pub size: Size,
    /// Multiple of the free memory that one port may occupy: with n busy ports each gets alpha / (1 + n alpha) of it.
    #[key(
        default = 1.0,
        source = "Choudhury and Hahne 1998, equations 1 and 3; switches offer powers of two from 1/128 to 8"
    )]
    pub alpha: f64,
    /// Bytes reserved for each port, as a part of the size; dynamic thresholds divide the rest.
    #[key(
        default = "0 B",
        source = "minimum guarantees of the switches that Choudhury and Hahne 1998 describe in section VI"
    )]
    pub reserved: Size,
    /// Part of the size that no queue may hold: switches keep it for packets that are under way while a link pauses.
    /// Links do not pause here, so that it is only taken off.
    #[key(
        otherwise = "nothing",
        source = "SONiC BUFFER_POOL, field xoff; IEEE 802.1Q clause 36 (priority-based flow control)"
    )]
    pub headroom: Option<Size>,
}

/// Memory that the ports of one node of a graph share.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct NodeBuffer {
    /// Name of the switch.
    pub node: String,
    /// Size of the whole memory.
    pub size: Size,
    /// Multiple of the free memory that one port may occupy.
    #[key(default = 1.0)]
    pub alpha: f64,
    /// Bytes reserved for each port, as a part of the size.
    #[key(default = "0 B")]
    pub reserved: Size,
    /// Part of the size that no queue may hold.
    pub headroom: Option<Size>,
}

/// Bottlenecks in a row between switches s1, s2, ...; hosts in and out at the ends of the row, in1 and out1 at the ends
/// of bottleneck1, and so on.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct ParkingLot {
    /// Number of bottlenecks.
    pub bottlenecks: u32,
    /// Rate of each bottleneck.
    pub rate: DataRate,
    /// Propagation delay of each bottleneck.
    pub delay: Duration,
    /// Buffer of each bottleneck.
    pub buffer: Amount,
    /// Marking and dropping law of each bottleneck; ACKs return through plain queues.
    #[key(default = { "kind": "fifo" })]
    pub aqm: Aqm,
    /// Rate of the links of hosts; unlimited means a pure delay.
    #[key(default = "unlimited")]
    pub access_rate: DataRate,
    /// Propagation delay of the links of hosts.
    #[key(default = "0 s")]
    pub access_delay: Duration,
    /// Bytes that a packet takes on the wire beyond its IP size.
    #[key(default = "0 B")]
    pub overhead: Size,
    /// Round-trip time behind the unit BDP. Default: that of the through flows.
    pub bdp_rtt: Option<Duration>,
}

/// Any nodes and links.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Graph {
    /// Names of hosts and switches.
    pub nodes: Vec<String>,
    /// Links between them.
    pub links: Vec<GraphLink>,
    /// Round-trip time behind the unit BDP. Default: that of the first flow group.
    pub bdp_rtt: Option<Duration>,
    /// Whether a hash chooses each flow's next hop among those of equal cost, at every node, instead of the link listed
    /// first. It is a hash of the seed, the name of the group, the number of the flow in it, and which of the flow's
    /// choices it is: one for each node with several next hops, first on the path of data, then on that of ACKs. So all
    /// data of a flow take one path, its ACKs one of their own, and other flows change neither; next hops are equally
    /// likely, and independent from node to node. Switches hash the five-tuple instead, some with the same function at
    /// every hop.
    #[key(default = false)]
    pub ecmp: bool,
    /// Memory that the ports of a node share.
    #[key(default = [])]
    pub shared_buffers: Vec<NodeBuffer>,
}

/// A link of a graph.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct GraphLink {
    /// Name in reports. Default: from->to.
    pub name: Option<String>,
    /// Node at which the link starts.
    pub from: String,
    /// Node at which the link ends.
    pub to: String,
    /// Rate of the link; unlimited means a pure delay.
    pub rate: DataRate,
    /// Propagation delay.
    #[key(default = "0 s")]
    pub delay: Duration,
    /// Capacity for waiting packets.
    #[key(default = "unlimited")]
    pub buffer: Amount,
    /// Bytes that a packet takes on the wire beyond its IP size.
    #[key(default = "0 B")]
    pub overhead: Size,
    /// Marking and dropping law of the queue.
    #[key(default = { "kind": "fifo" })]
    pub aqm: Aqm,
    /// Cost that the link adds to a path.
    #[key(default = 1)]
    pub weight: u32,
    /// Whether there is an equal link in the opposite direction.
    #[key(default = true)]
    pub both_ways: bool,
    /// Whether the result reports the link, in the direction from -> to. Default: yes, if its aqm is not a fifo.
    pub monitored: Option<bool>,
    /// Changes of the rate and the delay during the run, in both directions of the link.
    pub schedule: Option<LinkSchedule>,
    /// Jitter, loss, duplication, corruption, reordering and bursts, in both directions of the link.
    pub impairments: Option<Impairments>,
}
