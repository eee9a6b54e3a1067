//! Events at one monitored link.

use crate::disciplines::{drop_reason, mark_reason};
use crate::records::{LineEvent, LineRecord};
use shoal_measure::{Collector, Departure, NO_FLOW};
use shoal_packet::{Backlog, Class, Reason};
use shoal_scenario::Link;
use shoal_units::Time;

use super::{flow_of, time};

/// A link with its present backlog.
pub(super) struct LinkRun<'a> {
    link: &'a Link,
    mark_reason: Reason,
    waiting: Backlog,
}

impl<'a> LinkRun<'a> {
    pub fn new(link: &'a Link) -> Self {
        Self { link, mark_reason: mark_reason(link), waiting: Backlog::default() }
    }

    /// Reports a record to the collector.
    pub fn on_packet(&mut self, record: &LineRecord, at: Time, collector: &mut Collector) {
        let class = if record.before.is_capable() { Class::Ect } else { Class::NotEct };
        let flow = flow_of(record).map_or(NO_FLOW, |flow| flow as u32);
        let link = record.link.into();
        if record.event.is_arrival() {
            collector.on_arrival(link, class, at);
        }
        if record.marked() {
            collector.on_mark(link, flow, self.mark_reason, at);
        }
        match record.event {
            LineEvent::Queued => {
                self.waiting = self.waiting + Backlog { packets: 1, bytes: record.size.into() };
                collector.on_queued(link, class, self.waiting, at);
            }
            LineEvent::Refused | LineEvent::Overflow => {
                collector.on_drop(link, flow, class, drop_reason(self.link, record), at);
            }
            LineEvent::Dropped | LineEvent::Evicted => {
                self.leave(record);
                let reason = drop_reason(self.link, record);
                collector.on_drop_from_queue(link, flow, class, reason, self.waiting, at);
            }
            LineEvent::Started => {
                self.leave(record);
                let departure = Departure {
                    flow,
                    class,
                    has_data: record.payload > 0,
                    sojourn: at.since(time(record.queued_ns)),
                    wire_bytes: u32::from(record.size) + u32::from(self.link.overhead_bytes),
                };
                collector.on_departure(link, departure, self.waiting, at);
            }
            // Such records exist only in captures.
            LineEvent::Arrived => {}
        }
    }

    /// Removes a packet from the backlog, which is counted here in the order of time; packets of the set-up
    /// were never added.
    fn leave(&mut self, record: &LineRecord) {
        let Backlog { packets, bytes } = self.waiting;
        self.waiting = Backlog {
            packets: packets.saturating_sub(1),
            bytes: bytes.saturating_sub(u64::from(record.size)),
        };
    }
}
