//! `coupled`, a module of this project, and what it shares with `dualq_coupled`: attributes of
//! linux/modules/uapi/pkt_sched_shoal.h.

use super::{Discipline, Express, QueueMapping, Site, bounds, limits};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{CoupledConfig, CoupledSlope, DecideAt, Extent};
use shoal_packet::Reason;
use shoal_units::Rate;

pub(super) mod attribute {
    pub(in crate::disciplines) const LIMIT_BYTES: u16 = 2;
    pub(in crate::disciplines) const LIMIT_PACKETS: u16 = 3;
    pub(in crate::disciplines) const RATE: u16 = 4;
    pub(in crate::disciplines) const DECIDE: u16 = 5;
    pub(in crate::disciplines) const MEASURE: u16 = 6;
    pub(in crate::disciplines) const FORM: u16 = 7;
    pub(in crate::disciplines) const SATURATION: u16 = 8;
    pub(in crate::disciplines) const COUPLING: u16 = 9;
    pub(in crate::disciplines) const DROP_BITS: u16 = 10;
    pub(in crate::disciplines) const MARK_BITS: u16 = 11;
    pub(in crate::disciplines) const UNIT: u16 = 12;
    pub(in crate::disciplines) const THRESHOLD: u16 = 13;
    pub(in crate::disciplines) const THRESHOLD_MEASURE: u16 = 14;
    pub(in crate::disciplines) const INPUT: u16 = 15;
    pub(in crate::disciplines) const SCHEDULER: u16 = 16;
    pub(in crate::disciplines) const CLASSIC_PERCENT: u16 = 17;
    pub(in crate::disciplines) const SHIFT: u16 = 18;
    pub(in crate::disciplines) const MTU: u16 = 19;
}

impl Express for CoupledConfig {
    const MARKS: Reason = Reason::Coupled;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        check(self.slope, site.rate, refusals)?;
        let (options, words) = common(self.slope, self.decide, self.limit, site.rate);
        let tc = format!("coupled {words}");
        Some(mapping("coupled", options, tc))
    }
}

/// Checks the parameters that both modules have.
pub(super) fn check(slope: CoupledSlope, rate: Rate, refusals: &mut Refusals) -> Option<()> {
    bounds::check("the rate", rate.as_bps() / 8, &bounds::RATE, "8 bit/s to 8 Tbit/s", refusals)?;
    let says = "1 ns to 11 days, or at most 10^15 bytes or packets";
    match slope {
        CoupledSlope::Linear { saturation, coupling } => {
            bounds::check("saturation", Amount::of(saturation).value, &bounds::AMOUNT, says, refusals)?;
            bounds::check("coupling", coupling_of(coupling), &bounds::COUPLING, "0.001 to 1024", refusals)
        }
        CoupledSlope::Shift { unit, .. } => {
            bounds::check("slope_unit", Amount::of(unit).value, &bounds::AMOUNT, says, refusals)
        }
    }
}

/// The coupling factor k in 2^-16.
fn coupling_of(k: f64) -> u64 {
    (k * 65_536.0).round() as u64
}

pub(super) fn mapping(kind: &'static str, options: Attributes, tc: String) -> QueueMapping {
    let rule = "coupled: probabilities in 2^-32, k in 2^-16, times in nanoseconds".to_owned();
    QueueMapping::of(Discipline::new(kind, options, tc), vec![rule])
}

/// An amount of queue with its `enum tc_coupled_measure`.
pub(super) struct Amount {
    pub value: u64,
    pub measure: u8,
}

impl Amount {
    /// An unlimited amount becomes one that is never reached.
    pub(super) fn of(extent: Extent) -> Self {
        match extent {
            Extent::Time(span) => Self { value: span.as_nanos(), measure: 0 },
            Extent::Bytes(bytes) => Self { value: bytes, measure: 1 },
            Extent::Packets(packets) => Self { value: packets.into(), measure: 2 },
            Extent::Unlimited => Self { value: *bounds::AMOUNT.end(), measure: 2 },
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.value, ["ns", "b", "p"][usize::from(self.measure)])
    }
}

/// Attributes that both modules have, and the equivalent words of `tc`.
pub(super) fn common(
    slope: CoupledSlope,
    decide: DecideAt,
    limit: Extent,
    rate: Rate,
) -> (Attributes, String) {
    let (bytes, packets) = limits(limit, rate);
    let at_dequeue = decide == DecideAt::Dequeue;
    let attributes = Attributes::default()
        .u32(attribute::LIMIT_BYTES, bytes)
        .u32(attribute::LIMIT_PACKETS, packets)
        .u64(attribute::RATE, rate.as_bps() / 8)
        .u8(attribute::DECIDE, at_dequeue.into());
    let words = format!(
        "limit {packets} limit_bytes {bytes}b rate {}bit decide {}",
        rate.as_bps(),
        if at_dequeue { "dequeue" } else { "enqueue" }
    );
    match slope {
        CoupledSlope::Linear { saturation, coupling } => {
            let saturation = Amount::of(saturation);
            let k = coupling_of(coupling) as u32;
            let attributes = attributes
                .u8(attribute::MEASURE, saturation.measure)
                .u8(attribute::FORM, 0)
                .u64(attribute::SATURATION, saturation.value)
                .u32(attribute::COUPLING, k);
            (attributes, format!("{words} saturation {saturation} coupling {}", f64::from(k) / 65_536.0))
        }
        CoupledSlope::Shift { drop_bits, mark_bits, unit } => {
            let unit = Amount::of(unit);
            let attributes = attributes
                .u8(attribute::MEASURE, unit.measure)
                .u8(attribute::FORM, 1)
                .u8(attribute::DROP_BITS, drop_bits)
                .u8(attribute::MARK_BITS, mark_bits)
                .u64(attribute::UNIT, unit.value);
            (attributes, format!("{words} unit {unit} reno_slope {drop_bits} dctcp_slope {mark_bits}"))
        }
    }
}
