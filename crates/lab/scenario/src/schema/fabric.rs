//! Networks of a data centre: hosts at switches with several paths of equal cost between them.

use super::{Aqm, SharedBuffer};
use crate::field::{Section, choices};
use crate::quantity::{Amount, DataRate, Duration, Size};

/// A fabric: keys of its own, and those of its links and queues, which all fabrics have.
macro_rules! fabric {
    ($(#[doc = $doc:literal])+ $name:ident { $($keys_of_its_shape:tt)* }) => {
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Debug, Section)]
        pub struct $name {
            $($keys_of_its_shape)*
            /// Rate of the links of hosts.
            pub rate: DataRate,
            /// Rate of the links between switches. Default: rate.
            pub fabric_rate: Option<DataRate>,
            /// Propagation delay of the links of hosts.
            pub delay: Duration,
            /// Propagation delay between switches. Default: delay.
            pub fabric_delay: Option<Duration>,
            /// Buffer of each port of a switch towards a host.
            pub buffer: Amount,
            /// Buffer of each port between switches. Default: buffer.
            pub fabric_buffer: Option<Amount>,
            /// Buffer of each host's network card.
            #[key(default = "unlimited")]
            pub host_buffer: Amount,
            /// Bytes that a packet takes on the wire beyond its IP size.
            #[key(default = "0 B")]
            pub overhead: Size,
            /// Round-trip time behind the unit BDP. Default: that between the hosts that are farthest apart.
            pub bdp_rtt: Option<Duration>,
            /// Marking and dropping law of each port of a switch towards a host.
            #[key(default = { "kind": "fifo" })]
            pub aqm: Aqm,
            /// Marking and dropping law of each port between switches. Default: aqm.
            pub fabric_aqm: Option<Aqm>,
            /// Memory that all ports of a switch share; each switch has its own.
            pub shared_buffer: Option<SharedBuffer>,
            /// Ports that the result reports: towards receiving hosts, between switches, or both.
            #[key(default = "receivers")]
            pub reported: Reported,
        }
    };
}

fabric! {
    /// Hosts at leaf switches, each of which has a link to every spine switch. A hash chooses each flow's
    /// path among those of equal cost.
    LeafSpine {
        /// Number of leaf switches: leaf1, leaf2, ...
        pub leaves: u32,
        /// Number of spine switches: spine1, spine2, ...
        pub spines: u32,
        /// Hosts of each leaf; h1, h2, ... are counted from leaf to leaf.
        pub hosts_per_leaf: u32,
    }
}

fabric! {
    /// Pods of edge and aggregation switches that are joined by core switches ([Al-Fares, Loukissas and Vahdat, "A
    /// scalable, commodity data center network architecture", SIGCOMM 2008, section
    /// 3](https://doi.org/10.1145/1402958.1402967)). A hash chooses each flow's path among those of equal cost.
    FatTree {
        /// Ports of each switch, an even number from 4 to 32. There are k pods of k/2 edge switches (edge1, edge2, ...
        /// from pod to pod), each with k/2 hosts (h1, h2, ...), and k/2 aggregation switches (aggregation1, ...); and
        /// (k/2)^2 core switches (core1, ...), each with a link to every pod. Between pods (k/2)^2 paths cost the same.
        #[key(source = "Al-Fares, Loukissas and Vahdat 2008, section 3")]
        pub k: u32,
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
    /// Ports of switches towards receiving hosts, and ports between switches.
    Switches,
}
