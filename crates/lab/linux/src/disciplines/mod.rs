//! Queues of the scenario as queue disciplines: what the kernel is told, what one would type into `tc`, and what the kernel's records mean.
//! One file a law.

use crate::attributes::Attributes;
use crate::kernel::Kernel;
use crate::refusal::Refusals;
use shoal_aqm::{Extent, QueueConfig, for_each_law};
use shoal_packet::Reason;
use shoal_units::{Rate, Span};

mod bounds;
mod codel;
mod coupled;
mod dual_coupled;
mod dual_red;
mod dualpi2;
mod fifo;
mod fq_codel;
mod gred;
mod linux_red;
mod meaning;
mod open_loop;
mod pi2;
mod pie;
mod red;
mod step;

pub(crate) use meaning::{drop_reason, mark_reason};

/// What the kernel has for a law, and what its decisions mean.
trait Express {
    /// Why the discipline marks: a kernel does not say. Where a law has several reasons, its usual one.
    const MARKS: Reason;
    /// Why the discipline drops, if not for lack of room; likewise.
    const DROPS: Reason;

    /// The disciplines, or refusals that say why there are none.
    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping>;

    /// Whether a packet that was dropped on arrival had met the law, and not a full buffer. Disciplines answer the former with
    /// `NET_XMIT_CN` (`refused`) and the latter with `NET_XMIT_DROP`; `has_room`: the packet would have fitted.
    fn is_law_on_arrival(&self, refused: bool, has_room: bool) -> bool {
        let _ = has_room;
        refused
    }
}

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

macro_rules! ask_law {
    ($($(#[doc = $doc:literal])+ $kind:literal => $law:ident($config:ident) in $module:ident,)+) => {
        /// See [`Express::express`].
        fn express(queue: &QueueConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
            match queue { $(QueueConfig::$law(law) => law.express(site, refusals),)+ }
        }

        /// [`Express::MARKS`] and [`Express::DROPS`].
        fn reasons(queue: &QueueConfig) -> (Reason, Reason) {
            match queue { $(QueueConfig::$law(_) => (shoal_aqm::$config::MARKS, shoal_aqm::$config::DROPS),)+ }
        }

        /// See [`Express::is_law_on_arrival`].
        fn is_law_on_arrival(queue: &QueueConfig, refused: bool, has_room: bool) -> bool {
            match queue { $(QueueConfig::$law(law) => law.is_law_on_arrival(refused, has_room),)+ }
        }
    };
}

for_each_law!(ask_law);

/// The disciplines of a monitored link: the children of the line (handle 1:).
pub(crate) fn queue(config: &QueueConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
    let mapping = express(config, site, refusals)?;
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
