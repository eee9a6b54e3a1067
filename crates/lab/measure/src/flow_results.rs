//! Results of all flows, by group.

use crate::sender_sample::window_in_packets;
use crate::{
    DatagramMeter, FeedbackCounters, FlowCounters, FlowMeter, FlowResult, FlowSpan, FrameMeter, FrameSummary,
    GroupResult, WaitMeter, WaitSummary, metrics,
};
use shoal_scenario::{App, Experiment};
use shoal_units::Time;

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

/// Results of flows, collected group by group.
pub struct FlowResults<'a> {
    experiment: &'a Experiment,
    end: Time,
    groups: Vec<Group<'a>>,
}

#[derive(Default)]
struct Group<'a> {
    flows: Vec<FlowResult>,
    exchanges: Vec<&'a WaitMeter>,
    frames: Vec<&'a FrameMeter>,
    rounds: Option<WaitSummary>,
}

impl<'a> FlowResults<'a> {
    /// An empty collection.
    pub fn new(experiment: &'a Experiment) -> Self {
        let mut sizes = vec![0; experiment.groups.len()];
        for flow in &experiment.flows {
            sizes[flow.group as usize] += 1;
        }
        let group = |size| Group { flows: Vec::with_capacity(size), ..Group::default() };
        Self {
            experiment,
            end: Time::ZERO + experiment.duration,
            groups: sizes.into_iter().map(group).collect(),
        }
    }

    /// Adds flow `number`, which must be the next one.
    pub fn push(&mut self, number: usize, flow: FinishedFlow<'a>) {
        let experiment = self.experiment;
        let plan = &experiment.flows[number];
        let span = FlowSpan {
            window_start: Time::ZERO + experiment.warmup,
            window_end: self.end,
            start: plan.start,
            stop: flow.finished,
        };
        let mut result = flow.meter.finish(&flow.counters, span);
        result.cwnd_packets = window_in_packets(result.cwnd_packets, flow.quantum);
        result.fct_s = flow.fct_s;
        let ideal_fct_s = experiment.transfer_alone(plan).and_then(|alone| {
            metrics::ideal_fct_s(
                alone.wire_bytes,
                alone.rate.as_bps() as f64,
                alone.propagation.as_secs_f64(),
            )
        });
        if let Some(ideal) = ideal_fct_s {
            result.slowdown = result.fct_s.iter().map(|fct| fct / ideal).collect();
        }
        if let App::Transfers { bytes, .. } = plan.app {
            result.transfer_bytes = Some(bytes);
            result.transfers_begun = flow.transfers_begun;
        }
        result.base_rtt_s = Some(experiment.base_rtt(plan).as_secs_f64());
        let group = &mut self.groups[plan.group as usize];
        match flow.app {
            AppMeter::None => {}
            AppMeter::Exchanges(meter) => {
                result.exchanges = Some(Box::new(meter.summary()));
                group.exchanges.push(meter);
            }
            AppMeter::Frames(meter) => {
                result.frames = Some(Box::new(meter.summary(self.end)));
                group.frames.push(meter);
            }
            AppMeter::Datagrams(meter) => result.datagrams = Some(Box::new(meter.summary())),
        }
        // Datagrams are not acknowledged.
        if !matches!(flow.app, AppMeter::Datagrams(_)) {
            flow.feedback.fill(&flow.feedback_at_start, &mut result);
        }
        group.flows.push(result);
    }

    /// Adds the rounds of a group that waits for its slowest flow.
    pub fn rounds(&mut self, group: usize, meter: &WaitMeter) {
        self.groups[group].rounds = Some(meter.summary());
    }

    pub(crate) fn into_groups(self) -> Vec<GroupResult> {
        let end = self.end;
        let groups = self.experiment.groups.iter().zip(self.groups);
        groups
            .map(|(plan, group)| GroupResult {
                exchanges: (!group.exchanges.is_empty()).then(|| WaitSummary::of(group.exchanges)),
                rounds: group.rounds,
                frames: (!group.frames.is_empty()).then(|| FrameSummary::of(group.frames, end)),
                ..GroupResult::new(plan.name.clone(), plan.cc.clone(), group.flows)
            })
            .collect()
    }
}
