//! Groups that get less than a tenth, than three tenths, or than half of their fair share, and the mechanisms that
//! explain it in the numbers of the run.
//!
//! Only flows that have data to send during the whole measurement count. Their fair share is the max-min fair
//! rate on their paths, where the demand of every other flow is the rate that it got. A mechanism is named
//! only if the run's own numbers support it.

use std::collections::BTreeMap;

use shoal_measure::{Bottleneck, Finished, GroupResult, Notice};
use shoal_scenario::{App, Experiment, Flow, Link, Replacement};
use shoal_tcp::{EcnSetting, EndpointConfig};

use crate::backlogged::{
    fair_shares, in_words, is_backlogged, is_unseen, numbered, packet_bits, rate, window,
};

/// Kind of the notice that a group starves.
pub const STARVED: &str = "starved";
/// Kind of the notice that a group does not starve, but gets much less than its fair share.
pub const BELOW_SHARE: &str = "below-fair-share";
/// Kind of the notice that a group gets less than half of its fair share, and not as little as the kinds above.
pub const BELOW_HALF: &str = "below-half-share";
/// Mechanism: traffic that answers neither marks nor drops takes more than its share of a link.
pub const UNRESPONSIVE: &str = "unresponsive-traffic";
/// Mechanism: negotiation left the group's controller without its feedback, and Reno took its place.
pub const RUNS_AS_RENO: &str = "runs-as-reno";
/// Mechanism: another controller took over while the group's flows ran.
pub const REPLACED: &str = "controller-replaced";
/// Mechanism: DCTCP's packets are in the classic queue of a dual queue.
pub const CLASSIC_QUEUE: &str = "dctcp-in-classic-queue";
/// Mechanism: the group halves its windows at the marks that the others answer in proportion.
pub const SAME_MARKS: &str = "same-marks-other-answer";
/// Mechanism: the average of a RED law stays above its maximum threshold, because other flows keep the queue
/// there, and every packet of the group is dropped.
pub const LOCKED_OUT: &str = "red-lock-out";
/// Mechanism: the queue drops packets of the group where it marks packets of others.
pub const SHARED_THRESHOLD: &str = "dropped-where-others-are-marked";
/// Mechanism: flows of the group wait for retransmission timeouts most of the time.
pub const BACKOFF: &str = "timeout-back-off";
/// Mechanism: the windows of the group are at their minimum.
pub const FLOOR: &str = "smallest-window";
/// Mechanism: the group's round trips are longer than those of the others in the queue, by enough to explain its rate.
pub const FURTHER_AWAY: &str = "longer-round-trip";
/// Mechanism: the group's packets pass several queues that signal congestion, where others pass one.
pub const SEVERAL_QUEUES: &str = "several-queues";
/// Mechanism: the group's flows have not reduced their windows once in the measurement, and still grow.
pub const GROWING: &str = "still-growing";

/// How a shortfall is said, from the worst on.
struct Voice {
    kind: &'static str,
    /// Fraction of the fair share below which a group gets this notice.
    part: f64,
    /// Fewest round trips of the measurement: in a shorter one a flow has no time to reach its share.
    least_round_trips: f64,
    /// What is said of the group.
    said: &'static str,
}

const VOICES: [Voice; 3] = [
    Voice { kind: STARVED, part: 0.1, least_round_trips: 20.0, said: "is starved" },
    // A flow whose window was just halved has two thirds of its mean rate: less than a third is no sawtooth that was
    // looked at in a bad moment. A longer measurement is asked for than for a flow that gets nearly nothing.
    Voice { kind: BELOW_SHARE, part: 0.3, least_round_trips: 100.0, said: "gets much less than its share" },
    // Less than one to three of two flows, as for flows that are alike. Twice the time of the voice above, since less
    // is said.
    Voice { kind: BELOW_HALF, part: 0.5, least_round_trips: 200.0, said: "gets less than half of its share" },
];
/// Minimum retransmission timeout in seconds (TCP_RTO_MIN of Linux).
const LEAST_TIMEOUT_S: f64 = 0.2;
/// Multiple of the others' round trip from which on a longer one is a mechanism.
const FURTHER: f64 = 1.5;
/// Multiple of the lost part of packets below the marked one from which on a law is coupled.
const COUPLED: f64 = 2.0;
/// Multiple within which the marked parts of two groups' packets count as the same.
const SAME: f64 = 2.0;

pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>) -> Vec<Notice> {
    let (from, to) = window(experiment);
    let window_s = (to - from).as_secs_f64();
    let backlogged = Backlogged::of(experiment, finished.groups);
    let voice_of = |group: &Backlogged<'_>, fair_bps: f64| {
        let round_trips = window_s / group.longest_rtt_s(experiment);
        let is_meant =
            |voice: &&Voice| group.rate_bps < voice.part * fair_bps && round_trips >= voice.least_round_trips;
        VOICES.iter().find(is_meant)
    };
    // A fair share is at most the rate of the slowest link on the path, so that most groups need no closer look.
    // Where packets are dropped with given probabilities, the scenario gives the rate.
    let may_be_short = |group: &&Backlogged<'_>| {
        let most_bps = group.narrowest_bps(experiment);
        let is_given = experiment.links_of(group.flow.forward).any(Link::drops_by_plan);
        most_bps.is_finite() && !is_given && voice_of(group, most_bps).is_some()
    };
    if !backlogged.iter().any(|group| may_be_short(&group)) {
        return Vec::new();
    }
    let shares = fair_shares(experiment, finished);
    let short = backlogged.iter().filter(may_be_short);
    short
        .filter_map(|group| {
            let fair_bps = shares.get(&group.index).copied()?;
            let voice = voice_of(group, fair_bps)?;
            let judged = Judged { experiment, backlogged: &backlogged, fair_bps, window_s, voice };
            Some(judged.notice(group, finished.bottlenecks))
        })
        .collect()
}

/// What a group's shortfall is judged by.
struct Judged<'a> {
    experiment: &'a Experiment,
    /// All groups with flows that always have data.
    backlogged: &'a [Backlogged<'a>],
    fair_bps: f64,
    window_s: f64,
    voice: &'static Voice,
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
    marks: u64,
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
            if !is_backlogged(&flow, experiment) || is_unseen(&flow, result, experiment) {
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
                marks: 0,
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
            sum.marks += result.marks_seen;
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

    /// Mean round trip of its segments in seconds, where any were sent.
    fn rtt_s(&self) -> Option<f64> {
        (self.segments > 0.0).then(|| self.busy_s / self.segments)
    }
}

impl Judged<'_> {
    fn notice(&self, group: &Backlogged<'_>, bottlenecks: &[Bottleneck]) -> Notice {
        let names: Vec<&str> = self.monitored(&group.flow).collect();
        // If there are several, the link that dropped most.
        let link = bottlenecks
            .iter()
            .filter(|link| names.contains(&link.name.as_str()))
            .max_by_key(|link| link.dropped);
        let mut reasons = self.reasons(group, link);
        let signals = |link: &&Bottleneck| link.marked + link.dropped > 0;
        let busy =
            bottlenecks.iter().filter(|link| names.contains(&link.name.as_str())).filter(signals).count();
        if busy > 1 {
            let text =
                format!("its packets pass {busy} queues that mark or drop, and each of them reduces it");
            reasons.push((SEVERAL_QUEUES, text));
        }
        let (each, flows) =
            if group.flows > 1.0 { (" each", "its flows get") } else { ("", "its flow gets") };
        Notice {
            kind: self.voice.kind.to_owned(),
            text: format!(
                "{} {}: {flows} {}{each}, {:.1} % of a fair share of {}; {}",
                group.group.name,
                self.voice.said,
                rate(group.rate_bps),
                100.0 * group.rate_bps / self.fair_bps,
                rate(self.fair_bps),
                in_words(&reasons),
            ),
            groups: vec![group.group.name.clone()],
            links: link.map(|link| link.name.clone()).into_iter().collect(),
            mechanisms: reasons.into_iter().map(|(mechanism, _)| mechanism.to_owned()).collect(),
        }
    }

    /// Mechanisms that the numbers support, each with its numbers.
    fn reasons(&self, group: &Backlogged<'_>, link: Option<&Bottleneck>) -> Vec<(&'static str, String)> {
        let endpoint = &self.experiment.endpoints[group.flow.endpoint as usize];
        let mut reasons: Vec<_> = self.unresponsive(group).into_iter().collect();
        if endpoint.negotiated_cc() != endpoint.cc {
            let text =
                "its controller gave way to Reno, since it has not the feedback on marks that it needs";
            reasons.push((RUNS_AS_RENO, text.to_owned()));
        }
        if let Some(replacement) = self.replacement(group) {
            let text = format!("{} took the place of its controller", replacement.cc);
            reasons.push((REPLACED, text));
        }
        let is_noted = self
            .experiment
            .notes
            .iter()
            .any(|note| note.kind == CLASSIC_QUEUE && note.groups.contains(&group.group.name));
        if is_noted {
            let text = "its packets are ECT(0), which ecn_mask puts into the classic queue";
            reasons.push((CLASSIC_QUEUE, text.to_owned()));
        }
        reasons.extend(self.same_marks(group, endpoint));
        if let Some(link) = link.filter(|_| endpoint.ecn == EcnSetting::Off) {
            reasons.extend(self.of_its_class(group, link, endpoint));
        }
        let waited = 1.0 - group.busy_s / (group.flows * self.window_s);
        if group.timeouts > 0 && waited >= 0.5 {
            let text = format!(
                "waits for retransmission timeouts during at least {:.0} % of the time ({} timeouts)",
                100.0 * waited,
                group.timeouts
            );
            reasons.push((BACKOFF, text));
        } else if group.reductions > 0 && group.cwnd_packets <= 1.1 * SMALLEST_WINDOW {
            let text = format!(
                "its window is at its smallest, {:.1} packets on average, and was still reduced {} times",
                group.cwnd_packets, group.reductions
            );
            reasons.push((FLOOR, text));
        } else if group.reductions == 0 && group.timeouts == 0 {
            let text = "its window was not reduced once in the measurement and still grows: a longer run shows where \
                        it ends";
            reasons.push((GROWING, text.to_owned()));
        }
        reasons.extend(self.distance(group));
        reasons
    }

    /// The controller that took the place of that of a group.
    fn replacement(&self, group: &Backlogged<'_>) -> Option<&Replacement> {
        self.experiment.groups[group.flow.group as usize].replacement.as_ref()
    }

    /// Flows without a control on a link of the group, each of which sends more than the fair share.
    fn unresponsive(&self, group: &Backlogged<'_>) -> Option<(&'static str, String)> {
        let links: Vec<&str> = self.monitored(&group.flow).collect();
        let (from, to) = window(self.experiment);
        // For each group the sum of the mean rates of its flows over the measurement, and how many send at a time.
        let mut groups: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for flow in &self.experiment.flows {
            let App::Unresponsive { packet_bytes, interval, .. } = flow.app else { continue };
            if !self.monitored(&flow).any(|link| links.contains(&link)) {
                continue;
            }
            let (begins, ends) = (flow.start.max(from), flow.stop.unwrap_or(to).min(to));
            let part =
                ends.as_picos().saturating_sub(begins.as_picos()) as f64 / (to - from).as_picos() as f64;
            let sum = groups.entry(flow.group).or_default();
            sum.0 += part * 8.0 * f64::from(packet_bytes) / interval.as_secs_f64();
            sum.1 += part;
        }
        // Bursts that follow one another are one sender, whose rate is their mean.
        let too_much = |&(sent_bps, at_a_time): &(f64, f64)| sent_bps > self.fair_bps * at_a_time.max(1.0);
        let most = groups.into_iter().filter(|(_, sum)| too_much(sum));
        let (number, (sent_bps, _)) = most.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        let name = &self.experiment.groups[number as usize].name;
        let text = format!("{name} beside it sends {} whatever is marked or dropped", rate(sent_bps));
        Some((UNRESPONSIVE, text))
    }

    /// Names of the links on the path of a flow's data that the result reports.
    fn monitored(&self, flow: &Flow) -> impl Iterator<Item = &str> {
        self.experiment.links_of(flow.forward).filter(|link| link.monitored).map(|link| link.name.as_str())
    }

    /// Marks of the same frequency, at each of which this group reduces its windows as for a loss, while the scalable
    /// groups beside it answer in proportion.
    fn same_marks(
        &self,
        group: &Backlogged<'_>,
        endpoint: &EndpointConfig,
    ) -> Option<(&'static str, String)> {
        let scalable = |endpoint: &EndpointConfig| endpoint.negotiated_cc().ecn_use().is_scalable();
        if scalable(endpoint) || group.marks == 0 || self.replacement(group).is_some() {
            return None;
        }
        let beside = self.beside(group);
        let others = beside.iter().filter(|other| {
            let endpoint = &self.experiment.endpoints[other.flow.endpoint as usize];
            scalable(endpoint) && other.marks > 0 && self.replacement(other).is_none()
        });
        let other = others.max_by(|a, b| a.rate_bps.total_cmp(&b.rate_bps))?;
        let part = |group: &Backlogged<'_>| group.marks as f64 / group.segments;
        let (own, theirs) = (part(group), part(other));
        (own <= SAME * theirs && theirs <= SAME * own).then(|| {
            let text = format!(
                "{:.2} % of its packets are marked and {:.2} % of those of {}, which answers in proportion where this \
                 group reduces its window as for a loss ({} times)",
                100.0 * own,
                100.0 * theirs,
                other.group.name,
                group.reductions
            );
            (SAME_MARKS, text)
        })
    }

    /// The groups that pass a queue of the group.
    fn beside(&self, group: &Backlogged<'_>) -> Vec<&Backlogged<'_>> {
        let queues = |group: &Backlogged<'_>| -> Vec<&str> { self.monitored(&group.flow).collect() };
        let shared = queues(group);
        let is_beside = |other: &&Backlogged<'_>| {
            other.index != group.index && queues(other).iter().any(|link| shared.contains(link))
        };
        self.backlogged.iter().filter(is_beside).collect()
    }

    /// A longer round trip, where it may explain the rate: additive increase once in a round trip gives flows that are
    /// reduced together rates in the inverse ratio of their round trips, and those that are reduced by chance the same
    /// squared (Lakshman and Madhow 1997).
    fn distance(&self, group: &Backlogged<'_>) -> Option<(&'static str, String)> {
        let beside = self.beside(group);
        let flows: f64 = beside.iter().map(|other| other.flows).sum();
        let segments: f64 = beside.iter().map(|other| other.segments).sum();
        let busy_s: f64 = beside.iter().map(|other| other.busy_s).sum();
        let rates_bps: f64 = beside.iter().map(|other| other.flows * other.rate_bps).sum();
        if segments <= 0.0 || rates_bps <= 0.0 {
            return None;
        }
        let (rtt_s, others_s) = (group.rtt_s()?, busy_s / segments);
        let times = rtt_s / others_s;
        let of_others = group.rate_bps / (rates_bps / flows);
        (times >= FURTHER && of_others * times * times >= 1.0).then(|| {
            let text = format!(
                "its round trip is {times:.1} times that of the flows beside it ({:.1} ms for {:.1} ms), so that its \
                 window grows more slowly",
                1e3 * rtt_s,
                1e3 * others_s
            );
            (FURTHER_AWAY, text)
        })
    }

    /// Marks and drops of the queue for packets that are not ECT, and for others.
    fn of_its_class(
        &self,
        group: &Backlogged<'_>,
        link: &Bottleneck,
        endpoint: &EndpointConfig,
    ) -> Option<(&'static str, String)> {
        let (not_ect, others) = (&link.not_ect, &link.ect);
        let lost = not_ect.drop_fraction?;
        let others_lost = others.drop_fraction?;
        let only_marked = others.marked > 0 && others_lost <= 0.1 * lost;
        let by_law = 2 * link.dropped_by.aqm >= link.dropped;
        // Coupled laws drop less than they mark, so that flows share: it explains no share that is merely smaller.
        let marked = others.mark_fraction.unwrap_or(0.0);
        let is_meant = self.voice.kind == BELOW_HALF && COUPLED * lost < marked;
        if not_ect.dropped == 0 || !only_marked || !by_law || is_meant {
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
        let left_bps = packet_bits(endpoint) * packets_a_second(lost, group.rtt_s().unwrap_or(self.window_s));
        (left_bps <= 3.0 * self.voice.part * self.fair_bps).then(|| {
            let text = format!(
                "the queue drops {:.2} % of the packets without ECT where it marks {:.1} % of those with ECT; such a \
                 loss leaves a flow about {}",
                100.0 * lost,
                100.0 * marked,
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
