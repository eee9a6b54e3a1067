//! DualPI2 and PI2.

use shoal_aqm::{DecideAt, DelayEstimate, Tossing};

use super::SchedulerName;
use crate::field::{choices, section};
use crate::quantity::{Amount, Duration, Size};

section! {
    /// DualPI2 with the parameters of `tc qdisc add ... dualpi2`; native, marking and other schedulers as in RFC 9332.
    DualPi2 {
        /// Hard limit of both queues together. Default: the link's buffer.
        limit: Option<Amount>,
        /// Bytes of both queues together that fit, besides.
        memory_limit: Size = "unlimited",
        /// Queueing time that the controller aims at.
        target: Duration = "15 ms",
        /// Time between updates of the probability.
        tupdate: Duration = "16 ms",
        /// Integral gain in Hz, rounded down to 1/256 as by tc.
        alpha: f64 = 0.16015625,
        /// Proportional gain in Hz, rounded down to 1/256 as by tc.
        beta: f64 = 3.19921875,
        /// k: low-latency packets are marked with k p', classic ones dropped with p'^2. 1 to 255.
        coupling: u16 = 2,
        /// Which packets are low-latency. As Linux does by default, ECT(1) and CE ("l4s-ect"), so that DCTCP, which sends ECT(0), is
        /// classic; or all ECT and CE ("any-ect"); or ECT(0) and CE ("classic-ect").
        ecn_mask: EcnMask = "l4s-ect",
        /// Own law of the low-latency queue: a step (Linux) or a ramp (RFC 9332).
        native: NativeName = "step",
        /// With native = "step": packets that waited longer, or leave more packets behind, are marked. Default: 1 ms.
        step_threshold: Option<Amount>,
        /// With native = "step": only packets that found so many low-latency packets on arrival. Default: 0.
        min_qlen_step: Option<u32>,
        /// With native = "ramp": up to this wait nothing is marked. Default: 800 us.
        ramp_min: Option<Duration>,
        /// With native = "ramp": this much later everything is. Default: 400 us.
        ramp_range: Option<Duration>,
        /// With native = "ramp": nothing is marked while not more low-latency packets than this wait, the leaving one included.
        /// Default: 1.
        ramp_packets: Option<u32>,
        /// How probabilities become decisions: by random numbers (Linux), or by adding them up (recur, RFC 9332).
        marking: Tossing = "random",
        /// What happens once k p' exceeds 1: low-latency packets are dropped like classic ones, or the buffer overflows.
        overload: Overload = "drop",
        /// When the probability is applied.
        decide: DecideAt = "dequeue",
        /// Below this backlog it is not applied. Default: two of the largest packets.
        min_backlog: Option<Size>,
        /// Which queue sends when both have packets: by shares of the bytes (weighted), low-latency first (priority), or the longer
        /// wait with a head start for low-latency packets (time-shifted).
        scheduler: SchedulerName = "weighted",
        /// Share of the classic queue in percent, with scheduler = "weighted". Default: 10.
        classic_percent: Option<u16>,
        /// Head start of low-latency packets, with scheduler = "time-shifted". Default: 40 ms.
        shift: Option<Duration>,
    }
}

section! {
    /// PI2 with the parameters of the sch_pi2 module.
    Pi2 {
        /// Queueing time that the controller aims at.
        target: Duration = "20 ms",
        /// Time between updates of the probability p.
        tupdate: Duration = "32 ms",
        /// Integral gain for p in Hz, rounded down to 1/16.
        alpha: f64 = 0.625,
        /// Proportional gain for p in Hz, rounded down to 1/16.
        beta: f64 = 6.25,
        /// k: scalable packets are marked with p, others marked or dropped with (p/k)^2. 1 to 255.
        coupling: u16 = 2,
        /// Mark ECT packets instead of dropping them.
        ecn: bool = true,
        /// With ecn: which packets are scalable.
        scalable: EcnMask = "any-ect",
        /// Where the queueing time comes from: the backlog over the measured departure rate, or the wait of the oldest packet.
        estimate: DelayEstimate = "rate",
    }
}

/// Bits of the ECN field that make a packet low-latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnMask {
    /// ECT(1) and CE.
    L4sEct,
    /// ECT(0) and CE.
    ClassicEct,
    /// Any.
    AnyEct,
}

impl EcnMask {
    /// As bits.
    pub const fn bits(self) -> u8 {
        match self {
            Self::L4sEct => 0b01,
            Self::ClassicEct => 0b10,
            Self::AnyEct => 0b11,
        }
    }
}

/// Own laws of the low-latency queue by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeName {
    /// A threshold.
    Step,
    /// A linear slope.
    Ramp,
}

/// What happens on overload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overload {
    /// Low-latency packets are dropped, too.
    Drop,
    /// The buffer overflows.
    Overflow,
}

choices!(EcnMask {
    "any-ect" => Self::AnyEct,
    "l4s-ect" => Self::L4sEct,
    "classic-ect" => Self::ClassicEct,
});
choices!(DelayEstimate { "rate" => Self::Rate, "sojourn" => Self::Sojourn, });
choices!(NativeName { "step" => Self::Step, "ramp" => Self::Ramp, });
choices!(Overload { "drop" => Self::Drop, "overflow" => Self::Overflow, });
choices!(Tossing { "random" => Self::Random, "recur" => Self::Recur, });
