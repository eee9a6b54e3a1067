//! The collector of a run. Both planes report to it the events at monitored links, the state of senders, and
//! the deliveries to applications; it makes the tables and the result.
//!
//! Calls about one link, and calls about one flow, must come in the order of time. No packet causes an
//! allocation.

mod flows;
mod links;

use crate::flow_results::FlowResults;
use crate::laws::{self, BrokenLaw};
use crate::{DistributionTables, Finished, FlowBin, GroupResult, Measured, Notices, SenderSample, Window};
pub use links::Departure;
use links::MonitoredLink;
use shoal_scenario::{App, Experiment, Flow, LinkId, TracedFlows, TracedTable};
use shoal_trace::{
    ControllerRow, DeliveryRow, EventRow, FlowRow, LinkIndex, Names, PathModelRow, QueueRow, SegmentRow,
    Series, Table,
};
use shoal_units::Time;
use shoal_units::cast::count_u32;

/// The number of a connection that belongs to no flow of the experiment.
pub const NO_FLOW: u32 = u32::MAX;

/// The number of no link.
const NO_LINK: u32 = u32::MAX;

/// All measurements of a run except those that are stored with each flow's sender ([`crate::FlowMeter`]).
pub struct Collector {
    names: Names,
    window_start: Time,
    end: Time,
    links: Vec<MonitoredLink>,
    /// Data on the wire of each connection: flows first, then the connections of requests.
    carried: Vec<Carried>,
    /// Number of the first flow of each group.
    first_of_group: Vec<u32>,
    /// Bins by flow; empty if there is no time series.
    bins: Vec<FlowBin>,
    /// Flows whose controllers and events are traced.
    traced: TracedFlows,
    /// The last controller row of each traced flow.
    last: Vec<Option<SenderSample>>,
    /// Flows whose packets are traced at both hosts.
    segment_flows: TracedFlows,
    /// The connections of these flows; other connections add no segment rows.
    segment_connections: TracedFlows,
    queue: Option<Series<QueueRow>>,
    flows: Option<Series<FlowRow>>,
    controller: Option<Series<ControllerRow>>,
    path_model: Option<Series<PathModelRow>>,
    events: Option<Series<EventRow>>,
    segments: Option<Series<SegmentRow>>,
    deliveries: Option<Series<DeliveryRow>>,
}

/// What becomes of a connection's packets in the network.
struct Carried {
    /// Bytes of its data on the wire of the first monitored link of its path; further links would count them again.
    bytes: u64,
    /// Number of that link; [`NO_LINK`] if there is none.
    link: u32,
    /// Number of its packets that queues have dropped.
    dropped: u32,
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
    /// A collector for what the experiment records.
    pub fn new(experiment: &Experiment) -> Self {
        let trace = &experiment.trace;
        let names = names(experiment);
        let binned = trace.series_interval.is_some();
        let traced = experiment.traced(trace.controller_flows);
        let segment_flows = experiment.traced(trace.segment_flows);
        let traces_senders = !traced.numbers().is_empty();
        let delivers = trace.records_distributions() && experiment.flows.patterns().any(is_waited_for);
        Self {
            window_start: Time::ZERO + experiment.warmup,
            end: Time::ZERO + experiment.duration,
            links: MonitoredLink::all(experiment),
            carried: carried(experiment),
            first_of_group: firsts(experiment),
            bins: if binned { vec![FlowBin::default(); experiment.flows.len()] } else { Vec::new() },
            last: vec![None; traced.numbers().len()],
            queue: binned.then(|| Series::new(&names)),
            flows: binned.then(|| Series::new(&names)),
            controller: traces_senders.then(|| Series::new(&names)),
            path_model: has_path_model(experiment, &traced).then(|| Series::new(&names)),
            events: traces_senders.then(|| Series::new(&names)),
            segments: (!segment_flows.numbers().is_empty()).then(|| Series::new(&names)),
            deliveries: delivers.then(|| Series::new(&names)),
            segment_connections: experiment.connections_of(&segment_flows),
            segment_flows,
            traced,
            names,
        }
    }

    /// The run goes on as `experiment` says, which differs from the one before only in what comes later than any event
    /// so far: the end of the run, and changes of the rates of links.
    pub fn replan(&mut self, experiment: &Experiment) {
        self.end = Time::ZERO + experiment.duration;
        for (meters, (_, link)) in self.links.iter_mut().zip(experiment.monitored()) {
            meters.replan(link);
        }
    }

    /// The series so far; a table that covers only some flows does not say so before the run is over.
    pub fn series(&self) -> impl Iterator<Item = &Table> {
        let tables = [
            self.queue.as_ref().map(Series::table),
            self.flows.as_ref().map(Series::table),
            self.controller.as_ref().map(Series::table),
            self.path_model.as_ref().map(Series::table),
            self.events.as_ref().map(Series::table),
            self.segments.as_ref().map(Series::table),
            self.deliveries.as_ref().map(Series::table),
        ];
        tables.into_iter().flatten()
    }

    /// Removes the rows of the series so far.
    pub fn forget_series(&mut self) {
        fn forget<R: shoal_trace::Row>(series: &mut Option<Series<R>>) {
            series.iter_mut().for_each(Series::clear);
        }
        forget(&mut self.queue);
        forget(&mut self.flows);
        forget(&mut self.controller);
        forget(&mut self.path_model);
        forget(&mut self.events);
        forget(&mut self.segments);
        forget(&mut self.deliveries);
    }

    /// Checks that every packet that arrived at a monitored link was sent, was dropped, or waits.
    ///
    /// # Errors
    /// The first link for which this does not hold.
    pub fn balance(&self) -> Result<(), BrokenLaw> {
        self.links.iter().zip(&self.names.links).try_for_each(|(link, name)| link.meter.balance(name))
    }

    /// Ends the run and returns its measurements, given the results of flows and the author of notices.
    pub fn finish(mut self, experiment: &Experiment, flows: FlowResults<'_>, notices: Notices) -> Measured {
        let trace = &experiment.trace;
        let mut distributions = trace
            .records_distributions()
            .then(|| DistributionTables::new(&self.names, trace.window.is_some()));
        let mut bottlenecks = Vec::new();
        let links = std::mem::take(&mut self.links);
        for ((index, meters), (_, link)) in (0u32..).zip(links).zip(experiment.monitored()) {
            let (bottleneck, of_link) = meters.finish(link, experiment);
            if let Some(tables) = &mut distributions {
                tables.push(LinkIndex(index), &of_link);
            }
            bottlenecks.push(bottleneck);
        }
        let window_s = (self.end - self.window_start).as_secs_f64();
        let (groups, metrics, transfers) = flows.conclude();
        let queue = self.queue.as_ref().map(Series::table);
        let finished = Finished { groups: &groups, bottlenecks: &bottlenecks, transfers: &transfers, queue };
        let notices = notices(experiment, &finished);
        let groups = GroupResult::keep(groups, experiment.trace.flows.into());
        let window = Window { start_s: self.window_start.as_secs_f64(), end_s: self.end.as_secs_f64() };
        let mut tables = self.into_tables(experiment.flows.len());
        tables.extend(distributions.into_iter().flat_map(DistributionTables::into_tables));
        Measured {
            broken: laws::hold(&bottlenecks, window_s).err(),
            bottlenecks,
            paths: Vec::new(),
            cards: Vec::new(),
            groups,
            metrics,
            notices,
            tables,
            window,
            seed: experiment.seed,
        }
    }

    /// The recorded series of a run with `flows` flows.
    fn into_tables(self, flows: usize) -> Vec<Table> {
        let covered = |table: TracedTable, by: &TracedFlows| table.coverage(by, flows);
        let controller = covered(TracedTable::Controller, &self.traced);
        let path_model = covered(TracedTable::PathModel, &self.traced);
        let events = covered(TracedTable::Events, &self.traced);
        let segments = covered(TracedTable::Segments, &self.segment_flows);
        let tables = [
            self.queue.map(Series::into_table),
            self.flows.map(Series::into_table),
            self.controller.map(|rows| rows.into_table_covering(controller)),
            self.path_model.map(|rows| rows.into_table_covering(path_model)),
            self.events.map(|rows| rows.into_table_covering(events)),
            self.segments.map(|rows| rows.into_table_covering(segments)),
            self.deliveries.map(Series::into_table),
        ];
        tables.into_iter().flatten().collect()
    }
}

/// Whether a traced flow's controller has a model of its path.
fn has_path_model(experiment: &Experiment, traced: &TracedFlows) -> bool {
    let flows = traced.numbers().iter().filter_map(|&number| experiment.flows.get(number as usize));
    flows.into_iter().any(|flow| experiment.endpoints[flow.endpoint as usize].cc.needs_rate_samples())
}

/// Names to which rows refer by number.
pub fn names(experiment: &Experiment) -> Names {
    Names {
        links: experiment.monitored().map(|(_, link)| link.name.clone()).collect(),
        groups: experiment.groups.iter().map(|group| group.name.clone()).collect(),
    }
}

fn firsts(experiment: &Experiment) -> Vec<u32> {
    let groups = 0..count_u32(experiment.groups.len());
    groups.map(|group| experiment.flows.of_group(group).start).collect()
}

fn is_waited_for(flow: &Flow) -> bool {
    flow.app.has_barrier() || matches!(flow.app, App::Requests { .. } | App::Page { .. } | App::Frames { .. })
}

fn carried(experiment: &Experiment) -> Vec<Carried> {
    let numbers = link_numbers(experiment);
    let first = |path: &Vec<LinkId>| path.iter().find_map(|link| numbers[link.0 as usize]);
    let by_path: Vec<u32> = experiment.paths.iter().map(|path| first(path).unwrap_or(NO_LINK)).collect();
    let flows = experiment.flows.iter().map(|flow| by_path[flow.forward as usize]);
    // Requests are not part of their flow's data.
    let requests = experiment.asking_flows().map(|_| NO_LINK);
    let mut carried = Vec::with_capacity(experiment.flows.len());
    carried.extend(flows.chain(requests).map(|link| Carried { bytes: 0, link, dropped: 0 }));
    carried
}
