//! Flows that always have data, and the share of their links that is fair.

use std::collections::BTreeMap;

use shoal_measure::{Finished, FlowResult, GroupResult};
use shoal_scenario::{App, Experiment, Flow, Link};
use shoal_tcp::EndpointConfig;
use shoal_units::{Span, Time};

use crate::fair_share::{Demand, max_min};

/// Whether the flow has data to send during the whole measurement.
pub(crate) fn is_backlogged(flow: &Flow, experiment: &Experiment) -> bool {
    experiment.always_sends(flow)
}

/// Whether the flow was out of sight: no link that the result reports carries its data, so that it has no rate there.
pub(crate) fn is_unseen(flow: &Flow, result: &FlowResult, experiment: &Experiment) -> bool {
    result.wire_bps.unwrap_or(0.0) <= 0.0 && !experiment.is_monitored(flow.forward)
}

/// When the measurement begins and ends.
pub(crate) fn window(experiment: &Experiment) -> (Time, Time) {
    (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration)
}

/// Times into which the measurement is divided at most: links that change more often count with their means over so
/// many equal parts of it.
const MOST_PARTS: usize = 1000;

/// The ends of the parts of the measurement in which no link changes its rate, the start of the measurement first.
fn parts(experiment: &Experiment) -> Vec<Time> {
    let (from, to) = window(experiment);
    let changes = experiment.links.iter().flat_map(|link| link.schedule.rate.iter().map(|change| change.at));
    let mut ends: Vec<Time> = changes.filter(|at| *at > from && *at < to).chain([from, to]).collect();
    ends.sort_unstable();
    ends.dedup();
    if ends.len() <= MOST_PARTS + 1 {
        return ends;
    }
    let part = (to - from).as_picos() / MOST_PARTS as u64;
    (0..MOST_PARTS as u64).map(|number| from + Span::from_picos(part * number)).chain([to]).collect()
}

/// Mean max-min fair rate of the backlogged flows of each group that has some: over the measurement, if links change.
pub(crate) fn fair_shares(experiment: &Experiment, finished: &Finished<'_>) -> BTreeMap<usize, f64> {
    let (from, to) = window(experiment);
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for part in parts(experiment).windows(2) {
        let mean_bps = |link: &Link| link.mean_rate_bps(part[0], part[1]).unwrap_or(f64::INFINITY);
        let capacities: Vec<f64> = experiment.links.iter().map(mean_bps).collect();
        let weight = (part[1] - part[0]).as_secs_f64() / (to - from).as_secs_f64();
        for (group, rate) in fair_shares_of(experiment, finished, &capacities) {
            *sums.entry(group).or_default() += weight * rate;
        }
    }
    sums
}

/// Fair shares of the groups over links of these rates in bit/s.
fn fair_shares_of(
    experiment: &Experiment,
    finished: &Finished<'_>,
    capacities: &[f64],
) -> BTreeMap<usize, f64> {
    // Flows of a group on the same path that are all backlogged, or all not, are bundled; the demand of the
    // latter is their mean rate.
    let mut bundles: BTreeMap<(u32, usize, bool), (u32, f64)> = BTreeMap::new();
    let transfers = finished.transfers.iter();
    bundles.extend(transfers.map(|(&(path, group), &sum)| ((path, group as usize, false), sum)));
    for (index, flow, result) in numbered(experiment, finished.groups) {
        let backlogged = is_backlogged(&flow, experiment);
        let bundle = bundles.entry((flow.forward, index, backlogged)).or_default();
        bundle.0 += 1;
        bundle.1 += if backlogged { most_bps(experiment, &flow) } else { result.wire_bps.unwrap_or(0.0) };
    }
    let demands: Vec<Demand> = bundles
        .iter()
        .map(|(&(path, ..), &(flows, sum_bps))| Demand {
            flows,
            most_bps: sum_bps / f64::from(flows),
            links: experiment.paths[path as usize]
                .iter()
                .map(|link| link.0 as usize)
                .filter(|&link| capacities[link].is_finite())
                .collect(),
        })
        .collect();
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for ((&(_, group, backlogged), &(flows, _)), rate) in bundles.iter().zip(max_min(capacities, &demands)) {
        if backlogged {
            let sum = sums.entry(group).or_default();
            sum.0 += rate * f64::from(flows);
            sum.1 += f64::from(flows);
        }
    }
    sums.into_iter().map(|(group, (rates, flows))| (group, rates / flows)).collect()
}

/// The highest rate in bit/s that the flow's own limits allow: its window over its round trip, and its host's card.
fn most_bps(experiment: &Experiment, flow: &Flow) -> f64 {
    let endpoint = &experiment.endpoints[flow.endpoint as usize];
    let receive_packets = f64::from(endpoint.receive_window_bytes) / f64::from(endpoint.mss());
    let window_packets = receive_packets.min(f64::from(endpoint.cwnd_clamp_packets));
    let by_window = window_packets * packet_bits(endpoint) / experiment.base_rtt(flow).as_secs_f64();
    let by_card = experiment.host_of(flow).nic_rate.map_or(f64::INFINITY, |rate| rate.as_bps() as f64);
    by_window.min(by_card)
}

/// Bits of a full packet.
pub(crate) fn packet_bits(endpoint: &EndpointConfig) -> f64 {
    8.0 * f64::from(endpoint.mtu_bytes)
}

/// Every flow that does not transfer, with its group and its result.
pub(crate) fn numbered<'a>(
    experiment: &'a Experiment,
    groups: &'a [GroupResult],
) -> impl Iterator<Item = (usize, Flow, &'a FlowResult)> {
    let flows = |group: usize| experiment.flows.numbered(experiment.flows.of_group(group as u32));
    let listed = groups.iter().enumerate().flat_map(move |(group, result)| {
        flows(group).zip(&result.flows).map(move |((_, flow), result)| (group, flow, result))
    });
    listed.filter(|(_, flow, _)| !transfers(flow))
}

/// Whether the application of a flow transfers.
pub(crate) fn transfers(flow: &Flow) -> bool {
    matches!(flow.app, App::Transfers { .. })
}

/// Mechanisms with their numbers, or that none is known. `shoal config judge` looks for the latter words.
pub(crate) fn in_words(reasons: &[(&'static str, String)]) -> String {
    if reasons.is_empty() {
        return "mechanism not determined".to_owned();
    }
    reasons.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
}

/// A rate with its unit.
pub(crate) fn rate(bps: f64) -> String {
    let (value, unit) = match bps {
        bps if bps >= 1e9 => (bps / 1e9, "Gbit/s"),
        bps if bps >= 1e6 => (bps / 1e6, "Mbit/s"),
        bps => (bps / 1e3, "kbit/s"),
    };
    format!("{value:.3} {unit}")
}
