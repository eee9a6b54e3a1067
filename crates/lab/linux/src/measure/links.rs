//! What happened at one monitored link.

use crate::disciplines::{is_law_on_arrival, limit_of, reasons};
use crate::records::{LineEvent, LineRecord};
use shoal_aqm::Extent;
use shoal_scenario::Link;
use shoal_trace::{
    DropReason, LinkIndex, MarkReason, MeterPace, QueueBin, QueueMeter, QueueRow, Series, TrafficClass,
};
use shoal_units::{Rate, Time};

use super::time;

/// Meter and bins of a link.
pub(super) struct LinkRun<'a> {
    pub link: &'a Link,
    pub meter: QueueMeter,
    bin: Option<QueueBin>,
    law: (MarkReason, DropReason),
    /// Packets and bytes.
    waiting: (u32, u64),
}

impl<'a> LinkRun<'a> {
    pub fn new(link: &'a Link, index: u32, window_start: Time, pace: MeterPace, binned: bool) -> Self {
        // A monitored link has one.
        let rate = link.rate.unwrap_or(Rate::from_bps(1));
        Self {
            link,
            meter: QueueMeter::new(window_start, rate, pace),
            bin: binned.then(|| QueueBin::new(LinkIndex(index), rate)),
            law: reasons(&link.queue),
            waiting: (0, 0),
        }
    }

    /// Bytes of a packet on the wire.
    pub fn wire_bytes(&self, record: &LineRecord) -> u32 {
        u32::from(record.size) + u32::from(self.link.overhead_bytes)
    }

    pub fn close_bin(&mut self, at: Time, series: &mut Series<QueueRow>) {
        if let Some(bin) = &mut self.bin {
            series.push(bin.close(at, None, None));
        }
    }

    pub fn on_packet(&mut self, record: &LineRecord, at: Time) {
        let class = if record.before.is_capable() { TrafficClass::Ect } else { TrafficClass::NotEct };
        if record.event.is_arrival() {
            self.meter.on_arrival(at, class);
        }
        if record.marked() {
            self.meter.on_mark(at, TrafficClass::Ect, self.law.0);
            if let Some(bin) = &mut self.bin {
                bin.on_mark();
            }
        }
        match record.event {
            LineEvent::Queued => {
                self.backlog(record, at);
                self.meter.on_join(at, class);
            }
            LineEvent::Refused | LineEvent::Overflow => {
                let refused = record.event == LineEvent::Refused;
                let by_law = is_law_on_arrival(&self.link.queue, refused, self.has_room(record));
                self.drop(at, class, by_law);
            }
            LineEvent::Dropped | LineEvent::Evicted => {
                self.backlog(record, at);
                self.meter.on_leave(at, class);
                self.drop(at, class, record.event == LineEvent::Dropped);
            }
            LineEvent::Started => {
                let wire = self.wire_bytes(record);
                self.backlog(record, at);
                self.meter.on_leave(at, class);
                self.meter.on_departure(at, class, at.since(time(record.queued_ns)), wire);
                if let Some(bin) = &mut self.bin {
                    bin.on_departure(at, wire);
                }
            }
        }
    }

    fn drop(&mut self, at: Time, class: TrafficClass, by_law: bool) {
        self.meter.on_drop(at, class, if by_law { self.law.1 } else { DropReason::Buffer });
        if let Some(bin) = &mut self.bin {
            bin.on_drop();
        }
    }

    /// Whether the packet would have fitted.
    fn has_room(&self, record: &LineRecord) -> bool {
        let with_it = u64::from(record.backlog_bytes) + u64::from(record.size);
        match limit_of(&self.link.queue) {
            Extent::Unlimited => true,
            Extent::Packets(packets) => record.backlog_packets < packets,
            Extent::Bytes(bytes) => with_it <= bytes,
            Extent::Time(span) => self.link.rate.is_none_or(|rate| with_it <= rate.bytes_in(span).get()),
        }
    }

    /// What waits is counted here, in the order of time.
    fn backlog(&mut self, record: &LineRecord, at: Time) {
        let (packets, bytes) = self.waiting;
        let size = u64::from(record.size);
        self.waiting = if record.event == LineEvent::Queued {
            (packets + 1, bytes + size)
        } else {
            (packets.saturating_sub(1), bytes.saturating_sub(size))
        };
        let (packets, bytes) = self.waiting;
        self.meter.on_backlog(at, packets, bytes);
        if let Some(bin) = &mut self.bin {
            bin.on_backlog(at, packets, bytes);
        }
    }
}
