//! Links that drop much of what their flows send, because these flows send it again and again.
//!
//! What is dropped of traffic that does not answer, or by a law with given probabilities, is the design of the scenario
//! and not meant: most of what the link dropped must have been sent again by flows that always have data.

use std::collections::BTreeMap;

use shoal_measure::{Bottleneck, Finished, FlowResult, Notice};
use shoal_scenario::{Experiment, Flow, Link};

use crate::backlogged::{in_words, is_backlogged, packet_bits, window};
use crate::passing::Passing;

/// Kind of the notice that flows flood a link with packets of which it drops most, their windows being out of all
/// proportion to the path.
pub const STORM: &str = "retransmission-storm";
/// Kind of the notice that a link drops much of what its flows send, without such a window.
pub const HEAVY_LOSS: &str = "heavy-loss";
/// Mechanism of a storm: a window far beyond what the path and the queue hold.
pub const OVERGROWN: &str = "window-out-of-proportion";
/// Mechanism of a storm, likely where it is named: a timeout that was found to be spurious under ECN, so that
/// proportional rate reduction works with numbers that do not belong together.
pub const UNDONE_TIMEOUT: &str = "timeout-undone-under-ecn";
/// Mechanism of a heavy loss: the path and the queue hold too few packets for so many flows.
pub const SMALL_WINDOWS: &str = "small-windows";

/// Part of the packets that arrive at a link which it must drop. Loss-based flows drop a hundredth where they have ten
/// packets each, and a tenth where they have three: then most losses end in timeouts (Padhye et al. 1998, whose square
/// root gives 1.22 / sqrt(0.1) = 3.9 packets a round trip).
const MUCH: f64 = 0.1;
/// Part of the drops that flows must have sent again.
const MOST: f64 = 0.5;
/// Multiple of what path and queue hold from which on a window is out of proportion. Slow start overshoots to twice.
const OUT_OF_PROPORTION: f64 = 3.0;
/// Fewest round trips of the measurement for a loss without such a window: in a hundred, the window that one slow start
/// loses is a hundredth of the packets.
const LEAST_ROUND_TRIPS: f64 = 100.0;
/// Packets for each flow below which windows are too small for fast retransmit, which takes three packets behind the
/// one that is lost.
const FEW_PACKETS: f64 = 4.0;

pub(crate) fn find(experiment: &Experiment, finished: &Finished<'_>, passing: &Passing<'_>) -> Vec<Notice> {
    let drops_much = |link: &Bottleneck| link.dropped as f64 > MUCH * link.arrived as f64;
    let drops = experiment.monitored().zip(finished.bottlenecks);
    let meant = drops.filter(|((_, link), drops)| drops_much(drops) && !link.drops_by_plan());
    meant
        .filter_map(|((id, link), drops)| {
            let flows = passing.numbered(id).filter(|(_, flow, _)| is_backlogged(flow, experiment));
            Flooded { experiment, finished, link, drops, flows: flows.collect() }.notice()
        })
        .collect()
}

/// A link that drops much.
struct Flooded<'a> {
    experiment: &'a Experiment,
    finished: &'a Finished<'a>,
    link: &'a Link,
    drops: &'a Bottleneck,
    /// Flows that always have data and pass it, each with its group.
    flows: Vec<(usize, Flow, &'a FlowResult)>,
}

impl Flooded<'_> {
    fn notice(&self) -> Option<Notice> {
        let again: u64 = self.flows.iter().map(|(.., flow)| flow.retransmissions).sum();
        if (again as f64) < MOST * self.drops.dropped as f64 {
            return None;
        }
        let timeouts: u64 = self.flows.iter().map(|(.., flow)| flow.timeouts).sum();
        let overgrown = self.overgrown();
        let (from, to) = window(self.experiment);
        let round_trips_s = self.flows.iter().filter_map(|(.., flow)| flow.srtt_s.mean.or(flow.base_rtt_s));
        let longest_s = round_trips_s.fold(0.0, f64::max);
        if overgrown.is_none() && (to - from).as_secs_f64() < LEAST_ROUND_TRIPS * longest_s {
            return None;
        }
        let (kind, reasons) = match &overgrown {
            Some(overgrown) => (STORM, overgrown.reasons(self.experiment)),
            None => (HEAVY_LOSS, self.loss_reasons()),
        };
        let groups = self.groups_that_repeat(again);
        Some(Notice {
            kind: kind.to_owned(),
            text: format!(
                "the link {} dropped {:.1} % of the packets that arrived{}, and most of them were sent again by {} \
                 ({again} packets sent again, {timeouts} {}); {}",
                self.drops.name,
                100.0 * self.drops.dropped as f64 / self.drops.arrived as f64,
                self.since(),
                groups.join(" and "),
                if timeouts == 1 { "timeout" } else { "timeouts" },
                in_words(&reasons),
            ),
            groups: groups.into_iter().map(str::to_owned).collect(),
            links: vec![self.drops.name.clone()],
            mechanisms: reasons.into_iter().map(|(mechanism, _)| mechanism.to_owned()).collect(),
        })
    }

    /// When the drops of the measurement began, in words, if it has a series.
    fn since(&self) -> String {
        let begins = self.finished.drops_begin_s(&self.drops.name, self.experiment.warmup.as_secs_f64());
        begins.map_or(String::new(), |begins_s| format!(" (from {begins_s:.3} s on)"))
    }

    /// Names of the groups that sent at least a tenth of what was sent again.
    fn groups_that_repeat(&self, again: u64) -> Vec<&str> {
        let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
        for (group, _, flow) in &self.flows {
            *sums.entry(*group).or_default() += flow.retransmissions;
        }
        let much = sums.into_iter().filter(|(_, sum)| 10 * sum >= again);
        much.map(|(group, _)| self.experiment.groups[group].name.as_str()).collect()
    }

    /// Packets of a flow that its path and the queue, at its longest, hold.
    fn held_packets(&self, flow: &Flow) -> f64 {
        let (from, to) = window(self.experiment);
        let rates = self.link.rates(from, to).map(|piece| piece.value.as_bps());
        let bits = rates.max().unwrap_or(0) as f64 * self.experiment.base_rtt(flow).as_secs_f64();
        let queue_packets = self.drops.queue_packets.max.unwrap_or(0.0);
        bits / packet_bits(&self.experiment.endpoints[flow.endpoint as usize]) + queue_packets
    }

    /// The flow with the largest window, if that is out of proportion.
    fn overgrown(&self) -> Option<Overgrown> {
        let windows = self.flows.iter().filter_map(|(group, flow, result)| {
            let cwnd_packets = result.cwnd_packets.max?;
            let held_packets = self.held_packets(flow);
            let may_undo = result.timeouts > 0 && result.alpha.mean.is_some();
            (cwnd_packets > OUT_OF_PROPORTION * held_packets).then_some(Overgrown {
                group: *group,
                cwnd_packets,
                held_packets,
                may_undo,
            })
        });
        windows.max_by(|a, b| a.cwnd_packets.total_cmp(&b.cwnd_packets))
    }

    fn loss_reasons(&self) -> Vec<(&'static str, String)> {
        let Some((_, first, _)) = self.flows.first() else { return Vec::new() };
        let (held_packets, flows) = (self.held_packets(first), self.flows.len() as f64);
        if held_packets >= FEW_PACKETS * flows {
            return Vec::new();
        }
        let text = format!(
            "path and queue hold {held_packets:.0} packets for {flows:.0} flows, {:.1} each: such windows are too \
             small to find a loss by the packets behind it",
            held_packets / flows
        );
        vec![(SMALL_WINDOWS, text)]
    }
}

/// A flow whose window grew out of proportion.
struct Overgrown {
    group: usize,
    /// Its largest window.
    cwnd_packets: f64,
    /// What its path and the queue hold.
    held_packets: f64,
    /// Whether it met a timeout and answers to marks in proportion.
    may_undo: bool,
}

impl Overgrown {
    fn reasons(&self, experiment: &Experiment) -> Vec<(&'static str, String)> {
        let grew = format!(
            "the window of a flow of {} grew to {:.0} packets, where path and queue hold {:.0}",
            experiment.groups[self.group].name, self.cwnd_packets, self.held_packets
        );
        let undone = "likely after a timeout that was found to be spurious while the network marked: Linux then keeps \
                      a window of 1 as the one before the reduction, DCTCP sets the threshold from the window at the \
                      next loss, and proportional rate reduction sends the quotient of the two for each packet \
                      delivered";
        let mut reasons = vec![(OVERGROWN, grew)];
        if self.may_undo {
            reasons.push((UNDONE_TIMEOUT, undone.to_owned()));
        }
        reasons
    }
}
