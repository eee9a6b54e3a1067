//! Events at one monitored link.

use crate::disciplines::{drop_reason, mark_reason};
use crate::records::{LineEvent, LineRecord};
use shoal_measure::{Collector, Departure, NO_FLOW, QueueMeter};
use shoal_packet::{Backlog, Class};
use shoal_scenario::{Link, TrafficClasses};
use shoal_units::Time;

use super::{flow_of, time};

/// A link with its present backlog.
pub(super) struct LinkRun<'a> {
    link: &'a Link,
    waiting: Backlog,
    /// Its queues for traffic classes, if it has such, and what waits in each.
    classes: Option<(TrafficClasses, Vec<Backlog>)>,
}

impl<'a> LinkRun<'a> {
    pub(super) fn new(link: &'a Link) -> Self {
        let classes = link.traffic_classes().map(|classes| {
            let count = classes.names().count();
            (classes, vec![Backlog::default(); count])
        });
        Self { link, waiting: Backlog::default(), classes }
    }

    /// Reports a record to the collector.
    pub(super) fn on_packet(&mut self, record: &LineRecord, at: Time, collector: &mut Collector) {
        let class = if record.before.is_capable() { Class::Ect } else { Class::NotEct };
        let flow = flow_of(record).map_or(NO_FLOW, |flow| flow as u32);
        let link = record.link.into();
        let wire_bytes = u32::from(record.size) + u32::from(self.link.overhead_bytes);
        let sojourn = at.since(time(record.queued_ns));
        // Packets of the set-up were never added to what waits.
        let was_added = record.queued_ns >= 0;
        if record.event.is_arrival() {
            collector.on_arrival(link, class, at);
            if record.before.is_ce() {
                collector.on_marked_arrival(link, at);
            }
            self.of_class(collector, link, flow, |meter| meter.on_arrival(at, class));
        }
        if record.marked() {
            let reason = mark_reason(self.link, record);
            collector.on_mark(link, flow, reason, at);
            self.of_class(collector, link, flow, |meter| meter.on_mark(at, Class::Ect, reason));
        }
        match record.event {
            LineEvent::Queued => {
                self.join(record, flow);
                collector.on_queued(link, class, self.waiting, at);
                self.of_class(collector, link, flow, |meter| meter.on_enter(at, class, record.size.into()));
            }
            LineEvent::Refused | LineEvent::Overflow => {
                let reason = drop_reason(self.link, record, self.own_backlog(flow).copied());
                collector.on_drop(link, flow, class, reason, at);
                self.of_class(collector, link, flow, |meter| meter.on_drop(at, class, reason));
            }
            LineEvent::Dropped | LineEvent::Evicted => {
                self.leave(record, flow);
                let reason = drop_reason(self.link, record, None);
                collector.on_drop_from_queue(link, flow, class, reason, self.waiting, at);
                self.of_class(collector, link, flow, |meter| {
                    if was_added {
                        meter.on_exit(at, class, record.size.into());
                    }
                    meter.on_drop(at, class, reason);
                });
            }
            LineEvent::Started => {
                self.leave(record, flow);
                let departure = Departure { flow, class, has_data: record.payload > 0, sojourn, wire_bytes };
                collector.on_departure(link, departure, self.waiting, at);
                self.of_class(collector, link, flow, |meter| {
                    if was_added {
                        meter.on_exit(at, class, record.size.into());
                    }
                    meter.on_departure(at, class, sojourn, wire_bytes);
                });
            }
            // Such records exist only in captures.
            LineEvent::Arrived => {}
        }
    }

    /// Tells the meter of the flow's queue for traffic classes what the link was told.
    fn of_class(&self, collector: &mut Collector, link: u32, flow: u32, tell: impl FnOnce(&mut QueueMeter)) {
        if self.classes.is_some()
            && let Some(meter) = collector.class_meter(link, flow)
        {
            tell(meter);
        }
    }

    /// What waits in the flow's own queue, where the link has several.
    fn own_backlog(&mut self, flow: u32) -> Option<&mut Backlog> {
        let (classes, waiting) = self.classes.as_mut()?;
        waiting.get_mut(classes.of_flow(flow))
    }

    fn join(&mut self, record: &LineRecord, flow: u32) {
        let packet = Backlog { packets: 1, bytes: record.size.into() };
        self.waiting = self.waiting + packet;
        if let Some(own) = self.own_backlog(flow) {
            *own = *own + packet;
        }
    }

    /// Removes a packet from the backlog, which is counted here in the order of time; packets of the set-up
    /// were never added.
    fn leave(&mut self, record: &LineRecord, flow: u32) {
        let without = |Backlog { packets, bytes }| Backlog {
            packets: packets.saturating_sub(1),
            bytes: bytes.saturating_sub(u64::from(record.size)),
        };
        self.waiting = without(self.waiting);
        if record.queued_ns >= 0
            && let Some(own) = self.own_backlog(flow)
        {
            *own = without(*own);
        }
    }
}
