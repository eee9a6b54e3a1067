//! Queues without an average: tail drop, and the step, which the kernel's RED can be.

use super::red::{self, red_flags};
use super::{Action, Discipline, QueueMapping, Site, below, handle};
use crate::refusal::Refusals;
use shoal_aqm::{DecideAt, Extent, FifoConfig, StepConfig, TcRed};
use shoal_units::Rate;

/// `pfifo` or `bfifo` at a place.
fn tail_drop(limit: Extent, rate: Rate, parent: u32, major: u32) -> (Discipline, String) {
    let (kind, number, rule) = match limit {
        Extent::Packets(packets) => ("pfifo", packets, format!("buffer: pfifo limit {packets} packets")),
        Extent::Bytes(bytes) => {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            ("bfifo", bytes, format!("buffer: bfifo limit {bytes} B of IP packets"))
        }
        Extent::Time(span) => {
            let bytes = u32::try_from(rate.bytes_in(span)).unwrap_or(u32::MAX);
            ("bfifo", bytes, format!("buffer: {span} of the line rate = bfifo limit {bytes} B of IP packets"))
        }
        Extent::Unlimited => ("pfifo", u32::MAX, "buffer: pfifo without limit".to_owned()),
    };
    let discipline = Discipline {
        parent,
        handle: handle(major),
        kind,
        action: Action::Add,
        options: number.to_ne_bytes().to_vec(),
        tc: format!("{kind} limit {number}"),
    };
    (discipline, rule)
}

pub(super) fn fifo(config: FifoConfig, rate: Rate) -> QueueMapping {
    let (discipline, rule) = tail_drop(config.limit, rate, below(1), 10);
    QueueMapping::of(discipline, vec![rule])
}

/// RED whose average is the queue itself (Wlog 0) and whose thresholds are equal marks everything that finds at least the
/// threshold waiting: `red_calc_qavg_no_idle_time` gives `backlog`, `red_cmp_thresh` compares with `>=`.
pub(super) fn step(config: &StepConfig, site: &Site<'_>, refusals: &mut Refusals) -> Option<QueueMapping> {
    let (rate, mtu) = (site.rate, site.mtu);
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
            let bytes = rate.bytes_in(span);
            (
                (bytes + 1).saturating_sub(u64::from(mtu)),
                format!("threshold: {span} of the line rate = {bytes} B with an arriving packet of {mtu} B"),
            )
        }
        Extent::Unlimited => {
            let (discipline, rule) = tail_drop(config.limit, rate, below(1), 10);
            return Some(QueueMapping::of(discipline, vec![rule]));
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
        action: Action::Add,
        options: red::options(&tc, flags),
        tc: format!("red, qth_min = qth_max = {found}, Wlog 0, ecn{}", if nodrop { " nodrop" } else { "" }),
    };
    let rules = vec![
        rule,
        "step: RED with Wlog 0 (`tc red` itself cannot say that) compares the queue on arrival with one threshold"
            .to_owned(),
        buffer_rule,
    ];
    Some(QueueMapping { disciplines: vec![red, child], rules, ..QueueMapping::default() })
}
