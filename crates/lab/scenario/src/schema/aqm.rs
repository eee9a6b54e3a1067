//! `[bottleneck.aqm]` and the `aqm` of other links.

use shoal_aqm::{AverageScope, DecideAt, MarkSpacing};

use crate::field::{choices, section, tagged};
use crate::quantity::{Amount, DataRate, PacketCount, Size};

tagged! {
    /// Marking and dropping law of a queue.
    Aqm {
        /// First in, first out, tail drop.
        "fifo" => Fifo(Fifo),
        /// Marks ECT packets above a fixed threshold of the instantaneous queue.
        "step" => Step(Step),
        /// Random early detection as published (Floyd and Jacobson 1993).
        "red" => Red(Red),
        /// Random early detection as the Linux kernel computes it, with the parameters of `tc qdisc add ... red`.
        "linux-red" => LinuxRed(LinuxRed),
        /// Two RED instances on one queue, chosen by ECN capability (Kuehlewind et al. 2014).
        "dual-red" => DualRed(DualRed),
    }
}

section! {
    /// First in, first out, tail drop: no parameters, the link's buffer is the limit.
    Fifo {}
}

section! {
    /// Step marking.
    Step {
        /// K: ECT packets that find more than this, themselves included, are marked.
        threshold: Amount,
        /// When the queue is compared with the threshold.
        decide: DecideAt = "enqueue",
        /// Packets that are not ECT are dropped above this.
        drop_threshold: Amount = "unlimited",
    }
}

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

section! {
    /// Two RED instances on one queue.
    DualRed {
        /// For packets that are not ECT: they are dropped.
        reno: RenoRed,
        /// For ECT packets: they are marked.
        dctcp: DctcpRed,
        /// Whether each instance averages at every arrival (shared) or at arrivals of its own class (per-class).
        average: AverageScope = "shared",
        /// How marks and drops are spread.
        spacing: MarkSpacing = "uniform",
        /// Mean packet size: for idle ageing and for thresholds in packets.
        mean_packet: Size = "1500 B",
    }
}

section! {
    /// The RED instance for packets that are not ECT.
    RenoRed {
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
    }
}

section! {
    /// The RED instance for ECT packets: either a threshold, or min and max with a slope.
    DctcpRed {
        /// Step marking: min = max = threshold, weight 1. Excludes all other keys.
        threshold: Option<Amount>,
        /// Minimum threshold of the averaged queue.
        min: Option<Amount>,
        /// Maximum threshold of the averaged queue.
        max: Option<Amount>,
        /// Probability at the maximum threshold, 0 to 1. Default: 0.1.
        max_probability: Option<f64>,
        /// Weight of the moving average, above 0, at most 1. Default: 0.002.
        weight: Option<f64>,
        /// Between max and twice max the probability rises to 1 instead of jumping there. Default: false.
        gentle: Option<bool>,
    }
}

choices!(DecideAt { "enqueue" => Self::Enqueue, "dequeue" => Self::Dequeue, });
choices!(MarkSpacing { "uniform" => Self::Uniformised, "independent" => Self::Independent, });
choices!(AverageScope { "shared" => Self::Shared, "per-class" => Self::PerClass, });
