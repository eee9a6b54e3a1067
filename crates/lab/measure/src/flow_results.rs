//! Results of all flows, by group.

use crate::flow_meter::window_rate_bps;
use crate::group_sums::{GroupSums, RateSums};
use crate::sender_sample::window_in_packets;
use crate::{
    DatagramMeter, FeedbackCounters, FlowCounters, FlowMeter, FlowResult, FlowSpan, FrameMeter, FrameSummary,
    GroupResult, Metrics, Totals, WaitMeter, WaitSummary, metrics,
};
use shoal_scenario::{App, Experiment, Flow};
use shoal_units::{Span, Time, even_shares};
use std::collections::BTreeMap;

/// Meter of a flow's application, if it measures more than the connection does.
#[derive(Clone, Copy, Debug)]
pub enum AppMeter<'a> {
    /// No further meter.
    None,
    /// Waiting times of a client that sends requests.
    Exchanges(&'a WaitMeter),
    /// Frames with a deadline.
    Frames(&'a FrameMeter),
    /// Packets without a connection.
    Datagrams(&'a DatagramMeter),
}

/// A flow at the end of the run.
#[derive(Debug)]
pub struct FinishedFlow<'a> {
    /// Averages of the flow.
    pub meter: FlowMeter,
    /// Counters since its start.
    pub counters: FlowCounters,
    /// Counters of its receiver since its start.
    pub feedback: FeedbackCounters,
    /// Counters of its receiver at the start of the measurement window.
    pub feedback_at_start: FeedbackCounters,
    /// Time at which its last byte was acknowledged, if it was.
    pub finished: Option<Time>,
    /// Window units in a packet; see [`crate::SenderSample::quantum`].
    pub quantum: u32,
    /// Completion times of its transfers, in seconds.
    pub fct_s: Vec<f64>,
    /// Number of transfers that have begun.
    pub transfers_begun: u64,
    /// Meter of its application.
    pub app: AppMeter<'a>,
}

/// A flow of one transfer that has ended before the run has: everything by which the results of such flows differ.
#[derive(Clone, Copy, Debug)]
pub struct EndedTransfer {
    /// Completion time of the transfer.
    pub fct: Span,
    /// Bytes on the bottleneck's wire in the measurement window.
    pub wire_bytes: u64,
    /// Payload bytes delivered in the measurement window.
    pub delivered_bytes: u64,
}

/// Numbers of flows that are not listed, and sums of their rates on the bottleneck's wire in bit/s, by the path of data
/// and the group.
pub type TransferRates = BTreeMap<(u32, u32), (u32, f64)>;

/// Results of flows, collected group by group.
///
/// A group with transfers may have millions of flows: each flow that the result of the run lists has a result of its
/// own here, and no other. In groups without transfers every flow has one, since notices look at them.
pub struct FlowResults<'a> {
    experiment: &'a Experiment,
    end: Time,
    groups: Vec<Group<'a>>,
    /// Wire rates of all flows that start.
    rates: RateSums,
    transfers: TransferRates,
    /// Whether notices need the rates of transfers: only flows that always have data have a fair share beside them.
    has_bulk: bool,
}

#[derive(Default)]
struct Group<'a> {
    /// Most flows of a group with transfers that have a result of their own.
    listed: usize,
    flows: Vec<FlowResult>,
    sums: GroupSums,
    exchanges: Vec<&'a WaitMeter>,
    frames: Vec<&'a FrameMeter>,
    rounds: Option<WaitSummary>,
    pages: Option<WaitSummary>,
}

impl<'a> FlowResults<'a> {
    /// An empty collection.
    pub fn new(experiment: &'a Experiment) -> Self {
        let group = |listed: u64| Group { listed: listed as usize, ..Group::default() };
        Self {
            experiment,
            end: Time::ZERO + experiment.duration,
            groups: Self::listed(experiment).into_iter().map(group).collect(),
            rates: RateSums::default(),
            transfers: TransferRates::new(),
            has_bulk: experiment.flows.patterns().any(|flow| flow.app == App::Bulk),
        }
    }

    /// Number of flows of each group that the result of the run lists.
    pub fn listed(experiment: &Experiment) -> Vec<u64> {
        even_shares(experiment.trace.flows.into(), &experiment.group_sizes())
    }

    /// The result of flow `number`, which has run as far as it will.
    pub fn result_of(experiment: &Experiment, number: u32, flow: FinishedFlow<'_>) -> FlowResult {
        let plan = experiment.flows.of(number);
        let end = Time::ZERO + experiment.duration;
        let span = FlowSpan {
            window_start: Time::ZERO + experiment.warmup,
            window_end: end,
            start: plan.start,
            stop: flow.finished,
        };
        let mut result = flow.meter.finish(&flow.counters, span);
        result.cwnd_packets = window_in_packets(result.cwnd_packets, flow.quantum);
        result.fct_s = flow.fct_s;
        if let Some(ideal) = ideal_fct_s(experiment, &plan) {
            result.slowdown = result.fct_s.iter().map(|fct| fct / ideal).collect();
        }
        if let App::Transfers { bytes, .. } = plan.app {
            result.transfer_bytes = Some(bytes);
            result.transfers_begun = flow.transfers_begun;
        }
        result.base_rtt_s = Some(experiment.base_rtt(&plan).as_secs_f64());
        match flow.app {
            AppMeter::None => {}
            AppMeter::Exchanges(meter) => result.exchanges = Some(Box::new(meter.summary())),
            AppMeter::Frames(meter) => result.frames = Some(Box::new(meter.summary(end))),
            AppMeter::Datagrams(meter) => result.datagrams = Some(Box::new(meter.summary())),
        }
        // Datagrams are not acknowledged.
        if !matches!(flow.app, AppMeter::Datagrams(_)) {
            flow.feedback.fill(&flow.feedback_at_start, &mut result);
        }
        result
    }

    /// Adds flow `number`, which must be the next one.
    pub fn push(&mut self, number: u32, flow: FinishedFlow<'a>) {
        let group = &mut self.groups[self.experiment.flows.of(number).group as usize];
        match flow.app {
            AppMeter::Exchanges(meter) => group.exchanges.push(meter),
            AppMeter::Frames(meter) => group.frames.push(meter),
            AppMeter::None | AppMeter::Datagrams(_) => {}
        }
        self.push_result(number, Self::result_of(self.experiment, number, flow));
    }

    /// Adds flow `number`, which must be the next one and neither asks nor writes frames.
    pub fn push_result(&mut self, number: u32, flow: FlowResult) {
        let plan = self.experiment.flows.of(number);
        self.note_rate(&plan, flow.wire_bps);
        let group = &mut self.groups[plan.group as usize];
        group.sums.add(&flow);
        if group.flows.len() < group.listed || !matches!(plan.app, App::Transfers { .. }) {
            group.flows.push(flow);
        }
    }

    /// Adds flow `number`, which must be the next one and is not among those that are [`Self::listed`]; its counts are
    /// given to [`Self::add_totals`].
    pub fn push_ended(&mut self, number: u32, flow: &EndedTransfer) {
        let plan = self.experiment.flows.of(number);
        let window_s = (self.experiment.duration - self.experiment.warmup).as_secs_f64();
        let rate = |bytes| window_rate_bps(bytes, window_s);
        self.note_rate(&plan, rate(flow.wire_bytes));
        let sums = &mut self.groups[plan.group as usize].sums;
        sums.add_rates(true, rate(flow.wire_bytes), rate(flow.delivered_bytes));
        let fct_s = flow.fct.as_secs_f64();
        let App::Transfers { bytes, .. } = plan.app else { return };
        match ideal_fct_s(self.experiment, &plan) {
            Some(ideal) => sums.add_transfers(Some(bytes), 1, &[fct_s], &[fct_s / ideal]),
            None => sums.add_transfers(Some(bytes), 1, &[fct_s], &[]),
        }
    }

    /// Adds counts of flows of a group that have ended.
    pub fn add_totals(&mut self, group: usize, totals: &Totals) {
        self.groups[group].sums.totals.add(totals);
    }

    fn note_rate(&mut self, plan: &Flow, wire_bps: Option<f64>) {
        if plan.start < Time::NEVER {
            self.rates.add(wire_bps);
        }
        if self.has_bulk && matches!(plan.app, App::Transfers { .. }) {
            let sum = self.transfers.entry((plan.forward, plan.group)).or_default();
            sum.0 += 1;
            sum.1 += wire_bps.unwrap_or(0.0);
        }
    }

    /// Adds the rounds of a group that waits for its slowest flow.
    pub fn rounds(&mut self, group: usize, meter: &WaitMeter) {
        self.groups[group].rounds = Some(meter.summary());
    }

    /// Adds the pages of a group, by the meters of its browsers; none of a group that loads no pages.
    pub fn pages<'m>(&mut self, group: usize, meters: impl IntoIterator<Item = &'m WaitMeter>) {
        let mut meters = meters.into_iter().peekable();
        if meters.peek().is_some() {
            self.groups[group].pages = Some(WaitSummary::of(meters));
        }
    }

    /// The results of the groups, those between flows, and the rates of transfers.
    pub(crate) fn conclude(self) -> (Vec<GroupResult>, Metrics, TransferRates) {
        let end = self.end;
        let groups = self.experiment.groups.iter().zip(self.groups);
        let groups: Vec<GroupResult> = groups
            .map(|(plan, group)| GroupResult {
                exchanges: (!group.exchanges.is_empty()).then(|| WaitSummary::of(group.exchanges)),
                rounds: group.rounds,
                pages: group.pages,
                frames: (!group.frames.is_empty()).then(|| FrameSummary::of(group.frames, end)),
                ..group.sums.result(plan.name.clone(), plan.cc.clone(), group.flows)
            })
            .collect();
        let metrics = Metrics::with(&self.rates, &groups);
        (groups, metrics, self.transfers)
    }
}

/// Completion time of a transfer of the flow that has the path to itself, in seconds.
fn ideal_fct_s(experiment: &Experiment, plan: &Flow) -> Option<f64> {
    let alone = experiment.transfer_alone(plan)?;
    metrics::ideal_fct_s(alone.wire_bytes, alone.rate.as_bps() as f64, alone.propagation.as_secs_f64())
}
