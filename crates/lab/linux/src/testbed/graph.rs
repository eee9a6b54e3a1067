//! Any graph: a forwarding namespace for each node, a wire for each link, and a host for each set of settings
//! at a node.
//!
//! A path is represented by a destination: a host has one address for each path that ends at it, and the
//! nodes on the path have a route to that address. So every flow takes exactly the paths that the scenario
//! (or its hash) has chosen, in both directions.
//!
//! Senders are hosts of their own behind their node. Packets therefore wait in the node's queue and not in
//! the socket, since TCP small queues ends its accounting where a packet leaves its namespace, as in the
//! simulator for hosts without segmentation. If a host segments, and the only link behind its node is its
//! card, that line is at the host.

use super::{Delay, End, Impaired, Line, Place, Route, Testbed, Wire};
use crate::device::Port;
use crate::disciplines::Site;
use crate::endpoints::HostSettings;
use crate::refusal::Refusals;
use shoal_scenario::{Experiment, Flow, LinkId, NodeId};
use shoal_units::Span;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Most namespaces: each one takes about half a MiB of the guest's memory.
const MAX_HOSTS: usize = 4000;
/// First address for the destinations of paths, in 10.0.0.0/8.
const FIRST_DESTINATION: u32 = u32::from_be_bytes([10, 0, 0, 1]);
const MAX_DESTINATIONS: usize = 1 << 20;
/// First address for wires, in 172.16.0.0/12; each wire is a network of four addresses.
const FIRST_WIRE: u32 = u32::from_be_bytes([172, 16, 0, 0]);

pub(super) fn testbed(experiment: &Experiment, site: &Site<'_>, refusals: &mut Refusals) -> Option<Testbed> {
    let mut builder = Builder::new(experiment);
    builder.wires(site, refusals)?;
    for flow in &experiment.flows {
        let settings = HostSettings::of(experiment, &flow);
        let (from, to) = ends(experiment, flow.forward)?;
        let (sender, receiver) = (builder.end(from, settings), builder.end(to, settings));
        let (source, destination) =
            (builder.destination(flow.backward, sender), builder.destination(flow.forward, receiver));
        builder.testbed.places.push(Place { sender, receiver, source, destination });
    }
    builder.cards();
    let testbed = builder.testbed;
    if testbed.hosts() > MAX_HOSTS || builder.destinations.len() > MAX_DESTINATIONS {
        refusals.add(
            "topology",
            format!(
                "{} hosts and switches with {} different ways",
                testbed.hosts(),
                builder.destinations.len()
            ),
            format!("the testbed takes {MAX_HOSTS} and {MAX_DESTINATIONS}"),
        );
        return None;
    }
    Some(testbed)
}

/// First and last node of a path.
fn ends(experiment: &Experiment, path: u32) -> Option<(NodeId, NodeId)> {
    let links = &experiment.paths[path as usize];
    let link = |id: &LinkId| &experiment.links[id.0 as usize];
    Some((link(links.first()?).from, link(links.last()?).to))
}

struct Builder<'a> {
    experiment: &'a Experiment,
    testbed: Testbed,
    /// Position of the line of each link that has a rate.
    lines: BTreeMap<LinkId, usize>,
    /// Address at the far end of each link that some flow uses.
    far_ends: BTreeMap<LinkId, Ipv4Addr>,
    /// The router behind the transmitter of each impaired link, and the address at the far end of the link.
    behind: BTreeMap<LinkId, (String, Ipv4Addr)>,
    ends: BTreeMap<(NodeId, HostSettings), usize>,
    /// Address of each path at its receiving host.
    destinations: BTreeMap<(u32, usize), Ipv4Addr>,
    networks: u32,
}

impl<'a> Builder<'a> {
    fn new(experiment: &'a Experiment) -> Self {
        Self {
            experiment,
            testbed: Testbed::default(),
            lines: BTreeMap::new(),
            far_ends: BTreeMap::new(),
            behind: BTreeMap::new(),
            ends: BTreeMap::new(),
            destinations: BTreeMap::new(),
            networks: 0,
        }
    }

    /// The two addresses of the next network.
    fn network(&mut self) -> (Ipv4Addr, Ipv4Addr) {
        let first = FIRST_WIRE + 4 * self.networks;
        self.networks += 1;
        ((first + 1).into(), (first + 2).into())
    }

    /// Creates the nodes and links that flows use, and the queues of those links.
    fn wires(&mut self, site: &Site<'_>, refusals: &mut Refusals) -> Option<()> {
        let experiment = self.experiment;
        let mut used = vec![false; experiment.links.len()];
        for path in experiment.flows.iter().flat_map(|flow| [flow.forward, flow.backward]) {
            for link in &experiment.paths[path as usize] {
                used[link.0 as usize] = true;
            }
        }
        let numbers: BTreeMap<LinkId, u8> = experiment.monitored().map(|(id, _)| id).zip(0u8..).collect();
        // A monitored link that no flow uses has a queue too, which stays empty.
        let links = (0u32..).map(LinkId).zip(&experiment.links);
        let links: Vec<_> = links.filter(|(id, _)| used[id.0 as usize] || numbers.contains_key(id)).collect();
        let mut complete = true;
        for (node, details) in (0u32..).map(NodeId).zip(&experiment.nodes) {
            if links.iter().any(|(_, link)| link.from == node || link.to == node) {
                self.testbed.routers.push((router(node), details.name.clone()));
            }
        }
        for (id, link) in links {
            let (near, far) = self.network();
            let (device, peer) = (format!("l{}", id.0), format!("m{}", id.0));
            if link.rate.is_some() {
                let before = refusals.0.len();
                let number = numbers.get(&id).copied();
                match Line::new((&router(link.from), &device), link, number, site, refusals) {
                    Some(line) => {
                        // Behind the line, netem delays the packets of an impaired link.
                        let delay = if link.impairments.is_some() { Span::ZERO } else { line.delay };
                        self.lines.insert(id, self.testbed.lines.len());
                        self.testbed.lines.push(Line { delay, ..line });
                    }
                    None => complete = false,
                }
                refusals.rename(before, "bottleneck.", &format!("link `{}`: ", link.name));
            } else if !link.schedule.delay.is_empty() {
                refusals.add(
                    format!("link `{}`", link.name),
                    "a pure delay that changes",
                    "give the link a rate, or run this on the simulator",
                );
                complete = false;
            } else if !link.delay.is_zero() && link.impairments.is_none() {
                let (host, device) = (router(link.from), device.clone());
                self.testbed.delays.push(Delay { host, device, delay: link.delay });
            }
            self.far_ends.insert(id, far);
            let Ok(host) = self.impair(id, site, refusals) else {
                complete = false;
                continue;
            };
            self.testbed.wires.push(Wire {
                a: Port { host: router(link.from), device, address: near },
                b: Port { host: host.unwrap_or_else(|| router(link.to)), device: peer, address: far },
                mtu: site.mtu,
            });
        }
        complete.then_some(())
    }

    /// Lays out the router behind the transmitter of an impaired link, whose further wire carries netem, and returns
    /// its name; nothing for other links.
    fn impair(&mut self, id: LinkId, site: &Site<'_>, refusals: &mut Refusals) -> Result<Option<String>, ()> {
        let link = &self.experiment.links[id.0 as usize];
        let Some(impairments) = link.impairments.as_deref() else { return Ok(None) };
        if impairments.clears_ecn {
            refusals.add(
                format!("link `{}`", link.name),
                "clear_ecn: netem leaves the ECN field as it is",
                "run this on the simulator, or remove the key",
            );
            return Err(());
        }
        if !link.schedule.delay.is_empty() {
            refusals.add(
                format!("link `{}`", link.name),
                "an impaired link whose delay changes: netem has one delay",
                "put the impairments on another link, leave the delay as it is, or run this on the simulator",
            );
            return Err(());
        }
        let segments = |flow: Flow| HostSettings::of(self.experiment, &flow).card.segments();
        if link.rate.is_none() && self.experiment.flows.iter().any(segments) {
            refusals.add(
                format!("link `{}`", link.name),
                "impairments of a link without a rate behind hosts that segment: netem would take several packets for \
                 one",
                "give the link a rate, at which segments are split, or write host = \"ideal\"",
            );
            return Err(());
        }
        let (host, device, peer) = (format!("x{}", id.0), format!("o{}", id.0), format!("i{}", id.0));
        let (near, far) = self.network();
        self.testbed.routers.push((host.clone(), format!("impairments of {}", link.name)));
        self.testbed.impaired.extend(Impaired::new((&host, &device), id, self.experiment));
        self.testbed.wires.push(Wire {
            a: Port { host: host.clone(), device, address: near },
            b: Port { host: router(link.to), device: peer, address: far },
            mtu: site.mtu,
        });
        self.behind.insert(id, (host.clone(), far));
        Ok(Some(host))
    }

    /// The host with these settings at a node.
    fn end(&mut self, node: NodeId, settings: HostSettings) -> usize {
        if let Some(end) = self.ends.get(&(node, settings)) {
            return *end;
        }
        let number = self.testbed.ends.len();
        let (own, peer) = self.network();
        self.testbed.ends.push(End {
            settings,
            port: Port { host: format!("h{number}"), device: "e0".to_owned(), address: own },
            router: Port { host: router(node), device: format!("h{number}"), address: peer },
            addresses: Vec::new(),
            has_line: false,
        });
        self.ends.insert((node, settings), number);
        number
    }

    /// Moves the lines of links that are the card of one host to that host, if it segments: its sockets then
    /// know what the card has not sent (TCP small queues). What waits there waits in the host's own discipline,
    /// if it has one. Lines whose packets are recorded stay at the node.
    fn cards(&mut self) {
        let mut first: BTreeMap<LinkId, bool> = BTreeMap::new();
        for path in &self.experiment.paths {
            for (position, link) in path.iter().enumerate() {
                *first.entry(*link).or_insert(true) &= position == 0;
            }
        }
        for (id, line) in &self.lines {
            let node = self.experiment.links[id.0 as usize].from;
            let mut at_node = self.ends.iter().filter(|((other, _), _)| *other == node);
            let (Some((_, end)), None) = (at_node.next(), at_node.next()) else { continue };
            let (line, end) = (&mut self.testbed.lines[*line], &mut self.testbed.ends[*end]);
            if first.get(id) == Some(&true) && line.number.is_none() && end.settings.card.segments() {
                line.host.clone_from(&end.port.host);
                line.device.clone_from(&end.port.device);
                end.has_line = true;
                if let Some(queue) = end.settings.card.queue() {
                    line.queue = queue;
                }
            }
        }
    }

    /// The address that leads along a path to a host at its end.
    fn destination(&mut self, path: u32, end: usize) -> Ipv4Addr {
        if let Some(address) = self.destinations.get(&(path, end)) {
            return *address;
        }
        let address = Ipv4Addr::from(FIRST_DESTINATION + self.destinations.len() as u32);
        self.destinations.insert((path, end), address);
        let experiment = self.experiment;
        for id in &experiment.paths[path as usize] {
            let host = router(experiment.links[id.0 as usize].from);
            self.testbed.routes.push(Route {
                host,
                network: address,
                length: 32,
                gateway: self.far_ends[id],
            });
            if let Some((host, gateway)) = self.behind.get(id).cloned() {
                self.testbed.routes.push(Route { host, network: address, length: 32, gateway });
            }
        }
        let end = &mut self.testbed.ends[end];
        let (host, gateway) = (end.router.host.clone(), end.port.address);
        self.testbed.routes.push(Route { host, network: address, length: 32, gateway });
        end.addresses.push(address);
        address
    }
}

fn router(node: NodeId) -> String {
    format!("n{}", node.0)
}
