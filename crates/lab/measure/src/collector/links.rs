//! What happens to packets at monitored links.

use super::Collector;
use crate::{MeterPace, QueueBin, QueueMeter};
use shoal_packet::{Class, Reason};
use shoal_scenario::Experiment;
use shoal_trace::{FlowEvent, LinkIndex};
use shoal_units::{Span, Time};

/// What waits in the queue of a link after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

/// A packet whose transmission begins.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Its connection, or [`super::NO_FLOW`].
    pub flow: u32,
    /// Its class.
    pub class: Class,
    /// Whether it carries data.
    pub has_data: bool,
    /// How long it waited.
    pub sojourn: Span,
    /// Its size on the wire, framing included.
    pub wire_bytes: u32,
}

/// One monitored link.
pub(super) struct MonitoredLink {
    pub(super) meter: QueueMeter,
    bin: Option<QueueBin>,
}

impl MonitoredLink {
    /// Those of an experiment, in the order of the result.
    pub(super) fn all(experiment: &Experiment) -> Vec<Self> {
        let trace = &experiment.trace;
        let pace = MeterPace { sample: trace.sample_interval, windows: trace.window.unwrap_or(Span::ZERO) };
        let window_start = Time::ZERO + experiment.warmup;
        // A monitored link has a rate.
        let rates = experiment.monitored().filter_map(|(_, link)| link.rate);
        let links = (0u32..).zip(rates).map(|(index, rate)| Self {
            meter: QueueMeter::new(window_start, rate, pace),
            bin: trace.series_interval.is_some().then(|| QueueBin::new(LinkIndex(index), rate)),
        });
        links.collect()
    }
}

/// `link` is the number of a link among the monitored ones, `flow` that of a connection.
impl Collector {
    /// A packet arrives at a queue, whatever becomes of it.
    #[inline]
    pub fn on_arrival(&mut self, link: u32, class: Class, now: Time) {
        self.links[link as usize].meter.on_arrival(now, class);
    }

    /// It waits.
    #[inline]
    pub fn on_queued(&mut self, link: u32, class: Class, waiting: Waiting, now: Time) {
        self.on_backlog(link, waiting, now);
        self.links[link as usize].meter.on_join(now, class);
    }

    /// A packet is marked, on arrival or on departure: to be called before what becomes of it.
    pub fn on_mark(&mut self, link: u32, flow: u32, reason: Reason, at: Time) {
        let MonitoredLink { meter, bin } = &mut self.links[link as usize];
        meter.on_mark(at, Class::Ect, reason);
        if let Some(bin) = bin {
            bin.on_mark();
        }
        self.on_flow_event(flow, FlowEvent::Mark, at);
    }

    /// An arrival is dropped.
    pub fn on_drop(&mut self, link: u32, flow: u32, class: Class, reason: Reason, at: Time) {
        let MonitoredLink { meter, bin } = &mut self.links[link as usize];
        meter.on_drop(at, class, reason);
        if let Some(bin) = bin {
            bin.on_drop();
        }
        self.on_flow_event(flow, FlowEvent::Drop, at);
    }

    /// A packet that waited is dropped, on departure or to make room.
    #[inline]
    pub fn on_drop_from_queue(
        &mut self,
        link: u32,
        flow: u32,
        class: Class,
        reason: Reason,
        waiting: Waiting,
        at: Time,
    ) {
        self.on_backlog(link, waiting, at);
        self.links[link as usize].meter.on_leave(at, class);
        self.on_drop(link, flow, class, reason, at);
    }

    /// Transmission of a packet begins.
    #[inline]
    pub fn on_departure(&mut self, link: u32, packet: Departure, waiting: Waiting, at: Time) {
        self.on_backlog(link, waiting, at);
        let MonitoredLink { meter, bin } = &mut self.links[link as usize];
        meter.on_leave(at, packet.class);
        meter.on_departure(at, packet.class, packet.sojourn, packet.wire_bytes);
        if let Some(bin) = bin {
            bin.on_departure(at, packet.wire_bytes);
        }
        // Acknowledgements that cross a monitored link belong to the flow too, but not to its data rate.
        if packet.has_data
            && let Some(carried) = self.carried.get_mut(packet.flow as usize)
            && carried.link == link
        {
            carried.bytes += u64::from(packet.wire_bytes);
        }
    }

    /// Bytes of a flow's data on the wire of the first monitored link of its path.
    #[inline]
    pub fn wire_bytes(&self, flow: usize) -> u64 {
        self.carried[flow].bytes
    }

    /// Ends a bin of the queue series; `state` gives the average in bytes and the probability that the law of a link keeps,
    /// as far as they are known.
    pub fn close_queue_bins(&mut self, now: Time, state: impl Fn(u32) -> (Option<f64>, Option<f64>)) {
        let Some(series) = &mut self.queue else { return };
        for (number, link) in (0..).zip(&mut self.links) {
            if let Some(bin) = &mut link.bin {
                let (average_bytes, probability) = state(number);
                series.push(bin.close(now, average_bytes, probability));
            }
        }
    }

    #[inline]
    fn on_backlog(&mut self, link: u32, waiting: Waiting, at: Time) {
        let MonitoredLink { meter, bin } = &mut self.links[link as usize];
        meter.on_backlog(at, waiting.packets, waiting.bytes);
        if let Some(bin) = bin {
            bin.on_backlog(at, waiting.packets, waiting.bytes);
        }
    }
}
