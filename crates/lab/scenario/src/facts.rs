//! What plots and metrics need to know of a scenario, in base units, so that nothing parses quantities a
//! second time.

use std::collections::BTreeMap;

use serde::Serialize;
use shoal_aqm::{Extent, Height, Level};
use shoal_tcp::EcnSetting;
use shoal_units::{Rate, Span};

use crate::experiment::{App, Experiment, Flow, Link, LinkId};

/// Facts of an experiment in base units.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Facts {
    /// Length of the run in seconds.
    pub duration_s: f64,
    /// Time at which measurement begins, in seconds.
    pub warmup_s: f64,
    /// The monitored links, in the order of the result.
    pub bottlenecks: Vec<LinkFacts>,
    /// The flow groups, in the order of the file.
    pub groups: Vec<GroupFacts>,
    /// Bin of the time series in seconds; `None` if none is recorded.
    pub series_s: Option<f64>,
    /// Numbers of the traced flows.
    pub traced: Traced,
}

/// A monitored link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LinkFacts {
    /// Name of the link, as in the result.
    pub name: String,
    /// Rate in bit/s.
    pub rate_bps: u64,
    /// Bandwidth-delay product in bytes; `None` if the scenario has no round-trip time for it.
    pub bdp_bytes: Option<f64>,
    /// The largest packet of any flow in bytes; 1,500 without flows.
    pub mtu_bytes: u32,
    /// Levels of the queue at which its law changes what it does.
    pub thresholds: Vec<Threshold>,
}

/// A level of a queue at which its law changes what it does.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Threshold {
    /// Name of the level in the literature, such as `K`.
    pub label: String,
    /// Level in bytes; a threshold in packets counts packets of the largest size, and one in time is taken at the rate
    /// of the link at the start.
    pub bytes: f64,
    /// The level in seconds if it is a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
}

/// A flow group. Times are those of its first flow unless stated otherwise.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroupFacts {
    /// Name of the group, as in the result.
    pub name: String,
    /// Number of flows.
    pub flows: usize,
    /// Round-trip propagation delay of the first flow in seconds.
    pub base_rtt_s: Option<f64>,
    /// Longest round-trip propagation delay of any flow in seconds.
    pub longest_rtt_s: Option<f64>,
    /// Deadline of a frame in seconds; `None` for applications other than frames.
    pub deadline_s: Option<f64>,
    /// Whether data is sent as ECN-capable.
    pub ect: Option<bool>,
    /// The ways that data of its flows take.
    pub paths: Vec<PathFacts>,
}

/// A way that data of some flows of a group take.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PathFacts {
    /// Indices of the monitored links on it, in the order of the result.
    pub links: Vec<usize>,
    /// Number of flows.
    pub flows: u32,
    /// Number of them that have data to send during the whole measurement.
    pub always_send: u32,
}

/// Numbers of traced flows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Traced {
    /// Flows whose congestion controllers are traced.
    pub controller: Vec<u32>,
    /// Flows whose segments are traced.
    pub segments: Vec<u32>,
}

impl Facts {
    /// Facts of `experiment`; `bdp_rtt` is the round-trip time in which its bandwidth-delay products are
    /// measured.
    pub(crate) fn of(experiment: &Experiment, bdp_rtt: Option<Span>) -> Self {
        let mtu =
            experiment.endpoints.iter().map(|endpoint| u32::from(endpoint.mtu_bytes)).max().unwrap_or(1500);
        let bottlenecks = experiment.monitored().filter_map(|(_, link)| {
            let rate = link.rate?;
            Some(LinkFacts {
                name: link.name.clone(),
                rate_bps: rate.as_bps(),
                bdp_bytes: bdp_rtt.map(|rtt| bytes_in(rate, rtt)),
                mtu_bytes: mtu,
                thresholds: thresholds(link, mtu),
            })
        });
        let trace = &experiment.trace;
        let traced = |flows| experiment.traced(flows).numbers().to_vec();
        Self {
            duration_s: experiment.duration.as_secs_f64(),
            warmup_s: experiment.warmup.as_secs_f64(),
            bottlenecks: bottlenecks.collect(),
            groups: (0..experiment.groups.len()).map(|index| group(index, experiment)).collect(),
            series_s: trace.series_interval.map(Span::as_secs_f64),
            traced: Traced {
                controller: traced(trace.controller_flows),
                segments: traced(trace.segment_flows),
            },
        }
    }
}

fn group(index: usize, experiment: &Experiment) -> GroupFacts {
    let numbers = experiment.flows.of_group(index as u32);
    let of_group = || experiment.flows.numbered(numbers.clone()).map(|(_, flow)| flow);
    let first = of_group().next();
    GroupFacts {
        name: experiment.groups[index].name.clone(),
        flows: numbers.len(),
        base_rtt_s: first.map(|flow| experiment.base_rtt(&flow).as_secs_f64()),
        longest_rtt_s: of_group().map(|flow| experiment.base_rtt(&flow)).max().map(Span::as_secs_f64),
        deadline_s: first.and_then(|flow| match flow.app {
            App::Frames { deadline, .. } => Some(deadline.as_secs_f64()),
            _ => None,
        }),
        ect: first.map(|flow| experiment.endpoints[flow.endpoint as usize].ecn == EcnSetting::On),
        paths: paths(of_group(), experiment),
    }
}

/// The ways that data of flows take, each once, by the first of its links.
fn paths(flows: impl Iterator<Item = Flow>, experiment: &Experiment) -> Vec<PathFacts> {
    let mut counts: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for flow in flows {
        let count = counts.entry(flow.forward).or_default();
        count.0 += 1;
        count.1 += u32::from(experiment.always_sends(&flow));
    }
    let monitored: Vec<LinkId> = experiment.monitored().map(|(id, _)| id).collect();
    let passes = |path: u32, id: &LinkId| experiment.paths[path as usize].contains(id);
    // Paths that differ in links without a result are the same one here.
    let mut ways: BTreeMap<Vec<usize>, (u32, u32)> = BTreeMap::new();
    for (path, (flows, always_send)) in counts {
        let links = monitored.iter().enumerate().filter(|(_, id)| passes(path, id)).map(|(index, _)| index);
        let way = ways.entry(links.collect()).or_default();
        way.0 += flows;
        way.1 += always_send;
    }
    let way = |(links, (flows, always_send))| PathFacts { links, flows, always_send };
    ways.into_iter().map(way).collect()
}

/// Bytes that a link of this rate carries in a span.
pub(crate) fn bytes_in(rate: Rate, span: Span) -> f64 {
    rate.as_bps() as f64 * span.as_secs_f64() / 8.0
}

/// Levels of a link's queue, in bytes; packets count as its largest ones.
fn thresholds(link: &Link, mtu: u32) -> Vec<Threshold> {
    let bytes = |height: Height| match height {
        Height::Bytes(bytes) => Some(bytes),
        Height::Extent(extent) => Some(link.bytes_of(extent, mtu.into())).filter(|bytes| bytes.is_finite()),
    };
    let time_s = |height: Height| match height {
        Height::Extent(Extent::Time(span)) => Some(span.as_secs_f64()),
        _ => None,
    };
    let levels = link.queue.levels().into_iter();
    let threshold = |level: Level| {
        Some(Threshold { bytes: bytes(level.height)?, time_s: time_s(level.height), label: level.label })
    };
    levels.filter_map(threshold).collect()
}
