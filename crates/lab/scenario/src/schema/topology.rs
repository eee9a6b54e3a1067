//! `[topology]`

use super::Aqm;
use crate::field::{section, tagged};
use crate::quantity::{Amount, DataRate, Duration, Size};

tagged! {
    /// Hosts, switches and links.
    Topology {
        /// Hosts on both sides of [bottleneck].
        "dumbbell" => Dumbbell(Dumbbell),
        /// Hosts h1, h2, ... around one switch.
        "star" => Star(Star),
        /// Any nodes and links; routes take the fewest links, among equals the ones listed first.
        "graph" => Graph(Graph),
    }
}

section! {
    /// Hosts on both sides of [bottleneck].
    Dumbbell {
        /// Rate of the host links; unlimited means pure delay.
        access_rate: DataRate = "unlimited",
        /// Buffer of the host links.
        access_buffer: Amount = "unlimited",
        /// Queue of the host links.
        access_aqm: Aqm = { "kind": "fifo" },
        /// Number of host pairs that flows take turns in. Default: one for each flow group. Needs an access_rate.
        hosts: Option<u32>,
        /// Host - switch - switch - host: ACKs pass three queues on their way back as data do on theirs.
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
        /// Bytes a packet takes on the wire beyond its IP size.
        overhead: Size = "0 B",
        /// Round-trip time behind the unit BDP. Default: four times the delay.
        bdp_rtt: Option<Duration>,
        /// Marking and dropping law of each port of the switch.
        aqm: Aqm = { "kind": "fifo" },
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
    }
}

section! {
    /// A link of a graph.
    GraphLink {
        /// Name for reports. Default: from->to.
        name: Option<String>,
        /// Where it starts.
        from: String,
        /// Where it ends.
        to: String,
        /// Line rate; unlimited means pure delay.
        rate: DataRate,
        /// Propagation delay.
        delay: Duration = "0 s",
        /// Waiting packets that fit.
        buffer: Amount = "unlimited",
        /// Bytes a packet takes on the wire beyond its IP size.
        overhead: Size = "0 B",
        /// Marking and dropping law of the queue.
        aqm: Aqm = { "kind": "fifo" },
        /// Whether there is an equal link back.
        both_ways: bool = true,
        /// Whether the result reports the link, in the direction from -> to. Default: if its aqm is not a fifo.
        monitored: Option<bool>,
    }
}
