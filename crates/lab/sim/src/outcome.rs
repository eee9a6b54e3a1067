//! What a run gives: the measurements of `trace`, assembled.

use crate::barrier::Barrier;
use crate::cwnd;
use crate::flow::{FlowState, SenderSlot};
use crate::network::Network;
use shoal_cc::INFINITE_SSTHRESH;
use shoal_measure::{
    Bottleneck, DistributionTables, FeedbackCounters, FlowBinRates, FlowCounters, FlowResult, FlowSpan,
    FrameSummary, GroupResult, Metrics, Notice, RunResult, SCHEMA, WaitSummary, Window,
    laws::{self, BrokenLaw},
    metrics,
};
use shoal_packet::CaState;
use shoal_scenario::{App, Experiment, Flow, TracedFlows, TracedTable};
use shoal_tcp::Sender;
use shoal_trace::{ControllerRow, DeliveryRow, FlowRow, GroupIndex, LinkIndex, Names, Series, Table};
use shoal_units::Time;

/// The measurements of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Monitored links, in scenario order.
    pub bottlenecks: Vec<Bottleneck>,
    /// Flow groups, in scenario order.
    pub groups: Vec<GroupResult>,
    /// What is computed between flows.
    pub metrics: Metrics,
    /// What a reader has to know.
    pub notices: Vec<Notice>,
    /// Recorded tables.
    pub tables: Vec<Table>,
    /// Events processed.
    pub events: u64,
    /// Packets sent by hosts, delivered to hosts, and still inside the network at the end; the rest was dropped.
    pub conservation: Conservation,
    /// A law that the numbers break; they are wrong then.
    pub broken: Option<BrokenLaw>,
    /// Memory of one flow: both endpoints with their queues, averaged at the end of the run. In bytes.
    pub flow_bytes: u64,
    window: Window,
    seed: u64,
}

/// Where packets went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conservation {
    /// Packets that hosts sent.
    pub sent: u64,
    /// Packets that reached a host.
    pub delivered: u64,
    /// Packets in queues and on wires at the end.
    pub inside: u64,
}

impl Outcome {
    /// The result object, given the resolved scenario and the version of the program.
    pub fn result(&self, scenario: serde_json::Value, version: &str) -> RunResult {
        RunResult {
            schema: SCHEMA,
            version: version.to_owned(),
            scenario,
            seed: self.seed,
            on: "sim".to_owned(),
            window: self.window,
            bottlenecks: self.bottlenecks.clone(),
            groups: self.groups.clone(),
            metrics: self.metrics.clone(),
            notices: self.notices.clone(),
            events: Some(self.events),
            linux: None,
        }
    }

    #[allow(clippy::too_many_arguments, reason = "takes the simulation apart; called once")]
    pub(crate) fn new(
        experiment: &Experiment,
        network: Network,
        results: FlowResults<'_>,
        flows: &[FlowState],
        barriers: &[Option<Box<Barrier>>],
        tables: Tables,
        events: u64,
        flow_bytes: u64,
        end: Time,
    ) -> Self {
        let window_start = Time::ZERO + experiment.warmup;
        let conservation =
            Conservation { sent: network.sent, delivered: network.delivered, inside: network.held() };
        let recorded = network.recorder.into_recorded(experiment.flows.len());
        let mut distributions = DistributionTables::new(&tables.names, experiment.trace.window.is_some());
        let mut bottlenecks = Vec::new();
        let mut broken = None;
        for (index, (link, meter)) in recorded.meters.into_iter().enumerate() {
            let name = &experiment.links[link as usize].name;
            broken = broken.or(meter.balance(name).err());
            let (bottleneck, of_link) = meter.finish(name, end);
            distributions.push(LinkIndex(index as u32), &of_link);
            bottlenecks.push(bottleneck);
        }
        let waits: Vec<Waits> = (0u32..)
            .zip(barriers)
            .map(|(group, barrier)| Waits::of(group, barrier.as_deref(), flows, end))
            .collect();
        let groups = results.into_groups(waits);
        let broken = broken.or(laws::hold(&bottlenecks, (end - window_start).as_secs_f64()).err());
        let notices = shoal_notices::of_run(experiment, &groups, &bottlenecks);
        let (groups, metrics) = GroupResult::conclude(groups, experiment.trace.flows as usize);
        let mut all = Vec::new();
        all.extend(recorded.queue.map(Series::into_table));
        all.extend(tables.flows.map(Series::into_table));
        let covered = TracedTable::Controller.coverage(&tables.controller_flows, experiment.flows.len());
        all.extend(tables.controller.map(|rows| rows.into_table_covering(covered)));
        all.extend(recorded.events);
        all.extend(recorded.segments);
        all.extend(tables.deliveries.map(Series::into_table));
        if experiment.trace.records_distributions() {
            all.extend(distributions.into_tables());
        }
        Self {
            metrics,
            notices,
            bottlenecks,
            groups,
            tables: all,
            events,
            conservation,
            broken,
            flow_bytes,
            window: Window { start_s: window_start.as_secs_f64(), end_s: end.as_secs_f64() },
            seed: experiment.seed,
        }
    }
}

/// What was waited for in a group.
struct Waits {
    exchanges: Option<WaitSummary>,
    rounds: Option<WaitSummary>,
    frames: Option<FrameSummary>,
}

impl Waits {
    fn of(group: u32, barrier: Option<&Barrier>, flows: &[FlowState], end: Time) -> Self {
        let from = flows.partition_point(|state| state.plan.group < group);
        let to = flows.partition_point(|state| state.plan.group <= group);
        let own = || flows[from..to].iter();
        // All flows of a group run the same application.
        let asks = own().next().is_some_and(|state| state.exchanges.is_some());
        let writes_frames = own().next().is_some_and(|state| state.frames.is_some());
        let exchanges = own().filter_map(|state| Some(&state.exchanges.as_ref()?.meter));
        let frames = own().filter_map(|state| state.frames.as_deref());
        Self {
            exchanges: asks.then(|| WaitSummary::of(exchanges)),
            rounds: barrier.map(|barrier| barrier.meter.summary()),
            frames: writes_frames.then(|| FrameSummary::of(frames, end)),
        }
    }
}

/// What each flow came to, by group.
pub(crate) struct FlowResults<'e> {
    experiment: &'e Experiment,
    end: Time,
    by_group: Vec<Vec<FlowResult>>,
}

impl<'e> FlowResults<'e> {
    pub(crate) fn new(experiment: &'e Experiment, end: Time) -> Self {
        let mut sizes = vec![0; experiment.groups.len()];
        for flow in &experiment.flows {
            sizes[flow.group as usize] += 1;
        }
        Self { experiment, end, by_group: sizes.into_iter().map(Vec::with_capacity).collect() }
    }

    /// Adds the next flow, in the order of their numbers.
    pub(crate) fn push(
        &mut self,
        slot: &SenderSlot,
        state: &FlowState,
        counters: &FlowCounters,
        feedback: FeedbackCounters,
    ) {
        let span = FlowSpan {
            window_start: Time::ZERO + self.experiment.warmup,
            window_end: self.end,
            start: state.plan.start,
            stop: state.finished,
        };
        let mut result = slot.meter.clone().finish(counters, span);
        if state.datagrams.is_none() {
            feedback.fill(&state.feedback_at_start, &mut result);
        }
        result.cwnd_packets = cwnd::in_packets(result.cwnd_packets, slot.sender.window());
        result.fct_s = state.app.completions.iter().map(|fct| fct.as_secs_f64()).collect();
        if let Some(ideal) = self.experiment.transfer_alone(&state.plan).and_then(|alone| {
            metrics::ideal_fct_s(
                alone.wire_bytes,
                alone.rate.as_bps() as f64,
                alone.propagation.as_secs_f64(),
            )
        }) {
            result.slowdown = result.fct_s.iter().map(|fct| fct / ideal).collect();
        }
        (result.transfer_bytes, result.transfers_begun) = state.app.transfers(&state.plan.app);
        result.datagrams = state.datagrams.as_ref().map(|datagrams| Box::new(datagrams.meter.summary()));
        result.base_rtt_s = Some(self.experiment.base_rtt(&state.plan).as_secs_f64());
        result.exchanges = state.exchanges.as_ref().map(|exchanges| Box::new(exchanges.meter.summary()));
        result.frames = state.frames.as_ref().map(|frames| Box::new(frames.summary(self.end)));
        self.by_group[state.plan.group as usize].push(result);
    }

    fn into_groups(self, waits: Vec<Waits>) -> Vec<GroupResult> {
        let groups = self.experiment.groups.iter().zip(self.by_group).zip(waits);
        groups
            .map(|((group, flows), waits)| {
                let Waits { exchanges, rounds, frames } = waits;
                let result = GroupResult::new(group.name.clone(), group.cc.clone(), flows);
                GroupResult { exchanges, rounds, frames, ..result }
            })
            .collect()
    }
}

/// Tables about flows.
pub(crate) struct Tables {
    names: Names,
    flows: Option<Series<FlowRow>>,
    controller: Option<Series<ControllerRow>>,
    deliveries: Option<Series<DeliveryRow>>,
    controller_flows: TracedFlows,
    /// Last row of each traced flow: only changes are recorded.
    last: Vec<Option<ControllerState>>,
}

/// `cwnd`, `ssthresh`, alpha, and the state of the recovery machine.
type ControllerState = (u32, u32, Option<f64>, CaState);

impl Tables {
    pub(crate) fn new(experiment: &Experiment, names: &Names) -> Self {
        let waited_for = |flow: &Flow| {
            flow.app.has_barrier() || matches!(flow.app, App::Requests { .. } | App::Frames { .. })
        };
        let delivers = experiment.trace.records_distributions() && experiment.flows.iter().any(waited_for);
        let traced = experiment.traced(experiment.trace.controller_flows);
        Self {
            names: names.clone(),
            flows: experiment.trace.series_interval.map(|_| Series::new(names)),
            controller: (!traced.numbers().is_empty()).then(|| Series::new(names)),
            deliveries: delivers.then(|| Series::new(names)),
            last: vec![None; traced.numbers().len()],
            controller_flows: traced,
        }
    }

    #[inline]
    pub(crate) fn on_controller(&mut self, flow: u32, sender: &Sender, now: Time) {
        let Some(position) = self.controller_flows.position(flow) else { return };
        let window = sender.window();
        let present = (window.cwnd, window.ssthresh, sender.alpha(), sender.state());
        let last = &mut self.last[position];
        if *last == Some(present) {
            return;
        }
        *last = Some(present);
        if let Some(series) = &mut self.controller {
            series.push(ControllerRow {
                time_s: now.as_secs_f64(),
                flow,
                cwnd_packets: window.cwnd / window.quantum,
                ssthresh_packets: threshold(window),
                alpha: present.2,
                state: present.3,
            });
        }
    }

    pub(crate) fn on_delivery(&mut self, row: DeliveryRow) {
        if let Some(series) = &mut self.deliveries {
            series.push(row);
        }
    }

    pub(crate) fn on_flow(&mut self, flow: u32, group: u32, rates: FlowBinRates, sender: &Sender, now: Time) {
        let Some(series) = &mut self.flows else { return };
        let (srtt, window) = (sender.srtt(), sender.window());
        series.push(FlowRow {
            time_s: now.as_secs_f64(),
            flow,
            group: GroupIndex(group),
            goodput_bps: rates.goodput_bps,
            wire_bps: rates.wire_bps,
            cwnd_packets: window.cwnd / window.quantum,
            ssthresh_packets: threshold(window),
            alpha: sender.alpha(),
            srtt_s: (!srtt.is_zero()).then(|| srtt.as_secs_f64()),
            state: sender.state(),
        });
    }
}

/// `ssthresh` in packets.
fn threshold(window: &shoal_cc::Window) -> Option<f64> {
    (window.ssthresh < INFINITE_SSTHRESH).then_some(f64::from(window.ssthresh) / f64::from(window.quantum))
}
