//! `[topology]`

use super::{Aqm, FatTree, Impairments, LeafSpine, LinkSchedule};
use crate::field::{section, tagged};
use crate::quantity::{Amount, DataRate, Duration, Size};

tagged! {
    /// Hosts, switches and links.
    Topology {
        /// Hosts on both sides of [bottleneck].
        "dumbbell" => Dumbbell(Dumbbell),
        /// Hosts h1, h2, ... around one switch.
        "star" => Star(Star),
        /// Any nodes and links; routes take the least sum of weights, among equals the links listed first.
        "graph" => Graph(Graph),
        /// Hosts h1, h2, ... at leaf switches, each of which has a link to every spine switch; flows take paths as with ecmp
        /// in a graph.
        "leaf-spine" => LeafSpine(LeafSpine),
        /// Hosts h1, h2, ... at the edge switches of pods, whose aggregation switches are joined by core switches (Al-Fares,
        /// Loukissas and Vahdat 2008, section 3); flows take paths as with ecmp in a graph.
        "fat-tree" => FatTree(FatTree),
        /// Bottlenecks in a row: through flows from in to out, cross flows from in1 to out1 and so on.
        "parking-lot" => ParkingLot(ParkingLot),
    }
}

section! {
    /// Hosts on both sides of [bottleneck].
    Dumbbell {
        /// Rate of the links of hosts; unlimited means a pure delay.
        access_rate: DataRate = "unlimited",
        /// Buffer of the links of hosts.
        access_buffer: Amount = "unlimited",
        /// Queue of the links of hosts.
        access_aqm: Aqm = { "kind": "fifo" },
        /// Number of pairs of hosts, which the flows use in turn. Default: one for each flow group, or for
        /// each rtt in it. Needs an access_rate.
        hosts: Option<u32>,
        /// Host - switch - switch - host: ACKs pass three queues on their path as data do on theirs.
        switches: bool = false,
    }
}

section! {
    /// Hosts h1, h2, ... around one switch.
    Star {
        /// Number of hosts.
        hosts: u32,
        /// Rate of every link.
        rate: DataRate,
        /// Propagation delay of every link: the round trip between two hosts has four of them.
        delay: Duration,
        /// Buffer of each port of the switch.
        buffer: Amount,
        /// Buffer of each host's network card.
        host_buffer: Amount = "unlimited",
        /// Bytes that a packet takes on the wire beyond its IP size.
        overhead: Size = "0 B",
        /// Round-trip time behind the unit BDP. Default: four times the delay.
        bdp_rtt: Option<Duration>,
        /// Marking and dropping law of each port of the switch.
        aqm: Aqm = { "kind": "fifo" },
        /// Memory that all ports of the switch share; buffer then only limits a single port.
        shared_buffer: Option<SharedBuffer>,
    }
}

section! {
    /// Memory that the ports of a switch share: a port may hold up to alpha times what is free (Choudhury and Hahne 1998). Each queue
    /// for a traffic class counts as a port does, unless queues of its port share memory of their own.
    SharedBuffer {
        /// Size of the whole memory; the link's buffer and the law of its queue limit a single port in
        /// addition.
        #[source = "Choudhury and Hahne 1998, section II"]
        size: Size,
        /// Multiple of the free memory that one port may occupy: with n busy ports each gets alpha / (1 + n
        /// alpha) of it.
        #[source = "Choudhury and Hahne 1998, equations 1 and 3; switches offer powers of two from 1/128 to 8"]
        alpha: f64 = 1.0,
        /// Bytes reserved for each port, as a part of the size; dynamic thresholds divide the rest.
        #[source = "minimum guarantees of the switches that Choudhury and Hahne 1998 describe in section VI"]
        reserved: Size = "0 B",
        /// Part of the size that no queue may hold: switches keep it for packets that are under way while a link pauses. Links do not
        /// pause here, so that it is only taken off.
        #[source = "SONiC BUFFER_POOL, field xoff; IEEE 802.1Q clause 36 (priority-based flow control)"]
        #[otherwise = "nothing"]
        headroom: Option<Size>,
    }
}

section! {
    /// Memory that the ports of one node of a graph share.
    NodeBuffer {
        /// Name of the switch.
        node: String,
        /// Size of the whole memory.
        size: Size,
        /// Multiple of the free memory that one port may occupy.
        alpha: f64 = 1.0,
        /// Bytes reserved for each port, as a part of the size.
        reserved: Size = "0 B",
        /// Part of the size that no queue may hold.
        headroom: Option<Size>,
    }
}

section! {
    /// Bottlenecks in a row between switches s1, s2, ...; hosts in and out at the ends of the row, in1 and out1 at the ends of
    /// bottleneck1, and so on.
    ParkingLot {
        /// Number of bottlenecks.
        bottlenecks: u32,
        /// Rate of each bottleneck.
        rate: DataRate,
        /// Propagation delay of each bottleneck.
        delay: Duration,
        /// Buffer of each bottleneck.
        buffer: Amount,
        /// Marking and dropping law of each bottleneck; ACKs return through plain queues.
        aqm: Aqm = { "kind": "fifo" },
        /// Rate of the links of hosts; unlimited means a pure delay.
        access_rate: DataRate = "unlimited",
        /// Propagation delay of the links of hosts.
        access_delay: Duration = "0 s",
        /// Bytes that a packet takes on the wire beyond its IP size.
        overhead: Size = "0 B",
        /// Round-trip time behind the unit BDP. Default: that of the through flows.
        bdp_rtt: Option<Duration>,
    }
}

section! {
    /// Any nodes and links.
    Graph {
        /// Names of hosts and switches.
        nodes: Vec<String>,
        /// Links between them.
        links: Vec<GraphLink>,
        /// Round-trip time behind the unit BDP. Default: that of the first flow group.
        bdp_rtt: Option<Duration>,
        /// Whether a hash chooses each flow's next hop among those of equal cost, at every node, instead of the link listed
        /// first. It is a hash of the seed, the name of the group, the number of the flow in it, and which of the flow's
        /// choices it is: one for each node with several next hops, first on the path of data, then on that of ACKs. So
        /// all data of a flow take one path, its ACKs one of their own, and other flows change neither; next hops are
        /// equally likely, and independent from node to node. Switches hash the five-tuple instead, some with the same
        /// function at every hop.
        ecmp: bool = false,
        /// Memory that the ports of a node share.
        shared_buffers: Vec<NodeBuffer> = [],
    }
}

section! {
    /// A link of a graph.
    GraphLink {
        /// Name in reports. Default: from->to.
        name: Option<String>,
        /// Node at which the link starts.
        from: String,
        /// Node at which the link ends.
        to: String,
        /// Rate of the link; unlimited means a pure delay.
        rate: DataRate,
        /// Propagation delay.
        delay: Duration = "0 s",
        /// Capacity for waiting packets.
        buffer: Amount = "unlimited",
        /// Bytes that a packet takes on the wire beyond its IP size.
        overhead: Size = "0 B",
        /// Marking and dropping law of the queue.
        aqm: Aqm = { "kind": "fifo" },
        /// Cost that the link adds to a path.
        weight: u32 = 1,
        /// Whether there is an equal link in the opposite direction.
        both_ways: bool = true,
        /// Whether the result reports the link, in the direction from -> to. Default: yes, if its aqm is not
        /// a fifo.
        monitored: Option<bool>,
        /// Changes of the rate and the delay during the run, in both directions of the link.
        schedule: Option<LinkSchedule>,
        /// Jitter, loss, duplication, corruption, reordering and bursts, in both directions of the link.
        impairments: Option<Impairments>,
    }
}
