//! Keys of `dual-red`.

use shoal_aqm::{AverageScope, DualRedConfig, Extent, MarkSpacing};

use super::red::Slope;
use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::{Amount, Size};

/// Two RED instances on one queue.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct DualRed {
    /// For packets that are not ECT: they are dropped.
    pub reno: RenoRed,
    /// For ECT packets: they are marked.
    pub dctcp: DctcpRed,
    /// Whether each instance averages the queue at every arrival (shared) or only at arrivals of its own class
    /// (per-class).
    #[key(
        default = "shared",
        source = "not stated in the paper; shared as in Linux net/sched/sch_gred.c, WRED mode"
    )]
    pub average: AverageScope,
    /// How marks and drops are spread: by counting, which gives uniform gaps (long-run rate 2p/(1+p)), or by an
    /// independent coin for each packet (rate p).
    #[key(default = "uniform", source = "Floyd and Jacobson 1993, section 4, methods 2 and 1")]
    pub spacing: MarkSpacing,
    /// Mean packet size: an idle line ages the average by one packet for each of its transmission times, and thresholds
    /// in packets count such packets.
    #[key(default = "1500 B", source = "Floyd and Jacobson 1993, figure 2 (the constant s)")]
    pub mean_packet: Size,
}

/// The RED instance for packets that are not ECT.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct RenoRed {
    /// Minimum threshold: below this average nothing is dropped.
    #[key(source = "Kuehlewind et al. 2014 section III-C")]
    pub min: Amount,
    /// Maximum threshold: from this average on every packet is dropped.
    #[key(source = "Kuehlewind et al. 2014 section III-C")]
    pub max: Amount,
    /// Probability at the maximum threshold.
    #[key(default = 0.1, unit = "0 to 1", source = "Kuehlewind et al. 2014 section IV-A")]
    pub max_probability: f64,
    /// Weight of the moving average, above 0; 1 averages nothing.
    #[key(default = 0.002, unit = "0 to 1", source = "Kuehlewind et al. 2014 section IV-A")]
    pub weight: f64,
    /// Between max and twice max the probability rises to 1 instead of jumping there.
    #[key(default = false, source = "Floyd 2000, gentle variant of RED")]
    pub gentle: bool,
}

/// The RED instance for ECT packets: either a threshold, or min and max with a slope.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct DctcpRed {
    /// Step marking: min = max = threshold, weight 1. Excludes all other keys.
    #[key(source = "Kuehlewind et al. 2014 section II-A")]
    pub threshold: Option<Amount>,
    /// Minimum threshold: below this average nothing is marked. Needed without threshold.
    #[key(source = "Kuehlewind et al. 2014 section IV-C")]
    pub min: Option<Amount>,
    /// Maximum threshold: from this average on every packet is marked. Needed without threshold.
    #[key(source = "Kuehlewind et al. 2014 section IV-C")]
    pub max: Option<Amount>,
    /// Probability at the maximum threshold.
    #[key(default = 0.1, unless(threshold), unit = "0 to 1", source = "Kuehlewind et al. 2014 section IV-C")]
    pub max_probability: Option<f64>,
    /// Weight of the moving average, above 0; 1 averages nothing.
    #[key(
        default = 0.002,
        unless(threshold),
        unit = "0 to 1",
        source = "Kuehlewind et al. 2014 section IV-C"
    )]
    pub weight: Option<f64>,
    /// Between max and twice max the probability rises to 1 instead of jumping there.
    #[key(default = false, unless(threshold), source = "Floyd 2000, gentle variant of RED")]
    pub gentle: Option<bool>,
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
                let hint = "as in dctcp.threshold = \"0.67 BDP\", or dctcp.min = \"0.5 BDP\" and dctcp.max = \"2.5 \
                            BDP\"";
                self.keys.error("dctcp", format!("missing {missing}"), hint);
                None
            }
        }
    }
}
