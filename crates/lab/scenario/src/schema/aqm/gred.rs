//! GRED: RED queues of several classes in one FIFO.

use crate::field::section;
use crate::quantity::{Amount, DataRate, PacketCount, Size};

section! {
    /// GRED with the parameters of `tc qdisc add ... gred`; two virtual queues, chosen by ECN capability.
    Gred {
        /// Priorities count: with equal ones both share one average (WRED), else the higher prio number adds the other's (RIO).
        grio: bool = true,
        /// Largest limit of both virtual queues. Default: the link's buffer.
        limit: Option<Amount>,
        /// The virtual queue of packets that are not ECT.
        not_ect: GredQueue,
        /// The virtual queue of ECT packets.
        ect: GredQueue,
    }
}

section! {
    /// A virtual queue of GRED.
    GredQueue {
        /// Limit on the backlog that its law sees. Default: that of the whole.
        limit: Option<Amount>,
        /// Minimum threshold.
        min: Amount,
        /// Maximum threshold.
        max: Amount,
        /// Average packet size.
        avpkt: Size = "1000 B",
        /// Burst, which sets the weight. Default: (2 min + max) / (3 avpkt).
        burst: Option<PacketCount>,
        /// Probability at the maximum threshold.
        probability: f64 = 0.02,
        /// Bandwidth that tc is told: only for the idle table.
        bandwidth: DataRate = "10 Mbit/s",
        /// Mark ECT packets instead of dropping them.
        ecn: bool = false,
        /// With ecn: drop above the maximum even if ECT.
        harddrop: bool = false,
        /// Priority, 1 to 15; lower numbers come first. Only with grio.
        prio: u16 = 8,
    }
}
