//! Queue disciplines for the queues of a scenario: their netlink options, the equivalent `tc` commands, and
//! the meaning of the kernel's records, with one file for each law.

use crate::attributes::Attributes;
use crate::kernel::Kernel;
use crate::refusal::Refusals;
use shoal_aqm::{Extent, QueueConfig, for_each_law};
use shoal_packet::Reason;
use shoal_units::{Rate, Span};
use std::borrow::Cow;

mod bounds;
mod classes;
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
mod module;
mod open_loop;
mod pi2;
mod pie;
mod red;
mod step;
mod wred;

pub(crate) use meaning::{drop_reason, mark_reason};

/// The disciplines that implement a law, and the meaning of their decisions.
trait Express {
    /// Reason of the discipline's marks. A kernel does not report reasons; where a law has several, this is
    /// its usual one.
    const MARKS: Reason;
    /// Reason of the discipline's drops other than for lack of room; where a law has several, this is its
    /// usual one.
    const DROPS: Reason;

    /// The disciplines, or refusals that state why there are none.
    fn express(&self, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping>;

    /// Whether the law dropped a packet on arrival, and not a full buffer. Disciplines return `NET_XMIT_CN`
    /// (`refused`) for the law and `NET_XMIT_DROP` for the buffer; `has_room`: the buffer had room for the
    /// packet.
    fn is_law_on_arrival(&self, refused: bool, has_room: bool) -> bool {
        let _ = has_room;
        refused
    }
}

/// Handle with this major number: `10` is `10:0`.
pub(crate) const fn handle(major: u32) -> u32 {
    major << 16
}
/// First class below a discipline: `10:1`.
pub(crate) const fn below(major: u32) -> u32 {
    major << 16 | 1
}

/// Action on a discipline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// The discipline is added.
    Add,
    /// The discipline was added before, and is given further options.
    Change,
}

/// One action on a discipline, in the order of configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Discipline {
    pub parent: u32,
    pub handle: u32,
    pub kind: Cow<'static, str>,
    pub action: Action,
    /// Content of `TCA_OPTIONS`.
    pub options: Vec<u8>,
    /// Equivalent arguments of `tc`, after `parent ... handle ...`.
    pub tc: String,
}

impl Discipline {
    /// The discipline below the line that is added with these options.
    pub(crate) fn new(kind: impl Into<Cow<'static, str>>, options: Attributes, tc: String) -> Self {
        let (parent, handle, options) = (below(1), handle(10), options.into_bytes());
        Self { parent, handle, kind: kind.into(), action: Action::Add, options, tc }
    }

    /// The equivalent `tc` command.
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

/// The disciplines that implement a queue on Linux.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct QueueMapping {
    pub disciplines: Vec<Discipline>,
    /// Explanation of how the scenario's numbers became the kernel's.
    pub rules: Vec<String>,
    /// Value of `TCA_LINE_TC_INDEX`: what the line writes into `skb->tc_index` before the queue sees a
    /// packet.
    pub tc_index: u32,
    /// Value of `TCA_LINE_CLASSES`: the handle whose classes the line assigns to packets.
    pub classes: u32,
    /// Value of `TCA_LINE_CODE_POINTS`: the class of each DiffServ code point; empty if classes are those of flows.
    pub class_of_code_point: Vec<u8>,
}

impl QueueMapping {
    fn of(discipline: Discipline, rules: Vec<String>) -> Self {
        Self { disciplines: vec![discipline], rules, ..Self::default() }
    }

    /// Attributes of the line in front of the queue.
    pub(crate) fn on_line(&self, attributes: Attributes) -> Attributes {
        const TC_INDEX: u16 = 4;
        const CLASSES: u16 = 5;
        const CODE_POINTS: u16 = 10;
        let given = |attributes: Attributes, kind, value| {
            if value == 0 { attributes } else { attributes.u32(kind, value) }
        };
        let attributes = given(given(attributes, TC_INDEX, self.tc_index), CLASSES, self.classes);
        if self.class_of_code_point.is_empty() {
            attributes
        } else {
            attributes.bytes(CODE_POINTS, &self.class_of_code_point)
        }
    }
}

/// Properties of the link in front of which a queue stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// Rate of the line.
    pub rate: Rate,
    /// Name of its device.
    pub device: &'a str,
    /// Size of the largest packet of any flow in bytes.
    pub mtu: u32,
    /// Number of flows on the link.
    pub flows: u32,
    /// Whether any of these flows uses ECN.
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

/// The disciplines of a monitored link, which are children of the line (handle 1:).
pub(crate) fn queue(config: &QueueConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
    let mapping = express(config, site, refusals)?;
    for discipline in &mapping.disciplines {
        if !site.kernel.has_discipline(&discipline.kind) {
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

/// Limit of a discipline that counts packets.
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

/// Limit in bytes and in packets, of which one is 0, of a discipline of this project that has both.
fn limits(limit: Extent, rate: Rate) -> (u32, u32) {
    let bytes = |bytes: u64| (u32::try_from(bytes).unwrap_or(u32::MAX), 0);
    match limit {
        Extent::Packets(packets) => (0, packets),
        Extent::Bytes(limit) => bytes(limit),
        Extent::Time(span) => bytes(rate.bytes_in(span)),
        Extent::Unlimited => (0, 0),
    }
}

/// Whole microseconds, as `tc` has them in 32 bits; times of scenarios are in that range.
fn micros(span: Span) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}
