//! What the records of a queue mean: why it marks or drops.

use super::{is_law_on_arrival, reasons};
use crate::records::{LineEvent, LineRecord};
use shoal_aqm::Extent;
use shoal_packet::Reason;
use shoal_scenario::Link;

/// Why the queue of a link marked a packet.
pub(crate) fn mark_reason(link: &Link) -> Reason {
    reasons(&link.queue).0
}

/// Reason why the queue of a link dropped a packet.
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

/// Whether the buffer had room for the packet.
fn has_room(link: &Link, record: &LineRecord) -> bool {
    let with_it = u64::from(record.backlog_bytes) + u64::from(record.size);
    match link.queue.limit() {
        Extent::Unlimited => true,
        Extent::Packets(packets) => record.backlog_packets < packets,
        Extent::Bytes(bytes) => with_it <= bytes,
        Extent::Time(span) => link.rate.is_none_or(|rate| with_it <= rate.bytes_in(span)),
    }
}
