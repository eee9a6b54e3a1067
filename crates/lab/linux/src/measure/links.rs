//! What happened at one monitored link.

use crate::disciplines::{drop_reason, reasons};
use crate::records::{LineEvent, LineRecord};
use shoal_measure::{MeterPace, QueueBin, QueueMeter};
use shoal_packet::{Class, Reason};
use shoal_scenario::Link;
use shoal_trace::{LinkIndex, QueueRow, Series};
use shoal_units::{Rate, Time};

use super::time;

/// Meter and bins of a link.
pub(super) struct LinkRun<'a> {
    pub link: &'a Link,
    pub meter: QueueMeter,
    bin: Option<QueueBin>,
    mark_reason: Reason,
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
            mark_reason: reasons(&link.queue).0,
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
        let class = if record.before.is_capable() { Class::Ect } else { Class::NotEct };
        if record.event.is_arrival() {
            self.meter.on_arrival(at, class);
        }
        if record.marked() {
            self.meter.on_mark(at, Class::Ect, self.mark_reason);
            if let Some(bin) = &mut self.bin {
                bin.on_mark();
            }
        }
        match record.event {
            LineEvent::Queued => {
                self.backlog(record, at);
                self.meter.on_join(at, class);
            }
            LineEvent::Refused | LineEvent::Overflow => self.drop(record, at, class),
            LineEvent::Dropped | LineEvent::Evicted => {
                self.backlog(record, at);
                self.meter.on_leave(at, class);
                self.drop(record, at, class);
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
            // Of captures.
            LineEvent::Arrived => {}
        }
    }

    fn drop(&mut self, record: &LineRecord, at: Time, class: Class) {
        self.meter.on_drop(at, class, drop_reason(self.link, record));
        if let Some(bin) = &mut self.bin {
            bin.on_drop();
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
