//! Networks of a data centre: hosts at switches with several paths of equal cost between them.

use super::{Aqm, SharedBuffer};
use crate::field::{choices, section};
use crate::quantity::{Amount, DataRate, Duration, Size};

/// A fabric: keys of its own, and those of its links and queues, which all fabrics have.
macro_rules! fabric {
    ($(#[doc = $doc:literal])+ $name:ident { $($own:tt)* }) => {
        section! {
            $(#[doc = $doc])+
            $name {
                $($own)*
                /// Rate of the links of hosts.
                rate: DataRate,
                /// Rate of the links between switches. Default: rate.
                fabric_rate: Option<DataRate>,
                /// Propagation delay of the links of hosts.
                delay: Duration,
                /// Propagation delay between switches. Default: delay.
                fabric_delay: Option<Duration>,
                /// Buffer of each port of a switch towards a host.
                buffer: Amount,
                /// Buffer of each port between switches. Default: buffer.
                fabric_buffer: Option<Amount>,
                /// Buffer of each host's network card.
                host_buffer: Amount = "unlimited",
                /// Bytes that a packet takes on the wire beyond its IP size.
                overhead: Size = "0 B",
                /// Round-trip time behind the unit BDP. Default: that between the hosts that are farthest apart.
                bdp_rtt: Option<Duration>,
                /// Marking and dropping law of each port of a switch towards a host.
                aqm: Aqm = { "kind": "fifo" },
                /// Marking and dropping law of each port between switches. Default: aqm.
                fabric_aqm: Option<Aqm>,
                /// Memory that all ports of a switch share; each switch has its own.
                shared_buffer: Option<SharedBuffer>,
                /// Ports that the result reports: towards receiving hosts, between switches, or both.
                reported: Reported = "receivers",
            }
        }
    };
}

fabric! {
    /// Hosts at leaf switches, each of which has a link to every spine switch. A hash chooses each flow's
    /// path among those of equal cost.
    LeafSpine {
        /// Number of leaf switches: leaf1, leaf2, ...
        leaves: u32,
        /// Number of spine switches: spine1, spine2, ...
        spines: u32,
        /// Hosts of each leaf; h1, h2, ... are counted from leaf to leaf.
        hosts_per_leaf: u32,
    }
}

fabric! {
    /// Pods of edge and aggregation switches that are joined by core switches ([Al-Fares, Loukissas and Vahdat, "A
    /// scalable, commodity data center network architecture", SIGCOMM 2008, section 3](https://doi.org/10.1145/1402958.1402967)).
    /// A hash chooses each flow's path among those of equal cost.
    FatTree {
        /// Ports of each switch, an even number from 4 to 32. There are k pods of k/2 edge switches (edge1, edge2, ...
        /// from pod to pod), each with k/2 hosts (h1, h2, ...), and k/2 aggregation switches (aggregation1, ...); and
        /// (k/2)^2 core switches (core1, ...), each with a link to every pod. Between pods (k/2)^2 paths cost the same.
        #[source = "Al-Fares, Loukissas and Vahdat 2008, section 3"]
        k: u32,
    }
}

choices!(Reported {
    "receivers" => Self::Receivers,
    "fabric" => Self::Fabric,
    "switches" => Self::Switches,
});

/// Ports of a fabric that the result reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reported {
    /// Ports of switches towards hosts that receive data.
    Receivers,
    /// Ports between switches.
    Fabric,
    /// Both kinds of ports.
    Switches,
}
