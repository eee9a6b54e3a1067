//! Coupled marking and dropping.

use shoal_aqm::{CoupledConfig, CoupledSlope, DualCoupledConfig, Extent, QueueConfig, SchedulerConfig};
use shoal_units::Span;

use super::{Context, Law};
use crate::quantity::{Amount, Duration};
use crate::schema::{Coupled, DualCoupled, SchedulerName};

/// Random numbers have 32 bits; a shift by all of them would leave nothing.
const MAX_SHIFT: u16 = 31;

/// The slope as written.
struct Slope {
    saturation: Option<Amount>,
    coupling: Option<f64>,
    reno_slope: Option<u16>,
    dctcp_slope: Option<u16>,
    slope_unit: Option<Amount>,
}

impl Law<'_> {
    pub(super) fn coupled(
        &self,
        coupled: &Coupled,
        limit: Extent,
        cx: &mut Context<'_>,
    ) -> Option<QueueConfig> {
        let &Coupled { saturation, coupling, reno_slope, dctcp_slope, slope_unit, decide } = coupled;
        let slope = self.slope(&Slope { saturation, coupling, reno_slope, dctcp_slope, slope_unit }, cx);
        Some(QueueConfig::Coupled(CoupledConfig { slope: slope?, decide, limit }))
    }

    pub(super) fn dual_coupled(
        &self,
        dual: &DualCoupled,
        limit: Extent,
        cx: &mut Context<'_>,
    ) -> Option<QueueConfig> {
        let &DualCoupled { saturation, coupling, reno_slope, dctcp_slope, slope_unit, .. } = dual;
        let slope = self.slope(&Slope { saturation, coupling, reno_slope, dctcp_slope, slope_unit }, cx);
        self.within_buffer(dual.threshold, "threshold", self.port.mtu, cx);
        let threshold = self.port.extent(dual.threshold, &self.at("threshold"), cx);
        let scheduler = self.scheduler(dual.scheduler, dual.classic_percent, dual.shift, cx);
        Some(QueueConfig::DualCoupled(DualCoupledConfig {
            slope: slope?,
            input: dual.input,
            threshold: threshold?,
            decide: dual.decide,
            scheduler: scheduler?,
            mtu: self.port.mtu,
            limit,
        }))
    }

    fn slope(&self, slope: &Slope, cx: &mut Context<'_>) -> Option<CoupledSlope> {
        match (slope.saturation, slope.reno_slope) {
            (Some(_), Some(_)) => {
                cx.error(&self.at("reno_slope"), "saturation excludes reno_slope", "keep one of them");
                None
            }
            (None, None) => {
                let hint =
                    "as in saturation = \"100 ms\" (natural units) or reno_slope = 3 (the slides' integers)";
                cx.error(self.port.aqm_path, "missing saturation, or reno_slope", hint);
                None
            }
            (Some(saturation), None) => self.linear(saturation, slope, cx),
            (None, Some(reno_slope)) => self.shift(reno_slope, slope, cx),
        }
    }

    fn linear(&self, saturation: Amount, slope: &Slope, cx: &mut Context<'_>) -> Option<CoupledSlope> {
        for (key, given) in
            [("dctcp_slope", slope.dctcp_slope.is_some()), ("slope_unit", slope.slope_unit.is_some())]
        {
            if given {
                cx.error(
                    &self.at(key),
                    format!("{key} needs reno_slope"),
                    "remove it, or replace saturation",
                );
            }
        }
        let saturation = self.measure(saturation, "saturation", "100 ms", cx);
        let coupling = slope.coupling?;
        // Also refuses what is not a number.
        if !(coupling > 0.0 && coupling <= 1000.0) {
            let hint = "write a number above 0, at most 1000, as in 1.63 (one queue) or 8 (two)";
            cx.error(&self.at("coupling"), format!("a coupling factor of {coupling}"), hint);
            return None;
        }
        Some(CoupledSlope::Linear { saturation: saturation?, coupling })
    }

    fn shift(&self, reno_slope: u16, slope: &Slope, cx: &mut Context<'_>) -> Option<CoupledSlope> {
        if slope.coupling.is_some() {
            let hint = "the difference of the slopes says it: k = 2^(dctcp_slope - reno_slope)";
            cx.error(&self.at("coupling"), "coupling needs saturation", hint);
        }
        let unit = self.measure(slope.slope_unit?, "slope_unit", "1 ns", cx);
        let mark_slope = slope.dctcp_slope?;
        let is_written = cx.tree.find(&self.at("dctcp_slope")).is_some();
        let drop_bits = self.bits(reno_slope, "reno_slope", cx);
        let mark_bits = if is_written {
            self.bits(mark_slope, "dctcp_slope", cx)
        } else {
            self.derived_bits(reno_slope, mark_slope, cx)
        };
        Some(CoupledSlope::Shift { drop_bits: drop_bits?, mark_bits: mark_bits?, unit: unit? })
    }

    /// A shift as it was written.
    fn bits(&self, bits: u16, key: &str, cx: &mut Context<'_>) -> Option<u8> {
        if bits > MAX_SHIFT {
            let hint = format!(
                "write a whole number from 0 to {MAX_SHIFT}: it is compared with random numbers of 32 bits"
            );
            cx.error(&self.at(key), format!("{key} = {bits} is out of range"), hint);
            return None;
        }
        u8::try_from(bits).ok()
    }

    /// The shift for ECT packets where only `reno_slope` was written: whoever reads the message knows that key alone.
    fn derived_bits(&self, reno_slope: u16, mark_slope: u16, cx: &mut Context<'_>) -> Option<u8> {
        if mark_slope > MAX_SHIFT {
            // What is wrong by itself has been reported.
            if reno_slope <= MAX_SHIFT {
                let most = MAX_SHIFT - (mark_slope - reno_slope);
                let hint =
                    format!("write reno_slope from 0 to {most}, or add dctcp_slope, from 0 to {MAX_SHIFT}");
                let message = format!(
                    "reno_slope = {reno_slope} makes dctcp_slope {mark_slope}, which is out of range"
                );
                cx.error(&self.at("reno_slope"), message, hint);
            }
            return None;
        }
        u8::try_from(mark_slope).ok()
    }

    /// A finite queue above zero.
    fn measure(&self, amount: Amount, key: &str, example: &str, cx: &mut Context<'_>) -> Option<Extent> {
        let extent = self.port.extent(amount, &self.at(key), cx)?;
        if matches!(
            extent,
            Extent::Unlimited | Extent::Packets(0) | Extent::Bytes(0) | Extent::Time(Span::ZERO)
        ) {
            let hint = format!("write an amount above zero, as in \"{example}\"");
            cx.error(&self.at(key), format!("`{amount}` does not make a slope"), hint);
            return None;
        }
        Some(extent)
    }

    pub(super) fn scheduler(
        &self,
        name: SchedulerName,
        classic_percent: Option<u16>,
        shift: Option<Duration>,
        cx: &mut Context<'_>,
    ) -> Option<SchedulerConfig> {
        let foreign = [
            ("classic_percent", classic_percent.is_some(), SchedulerName::Weighted, "weighted"),
            ("shift", shift.is_some(), SchedulerName::TimeShifted, "time-shifted"),
        ];
        for (key, given, owner, owner_name) in foreign {
            if given && name != owner {
                let message = format!("{key} needs scheduler = \"{owner_name}\"");
                cx.error(&self.at(key), message, "remove it, or change the scheduler");
            }
        }
        match name {
            SchedulerName::Priority => Some(SchedulerConfig::StrictPriority),
            SchedulerName::TimeShifted => Some(SchedulerConfig::TimeShifted { shift: shift?.span() }),
            SchedulerName::Weighted => {
                let percent = classic_percent?;
                if percent > 100 {
                    let hint = "write a whole number from 0 to 100, as in 10";
                    cx.error(&self.at("classic_percent"), format!("a share of {percent} %"), hint);
                    return None;
                }
                Some(SchedulerConfig::Weighted { classic_percent: u8::try_from(percent).ok()? })
            }
        }
    }
}
