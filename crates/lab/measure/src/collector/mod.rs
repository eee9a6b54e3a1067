//! The one collector of a run: both planes tell it what happens at monitored links, what senders say and what applications
//! get, and it makes the tables and the result.
//!
//! Calls of one link come in the order of time, and so do calls about one flow. Nothing is allocated per packet.

mod flows;
mod links;

use crate::flow_results::FlowResults;
use crate::laws::{self, BrokenLaw};
use crate::{Bottleneck, DistributionTables, FlowBin, GroupResult, Measured, Notice, SenderSample, Window};
use links::MonitoredLink;
pub use links::{Departure, Waiting};
use shoal_scenario::{App, Experiment, Flow, LinkId, TracedFlows, TracedTable};
use shoal_trace::{
    ControllerRow, DeliveryRow, EventRow, FlowRow, LinkIndex, Names, QueueRow, SegmentRow, Series, Table,
};
use shoal_units::Time;

/// What a result says without being asked: the sentences of a run.
pub type Notices = fn(&Experiment, &[GroupResult], &[Bottleneck]) -> Vec<Notice>;

/// The number of a flow that is not one of the experiment's.
pub const NO_FLOW: u32 = u32::MAX;

/// No monitored link.
const NO_LINK: u32 = u32::MAX;

/// Everything that is recorded of a run but what is kept beside the sender of each flow ([`crate::FlowMeter`]).
pub struct Collector {
    names: Names,
    window_start: Time,
    end: Time,
    links: Vec<MonitoredLink>,
    /// By connection: flows, then the connections of requests.
    carried: Vec<Carried>,
    /// By flow; empty if there is no time series.
    bins: Vec<FlowBin>,
    /// Flows whose controllers and events are traced.
    traced: TracedFlows,
    /// What the last row about the controller of each traced flow said.
    last: Vec<Option<SenderSample>>,
    /// Flows whose packets are traced at both hosts.
    segment_flows: TracedFlows,
    /// The connections of these flows: others leave no segment rows.
    segment_connections: TracedFlows,
    queue: Option<Series<QueueRow>>,
    flows: Option<Series<FlowRow>>,
    controller: Option<Series<ControllerRow>>,
    events: Option<Series<EventRow>>,
    segments: Option<Series<SegmentRow>>,
    deliveries: Option<Series<DeliveryRow>>,
}

/// What a flow's data took on the wire of the first monitored link of its path: further ones would count it again.
struct Carried {
    bytes: u64,
    /// [`NO_LINK`] if there is none.
    link: u32,
    group: u32,
}

/// Number of each link among the monitored ones.
pub fn link_numbers(experiment: &Experiment) -> Vec<Option<u32>> {
    let mut numbers = vec![None; experiment.links.len()];
    for (number, (LinkId(link), _)) in (0u32..).zip(experiment.monitored()) {
        numbers[link as usize] = Some(number);
    }
    numbers
}

impl Collector {
    /// A collector of what the experiment asks for.
    pub fn new(experiment: &Experiment) -> Self {
        let trace = &experiment.trace;
        let names = names(experiment);
        let binned = trace.series_interval.is_some();
        let traced = experiment.traced(trace.controller_flows);
        let segment_flows = experiment.traced(trace.segment_flows);
        let traces_senders = !traced.numbers().is_empty();
        let delivers = trace.records_distributions() && experiment.flows.iter().any(is_waited_for);
        Self {
            window_start: Time::ZERO + experiment.warmup,
            end: Time::ZERO + experiment.duration,
            links: MonitoredLink::all(experiment),
            carried: carried(experiment),
            bins: if binned { vec![FlowBin::default(); experiment.flows.len()] } else { Vec::new() },
            last: vec![None; traced.numbers().len()],
            queue: binned.then(|| Series::new(&names)),
            flows: binned.then(|| Series::new(&names)),
            controller: traces_senders.then(|| Series::new(&names)),
            events: traces_senders.then(|| Series::new(&names)),
            segments: (!segment_flows.numbers().is_empty()).then(|| Series::new(&names)),
            deliveries: delivers.then(|| Series::new(&names)),
            segment_connections: experiment.connections_of(&segment_flows),
            segment_flows,
            traced,
            names,
        }
    }

    /// Whether every packet that arrived at a monitored link was sent, was dropped, or waits.
    ///
    /// # Errors
    /// The first link of which that is not so.
    pub fn balance(&self) -> Result<(), BrokenLaw> {
        self.links.iter().zip(&self.names.links).try_for_each(|(link, name)| link.meter.balance(name))
    }

    /// The run is over: its measurements, given what the flows came to and who writes the notices.
    pub fn finish(mut self, experiment: &Experiment, flows: FlowResults<'_>, notices: Notices) -> Measured {
        let mut distributions = DistributionTables::new(&self.names, experiment.trace.window.is_some());
        let mut bottlenecks = Vec::new();
        let links = std::mem::take(&mut self.links);
        for ((index, link), name) in (0u32..).zip(links).zip(&self.names.links) {
            let (bottleneck, of_link) = link.meter.finish(name, self.end);
            distributions.push(LinkIndex(index), &of_link);
            bottlenecks.push(bottleneck);
        }
        let window_s = (self.end - self.window_start).as_secs_f64();
        let groups = flows.into_groups();
        let notices = notices(experiment, &groups, &bottlenecks);
        let (groups, metrics) = GroupResult::conclude(groups, experiment.trace.flows as usize);
        let window = Window { start_s: self.window_start.as_secs_f64(), end_s: self.end.as_secs_f64() };
        let mut tables = self.into_tables(experiment.flows.len());
        if experiment.trace.records_distributions() {
            tables.extend(distributions.into_tables());
        }
        Measured {
            broken: laws::hold(&bottlenecks, window_s).err(),
            bottlenecks,
            groups,
            metrics,
            notices,
            tables,
            window,
            seed: experiment.seed,
        }
    }

    /// The recorded series, of a run with so many `flows`.
    fn into_tables(self, flows: usize) -> Vec<Table> {
        let covered = |table: TracedTable, by: &TracedFlows| table.coverage(by, flows);
        let controller = covered(TracedTable::Controller, &self.traced);
        let events = covered(TracedTable::Events, &self.traced);
        let segments = covered(TracedTable::Segments, &self.segment_flows);
        let tables = [
            self.queue.map(Series::into_table),
            self.flows.map(Series::into_table),
            self.controller.map(|rows| rows.into_table_covering(controller)),
            self.events.map(|rows| rows.into_table_covering(events)),
            self.segments.map(|rows| rows.into_table_covering(segments)),
            self.deliveries.map(Series::into_table),
        ];
        tables.into_iter().flatten().collect()
    }
}

/// The names that rows refer to by number.
pub fn names(experiment: &Experiment) -> Names {
    Names {
        links: experiment.monitored().map(|(_, link)| link.name.clone()).collect(),
        groups: experiment.groups.iter().map(|group| group.name.clone()).collect(),
    }
}

fn is_waited_for(flow: &Flow) -> bool {
    flow.app.has_barrier() || matches!(flow.app, App::Requests { .. } | App::Frames { .. })
}

fn carried(experiment: &Experiment) -> Vec<Carried> {
    let numbers = link_numbers(experiment);
    let first = |path: &Vec<LinkId>| path.iter().find_map(|link| numbers[link.0 as usize]);
    let by_path: Vec<u32> = experiment.paths.iter().map(|path| first(path).unwrap_or(NO_LINK)).collect();
    let flows = experiment.flows.iter();
    let flows =
        flows.map(|flow| Carried { bytes: 0, link: by_path[flow.forward as usize], group: flow.group });
    // Requests are not part of their flow's data.
    let asking = experiment.asking_flows().map(|flow| &experiment.flows[flow as usize]);
    let requests = asking.map(|flow| Carried { bytes: 0, link: NO_LINK, group: flow.group });
    flows.chain(requests).collect()
}
