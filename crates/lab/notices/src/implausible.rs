//! Numbers that may be right but rarely are: a line that idles although windows would fill it, and retransmissions of what nobody
//! dropped. Laws without exceptions are in `shoal_measure::laws`; these have some, so they are said and not refused.

use shoal_measure::{Bottleneck, FlowResult, GroupResult, Notice};
use shoal_scenario::{App, Experiment, Flow};

use crate::starvation::{is_backlogged, numbered};

/// A line idles although the windows of its flows would fill it.
pub const IDLE: &str = "idle-despite-windows";
/// Flows send again what no queue has dropped.
pub const UNEXPLAINED: &str = "retransmissions-without-drops";

/// Below this utilisation a line idles.
const BUSY: f64 = 0.8;
/// Windows would fill a line if they allow this multiple of its rate: mean windows over mean round trips are not mean rates, and
/// what a recovery does not fill is a window, too. 1.25 at first, until the second after slow start of an ordinary run had 1.3; what
/// this is for, a host that takes no packet for most of the time, has ten and more.
const CLEARLY: f64 = 2.0;
/// Retransmissions beyond the drops that are no reason to speak.
const FEW: f64 = 10.0;

pub(crate) fn find(
    experiment: &Experiment,
    groups: &[GroupResult],
    bottlenecks: &[Bottleneck],
) -> Vec<Notice> {
    let judged = Judged { experiment, bottlenecks };
    let mut notices: Vec<Notice> =
        (0..bottlenecks.len()).filter_map(|link| judged.idle(link, groups)).collect();
    notices.extend(judged.unexplained(groups));
    notices
}

struct Judged<'a> {
    experiment: &'a Experiment,
    bottlenecks: &'a [Bottleneck],
}

impl Judged<'_> {
    /// The monitored links of a flow's data, if every link with a queue on its way there and back is monitored.
    fn way(&self, flow: &Flow) -> Option<Vec<usize>> {
        let monitored: Vec<_> = self.experiment.monitored().map(|(id, _)| id).collect();
        let position = |path: u32| {
            self.experiment.paths[path as usize]
                .iter()
                .filter(|&&id| self.experiment.links[id.0 as usize].rate.is_some())
                .map(|id| monitored.iter().position(|other| other == id))
                .collect::<Option<Vec<usize>>>()
        };
        position(flow.backward)?;
        position(flow.forward)
    }

    /// Rate that the mean window allows, in bit/s, by Little's law.
    fn allowed_bps(&self, flow: &Flow, result: &FlowResult, way: &[usize]) -> Option<f64> {
        let endpoint = &self.experiment.endpoints[flow.endpoint as usize];
        let window = result.cwnd_packets.mean?;
        // Where the receiver's window is the smaller one, cwnd says nothing.
        if window * f64::from(endpoint.mss()) > f64::from(endpoint.receive_window_bytes) {
            return None;
        }
        let waits: Option<f64> = way.iter().map(|&link| self.bottlenecks.get(link)?.delay_s.all.mean).sum();
        Some(window * f64::from(endpoint.mtu_bytes) * 8.0 / (result.base_rtt_s? + waits?))
    }

    fn idle(&self, link: usize, groups: &[GroupResult]) -> Option<Notice> {
        let bottleneck = &self.bottlenecks[link];
        let utilisation = bottleneck.utilisation.filter(|&utilisation| utilisation < BUSY)?;
        let allowed: f64 = numbered(self.experiment, groups)
            .filter(|(_, flow, _)| is_backlogged(flow, self.experiment))
            .filter_map(|(_, flow, result)| {
                let way = self.way(flow).filter(|way| way.contains(&link))?;
                // Another link on the way may be the reason.
                let narrowest =
                    way.iter().map(|&other| self.bottlenecks[other].rate_bps).fold(f64::INFINITY, f64::min);
                (narrowest >= bottleneck.rate_bps).then_some(())?;
                self.allowed_bps(flow, result, &way)
            })
            .sum();
        (allowed > CLEARLY * bottleneck.rate_bps).then(|| Notice {
            kind: IDLE.to_owned(),
            text: format!(
                "link `{}` is busy for {:.0} % of the time, although the windows of its flows allow {:.1} times its rate: \
                 packets were held up where nothing measures them, and the numbers are hardly right",
                bottleneck.name,
                100.0 * utilisation,
                allowed / bottleneck.rate_bps
            ),
            groups: Vec::new(),
            links: vec![bottleneck.name.clone()],
            mechanisms: Vec::new(),
        })
    }

    /// Only if all TCP flows always have data and met no timeout: probes and timeouts send again what was not lost.
    fn unexplained(&self, groups: &[GroupResult]) -> Option<Notice> {
        let (mut again, mut windows) = (0.0, 0.0);
        for (_, flow, result) in numbered(self.experiment, groups) {
            if matches!(flow.app, App::Unresponsive { .. }) {
                continue;
            }
            if !is_backlogged(flow, self.experiment) || result.timeouts > 0 {
                return None;
            }
            self.way(flow)?;
            again += result.retransmissions as f64;
            windows += result.cwnd_packets.max.unwrap_or(0.0);
        }
        let dropped: u64 = self.bottlenecks.iter().map(|link| link.dropped).sum();
        // What was dropped just before the measurement began is a window of each flow at most.
        (again - dropped as f64 > FEW.max(windows)).then(|| Notice {
            kind: UNEXPLAINED.to_owned(),
            text: format!(
                "{again:.0} packets were sent again of which queues dropped {dropped}, without a timeout: the others were lost or \
                 held up where nothing measures them"
            ),
            groups: Vec::new(),
            links: Vec::new(),
            mechanisms: Vec::new(),
        })
    }
}
