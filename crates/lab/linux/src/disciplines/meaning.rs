//! What the records of a queue mean: why it marks or drops.

use crate::records::{LineEvent, LineRecord};
use shoal_aqm::{Extent, QueueConfig};
use shoal_packet::Reason;
use shoal_scenario::Link;

/// A kernel does not say why. Where a law has several reasons, its usual one is given.
pub(crate) fn reasons(queue: &QueueConfig) -> (Reason, Reason) {
    match queue {
        QueueConfig::Step(_) => (Reason::Threshold, Reason::Threshold),
        QueueConfig::Codel(_) | QueueConfig::FqCodel(_) => (Reason::Sojourn, Reason::Sojourn),
        QueueConfig::Coupled(_) | QueueConfig::DualCoupled(_) | QueueConfig::DualPi2(_) => {
            (Reason::Coupled, Reason::Early)
        }
        _ => (Reason::Early, Reason::Early),
    }
}

/// Why the queue of a link dropped a packet.
pub(crate) fn drop_reason(link: &Link, record: &LineRecord) -> Reason {
    let by_law = match record.event {
        LineEvent::Evicted => false,
        LineEvent::Refused | LineEvent::Overflow => {
            let refused = record.event == LineEvent::Refused;
            is_law_on_arrival(&link.queue, refused, has_room(link, record))
        }
        _ => true,
    };
    if by_law { reasons(&link.queue).1 } else { Reason::Buffer }
}

/// Whether the packet would have fitted.
fn has_room(link: &Link, record: &LineRecord) -> bool {
    let with_it = u64::from(record.backlog_bytes) + u64::from(record.size);
    match link.queue.limit() {
        Extent::Unlimited => true,
        Extent::Packets(packets) => record.backlog_packets < packets,
        Extent::Bytes(bytes) => with_it <= bytes,
        Extent::Time(span) => link.rate.is_none_or(|rate| with_it <= rate.bytes_in(span)),
    }
}

/// Whether a packet that was dropped on arrival had met the law, and not a full buffer. Disciplines answer the former with
/// `NET_XMIT_CN` (`refused`) and the latter with `NET_XMIT_DROP`; PIE gives the latter to both, and fq_codel, whose law acts on
/// departure, the former if it cut the packet's own queue.
fn is_law_on_arrival(queue: &QueueConfig, refused: bool, has_room: bool) -> bool {
    match queue {
        QueueConfig::Pie(_) => has_room,
        QueueConfig::FqCodel(_) => false,
        _ => refused,
    }
}
