//! Keys of `red`, and of one RED instance wherever it is used.

use shoal_aqm::{Extent, MarkSpacing, RedConfig, RedParameters};

use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::{Amount, Dimension, Size};

/// RED as published.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Red {
    /// Minimum threshold: below this average nothing is marked or dropped.
    #[key(source = "Floyd and Jacobson 1993, section 4")]
    pub min: Amount,
    /// Maximum threshold: from this average on every packet is marked or dropped.
    #[key(source = "Floyd and Jacobson 1993, section 4")]
    pub max: Amount,
    /// Probability at the maximum threshold.
    #[key(
        default = 0.1,
        unit = "0 to 1",
        source = "Floyd and Jacobson 1993, section 4; Kuehlewind et al. 2014 section IV-A"
    )]
    pub max_probability: f64,
    /// Weight of the moving average, above 0; 1 averages nothing.
    #[key(
        default = 0.002,
        unit = "0 to 1",
        source = "Floyd and Jacobson 1993, section 6; Kuehlewind et al. 2014 section IV-A"
    )]
    pub weight: f64,
    /// Between max and twice max the probability rises to 1 instead of jumping there.
    #[key(default = false, source = "Floyd 2000, gentle variant of RED")]
    pub gentle: bool,
    /// How marks are spread: by counting, which gives uniform gaps (long-run rate 2p/(1+p)), or by an independent coin
    /// for each packet (rate p).
    #[key(default = "uniform", source = "Floyd and Jacobson 1993, section 4, methods 2 and 1")]
    pub spacing: MarkSpacing,
    /// Mark ECT packets instead of dropping them.
    #[key(default = false, source = "RFC 3168 section 7")]
    pub ecn: bool,
    /// Mean packet size: an idle line ages the average by one packet for each of its transmission times, and thresholds
    /// in packets count such packets.
    #[key(default = "1500 B", source = "Floyd and Jacobson 1993, figure 2 (the constant s)")]
    pub mean_packet: Size,
}

choices!(MarkSpacing { "uniform" => Self::Uniformised, "independent" => Self::Independent, });

/// RED thresholds as written.
pub(super) struct Slope {
    pub min: Amount,
    pub max: Amount,
    pub max_probability: f64,
    pub weight: f64,
    pub gentle: bool,
}

impl Resolve for Red {
    type Config = RedConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<RedConfig> {
        let mean_packet_bytes = law.packet_size(self.mean_packet, "mean_packet")?;
        let slope = Slope {
            min: self.min,
            max: self.max,
            max_probability: self.max_probability,
            weight: self.weight,
            gentle: self.gentle,
        };
        let parameters = law.parameters(&slope, self.spacing, mean_packet_bytes);
        Some(RedConfig {
            parameters: parameters?,
            ecn: self.ecn,
            limit,
            rate: law.port.rate,
            mean_packet_bytes,
        })
    }
}

impl Place<'_> {
    pub(super) fn parameters(
        &self,
        slope: &Slope,
        spacing: MarkSpacing,
        mean_packet_bytes: u32,
    ) -> Option<RedParameters> {
        // A step is written as one key.
        let step = slope.min == slope.max
            && slope.weight >= 1.0
            && self.keys.path.rsplit('.').next() == Some("dctcp");
        let (min_key, max_key) = if step { ("threshold", "threshold") } else { ("min", "max") };
        let min = self.threshold_bytes(slope.min, min_key, mean_packet_bytes);
        let max = self.threshold_bytes(slope.max, max_key, mean_packet_bytes);
        if let (Some(min), Some(max)) = (min, max) {
            if min.exceeds(max) {
                self.keys.error(
                    "min",
                    format!("min {} is above max {}", slope.min, slope.max),
                    "swap them, or raise max",
                );
            } else {
                self.within_buffer(slope.max, max_key, mean_packet_bytes);
            }
        }
        let is_in_packets = |amount: Amount| amount.dimension() == Some(Dimension::Packets);
        let counted = [(slope.min, min_key), (slope.max, max_key)]
            .into_iter()
            .find(|(amount, _)| is_in_packets(*amount));
        if let Some((_, key)) = counted.filter(|_| mean_packet_bytes != self.port.mtu) {
            let text = format!(
                "thresholds of RED in packets count packets of {mean_packet_bytes} B (mean_packet), and the largest \
                 packets here have {} B",
                self.port.mtu
            );
            let hint = format!("write mean_packet = \"{} B\", or thresholds in bytes", self.port.mtu);
            self.keys.effect(key, "packets-of-mean-size", text, hint);
        }
        self.probability(slope.max_probability, "max_probability");
        if !(slope.weight > 0.0 && slope.weight <= 1.0) {
            let hint = "write a number above 0, at most 1, as in 0.002";
            self.keys.error("weight", format!("a weight of {}", slope.weight), hint);
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
