//! Events of packets at monitored links.

use super::{Collector, NO_LINK};
use crate::traffic_classes::TrafficClassMeters;
use crate::{
    Bottleneck, Histogram, LinkBin, LinkDistributions, LinkHistory, Measures, MeterPace, QueueBin, QueueMeter,
};
use shoal_packet::{Backlog, Class, Reason};
use shoal_scenario::{Experiment, Link, OpportunitySchedule};
use shoal_trace::{FlowEvent, LinkIndex};
use shoal_units::{Rate, Span, Time};

/// A packet whose transmission begins.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Number of its connection, or [`super::NO_FLOW`].
    pub flow: u32,
    /// Class of the packet.
    pub class: Class,
    /// Whether it carries data.
    pub has_data: bool,
    /// Time that the packet waited.
    pub sojourn: Span,
    /// Size of the packet on the wire in bytes, framing included.
    pub wire_bytes: u32,
}

/// One monitored link.
pub(super) struct MonitoredLink {
    pub(super) meter: QueueMeter,
    bin: Option<QueueBin>,
    /// The closed bins of a link that changes.
    bins: Option<Vec<LinkBin>>,
    /// Bins of opportunities, if the link sends at opportunities.
    opportunities: Option<OpportunityBins>,
    /// Meters of the queues for traffic classes, if the link has such queues.
    classes: Option<Box<TrafficClassMeters>>,
}

/// How the bins of a link that sends at opportunities are made from those of a link that sends at its rate.
struct OpportunityBins {
    rate: Rate,
    schedule: OpportunitySchedule,
    /// When the current bin began.
    start: Time,
}

impl OpportunityBins {
    /// The utilisation of the bin that ends at `now`, from the one that the link would have at its rate: what was sent
    /// over what the mean rate allows of the interval in which the middle of the bin lies.
    fn utilisation(&mut self, at_rate: f64, now: Time) -> f64 {
        let middle = self.start + now.since(self.start) / 2;
        self.start = now;
        let mean_bps = self.schedule.mean_rate_at(middle).as_bps();
        if mean_bps == 0 { 0.0 } else { at_rate * self.rate.as_bps() as f64 / mean_bps as f64 }
    }
}

impl MonitoredLink {
    /// The monitored links of an experiment, in the order of the result.
    pub(super) fn all(experiment: &Experiment) -> Vec<Self> {
        let trace = &experiment.trace;
        let pace = MeterPace { sample: trace.sample_interval, windows: trace.window.unwrap_or(Span::ZERO) };
        let window_start = Time::ZERO + experiment.warmup;
        // A monitored link has a rate.
        let rates = experiment.monitored().filter_map(|(_, link)| Some((link.rate?, link)));
        let links = (0u32..).zip(rates).map(|(index, (rate, link))| {
            let changes = &link.schedule.rate;
            let mut meter = QueueMeter::new(window_start, rate, pace).with_rate_changes(changes.clone());
            if let Some(target) = trace.delay_target_of(link) {
                meter = meter.with_delay_target(target);
            }
            let binned = trace.series_interval.is_some();
            let bin = binned.then(|| QueueBin::new(LinkIndex(index), rate, changes.clone()));
            let schedule = link.schedule.opportunities.clone();
            let opportunities =
                schedule.map(|schedule| OpportunityBins { rate, schedule, start: Time::ZERO });
            let bins = (binned && !link.schedule.is_empty()).then(Vec::new);
            let classes = TrafficClassMeters::of(link, window_start, pace).map(Box::new);
            Self { meter, bin, bins, opportunities, classes }
        });
        links.collect()
    }

    // Inlined in its callers: as a call of its own it saves and restores six registers twice a packet.
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    fn on_backlog(&mut self, waiting: Backlog, at: Time) {
        self.meter.on_backlog(at, waiting.packets, waiting.bytes);
        if let Some(bin) = &mut self.bin {
            bin.on_backlog(at, waiting.packets, waiting.bytes);
        }
    }

    pub(super) fn replan(&mut self, link: &Link) {
        self.meter.replan(link.schedule.rate.clone());
        if let Some(bin) = &mut self.bin {
            bin.replan(link.schedule.rate.clone());
        }
        if let Some(classes) = &mut self.classes {
            classes.replan(&link.schedule.rate);
        }
    }

    /// The result of `link`, and the distributions behind it.
    pub(super) fn finish(self, link: &Link, experiment: &Experiment) -> (Bottleneck, LinkDistributions) {
        let window = (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration);
        let excess_bits = self.meter.excess_bits();
        let (mut result, distributions) = self.meter.finish(&link.name, window.1);
        result.classes = self.classes.map_or(Vec::new(), |classes| classes.finish(window.1));
        let packet_bytes = experiment.endpoints.iter().map(|one| u32::from(one.mtu_bytes)).max().unwrap_or(0);
        let target = experiment.trace.delay_target_of(link).unwrap_or(Span::ZERO);
        let measures = Measures { packet_bytes, target_s: target.as_secs_f64() };
        let bin = experiment.trace.series_interval.unwrap_or(Span::ZERO);
        let bins = self.bins.unwrap_or_default();
        result.history =
            LinkHistory::of(link, window, (result.departed_bytes, excess_bits), measures, (&bins, bin));
        if self.opportunities.is_some() {
            result.utilisation = result.history.as_ref().and_then(|history| history.capacity_used);
        }
        (result, distributions)
    }
}

/// In these calls `link` is the position among the monitored links, and `flow` the number of a connection.
impl Collector {
    /// Reports that a packet arrives at a queue, whether it is accepted or dropped.
    #[inline]
    pub fn on_arrival(&mut self, link: u32, class: Class, now: Time) {
        self.links[link as usize].meter.on_arrival(now, class);
    }

    /// Reports that the packet that arrives carries a mark, which a queue before this one has set.
    #[cold]
    pub fn on_marked_arrival(&mut self, link: u32, now: Time) {
        self.links[link as usize].meter.on_marked_arrival(now);
    }

    /// Reports that the arriving packet is queued.
    #[inline]
    pub fn on_queued(&mut self, link: u32, class: Class, waiting: Backlog, now: Time) {
        let link = &mut self.links[link as usize];
        link.on_backlog(waiting, now);
        link.meter.on_join(now, class);
    }

    /// Reports that a packet is marked, on arrival or on departure. Must be called before the packet's
    /// departure or drop.
    pub fn on_mark(&mut self, link: u32, flow: u32, reason: Reason, at: Time) {
        let MonitoredLink { meter, bin, .. } = &mut self.links[link as usize];
        meter.on_mark(at, Class::Ect, reason);
        if let Some(bin) = bin {
            bin.on_mark();
        }
        self.on_flow_event(flow, FlowEvent::Mark, at);
    }

    /// Reports that an arriving packet is dropped.
    pub fn on_drop(&mut self, link: u32, flow: u32, class: Class, reason: Reason, at: Time) {
        let MonitoredLink { meter, bin, .. } = &mut self.links[link as usize];
        meter.on_drop(at, class, reason);
        if let Some(bin) = bin {
            bin.on_drop();
        }
        self.on_flow_event(flow, FlowEvent::Drop, at);
    }

    /// Reports that a packet that had waited is dropped, on departure or to make room.
    #[inline]
    pub fn on_drop_from_queue(
        &mut self,
        link: u32,
        flow: u32,
        class: Class,
        reason: Reason,
        waiting: Backlog,
        at: Time,
    ) {
        let monitored = &mut self.links[link as usize];
        monitored.on_backlog(waiting, at);
        monitored.meter.on_leave(at, class);
        self.on_drop(link, flow, class, reason, at);
    }

    /// Reports that the transmission of a packet begins.
    #[inline]
    pub fn on_departure(&mut self, link: u32, packet: Departure, waiting: Backlog, at: Time) {
        let monitored = &mut self.links[link as usize];
        monitored.on_backlog(waiting, at);
        let MonitoredLink { meter, bin, .. } = monitored;
        meter.on_leave(at, packet.class);
        meter.on_departure(at, packet.class, packet.sojourn, packet.wire_bytes);
        if let Some(bin) = bin {
            bin.on_departure(at, packet.wire_bytes);
        }
        self.carry(link, packet);
    }

    /// Reports that a packet arrives at a queue in which none waits, and that its transmission begins at once: what
    /// waits over time is what it was. Returns false, without an effect, if the link has a series, which has more
    /// to record.
    #[inline]
    pub fn on_passing(&mut self, link: u32, packet: Departure, now: Time) -> bool {
        let MonitoredLink { meter, bin: None, .. } = &mut self.links[link as usize] else { return false };
        meter.on_arrival(now, packet.class);
        meter.on_departure(now, packet.class, packet.sojourn, packet.wire_bytes);
        self.carry(link, packet);
        true
    }

    /// Reports that queue protection sent a packet that arrived to the classic queue.
    pub fn on_redirection(&mut self, link: u32, now: Time) {
        self.links[link as usize].meter.on_redirection(now);
    }

    /// Adds a packet to what a flow's first monitored link has carried of it.
    #[inline]
    fn carry(&mut self, link: u32, packet: Departure) {
        // ACKs on a monitored link belong to the flow, but not to its data rate.
        if packet.has_data
            && let Some(carried) = self.carried.get_mut(packet.flow as usize)
            && carried.link == link
        {
            carried.bytes += u64::from(packet.wire_bytes);
        }
    }

    /// Reports that a packet of a connection is dropped at any link, monitored or not.
    pub fn on_lost(&mut self, flow: u32) {
        if let Some(carried) = self.carried.get_mut(flow as usize) {
            carried.dropped = carried.dropped.wrapping_add(1);
        }
    }

    /// Number of packets of a connection that were reported by [`Self::on_lost`]; it wraps around.
    pub fn lost(&self, flow: u32) -> u32 {
        self.carried[flow as usize].dropped
    }

    /// The meter of the queue for traffic classes that a flow's packets join, if the link has such queues. It is told
    /// what the link is told, packet by packet.
    pub fn class_meter(&mut self, link: u32, flow: u32) -> Option<&mut QueueMeter> {
        Some(self.links[link as usize].classes.as_mut()?.of_flow(flow))
    }

    /// Bytes of a flow's data on the wire of the first monitored link of its path.
    #[inline]
    pub fn wire_bytes(&self, flow: usize) -> u64 {
        self.carried[flow].bytes
    }

    /// Swaps the meters of some links with those of another collector of the same experiment.
    pub fn swap_links(&mut self, other: &mut Self, is_swapped: impl Fn(u32) -> bool) {
        for (number, (one, other)) in (0..).zip(self.links.iter_mut().zip(&mut other.links)) {
            if is_swapped(number) {
                std::mem::swap(one, other);
            }
        }
        for (one, other) in self.carried.iter_mut().zip(&mut other.carried) {
            if one.link != NO_LINK && is_swapped(one.link) {
                std::mem::swap(one, other);
            }
        }
    }

    /// Gives the histograms of all links what they do not have yet, up to `now`; to be called before
    /// [`Self::class_queue`].
    pub fn settle(&mut self, now: Time) {
        self.links.iter_mut().for_each(|link| link.meter.settle(now));
    }

    /// Queueing delay in picoseconds of the packets of a class that have left a queue in the window so far.
    pub fn delay(&self, link: u32, class: Class) -> &Histogram {
        self.links[link as usize].meter.delay(class)
    }

    /// Waiting packets of a class: over time in the window up to [`Self::settle`], with picoseconds as weights, and
    /// now.
    pub fn class_queue(&self, link: u32, class: Class) -> (&Histogram, u32) {
        let meter = &self.links[link as usize].meter;
        (meter.class_queue(class), meter.class_packets(class))
    }

    /// Ends a bin of the queue series; `state` returns the average in bytes and the probability of a link's
    /// law, as far as they are known.
    pub fn close_queue_bins(&mut self, now: Time, state: impl Fn(u32) -> (Option<f64>, Option<f64>)) {
        let Some(series) = &mut self.queue else { return };
        for (number, link) in (0..).zip(&mut self.links) {
            if let Some(bin) = &mut link.bin {
                let (average_bytes, probability) = state(number);
                let mut row = bin.close(now, average_bytes, probability);
                if let Some(opportunities) = &mut link.opportunities {
                    row.utilisation = opportunities.utilisation(row.utilisation, now);
                }
                if let Some(bins) = &mut link.bins {
                    bins.push(LinkBin { end_s: row.time_s, bytes: row.bytes, utilisation: row.utilisation });
                }
                series.push(row);
            }
        }
    }
}
