//! The guest's records as the result that the simulator gives: same meters, same tables.
//!
//! What a kernel does not tell: the cause of a RED decision (counted as early), the sender's own count of lost packets (its
//! packets dropped at the bottleneck are given). Reductions are known from CWR flags, or without ECN from the recoveries that
//! samples see.

use crate::kernel::Kernel;
use crate::plan::{Plan, sample_interval};
use crate::records::{FlowKind, FlowRecord, LineEvent, LineRecord, RecordError};
use shoal_measure::{
    DistributionTables, FeedbackCounters, FlowBin, FlowCounters, FlowMeter, FlowResult, FlowSpan,
    GroupResult, LinuxRun, MeterPace, RunResult, SCHEMA, Window, metrics,
};
use shoal_packet::CaState;
use shoal_scenario::{App, Experiment, Flow, TracedFlows, TracedTable};
use shoal_trace::{
    ControllerRow, EventRow, FlowEvent, FlowRow, GroupIndex, LinkIndex, Names, QueueRow, Series, Table,
};
use shoal_units::{Span, Time};
use std::iter::Peekable;
use std::slice::Iter;

mod links;
mod waits;
use links::LinkRun;
use waits::Waits;

/// The measurements of a run on Linux.
#[derive(Debug)]
pub struct Measured {
    /// The result object.
    pub result: RunResult,
    /// Recorded tables.
    pub tables: Vec<Table>,
}

/// Turns the records of a run into measurements. `scenario` is the resolved scenario, `version` that of the program.
///
/// # Errors
/// The files are not those of a finished run.
pub fn measure(
    experiment: &Experiment,
    plan: &Plan,
    kernel: &Kernel,
    lines: &[u8],
    flows: &[u8],
    scenario: serde_json::Value,
    version: &str,
) -> Result<Measured, RecordError> {
    let mut lines = LineRecord::read_all(lines)?;
    // A line that is busy starts the next packet on time, but the kernel's timer is up to a microsecond late: arrivals in
    // between were recorded first.
    lines.sort_by_key(|record| record.time_ns);
    let records = FlowRecord::read_all(flows)?;
    let mut measurement = Measurement::new(experiment, &lines);
    for record in &records {
        measurement.on_record(record);
    }
    Ok(measurement.finish(plan, kernel, scenario, version))
}

/// The first port of flows in linux/guest/flow.c.
const FIRST_PORT: u16 = 10_000;
/// `TCP_INFINITE_SSTHRESH` of the kernel.
const INFINITE: u32 = 0x7fff_ffff;

struct FlowRun {
    plan: Flow,
    meter: FlowMeter,
    counters: FlowCounters,
    feedback: FeedbackCounters,
    feedback_at_start: FeedbackCounters,
    bin: FlowBin,
    last: Option<FlowRecord>,
    completions: Vec<f64>,
    finished: Option<Time>,
    window_open: bool,
}

struct Measurement<'a> {
    experiment: &'a Experiment,
    lines: Peekable<Iter<'a, LineRecord>>,
    links: Vec<LinkRun<'a>>,
    /// The monitored links of each path, in its order.
    on_path: Vec<Vec<usize>>,
    names: Names,
    flows: Vec<FlowRun>,
    /// Flows whose last bin is not closed yet: they have no samples any more.
    ended: Vec<usize>,
    queue_rows: Option<Series<QueueRow>>,
    flow_rows: Option<Series<FlowRow>>,
    controller_rows: Option<Series<ControllerRow>>,
    event_rows: Option<Series<EventRow>>,
    /// The flows that the rows of controllers and events are about.
    traced: TracedFlows,
    waits: Waits,
    next_bin: Time,
}

impl<'a> Measurement<'a> {
    fn new(experiment: &'a Experiment, lines: &'a [LineRecord]) -> Self {
        let window_start = Time::ZERO + experiment.warmup;
        let trace = &experiment.trace;
        let pace = MeterPace { sample: trace.sample_interval, windows: trace.window.unwrap_or(Span::ZERO) };
        let names = Names {
            links: experiment.monitored().map(|(_, link)| link.name.clone()).collect(),
            groups: experiment.groups.iter().map(|group| group.name.clone()).collect(),
        };
        let binned = trace.series_interval.is_some();
        let traced = experiment.traced(trace.controller_flows);
        let monitored: Vec<_> = experiment.monitored().map(|(id, _)| id).collect();
        let on_path = experiment.paths.iter().map(|path| {
            path.iter().filter_map(|id| monitored.iter().position(|other| other == id)).collect()
        });
        let links = (0u32..).zip(experiment.monitored());
        let links = links.map(|(index, (_, link))| LinkRun::new(link, index, window_start, pace, binned));
        let flows = experiment.flows.iter().map(|flow| FlowRun {
            plan: *flow,
            meter: FlowMeter::new(window_start),
            counters: FlowCounters::default(),
            feedback: FeedbackCounters::default(),
            feedback_at_start: FeedbackCounters::default(),
            bin: FlowBin::default(),
            last: None,
            completions: Vec::new(),
            finished: None,
            window_open: false,
        });
        Self {
            experiment,
            lines: lines.iter().peekable(),
            links: links.collect(),
            on_path: on_path.collect(),
            flows: flows.collect(),
            ended: Vec::new(),
            queue_rows: binned.then(|| Series::new(&names)),
            flow_rows: binned.then(|| Series::new(&names)),
            controller_rows: (!traced.numbers().is_empty()).then(|| Series::new(&names)),
            event_rows: (!traced.numbers().is_empty()).then(|| Series::new(&names)),
            traced,
            waits: Waits::new(experiment, &names),
            next_bin: Time::ZERO + trace.series_interval.unwrap_or(Span::ZERO),
            names,
        }
    }

    /// Samples carry what only the sender knows; packets up to then come first.
    fn on_record(&mut self, record: &FlowRecord) {
        let now = time(record.time_ns as i64);
        self.packets_until(now);
        let Some(flow) = self.flows.get_mut(record.flow as usize) else { return };
        if let Some(datagrams) = self.waits.datagrams(record.flow as usize) {
            flow.counters.delivered_bytes = datagrams.delivered_bytes();
            flow.counters.marks_seen = datagrams.marks_seen() as u32;
        }
        match record.kind {
            FlowKind::Completed => flow.completions.push(record.received as f64 / 1e9),
            FlowKind::Finished | FlowKind::Refused => {
                Self::sample(flow, record, now);
                flow.finished = Some(now);
                self.ended.push(record.flow as usize);
            }
            FlowKind::Asked
            | FlowKind::Answered
            | FlowKind::Round
            | FlowKind::Written
            | FlowKind::Delivered
            | FlowKind::Sent
            | FlowKind::Received => self.waits.on_record(record, &flow.plan, now),
            FlowKind::Sample | FlowKind::End => {
                self.changes(record, now);
                let flow = &mut self.flows[record.flow as usize];
                Self::sample(flow, record, now);
                self.open_window(record.flow as usize, now);
                self.close_flow_bin(record, now);
            }
        }
    }

    fn sample(flow: &mut FlowRun, record: &FlowRecord, now: Time) {
        let last = flow.last.replace(*record);
        if !flow.is_datagrams() {
            flow.counters.delivered_bytes = record.received;
        }
        flow.counters.retransmissions = record.retransmissions;
        flow.counters.timeouts = record.timeouts;
        flow.feedback = FeedbackCounters { data_packets: record.data_packets, acks_sent: record.acks };
        flow.counters.reductions += u32::from(last.is_some_and(|last| begins_recovery(&last, record)));
        if record.cwnd > 0 {
            flow.meter.on_window(now, record.cwnd, alpha(record));
        }
        if record.srtt_us > 0 {
            flow.meter.on_srtt(now, Span::from_micros(record.srtt_us.into()));
        }
    }

    /// Rows about what changed since the last sample.
    fn changes(&mut self, record: &FlowRecord, now: Time) {
        if !self.traced.contains(record.flow) {
            return;
        }
        let last = self.flows[record.flow as usize].last;
        let state = |record: &FlowRecord| (record.cwnd, record.ssthresh, record.alpha, record.ca_state);
        if let Some(series) = &mut self.controller_rows
            && last.as_ref().map(state) != Some(state(record))
        {
            series.push(ControllerRow {
                time_s: now.as_secs_f64(),
                flow: record.flow,
                cwnd_packets: record.cwnd,
                ssthresh_packets: threshold(record.ssthresh),
                alpha: alpha(record),
                state: state_of(record.ca_state),
            });
        }
        let (Some(series), Some(last)) = (&mut self.event_rows, last) else { return };
        let happened = [
            (record.retransmissions != last.retransmissions, FlowEvent::Retransmit),
            (record.timeouts != last.timeouts, FlowEvent::Timeout),
            (begins_recovery(&last, record), FlowEvent::Reduction),
        ];
        for (_, kind) in happened.into_iter().filter(|(happened, _)| *happened) {
            series.push(EventRow { time_s: now.as_secs_f64(), flow: record.flow, kind });
        }
    }

    /// The guest samples when the window opens.
    fn open_window(&mut self, flow: usize, now: Time) {
        let start = Time::ZERO + self.experiment.warmup;
        let flow = &mut self.flows[flow];
        if !flow.window_open && now >= start {
            flow.window_open = true;
            if flow.plan.start < start {
                flow.meter.on_window_start(&flow.counters);
                flow.feedback_at_start = flow.feedback;
            }
        }
    }

    fn close_flow_bin(&mut self, record: &FlowRecord, now: Time) {
        let Some(bin) = self.experiment.trace.series_interval else { return };
        if !now.as_picos().is_multiple_of(bin.as_picos()) {
            return;
        }
        let Some(series) = &mut self.flow_rows else { return };
        let flow = &mut self.flows[record.flow as usize];
        // The sample at which the window opens may be one of the regular ones: a bin is closed once.
        if flow.bin_is_closed(now) {
            return;
        }
        let rates = flow.bin.close(now, &flow.counters);
        series.push(FlowRow {
            time_s: now.as_secs_f64(),
            flow: record.flow,
            group: GroupIndex(flow.plan.group),
            goodput_bps: rates.goodput_bps,
            wire_bps: rates.wire_bps,
            cwnd_packets: record.cwnd,
            ssthresh_packets: threshold(record.ssthresh),
            alpha: alpha(record),
            srtt_s: (record.srtt_us > 0).then(|| f64::from(record.srtt_us) / 1e6),
            state: state_of(record.ca_state),
        });
    }

    fn packets_until(&mut self, now: Time) {
        while let Some(record) =
            self.lines.next_if(|record| record.time_ns < 0 || time(record.time_ns) <= now)
        {
            if record.time_ns >= 0 {
                self.on_packet(record);
            }
        }
        self.close_queue_bins(now);
    }

    fn close_queue_bins(&mut self, now: Time) {
        let Some(bin) = self.experiment.trace.series_interval else { return };
        while self.next_bin <= now {
            if let Some(series) = &mut self.queue_rows {
                for link in &mut self.links {
                    link.close_bin(self.next_bin, series);
                }
            }
            for flow in std::mem::take(&mut self.ended) {
                if let Some(record) = self.flows[flow].last {
                    self.close_flow_bin(&record, self.next_bin);
                }
            }
            self.next_bin += bin;
        }
    }

    fn on_packet(&mut self, record: &LineRecord) {
        let at = time(record.time_ns);
        self.close_queue_bins_before(at);
        let Some(link) = self.links.get_mut(usize::from(record.link)) else { return };
        link.on_packet(record, at);
        let wire = link.wire_bytes(record);
        let marked = record.marked();
        if marked {
            self.event(record, FlowEvent::Mark, at);
        }
        if record.event.is_drop() {
            self.event(record, FlowEvent::Drop, at);
        }
        self.count(record, wire, marked, at);
    }

    /// A mark on arrival is part of the packet when it leaves; one on departure is found here.
    fn count(&mut self, record: &LineRecord, wire: u32, marked: bool, at: Time) {
        let Some(flow) = flow_of(record).and_then(|flow| self.flows.get_mut(flow)) else { return };
        let way = &self.on_path[flow.plan.forward as usize];
        // Acknowledgements that cross a monitored link belong to the flow too, but not to its data.
        if !way.contains(&usize::from(record.link)) {
            return;
        }
        // Further links would count it again.
        let first = way.first() == Some(&usize::from(record.link)) && record.payload > 0;
        let datagrams = flow.is_datagrams();
        let counters = &mut flow.counters;
        match record.event {
            LineEvent::Started if first => counters.wire_bytes += u64::from(wire),
            event if event.is_drop() && !datagrams => counters.losses += 1,
            _ => {}
        }
        // What arrives of datagrams is known from their receiver.
        counters.marks_seen += u32::from(marked && !datagrams);
        if first && record.event.is_arrival() && record.cwr {
            counters.reductions += 1;
            self.event(record, FlowEvent::Reduction, at);
        }
    }

    fn close_queue_bins_before(&mut self, at: Time) {
        if self.experiment.trace.series_interval.is_some() && self.next_bin <= at {
            self.close_queue_bins(at);
        }
    }

    fn event(&mut self, record: &LineRecord, kind: FlowEvent, at: Time) {
        let Some(flow) = flow_of(record).map(|flow| flow as u32) else { return };
        if self.traced.contains(flow)
            && let Some(series) = &mut self.event_rows
        {
            series.push(EventRow { time_s: at.as_secs_f64(), flow, kind });
        }
    }

    fn finish(
        mut self,
        plan: &Plan,
        kernel: &Kernel,
        scenario: serde_json::Value,
        version: &str,
    ) -> Measured {
        let experiment = self.experiment;
        let end = Time::ZERO + experiment.duration;
        let window_start = Time::ZERO + experiment.warmup;
        self.packets_until(end);
        let mut distributions = DistributionTables::new(&self.names, experiment.trace.window.is_some());
        let mut bottlenecks = Vec::new();
        for (index, link) in (0u32..).zip(self.links) {
            let (bottleneck, distribution) = link.meter.finish(&link.link.name, end);
            distributions.push(LinkIndex(index), &distribution);
            bottlenecks.push(bottleneck);
        }
        let mut by_group: Vec<Vec<FlowResult>> = experiment.groups.iter().map(|_| Vec::new()).collect();
        for (number, mut flow) in self.flows.into_iter().enumerate() {
            if let Some(datagrams) = self.waits.datagrams(number) {
                flow.counters.delivered_bytes = datagrams.delivered_bytes();
                flow.counters.marks_seen = datagrams.marks_seen() as u32;
            }
            let span =
                FlowSpan { window_start, window_end: end, start: flow.plan.start, stop: flow.finished };
            // Nobody acknowledges datagrams.
            let has_feedback = !flow.is_datagrams();
            let mut result = flow.meter.finish(&flow.counters, span);
            if has_feedback {
                flow.feedback.fill(&flow.feedback_at_start, &mut result);
            }
            result.base_rtt_s = Some(experiment.base_rtt(&flow.plan).as_secs_f64());
            if let Some(ideal) = experiment.transfer_alone(&flow.plan).and_then(|alone| {
                metrics::ideal_fct_s(
                    alone.wire_bytes,
                    alone.rate.as_bps() as f64,
                    alone.propagation.as_secs_f64(),
                )
            }) {
                result.slowdown = flow.completions.iter().map(|fct| fct / ideal).collect();
            }
            result.fct_s = flow.completions;
            self.waits.fill_flow(number, &mut result, end);
            if let App::Transfers { bytes, .. } = flow.plan.app {
                result.transfer_bytes = Some(bytes);
                result.transfers_begun = flow.last.map_or(0, |record| record.transfers_begun);
            }
            by_group[flow.plan.group as usize].push(result);
        }
        let by_group = experiment.groups.iter().zip(by_group).enumerate();
        let groups = by_group.map(|(index, (group, flows))| {
            let mut result = GroupResult::new(group.name.clone(), group.cc.clone(), flows);
            self.waits.fill_group(index, &experiment.flows, &mut result, end);
            result
        });
        let groups: Vec<GroupResult> = groups.collect();
        let notices = shoal_notices::of_run(experiment, &groups, &bottlenecks);
        let (groups, metrics) = GroupResult::conclude(groups, experiment.trace.flows as usize);
        let mut tables = Vec::new();
        tables.extend(self.queue_rows.map(Series::into_table));
        tables.extend(self.flow_rows.map(Series::into_table));
        let covered = |table: TracedTable| table.coverage(&self.traced, experiment.flows.len());
        let controllers = self.controller_rows;
        tables.extend(controllers.map(|rows| rows.into_table_covering(covered(TracedTable::Controller))));
        tables.extend(self.event_rows.map(|rows| rows.into_table_covering(covered(TracedTable::Events))));
        tables.extend(self.waits.into_table());
        if experiment.trace.records_distributions() {
            tables.extend(distributions.into_tables());
        }
        let result = RunResult {
            schema: SCHEMA,
            version: version.to_owned(),
            scenario,
            seed: experiment.seed,
            on: "linux".to_owned(),
            window: Window { start_s: window_start.as_secs_f64(), end_s: end.as_secs_f64() },
            bottlenecks,
            metrics,
            notices,
            groups,
            events: None,
            linux: Some(LinuxRun {
                kernel: kernel.release.clone(),
                build: kernel.build.clone(),
                mode: kernel.mode.clone(),
                sample_s: sample_interval(experiment).as_secs_f64(),
                notes: plan.notes.clone(),
                modules: kernel.modules.clone(),
                generator: kernel.generator.clone(),
                rules: plan.rules.iter().map(|rule| (rule.place.clone(), rule.text.clone())).collect(),
            }),
        };
        Measured { result, tables }
    }
}

impl FlowRun {
    const fn is_datagrams(&self) -> bool {
        matches!(self.plan.app, App::Unresponsive { .. })
    }

    fn bin_is_closed(&self, now: Time) -> bool {
        self.bin.start() == now
    }
}

/// Both ports are the flow's number; iperf3 has a connection for control besides, from a port of the kernel's choice.
pub(crate) fn flow_of(record: &LineRecord) -> Option<usize> {
    if record.source != record.destination {
        return None;
    }
    record.destination.checked_sub(FIRST_PORT).map(usize::from)
}

fn time(ns: i64) -> Time {
    Time::ZERO + Span::from_nanos(ns.max(0) as u64)
}

fn alpha(record: &FlowRecord) -> Option<f64> {
    record.alpha.map(|alpha| f64::from(alpha) / 1024.0)
}

/// A sender with ECN announces every reduction itself (`tcp_init_cwnd_reduction` and `tcp_enter_loss` queue a CWR).
const fn begins_recovery(last: &FlowRecord, record: &FlowRecord) -> bool {
    !record.ecn && last.ca_state < RECOVERY && record.ca_state >= RECOVERY
}

/// `TCP_CA_Recovery`; `TCP_CA_Loss` follows.
const RECOVERY: u8 = 3;

fn threshold(ssthresh: u32) -> Option<f64> {
    (ssthresh < INFINITE).then_some(f64::from(ssthresh))
}

/// `enum tcp_ca_state`.
const fn state_of(state: u8) -> CaState {
    match state {
        0 => CaState::Open,
        1 => CaState::Disorder,
        2 => CaState::Cwr,
        3 => CaState::Recovery,
        _ => CaState::Loss,
    }
}
