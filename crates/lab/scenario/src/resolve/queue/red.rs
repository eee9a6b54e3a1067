//! RED as published, alone and in pairs.

use shoal_aqm::{DualRedConfig, Extent, MarkSpacing, QueueConfig, RedConfig, RedParameters};

use super::{Context, Law};
use crate::quantity::Amount;
use crate::schema::{DctcpRed, DualRed, Red, RenoRed};

/// RED thresholds as written.
struct Slope {
    min: Amount,
    max: Amount,
    max_probability: f64,
    weight: f64,
    gentle: bool,
}

impl Law<'_> {
    pub(super) fn red(&self, red: &Red, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let mean_packet_bytes = self.packet_size(red.mean_packet, "mean_packet", cx)?;
        let slope = Slope {
            min: red.min,
            max: red.max,
            max_probability: red.max_probability,
            weight: red.weight,
            gentle: red.gentle,
        };
        let parameters = self.parameters(&slope, "", red.spacing, mean_packet_bytes, cx);
        Some(QueueConfig::Red(RedConfig {
            parameters: parameters?,
            ecn: red.ecn,
            limit,
            rate: self.port.rate,
            mean_packet_bytes,
        }))
    }

    pub(super) fn dual_red(
        &self,
        dual: &DualRed,
        limit: Extent,
        cx: &mut Context<'_>,
    ) -> Option<QueueConfig> {
        let mean_packet_bytes = self.packet_size(dual.mean_packet, "mean_packet", cx)?;
        let RenoRed { min, max, max_probability, weight, gentle } = dual.reno;
        let reno = Slope { min, max, max_probability, weight, gentle };
        let not_ect = self.parameters(&reno, "reno.", dual.spacing, mean_packet_bytes, cx);
        let ect = match self.dctcp_slope(&dual.dctcp, cx) {
            Some(slope) => self.parameters(&slope, "dctcp.", dual.spacing, mean_packet_bytes, cx),
            None => None,
        };
        Some(QueueConfig::DualRed(DualRedConfig {
            not_ect: not_ect?,
            ect: ect?,
            average: dual.average,
            limit,
            rate: self.port.rate,
            mean_packet_bytes,
        }))
    }

    fn dctcp_slope(&self, red: &DctcpRed, cx: &mut Context<'_>) -> Option<Slope> {
        let has_slope = red.min.is_some()
            || red.max.is_some()
            || red.max_probability.is_some()
            || red.weight.is_some()
            || red.gentle.is_some();
        match (red.threshold, red.min, red.max) {
            (Some(_), _, _) if has_slope => {
                let hint = "keep threshold, or min and max";
                cx.error(
                    &self.at("dctcp.threshold"),
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
                cx.error(&self.at("dctcp"), format!("missing {missing}"), hint);
                None
            }
        }
    }

    fn parameters(
        &self,
        slope: &Slope,
        prefix: &str,
        spacing: MarkSpacing,
        mean_packet_bytes: u32,
        cx: &mut Context<'_>,
    ) -> Option<RedParameters> {
        // A step is written as one key.
        let step = slope.min == slope.max && slope.weight >= 1.0 && prefix == "dctcp.";
        let (min_key, max_key) = if step { ("threshold", "threshold") } else { ("min", "max") };
        let key = |name: &str| format!("{prefix}{name}");
        let min = self.threshold_bytes(slope.min, &key(min_key), mean_packet_bytes, cx);
        let max = self.threshold_bytes(slope.max, &key(max_key), mean_packet_bytes, cx);
        if let (Some(min), Some(max)) = (min, max) {
            if min.exceeds(max) {
                cx.error(
                    &self.at(&key("min")),
                    format!("min {} is above max {}", slope.min, slope.max),
                    "swap them, or raise max",
                );
            } else {
                self.within_buffer(slope.max, &key(max_key), mean_packet_bytes, cx);
            }
        }
        self.probability(slope.max_probability, &key("max_probability"), cx);
        if !(slope.weight > 0.0 && slope.weight <= 1.0) {
            let hint = "write a number above 0, at most 1, as in 0.002";
            cx.error(&self.at(&key("weight")), format!("a weight of {}", slope.weight), hint);
        }
        Some(RedParameters {
            min_bytes: min?.as_f64(),
            max_bytes: max?.as_f64(),
            max_probability: slope.max_probability,
            weight: slope.weight,
            gentle: slope.gentle,
            spacing,
        })
    }
}
