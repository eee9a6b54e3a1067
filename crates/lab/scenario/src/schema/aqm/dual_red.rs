//! Two RED instances.

use shoal_aqm::{AverageScope, MarkSpacing};

use crate::field::{choices, section};
use crate::quantity::{Amount, Size};

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

choices!(AverageScope { "shared" => Self::Shared, "per-class" => Self::PerClass, });
