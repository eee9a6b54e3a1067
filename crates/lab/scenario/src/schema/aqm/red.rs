//! Random early detection.

use shoal_aqm::MarkSpacing;

use crate::field::{choices, section};
use crate::quantity::{Amount, DataRate, PacketCount, Size};

section! {
    /// RED as published.
    Red {
        /// Minimum threshold: below this average nothing is marked or dropped.
        #[source = "Floyd and Jacobson 1993, section 4"]
        min: Amount,
        /// Maximum threshold: from this average on every packet is marked or dropped.
        #[source = "Floyd and Jacobson 1993, section 4"]
        max: Amount,
        /// Probability at the maximum threshold.
        #[source = "Floyd and Jacobson 1993, section 4; Kuehlewind et al. 2014 section IV-A"]
        #[unit = "0 to 1"]
        max_probability: f64 = 0.1,
        /// Weight of the moving average, above 0; 1 averages nothing.
        #[source = "Floyd and Jacobson 1993, section 6; Kuehlewind et al. 2014 section IV-A"]
        #[unit = "0 to 1"]
        weight: f64 = 0.002,
        /// Between max and twice max the probability rises to 1 instead of jumping there.
        #[source = "Floyd 2000, gentle variant of RED"]
        gentle: bool = false,
        /// How marks are spread: by counting, which gives uniform gaps (long-run rate 2p/(1+p)), or by an independent coin for each
        /// packet (rate p).
        #[source = "Floyd and Jacobson 1993, section 4, methods 2 and 1"]
        spacing: MarkSpacing = "uniform",
        /// Mark ECT packets instead of dropping them.
        #[source = "RFC 3168 section 7"]
        ecn: bool = false,
        /// Mean packet size: an idle line ages the average by one packet for each of its transmission times, and thresholds in
        /// packets count such packets.
        #[source = "Floyd and Jacobson 1993, figure 2 (the constant s)"]
        mean_packet: Size = "1500 B",
    }
}

section! {
    /// RED as `tc` configures it and the kernel runs it: fixed point.
    LinuxRed {
        /// Hard limit of the child queue.
        #[source = "sch_red.c (bfifo child)"]
        #[otherwise = "the link's buffer"]
        limit: Option<Amount>,
        /// Minimum threshold: below this average nothing is marked or dropped.
        #[source = "red.h red_cmp_thresh"]
        min: Amount,
        /// Maximum threshold: from this average on every packet is marked or dropped.
        #[source = "red.h red_cmp_thresh; q_red.c"]
        #[otherwise = "3 min"]
        max: Option<Amount>,
        /// Average packet size: with burst it determines the weight, with bandwidth the idle table.
        #[source = "tc_red.c tc_red_eval_ewma, tc_red_eval_idle_damping"]
        avpkt: Size = "1000 B",
        /// Burst that shall pass: determines the weight 2^-Wlog.
        #[source = "tc_red.c tc_red_eval_ewma; q_red.c"]
        #[otherwise = "(2 min + max) / (3 avpkt)"]
        burst: Option<PacketCount>,
        /// Probability at the maximum threshold.
        #[source = "q_red.c; red.h red_random"]
        #[unit = "0 to 1"]
        probability: f64 = 0.02,
        /// Bandwidth that tc is told: only for the idle table; below 34.4 Gbit/s.
        #[source = "tc_red.c tc_red_eval_idle_damping"]
        bandwidth: DataRate = "10 Mbit/s",
        /// Mark ECT packets instead of dropping them.
        #[source = "sch_red.c red_enqueue"]
        ecn: bool = false,
        /// With ecn: drop above the maximum even if ECT.
        #[source = "sch_red.c red_enqueue"]
        harddrop: bool = false,
        /// With ecn: let packets that are not ECT pass instead of dropping them.
        #[source = "sch_red.c red_enqueue (since 5.7)"]
        nodrop: bool = false,
        /// Adapt the maximum probability every 0.5 s, to keep the average in the middle fifth between min and max (ARED).
        #[source = "red.h red_adaptative_algo; Floyd, Gummadi and Shenker 2001"]
        adaptive: bool = false,
        /// Kernel version. Before 3.3 the probability is rounded to a power of two, and adaptive does not exist.
        #[source = "red.h red_rmask (until 3.2), red_random (since 3.3)"]
        #[unit = "version"]
        kernel: String = "6.12",
    }
}

choices!(MarkSpacing { "uniform" => Self::Uniformised, "independent" => Self::Independent, });
