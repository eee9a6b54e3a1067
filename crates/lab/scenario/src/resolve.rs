//! Resolution: from keys to base units, a graph and flows.

mod arrivals;
mod dumbbell;
mod endpoints;
mod ends;
mod fabric;
mod fat_tree;
mod flows;
mod graph;
mod host;
mod hosts;
mod impairments;
mod interactive;
mod leaf_spine;
mod limits;
mod network;
mod notes;
mod pairing;
mod parking_lot;
mod pool;
mod routing;
mod rtt;
mod schedule;
mod series;
mod sizes;
mod star;
mod via;

use std::sync::Arc;

use shoal_aqm::QueueConfig;
use shoal_cc::EcnUse;
use shoal_tcp::{EndpointConfig, Offload, Pacing};
use shoal_units::Span;

use crate::experiment::{Experiment, Flows, Group, Note, TraceConfig};
use crate::flow_list::{FlowList, FlowLists};
use crate::remarks::{Remarks, Table};
use crate::schema::{Scenario, Seed, Start, Topology};
use flows::GroupPlan;
use hosts::Paths;
pub(crate) use limits::MAX_LASTING;
use network::Network;
use routing::Router;
pub(crate) use series::fitting_bin;

/// The scenario being resolved, and the report that takes its problems.
pub(crate) struct Context<'a> {
    pub scenario: &'a Scenario,
    /// The lists of flows that were given with it.
    lists: &'a FlowLists,
    remarks: Remarks<'a>,
    notes: Vec<Note>,
}

impl<'a> Context<'a> {
    /// Reports a mistake at the key `path`.
    fn error(&self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.remarks.error(path, message, hint);
    }
    /// The table at `path`.
    fn table(&self, path: impl Into<String>) -> Table<'a> {
        Table { path: path.into(), remarks: self.remarks }
    }
    /// The flow group of this number.
    fn group(&self, index: usize) -> Table<'a> {
        self.table(format!("flows[{index}]"))
    }
    /// The list of the flows of a group, if it has one and the list was given.
    fn list_of(&self, index: usize) -> Option<&'a Arc<FlowList>> {
        match &self.scenario.flows[index].start {
            Start::Listed(listed) => self.lists.get(listed.sha256.as_ref()?),
            _ => None,
        }
    }
    /// Reports an effect of the key at `path`, which the result of a run repeats.
    fn note(&mut self, path: &str, note: Note, hint: &str) {
        let mark = self.remarks.tree.mark_of(path);
        self.remarks.report.borrow_mut().note(&mark, note.text.as_str(), hint);
        self.notes.push(note);
    }
}

/// An experiment except for its flows, which can be many and depend on the seed.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    experiment: Experiment,
    groups: Vec<GroupPlan>,
    /// Weights of links, by which paths are found.
    weights: Vec<u32>,
    ecmp: bool,
    /// The round-trip time in which bandwidth-delay products are measured.
    pub bdp_rtt: Option<Span>,
}

/// Checks everything that does not depend on the seed. All problems go into the report.
pub(crate) fn plan(scenario: &Scenario, remarks: Remarks<'_>, lists: &FlowLists) -> Option<Plan> {
    let mut cx = Context { scenario, lists, remarks, notes: Vec::new() };
    let (duration, warmup) = limits::check_times(&cx);
    limits::check_flows(&cx);
    if scenario.flows.is_empty() {
        return None;
    }
    let trace = trace(&cx, duration);
    let endpoints: Vec<Option<EndpointConfig>> =
        (0..scenario.flows.len()).map(|index| endpoints::endpoint(index, &cx)).collect();
    let replacements: Vec<_> =
        (0..scenario.flows.len()).map(|index| endpoints::replacement(index, duration, &cx)).collect();
    let hosts = host::hosts(&cx);
    let sizes = sizes::sizes(&cx);
    let mut groups: Vec<Option<GroupPlan>> =
        (0..scenario.flows.len()).map(|index| flows::group_plan(index, duration, &sizes, &cx)).collect();
    let network = match &scenario.topology {
        Topology::Dumbbell(dumbbell) => {
            dumbbell::network(dumbbell, hosts.as_deref().unwrap_or(&host::presets(&cx)), &cx)
        }
        Topology::Star(star) => star::network(star, &cx),
        Topology::Graph(graph) => graph::network(graph, &cx),
        Topology::LeafSpine(plan) => leaf_spine::network(plan, &cx),
        Topology::FatTree(plan) => fat_tree::network(plan, &cx),
        Topology::ParkingLot(lot) => parking_lot::network(lot, &cx),
    };
    let routes = network.as_ref().map_or(&[][..], |network| &network.routes);
    flows::settle(&mut groups, routes, &cx);

    let mut endpoints = endpoints.into_iter().collect::<Option<Vec<_>>>()?;
    let hosts = hosts?;
    let Network { nodes, links, paths, routes, ends, weights, ecmp, pools, bdp_rtt, .. } = network?;
    host::check_shared(&hosts, &ends, &nodes, &cx);
    notes::replaced_controllers(&endpoints, &mut cx);
    notes::succeeded_controllers(&mut cx);
    notes::scalable_flows_in_the_classic_queue(&links, &endpoints, &mut cx);
    notes::queues_in_hosts(&links, &mut cx);
    notes::effects_of_laws(&links, &mut cx);
    notes::idle_tunnels(&links, &cx);
    schedule::moving_links(&links, &mut cx);
    impairments::impaired_links(&links, &mut cx);
    impairments::lost_correlations(&links, &mut cx);
    for (endpoint, host) in endpoints.iter_mut().zip(&hosts) {
        // A controller that paces itself does so on every host: an ideal one, and one that paces nobody else.
        endpoint.offload = match host.offload {
            own if endpoint.cc.ecn_use() != EcnUse::L4s && !endpoint.cc.needs_rate_samples() => own,
            None => Some(Offload::PACED),
            Some(own) if own.pacing == Pacing::Off => Some(Offload { pacing: Pacing::Internal, ..own }),
            own => own,
        };
    }
    let mut groups = groups.into_iter().collect::<Option<Vec<_>>>()?;
    for (group, routes) in groups.iter_mut().zip(routes) {
        group.routes = routes;
    }
    for (group, ends) in groups.iter_mut().zip(ends) {
        group.routes.ends = Some(ends);
    }
    let described = scenario.flows.iter().zip(hosts).zip(replacements).zip(&groups).map(
        |(((group, host), replacement), plan)| Group {
            name: group.name.clone().unwrap_or_default(),
            cc: group.cc.clone(),
            replacement,
            host,
            dscp: group.dscp.unwrap_or_default().number(),
            tunnel: group.tunnel.clone(),
            object_sizes: plan.object_sizes(),
        },
    );
    let experiment = Experiment {
        title: scenario.title.clone(),
        seed: scenario.seed.get(),
        duration,
        warmup,
        nodes,
        links,
        pools,
        paths,
        endpoints,
        groups: described.collect(),
        flows: Flows::default(),
        trace,
        notes: std::mem::take(&mut cx.notes),
    };
    limits::check_memory(&experiment, &groups, &cx);
    Some(Plan { experiment, groups, weights, ecmp, bdp_rtt })
}

impl Plan {
    /// The complete experiment with all flows.
    pub(crate) fn experiment(&self, seed: Seed) -> Experiment {
        let mut experiment = Experiment { seed: seed.get(), ..self.experiment.clone() };
        let router = Router::new(experiment.nodes.len(), &experiment.links, &self.weights);
        flows::expand(&self.groups, Paths::new(router, self.ecmp), &mut experiment);
        assign_classes(&mut experiment);
        experiment
    }

    /// Sets the bin of the time series, which can only be chosen when the flows are known.
    pub(crate) fn set_series_interval(&mut self, bin: Span) {
        self.experiment.trace.series_interval = Some(bin);
    }
}

/// Tells queues for traffic classes which code point each flow has.
fn assign_classes(experiment: &mut Experiment) {
    let codepoints = experiment.codepoints();
    for link in &mut experiment.links {
        if let QueueConfig::Classes(classes) = &mut link.queue {
            classes.codepoints = Arc::clone(&codepoints);
        }
    }
}

fn trace(cx: &Context<'_>, duration: Span) -> TraceConfig {
    let trace = &cx.scenario.trace;
    let series_interval = trace.series.bin().map(|bin| bin.span());
    let window = trace.windows.0.map(|window| window.span());
    let sample_interval = trace.sample.span();
    if let Some(bin) = series_interval {
        check_step(cx, "trace.series", bin, duration, 10_000_000);
    }
    if let Some(window) = window {
        // Each window keeps the buckets of its histograms in memory.
        check_step(cx, "trace.windows", window, duration, 100_000);
    }
    if sample_interval.is_zero() {
        cx.error("trace.sample", "the time between samples is 0", "write a time, as in \"10 ms\"");
    }
    TraceConfig {
        series_interval,
        controller_flows: trace.controller_flows,
        segment_flows: trace.segment_flows,
        packets: trace.packets,
        pcap: trace.pcap,
        distributions: trace.distributions,
        window,
        sample_interval,
        delay_target: trace.delay_target.map(|target| target.span()),
        flows: trace.flows.0.unwrap_or(u32::MAX),
    }
}

/// Checks the length of the intervals into which the duration is divided.
fn check_step(cx: &Context<'_>, key: &str, step: Span, duration: Span, most: u64) {
    let (one, many) = if key == "trace.series" { ("bin", "bins") } else { ("window", "windows") };
    if step.is_zero() {
        let hint = "write a time, as in \"100 ms\", or \"off\"";
        cx.error(key, format!("the {one} is 0"), hint);
    } else if duration.as_picos() / step.as_picos() > most {
        let hint = format!("at most {most} {many}; write a longer time, or \"off\"");
        cx.error(key, format!("too many {many} for this duration"), hint);
    }
}
