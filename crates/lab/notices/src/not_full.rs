//! Links that flows with endless data do not fill.

use shoal_measure::{Bottleneck, Finished, FlowResult, Notice};
use shoal_scenario::{Experiment, Flow, Link, LinkId};
use shoal_tcp::EndpointConfig;

use crate::backlogged::{in_words, is_backlogged, window};
use crate::limits::Limit;
use crate::passing::Passing;
use crate::starvation::{BACKOFF, GROWING};

/// Kind of the notice that flows with endless data do not fill a link.
pub const NOT_FULL: &str = "link-not-full";
/// Mechanism: hosts hand over segments that are longer than the threshold, and each is marked.
pub const BURSTS: &str = "segments-above-threshold";
/// Mechanism: the threshold is too low for the bandwidth-delay product.
pub const LOW_THRESHOLD: &str = "threshold-below-bdp";
/// Mechanism: the queue holds too little for controllers that halve their windows.
pub const SMALL_BUFFER: &str = "buffer-below-bdp";

/// Utilisation below which a link counts as not full.
const FULL: f64 = 0.8;
/// Fewest round trips of the measurement.
const LEAST_ROUND_TRIPS: f64 = 100.0;
/// Smallest retransmission timeout in seconds (TCP_RTO_MIN of Linux).
const LEAST_TIMEOUT_S: f64 = 0.2;
/// Part of the time in timeouts from which on they explain what is missing.
const MUCH: f64 = 0.2;

pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>, passing: &Passing<'_>) -> Vec<Notice> {
    let links = || experiment.monitored().zip(finished.bottlenecks);
    let mut is_full = vec![false; experiment.links.len()];
    for ((LinkId(id), _), numbers) in links() {
        is_full[id as usize] = numbers.utilisation.is_some_and(|utilisation| utilisation >= FULL);
    }
    let short = links().filter(|((_, link), numbers)| {
        let is_steady = link.schedule.is_empty() && link.impairments.is_none() && !link.drops_by_plan();
        is_steady && numbers.utilisation.is_some_and(|utilisation| utilisation < FULL)
    });
    let idle = |((id, link), numbers)| Idle::of((experiment, passing), &is_full, (id, link), numbers);
    short.filter_map(|short| idle(short)?.notice()).collect()
}

/// A link that is not full.
struct Idle<'a> {
    experiment: &'a Experiment,
    link: &'a Link,
    numbers: &'a Bottleneck,
    /// Its flows, all with endless data.
    flows: Vec<(Flow, &'a FlowResult)>,
    rate_bps: f64,
    window_s: f64,
}

impl<'a> Idle<'a> {
    /// `None` where another link or other traffic may be the reason, or the measurement is too short.
    fn of(
        (experiment, passing): (&'a Experiment, &Passing<'a>),
        is_full: &[bool],
        (id, link): (LinkId, &'a Link),
        numbers: &'a Bottleneck,
    ) -> Option<Self> {
        let (from, to) = window(experiment);
        let window_s = (to - from).as_secs_f64();
        let mut flows = Vec::new();
        for (_, flow, result) in passing.numbered(id) {
            let path =
                |path: u32| experiment.paths[path as usize].iter().map(|LinkId(other)| *other as usize);
            let may_be_elsewhere = path(flow.forward)
                .chain(path(flow.backward))
                .any(|other| experiment.links[other].impairments.is_some() || is_full[other]);
            let round_trips = window_s / experiment.base_rtt(&flow).as_secs_f64();
            let is_short = round_trips < LEAST_ROUND_TRIPS;
            if !is_backlogged(&flow, experiment) || may_be_elsewhere || is_short {
                return None;
            }
            flows.push((flow, result));
        }
        let rate_bps = link.rate?.as_bps() as f64;
        (!flows.is_empty()).then_some(Self { experiment, link, numbers, flows, rate_bps, window_s })
    }

    fn notice(&self) -> Option<Notice> {
        let reasons: Vec<_> = self.reason().into_iter().collect();
        let mut groups: Vec<u32> = self.flows.iter().map(|(flow, _)| flow.group).collect();
        groups.dedup();
        let names = groups.iter().map(|group| self.experiment.groups[*group as usize].name.clone());
        Some(Notice {
            kind: NOT_FULL.to_owned(),
            text: format!(
                "the link {} is busy for {:.1} % of the time, although its flows always have data; {}",
                self.link.name,
                100.0 * self.numbers.utilisation?,
                in_words(&reasons)
            ),
            groups: names.collect(),
            links: vec![self.link.name.clone()],
            mechanisms: reasons.into_iter().map(|(mechanism, _)| mechanism.to_owned()).collect(),
        })
    }

    /// The first mechanism that holds, in the order in which each presupposes that those before it do not.
    fn reason(&self) -> Option<(&'static str, String)> {
        let (first, _) = self.flows.first()?;
        let limits = self.flows.iter().map(|(flow, _)| Limit::of(self.experiment, flow, self.link));
        let limits: Vec<Limit> = limits.collect::<Option<_>>()?;
        if limits.iter().map(|limit| limit.bps).sum::<f64>() < self.rate_bps {
            return limits.first().map(|limit| (limit.mechanism, limit.in_words()));
        }
        let flows = self.flows.len() as f64;
        let timeouts: u64 = self.flows.iter().map(|(_, result)| result.timeouts).sum();
        let waited = timeouts as f64 * LEAST_TIMEOUT_S / (flows * self.window_s);
        if waited >= MUCH {
            let text = format!(
                "its flows wait for retransmission timeouts during at least {:.0} % of the time ({timeouts} timeouts)",
                100.0 * waited
            );
            return Some((BACKOFF, text));
        }
        let reductions: u64 = self.flows.iter().map(|(_, result)| result.reductions).sum();
        if reductions == 0 && timeouts == 0 {
            let text =
                "no window was reduced in the measurement: a longer run shows where they end".to_owned();
            return Some((GROWING, text));
        }
        let endpoint = &self.experiment.endpoints[first.endpoint as usize];
        let bdp_bytes = self.rate_bps / 8.0 * self.experiment.base_rtt(first).as_secs_f64();
        self.low_threshold(first, endpoint, bdp_bytes).or_else(|| self.small_buffer(endpoint, bdp_bytes))
    }

    /// A threshold that is below a segment of the hosts, or below what the law of the flows needs: DCTCP a seventh of
    /// the bandwidth-delay product (Alizadeh et al. 2010, equation 13), halving of windows the whole of it over the
    /// square root of the number of flows (Appenzeller et al. 2004).
    fn low_threshold(
        &self,
        flow: &Flow,
        endpoint: &EndpointConfig,
        bdp_bytes: f64,
    ) -> Option<(&'static str, String)> {
        let threshold = self.link.marks_from_bytes(endpoint.codepoint(), f64::from(endpoint.mtu_bytes))?;
        if self.numbers.marked == 0 || threshold <= 0.0 {
            return None;
        }
        let segment = self.segment_bytes(flow, endpoint);
        if segment.is_some_and(|segment| segment > threshold) {
            let text = format!(
                "hosts hand over segments of up to {:.0} B at once, and marks begin at {threshold:.0} B: a segment \
                 marks itself",
                segment?
            );
            return Some((BURSTS, text));
        }
        let is_scalable = endpoint.negotiated_cc().ecn_use().is_scalable();
        let parts = if is_scalable { 7.0 } else { libm::sqrt(self.flows.len() as f64) };
        let least = bdp_bytes / parts;
        (threshold < least).then(|| {
            let text = format!(
                "marks begin at {threshold:.0} B, and windows that marks reduce fill the link from about {least:.0} B \
                 on (the bandwidth-delay product is {bdp_bytes:.0} B)"
            );
            (LOW_THRESHOLD, text)
        })
    }

    /// Bytes of the largest segment that a host hands over: what the pacing rate sends in 2^-10 s, and a part of the
    /// largest one that is halved for each 2^`tso_rtt_log` microseconds of round trip (Linux `tcp_tso_autosize`).
    fn segment_bytes(&self, flow: &Flow, endpoint: &EndpointConfig) -> Option<f64> {
        let offload = endpoint.offload?;
        let mtu_bytes = f64::from(endpoint.mtu_bytes);
        let most = f64::from(offload.gso_max_size_bytes).min(f64::from(offload.gso_max_segs) * mtu_bytes);
        let share = self.rate_bps / 8.0 / self.flows.len() as f64 / 1024.0;
        let rtt_us = (1e6 * self.experiment.base_rtt(flow).as_secs_f64()) as u64;
        let halvings = rtt_us.checked_shr(offload.tso_rtt_log.into()).unwrap_or(0).min(64);
        let near = if offload.tso_rtt_log == 0 { 0.0 } else { most * libm::exp2(-(halvings as f64)) };
        Some((share + near).max(f64::from(offload.min_tso_segs) * mtu_bytes).min(most))
    }

    fn small_buffer(&self, endpoint: &EndpointConfig, bdp_bytes: f64) -> Option<(&'static str, String)> {
        let limit = self.link.limit_bytes(f64::from(endpoint.mtu_bytes));
        let least = bdp_bytes / libm::sqrt(self.flows.len() as f64);
        (self.numbers.dropped > 0 && limit < least).then(|| {
            let text = format!(
                "the queue holds {limit:.0} B, and windows that losses halve fill the link from about {least:.0} B on \
                 (the bandwidth-delay product is {bdp_bytes:.0} B)"
            );
            (SMALL_BUFFER, text)
        })
    }
}
