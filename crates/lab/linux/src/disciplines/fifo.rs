//! `fifo`: the kernel's own.

use super::{Action, Discipline, Express, QueueMapping, Site, below, handle};
use crate::refusal::Refusals;
use shoal_aqm::{Extent, FifoConfig};
use shoal_packet::Reason;
use shoal_units::Rate;

impl Express for FifoConfig {
    // It has no law: nothing is marked, and dropped what does not fit.
    const MARKS: Reason = Reason::Buffer;
    const DROPS: Reason = Reason::Buffer;

    fn express(&self, site: &Site<'_>, _: &mut Refusals) -> Option<QueueMapping> {
        let (discipline, rule) = tail_drop(self.limit, site.rate, below(1), 10);
        Some(QueueMapping::of(discipline, vec![rule]))
    }
}

/// `pfifo` or `bfifo` at a place.
pub(super) fn tail_drop(limit: Extent, rate: Rate, parent: u32, major: u32) -> (Discipline, String) {
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
        kind: kind.into(),
        action: Action::Add,
        options: number.to_ne_bytes().to_vec(),
        tc: format!("{kind} limit {number}"),
    };
    (discipline, rule)
}
