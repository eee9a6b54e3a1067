//! Keys of `classes`: queues for traffic classes.

use serde_json::Value as Json;
use shoal_aqm::{
    ClassConfig, ClassesConfig, Extent, MOST_CLASSES, MemoryShare, QueueConfig, Service, ShaperConfig,
};

use super::{Aqm, Place, Port, Resolve, queue};
use crate::dscp::Dscp;
use crate::experiment::Schedule;
use crate::field::{Field, Section, choices, kinds};
use crate::quantity::{Amount, DataRate, Size};
use crate::remarks::Table;
use crate::report::Report;
use crate::tree::{Node, Value};

/// Queues for traffic classes.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Classes {
    /// The queues. Those with priority = "strict" come before all others, in this order.
    #[key(source = "Linux net/sched/sch_ets.c ets_qdisc_dequeue")]
    pub queues: Vec<ClassQueue>,
    /// Memory that the queues share, with what is reserved for each: a queue may hold alpha times what is free of it.
    /// Limits of queues, and memory that the port shares with others (shared_buffer), hold besides; without this key,
    /// each queue takes from the latter by itself. With a large alpha everywhere it is a limit for all queues together.
    #[key(otherwise = "each queue has its own limit only", source = "Choudhury and Hahne 1998, section II")]
    pub memory: Option<Size>,
    /// Part of the memory that no queue may hold: switches keep it for packets that are under way while a link pauses.
    /// Links do not pause here, so that it is only taken off.
    #[key(
        otherwise = "nothing",
        source = "SONiC BUFFER_POOL, field xoff; IEEE 802.1Q clause 36 (priority-based flow control)"
    )]
    pub headroom: Option<Size>,
}

/// A queue for a traffic class. It has a limit and a law of its own; what waits in other queues counts in neither, but
/// for memory that they share.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct ClassQueue {
    /// Name in reports.
    #[key(source = "this project's own")]
    pub name: String,
    /// Code points of the flows whose packets join this queue. One queue may have none: it takes all others.
    #[key(
        otherwise = "all that no other queue takes",
        unit = "list of 0 to 63, or names",
        source = "RFC 2474 section 3"
    )]
    pub dscp: Option<Vec<Dscp>>,
    /// strict: the queue sends before all that stand behind it in the list, and before all weighted ones.
    #[key(otherwise = "weighted", source = "Linux net/sched/sch_ets.c ets_qdisc_dequeue")]
    pub priority: Option<Priority>,
    /// Share in bytes among the weighted queues that hold packets, by deficit round robin. A turn of the queue with the
    /// least weight is one packet of the largest size.
    #[key(
        default = 1,
        unless(priority),
        unit = "1 to 10000",
        source = "Linux net/sched/sch_ets.c; Shreedhar and Varghese 1996"
    )]
    pub weight: Option<u32>,
    /// What the queue sends at most, in bytes of IP packets, even if the line is idle.
    #[key(otherwise = "the line's rate", source = "Linux net/sched/sch_tbf.c")]
    pub shape: Option<DataRate>,
    /// What a shaped queue may send at once after a pause: the size of its token bucket.
    #[key(otherwise = "ten packets of the largest size", source = "Linux net/sched/sch_tbf.c")]
    pub burst: Option<Size>,
    /// Multiple of the free memory that this queue may hold, of what the queues of the port share, or the ports of the
    /// switch (shared_buffer): it gets alpha / (1 + the alphas of all busy queues) of it.
    #[key(
        otherwise = "1, or the alpha of the switch's shared_buffer",
        source = "Choudhury and Hahne 1998, equations 1 and 3; switches offer powers of two from 1/128 to 8"
    )]
    pub alpha: Option<f64>,
    /// Part of the memory that no other queue may hold.
    #[key(
        otherwise = "nothing, or what the switch's shared_buffer reserves",
        source = "SONiC BUFFER_PROFILE, field size"
    )]
    pub reserved: Option<Size>,
    /// Limit of this queue. For all queues together there is only the memory that they share.
    #[key(otherwise = "the link's buffer", source = "Linux net/sched/sch_fifo.c")]
    pub buffer: Option<Amount>,
    /// Marking and dropping law of this queue: a table like that of a link, of any kind but classes.
    #[key(default = { "kind": "fifo" }, unit = "table", source = "this project's own")]
    pub aqm: QueueLaw,
}

/// When a queue sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// Before those behind it.
    Strict,
}

choices!(Priority { "strict" => Self::Strict, });

/// The law of one of several queues: any but again one of classes.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueLaw(pub Aqm);

/// The kind that a queue for a traffic class cannot have.
const NESTED: &str = "classes";

impl Field for QueueLaw {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let kind = node.get("kind").map(|entry| &entry.node);
        if let Some(kind) = kind.filter(|kind| matches!(&kind.value, Value::Text(text) if text == NESTED)) {
            let hint = "list all queues in one table of kind \"classes\"";
            report.error(&kind.mark, "a queue for a traffic class cannot consist of classes again", hint);
            return None;
        }
        Aqm::read(node, report).map(Self)
    }
    fn write(&self) -> Option<Json> {
        self.0.write()
    }
    fn schema() -> Json {
        kinds::schema::<Aqm>(&[NESTED])
    }
    fn any_amount(&self, wanted: fn(Amount) -> bool) -> bool {
        self.0.any_amount(wanted)
    }
}

impl Resolve for Classes {
    type Config = ClassesConfig;

    fn resolve(&self, law: &Place<'_>, _: Extent) -> Option<ClassesConfig> {
        if !(1..=MOST_CLASSES).contains(&self.queues.len()) {
            let hint =
                format!("write from 1 to {MOST_CLASSES}: [[{}.queues]], each with a name", law.keys.path);
            law.keys.error("queues", format!("{} queues", self.queues.len()), hint);
            return None;
        }
        let queue_of = law.queues_of_codepoints(&self.queues);
        law.check_names(&self.queues);
        // Compared with the least weight, the quanta are in packets.
        let weights = self.queues.iter().filter_map(|queue| queue.weight).filter(|weight| *weight > 0);
        let least = weights.min().unwrap_or(1);
        let queues: Vec<Option<ClassConfig>> =
            self.queues.iter().enumerate().map(|(index, queue)| law.class(index, queue, least)).collect();
        let memory_bytes = law.memory(self).ok()?;
        let queues: Option<_> = queues.into_iter().collect();
        // The code points of flows are known once the flows are.
        Some(ClassesConfig { queues: queues?, queue_of: queue_of?, codepoints: [].into(), memory_bytes })
    }
}

impl Place<'_> {
    fn queue_keys(&self, index: usize) -> Table<'_> {
        self.keys.table(&format!("queues[{index}]"))
    }

    /// The queue of each code point.
    fn queues_of_codepoints(&self, queues: &[ClassQueue]) -> Option<[u8; 64]> {
        let mut owners = [None; 64];
        let mut default: Option<u8> = None;
        let mut complete = true;
        let mut refuse = |index: u8, message: String, hint: String| {
            self.queue_keys(index.into()).error("dscp", message, hint);
            complete = false;
        };
        for (index, queue) in (0u8..).zip(queues) {
            let Some(codepoints) = &queue.dscp else {
                if let Some(first) = default.replace(index) {
                    let name = &queues[usize::from(first)].name;
                    let message = format!("\"{name}\" takes all other code points already");
                    refuse(index, message, "add dscp to all queues but one".to_owned());
                }
                continue;
            };
            if codepoints.is_empty() {
                refuse(
                    index,
                    "the queue takes no code point".to_owned(),
                    "as in dscp = [10], or remove the key".to_owned(),
                );
            }
            for code in codepoints.iter().map(|code| code.number()) {
                let owner = owners[usize::from(code)].get_or_insert(index);
                if *owner != index {
                    let message = format!(
                        "code point {code} belongs to \"{}\" already",
                        queues[usize::from(*owner)].name
                    );
                    refuse(index, message, "give each code point one queue".to_owned());
                }
            }
            if !codepoints.iter().any(|code| self.port.codepoints >> code.number() & 1 == 1) {
                let hint = "add dscp to the flow groups whose packets it is for";
                self.queue_keys(index.into()).warning("dscp", "no flow has a code point of this queue", hint);
            }
        }
        let used = (0u8..64).filter(|code| self.port.codepoints >> code & 1 == 1);
        let lost = used.filter(|code| owners[usize::from(*code)].is_none() && default.is_none());
        for code in lost {
            let hint =
                format!("leave dscp out of one queue, which then takes all others, or add {code} to one");
            self.keys.error(
                "queues",
                format!("no queue takes packets with code point {code}, which flows have"),
                hint,
            );
            complete = false;
        }
        complete.then(|| owners.map(|owner| owner.or(default).unwrap_or(0)))
    }

    fn check_names(&self, queues: &[ClassQueue]) {
        for (index, queue) in queues.iter().enumerate() {
            let keys = self.queue_keys(index);
            if queue.name.is_empty() || queue.name.chars().any(char::is_control) {
                keys.error("name", "a queue needs a readable name", "as in name = \"scalable\"");
            }
            if queues[..index].iter().any(|earlier| earlier.name == queue.name) {
                keys.error(
                    "name",
                    format!("a second queue \"{}\"", queue.name),
                    "give each queue its own name",
                );
            }
        }
    }

    fn class(&self, index: usize, class: &ClassQueue, least_weight: u32) -> Option<ClassConfig> {
        let keys = self.queue_keys(index);
        let service = self.service(class, least_weight, &keys);
        let shaper = self.shaper(class, &keys);
        let (aqm_path, own_buffer) = (keys.at("aqm"), keys.at("buffer"));
        let (buffer, buffer_path) = match class.buffer {
            Some(buffer) => (buffer, own_buffer.as_str()),
            None => (self.buffer, self.port.buffer_path),
        };
        let law = queue(&class.aqm.0, buffer, &Port { aqm_path: &aqm_path, buffer_path, ..*self.port });
        let alpha = alpha(class, &keys);
        Some(ClassConfig {
            name: class.name.clone(),
            service: service?,
            shaper: shaper.ok()?,
            law: law?,
            alpha: alpha.ok()?,
            // Beyond 64 bits it is more than any memory.
            reserved_bytes: class.reserved.map(|size| size.bytes().unwrap_or(u64::MAX)),
        })
    }

    /// The memory that all queues share, in bytes, if they do; `Err` if it was refused.
    fn memory(&self, classes: &Classes) -> Result<Option<u64>, ()> {
        let Some(size) = classes.memory else {
            if classes.headroom.is_some() {
                let hint = format!("add memory to [{}], as in \"2 MB\", or remove headroom", self.keys.path);
                self.keys.error("headroom", "the queues share no memory", hint);
                return Err(());
            }
            if self.port.has_pool {
                return Ok(None);
            }
            for (index, queue) in classes.queues.iter().enumerate() {
                let given = [("alpha", queue.alpha.is_some()), ("reserved", queue.reserved.is_some())];
                if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                    let hint = format!(
                        "add memory to [{}], as in \"2 MB\", or shared_buffer to the switch, or remove {key}",
                        self.keys.path
                    );
                    self.queue_keys(index).error(key, "the queues share no memory", hint);
                    return Err(());
                }
            }
            return Ok(None);
        };
        let Some(memory_bytes) = size.bytes().filter(|bytes| *bytes > 0) else {
            let hint = "as in \"2 MB\"; remove the key if each queue has its own limit only";
            self.keys.error("memory", "the memory needs a size above 0", hint);
            return Err(());
        };
        let memory_bytes = without_headroom(memory_bytes, classes.headroom, &self.keys)?;
        let reserved = classes.queues.iter().filter_map(|queue| queue.reserved);
        let all = reserved.map(|size| size.bytes()).try_fold(0u64, |sum, bytes| sum.checked_add(bytes?));
        if all.is_none_or(|all| all > memory_bytes) {
            let hint = "write less as reserved of the queues, or a larger memory";
            let and = if classes.headroom.is_some() { " and headroom" } else { "" };
            self.keys.error("memory", format!("{size} are less than what is reserved{and}"), hint);
            return Err(());
        }
        Ok(Some(memory_bytes))
    }

    fn service(&self, class: &ClassQueue, least_weight: u32, keys: &Table<'_>) -> Option<Service> {
        const MOST_WEIGHT: u32 = 10_000;
        let Some(weight) = class.weight else { return Some(Service::Strict) };
        if class.priority.is_some() {
            let hint = "remove weight, or remove priority to have a share";
            keys.error("weight", "a strict queue has no weight: it sends before all weighted ones", hint);
            return None;
        }
        if !(1..=MOST_WEIGHT).contains(&weight) {
            let hint = format!("write a whole number from 1 to {MOST_WEIGHT}, as in 1");
            keys.error("weight", format!("a weight of {weight}"), hint);
            return None;
        }
        // Rounded to whole bytes: shares are exact if weights are multiples of the least, and else to a byte a turn.
        let exact = u64::from(self.port.mtu) * u64::from(weight);
        let quantum = (exact + u64::from(least_weight / 2)) / u64::from(least_weight);
        Some(Service::Weighted { quantum_bytes: u32::try_from(quantum).ok()? })
    }

    /// `Err` if it was refused.
    fn shaper(&self, class: &ClassQueue, keys: &Table<'_>) -> Result<Option<ShaperConfig>, ()> {
        let Some(shape) = class.shape else {
            if class.burst.is_some() {
                keys.error("burst", "a burst needs a rate", "add shape, as in \"1 Gbit/s\", or remove burst");
                return Err(());
            }
            return Ok(None);
        };
        let rate = self.port.remarks.finite_rate(shape, &keys.at("shape")).ok_or(())?;
        if rate > self.port.rate {
            let hint = "write at most the link's rate, or remove shape";
            keys.error(
                "shape",
                format!("the queue would be shaped to {shape}, which is above the link's rate"),
                hint,
            );
            return Err(());
        }
        let mtu = u64::from(self.port.mtu);
        let bytes = class.burst.map_or(Some(10 * mtu), |burst| burst.bytes());
        let Some(burst_bytes) = bytes.and_then(|bytes| u32::try_from(bytes).ok()) else {
            keys.error(
                "burst",
                "the burst is too large: it never ends",
                "write at most \"4 GB\", as in \"15 kB\"",
            );
            return Err(());
        };
        if u64::from(burst_bytes) < mtu {
            let hint = format!("write at least \"{mtu} B\", as in \"15 kB\"");
            keys.error("burst", format!("the burst does not hold one packet of {mtu} B"), hint);
            return Err(());
        }
        Ok(Some(ShaperConfig { rate, burst_bytes }))
    }
}

/// Refuses shapers on a link that sends at opportunities: between two of them nothing can be sent, whatever the bucket
/// allows.
pub(crate) fn check_shapers(law: Option<&QueueConfig>, schedule: &Schedule, keys: &Table<'_>) {
    let Some(QueueConfig::Classes(classes)) = law else { return };
    if schedule.opportunities.is_none() {
        return;
    }
    for (index, _) in classes.queues.iter().enumerate().filter(|(_, queue)| queue.shaper.is_some()) {
        let hint = "remove shape, or give the link a rate";
        let message = "a link that sends at opportunities has no shaped queues";
        keys.error(&format!("aqm.queues[{index}].shape"), message, hint);
    }
}

/// The part of a memory that queues may hold; `Err` if the headroom was refused.
pub(crate) fn without_headroom(size_bytes: u64, headroom: Option<Size>, keys: &Table<'_>) -> Result<u64, ()> {
    let Some(headroom) = headroom else { return Ok(size_bytes) };
    match headroom.bytes().and_then(|bytes| size_bytes.checked_sub(bytes)).filter(|left| *left > 0) {
        Some(left) => Ok(left),
        None => {
            let hint = "write less headroom, or a larger memory";
            keys.error("headroom", format!("{headroom} leave nothing for queues"), hint);
            Err(())
        }
    }
}

/// The alpha of a queue, if it has one of its own; `Err` if it was refused.
fn alpha(class: &ClassQueue, keys: &Table<'_>) -> Result<Option<f64>, ()> {
    match class.alpha {
        Some(alpha) if !MemoryShare::is_alpha(alpha) => {
            let hint = "write a number above 0, as in alpha = 1; switches have powers of two from 1/128 to 8";
            keys.error("alpha", format!("an alpha of {alpha}"), hint);
            Err(())
        }
        alpha => Ok(alpha),
    }
}
