//! Flows that are alike in everything but their start, and share unequally.
//!
//! The flows of a group count as alike, and so do those of different groups with the same configuration, the same kind
//! of path and the same round trip. Only flows that have data to send during the whole measurement are compared, and
//! only where the measurement is long enough for flows to have found their shares.

use std::collections::BTreeMap;

use shoal_measure::{Finished, FlowResult, Notice};
use shoal_scenario::{App, Experiment, LinkId};
use shoal_units::{Rate, Time};

use crate::backlogged::{in_words, is_backlogged, numbered, rate, window};
use crate::starvation::BACKOFF;

/// Kind of the notice that flows which are alike share unequally.
pub const UNEQUAL: &str = "unequal-shares";
/// Mechanism: the flows differ in their round trips, and the one with the longer has less.
pub const DIFFERENT_ROUND_TRIPS: &str = "different-round-trips";
/// Mechanism: one of the flows began without ECN, since its SYN was lost.
pub const WITHOUT_ECN: &str = "without-ecn";
/// Mechanism: too few reductions in the measurement for the flows to have come together.
pub const CONVERGING: &str = "not-converged";
/// Mechanism: the smaller flow finds more of its packets marked, which holds the shares where they are.
pub const UNEVEN_MARKS: &str = "uneven-marks";
/// Mechanism: the queue drops more of the packets of the smaller flow.
pub const UNEVEN_LOSSES: &str = "uneven-losses";

/// Coefficient of variation of the rates from which on flows share unequally: two flows at three to one, Jain's index
/// 0.8. Ordinary flows whose sawteeth are averaged over some periods stay far below.
const SCATTER: f64 = 0.5;
/// Part of the mean rate below which a single flow among many is reported, whatever the others do.
const NEXT_TO_NOTHING: f64 = 0.1;
/// Fewest mean round trips of the measurement.
const LEAST_ROUND_TRIPS: f64 = 100.0;
/// Round trips within this factor count as the same: with such a factor, rates differ by a fifth at most.
const SAME_ROUND_TRIP: f64 = 1.1;
/// Reductions times the part of the window that one takes, from which on flows have come together: if all flows are
/// reduced together, their difference is exp(-3), a twentieth, of what it was. Before the measurement flows are taken
/// to have been reduced as often as in it, from the start of the last one on.
const TOGETHER: f64 = 3.0;
/// Part of its window that a loss-based flow gives up at least: CUBIC's beta is 0.7 ([RFC 9438, section
/// 4.6](https://www.rfc-editor.org/rfc/rfc9438#section-4.6)).
const LEAST_CUT: f64 = 0.3;
/// Multiple of the larger flow's marked or lost part of its packets from which on the smaller one has more of them.
const MORE: f64 = 1.5;

pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    // Networks with many paths have short transfers only.
    if !experiment.flows.patterns().any(|flow| flow.app == App::Bulk) {
        return Vec::new();
    }
    let kinds = kinds_of_groups(experiment);
    let ways: Vec<Vec<Step>> = experiment.paths.iter().map(|path| way(experiment, path)).collect();
    let mut comparable: BTreeMap<Comparable<'_>, Vec<Member<'_>>> = BTreeMap::new();
    for (group, flow, result) in numbered(experiment, finished.groups) {
        if !is_backlogged(&flow, experiment) {
            continue;
        }
        let (Some(wire_bps), Some(base_rtt_s)) = (result.wire_bps, result.base_rtt_s) else { continue };
        let (there, back) = (&ways[flow.forward as usize], &ways[flow.backward as usize]);
        let member =
            Member { group, endpoint: flow.endpoint, start: flow.start, result, wire_bps, base_rtt_s };
        comparable.entry((kinds[group], there, back)).or_default().push(member);
    }
    let sets = comparable.into_values().flat_map(alike);
    sets.filter_map(|members| Alike { experiment, members }.notice()).collect()
}

/// For each group the first one whose flows have the same configuration and the same hosts.
fn kinds_of_groups(experiment: &Experiment) -> Vec<usize> {
    let configured = |group: usize| {
        let flow = experiment.flows.numbered(experiment.flows.of_group(group as u32)).next();
        flow.map(|(_, flow)| &experiment.endpoints[flow.endpoint as usize])
    };
    let rest = |group: usize| {
        let group = &experiment.groups[group];
        (group.host, group.dscp, &group.replacement)
    };
    let is_same =
        |first: usize, group: usize| rest(first) == rest(group) && configured(first) == configured(group);
    let mut firsts: Vec<usize> = Vec::new();
    let kind = |group: usize| {
        firsts.iter().copied().find(|first| is_same(*first, group)).unwrap_or_else(|| {
            firsts.push(group);
            group
        })
    };
    (0..experiment.groups.len()).map(kind).collect()
}

/// What flows have in common that may be compared: the kind of their group, and their paths there and back.
type Comparable<'a> = (usize, &'a [Step], &'a [Step]);

/// A link of a path, so far as it decides about rates.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A link that is measured.
    Measured(LinkId),
    /// A link of this rate that is not, such as that of a host.
    Other(Rate),
}

fn way(experiment: &Experiment, path: &[LinkId]) -> Vec<Step> {
    let links = path.iter().map(|id| (id, &experiment.links[id.0 as usize]));
    let steps = links.filter_map(|(id, link)| {
        let rate = link.rate?;
        Some(if link.monitored { Step::Measured(*id) } else { Step::Other(rate) })
    });
    steps.collect()
}

/// A flow that always has data.
struct Member<'a> {
    group: usize,
    endpoint: u32,
    start: Time,
    result: &'a FlowResult,
    wire_bps: f64,
    base_rtt_s: f64,
}

impl Member<'_> {
    /// Mean round trip with its waits.
    fn rtt_s(&self) -> f64 {
        self.result.srtt_s.mean.unwrap_or(self.base_rtt_s)
    }

    /// Part of its window that one of its reductions takes.
    fn cut(&self) -> f64 {
        self.result.alpha.mean.map_or(LEAST_CUT, |alpha| alpha / 2.0)
    }

    /// Whether it keeps DCTCP's alpha, which a flow without ECN does not; none if nothing arrived, since a flow that
    /// is not established yet keeps nothing.
    fn has_alpha(&self) -> Option<bool> {
        self.result.data_packets.filter(|packets| *packets > 0)?;
        Some(self.result.alpha.mean.is_some())
    }

    /// Part of its packets that it takes to be marked: alpha, or else what was marked of those that arrived.
    fn marked(&self) -> Option<f64> {
        self.result.alpha.mean.or_else(|| self.part(self.result.marks_seen))
    }

    /// A count of its packets as a part of those that arrived.
    fn part(&self, count: u64) -> Option<f64> {
        let arrived = self.result.data_packets.filter(|packets| *packets > 0)?;
        Some(count as f64 / arrived as f64)
    }
}

/// The sets of flows among these that are alike: the flows of a group whatever their round trips are, and together with
/// those of other groups where all have the same.
fn alike(members: Vec<Member<'_>>) -> Vec<Vec<Member<'_>>> {
    let mut groups: BTreeMap<usize, Vec<Member<'_>>> = BTreeMap::new();
    for member in members {
        groups.entry(member.group).or_default().push(member);
    }
    let mut sets: Vec<Vec<Member<'_>>> = groups.into_values().collect();
    let range = |set: &[Member<'_>]| {
        let round_trips = set.iter().map(|member| member.base_rtt_s);
        round_trips.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), rtt| (low.min(rtt), high.max(rtt)))
    };
    sets.sort_by(|a, b| range(a).0.total_cmp(&range(b).0));
    let mut merged: Vec<Vec<Member<'_>>> = Vec::new();
    for set in sets {
        match merged.last_mut() {
            Some(last) if range(&set).1.max(range(last).1) <= SAME_ROUND_TRIP * range(last).0 => {
                last.extend(set);
            }
            _ => merged.push(set),
        }
    }
    merged
}

/// Flows that are alike.
struct Alike<'a> {
    experiment: &'a Experiment,
    members: Vec<Member<'a>>,
}

impl Alike<'_> {
    fn notice(&self) -> Option<Notice> {
        let smallest = self.members.iter().min_by(|a, b| a.wire_bps.total_cmp(&b.wire_bps))?;
        let largest = self.members.iter().max_by(|a, b| a.wire_bps.total_cmp(&b.wire_bps))?;
        let flows = self.members.len() as f64;
        let mean_bps = self.members.iter().map(|member| member.wire_bps).sum::<f64>() / flows;
        let squares: f64 = self.members.iter().map(|member| (member.wire_bps - mean_bps).powi(2)).sum();
        let scatter = libm::sqrt(squares / flows) / mean_bps;
        let (from, to) = window(self.experiment);
        let window_s = (to - from).as_secs_f64();
        let longest_s = self.members.iter().map(Member::rtt_s).fold(0.0, f64::max);
        let is_unequal = scatter >= SCATTER || smallest.wire_bps < NEXT_TO_NOTHING * mean_bps;
        if mean_bps <= 0.0 || !is_unequal || window_s < LEAST_ROUND_TRIPS * longest_s {
            return None;
        }
        let reasons = self.reasons((smallest, largest), window_s);
        let mut groups: Vec<usize> = self.members.iter().map(|member| member.group).collect();
        groups.dedup();
        let name = |group: usize| self.experiment.groups[group].name.as_str();
        let of_which = |member: &Member<'_>| match groups.len() {
            1 => String::new(),
            _ => format!(" ({})", name(member.group)),
        };
        let names: Vec<&str> = groups.iter().map(|group| name(*group)).collect();
        Some(Notice {
            kind: UNEQUAL.to_owned(),
            text: format!(
                "the {flows:.0} flows of {} are alike and share unequally: the smallest{} gets {} and the largest{} \
                 {}, where equal shares are {} each; {}",
                names.join(" and "),
                of_which(smallest),
                rate(smallest.wire_bps),
                of_which(largest),
                rate(largest.wire_bps),
                rate(mean_bps),
                in_words(&reasons),
            ),
            groups: names.into_iter().map(str::to_owned).collect(),
            links: Vec::new(),
            mechanisms: reasons.into_iter().map(|(mechanism, _)| mechanism.to_owned()).collect(),
        })
    }

    /// Mechanisms that the numbers of the smallest and of the largest flow support, each with its numbers.
    fn reasons(
        &self,
        (smallest, largest): (&Member<'_>, &Member<'_>),
        window_s: f64,
    ) -> Vec<(&'static str, String)> {
        let mut reasons = Vec::new();
        if smallest.base_rtt_s > SAME_ROUND_TRIP * largest.base_rtt_s {
            let text = format!(
                "the smallest has a round trip of {:.2} ms and the largest one of {:.2} ms, and windows grow once in a \
                 round trip",
                1e3 * smallest.base_rtt_s,
                1e3 * largest.base_rtt_s
            );
            reasons.push((DIFFERENT_ROUND_TRIPS, text));
        }
        let waited = 1.0 - self.busy_s(smallest) / window_s;
        if smallest.result.timeouts > 0 && waited >= 0.5 {
            let text = format!(
                "the smallest waits for retransmission timeouts during at least {:.0} % of the time ({} timeouts)",
                100.0 * waited,
                smallest.result.timeouts
            );
            reasons.push((BACKOFF, text));
        }
        let reductions = largest.result.reductions;
        let without_ecn = match (smallest.has_alpha(), largest.has_alpha()) {
            (Some(false), Some(true)) => Some("smallest"),
            (Some(true), Some(false)) => Some("largest"),
            _ => None,
        };
        if let Some(which) = without_ecn {
            let text = format!(
                "the {which} sends without ECN, since its SYN was lost and one that is sent again does not ask for \
                 ECN: the queue drops its packets where it marks those of others"
            );
            reasons.push((WITHOUT_ECN, text));
        } else if reductions as f64 * largest.cut() * self.together_s() / window_s < TOGETHER {
            let times = if reductions == 1 { "time" } else { "times" };
            let text = format!(
                "the largest was reduced {reductions} {times} in the measurement, by {:.1} % each, which is too \
                 little for the flows to have come together: a longer run shows whether they do",
                100.0 * largest.cut()
            );
            reasons.push((CONVERGING, text));
        } else {
            reasons.extend(self.uneven(smallest, largest));
        }
        reasons
    }

    /// Seconds from the start of the last flow to the end of the run.
    fn together_s(&self) -> f64 {
        let last = self.members.iter().map(|member| member.start).max().unwrap_or(Time::ZERO);
        (window(self.experiment).1 - last).as_secs_f64()
    }

    /// Seconds that a flow's segments take at one in each round trip.
    fn busy_s(&self, member: &Member<'_>) -> f64 {
        let mss = f64::from(self.experiment.endpoints[member.endpoint as usize].mss());
        let segments = member.result.delivered_bytes as f64 / mss + member.result.retransmissions as f64;
        segments * member.rtt_s()
    }

    /// Whether signals hold the shares where they are: more of them for the smaller flow.
    fn uneven(&self, smallest: &Member<'_>, largest: &Member<'_>) -> Option<(&'static str, String)> {
        let losses = (smallest.part(smallest.result.losses)?, largest.part(largest.result.losses)?);
        let seen = (smallest.marked()?, largest.marked()?);
        if seen.0 > MORE * seen.1 && seen.0 > losses.0 {
            let why = match self.experiment.endpoints[smallest.endpoint as usize].offload {
                Some(offload) if offload.tso_win_divisor > 0 => {
                    "hosts wait until they may send a whole segment of many packets (tcp_tso_win_divisor): the \
                     larger flow keeps its segments in flight while its window moves by less than one"
                }
                Some(_) => {
                    "hosts that hand over several packets at once send them as bursts, each of which meets the queue \
                     at the same point of its cycle again and again"
                }
                None => {
                    "the packets of a flow come together and meet the queue at the same point of its cycle again and \
                     again"
                }
            };
            let text = format!(
                "the smallest finds {:.2} % of its packets marked and the largest {:.2} %, which holds their shares \
                 where they are, likely because {why}",
                100.0 * seen.0,
                100.0 * seen.1
            );
            return Some((UNEVEN_MARKS, text));
        }
        (losses.0 > MORE * losses.1).then(|| {
            let text = format!(
                "{:.2} % of the packets of the smallest were lost and {:.2} % of those of the largest, likely because \
                 the larger flow's packets come where the queue has just made room",
                100.0 * losses.0,
                100.0 * losses.1
            );
            (UNEVEN_LOSSES, text)
        })
    }
}
