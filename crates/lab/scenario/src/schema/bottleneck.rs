//! `[bottleneck]`

use super::{Aqm, Impairments, LinkSchedule};
use crate::field::section;
use crate::quantity::{Amount, DataRate, Duration, Size};

section! {
    /// The link that all flows of a dumbbell share.
    Bottleneck {
        /// Rate of the link.
        rate: DataRate,
        /// Capacity for waiting packets; the packet in transmission is not counted. One BDP is the rate times
        /// bdp_rtt.
        #[source = "Linux net/sched/sch_fifo.c"]
        buffer: Amount = "4 BDP",
        /// Propagation delay of this link; it is part of each flow's rtt.
        delay: Duration = "0 s",
        /// Bytes that a packet takes on the wire beyond its IP size (Ethernet with preamble and gap: 38 B).
        overhead: Size = "0 B",
        /// Round-trip time behind the unit BDP.
        #[otherwise = "the rtt of the first flow group"]
        bdp_rtt: Option<Duration>,
        /// Marking and dropping law of the queue.
        aqm: Aqm = { "kind": "fifo" },
        /// Changes of the rate and the delay during the run, in the direction of the data.
        schedule: Option<LinkSchedule>,
        /// Jitter, loss, duplication, corruption, reordering and bursts, in the direction of the data.
        impairments: Option<Impairments>,
    }
}
