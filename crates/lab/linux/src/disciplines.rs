//! Queues of the scenario as queue disciplines: what the kernel is told, and what one would type into `tc`.

use crate::attributes::Attributes;
use crate::kernel::Kernel;
use crate::refusal::Refusals;
use shoal_aqm::{Extent, QueueConfig};
use shoal_units::{Rate, Span};

mod basic;
mod bounds;
mod codel;
mod coupled;
mod dual_red;
mod dualpi2;
mod gred;
mod meaning;
mod pie;
mod red;

pub(crate) use meaning::{drop_reason, reasons};

/// Handle of a number: `10` is `10:0`.
pub(crate) const fn handle(major: u32) -> u32 {
    major << 16
}
/// Place below a discipline: `10:1`.
pub(crate) const fn below(major: u32) -> u32 {
    major << 16 | 1
}

/// What is done to a discipline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// It is added.
    Add,
    /// It was added before and learns more.
    Change,
}

/// One discipline in the order of configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Discipline {
    pub parent: u32,
    pub handle: u32,
    pub kind: &'static str,
    pub action: Action,
    /// Content of `TCA_OPTIONS`.
    pub options: Vec<u8>,
    /// Arguments of `tc` that mean the same, after `parent ... handle ...`.
    pub tc: String,
}

impl Discipline {
    /// What one would type.
    pub(crate) fn command(&self, device: &str) -> String {
        let verb = match self.action {
            Action::Add => "add",
            Action::Change => "change",
        };
        let (parent, place) = (self.parent >> 16, self.parent & 0xffff);
        format!(
            "tc qdisc {verb} dev {device} parent {parent}:{place} handle {}: {}",
            self.handle >> 16,
            self.tc
        )
    }
}

/// A queue that Linux can express.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct QueueMapping {
    pub disciplines: Vec<Discipline>,
    /// In words: how the scenario's numbers became the kernel's.
    pub rules: Vec<String>,
    /// What the line writes into packets before the queue sees them (`TCA_LINE_TC_INDEX`, `TCA_LINE_CLASSES`).
    pub tc_index: u32,
    /// Likewise.
    pub classes: u32,
}

impl QueueMapping {
    fn of(discipline: Discipline, rules: Vec<String>) -> Self {
        Self { disciplines: vec![discipline], rules, ..Self::default() }
    }

    /// Attributes of the line in front of which the queue waits.
    pub(crate) fn on_line(&self, attributes: Attributes) -> Attributes {
        const TC_INDEX: u16 = 4;
        const CLASSES: u16 = 5;
        let given = |attributes: Attributes, kind, value| {
            if value == 0 { attributes } else { attributes.u32(kind, value) }
        };
        given(given(attributes, TC_INDEX, self.tc_index), CLASSES, self.classes)
    }
}

/// Where a queue waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// Of the line.
    pub rate: Rate,
    /// Largest packet of any flow, bytes.
    pub mtu: u32,
    /// Flows that cross it.
    pub flows: u32,
    /// Whether any of them uses ECN.
    pub any_ect: bool,
    pub kernel: &'a Kernel,
}

/// The disciplines of a monitored link: the children of the line (handle 1:).
pub(crate) fn queue(config: &QueueConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
    let mapping = match config {
        QueueConfig::Fifo(fifo) => Some(basic::fifo(*fifo, site.rate)),
        QueueConfig::Step(step) => basic::step(step, site, refusals),
        QueueConfig::LinuxRed(red) => red::linux_red(red, refusals),
        QueueConfig::Red(red) => red::published(red, site, refusals),
        QueueConfig::DualRed(dual) => dual_red::dual_red(dual, site.rate, refusals),
        QueueConfig::Coupled(coupled) => coupled::single(coupled, site.rate, refusals),
        QueueConfig::DualCoupled(dual) => coupled::dual(dual, site.rate, refusals),
        QueueConfig::DualPi2(dual) => dualpi2::dualpi2(dual, site, refusals),
        QueueConfig::Codel(codel) => codel::codel(codel, site, refusals),
        QueueConfig::FqCodel(fq) => codel::fq_codel(fq, site, refusals),
        QueueConfig::Pie(pie) => pie::pie(pie, site, refusals),
        QueueConfig::Gred(gred) => gred::gred(gred, refusals),
        QueueConfig::Pi2(_) => {
            refusals.add(
                PLACE,
                "PI2 with one queue was never part of Linux: sch_pi2 is a module of its authors, for kernels of 2015",
                "use kind = \"dualpi2\", which both planes have, or run this on the simulator",
            );
            None
        }
        QueueConfig::OpenLoop(_) => {
            refusals.add(
                PLACE,
                "`open-loop` is a queue for experiments on paper: no discipline marks or drops with a given probability",
                "run this on the simulator",
            );
            None
        }
    }?;
    for discipline in &mapping.disciplines {
        if !site.kernel.disciplines.iter().any(|kind| kind == discipline.kind) {
            refusals.add(
                PLACE,
                format!("Linux {} has no discipline `{}`", site.kernel.release, discipline.kind),
                "add it to linux/kernel/uml.config and run `shoal linux build`, or use a newer kernel (dualpi2: 6.17)",
            );
        }
    }
    Some(mapping)
}

const PLACE: &str = "bottleneck.aqm";

/// The limit of a discipline that counts packets.
fn packet_limit(limit: Extent, kind: &str, site: &Site<'_>, refusals: &mut Refusals) -> Option<u32> {
    let bytes = match limit {
        Extent::Packets(packets) => return Some(packets),
        Extent::Unlimited => return Some(u32::MAX),
        Extent::Bytes(bytes) => bytes,
        Extent::Time(span) => site.rate.bytes_in(span),
    };
    refusals.add(
        "bottleneck.aqm.limit",
        format!("`{kind}` of the kernel limits packets, not the {bytes} B of the scenario (its limit, or the buffer)"),
        format!("write limit = \"{} packets\"", (bytes / u64::from(site.mtu)).max(1)),
    );
    None
}

/// Times of `tc` are whole microseconds in 32 bits; scenarios cannot have more.
fn micros(span: Span) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}
