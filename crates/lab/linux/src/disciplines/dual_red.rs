//! `dualred`, a module of this project (linux/modules/sch_dualred.c): attributes of
//! linux/modules/uapi/pkt_sched_shoal.h.

use super::{Discipline, Express, PLACE, QueueMapping, Site, bounds, limits};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{AverageScope, DualRedConfig, MarkSpacing, RedParameters};
use shoal_packet::Reason;

mod attribute {
    pub(super) const LIMIT_BYTES: u16 = 2;
    pub(super) const LIMIT_PACKETS: u16 = 3;
    pub(super) const RATE: u16 = 4;
    pub(super) const MEAN_PACKET: u16 = 5;
    pub(super) const AVERAGE: u16 = 6;
    pub(super) const NOT_ECT: u16 = 7;
    pub(super) const ECT: u16 = 8;
    pub(super) const RED_MIN: u16 = 2;
    pub(super) const RED_MAX: u16 = 3;
    pub(super) const RED_MAX_P: u16 = 4;
    pub(super) const RED_WEIGHT: u16 = 5;
    pub(super) const RED_GENTLE: u16 = 6;
    pub(super) const RED_INDEPENDENT: u16 = 7;
}

/// Integer parameters of the module: thresholds in whole bytes, probabilities and weights in 2^-32.
struct Instance {
    min: u32,
    max: u32,
    max_p: u64,
    weight: u64,
    gentle: bool,
    independent: bool,
}

const ONE: f64 = 4_294_967_296.0;

impl Instance {
    /// Bytes are rounded down: a queue has whole bytes, so a step at 13.02 packets acts like one at the byte
    /// below.
    fn new(red: &RedParameters) -> Self {
        Self {
            min: red.min_bytes as u32,
            max: red.max_bytes as u32,
            max_p: ((red.max_probability * ONE).round() as u64).max(1),
            weight: ((red.weight * ONE).round() as u64).max(1),
            gentle: red.gentle,
            independent: red.spacing == MarkSpacing::Independent,
        }
    }

    fn attributes(&self) -> Attributes {
        Attributes::default()
            .u32(attribute::RED_MIN, self.min)
            .u32(attribute::RED_MAX, self.max)
            .u64(attribute::RED_MAX_P, self.max_p)
            .u64(attribute::RED_WEIGHT, self.weight)
            .u8(attribute::RED_GENTLE, self.gentle.into())
            .u8(attribute::RED_INDEPENDENT, self.independent.into())
    }

    fn words(&self) -> String {
        let flags = [(self.gentle, " gentle"), (self.independent, " independent")]
            .map(|(set, word)| if set { word } else { "" });
        format!(
            "min {} max {} probability {:.6} weight {:.6}{}",
            self.min,
            self.max,
            self.max_p as f64 / ONE,
            self.weight as f64 / ONE,
            flags.concat()
        )
    }
}

impl Express for DualRedConfig {
    const MARKS: Reason = Reason::Early;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let too_large = [&self.not_ect, &self.ect].iter().any(|red| red.max_bytes >= f64::from(u32::MAX));
        if too_large {
            refusals.add(PLACE, "the module's thresholds have 32 bits", "write less than 4 GiB");
            return None;
        }
        bounds::check("the rate", self.rate.as_bps() / 8, &bounds::RATE, "8 bit/s to 8 Tbit/s", refusals)?;
        let mean_packet = self.mean_packet_bytes.into();
        bounds::check("mean_packet", mean_packet, &bounds::MEAN_PACKET, "1 B to 65535 B", refusals)?;
        let (bytes, packets) = limits(self.limit, site.rate);
        let (not_ect, ect) = (Instance::new(&self.not_ect), Instance::new(&self.ect));
        let per_class = self.average == AverageScope::PerClass;
        let options = Attributes::default()
            .u32(attribute::LIMIT_BYTES, bytes)
            .u32(attribute::LIMIT_PACKETS, packets)
            .u64(attribute::RATE, self.rate.as_bps() / 8)
            .u32(attribute::MEAN_PACKET, self.mean_packet_bytes)
            .u8(attribute::AVERAGE, per_class.into())
            .nest(attribute::NOT_ECT, not_ect.attributes())
            .nest(attribute::ECT, ect.attributes());
        let tc = format!(
            "dualred limit {bytes} B {packets} packets (0: none) rate {} B/s mean_packet {} B average {}; not-ect: \
             {}; ect: {}",
            self.rate.as_bps() / 8,
            self.mean_packet_bytes,
            if per_class { "per-class" } else { "shared" },
            not_ect.words(),
            ect.words()
        );
        let rules =
            vec!["dual-red: thresholds in whole bytes, probabilities and weights in 2^-32".to_owned()];
        Some(QueueMapping::of(Discipline::new("dualred", options, tc), rules))
    }
}
