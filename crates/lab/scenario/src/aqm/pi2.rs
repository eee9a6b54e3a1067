//! Keys of `pi2`.

use shoal_aqm::{DelayEstimate, Extent, Pi2Config};
use shoal_units::Span;

use super::dualpi2::EcnMask;
use super::{Place, Resolve};
use crate::field::{choices, section};
use crate::quantity::Duration;

section! {
    /// PI2 with the parameters of the sch_pi2 module.
    Pi2 {
        /// Queueing time that the controller aims at.
        #[source = "sch_pi2.c pi2_params_init"]
        target: Duration = "20 ms",
        /// Time between updates of the probability p; the first comes at 0.5 s.
        #[source = "CoNEXT 2016 (32 ms); sch_pi2.c has 30 ms in jiffies, 32 ms at 250 Hz"]
        tupdate: Duration = "32 ms",
        /// Integral gain for p, rounded down to 1/16 Hz; half of it for the root of the drop probability.
        #[source = "sch_pi2.c pi2_params_init (10/16)"]
        #[unit = "Hz"]
        alpha: f64 = 0.625,
        /// Proportional gain for p, rounded down to 1/16 Hz.
        #[source = "sch_pi2.c pi2_params_init (100/16)"]
        #[unit = "Hz"]
        beta: f64 = 6.25,
        /// k: scalable packets are marked with p, others marked or dropped with (p/k)^2.
        #[source = "sch_pi2.c pi2_params_init"]
        #[unit = "1 to 255"]
        coupling: u16 = 2,
        /// Mark ECT packets instead of dropping them.
        #[source = "sch_pi2.c drop_early (ecn = 1)"]
        ecn: bool = true,
        /// With ecn: which packets are scalable.
        #[source = "sch_pi2.c ecn_scal (3)"]
        scalable: EcnMask = "any-ect",
        /// Where the queueing time comes from: the backlog over the measured departure rate, or the wait of the oldest packet.
        #[source = "sch_pi2.c pi2_process_dequeue; RFC 8033 section 5.2"]
        estimate: DelayEstimate = "rate",
    }
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
