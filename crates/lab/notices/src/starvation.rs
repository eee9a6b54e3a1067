//! Groups that get less than a tenth of their fair share, and the mechanisms that explain it in the numbers
//! of the run.
//!
//! Only flows that have data to send during the whole measurement count. Their fair share is the max-min fair
//! rate on their paths, where the demand of every other flow is the rate that it got. A mechanism is named
//! only if the run's own numbers support it.

use std::collections::BTreeMap;

use shoal_measure::{Bottleneck, FlowResult, GroupResult, Notice, TransferRates};
use shoal_scenario::{App, Experiment, Flow, Link};
use shoal_tcp::{EcnSetting, EndpointConfig};

use shoal_units::{Span, Time};

use crate::fair_share::{Demand, max_min};

/// Kind of the notice that a group starves.
pub const STARVED: &str = "starved";
/// Mechanism: the average of a RED law stays above its maximum threshold, because other flows keep the queue
/// there, and every packet of the group is dropped.
pub const LOCKED_OUT: &str = "red-lock-out";
/// Mechanism: the queue drops packets of the group where it marks packets of others.
pub const SHARED_THRESHOLD: &str = "dropped-where-others-are-marked";
/// Mechanism: flows of the group wait for retransmission timeouts most of the time.
pub const BACKOFF: &str = "timeout-back-off";
/// Mechanism: the windows of the group are at their minimum.
pub const FLOOR: &str = "smallest-window";

/// Fraction of the fair share below which a group starves.
const PART: f64 = 0.1;
/// Fewest round trips of the measurement: in a shorter one a flow has no time to reach its share.
const LEAST_ROUND_TRIPS: f64 = 20.0;
/// Minimum retransmission timeout in seconds (TCP_RTO_MIN of Linux).
const LEAST_TIMEOUT_S: f64 = 0.2;

pub(crate) fn find(
    experiment: &Experiment,
    groups: &[GroupResult],
    bottlenecks: &[Bottleneck],
    transfers: &TransferRates,
) -> Vec<Notice> {
    let window_s = (experiment.duration - experiment.warmup).as_secs_f64();
    let slow: Vec<Backlogged<'_>> = Backlogged::of(experiment, groups)
        .into_iter()
        .filter(|group| {
            // A fair share is at most the rate of the slowest link on the path, so that most groups need no
            // closer look.
            let most = group.narrowest_bps(experiment);
            most.is_finite()
                && group.rate_bps < PART * most
                && window_s >= LEAST_ROUND_TRIPS * group.longest_rtt_s(experiment)
        })
        .collect();
    if slow.is_empty() {
        return Vec::new();
    }
    let shares = fair_shares(experiment, groups, transfers);
    slow.iter()
        .filter_map(|group| {
            let fair_bps = shares.get(&group.index).copied()?;
            (group.rate_bps < PART * fair_bps)
                .then(|| group.notice(experiment, bottlenecks, fair_bps, window_s))
        })
        .collect()
}

/// Whether the flow has data to send during the whole measurement.
pub(crate) fn is_backlogged(flow: &Flow, experiment: &Experiment) -> bool {
    flow.app == App::Bulk
        && flow.start.as_picos() <= experiment.warmup.as_picos()
        && flow.stop.is_none_or(|stop| stop.as_picos() >= experiment.duration.as_picos())
}

/// When the measurement begins and ends.
fn window(experiment: &Experiment) -> (Time, Time) {
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
fn fair_shares(
    experiment: &Experiment,
    groups: &[GroupResult],
    transfers: &TransferRates,
) -> BTreeMap<usize, f64> {
    let (from, to) = window(experiment);
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for part in parts(experiment).windows(2) {
        let mean_bps = |link: &Link| link.mean_rate_bps(part[0], part[1]).unwrap_or(f64::INFINITY);
        let capacities: Vec<f64> = experiment.links.iter().map(mean_bps).collect();
        let weight = (part[1] - part[0]).as_secs_f64() / (to - from).as_secs_f64();
        for (group, rate) in fair_shares_of(experiment, (groups, transfers), &capacities) {
            *sums.entry(group).or_default() += weight * rate;
        }
    }
    sums
}

/// Fair shares of the groups over links of these rates in bit/s.
fn fair_shares_of(
    experiment: &Experiment,
    (groups, transfers): (&[GroupResult], &TransferRates),
    capacities: &[f64],
) -> BTreeMap<usize, f64> {
    // Flows of a group on the same path that are all backlogged, or all not, are bundled; the demand of the
    // latter is their mean rate.
    let mut bundles: BTreeMap<(u32, usize, bool), (u32, f64)> = BTreeMap::new();
    bundles.extend(transfers.iter().map(|(&(path, group), &sum)| ((path, group as usize, false), sum)));
    for (index, flow, result) in numbered(experiment, groups) {
        let bundle = bundles.entry((flow.forward, index, is_backlogged(&flow, experiment))).or_default();
        bundle.0 += 1;
        bundle.1 += result.wire_bps.unwrap_or(0.0);
    }
    let demands: Vec<Demand> = bundles
        .iter()
        .map(|(&(path, _, backlogged), &(flows, got_bps))| Demand {
            flows,
            most_bps: if backlogged { f64::INFINITY } else { got_bps / f64::from(flows) },
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

/// Sums over the backlogged flows of a group.
struct Backlogged<'a> {
    index: usize,
    group: &'a GroupResult,
    /// The first backlogged flow; the others differ in start, path and perhaps in their RTT.
    flow: Flow,
    flows: f64,
    /// Mean rate on the wire of the bottleneck in bit/s.
    rate_bps: f64,
    timeouts: u64,
    reductions: u64,
    /// Segments that were delivered or retransmitted.
    segments: f64,
    /// Seconds that these segments take at one segment in each round trip, the slowest rate of a flow that
    /// sends at all.
    busy_s: f64,
    /// Sum of the mean windows in packets.
    cwnd_packets: f64,
}

impl<'a> Backlogged<'a> {
    fn of(experiment: &'a Experiment, groups: &'a [GroupResult]) -> Vec<Self> {
        let mut found: BTreeMap<usize, Self> = BTreeMap::new();
        for (index, flow, result) in numbered(experiment, groups) {
            if !is_backlogged(&flow, experiment) {
                continue;
            }
            let sum = found.entry(index).or_insert_with(|| Self {
                index,
                group: &groups[index],
                flow,
                flows: 0.0,
                rate_bps: 0.0,
                timeouts: 0,
                reductions: 0,
                segments: 0.0,
                busy_s: 0.0,
                cwnd_packets: 0.0,
            });
            let endpoint = &experiment.endpoints[flow.endpoint as usize];
            let segments =
                result.delivered_bytes as f64 / f64::from(endpoint.mss()) + result.retransmissions as f64;
            let rtt_s = result.srtt_s.mean.or(result.base_rtt_s).unwrap_or(0.0);
            sum.flows += 1.0;
            sum.rate_bps += result.wire_bps.unwrap_or(0.0);
            sum.timeouts += result.timeouts;
            sum.reductions += result.reductions;
            sum.segments += segments;
            sum.busy_s += segments * rtt_s;
            sum.cwnd_packets += result.cwnd_packets.mean.unwrap_or(0.0);
        }
        let mean = |mut sum: Self| {
            sum.rate_bps /= sum.flows;
            sum.cwnd_packets /= sum.flows;
            sum
        };
        found.into_values().map(mean).collect()
    }

    fn narrowest_bps(&self, experiment: &Experiment) -> f64 {
        let (from, to) = window(experiment);
        let rates = experiment.links_of(self.flow.forward).filter_map(|link| link.mean_rate_bps(from, to));
        rates.fold(f64::INFINITY, f64::min)
    }

    /// Round-trip propagation delay with the longest delay that each link ever has.
    fn longest_rtt_s(&self, experiment: &Experiment) -> f64 {
        let links = experiment.links_of(self.flow.forward).chain(experiment.links_of(self.flow.backward));
        links.map(|link| link.longest_delay().as_secs_f64()).sum()
    }

    fn notice(
        &self,
        experiment: &Experiment,
        bottlenecks: &[Bottleneck],
        fair_bps: f64,
        window_s: f64,
    ) -> Notice {
        let names: Vec<&str> = experiment
            .links_of(self.flow.forward)
            .filter(|link| link.monitored)
            .map(|link| link.name.as_str())
            .collect();
        // If there are several, the link that dropped most.
        let link = bottlenecks
            .iter()
            .filter(|link| names.contains(&link.name.as_str()))
            .max_by_key(|link| link.dropped);
        let reasons = self.reasons(experiment, link, fair_bps, window_s);
        let why = if reasons.is_empty() {
            "mechanism not determined".to_owned()
        } else {
            reasons.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
        };
        let (each, flows) = if self.flows > 1.0 { (" each", "its flows get") } else { ("", "its flow gets") };
        Notice {
            kind: STARVED.to_owned(),
            text: format!(
                "{} is starved: {flows} {}{each}, {:.1} % of a fair share of {}; {why}",
                self.group.name,
                rate(self.rate_bps),
                100.0 * self.rate_bps / fair_bps,
                rate(fair_bps),
            ),
            groups: vec![self.group.name.clone()],
            links: link.map(|link| link.name.clone()).into_iter().collect(),
            mechanisms: reasons.into_iter().map(|(mechanism, _)| mechanism.to_owned()).collect(),
        }
    }

    /// Mechanisms that the numbers support, each with its numbers.
    fn reasons(
        &self,
        experiment: &Experiment,
        link: Option<&Bottleneck>,
        fair_bps: f64,
        window_s: f64,
    ) -> Vec<(&'static str, String)> {
        let endpoint = &experiment.endpoints[self.flow.endpoint as usize];
        let mut reasons = Vec::new();
        if let Some(link) = link.filter(|_| endpoint.ecn == EcnSetting::Off) {
            reasons.extend(self.of_its_class(link, endpoint, fair_bps, window_s));
        }
        let waited = 1.0 - self.busy_s / (self.flows * window_s);
        if self.timeouts > 0 && waited >= 0.5 {
            let text = format!(
                "waits for retransmission timeouts during at least {:.0} % of the time ({} timeouts)",
                100.0 * waited,
                self.timeouts
            );
            reasons.push((BACKOFF, text));
        } else if self.reductions > 0 && self.cwnd_packets <= 1.1 * SMALLEST_WINDOW {
            let text = format!(
                "its window is at its smallest, {:.1} packets on average, and was still reduced {} times",
                self.cwnd_packets, self.reductions
            );
            reasons.push((FLOOR, text));
        }
        reasons
    }

    /// Marks and drops of the queue for packets that are not ECT, and for others.
    fn of_its_class(
        &self,
        link: &Bottleneck,
        endpoint: &EndpointConfig,
        fair_bps: f64,
        window_s: f64,
    ) -> Option<(&'static str, String)> {
        let (own, others) = (&link.not_ect, &link.ect);
        let lost = own.drop_fraction?;
        let others_lost = others.drop_fraction?;
        let only_marked = others.marked > 0 && others_lost <= 0.1 * lost;
        let by_law = 2 * link.dropped_by.aqm >= link.dropped;
        if own.dropped == 0 || !only_marked || !by_law {
            return None;
        }
        if lost >= 0.9 && 10 * link.dropped_by.forced >= 9 * link.dropped {
            let text = format!(
                "locked out: the average queue stays above the maximum of RED, which drops {:.0} % of the packets \
                 without ECT, while those with ECT are only marked and keep the queue there",
                100.0 * lost
            );
            return Some((LOCKED_OUT, text));
        }
        // Would the loss alone keep the rate that low? Round-trip times are those of its segments.
        let rtt_s = if self.segments > 0.0 { self.busy_s / self.segments } else { window_s };
        let bits = 8.0 * f64::from(endpoint.mtu_bytes);
        let left_bps = bits * packets_a_second(lost, rtt_s);
        (left_bps <= 3.0 * PART * fair_bps).then(|| {
            let text = format!(
                "the queue drops {:.2} % of the packets without ECT where it marks {:.1} % of those with ECT; such a \
                 loss leaves a flow about {}",
                100.0 * lost,
                100.0 * others.mark_fraction.unwrap_or(0.0),
                rate(left_bps),
            );
            (SHARED_THRESHOLD, text)
        })
    }
}

/// Rate of Reno at this loss in packets per second (Padhye et al. 1998, equation 32, with an ACK for each
/// packet): the square-root law, and the timeouts of windows that are too small for fast retransmit.
fn packets_a_second(lost: f64, rtt_s: f64) -> f64 {
    let timeout_s = rtt_s.max(LEAST_TIMEOUT_S);
    let timeouts = (3.0 * libm::sqrt(3.0 * lost / 8.0)).min(1.0) * lost * (1.0 + 32.0 * lost * lost);
    1.0 / (rtt_s * libm::sqrt(2.0 * lost / 3.0) + timeout_s * timeouts)
}

/// Smallest window of the controllers here in packets; only a timeout goes below.
const SMALLEST_WINDOW: f64 = 2.0;

fn rate(bps: f64) -> String {
    let (value, unit) = match bps {
        bps if bps >= 1e9 => (bps / 1e9, "Gbit/s"),
        bps if bps >= 1e6 => (bps / 1e6, "Mbit/s"),
        bps => (bps / 1e3, "kbit/s"),
    };
    format!("{value:.3} {unit}")
}
