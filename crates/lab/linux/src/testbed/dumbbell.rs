//! Dumbbell: senders - r1 = bottleneck = r2 - receivers.
//!
//! Data are delayed before the receiver and ACKs behind it, so that the clocks of both ends tick in the middle of the
//! same packets as on the simulator.

use super::{Delay, End, Line, Place, Route, Testbed, Wire};
use crate::card::Pacing;
use crate::device::Port;
use crate::disciplines::Site;
use crate::endpoints::HostSettings;
use crate::refusal::Refusals;
use shoal_scenario::{Experiment, Flow, LinkId, NodeId};
use shoal_units::Span;
use std::net::Ipv4Addr;

/// Most pairs of hosts, since their number is the third byte of an address.
const MAX_PAIRS: usize = 250;

/// The bottleneck, if it begins every forward path, all other links are pure delays, no delay changes, and no link is
/// impaired.
pub(super) fn bottleneck(experiment: &Experiment) -> Option<LinkId> {
    let mut shaped = (0u32..).map(LinkId).zip(&experiment.links).filter(|(_, link)| link.rate.is_some());
    let (id, link) = shaped.next()?;
    let is_first = |path: u32| experiment.paths[path as usize].first() == Some(&id);
    let is_absent = |path: u32| !experiment.paths[path as usize].contains(&id);
    let fits = shaped.next().is_none()
        && experiment.links.iter().all(|link| link.schedule.delay.is_empty() && link.impairments.is_none())
        && link.monitored
        && experiment.flows.iter().all(|flow| is_first(flow.forward) && is_absent(flow.backward));
    fits.then_some(id)
}

pub(super) fn testbed(
    experiment: &Experiment,
    bottleneck: LinkId,
    site: &Site<'_>,
    refusals: &mut Refusals,
) -> Option<Testbed> {
    let (pairs, of_flow) = pairs(experiment);
    if pairs.len() > MAX_PAIRS {
        refusals.add(
            "flows",
            format!("flows with {} different settings", pairs.len()),
            format!("a dumbbell of the testbed takes {MAX_PAIRS}"),
        );
        return None;
    }
    let link = &experiment.links[bottleneck.0 as usize];
    let mut line = Line::new(("r1", "b0"), link, Some(0), site, refusals)?;
    // Its delay is part of the delays before the receivers.
    line.delay = Span::ZERO;
    line.places = ("bottleneck.rate".to_owned(), "bottleneck.aqm".to_owned());
    let port =
        |host: String, device: String, address: [u8; 4]| Port { host, device, address: address.into() };
    let middle = |host: &str, last: u8| port(host.to_owned(), "b0".to_owned(), [10, 3, 0, last]);
    let wide = |host: &str, network: [u8; 4], gateway: [u8; 4]| Route {
        host: host.to_owned(),
        network: network.into(),
        length: 16,
        gateway: gateway.into(),
    };
    let mut testbed = Testbed {
        routers: vec![
            ("r1".to_owned(), "before the bottleneck".to_owned()),
            ("r2".to_owned(), "behind it".to_owned()),
        ],
        wires: vec![Wire { a: middle("r1", 1), b: middle("r2", 2), mtu: site.mtu }],
        routes: vec![wide("r1", [10, 2, 0, 0], [10, 3, 0, 2]), wide("r2", [10, 1, 0, 0], [10, 3, 0, 1])],
        lines: vec![line],
        ..Testbed::default()
    };
    for (number, Pair { settings, forward, backward, .. }) in (0u8..).zip(&pairs) {
        for (side, router, net) in [("s", "r1", 1), ("d", "r2", 2)] {
            let own = port(format!("{side}{number}"), "e0".to_owned(), [10, net, number, 2]);
            let peer = port(router.to_owned(), format!("e{number}"), [10, net, number, 1]);
            let (settings, addresses) = (*settings, Vec::new());
            testbed.ends.push(End { settings, port: own, router: peer, addresses, has_line: false });
        }
        if !forward.is_zero() {
            testbed.delays.push(Delay {
                host: "r2".to_owned(),
                device: format!("e{number}"),
                delay: *forward,
            });
        }
        // Behind the receiver; but its own discipline must be the root there if it is `fq`.
        let (host, device) = match settings.card.pacing {
            Pacing::Fq => ("r1".to_owned(), format!("e{number}")),
            Pacing::None | Pacing::Internal => (format!("d{number}"), "e0".to_owned()),
        };
        testbed.delays.push(Delay { host, device, delay: *backward });
    }
    testbed.places = of_flow
        .into_iter()
        .map(|pair| Place {
            sender: 2 * pair,
            receiver: 2 * pair + 1,
            source: Ipv4Addr::new(10, 1, pair as u8, 2),
            destination: Ipv4Addr::new(10, 2, pair as u8, 2),
        })
        .collect();
    Some(testbed)
}

/// A pair of hosts, and the pure delays of data and of ACKs between them.
#[derive(PartialEq)]
struct Pair {
    settings: HostSettings,
    /// The receiving host, if its card makes packets of all of its flows wait for each other.
    receiver: Option<NodeId>,
    forward: Span,
    backward: Span,
}

impl Pair {
    fn of(experiment: &Experiment, flow: &Flow) -> Self {
        let settings = HostSettings::of(experiment, flow);
        let forward = experiment.propagation(flow.forward);
        let backward = experiment.base_rtt(flow).saturating_sub(forward);
        let receiver = settings.card.moderation.and_then(|_| experiment.end_of(flow.forward));
        Self { settings, receiver, forward, backward }
    }
}

/// Pairs of hosts in order of first use, and the pair of each flow. Flows with the same settings and delays
/// share a pair, unless their cards hold packets back.
fn pairs(experiment: &Experiment) -> (Vec<Pair>, Vec<usize>) {
    let mut pairs: Vec<Pair> = Vec::new();
    let of_flow = experiment
        .flows
        .iter()
        .map(|flow| {
            let pair = Pair::of(experiment, &flow);
            pairs.iter().position(|other| *other == pair).unwrap_or_else(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        })
        .collect();
    (pairs, of_flow)
}
