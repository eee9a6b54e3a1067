//! Keys of `pi2`.

use shoal_aqm::{DelayEstimate, Extent, Pi2Config};
use shoal_units::Span;

use super::dualpi2::EcnMask;
use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::Duration;

/// PI2 with the parameters of the sch_pi2 module.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Pi2 {
    /// Queueing time that the controller aims at.
    #[key(default = "20 ms", source = "sch_pi2.c pi2_params_init")]
    pub target: Duration,
    /// Time between updates of the probability p; the first comes at 0.5 s.
    #[key(
        default = "32 ms",
        source = "CoNEXT 2016 (32 ms); sch_pi2.c has 30 ms in jiffies, 32 ms at 250 Hz"
    )]
    pub tupdate: Duration,
    /// Integral gain for p, rounded down to 1/16 Hz; half of it for the root of the drop probability.
    #[key(default = 0.625, unit = "Hz", source = "sch_pi2.c pi2_params_init (10/16)")]
    pub alpha: f64,
    /// Proportional gain for p, rounded down to 1/16 Hz.
    #[key(default = 6.25, unit = "Hz", source = "sch_pi2.c pi2_params_init (100/16)")]
    pub beta: f64,
    /// k: scalable packets are marked with p, others marked or dropped with (p/k)^2.
    #[key(default = 2, unit = "1 to 255", source = "sch_pi2.c pi2_params_init")]
    pub coupling: u16,
    /// Mark ECT packets instead of dropping them.
    #[key(default = true, source = "sch_pi2.c drop_early (ecn = 1)")]
    pub ecn: bool,
    /// With ecn: which packets are scalable.
    #[key(default = "any-ect", source = "sch_pi2.c ecn_scal (3)")]
    pub scalable: EcnMask,
    /// Where the queueing time comes from: the backlog over the measured departure rate, or the wait of the oldest
    /// packet.
    #[key(default = "rate", source = "sch_pi2.c pi2_process_dequeue; RFC 8033 section 5.2")]
    pub estimate: DelayEstimate,
}

choices!(DelayEstimate { "rate" => Self::Rate, "sojourn" => Self::Sojourn, });

impl Resolve for Pi2 {
    type Config = Pi2Config;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<Pi2Config> {
        let gains = (law.gain(self.alpha, 16, "alpha"), law.gain(self.beta, 16, "beta"));
        let coupling = law.coupling(self.coupling);
        let target = law.micros(self.target, "target", Span::ZERO);
        let tupdate = law.micros(self.tupdate, "tupdate", Span::from_micros(1));
        Some(Pi2Config {
            target: target?,
            tupdate: tupdate?,
            alpha_16th_hz: gains.0?,
            beta_16th_hz: gains.1?,
            coupling: coupling?.into(),
            ecn: self.ecn,
            scalable_mask: self.scalable.bits(),
            estimate: self.estimate,
            mtu: law.port.mtu,
            limit,
        })
    }
}
