//! What the records of a queue mean: why it marks or drops.

use super::{is_law_on_arrival, reasons};
use crate::measure::flow_of;
use crate::records::{LineEvent, LineRecord};
use shoal_aqm::{Extent, QueueConfig};
use shoal_packet::{Backlog, Reason};
use shoal_scenario::Link;

/// Why the queue of a link marked a packet.
pub(crate) fn mark_reason(link: &Link, record: &LineRecord) -> Reason {
    reasons(law_of(link, record)).0
}

/// Reason why the queue of a link dropped a packet. `found`: what the packet found in its own queue, where that is
/// known and more waits at the link.
pub(crate) fn drop_reason(link: &Link, record: &LineRecord, found: Option<Backlog>) -> Reason {
    let law = law_of(link, record);
    let by_law = match record.event {
        LineEvent::Evicted => false,
        LineEvent::Refused | LineEvent::Overflow => {
            let refused = record.event == LineEvent::Refused;
            let all = Backlog { packets: record.backlog_packets, bytes: record.backlog_bytes.into() };
            is_law_on_arrival(law, refused, has_room(link, law, record.size, found.unwrap_or(all)))
        }
        _ => true,
    };
    if by_law { reasons(law).1 } else { Reason::Buffer }
}

/// The law that decides about a packet.
fn law_of<'a>(link: &'a Link, record: &LineRecord) -> &'a QueueConfig {
    match &link.queue {
        QueueConfig::Classes(classes) => {
            // What belongs to no flow has the code point 0, as flows beyond the last one.
            let flow = flow_of(record).map_or(u32::MAX, |flow| flow as u32);
            &classes.queues[usize::from(classes.queue_of(flow))].law
        }
        law => law,
    }
}

/// Whether the buffer had room for the packet.
fn has_room(link: &Link, law: &QueueConfig, size: u16, found: Backlog) -> bool {
    let with_it = found.bytes + u64::from(size);
    match law.limit() {
        Extent::Unlimited => true,
        Extent::Packets(packets) => found.packets < packets,
        Extent::Bytes(bytes) => with_it <= bytes,
        Extent::Time(span) => link.rate.is_none_or(|rate| with_it <= rate.bytes_in(span)),
    }
}
