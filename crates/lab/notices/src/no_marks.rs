//! Runs without a single mark, although their flows ask for marks.

use std::collections::BTreeSet;

use shoal_measure::{Bottleneck, Finished, Notice};
use shoal_scenario::{App, Experiment, Flow, Link, LinkId};
use shoal_tcp::{EcnSetting, EndpointConfig};

use crate::backlogged::{in_words, is_backlogged, rate, window};
use crate::cleared::{CLEARED, clearing};
use crate::limits::{Limit, NARROWER};
use crate::passing::Passing;

/// Kind of the notice that no packet was marked.
pub const NO_MARKS: &str = "no-marks";
/// Mechanism: no packet was ECN-capable.
pub const NOT_ECT: &str = "no-packet-with-ect";
/// Mechanism: the law of the queue marks no packet at all.
pub const NEVER_MARKS: &str = "law-marks-nothing";
/// Mechanism: the law marks packets with another codepoint only.
pub const OTHER_CODEPOINT: &str = "other-codepoint";
/// Mechanism: the queue is full before the law marks.
pub const ABOVE_BUFFER: &str = "threshold-above-buffer";
/// Mechanism: applications have no more to send.
pub const APPLICATION: &str = "application-limited";
/// Mechanism: the queue never was long enough, and nothing that is known bounds the flows.
pub const SHORT_QUEUE: &str = "queue-below-threshold";

/// Fewest round trips of the measurement.
const LEAST_ROUND_TRIPS: f64 = 20.0;
/// Utilisation below which the flows have not filled the link.
const FILLED: f64 = 0.95;
/// Part of the rate of a link below which flows do not fill it alone.
const LITTLE: f64 = 0.5;

pub(crate) fn find(
    experiment: &Experiment,
    finished: &Finished<'_>,
    passing: &Passing<'_>,
) -> Option<Notice> {
    if finished.bottlenecks.iter().any(|link| link.marked + link.arrived_marked > 0) {
        return None;
    }
    let flows = asking_flows(experiment);
    let (from, to) = window(experiment);
    let longest_s = flows.iter().map(|flow| experiment.base_rtt(flow).as_secs_f64()).fold(0.0, f64::max);
    if (to - from).as_secs_f64() < LEAST_ROUND_TRIPS * longest_s {
        return None;
    }
    // The queue that most packets pass.
    let on_paths: BTreeSet<LinkId> =
        flows.iter().flat_map(|flow| &experiment.paths[flow.forward as usize]).copied().collect();
    let links = experiment.monitored().zip(finished.bottlenecks);
    let passed = links.filter(|((id, _), numbers)| numbers.arrived > 0 && on_paths.contains(id));
    let ((id, link), numbers) = passed.max_by_key(|(_, numbers)| numbers.arrived)?;
    let unmarked = Unmarked { experiment, finished, passing, flows, id, link, numbers };
    let reasons: Vec<_> = unmarked.reason().into_iter().collect();
    let names = unmarked.flows.iter().map(|flow| experiment.groups[flow.group as usize].name.clone());
    Some(Notice {
        kind: NO_MARKS.to_owned(),
        text: format!(
            "none of the {} packets that arrived at {} was marked, although flows ask for marks; {}",
            numbers.arrived,
            link.name,
            in_words(&reasons)
        ),
        groups: names.collect(),
        links: vec![link.name.clone()],
        mechanisms: reasons.into_iter().map(|(mechanism, _)| mechanism.to_owned()).collect(),
    })
}

/// The first flow of each group that asks for marks.
pub(crate) fn asking_flows(experiment: &Experiment) -> Vec<Flow> {
    let groups = 0..experiment.groups.len() as u32;
    let first = |group| experiment.flows.numbered(experiment.flows.of_group(group)).next();
    let flows = groups.filter_map(first).map(|(_, flow)| flow);
    flows.filter(|flow| asks_for_marks(experiment, flow)).collect()
}

fn asks_for_marks(experiment: &Experiment, flow: &Flow) -> bool {
    let endpoint = &experiment.endpoints[flow.endpoint as usize];
    let asks = endpoint.ecn == EcnSetting::On || endpoint.cc.ecn_use().is_scalable();
    asks && !matches!(flow.app, App::Unresponsive { .. })
}

/// A queue that marked nothing.
struct Unmarked<'a> {
    experiment: &'a Experiment,
    finished: &'a Finished<'a>,
    passing: &'a Passing<'a>,
    /// The first flow of each group that asks for marks.
    flows: Vec<Flow>,
    id: LinkId,
    link: &'a Link,
    numbers: &'a Bottleneck,
}

impl Unmarked<'_> {
    fn endpoints(&self) -> impl Iterator<Item = &EndpointConfig> {
        self.flows.iter().map(|flow| &self.experiment.endpoints[flow.endpoint as usize])
    }

    /// The first mechanism that holds, in the order in which each presupposes that those before it do not.
    fn reason(&self) -> Option<(&'static str, String)> {
        let Self { link, numbers, .. } = self;
        let before = |flow: &Flow| {
            let links = self.experiment.links_of(flow.forward);
            clearing(links.take_while(|other| other.name != link.name))
        };
        if numbers.ect.arrived == 0 {
            if let Some(link) = self.flows.iter().find_map(before) {
                let text = format!("the link {} before it clears the ECN field", link.name);
                return Some((CLEARED, text));
            }
            return Some((
                NOT_ECT,
                "none of them came with ECT, and only such packets can be marked".to_owned(),
            ));
        }
        if !link.marks_any() {
            let text = "its law marks no packet, whatever its codepoint".to_owned();
            return Some((NEVER_MARKS, text));
        }
        let packet_bytes = self.endpoints().map(|endpoint| f64::from(endpoint.mtu_bytes)).fold(0.0, f64::max);
        let from_bytes =
            |endpoint: &EndpointConfig| link.marks_from_bytes(endpoint.codepoint(), packet_bytes);
        let Some(threshold) = self.endpoints().filter_map(from_bytes).min_by(f64::total_cmp) else {
            let text = "its law marks packets with another codepoint than that of these flows".to_owned();
            return Some((OTHER_CODEPOINT, text));
        };
        let limit = link.limit_bytes(packet_bytes);
        if threshold >= limit {
            let text = format!("marks begin at {threshold:.0} B, and the queue holds {limit:.0} B");
            return Some((ABOVE_BUFFER, text));
        }
        if let Some(text) = self.little_to_send() {
            return Some((APPLICATION, text));
        }
        let longest = numbers.queue_bytes.max.unwrap_or(0.0);
        if threshold > 0.0 && longest > threshold {
            return None;
        }
        self.too_little(threshold).or_else(|| {
            (threshold > 0.0).then(|| {
                let text = format!(
                    "the queue was {longest:.0} B at its longest, and marks begin at {threshold:.0} B"
                );
                (SHORT_QUEUE, text)
            })
        })
    }

    /// That the applications of the flows have too little to send: less than half of a link, which others may fill
    /// where each flow has a queue of its own.
    fn little_to_send(&self) -> Option<String> {
        if self.flows.iter().any(|flow| flow.app == App::Bulk) {
            return None;
        }
        let of_group = |flow: &Flow| self.finished.groups[flow.group as usize].wire_bps.sum.unwrap_or(0.0);
        let (sum_bps, rate_bps) =
            (self.flows.iter().map(of_group).sum::<f64>(), self.link.rate?.as_bps() as f64);
        let is_filled = self.numbers.utilisation.unwrap_or(0.0) >= FILLED;
        (!is_filled || sum_bps < LITTLE * rate_bps)
            .then(|| format!("applications have too little to send: {} of {}", rate(sum_bps), rate(rate_bps)))
    }

    /// Why the flows bring too little for a queue of `threshold` bytes.
    fn too_little(&self, threshold: f64) -> Option<(&'static str, String)> {
        let rate_bps = self.link.rate?.as_bps() as f64;
        let mut sum_bps = 0.0;
        let mut first = None;
        for (_, flow, _) in self.passing.numbered(self.id) {
            if matches!(flow.app, App::Unresponsive { .. }) {
                continue;
            }
            let limit = Limit::of(self.experiment, &flow, self.link)?;
            // A window also fills a queue.
            let rtt_s = self.experiment.base_rtt(&flow).as_secs_f64();
            let queued_bps = if limit.mechanism == NARROWER { 0.0 } else { 8.0 * threshold / rtt_s };
            sum_bps += limit.bps;
            if is_backlogged(&flow, self.experiment) && first.is_none() {
                first = Some((limit, queued_bps));
            }
        }
        let (limit, queued_bps) = first?;
        (sum_bps <= rate_bps + queued_bps).then(|| (limit.mechanism, limit.in_words()))
    }
}
