//! Turns what happens at monitored links into measurements.

use crate::port::UNMONITORED;
use shoal_aqm::{Backlog, Verdict};
use shoal_measure::{MeterPace, QueueBin, QueueMeter};
use shoal_packet::{Class, Packet, Reason};
use shoal_scenario::{Experiment, LinkId, TracedFlows, TracedTable};
use shoal_trace::{
    EventRow, FlowEnd, FlowEvent, LinkIndex, Names, PacketEvent, PacketRow, QueueRow, SegmentEvent,
    SegmentRow, Series, Table,
};
use shoal_units::{Rate, Span, Time};

/// Receives every packet event of the monitored links, in order of time per link: a file writer.
pub trait PacketSink {
    /// One event; `packet` as it is after it.
    fn on_event(&mut self, row: PacketRow, packet: &Packet, mark: Option<Reason>, drop: Option<Reason>);
    /// A packet reaches the sender of its flow. What was reported at links before happened before.
    fn on_sender(&mut self, now: Time, packet: &Packet) {
        let _ = (now, packet);
    }
}

/// One monitored link.
struct Probe {
    link: u32,
    meter: QueueMeter,
    bin: Option<QueueBin>,
}

/// What a flow's data took on the wire of the first monitored link of its path. Further ones would count it again.
struct OnWire {
    bytes: u64,
    /// [`UNMONITORED`] if there is no monitored link.
    probe: u32,
}

fn on_wires(experiment: &Experiment) -> Vec<OnWire> {
    let mut count = 0..;
    let probes: Vec<Option<u32>> = experiment
        .links
        .iter()
        .map(|link| if link.monitored && link.rate.is_some() { count.next() } else { None })
        .collect();
    let first = |path: &Vec<LinkId>| path.iter().find_map(|link| probes[link.0 as usize]);
    let by_path: Vec<u32> = experiment.paths.iter().map(|path| first(path).unwrap_or(UNMONITORED)).collect();
    let flows = experiment.flows.iter().map(|flow| by_path[flow.forward as usize]);
    // Requests are not part of their flow's data.
    let requests = experiment.asking_flows().map(|_| UNMONITORED);
    flows.chain(requests).map(|probe| OnWire { bytes: 0, probe }).collect()
}

/// What a recorder gives when it is taken apart.
pub(crate) struct Recorded {
    pub(crate) meters: Vec<(u32, QueueMeter)>,
    pub(crate) queue: Option<Series<QueueRow>>,
    /// Events and segments of the flows that were traced.
    pub(crate) events: Option<Table>,
    pub(crate) segments: Option<Table>,
}

/// All measurements at links.
pub(crate) struct Recorder {
    probes: Vec<Probe>,
    wire: Vec<OnWire>,
    pub(crate) events: Option<Series<EventRow>>,
    pub(crate) queue: Option<Series<QueueRow>>,
    pub(crate) sink: Option<Box<dyn PacketSink>>,
    /// Other flows leave no event rows.
    event_flows: TracedFlows,
    segments: Option<Series<SegmentRow>>,
    /// Flows whose packets are traced at both hosts.
    segment_flows: TracedFlows,
    /// The connections of these flows: others leave no segment rows.
    segment_connections: TracedFlows,
}

impl Recorder {
    pub(crate) fn new(experiment: &Experiment, names: &Names, sink: Option<Box<dyn PacketSink>>) -> Self {
        let window_start = Time::ZERO + experiment.warmup;
        let binned = experiment.trace.series_interval.is_some();
        let pace = MeterPace {
            sample: experiment.trace.sample_interval,
            windows: experiment.trace.window.unwrap_or(Span::ZERO),
        };
        let monitored = experiment.links.iter().enumerate().filter(|(_, link)| link.monitored);
        let probes = monitored
            .filter_map(|(index, link)| Some((index as u32, link.rate?)))
            .enumerate()
            .map(|(probe, (link, rate)): (usize, (u32, Rate))| Probe {
                link,
                meter: QueueMeter::new(window_start, rate, pace),
                bin: binned.then(|| QueueBin::new(LinkIndex(probe as u32), rate)),
            })
            .collect();
        let event_flows = experiment.traced(experiment.trace.controller_flows);
        let segment_flows = experiment.traced(experiment.trace.segment_flows);
        Self {
            probes,
            wire: on_wires(experiment),
            events: (!event_flows.numbers().is_empty()).then(|| Series::new(names)),
            queue: binned.then(|| Series::new(names)),
            sink,
            event_flows,
            segments: (!segment_flows.numbers().is_empty()).then(|| Series::new(names)),
            segment_connections: experiment.connections_of(&segment_flows),
            segment_flows,
        }
    }

    /// Names of the monitored links, in the order of their indices.
    pub(crate) fn link_names(experiment: &Experiment) -> Vec<String> {
        let monitored = experiment.links.iter().filter(|link| link.monitored && link.rate.is_some());
        monitored.map(|link| link.name.clone()).collect()
    }
    /// Bytes of a flow's data on the wire of the first monitored link of its path.
    #[inline]
    pub(crate) fn wire_bytes(&self, flow: usize) -> u64 {
        self.wire[flow].bytes
    }
    pub(crate) fn monitored_links(&self) -> Vec<u32> {
        self.probes.iter().map(|probe| probe.link).collect()
    }

    /// Whether packets are reported one by one.
    #[inline]
    pub(crate) fn has_sink(&self) -> bool {
        self.sink.is_some()
    }
    pub(crate) fn on_sender(&mut self, now: Time, packet: &Packet) {
        if let Some(sink) = &mut self.sink {
            sink.on_sender(now, packet);
        }
    }

    /// Whether [`Recorder::on_segment`] keeps the packets of this connection.
    #[inline]
    pub(crate) fn records_segments(&self, flow: u32) -> bool {
        self.segment_connections.contains(flow)
    }

    /// A host sent or received a packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_segment(&mut self, packet: &Packet, end: FlowEnd, event: SegmentEvent, now: Time) {
        let Some(segments) = &mut self.segments else { return };
        segments.push(SegmentRow {
            time_ps: now.as_picos(),
            flow: packet.flow.0,
            end,
            event,
            seq: packet.seq.0,
            payload: packet.payload.into(),
            ack: packet.ack.0,
            flags: packet.flags.0.into(),
            ecn: packet.ecn,
            ts_val: packet.ts_val,
        });
    }

    /// `backlog` is what the packet finds.
    #[inline]
    pub(crate) fn on_arrival(&mut self, probe: u32, packet: &Packet, backlog: Backlog, now: Time) {
        self.probes[probe as usize].meter.on_arrival(now, Class::of(packet));
        if self.sink.is_some() {
            self.emit(probe, PacketEvent::Arrive, packet, backlog, now, now, (None, None));
        }
    }

    /// `packet` is as it arrived: its class is the one it had before a mark.
    #[inline]
    pub(crate) fn on_verdict(
        &mut self,
        probe: u32,
        packet: &Packet,
        verdict: Verdict,
        backlog: Backlog,
        now: Time,
    ) {
        match verdict {
            Verdict::Queued { mark } => {
                if let Some(reason) = mark {
                    self.mark(probe, packet, reason, backlog, now, now);
                }
                self.backlog(probe, backlog, now);
                self.probes[probe as usize].meter.on_join(now, Class::of(packet));
            }
            Verdict::Displaced => {
                self.backlog(probe, backlog, now);
                self.probes[probe as usize].meter.on_join(now, Class::of(packet));
            }
            Verdict::Dropped(reason) => self.drop(probe, packet, reason, backlog, now, now),
        }
    }

    /// The memory that the port shares had no room for an arrival.
    pub(crate) fn on_pool_drop(&mut self, probe: u32, packet: &Packet, backlog: Backlog, now: Time) {
        self.drop(probe, packet, Reason::SharedBuffer, backlog, now, now);
    }

    #[inline]
    pub(crate) fn on_departure(
        &mut self,
        probe: u32,
        packet: &Packet,
        mark: Option<Reason>,
        wire_bytes: u32,
        backlog: Backlog,
        at: Time,
    ) {
        if let Some(reason) = mark {
            self.mark(probe, packet, reason, backlog, packet.enqueued, at);
        }
        self.backlog(probe, backlog, at);
        let Probe { meter, bin, .. } = &mut self.probes[probe as usize];
        meter.on_leave(at, Class::of(packet));
        meter.on_departure(at, Class::of(packet), at - packet.enqueued, wire_bytes);
        if let Some(bin) = bin {
            bin.on_departure(at, wire_bytes);
        }
        // Acknowledgements that cross a monitored link belong to the flow too, but not to its data rate.
        let wire = &mut self.wire[packet.flow.0 as usize];
        if packet.payload > 0 && wire.probe == probe {
            wire.bytes += u64::from(wire_bytes);
        }
        if self.sink.is_some() {
            self.emit(probe, PacketEvent::Depart, packet, backlog, packet.enqueued, at, (None, None));
        }
    }

    /// A packet that waited was dropped, on departure or to make room.
    #[inline]
    pub(crate) fn on_departure_drop(
        &mut self,
        probe: u32,
        packet: &Packet,
        reason: Reason,
        backlog: Backlog,
        at: Time,
    ) {
        self.backlog(probe, backlog, at);
        self.probes[probe as usize].meter.on_leave(at, Class::of(packet));
        self.drop(probe, packet, reason, backlog, packet.enqueued, at);
    }

    #[inline]
    fn backlog(&mut self, probe: u32, backlog: Backlog, at: Time) {
        let Probe { meter, bin, .. } = &mut self.probes[probe as usize];
        meter.on_backlog(at, backlog.packets, backlog.bytes);
        if let Some(bin) = bin {
            bin.on_backlog(at, backlog.packets, backlog.bytes);
        }
    }

    fn mark(&mut self, probe: u32, packet: &Packet, reason: Reason, backlog: Backlog, since: Time, at: Time) {
        let Probe { meter, bin, .. } = &mut self.probes[probe as usize];
        meter.on_mark(at, Class::Ect, reason);
        if let Some(bin) = bin {
            bin.on_mark();
        }
        self.event(packet, FlowEvent::Mark, at);
        if self.sink.is_some() {
            self.emit(probe, PacketEvent::Mark, packet, backlog, since, at, (Some(reason), None));
        }
    }

    fn drop(&mut self, probe: u32, packet: &Packet, reason: Reason, backlog: Backlog, since: Time, at: Time) {
        let Probe { meter, bin, .. } = &mut self.probes[probe as usize];
        meter.on_drop(at, Class::of(packet), reason);
        if let Some(bin) = bin {
            bin.on_drop();
        }
        self.event(packet, FlowEvent::Drop, at);
        if self.sink.is_some() {
            self.emit(probe, PacketEvent::Drop, packet, backlog, since, at, (None, Some(reason)));
        }
    }

    pub(crate) fn event(&mut self, packet: &Packet, kind: FlowEvent, at: Time) {
        self.flow_event(packet.flow.0, kind, at);
    }

    /// Whether [`Recorder::flow_event`] keeps the events of this flow.
    #[inline]
    pub(crate) fn records_events(&self, flow: u32) -> bool {
        self.event_flows.contains(flow)
    }

    /// Something happened to a flow.
    #[inline]
    pub(crate) fn flow_event(&mut self, flow: u32, kind: FlowEvent, at: Time) {
        if self.records_events(flow)
            && let Some(events) = &mut self.events
        {
            events.push(EventRow { time_s: at.as_secs_f64(), flow, kind });
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one row")]
    fn emit(
        &mut self,
        probe: u32,
        event: PacketEvent,
        packet: &Packet,
        backlog: Backlog,
        since: Time,
        at: Time,
        (mark, drop): (Option<Reason>, Option<Reason>),
    ) {
        let Some(sink) = &mut self.sink else { return };
        let row = PacketRow {
            time_ps: at.as_picos(),
            link: LinkIndex(probe),
            flow: packet.flow.0,
            event,
            size: u32::from(packet.size),
            ecn: packet.ecn,
            seq: packet.seq.0,
            backlog_bytes: backlog.bytes,
            sojourn_ps: (at - since).as_picos(),
        };
        sink.on_event(row, packet, mark, drop);
    }

    /// Ends a bin of the queue series; `state` gives the average in bytes and the probability that a link's law keeps.
    pub(crate) fn close_bins(&mut self, now: Time, state: impl Fn(u32) -> (Option<f64>, Option<f64>)) {
        let Some(series) = &mut self.queue else { return };
        for probe in &mut self.probes {
            if let Some(bin) = &mut probe.bin {
                let (average_bytes, probability) = state(probe.link);
                series.push(bin.close(now, average_bytes, probability));
            }
        }
    }

    /// The meters of the monitored links, with the links' numbers, and the recorded series of a run with so many `flows`.
    pub(crate) fn into_recorded(self, flows: usize) -> Recorded {
        let Self { probes, events, queue, segments, event_flows, segment_flows, .. } = self;
        let meters = probes.into_iter().map(|probe| (probe.link, probe.meter)).collect();
        let events =
            events.map(|rows| rows.into_table_covering(TracedTable::Events.coverage(&event_flows, flows)));
        let covered = TracedTable::Segments.coverage(&segment_flows, flows);
        let segments = segments.map(|rows| rows.into_table_covering(covered));
        Recorded { meters, queue, events, segments }
    }
}
