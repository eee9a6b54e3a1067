//! DualPI2 ([RFC 9332](https://www.rfc-editor.org/rfc/rfc9332)) and PI2 (De Schepper et al. 2016).

use shoal_aqm::{DecideAt, DelayEstimate, Tossing};

use super::SchedulerName;
use crate::field::{choices, section};
use crate::quantity::{Amount, Duration, Size};

section! {
    /// DualPI2 with the parameters of `tc qdisc add ... dualpi2`; native, marking and other schedulers as in RFC 9332.
    DualPi2 {
        /// Hard limit of both queues together; tc's default is 10000 packets.
        #[source = "sch_dualpi2.c dualpi2_reset_default"]
        #[otherwise = "the link's buffer"]
        limit: Option<Amount>,
        /// Bytes of both queues together that fit, besides; tc's default never binds before limit.
        #[source = "sch_dualpi2.c get_memory_limit"]
        memory_limit: Size = "unlimited",
        /// Queueing time that the controller aims at, in whole microseconds.
        #[source = "sch_dualpi2.c; RFC 9332 appendix A.1"]
        target: Duration = "15 ms",
        /// Time between updates of the probability p', in whole microseconds.
        #[source = "sch_dualpi2.c; RFC 9332 appendix A.1 (15 ms)"]
        tupdate: Duration = "16 ms",
        /// Integral gain, rounded down to 1/256 Hz as by tc.
        #[source = "sch_dualpi2.c (41/256); iproute2 q_dualpi2.c parse_alpha_beta; RFC 9332 appendix A.1 (0.15)"]
        #[unit = "Hz"]
        alpha: f64 = 0.16015625,
        /// Proportional gain, rounded down to 1/256 Hz as by tc.
        #[source = "sch_dualpi2.c (819/256); RFC 9332 appendix A.1 (3)"]
        #[unit = "Hz"]
        beta: f64 = 3.19921875,
        /// k: low-latency packets are marked with k p', classic ones dropped with p'^2. 2 gives equal windows, not equal rates.
        #[source = "sch_dualpi2.c; RFC 9332 section 2.1"]
        #[unit = "1 to 255"]
        coupling: u16 = 2,
        /// Which packets are low-latency. As Linux does by default, ECT(1) and CE ("l4s-ect", mask 1), so that DCTCP, which sends
        /// ECT(0), is classic; or all ECT and CE ("any-ect", mask 3); or ECT(0) and CE ("classic-ect", mask 2).
        #[source = "sch_dualpi2.c dualpi2_skb_classify"]
        ecn_mask: EcnMask = "l4s-ect",
        /// Own law of the low-latency queue: a step (Linux) or a ramp (RFC 9332).
        #[source = "sch_dualpi2.c do_step_aqm; RFC 9332 appendix A.1 laqm"]
        native: NativeName = "step",
        /// With native = "step": a packet that waited longer, or leaves more packets behind, is marked.
        #[source = "sch_dualpi2.c do_step_aqm"]
        #[unit = "time | packets | unlimited"]
        step_threshold: Option<Amount> = "1 ms" if native = "step",
        /// With native = "step": only packets that found so many low-latency packets on arrival.
        #[source = "sch_dualpi2.c skb_apply_step"]
        #[unit = "packets"]
        min_qlen_step: Option<u32> = 0 if native = "step",
        /// With native = "ramp": up to this wait nothing is marked.
        #[source = "RFC 9332 appendix A.1 minTh"]
        ramp_min: Option<Duration> = "800 us" if native = "ramp",
        /// With native = "ramp": this much later everything is.
        #[source = "RFC 9332 appendix A.1 range"]
        ramp_range: Option<Duration> = "400 us" if native = "ramp",
        /// With native = "ramp": nothing is marked while not more low-latency packets than this wait, the leaving one included.
        #[source = "RFC 9332 appendix A.1 Th_len"]
        #[unit = "packets"]
        ramp_packets: Option<u32> = 1 if native = "ramp",
        /// How probabilities become decisions: by random numbers (Linux), or by adding them up until the sum exceeds one (recur).
        #[source = "sch_dualpi2.c dualpi2_roll; RFC 9332 appendix A.1 recur"]
        marking: Tossing = "random",
        /// What happens once k p' exceeds 1: low-latency packets are dropped with p'^2 like classic ones (drop); or the probability
        /// stops at 1/k and the buffer fills (overflow).
        #[source = "sch_dualpi2.c dualpi2_scalable_marking, calculate_probability"]
        overload: Overload = "drop",
        /// When the probability is applied; the native law always looks at departure.
        #[source = "sch_dualpi2.c drop_early"]
        decide: DecideAt = "dequeue",
        /// Below this backlog, the packet not counted, the probability is not applied.
        #[source = "sch_dualpi2.c must_drop"]
        #[otherwise = "two of the largest packets"]
        min_backlog: Option<Size>,
        /// Which queue sends when both have packets: by shares of the bytes (weighted), low-latency first (priority), or the longer
        /// wait with a head start for low-latency packets (time-shifted).
        #[source = "sch_dualpi2.c dequeue_packet; RFC 9332 section 4.2.2"]
        scheduler: SchedulerName = "weighted",
        /// Share of the classic queue in bytes, with scheduler = "weighted" (classic_protection of tc).
        #[source = "sch_dualpi2.c dualpi2_calculate_c_protection"]
        #[unit = "percent"]
        classic_percent: Option<u16> = 10 if scheduler = "weighted",
        /// Head start of low-latency packets, with scheduler = "time-shifted".
        #[source = "sch_pi2 module (De Schepper and Bondarenko 2016), tshift"]
        shift: Option<Duration> = "40 ms" if scheduler = "time-shifted",
    }
}

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
