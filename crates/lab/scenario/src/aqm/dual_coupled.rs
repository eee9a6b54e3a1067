//! Keys of `dualq-coupled`.

use shoal_aqm::{CouplingInput, DecideAt, DualCoupledConfig, Extent};

use super::coupled::Slope;
use super::protection::Protection;
use super::scheduler::SchedulerName;
use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::{Amount, Duration};

/// Two queues with coupled probabilities. Either saturation, or the slides' integers: reno_slope.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct DualCoupled {
    /// Queue at which every ECT packet is marked: the probability p rises linearly from the origin up to this size of
    /// the classic queue. Its unit says what is measured: a time, or a size. Needed without reno_slope.
    #[key(source = "De Schepper 2015, \"Coupled AQM\" (instantaneous queue, slope from the origin)")]
    pub saturation: Option<Amount>,
    /// k: packets that are not ECT are dropped with (p/k)^2.
    #[key(
        default = 8.0,
        when(saturation),
        unit = "above 0",
        source = "De Schepper 2015, \"Dual queue - low latency\": 1.63 for equal round-trip times, times 5 for 8 ms \
                  against 40 ms"
    )]
    pub coupling: Option<f64>,
    /// S_r, 0 to 31: packets that are not ECT are dropped if the classic queue in slope_units, shifted left by this, is
    /// above two random numbers of 32 bits. Excludes saturation.
    #[key(unit = "bits", source = "De Schepper 2015, \"Detailed implementation\"")]
    pub reno_slope: Option<u16>,
    /// S_d, 0 to 31: ECT packets are marked if the classic queue, shifted left by this, is above one random number; k =
    /// 2^(S_d - S_r).
    #[key(
        otherwise = "reno_slope + 3",
        unit = "bits",
        source = "De Schepper 2015, \"Detailed implementation\": S_d = S_r + 3"
    )]
    pub dctcp_slope: Option<u16>,
    /// What the queue is counted in, with reno_slope.
    #[key(
        default = "1 ns",
        when(reno_slope),
        source = "not stated; nanoseconds as in Linux net/sched/sch_dualpi2.c"
    )]
    pub slope_unit: Option<Amount>,
    /// T: an ECT packet is marked if more than this waits in its own queue, itself included.
    #[key(
        default = "5 packets",
        source = "De Schepper 2015, \"Detailed implementation\"; the value from the axis of \"AQM configuration\""
    )]
    pub threshold: Amount,
    /// Which queue drives the probabilities: the classic one, or both (sizes added, the longer of the times).
    #[key(
        default = "classic",
        source = "De Schepper 2015, \"Detailed implementation\" (Q_r); RFC 9332 appendix A (total)"
    )]
    pub input: CouplingInput,
    /// When decisions are taken; on departure a time is the packet's own wait, for the other queue that of its oldest
    /// packet.
    #[key(
        default = "dequeue",
        source = "not stated; RFC 9332 section 2.5.1 and appendix A decide at dequeue"
    )]
    pub decide: DecideAt,
    /// Which queue sends when both have packets: ECT first (priority), by shares of the bytes (weighted), or the longer
    /// wait with a head start for ECT (time-shifted).
    #[key(
        default = "priority",
        source = "De Schepper 2015: strict priority with queue time, 90/10 round robin with queue size; RFC 9332 \
                  section 4.2.2"
    )]
    pub scheduler: SchedulerName,
    /// Share of the classic queue in bytes, with scheduler = "weighted".
    #[key(
        default = 10,
        when(scheduler = "weighted"),
        unit = "percent",
        source = "De Schepper 2015, \"Queue size based coupled AQM\""
    )]
    pub classic_percent: Option<u16>,
    /// Head start of ECT packets, with scheduler = "time-shifted".
    #[key(
        default = "40 ms",
        when(scheduler = "time-shifted"),
        source = "sch_pi2 module (De Schepper and Bondarenko 2016), tshift"
    )]
    pub shift: Option<Duration>,
    /// Queue protection in front of the low-latency queue; {} for the parameters of the RFC.
    #[key(otherwise = "none", source = "RFC 9957")]
    pub protection: Option<Protection>,
}

choices!(CouplingInput { "classic" => Self::Classic, "total" => Self::Total, });

impl Resolve for DualCoupled {
    type Config = DualCoupledConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<DualCoupledConfig> {
        let &DualCoupled { saturation, coupling, reno_slope, dctcp_slope, slope_unit, .. } = self;
        let slope = law.slope(&Slope { saturation, coupling, reno_slope, dctcp_slope, slope_unit });
        law.within_buffer(self.threshold, "threshold", law.port.mtu);
        let threshold = law.extent(self.threshold, "threshold");
        let scheduler = law.scheduler(self.scheduler, self.classic_percent, self.shift);
        let protection = match &self.protection {
            Some(keys) => law.protection(keys).map(Some),
            None => Some(None),
        };
        Some(DualCoupledConfig {
            slope: slope?,
            input: self.input,
            threshold: threshold?,
            decide: self.decide,
            scheduler: scheduler?,
            mtu: law.port.mtu,
            protection: protection?,
            limit,
        })
    }
}
