//! Keys of `dual-red`.

use shoal_aqm::{AverageScope, DualRedConfig, Extent, MarkSpacing};

use super::red::Slope;
use super::{Place, Resolve};
use crate::field::{choices, section};
use crate::quantity::{Amount, Size};

section! {
    /// Two RED instances on one queue.
    DualRed {
        /// For packets that are not ECT: they are dropped.
        reno: RenoRed,
        /// For ECT packets: they are marked.
        dctcp: DctcpRed,
        /// Whether each instance averages the queue at every arrival (shared) or only at arrivals of its own class (per-class).
        #[source = "not stated in the paper; shared as in Linux net/sched/sch_gred.c, WRED mode"]
        average: AverageScope = "shared",
        /// How marks and drops are spread: by counting, which gives uniform gaps (long-run rate 2p/(1+p)), or by an independent coin for each
        /// packet (rate p).
        #[source = "Floyd and Jacobson 1993, section 4, methods 2 and 1"]
        spacing: MarkSpacing = "uniform",
        /// Mean packet size: an idle line ages the average by one packet for each of its transmission times, and thresholds in
        /// packets count such packets.
        #[source = "Floyd and Jacobson 1993, figure 2 (the constant s)"]
        mean_packet: Size = "1500 B",
    }
}

section! {
    /// The RED instance for packets that are not ECT.
    RenoRed {
        /// Minimum threshold: below this average nothing is dropped.
        #[source = "Kuehlewind et al. 2014 section III-C"]
        min: Amount,
        /// Maximum threshold: from this average on every packet is dropped.
        #[source = "Kuehlewind et al. 2014 section III-C"]
        max: Amount,
        /// Probability at the maximum threshold.
        #[source = "Kuehlewind et al. 2014 section IV-A"]
        #[unit = "0 to 1"]
        max_probability: f64 = 0.1,
        /// Weight of the moving average, above 0; 1 averages nothing.
        #[source = "Kuehlewind et al. 2014 section IV-A"]
        #[unit = "0 to 1"]
        weight: f64 = 0.002,
        /// Between max and twice max the probability rises to 1 instead of jumping there.
        #[source = "Floyd 2000, gentle variant of RED"]
        gentle: bool = false,
    }
}

section! {
    /// The RED instance for ECT packets: either a threshold, or min and max with a slope.
    DctcpRed {
        /// Step marking: min = max = threshold, weight 1. Excludes all other keys.
        #[source = "Kuehlewind et al. 2014 section II-A"]
        threshold: Option<Amount>,
        /// Minimum threshold: below this average nothing is marked. Needed without threshold.
        #[source = "Kuehlewind et al. 2014 section IV-C"]
        min: Option<Amount>,
        /// Maximum threshold: from this average on every packet is marked. Needed without threshold.
        #[source = "Kuehlewind et al. 2014 section IV-C"]
        max: Option<Amount>,
        /// Probability at the maximum threshold.
        #[source = "Kuehlewind et al. 2014 section IV-C"]
        #[unit = "0 to 1"]
        max_probability: Option<f64> = 0.1 unless threshold,
        /// Weight of the moving average, above 0; 1 averages nothing.
        #[source = "Kuehlewind et al. 2014 section IV-C"]
        #[unit = "0 to 1"]
        weight: Option<f64> = 0.002 unless threshold,
        /// Between max and twice max the probability rises to 1 instead of jumping there.
        #[source = "Floyd 2000, gentle variant of RED"]
        gentle: Option<bool> = false unless threshold,
    }
}

choices!(AverageScope { "shared" => Self::Shared, "per-class" => Self::PerClass, });

impl Resolve for DualRed {
    type Config = DualRedConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<DualRedConfig> {
        let mean_packet_bytes = law.packet_size(self.mean_packet, "mean_packet")?;
        let RenoRed { min, max, max_probability, weight, gentle } = self.reno;
        let reno = Slope { min, max, max_probability, weight, gentle };
        let not_ect = law.table("reno").parameters(&reno, self.spacing, mean_packet_bytes);
        let ect = match law.dctcp_slope(&self.dctcp) {
            Some(slope) => law.table("dctcp").parameters(&slope, self.spacing, mean_packet_bytes),
            None => None,
        };
        Some(DualRedConfig {
            not_ect: not_ect?,
            ect: ect?,
            average: self.average,
            limit,
            rate: law.port.rate,
            mean_packet_bytes,
        })
    }
}

impl Place<'_> {
    fn dctcp_slope(&self, red: &DctcpRed) -> Option<Slope> {
        let has_slope = red.min.is_some()
            || red.max.is_some()
            || red.max_probability.is_some()
            || red.weight.is_some()
            || red.gentle.is_some();
        match (red.threshold, red.min, red.max) {
            (Some(_), _, _) if has_slope => {
                let hint = "keep threshold, or min and max";
                self.keys.error(
                    "dctcp.threshold",
                    "a threshold excludes min, max, max_probability, weight and gentle",
                    hint,
                );
                None
            }
            // Kuehlewind et al. 2014 section II-A: min = max = K and weight 1.
            (Some(k), _, _) => {
                Some(Slope { min: k, max: k, max_probability: 1.0, weight: 1.0, gentle: false })
            }
            (None, Some(min), Some(max)) => Some(Slope {
                min,
                max,
                max_probability: red.max_probability.unwrap_or(0.1),
                weight: red.weight.unwrap_or(0.002),
                gentle: red.gentle.unwrap_or(false),
            }),
            (None, min, _) => {
                let missing = if min.is_none() { "threshold, or min and max" } else { "max" };
                let hint = "as in dctcp.threshold = \"0.67 BDP\", or dctcp.min = \"0.5 BDP\" and dctcp.max = \"2.5 BDP\"";
                self.keys.error("dctcp", format!("missing {missing}"), hint);
                None
            }
        }
    }
}
