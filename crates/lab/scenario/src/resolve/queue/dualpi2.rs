//! DualPI2 and PI2.

use shoal_aqm::{DecideAt, DualPi2Config, Extent, NativeMarking, Pi2Config, QueueConfig};
use shoal_units::Span;

use super::{Context, Law};
use crate::quantity::{Amount, Dimension, Duration};
use crate::schema::{DualPi2, NativeName, Overload, Pi2};

impl Law<'_> {
    pub(super) fn dualpi2(&self, law: &DualPi2, buffer: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let limit = match law.limit {
            Some(limit) => self.port.extent(limit, &self.at("limit"), cx),
            None => Some(buffer),
        };
        let gains = (self.gain(law.alpha, 256, "alpha", cx), self.gain(law.beta, 256, "beta", cx));
        let coupling = self.coupling(law.coupling, cx);
        let target = self.micros(law.target, "target", Span::ZERO, cx);
        let tupdate = self.micros(law.tupdate, "tupdate", Span::from_micros(1), cx);
        let native = self.native(law, cx);
        let scheduler = self.scheduler(law.scheduler, law.classic_percent, law.shift, cx);
        Some(QueueConfig::DualPi2(DualPi2Config {
            target: target?,
            tupdate: tupdate?,
            alpha_256th_hz: gains.0?,
            beta_256th_hz: gains.1?,
            coupling: coupling?,
            native: native?,
            tossing: law.marking,
            ecn_mask: law.ecn_mask.bits(),
            scheduler: scheduler?,
            drop_on_overload: law.overload == Overload::Drop,
            decide: law.decide,
            min_backlog_bytes: match law.min_backlog {
                Some(size) => size.bytes().unwrap_or(u64::MAX),
                // psched_mtu: two packets of the link's MTU.
                None => 2 * u64::from(self.port.mtu),
            },
            memory_limit_bytes: law.memory_limit.bytes().unwrap_or(u64::MAX),
            limit: limit?,
            mtu: self.port.mtu,
        }))
    }

    pub(super) fn pi2(&self, law: &Pi2, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let gains = (self.gain(law.alpha, 16, "alpha", cx), self.gain(law.beta, 16, "beta", cx));
        let coupling = self.coupling(law.coupling, cx);
        let target = self.micros(law.target, "target", Span::ZERO, cx);
        let tupdate = self.micros(law.tupdate, "tupdate", Span::from_micros(1), cx);
        Some(QueueConfig::Pi2(Pi2Config {
            target: target?,
            tupdate: tupdate?,
            alpha_16th_hz: gains.0?,
            beta_16th_hz: gains.1?,
            coupling: coupling?.into(),
            ecn: law.ecn,
            scalable_mask: law.scalable.bits(),
            estimate: law.estimate,
            mtu: self.port.mtu,
            limit,
        }))
    }

    fn coupling(&self, k: u16, cx: &mut Context<'_>) -> Option<u8> {
        let coupling = u8::try_from(k).ok().filter(|&k| k > 0);
        if coupling.is_none() {
            let hint = "write a whole number from 1 to 255, as in 2";
            cx.error(&self.at("coupling"), format!("a coupling factor of {k}"), hint);
        }
        coupling
    }

    /// In parts of a hertz, rounded down; 31 bits as `ALPHA_BETA_MAX` of
    /// [`sch_dualpi2.c`](https://elixir.bootlin.com/linux/v6.17/source/net/sched/sch_dualpi2.c).
    fn gain(&self, hertz: f64, parts: u16, key: &str, cx: &mut Context<'_>) -> Option<u32> {
        let parts = f64::from(parts);
        let scaled = hertz * parts;
        if !(0.0..2_147_483_648.0).contains(&scaled) {
            let hint = format!("write a number from 0 to {}, as in 0.16", (2_147_483_647.0 / parts).floor());
            cx.error(&self.at(key), format!("a gain of {hertz} Hz"), hint);
            return None;
        }
        if hertz > 0.0 && scaled < 1.0 {
            let hint = format!("write at least {}", 1.0 / parts);
            cx.warning(&self.at(key), format!("a gain of {hertz} Hz counts as 0"), hint);
        }
        Some(scaled as u32)
    }

    /// Whole microseconds in 32 bits of nanoseconds, as tc hands them over.
    fn micros(&self, time: Duration, key: &str, least: Span, cx: &mut Context<'_>) -> Option<Span> {
        let span = time.span();
        if span < least || span > Span::from_secs(4) || !span.as_picos().is_multiple_of(1_000_000) {
            let hint =
                format!("write whole microseconds from {} us to 4 s, as in \"16 ms\"", least.as_micros());
            cx.error(&self.at(key), format!("a {key} of {time}"), hint);
            return None;
        }
        Some(span)
    }

    fn native(&self, law: &DualPi2, cx: &mut Context<'_>) -> Option<NativeMarking> {
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
            cx.error(&self.at(key), message, "remove it, or change native");
        }
        match law.native {
            NativeName::Step => Some(NativeMarking::Step {
                threshold: self.step_threshold(law.step_threshold?, cx)?,
                min_packets: law.min_qlen_step?,
            }),
            NativeName::Ramp => {
                if law.decide == DecideAt::Enqueue {
                    let hint = "the wait that the ramp looks at is known on departure: decide = \"dequeue\"";
                    cx.error(&self.at("decide"), "a ramp decides on departure", hint);
                }
                Some(NativeMarking::Ramp {
                    min: law.ramp_min?.span(),
                    range: law.ramp_range?.span(),
                    min_packets: law.ramp_packets?,
                })
            }
        }
    }

    fn step_threshold(&self, threshold: Amount, cx: &mut Context<'_>) -> Option<Extent> {
        let as_in_tc = matches!(threshold.dimension(), None | Some(Dimension::Time | Dimension::Packets));
        if !as_in_tc {
            let hint = "write a time or packets, as in \"1 ms\" or \"5 packets\"";
            cx.error(&self.at("step_threshold"), format!("a step threshold of {threshold}"), hint);
            return None;
        }
        self.within_buffer(threshold, "step_threshold", self.port.mtu, cx);
        self.port.extent(threshold, &self.at("step_threshold"), cx)
    }
}
