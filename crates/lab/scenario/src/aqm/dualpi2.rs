//! Keys of `dualpi2` ([RFC 9332](https://www.rfc-editor.org/rfc/rfc9332); the ramp of DOCSIS and queue protection: [RFC
//! 9957](https://www.rfc-editor.org/rfc/rfc9957)).

use shoal_aqm::{DecideAt, DualPi2Config, DualPi2Form, Extent, NativeMarking, Tossing};
use shoal_units::Span;

use super::protection::Protection;
use super::scheduler::SchedulerName;
use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::{Amount, Dimension, Duration, Size};

/// DualPI2 with the parameters of `tc qdisc add ... dualpi2`; native, marking and other schedulers as in RFC 9332.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct DualPi2 {
    /// Whose DualPI2 it is: that of Linux since 6.17 (mainline), or that of the L4S team's kernels of 2019 to 2021
    /// (l4steam), in which gains act as 64/127 of what is written, the first update comes half a second after
    /// set-up, and the step spares packets that met less than two. Names defaults of other keys, too.
    #[key(
        default = "mainline",
        source = "sch_dualpi2.c of L4STeam/linux at 29c297fd79dd: calculate_probability, dualpi2_init, \
                  dualpi2_qdisc_enqueue"
    )]
    pub form: DualPi2Form,
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
    /// Time of the first update after the queue was set up, which is when the run begins; in whole microseconds.
    #[key(
        otherwise = "tupdate, with form = \"l4steam\" 500 ms",
        source = "sch_dualpi2.c dualpi2_init, in mainline and in L4STeam/linux"
    )]
    pub first_update: Option<Duration>,
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
    /// Own law of the low-latency queue: a step (Linux), a ramp by the wait of the packet that leaves (RFC 9332), or
    /// one by the bytes that an arriving packet meets (docsis-ramp, RFC 9957), which needs decide = "enqueue".
    #[key(
        default = "step",
        source = "sch_dualpi2.c do_step_aqm; RFC 9332 appendix A.1 laqm; RFC 9957 section 4.1"
    )]
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
    #[key(
        otherwise = "0 with native = \"step\", with form = \"l4steam\" 2",
        unit = "packets",
        source = "sch_dualpi2.c skb_apply_step; dualpi2_qdisc_enqueue of L4STeam/linux (more than one)"
    )]
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
    /// With native = "docsis-ramp": from this delay on every arriving packet is marked; where docsis_floor is longer
    /// than the beginning of the ramp, docsis_range after the floor.
    #[key(default = "1 ms", when(native = "docsis-ramp"), source = "RFC 9957 section 4.1 MAXTH")]
    pub docsis_max: Option<Duration>,
    /// With native = "docsis-ramp": so much below nothing is; 2^19 ns in the RFC.
    #[key(default = "524288 ns", when(native = "docsis-ramp"), source = "RFC 9957 section 4.1 LG_RANGE")]
    pub docsis_range: Option<Duration>,
    /// With native = "docsis-ramp": nothing is marked below the time that the line needs for so many bytes.
    #[key(
        default = "4000 B",
        when(native = "docsis-ramp"),
        source = "RFC 9957 section 4.1 FLOOR (two frames of 2000 B)"
    )]
    pub docsis_floor: Option<Size>,
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
    /// Queue protection in front of the low-latency queue; {} for the parameters of the RFC. Linux has none.
    #[key(otherwise = "none", source = "RFC 9957")]
    pub protection: Option<Protection>,
}

choices!(DualPi2Form { "mainline" => Self::Mainline, "l4steam" => Self::L4sTeam, });

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
    /// A linear slope by the packet's own wait.
    Ramp,
    /// A linear slope by the bytes that an arriving packet meets.
    DocsisRamp,
}

choices!(NativeName { "step" => Self::Step, "ramp" => Self::Ramp, "docsis-ramp" => Self::DocsisRamp, });

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

impl DualPi2 {
    /// Fills in what follows from the form, and the ramp of queue protection from that of the queue.
    pub(crate) fn fill(&mut self) {
        let (first_update, min_qlen_step) = match self.form {
            DualPi2Form::Mainline => (Some(self.tupdate), 0),
            DualPi2Form::L4sTeam => (Duration::parse("500 ms").ok(), 2),
        };
        self.first_update = self.first_update.or(first_update);
        if self.native == NativeName::Step {
            self.min_qlen_step.get_or_insert(min_qlen_step);
        }
        if let Some(protection) = &mut self.protection {
            protection.fill(self.docsis_max, self.docsis_range, self.docsis_floor);
        }
    }
}

impl Resolve for DualPi2 {
    type Config = DualPi2Config;

    fn resolve(&self, law: &Place<'_>, buffer: Extent) -> Option<DualPi2Config> {
        let limit = match self.limit {
            Some(limit) => law.extent(limit, "limit"),
            None => Some(buffer),
        };
        let gains = (law.gain(self.alpha, 256, "alpha"), law.gain(self.beta, 256, "beta"));
        for (key, hertz, gain) in [("alpha", self.alpha, gains.0), ("beta", self.beta, gains.1)] {
            law.acting_gain(key, hertz, gain, self.form);
        }
        let coupling = law.coupling(self.coupling);
        let target = law.micros(self.target, "target", Span::ZERO);
        let tupdate = law.micros(self.tupdate, "tupdate", Span::from_micros(1));
        let first_update = match self.first_update {
            // What is wrong with tupdate has been said.
            Some(first) if first == self.tupdate => tupdate,
            Some(first) => law.micros(first, "first_update", Span::from_micros(1)),
            None => None,
        };
        let native = law.native(self);
        let scheduler = law.scheduler(self.scheduler, self.classic_percent, self.shift);
        let protection = match &self.protection {
            Some(keys) => law.protection(keys).map(Some),
            None => Some(None),
        };
        Some(DualPi2Config {
            form: self.form,
            first_update: first_update?,
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
            protection: protection?,
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
    fn acting_gain(&self, key: &str, hertz: f64, gain_256th_hz: Option<u32>, form: DualPi2Form) {
        let acting = gain_256th_hz.map(|gain| DualPi2Config::acting_gain_hz(gain, form));
        let Some(acting) = acting.filter(|acting| *acting > 0.0) else { return };
        if (acting / hertz - 1.0).abs() <= NOTED {
            return;
        }
        let (why, hint) = match form {
            DualPi2Form::Mainline => (
                "tc rounds it down to 1/256 Hz, and the kernel to its own unit of about 1/275 Hz",
                "this is what Linux does with this number; write a slightly larger one for more",
            ),
            DualPi2Form::L4sTeam => (
                "the L4S team's module divides by 127 where its scale needs 64",
                "this is what that module does with this number; in mainline it acts as written",
            ),
        };
        let text = format!("{key} = {hertz} Hz of dualpi2 acts as {acting:.4} Hz: {why}");
        self.keys.effect(key, "rounded-gain", text, hint.to_owned());
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
        let foreign = [
            ("step_threshold", law.step_threshold.is_some(), NativeName::Step, "step"),
            ("min_qlen_step", law.min_qlen_step.is_some(), NativeName::Step, "step"),
            ("ramp_min", law.ramp_min.is_some(), NativeName::Ramp, "ramp"),
            ("ramp_range", law.ramp_range.is_some(), NativeName::Ramp, "ramp"),
            ("ramp_packets", law.ramp_packets.is_some(), NativeName::Ramp, "ramp"),
            ("docsis_max", law.docsis_max.is_some(), NativeName::DocsisRamp, "docsis-ramp"),
            ("docsis_range", law.docsis_range.is_some(), NativeName::DocsisRamp, "docsis-ramp"),
            ("docsis_floor", law.docsis_floor.is_some(), NativeName::DocsisRamp, "docsis-ramp"),
        ];
        for (key, given, owner, name) in foreign {
            if given && law.native != owner {
                let message = format!("{key} needs native = \"{name}\"");
                self.keys.error(key, message, "remove it, or change native");
            }
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
            NativeName::DocsisRamp => {
                if law.decide == DecideAt::Dequeue {
                    let hint = "write decide = \"enqueue\": the ramp looks at the bytes that an arriving packet meets";
                    self.keys.error("native", "the ramp of DOCSIS decides on arrival", hint);
                }
                let keys = ["docsis_max", "docsis_range"];
                let ramp = self.delay_ramp(keys, law.docsis_max, law.docsis_range, law.docsis_floor);
                ramp.map(NativeMarking::DelayRamp)
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
