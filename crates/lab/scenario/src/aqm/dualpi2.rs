//! Keys of `dualpi2` ([RFC 9332](https://www.rfc-editor.org/rfc/rfc9332)).

use shoal_aqm::{DecideAt, DualPi2Config, Extent, NativeMarking, Tossing};
use shoal_units::Span;

use super::scheduler::SchedulerName;
use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::{Amount, Dimension, Duration, Size};

/// DualPI2 with the parameters of `tc qdisc add ... dualpi2`; native, marking and other schedulers as in RFC 9332.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct DualPi2 {
    /// Hard limit of both queues together; tc's default is 10000 packets.
    #[key(otherwise = "the link's buffer", source = "sch_dualpi2.c dualpi2_reset_default")]
    pub limit: Option<Amount>,
    /// Bytes of both queues together that fit, besides; tc's default never binds before limit.
    #[key(default = "unlimited", source = "sch_dualpi2.c get_memory_limit")]
    pub memory_limit: Size,
    /// Queueing time that the controller aims at, in whole microseconds.
    #[key(default = "15 ms", source = "sch_dualpi2.c; RFC 9332 appendix A.1")]
    pub target: Duration,
    /// Time between updates of the probability p', in whole microseconds.
    #[key(default = "16 ms", source = "sch_dualpi2.c; RFC 9332 appendix A.1 (15 ms)")]
    pub tupdate: Duration,
    /// Integral gain, rounded down to 1/256 Hz as by tc.
    #[key(
        default = 0.16015625,
        unit = "Hz",
        source = "sch_dualpi2.c (41/256); iproute2 q_dualpi2.c parse_alpha_beta; RFC 9332 appendix A.1 (0.15)"
    )]
    pub alpha: f64,
    /// Proportional gain, rounded down to 1/256 Hz as by tc.
    #[key(default = 3.19921875, unit = "Hz", source = "sch_dualpi2.c (819/256); RFC 9332 appendix A.1 (3)")]
    pub beta: f64,
    /// k: low-latency packets are marked with k p', classic ones dropped with p'^2. 2 gives equal windows, not equal
    /// rates.
    #[key(default = 2, unit = "1 to 255", source = "sch_dualpi2.c; RFC 9332 section 2.1")]
    pub coupling: u16,
    /// Which packets are low-latency. As Linux does by default, ECT(1) and CE ("l4s-ect", mask 1), so that DCTCP, which
    /// sends ECT(0), is classic; or all ECT and CE ("any-ect", mask 3); or ECT(0) and CE ("classic-ect", mask 2).
    #[key(default = "l4s-ect", source = "sch_dualpi2.c dualpi2_skb_classify")]
    pub ecn_mask: EcnMask,
    /// Own law of the low-latency queue: a step (Linux) or a ramp (RFC 9332).
    #[key(default = "step", source = "sch_dualpi2.c do_step_aqm; RFC 9332 appendix A.1 laqm")]
    pub native: NativeName,
    /// With native = "step": a packet that waited longer, or leaves more packets behind, is marked.
    #[key(
        default = "1 ms",
        when(native = "step"),
        unit = "time | packets | unlimited",
        source = "sch_dualpi2.c do_step_aqm"
    )]
    pub step_threshold: Option<Amount>,
    /// With native = "step": only packets that found so many low-latency packets on arrival.
    #[key(default = 0, when(native = "step"), unit = "packets", source = "sch_dualpi2.c skb_apply_step")]
    pub min_qlen_step: Option<u32>,
    /// With native = "ramp": up to this wait nothing is marked.
    #[key(default = "800 us", when(native = "ramp"), source = "RFC 9332 appendix A.1 minTh")]
    pub ramp_min: Option<Duration>,
    /// With native = "ramp": this much later everything is.
    #[key(default = "400 us", when(native = "ramp"), source = "RFC 9332 appendix A.1 range")]
    pub ramp_range: Option<Duration>,
    /// With native = "ramp": nothing is marked while not more low-latency packets than this wait, the leaving one
    /// included.
    #[key(default = 1, when(native = "ramp"), unit = "packets", source = "RFC 9332 appendix A.1 Th_len")]
    pub ramp_packets: Option<u32>,
    /// How probabilities become decisions: by random numbers (Linux), or by adding them up until the sum exceeds one
    /// (recur).
    #[key(default = "random", source = "sch_dualpi2.c dualpi2_roll; RFC 9332 appendix A.1 recur")]
    pub marking: Tossing,
    /// What happens once k p' exceeds 1: low-latency packets are dropped with p'^2 like classic ones (drop); or the
    /// probability stops at 1/k and the buffer fills (overflow).
    #[key(default = "drop", source = "sch_dualpi2.c dualpi2_scalable_marking, calculate_probability")]
    pub overload: Overload,
    /// When the probability is applied; the native law always looks at departure.
    #[key(default = "dequeue", source = "sch_dualpi2.c drop_early")]
    pub decide: DecideAt,
    /// Below this backlog, the packet not counted, the probability is not applied.
    #[key(otherwise = "two of the largest packets", source = "sch_dualpi2.c must_drop")]
    pub min_backlog: Option<Size>,
    /// Which queue sends when both have packets: by shares of the bytes (weighted), low-latency first (priority), or
    /// the longer wait with a head start for low-latency packets (time-shifted).
    #[key(default = "weighted", source = "sch_dualpi2.c dequeue_packet; RFC 9332 section 4.2.2")]
    pub scheduler: SchedulerName,
    /// Share of the classic queue in bytes, with scheduler = "weighted" (classic_protection of tc).
    #[key(
        default = 10,
        when(scheduler = "weighted"),
        unit = "percent",
        source = "sch_dualpi2.c dualpi2_calculate_c_protection"
    )]
    pub classic_percent: Option<u16>,
    /// Head start of low-latency packets, with scheduler = "time-shifted".
    #[key(
        default = "40 ms",
        when(scheduler = "time-shifted"),
        source = "sch_pi2 module (De Schepper and Bondarenko 2016), tshift"
    )]
    pub shift: Option<Duration>,
}

/// Bits of the ECN field that make a packet low-latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnMask {
    /// ECT(1) and CE.
    L4s,
    /// ECT(0) and CE.
    Classic,
    /// Any.
    All,
}

impl EcnMask {
    /// As bits.
    pub const fn bits(self) -> u8 {
        match self {
            Self::L4s => 0b01,
            Self::Classic => 0b10,
            Self::All => 0b11,
        }
    }
}

choices!(EcnMask {
    "any-ect" => Self::All,
    "l4s-ect" => Self::L4s,
    "classic-ect" => Self::Classic,
});

/// Own laws of the low-latency queue by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeName {
    /// A threshold.
    Step,
    /// A linear slope.
    Ramp,
}

choices!(NativeName { "step" => Self::Step, "ramp" => Self::Ramp, });

/// What happens on overload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overload {
    /// Low-latency packets are dropped, too.
    Drop,
    /// The buffer overflows.
    Overflow,
}

choices!(Overload { "drop" => Self::Drop, "overflow" => Self::Overflow, });

choices!(Tossing { "random" => Self::Random, "recur" => Self::Recur, });

/// Part of a gain by which the one that acts differs where it is noted.
const NOTED: f64 = 0.01;

impl Resolve for DualPi2 {
    type Config = DualPi2Config;

    fn resolve(&self, law: &Place<'_>, buffer: Extent) -> Option<DualPi2Config> {
        let limit = match self.limit {
            Some(limit) => law.extent(limit, "limit"),
            None => Some(buffer),
        };
        let gains = (law.gain(self.alpha, 256, "alpha"), law.gain(self.beta, 256, "beta"));
        for (key, hertz, gain) in [("alpha", self.alpha, gains.0), ("beta", self.beta, gains.1)] {
            law.acting_gain(key, hertz, gain);
        }
        let coupling = law.coupling(self.coupling);
        let target = law.micros(self.target, "target", Span::ZERO);
        let tupdate = law.micros(self.tupdate, "tupdate", Span::from_micros(1));
        let native = law.native(self);
        let scheduler = law.scheduler(self.scheduler, self.classic_percent, self.shift);
        Some(DualPi2Config {
            target: target?,
            tupdate: tupdate?,
            alpha_256th_hz: gains.0?,
            beta_256th_hz: gains.1?,
            coupling: coupling?,
            native: native?,
            tossing: self.marking,
            ecn_mask: self.ecn_mask.bits(),
            scheduler: scheduler?,
            drop_on_overload: self.overload == Overload::Drop,
            decide: self.decide,
            min_backlog_bytes: match self.min_backlog {
                Some(size) => size.bytes().unwrap_or(u64::MAX),
                // psched_mtu: two packets of the link's MTU.
                None => 2 * u64::from(law.port.mtu),
            },
            memory_limit_bytes: self.memory_limit.bytes().unwrap_or(u64::MAX),
            limit: limit?,
            mtu: law.port.mtu,
        })
    }
}

impl Place<'_> {
    pub(super) fn coupling(&self, k: u16) -> Option<u8> {
        let coupling = u8::try_from(k).ok().filter(|&k| k > 0);
        if coupling.is_none() {
            let hint = "write a whole number from 1 to 255, as in 2";
            self.keys.error("coupling", format!("a coupling factor of {k}"), hint);
        }
        coupling
    }

    /// In parts of a hertz, rounded down; 31 bits as `ALPHA_BETA_MAX` of
    /// [`sch_dualpi2.c`](https://elixir.bootlin.com/linux/v6.17/source/net/sched/sch_dualpi2.c).
    pub(super) fn gain(&self, hertz: f64, parts: u16, key: &str) -> Option<u32> {
        let parts = f64::from(parts);
        let scaled = hertz * parts;
        if !(0.0..2_147_483_648.0).contains(&scaled) {
            let hint = format!("write a number from 0 to {}, as in 0.16", (2_147_483_647.0 / parts).floor());
            self.keys.error(key, format!("a gain of {hertz} Hz"), hint);
            return None;
        }
        if hertz > 0.0 && scaled < 1.0 {
            let hint = format!("write at least {}", 1.0 / parts);
            self.keys.warning(key, format!("a gain of {hertz} Hz counts as 0"), hint);
        }
        Some(scaled as u32)
    }

    /// Notes a gain that acts as another one.
    fn acting_gain(&self, key: &str, hertz: f64, gain_256th_hz: Option<u32>) {
        let Some(acting) = gain_256th_hz.map(DualPi2Config::acting_gain_hz).filter(|acting| *acting > 0.0)
        else {
            return;
        };
        if (acting / hertz - 1.0).abs() > NOTED {
            let text = format!(
                "{key} = {hertz} Hz of dualpi2 acts as {acting:.4} Hz: tc rounds it down to 1/256 Hz, and the kernel \
                 to its own unit of about 1/275 Hz"
            );
            let hint =
                "this is what Linux does with this number; write a slightly larger one for more".to_owned();
            self.keys.effect(key, "rounded-gain", text, hint);
        }
    }

    /// Whole microseconds in 32 bits of nanoseconds, as tc hands them over.
    pub(super) fn micros(&self, time: Duration, key: &str, least: Span) -> Option<Span> {
        let span = time.span();
        if span < least || span > Span::from_secs(4) || !span.as_picos().is_multiple_of(1_000_000) {
            let hint =
                format!("write whole microseconds from {} us to 4 s, as in \"16 ms\"", least.as_micros());
            self.keys.error(key, format!("a {key} of {time}"), hint);
            return None;
        }
        Some(span)
    }

    fn native(&self, law: &DualPi2) -> Option<NativeMarking> {
        let foreign: &[(&str, bool)] = match law.native {
            NativeName::Step => &[
                ("ramp_min", law.ramp_min.is_some()),
                ("ramp_range", law.ramp_range.is_some()),
                ("ramp_packets", law.ramp_packets.is_some()),
            ],
            NativeName::Ramp => &[
                ("step_threshold", law.step_threshold.is_some()),
                ("min_qlen_step", law.min_qlen_step.is_some()),
            ],
        };
        let owner = if law.native == NativeName::Step { "ramp" } else { "step" };
        for (key, _) in foreign.iter().filter(|(_, given)| *given) {
            let message = format!("{key} needs native = \"{owner}\"");
            self.keys.error(key, message, "remove it, or change native");
        }
        match law.native {
            NativeName::Step => Some(NativeMarking::Step {
                threshold: self.step_threshold(law.step_threshold?)?,
                min_packets: law.min_qlen_step?,
            }),
            NativeName::Ramp => {
                if law.decide == DecideAt::Enqueue {
                    let hint = "the wait that the ramp looks at is known on departure: decide = \"dequeue\"";
                    self.keys.error("decide", "a ramp decides on departure", hint);
                }
                Some(NativeMarking::Ramp {
                    min: law.ramp_min?.span(),
                    range: law.ramp_range?.span(),
                    min_packets: law.ramp_packets?,
                })
            }
        }
    }

    fn step_threshold(&self, threshold: Amount) -> Option<Extent> {
        let as_in_tc = matches!(threshold.dimension(), None | Some(Dimension::Time | Dimension::Packets));
        if !as_in_tc {
            let hint = "write a time or packets, as in \"1 ms\" or \"5 packets\"";
            self.keys.error("step_threshold", format!("a step threshold of {threshold}"), hint);
            return None;
        }
        self.within_buffer(threshold, "step_threshold", self.port.mtu);
        self.extent(threshold, "step_threshold")
    }
}
