//! Turns the guest's records into the same result as the simulator's, with the same meters and tables.
//!
//! A kernel does not report the cause of a RED decision (it counts as early), nor the sender's own count of
//! lost packets (drops at the bottleneck are given instead). Reductions are known from CWR flags; without
//! ECN, from the recoveries that samples show.

use crate::kernel::Kernel;
use crate::plan::{Plan, sample_interval};
use crate::records::{FlowKind, FlowRecord, LineRecord, RecordError};
use shoal_measure::{
    Collector, FeedbackCounters, FinishedFlow, FlowCounters, FlowMeter, FlowResults, LinuxRun, Measured,
    SenderSample, link_numbers,
};
use shoal_packet::CaState;
use shoal_scenario::{App, Experiment, Flow};
use shoal_trace::FlowEvent;
use shoal_units::{Span, Time};
use std::iter::Peekable;
use std::slice::Iter;

mod cards;
mod links;
mod paths;
mod small_packets;
mod waits;
use cards::Cards;
use links::LinkRun;
use paths::Paths;
use waits::Waits;

/// Turns the records of a run into measurements: `lines` and `flows` are the files that the guest wrote.
///
/// # Errors
/// The files are not those of a finished run.
pub fn measure(experiment: &Experiment, lines: &[u8], flows: &[u8]) -> Result<Measured, RecordError> {
    let mut lines = LineRecord::read_all(lines)?;
    // A busy line starts the next packet on time, but the kernel's timer is up to a microsecond late:
    // arrivals in between were recorded first.
    lines.sort_by_key(|record| record.time_ns);
    let records = FlowRecord::read_all(flows)?;
    let mut measurement = Measurement::new(experiment, &lines);
    for record in &records {
        measurement.on_record(record);
    }
    Ok(measurement.finish())
}

/// What a result states about the plan and the kernel of its run; `shown` is a file that the guest wrote
/// (linux/guest/shown.c).
pub fn ran_on(experiment: &Experiment, plan: &Plan, kernel: &Kernel, shown: &str) -> LinuxRun {
    let three = |line: &str| {
        let mut words = line.splitn(3, '\t').map(str::to_owned);
        Some((words.next()?, words.next()?, words.next()?))
    };
    LinuxRun {
        kernel: kernel.release.clone(),
        build: kernel.build.clone(),
        mode: kernel.mode.clone(),
        sample_s: sample_interval(experiment).as_secs_f64(),
        notes: plan.notes.clone(),
        modules: kernel.modules.clone(),
        generator: kernel.generator.clone(),
        laws: kernel.user_modules.iter().map(|module| module.run.clone()).collect(),
        rules: plan.rules.iter().map(|rule| (rule.place.clone(), rule.text.clone())).collect(),
        shown: shown.lines().filter_map(three).collect(),
    }
}

/// Port of the first flow, as in linux/guest/flow.c.
const FIRST_PORT: u16 = 10_000;
/// Value of `TCP_INFINITE_SSTHRESH` in the kernel.
const INFINITE: u32 = 0x7fff_ffff;

struct FlowRun {
    plan: Flow,
    meter: FlowMeter,
    counters: FlowCounters,
    feedback: FeedbackCounters,
    feedback_at_start: FeedbackCounters,
    last: Option<FlowRecord>,
    completions: Vec<f64>,
    finished: Option<Time>,
    window_open: bool,
    /// Whether it uses accurate ECN.
    is_accurate: bool,
}

struct Measurement<'a> {
    experiment: &'a Experiment,
    lines: Peekable<Iter<'a, LineRecord>>,
    collector: Collector,
    links: Vec<LinkRun<'a>>,
    /// Monitored links of each path, in order.
    on_path: Vec<Vec<u32>>,
    flows: Vec<FlowRun>,
    /// Flows without further samples whose last bin is not closed yet.
    ended: Vec<usize>,
    waits: Waits,
    paths: Paths,
    cards: Cards,
    next_bin: Time,
}

impl<'a> Measurement<'a> {
    fn new(experiment: &'a Experiment, lines: &'a [LineRecord]) -> Self {
        let window_start = Time::ZERO + experiment.warmup;
        let numbers = link_numbers(experiment);
        let on_path = experiment
            .paths
            .iter()
            .map(|path| path.iter().filter_map(|link| numbers[link.0 as usize]).collect());
        let flows = experiment.flows.iter().map(|flow| FlowRun {
            plan: flow,
            meter: FlowMeter::new(window_start),
            counters: FlowCounters::default(),
            feedback: FeedbackCounters::default(),
            feedback_at_start: FeedbackCounters::default(),
            last: None,
            completions: Vec::new(),
            finished: None,
            window_open: false,
            is_accurate: experiment.endpoints[flow.endpoint as usize].is_accurate(),
        });
        Self {
            experiment,
            lines: lines.iter().peekable(),
            collector: Collector::new(experiment),
            links: experiment.monitored().map(|(_, link)| LinkRun::new(link)).collect(),
            on_path: on_path.collect(),
            flows: flows.collect(),
            ended: Vec::new(),
            waits: Waits::new(experiment),
            paths: Paths::default(),
            cards: Cards::default(),
            next_bin: Time::ZERO + experiment.trace.series_interval.unwrap_or(Span::ZERO),
        }
    }

    /// Handles a record of the guest. Samples contain what only the sender knows; packets up to their time
    /// come first.
    fn on_record(&mut self, record: &FlowRecord) {
        let now = time(record.time_ns as i64);
        self.packets_until(now);
        if record.kind == FlowKind::Path {
            return self.paths.on_record(record, now, self.experiment);
        }
        if record.kind == FlowKind::Card {
            return self.cards.on_record(record, now, self.experiment);
        }
        if record.flow as usize >= self.flows.len() {
            return;
        }
        self.count_datagrams(record.flow as usize);
        let flow = &mut self.flows[record.flow as usize];
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
            | FlowKind::Received => self.waits.on_record(record, &flow.plan, now, &mut self.collector),
            FlowKind::Sample | FlowKind::End | FlowKind::Path | FlowKind::Card => {
                self.changes(record, now);
                let flow = &mut self.flows[record.flow as usize];
                Self::sample(flow, record, now);
                self.open_window(record.flow as usize, now);
                self.close_flow_bin(record, now);
            }
        }
    }

    /// Counts arrived datagrams, which only their receiver knows.
    fn count_datagrams(&mut self, number: usize) {
        if let Some(datagrams) = self.waits.datagrams(number) {
            let counters = &mut self.flows[number].counters;
            counters.delivered_bytes = datagrams.delivered_bytes();
            counters.marks_seen = datagrams.marks_seen() as u32;
        }
    }

    /// Counters of a flow since its start.
    fn counters(&self, number: usize) -> FlowCounters {
        FlowCounters { wire_bytes: self.collector.wire_bytes(number), ..self.flows[number].counters }
    }

    fn sample(flow: &mut FlowRun, record: &FlowRecord, now: Time) {
        let last = flow.last.replace(*record);
        if !flow.is_datagrams() {
            flow.counters.delivered_bytes = record.received;
        }
        flow.counters.retransmissions = record.retransmissions;
        flow.counters.timeouts = record.timeouts;
        flow.feedback = FeedbackCounters { data_packets: record.data_packets, acks_sent: record.acks };
        let reduces = last.is_some_and(|last| begins_reduction(flow.is_accurate, &last, record));
        flow.counters.reductions += u32::from(reduces);
        if record.cwnd > 0 {
            flow.meter.on_window(now, record.cwnd, alpha(record));
        }
        if record.srtt_us > 0 {
            flow.meter.on_srtt(now, Span::from_micros(record.srtt_us.into()));
        }
    }

    /// Adds rows about changes since the last sample.
    fn changes(&mut self, record: &FlowRecord, now: Time) {
        self.collector.on_sender(record.flow, sample_of(record), now);
        let flow = &self.flows[record.flow as usize];
        let is_accurate = flow.is_accurate;
        let Some(last) = flow.last else { return };
        let happened = [
            (record.retransmissions != last.retransmissions, FlowEvent::Retransmit),
            (record.timeouts != last.timeouts, FlowEvent::Timeout),
            (begins_reduction(is_accurate, &last, record), FlowEvent::Reduction),
        ];
        for (_, kind) in happened.into_iter().filter(|(happened, _)| *happened) {
            self.collector.on_flow_event(record.flow, kind, now);
        }
    }

    /// Stores the counters of a flow when the window opens; the guest takes a sample then.
    fn open_window(&mut self, flow: usize, now: Time) {
        let start = Time::ZERO + self.experiment.warmup;
        let counters = self.counters(flow);
        let flow = &mut self.flows[flow];
        if !flow.window_open && now >= start {
            flow.window_open = true;
            if flow.plan.start < start {
                flow.meter.on_window_start(&counters);
                flow.feedback_at_start = flow.feedback;
            }
        }
    }

    fn close_flow_bin(&mut self, record: &FlowRecord, now: Time) {
        let Some(bin) = self.experiment.trace.series_interval else { return };
        // The sample at which the window opens may fall between the regular ones.
        if now.as_picos().is_multiple_of(bin.as_picos()) {
            let counters = self.counters(record.flow as usize);
            self.collector.close_flow_bin(record.flow, &counters, &sample_of(record), now);
        }
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
            // The kernel does not report the state of its laws.
            self.collector.close_queue_bins(self.next_bin, |_| (None, None));
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
        link.on_packet(record, at, &mut self.collector);
        self.count(record, at);
    }

    /// Counts what the sender of a simulation counts itself. A mark on arrival is visible in the packet when
    /// it leaves; a mark on departure is found here.
    fn count(&mut self, record: &LineRecord, at: Time) {
        let Some(number) = flow_of(record) else { return };
        let Some(flow) = self.flows.get_mut(number) else { return };
        let path = &self.on_path[flow.plan.forward as usize];
        // ACKs on a monitored link belong to the flow, but not to its data.
        if !path.contains(&u32::from(record.link)) {
            return;
        }
        // The receiver of datagrams counts them.
        if !flow.is_datagrams() {
            flow.counters.losses += u32::from(record.event.is_drop());
            flow.counters.marks_seen += u32::from(record.payload > 0 && record.marked());
        }
        // Further links would count the packet again.
        let is_first = path.first() == Some(&u32::from(record.link));
        if is_first && record.payload > 0 && record.event.is_arrival() && record.cwr {
            flow.counters.reductions += 1;
            self.collector.on_flow_event(number as u32, FlowEvent::Reduction, at);
        }
    }

    fn close_queue_bins_before(&mut self, at: Time) {
        if self.experiment.trace.series_interval.is_some() && self.next_bin <= at {
            self.close_queue_bins(at);
        }
    }

    fn finish(mut self) -> Measured {
        let experiment = self.experiment;
        self.packets_until(Time::ZERO + experiment.duration);
        let start = Time::ZERO + experiment.warmup;
        for number in 0..self.flows.len() {
            self.count_datagrams(number);
            self.flows[number].counters = self.counters(number);
            // Of flows that finished before the window opens no sample opened it: nothing of them lies within.
            if self.flows[number].finished.is_some_and(|at| at < start) {
                self.open_window(number, start);
            }
        }
        let Self { collector, flows, waits, paths, cards, .. } = self;
        let mut results = FlowResults::new(experiment);
        for (number, flow) in (0..).zip(flows) {
            results.push(
                number,
                FinishedFlow {
                    meter: flow.meter,
                    counters: flow.counters,
                    feedback: flow.feedback,
                    feedback_at_start: flow.feedback_at_start,
                    finished: flow.finished,
                    quantum: 1,
                    fct_s: flow.completions,
                    transfers_begun: flow.last.map_or(0, |record| record.transfers_begun),
                    app: waits.meter(number as usize),
                },
            );
        }
        waits.rounds(&mut results);
        let mut measured = collector.finish(experiment, results, |experiment, finished| {
            let mut notices = shoal_notices::of_run(experiment, finished);
            notices.extend(small_packets::find(experiment, finished));
            notices
        });
        measured.paths = paths.results(experiment);
        measured.cards = cards.results(experiment);
        measured
    }
}

impl FlowRun {
    const fn is_datagrams(&self) -> bool {
        matches!(self.plan.app, App::Unresponsive { .. })
    }
}

/// Flow of a record: both ports are the flow's number. iperf3 has a control connection too, from a port that
/// the kernel chooses.
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

/// Whether a reduction begins that nothing on the line shows. A sender with classic ECN announces every one
/// (`tcp_init_cwnd_reduction` and `tcp_enter_loss` queue a CWR); one without ECN begins a recovery, and one with
/// accurate ECN that or the state CWR. Reductions between two samples are seen as one.
const fn begins_reduction(is_accurate: bool, last: &FlowRecord, record: &FlowRecord) -> bool {
    let recovers = last.ca_state < RECOVERY && record.ca_state >= RECOVERY;
    if is_accurate {
        recovers || (last.ca_state < CWR && record.ca_state >= CWR)
    } else {
        recovers && !record.ecn
    }
}

/// Value of `TCP_CA_CWR`.
const CWR: u8 = 2;
/// Value of `TCP_CA_Recovery`; `TCP_CA_Loss` follows.
const RECOVERY: u8 = 3;

/// Values of the sender in a sample.
fn sample_of(record: &FlowRecord) -> SenderSample {
    SenderSample {
        cwnd: record.cwnd,
        ssthresh: (record.ssthresh < INFINITE).then_some(record.ssthresh),
        quantum: 1,
        alpha: alpha(record),
        path: None,
        in_flight: 0,
        srtt: (record.srtt_us > 0).then(|| Span::from_micros(record.srtt_us.into())),
        state: state_of(record.ca_state),
    }
}

/// State by its number in `enum tcp_ca_state`.
const fn state_of(state: u8) -> CaState {
    match state {
        0 => CaState::Open,
        1 => CaState::Disorder,
        2 => CaState::Cwr,
        3 => CaState::Recovery,
        _ => CaState::Loss,
    }
}
