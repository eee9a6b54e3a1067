//! Numbers that may be correct but rarely are: a link that idles although the windows would fill it, and
//! retransmissions that no drop explains. Laws without exceptions are in `shoal_measure::laws`; these have
//! exceptions, so they are reported and the result is not refused.

use shoal_measure::{Bottleneck, FlowResult, GroupResult, Notice, link_numbers};
use shoal_scenario::{App, Experiment, Flow, Link};
use shoal_units::{Rate, Span};
use std::rc::Rc;

use crate::backlogged::{is_backlogged, numbered, transfers, window};

/// Kind of the notice that a link idles although the windows of its flows would fill it.
pub const IDLE: &str = "idle-despite-windows";
/// Kind of the notice that flows retransmit segments that no queue has dropped.
pub const UNEXPLAINED: &str = "retransmissions-without-drops";

/// Utilisation below which a link counts as idling.
const BUSY: f64 = 0.8;
/// Windows would fill a link if they allow this multiple of its rate. The margin is needed because mean
/// window over mean round-trip time is not the mean rate, and because a window counts also where recovery
/// does not fill it. The factor was 1.25 until an ordinary run had 1.3 in the second after slow start; the
/// case that this detects, a host that takes no packets most of the time, has ten and more.
const CLEARLY: f64 = 2.0;
/// Retransmissions in excess of the drops that are not reported.
const FEW: f64 = 10.0;

pub(crate) fn find(
    experiment: &Experiment,
    groups: &[GroupResult],
    bottlenecks: &[Bottleneck],
) -> Vec<Notice> {
    let judged = Judged {
        experiment,
        bottlenecks,
        monitored: experiment.monitored().map(|(_, link)| link).collect(),
        numbers: link_numbers(experiment),
    };
    let passing = judged.passing(groups);
    let mut notices: Vec<Notice> =
        (0..).zip(&passing).filter_map(|(link, flows)| judged.idle(link, flows)).collect();
    notices.extend(judged.unexplained(groups));
    notices
}

struct Judged<'a> {
    experiment: &'a Experiment,
    bottlenecks: &'a [Bottleneck],
    /// The links of the bottlenecks.
    monitored: Vec<&'a Link>,
    /// Number of each link among them.
    numbers: Vec<Option<u32>>,
}

/// A flow that always has data, and whose packets wait only where they are measured.
#[derive(Clone)]
struct Measured<'a> {
    flow: Flow,
    result: &'a FlowResult,
    way: Rc<Way>,
}

/// The monitored links that a flow passes.
struct Way {
    data: Vec<usize>,
    acks: Vec<usize>,
}

impl Judged<'_> {
    /// The monitored links on the paths of a flow, if every link with a queue on its paths in both directions is
    /// monitored.
    fn way(&self, flow: &Flow) -> Option<Way> {
        let position = |path: u32| {
            self.experiment.paths[path as usize]
                .iter()
                .filter(|&&id| self.experiment.links[id.0 as usize].rate.is_some())
                .map(|id| self.numbers[id.0 as usize].map(|number| number as usize))
                .collect::<Option<Vec<usize>>>()
        };
        Some(Way { acks: position(flow.backward)?, data: position(flow.forward)? })
    }

    /// The flows at each monitored link whose windows tell the rate that they would have there. One pass over the
    /// flows: a network has as many links as flows.
    fn passing<'g>(&self, groups: &'g [GroupResult]) -> Vec<Vec<Measured<'g>>>
    where
        Self: 'g,
    {
        let mut passing = vec![Vec::new(); self.bottlenecks.len()];
        // On an impaired path packets wait where nothing measures it.
        let flows = numbered(self.experiment, groups)
            .filter(|(_, flow, _)| is_backlogged(flow, self.experiment) && !self.is_impaired(flow));
        for (_, flow, result) in flows {
            let Some(way) = self.way(&flow).map(Rc::new) else { continue };
            for link in &way.data {
                passing[*link].push(Measured { flow, result, way: Rc::clone(&way) });
            }
        }
        passing
    }

    /// The lowest and the highest rate in bit/s that a monitored link has during the measurement; zero while it is
    /// down.
    fn rates_bps(&self, link: usize) -> (f64, f64) {
        let (from, to) = window(self.experiment);
        let bps = |rate: Rate| rate.as_bps() as f64;
        let rates = self.monitored[link].rates(from, to).map(|piece| bps(piece.value));
        rates.fold((f64::INFINITY, 0.0), |(low, high), rate| (low.min(rate), high.max(rate)))
    }

    /// By how much in seconds the delays on a flow's paths grow at most beyond those at the start of the run.
    fn more_delay_s(&self, flow: &Flow) -> f64 {
        let (from, to) = window(self.experiment);
        let links = self.experiment.links_of(flow.forward).chain(self.experiment.links_of(flow.backward));
        let more = |link: &Link| {
            let longest = link.delays(from, to).map(|piece| piece.value).fold(Span::ZERO, Span::max);
            longest.saturating_sub(link.delay).as_secs_f64()
        };
        links.map(more).sum()
    }

    /// Whether a path of the flow loses, copies or reorders packets by itself.
    fn is_impaired(&self, flow: &Flow) -> bool {
        let links = |path: u32| self.experiment.links_of(path);
        links(flow.forward).chain(links(flow.backward)).any(|link| link.impairments.is_some())
    }

    /// Rate in bit/s that the mean window allows, by Little's law.
    fn allowed_bps(&self, flow: &Flow, result: &FlowResult, way: &Way) -> Option<f64> {
        let endpoint = &self.experiment.endpoints[flow.endpoint as usize];
        let window = result.cwnd_packets.mean?;
        // If the receiver's window is the smaller one, cwnd does not determine the rate.
        if window * f64::from(endpoint.mss()) > f64::from(endpoint.receive_window_bytes) {
            return None;
        }
        let links = way.data.iter().chain(&way.acks);
        let waits: Option<f64> = links.map(|&link| self.bottlenecks.get(link)?.delay_s.all.mean).sum();
        // The longest round-trip time that the flow ever has, so that its window is not taken for too large.
        let round_trip_s = result.base_rtt_s? + self.more_delay_s(flow) + waits?;
        Some(window * f64::from(endpoint.mtu_bytes) * 8.0 / round_trip_s)
    }

    fn idle(&self, link: usize, flows: &[Measured<'_>]) -> Option<Notice> {
        let bottleneck = &self.bottlenecks[link];
        let (from, to) = window(self.experiment);
        // While the link is down, it does not idle.
        let up = 1.0 - self.monitored[link].down(from, to).as_secs_f64() / (to - from).as_secs_f64();
        let utilisation = bottleneck.utilisation.filter(|&utilisation| utilisation < BUSY * up)?;
        let (_, highest_bps) = self.rates_bps(link);
        let allowed: f64 = flows
            .iter()
            .filter_map(|Measured { flow, result, way }| {
                // Another link on the path may be the reason.
                let others = way.data.iter().filter(|&&other| other != link);
                let narrowest = others.map(|&other| self.rates_bps(other).0).fold(f64::INFINITY, f64::min);
                (narrowest >= highest_bps).then_some(())?;
                self.allowed_bps(flow, result, way)
            })
            .sum();
        (allowed > CLEARLY * highest_bps).then(|| Notice {
            kind: IDLE.to_owned(),
            text: format!(
                "link `{}` is busy for {:.0} % of the time, although the windows of its flows allow {:.1} times its \
                 rate: packets were held up where nothing measures them, and the numbers are hardly right",
                bottleneck.name,
                100.0 * utilisation,
                allowed / highest_bps
            ),
            groups: Vec::new(),
            links: vec![bottleneck.name.clone()],
            mechanisms: Vec::new(),
        })
    }

    /// Reported only if all TCP flows always have data and have met no timeout: probes and timeouts
    /// retransmit segments that were not lost. On an impaired path packets are lost or late where no queue is.
    fn unexplained(&self, groups: &[GroupResult]) -> Option<Notice> {
        if self.experiment.flows.patterns().any(transfers) {
            return None;
        }
        let (mut again, mut windows) = (0.0, 0.0);
        for (_, flow, result) in numbered(self.experiment, groups) {
            if matches!(flow.app, App::Unresponsive { .. }) {
                continue;
            }
            if !is_backlogged(&flow, self.experiment) || result.timeouts > 0 {
                return None;
            }
            self.way(&flow)?;
            if self.is_impaired(&flow) {
                return None;
            }
            again += result.retransmissions as f64;
            windows += result.cwnd_packets.max.unwrap_or(0.0);
        }
        let dropped: u64 = self.bottlenecks.iter().map(|link| link.dropped).sum();
        // Drops just before the measurement began are at most a window of each flow.
        (again - dropped as f64 > FEW.max(windows)).then(|| Notice {
            kind: UNEXPLAINED.to_owned(),
            text: format!(
                "{again:.0} packets were sent again of which queues dropped {dropped}, without a timeout: the others \
                 were lost or held up where nothing measures them"
            ),
            groups: Vec::new(),
            links: Vec::new(),
            mechanisms: Vec::new(),
        })
    }
}
