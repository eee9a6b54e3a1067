//! Queues of the scenario as queue disciplines: what the kernel is told, and what one would type into `tc`.

use crate::attributes::Attributes;
use crate::kernel::Kernel;
use crate::refusal::Refusals;
use shoal_aqm::{DecideAt, Extent, FifoConfig, LinuxRedConfig, QueueConfig, StepConfig, TcRed};
use shoal_units::Rate;

mod dual_red;
use dual_red::dual_red;

/// Handle of a number: `10` is `10:0`.
pub(crate) const fn handle(major: u32) -> u32 {
    major << 16
}
/// Place below a discipline: `10:1`.
pub(crate) const fn below(major: u32) -> u32 {
    major << 16 | 1
}

/// One discipline in the order of configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Discipline {
    pub parent: u32,
    pub handle: u32,
    pub kind: &'static str,
    /// Content of `TCA_OPTIONS`.
    pub options: Vec<u8>,
    /// Arguments of `tc` that mean the same, after `parent ... handle ...`.
    pub tc: String,
}

/// A queue that Linux can express.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct QueueMapping {
    pub disciplines: Vec<Discipline>,
    /// In words: how the scenario's numbers became the kernel's.
    pub rules: Vec<String>,
}

/// The disciplines of a monitored link: the children of the line (handle 1:).
pub(crate) fn queue(
    config: &QueueConfig,
    rate: Rate,
    mtu: u32,
    kernel: &Kernel,
    refusals: &mut Refusals,
) -> Option<QueueMapping> {
    let mapping = match config {
        QueueConfig::Fifo(fifo) => Some(self::fifo(*fifo, rate)),
        QueueConfig::Step(step) => self::step(step, rate, mtu, refusals),
        QueueConfig::LinuxRed(red) => linux_red(red, refusals),
        QueueConfig::DualRed(dual) => dual_red(dual, rate, refusals),
        QueueConfig::Red(_) => {
            refusals.add(
                PLACE,
                "`red` is RED as published, with any weight and floating point; the kernel has its own RED",
                "use kind = \"linux-red\", which is that one on both planes",
            );
            None
        }
        other => {
            refusals.add(
                PLACE,
                format!("the kernel of the guest has no discipline for `{}`", name(other)),
                "on Linux: fifo, step, linux-red, dual-red",
            );
            None
        }
    }?;
    for discipline in &mapping.disciplines {
        if !kernel.disciplines.iter().any(|kind| kind == discipline.kind) {
            refusals.add(
                PLACE,
                format!("Linux {} has no discipline `{}`", kernel.release, discipline.kind),
                "add it to linux/kernel/uml.config and run `shoal linux build`",
            );
        }
    }
    Some(mapping)
}

const PLACE: &str = "bottleneck.aqm";

fn name(config: &QueueConfig) -> String {
    let debug = format!("{config:?}");
    debug.split('(').next().unwrap_or_default().to_lowercase()
}

/// `pfifo` or `bfifo` at a place.
fn tail_drop(limit: Extent, rate: Rate, parent: u32, major: u32) -> (Discipline, String) {
    let (kind, number, rule) = match limit {
        Extent::Packets(packets) => ("pfifo", packets, format!("buffer: pfifo limit {packets} packets")),
        Extent::Bytes(bytes) => {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            ("bfifo", bytes, format!("buffer: bfifo limit {bytes} B of IP packets"))
        }
        Extent::Time(span) => {
            let bytes = u32::try_from(rate.bytes_in(span).get()).unwrap_or(u32::MAX);
            ("bfifo", bytes, format!("buffer: {span} of the line rate = bfifo limit {bytes} B of IP packets"))
        }
        Extent::Unlimited => ("pfifo", u32::MAX, "buffer: pfifo without limit".to_owned()),
    };
    let discipline = Discipline {
        parent,
        handle: handle(major),
        kind,
        options: number.to_ne_bytes().to_vec(),
        tc: format!("{kind} limit {number}"),
    };
    (discipline, rule)
}

fn fifo(config: FifoConfig, rate: Rate) -> QueueMapping {
    let (discipline, rule) = tail_drop(config.limit, rate, below(1), 10);
    QueueMapping { disciplines: vec![discipline], rules: vec![rule] }
}

/// Flags of `struct tc_red_qopt` (`include/uapi/linux/pkt_sched.h`).
mod red_flags {
    pub(super) const ECN: u8 = 1;
    pub(super) const HARDDROP: u8 = 2;
    pub(super) const ADAPTATIVE: u8 = 4;
    pub(super) const NODROP: u8 = 8;
}

/// Numbers of the attributes (same file).
mod red_attributes {
    pub(super) const PARMS: u16 = 1;
    pub(super) const STAB: u16 = 2;
    pub(super) const MAX_P: u16 = 3;
    pub(super) const FLAGS: u16 = 4;
}

/// `struct tc_red_qopt`: limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags. NODROP travels in its own attribute.
fn red_options(tc: &TcRed, flags: u8) -> Vec<u8> {
    let mut parms = Vec::new();
    for number in [tc.limit_bytes, tc.min_bytes, tc.max_bytes] {
        parms.extend(number.to_ne_bytes());
    }
    // Either all flags in the structure or all of them in the attribute (`red_get_flags`).
    parms.extend([tc.wlog, tc.plog, tc.scell_log, 0]);
    let selector =
        u32::from(red_flags::ECN | red_flags::HARDDROP | red_flags::ADAPTATIVE | red_flags::NODROP);
    let mut bitfield = u32::from(flags).to_ne_bytes().to_vec();
    bitfield.extend(selector.to_ne_bytes());
    Attributes::default()
        .bytes(red_attributes::PARMS, &parms)
        .bytes(red_attributes::STAB, &tc.stab)
        .u32(red_attributes::MAX_P, tc.max_p)
        .bytes(red_attributes::FLAGS, &bitfield)
        .into_bytes()
}

/// RED whose average is the queue itself (Wlog 0) and whose thresholds are equal marks everything that finds at least the
/// threshold waiting: `red_calc_qavg_no_idle_time` gives `backlog`, `red_cmp_thresh` compares with `>=`.
fn step(config: &StepConfig, rate: Rate, mtu: u32, refusals: &mut Refusals) -> Option<QueueMapping> {
    if config.decide == DecideAt::Dequeue {
        refusals.add(
            "bottleneck.aqm.decide",
            "the kernel's RED decides on arrival only",
            "leave decide out, or run this on the simulator",
        );
        return None;
    }
    let nodrop = match config.drop_threshold {
        Extent::Unlimited => true,
        same if same == config.threshold => false,
        _ => {
            refusals.add(
                "bottleneck.aqm.drop_threshold",
                "the kernel's RED has one threshold for marks and drops",
                "make drop_threshold equal to threshold, or leave it out",
            );
            return None;
        }
    };
    // The simulator counts the arriving packet, the kernel does not: K + 1 packets with it are K without.
    let (found_bytes, rule) = match config.threshold {
        Extent::Packets(packets) => (
            u64::from(packets) * u64::from(mtu),
            format!(
                "threshold: more than {packets} packets with the arriving one = at least {packets} x {mtu} B before it"
            ),
        ),
        Extent::Bytes(bytes) => (
            (bytes + 1).saturating_sub(u64::from(mtu)),
            format!("threshold: more than {bytes} B with an arriving packet of {mtu} B"),
        ),
        Extent::Time(span) => {
            let bytes = rate.bytes_in(span).get();
            (
                (bytes + 1).saturating_sub(u64::from(mtu)),
                format!("threshold: {span} of the line rate = {bytes} B with an arriving packet of {mtu} B"),
            )
        }
        Extent::Unlimited => {
            let (discipline, rule) = tail_drop(config.limit, rate, below(1), 10);
            return Some(QueueMapping { disciplines: vec![discipline], rules: vec![rule] });
        }
    };
    let Some(found) = u32::try_from(found_bytes).ok().filter(|bytes| bytes.leading_zeros() > 0) else {
        refusals.add(
            "bottleneck.aqm.threshold",
            "the kernel's thresholds have 31 bits",
            "write less than 2 GiB",
        );
        return None;
    };
    let (child, buffer_rule) = tail_drop(config.limit, rate, below(10), 11);
    // The average needs no ageing: the next arrival replaces it.
    let tc = TcRed {
        limit_bytes: u32::MAX >> 1,
        min_bytes: found,
        max_bytes: found,
        wlog: 0,
        plog: 0,
        scell_log: 0,
        stab: [31; 256],
        max_p: u32::MAX,
    };
    let flags = red_flags::ECN | if nodrop { red_flags::NODROP } else { 0 };
    let red = Discipline {
        parent: below(1),
        handle: handle(10),
        kind: "red",
        options: red_options(&tc, flags),
        tc: format!("red, qth_min = qth_max = {found}, Wlog 0, ecn{}", if nodrop { " nodrop" } else { "" }),
    };
    let rules = vec![
        rule,
        "step: RED with Wlog 0 (`tc red` itself cannot say that) compares the queue on arrival with one threshold"
            .to_owned(),
        buffer_rule,
    ];
    Some(QueueMapping { disciplines: vec![red, child], rules })
}

fn linux_red(config: &LinuxRedConfig, refusals: &mut Refusals) -> Option<QueueMapping> {
    if config.legacy_probability {
        refusals.add(
            "bottleneck.aqm.kernel",
            "the probability rounded to a power of two is that of kernels before 3.3",
            "write the version of a kernel from 3.3 on, or leave `kernel` out",
        );
        return None;
    }
    let tc = match config.solve() {
        Ok(tc) => tc,
        Err(error) => {
            refusals.add(PLACE, error.to_string(), "change min, max, burst, avpkt or probability");
            return None;
        }
    };
    let mut flags = 0;
    let mut words = String::new();
    for (set, flag, word) in [
        (config.ecn, red_flags::ECN, " ecn"),
        (config.harddrop, red_flags::HARDDROP, " harddrop"),
        (config.nodrop, red_flags::NODROP, " nodrop"),
        (config.adaptive, red_flags::ADAPTATIVE, " adaptive"),
    ] {
        if set {
            flags |= flag;
            words += word;
        }
    }
    let discipline = Discipline {
        parent: below(1),
        handle: handle(10),
        kind: "red",
        options: red_options(&tc, flags),
        tc: format!(
            "red limit {} min {} max {} avpkt {} burst {} probability {} bandwidth {}bit{words}",
            tc.limit_bytes,
            tc.min_bytes,
            tc.max_bytes,
            config.avpkt_bytes,
            config.burst_packets,
            config.probability,
            config.bandwidth.as_bps(),
        ),
    };
    let rule = format!(
        "linux-red: Wlog {}, Plog {}, Scell_log {}, max_P {} / 2^32, as tc computes them",
        tc.wlog, tc.plog, tc.scell_log, tc.max_p
    );
    Some(QueueMapping { disciplines: vec![discipline], rules: vec![rule] })
}
