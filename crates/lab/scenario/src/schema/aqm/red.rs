//! Random early detection.

use shoal_aqm::MarkSpacing;

use crate::field::{choices, section};
use crate::quantity::{Amount, DataRate, PacketCount, Size};

section! {
    /// RED as published.
    Red {
        /// Minimum threshold of the averaged queue.
        min: Amount,
        /// Maximum threshold of the averaged queue.
        max: Amount,
        /// Probability at the maximum threshold, 0 to 1.
        max_probability: f64 = 0.1,
        /// Weight of the moving average, above 0, at most 1.
        weight: f64 = 0.002,
        /// Between max and twice max the probability rises to 1 instead of jumping there.
        gentle: bool = false,
        /// How marks are spread: by counting (uniform gaps) or by an independent coin for each packet.
        spacing: MarkSpacing = "uniform",
        /// Mark ECT packets instead of dropping them.
        ecn: bool = false,
        /// Mean packet size: for idle ageing and for thresholds in packets.
        mean_packet: Size = "1500 B",
    }
}

section! {
    /// RED as `tc` configures it and the kernel runs it: fixed point.
    LinuxRed {
        /// Hard limit of the child queue. Default: the link's buffer.
        limit: Option<Amount>,
        /// Minimum threshold.
        min: Amount,
        /// Maximum threshold. Default: three times min.
        max: Option<Amount>,
        /// Average packet size.
        avpkt: Size = "1000 B",
        /// Burst, which sets the weight. Default: (2 min + max) / (3 avpkt).
        burst: Option<PacketCount>,
        /// Probability at the maximum threshold.
        probability: f64 = 0.02,
        /// Bandwidth that tc is told: only for the idle table.
        bandwidth: DataRate = "10 Mbit/s",
        /// Mark ECT packets.
        ecn: bool = false,
        /// With ecn: drop above the maximum even if ECT.
        harddrop: bool = false,
        /// With ecn: let packets that are not ECT pass instead of dropping them.
        nodrop: bool = false,
        /// Adapt the maximum probability every 0.5 s (ARED).
        adaptive: bool = false,
        /// Kernel version; before 3.3 the probability is rounded to a power of two.
        kernel: String = "6.12",
    }
}

choices!(MarkSpacing { "uniform" => Self::Uniformised, "independent" => Self::Independent, });
