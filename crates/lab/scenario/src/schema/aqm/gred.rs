//! GRED: RED queues of several classes in one FIFO.

use crate::field::section;
use crate::quantity::{Amount, DataRate, PacketCount, Size};

section! {
    /// GRED with the parameters of `tc qdisc add ... gred`; two virtual queues, chosen by ECN capability.
    Gred {
        /// Priorities count: with equal ones both virtual queues share one average of the whole queue (WRED), else the one with the
        /// higher number adds the other's (RIO). Without it (tc's default) each averages its own packets.
        #[source = "sch_gred.c gred_wred_mode_check, gred_enqueue"]
        grio: bool = true,
        /// Largest limit of both virtual queues.
        #[source = "sch_gred.c gred_change_vq"]
        #[otherwise = "the link's buffer"]
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
        /// Limit on the backlog that its law sees.
        #[source = "sch_gred.c gred_enqueue"]
        #[otherwise = "that of the whole"]
        limit: Option<Amount>,
        /// Minimum threshold: below this average nothing is marked or dropped.
        #[source = "red.h red_cmp_thresh"]
        min: Amount,
        /// Maximum threshold: from this average on every packet is marked or dropped.
        #[source = "red.h red_cmp_thresh; q_gred.c"]
        max: Amount,
        /// Average packet size, for the weight and the idle table.
        #[source = "tc_red.c tc_red_eval_ewma"]
        avpkt: Size = "1000 B",
        /// Burst that shall pass: determines the weight 2^-Wlog.
        #[source = "tc_red.c tc_red_eval_ewma"]
        #[otherwise = "(2 min + max) / (3 avpkt)"]
        burst: Option<PacketCount>,
        /// Probability at the maximum threshold.
        #[source = "q_gred.c; red.h red_random"]
        #[unit = "0 to 1"]
        probability: f64 = 0.02,
        /// Bandwidth that tc is told: only for the idle table.
        #[source = "tc_red.c tc_red_eval_idle_damping"]
        bandwidth: DataRate = "10 Mbit/s",
        /// Mark ECT packets instead of dropping them.
        #[source = "sch_gred.c gred_use_ecn (for each virtual queue since 5.0)"]
        ecn: bool = false,
        /// With ecn: drop above the maximum even if ECT.
        #[source = "sch_gred.c gred_use_harddrop"]
        harddrop: bool = false,
        /// Priority; lower numbers come first. Only with grio.
        #[source = "sch_gred.c gred_change"]
        #[unit = "1 to 15"]
        prio: u16 = 8,
    }
}
