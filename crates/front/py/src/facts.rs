//! The resolved experiment in base units, for plots and metrics: nobody parses quantities a second time.

use serde_json::{Value, json};
use shoal_aqm::{Extent, QueueConfig, RedParameters};
use shoal_scenario::schema::Topology;
use shoal_scenario::{App, Document, Experiment, Link};
use shoal_tcp::EcnSetting;
use shoal_units::Span;

/// `{"duration_s", "warmup_s", "bottlenecks": [{"name", "rate_bps", "bdp_bytes", "mtu_bytes", "thresholds": [{"label",
/// "bytes"}]}], "groups": [{"name", "flows", "base_rtt_s", "longest_rtt_s", "deadline_s", "ect"}], "series_s", "traced":
/// {"controller", "segments"}}`; links as in the result; `base_rtt_s` is that of the first flow; `series_s` is the bin of the
/// time series, if there is one; `traced` has numbers of flows.
pub fn facts(document: &Document, experiment: &Experiment) -> Value {
    let bdp_rtt = bdp_rtt(document, experiment);
    let mtu = experiment.endpoints.iter().map(|endpoint| u32::from(endpoint.mtu_bytes)).max();
    let monitored = experiment.links.iter().filter(|link| link.monitored);
    let bottlenecks = monitored.filter_map(|link| {
        let rate = link.rate?;
        Some(json!({
            "name": link.name,
            "rate_bps": rate.as_bps(),
            "bdp_bytes": bdp_rtt.map(|rtt| rate.as_bps() as f64 * rtt.as_secs_f64() / 8.0),
            "mtu_bytes": mtu,
            "thresholds": thresholds(link, mtu.unwrap_or(1500)),
        }))
    });
    // A million flows need no list of their own to be described: groups share their facts.
    let mut groups: Vec<Value> = Vec::new();
    for (index, group) in experiment.groups.iter().enumerate() {
        let mut flows = experiment.flows.iter().filter(|flow| flow.group as usize == index);
        let first = flows.next();
        let longest = flows.clone().chain(first).map(|flow| experiment.base_rtt(flow)).max();
        let count = first.map_or(0, |_| 1 + flows.count());
        groups.push(json!({
            "name": group.name,
            "flows": count,
            "base_rtt_s": first.map(|flow| experiment.base_rtt(flow).as_secs_f64()),
            "longest_rtt_s": longest.map(Span::as_secs_f64),
            "deadline_s": first.and_then(|flow| deadline(flow.app)).map(Span::as_secs_f64),
            "ect": first.map(|flow| experiment.endpoints[flow.endpoint as usize].ecn == EcnSetting::On),
        }));
    }
    json!({
        "duration_s": experiment.duration.as_secs_f64(),
        "warmup_s": experiment.warmup.as_secs_f64(),
        "bottlenecks": bottlenecks.collect::<Vec<_>>(),
        "groups": groups,
        "series_s": experiment.trace.series_interval.map(Span::as_secs_f64),
        "traced": {
            "controller": experiment.traced(experiment.trace.controller_flows).numbers(),
            "segments": experiment.traced(experiment.trace.segment_flows).numbers(),
        },
    })
}

fn bdp_rtt(document: &Document, experiment: &Experiment) -> Option<Span> {
    let scenario = document.scenario();
    let first_flow = || experiment.flows.first().map(|flow| experiment.base_rtt(flow));
    match &scenario.topology {
        Topology::Dumbbell(_) => scenario.bottleneck.as_ref()?.bdp_rtt.map(|rtt| rtt.span()),
        Topology::Star(star) => star.bdp_rtt.map(|rtt| rtt.span()).or_else(first_flow),
        Topology::LeafSpine(plan) => plan.bdp_rtt.map(|rtt| rtt.span()).or_else(first_flow),
        Topology::ParkingLot(lot) => lot.bdp_rtt.map(|rtt| rtt.span()).or_else(first_flow),
        Topology::Graph(graph) => graph.bdp_rtt.map(|rtt| rtt.span()).or_else(first_flow),
    }
}

/// What frames have.
fn deadline(app: App) -> Option<Span> {
    if let App::Frames { deadline, .. } = app { Some(deadline) } else { None }
}

fn thresholds(link: &Link, mtu: u32) -> Vec<Value> {
    let of = |label: &str, bytes: Option<f64>| bytes.map(|bytes| json!({ "label": label, "bytes": bytes }));
    let red = |class: &str, red: &RedParameters| {
        if red.min_bytes == red.max_bytes {
            vec![of(&format!("K{class}"), Some(red.min_bytes))]
        } else {
            vec![
                of(&format!("min{class}"), Some(red.min_bytes)),
                of(&format!("max{class}"), Some(red.max_bytes)),
            ]
        }
    };
    let extent = |extent: Extent| match extent {
        Extent::Unlimited => None,
        Extent::Packets(packets) => Some(f64::from(packets) * f64::from(mtu)),
        Extent::Bytes(bytes) => Some(bytes as f64),
        Extent::Time(span) => link.rate.map(|rate| rate.as_bps() as f64 * span.as_secs_f64() / 8.0),
    };
    let lines = match &link.queue {
        QueueConfig::Fifo(fifo) => vec![of("limit", extent(fifo.limit))],
        QueueConfig::Step(step) => vec![of("K", extent(step.threshold)), of("limit", extent(step.limit))],
        QueueConfig::Red(config) => red("", &config.parameters),
        QueueConfig::LinuxRed(config) => {
            vec![of("min", Some(config.min_bytes.into())), of("max", Some(config.max_bytes.into()))]
        }
        QueueConfig::Codel(config) => {
            vec![of("target", extent(Extent::Time(config.law.target))), of("limit", extent(config.limit))]
        }
        QueueConfig::Pie(config) => {
            vec![of("target", extent(Extent::Time(config.target))), of("limit", extent(config.limit))]
        }
        // Targets and thresholds of several queues are no lines in the sum of their backlogs.
        QueueConfig::FqCodel(config) => vec![of("limit", extent(config.limit))],
        QueueConfig::Gred(config) => {
            let line = |label: &str, bytes: u32| of(label, Some(bytes.into()));
            let names = ["not-ECT", "ECT"].into_iter().zip(&config.queues);
            let queues = names.filter_map(|(name, queue)| Some((name, queue.as_ref()?.red)));
            let lines = queues.map(|(name, red)| {
                [line(&format!("min {name}"), red.min_bytes), line(&format!("max {name}"), red.max_bytes)]
            });
            lines.flatten().collect()
        }
        QueueConfig::DualRed(config) => [red(" not-ECT", &config.not_ect), red(" ECT", &config.ect)].concat(),
        QueueConfig::OpenLoop(config) => vec![of("limit", extent(config.limit))],
        QueueConfig::Coupled(config) => vec![of("limit", extent(config.limit))],
        QueueConfig::DualPi2(config) => vec![of("limit", extent(config.limit))],
        QueueConfig::Pi2(config) => vec![of("limit", extent(config.limit))],
        QueueConfig::DualCoupled(config) => {
            vec![of("T", extent(config.threshold)), of("limit", extent(config.limit))]
        }
    };
    lines.into_iter().flatten().collect()
}
