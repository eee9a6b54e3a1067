//! DualPI2: attributes of
//! [`include/uapi/linux/pkt_sched.h`](https://elixir.bootlin.com/linux/v6.17/source/include/uapi/linux/pkt_sched.h)
//! (Linux 6.17).

use super::{Discipline, Express, QueueMapping, Site, micros, packet_limit};
use crate::attributes::Attributes;
use crate::refusal::Refusals;
use shoal_aqm::{DecideAt, DualPi2Config, DualPi2Form, Extent, NativeMarking, SchedulerConfig, Tossing};
use shoal_packet::Reason;

mod attribute {
    pub(super) const LIMIT: u16 = 1;
    pub(super) const MEMORY_LIMIT: u16 = 2;
    pub(super) const TARGET: u16 = 3;
    pub(super) const TUPDATE: u16 = 4;
    pub(super) const ALPHA: u16 = 5;
    pub(super) const BETA: u16 = 6;
    pub(super) const STEP_THRESH_PKTS: u16 = 7;
    pub(super) const STEP_THRESH_US: u16 = 8;
    pub(super) const MIN_QLEN_STEP: u16 = 9;
    pub(super) const COUPLING: u16 = 10;
    pub(super) const DROP_OVERLOAD: u16 = 11;
    pub(super) const DROP_EARLY: u16 = 12;
    pub(super) const C_PROTECTION: u16 = 13;
    pub(super) const ECN_MASK: u16 = 14;
}

impl Express for DualPi2Config {
    const MARKS: Reason = Reason::Coupled;
    const DROPS: Reason = Reason::Early;

    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
        let before = refusals.0.len();
        check(self, site, refusals);
        let limit = packet_limit(self.limit, "dualpi2", site, refusals);
        let step = step(self, refusals);
        let classic = classic_percent(self, refusals);
        if refusals.0.len() > before {
            return None;
        }
        let ((step_attribute, step, step_words), limit, classic) = (step?, limit?, classic?);
        let min_packets = match self.native {
            NativeMarking::Step { min_packets, .. } => min_packets,
            NativeMarking::Ramp { .. } | NativeMarking::DelayRamp(_) => 0,
        };
        let early = self.decide == DecideAt::Enqueue;
        let options = Attributes::default()
            .u32(attribute::LIMIT, limit.max(1))
            .u32(attribute::MEMORY_LIMIT, u32::MAX)
            .u32(attribute::TARGET, micros(self.target))
            .u32(attribute::TUPDATE, micros(self.tupdate))
            .u32(attribute::ALPHA, self.alpha_256th_hz)
            .u32(attribute::BETA, self.beta_256th_hz)
            .u32(step_attribute, step)
            .u32(attribute::MIN_QLEN_STEP, min_packets)
            .u8(attribute::COUPLING, self.coupling)
            .u8(attribute::DROP_OVERLOAD, self.drop_on_overload.into())
            .u8(attribute::DROP_EARLY, early.into())
            .u8(attribute::C_PROTECTION, classic)
            .u8(attribute::ECN_MASK, self.ecn_mask);
        let tc = format!(
            "dualpi2 limit {limit} memlimit {} target {}us tupdate {}us alpha {} beta {} step_thresh {step_words} \
             min_qlen_step {min_packets} coupling_factor {} {} {} {} classic_protection {classic}%",
            u32::MAX,
            micros(self.target),
            micros(self.tupdate),
            f64::from(self.alpha_256th_hz) / 256.0,
            f64::from(self.beta_256th_hz) / 256.0,
            self.coupling,
            if self.drop_on_overload { "drop_on_overload" } else { "overflow" },
            if early { "drop_enqueue" } else { "drop_dequeue" },
            match self.ecn_mask {
                0b01 => "l4s_ect",
                0b10 => "classic_ect (tc has no word for this mask)",
                _ => "any_ect",
            },
        );
        Some(QueueMapping::of(Discipline::new("dualpi2", options, tc), Vec::new()))
    }
}

/// Refuses what only the model supports.
fn check(config: &DualPi2Config, site: &Site<'_>, refusals: &mut Refusals) {
    let mut refuse = |key: &str, reason: &str, hint: &str| {
        refusals.add(format!("bottleneck.aqm.{key}"), reason, hint);
    };
    match config.form {
        DualPi2Form::Mainline if config.first_update != config.tupdate => {
            refuse("first_update", "the kernel's first update comes after tupdate", "leave first_update out");
        }
        DualPi2Form::Mainline => {}
        DualPi2Form::L4sTeam => refuse(
            "form",
            "the guest's kernel has mainline's dualpi2; that of the L4S team is in their own trees",
            "write form = \"mainline\" (with min_qlen_step = 2 for their step), or run this on the simulator",
        ),
    }
    if config.protection.is_some() {
        refuse(
            "protection",
            "Linux has no queue protection",
            "leave protection out, or run this on the simulator",
        );
    }
    if config.tossing == Tossing::Recur {
        refuse("marking", "the kernel's dualpi2 decides by random numbers", "write marking = \"random\"");
    }
    if config.min_backlog_bytes != 2 * u64::from(site.mtu) {
        refuse("min_backlog", "the kernel's is two packets of the MTU", "leave min_backlog out");
    }
    if config.memory_limit_bytes != u64::MAX {
        refuse(
            "memory_limit",
            "the kernel counts the memory of packets (skb->truesize), the simulator their bytes",
            "leave memory_limit out",
        );
    }
    for (key, gain) in [("alpha", config.alpha_256th_hz), ("beta", config.beta_256th_hz)] {
        if gain == 0 {
            refuse(key, "the kernel refuses a gain of 0", "write at least 0.00390625");
        }
    }
}

/// Attribute, value and words of `tc` of the step.
fn step(config: &DualPi2Config, refusals: &mut Refusals) -> Option<(u16, u32, String)> {
    let (place, reason, hint) = match config.native {
        NativeMarking::Step { threshold: Extent::Time(span), .. } => {
            return Some((attribute::STEP_THRESH_US, micros(span), format!("{}us", micros(span))));
        }
        NativeMarking::Step { threshold: Extent::Packets(packets), .. } => {
            return Some((attribute::STEP_THRESH_PKTS, packets, format!("{packets}packets")));
        }
        NativeMarking::Step { threshold: Extent::Unlimited, .. } => {
            return Some((attribute::STEP_THRESH_PKTS, u32::MAX, format!("{}packets", u32::MAX)));
        }
        NativeMarking::Step { threshold: Extent::Bytes(_), .. } => (
            "bottleneck.aqm.step_threshold",
            "the kernel's step counts time or packets",
            "write a time or packets, as in \"1 ms\"",
        ),
        NativeMarking::Ramp { .. } => (
            "bottleneck.aqm.native",
            "the ramp of RFC 9332 is not in the kernel",
            "write native = \"step\", or run this on the simulator",
        ),
        NativeMarking::DelayRamp(_) => (
            "bottleneck.aqm.native",
            "the ramp of DOCSIS is not in the kernel",
            "write native = \"step\", or run this on the simulator",
        ),
    };
    refusals.add(place, reason, hint);
    None
}

/// Strict priority is a share of zero: the credit then never favours the classic queue (`dequeue_packet`).
fn classic_percent(config: &DualPi2Config, refusals: &mut Refusals) -> Option<u8> {
    match config.scheduler {
        SchedulerConfig::Weighted { classic_percent } => Some(classic_percent),
        SchedulerConfig::StrictPriority => Some(0),
        SchedulerConfig::TimeShifted { .. } => {
            refusals.add(
                "bottleneck.aqm.scheduler",
                "the kernel's dualpi2 shares bytes by credit",
                "write scheduler = \"weighted\" or \"priority\"",
            );
            None
        }
    }
}
