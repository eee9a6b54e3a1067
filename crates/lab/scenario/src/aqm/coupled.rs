//! Keys of `coupled`, and of the two coupled probabilities wherever they are used.

use shoal_aqm::{CoupledConfig, CoupledSlope, DecideAt, Extent};
use shoal_units::Span;

use super::{Place, Resolve};
use crate::field::Section;
use crate::quantity::Amount;

/// One queue with coupled probabilities. Either saturation, or the slides' integers: reno_slope.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Coupled {
    /// Queue at which every ECT packet is marked: the probability p rises linearly from the origin up to there. Its
    /// unit says what is measured: a time, or a size. Needed without reno_slope.
    #[key(source = "De Schepper 2015, \"Coupled AQM\" (instantaneous queue, slope from the origin)")]
    pub saturation: Option<Amount>,
    /// k: packets that are not ECT are dropped with (p/k)^2.
    #[key(
        default = 1.63,
        when(saturation),
        unit = "above 0",
        source = "De Schepper 2015, \"Fairness between DCTCP and Reno\": 2 / 1.22"
    )]
    pub coupling: Option<f64>,
    /// S_r, 0 to 31: packets that are not ECT are dropped if the queue in slope_units, shifted left by this, is above
    /// two random numbers of 32 bits. Excludes saturation.
    #[key(unit = "bits", source = "De Schepper 2015, \"Detailed implementation\"")]
    pub reno_slope: Option<u16>,
    /// S_d, 0 to 31: ECT packets are marked if the queue, shifted left by this, is above one random number; k = 2^(S_d
    /// - S_r).
    #[key(
        otherwise = "reno_slope + 1",
        unit = "bits",
        source = "De Schepper 2015, \"Detailed implementation\"; k = 2 is the power of two next to 1.63"
    )]
    pub dctcp_slope: Option<u16>,
    /// What the queue is counted in, with reno_slope.
    #[key(
        default = "1 ns",
        when(reno_slope),
        source = "not stated; nanoseconds as in Linux net/sched/sch_dualpi2.c"
    )]
    pub slope_unit: Option<Amount>,
    /// When the queue is measured: on arrival, or on departure, when a time is the packet's own wait.
    #[key(default = "enqueue", source = "not stated")]
    pub decide: DecideAt,
}

/// Random numbers have 32 bits; a shift by all of them would leave nothing.
const MAX_SHIFT: u16 = 31;

/// The slope as written.
pub(super) struct Slope {
    pub saturation: Option<Amount>,
    pub coupling: Option<f64>,
    pub reno_slope: Option<u16>,
    pub dctcp_slope: Option<u16>,
    pub slope_unit: Option<Amount>,
}

impl Resolve for Coupled {
    type Config = CoupledConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<CoupledConfig> {
        let &Coupled { saturation, coupling, reno_slope, dctcp_slope, slope_unit, decide } = self;
        let slope = law.slope(&Slope { saturation, coupling, reno_slope, dctcp_slope, slope_unit });
        Some(CoupledConfig { slope: slope?, decide, limit })
    }
}

impl Place<'_> {
    pub(super) fn slope(&self, slope: &Slope) -> Option<CoupledSlope> {
        match (slope.saturation, slope.reno_slope) {
            (Some(_), Some(_)) => {
                self.keys.error("reno_slope", "saturation excludes reno_slope", "keep one of them");
                None
            }
            (None, None) => {
                let hint =
                    "as in saturation = \"100 ms\" (natural units) or reno_slope = 3 (the slides' integers)";
                self.keys.refuse("missing saturation, or reno_slope", hint);
                None
            }
            (Some(saturation), None) => self.linear(saturation, slope),
            (None, Some(reno_slope)) => self.shift(reno_slope, slope),
        }
    }

    fn linear(&self, saturation: Amount, slope: &Slope) -> Option<CoupledSlope> {
        for (key, given) in
            [("dctcp_slope", slope.dctcp_slope.is_some()), ("slope_unit", slope.slope_unit.is_some())]
        {
            if given {
                self.keys.error(key, format!("{key} needs reno_slope"), "remove it, or replace saturation");
            }
        }
        let saturation = self.measure(saturation, "saturation", "100 ms");
        let coupling = slope.coupling?;
        // Also refuses what is not a number.
        if !(coupling > 0.0 && coupling <= 1000.0) {
            let hint = "write a number above 0, at most 1000, as in 1.63 (one queue) or 8 (two)";
            self.keys.error("coupling", format!("a coupling factor of {coupling}"), hint);
            return None;
        }
        Some(CoupledSlope::Linear { saturation: saturation?, coupling })
    }

    fn shift(&self, reno_slope: u16, slope: &Slope) -> Option<CoupledSlope> {
        if slope.coupling.is_some() {
            let hint = "the difference of the slopes says it: k = 2^(dctcp_slope - reno_slope)";
            self.keys.error("coupling", "coupling needs saturation", hint);
        }
        let unit = self.measure(slope.slope_unit?, "slope_unit", "1 ns");
        let mark_slope = slope.dctcp_slope?;
        let is_written = self.port.remarks.is_written(&self.keys.at("dctcp_slope"));
        let drop_bits = self.bits(reno_slope, "reno_slope");
        let mark_bits = if is_written {
            self.bits(mark_slope, "dctcp_slope")
        } else {
            self.derived_bits(reno_slope, mark_slope)
        };
        Some(CoupledSlope::Shift { drop_bits: drop_bits?, mark_bits: mark_bits?, unit: unit? })
    }

    /// A shift as it was written.
    fn bits(&self, bits: u16, key: &str) -> Option<u8> {
        if bits > MAX_SHIFT {
            let hint = format!(
                "write a whole number from 0 to {MAX_SHIFT}: it is compared with random numbers of 32 bits"
            );
            self.keys.error(key, format!("{key} = {bits} is out of range"), hint);
            return None;
        }
        u8::try_from(bits).ok()
    }

    /// The shift for ECT packets where only `reno_slope` was written: whoever reads the message knows that key alone.
    fn derived_bits(&self, reno_slope: u16, mark_slope: u16) -> Option<u8> {
        if mark_slope > MAX_SHIFT {
            // What is wrong by itself has been reported.
            if reno_slope <= MAX_SHIFT {
                let most = MAX_SHIFT - (mark_slope - reno_slope);
                let hint =
                    format!("write reno_slope from 0 to {most}, or add dctcp_slope, from 0 to {MAX_SHIFT}");
                let message = format!(
                    "reno_slope = {reno_slope} makes dctcp_slope {mark_slope}, which is out of range"
                );
                self.keys.error("reno_slope", message, hint);
            }
            return None;
        }
        u8::try_from(mark_slope).ok()
    }

    /// A finite queue above zero.
    fn measure(&self, amount: Amount, key: &str, example: &str) -> Option<Extent> {
        let extent = self.extent(amount, key)?;
        if matches!(
            extent,
            Extent::Unlimited | Extent::Packets(0) | Extent::Bytes(0) | Extent::Time(Span::ZERO)
        ) {
            let hint = format!("write an amount above zero, as in \"{example}\"");
            self.keys.error(key, format!("`{amount}` does not make a slope"), hint);
            return None;
        }
        Some(extent)
    }
}
