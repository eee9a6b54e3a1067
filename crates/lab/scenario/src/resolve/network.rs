//! The graph of a network while it is built.

use std::sync::Arc;

use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_units::{Rate, Span};

use super::Context;
use super::ends::Ends;
use crate::aqm::Port;
use crate::experiment::{Link, LinkId, Node, NodeId, Pool, Schedule};
use crate::quantity::{Duration, Size};

/// The queue of a link at which nothing is ever dropped.
pub(super) const ENDLESS: QueueConfig = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });

/// The paths of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    /// Pairs of forward and backward path.
    pub pairs: Arc<[(u32, u32)]>,
    /// Position in `pairs` of the first flow of the group.
    pub first: usize,
    /// Hosts of the group outside a dumbbell; their paths take the place of `pairs`.
    pub(super) ends: Option<Ends>,
    /// The capacity of which the load of the group is a fraction.
    pub(super) reference: Option<Reference>,
}

/// The capacity of which the load of a group is a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    pub rate: Rate,
    pub overhead_bytes: u16,
}

/// Nodes, links, and the paths of each flow group.
#[derive(Debug, Default)]
pub(crate) struct Network {
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    pub paths: Vec<Vec<LinkId>>,
    /// Paths of each flow group, one entry for each group.
    pub routes: Vec<Routes>,
    /// Outside a dumbbell: the hosts of each flow group, whose paths are found once the flows are known.
    pub ends: Vec<Ends>,
    /// Weights of the links; a link without an entry weighs 1.
    pub weights: Vec<u32>,
    /// Whether flows take one of several paths of equal cost by a hash.
    pub ecmp: bool,
    pub pools: Vec<Pool>,
    /// Links of the round trip between the first two hosts that have a flow.
    pub first_round_trip: Vec<LinkId>,
    /// The round-trip time in which bandwidth-delay products of this network are measured.
    pub bdp_rtt: Option<Span>,
}

impl Network {
    pub(super) fn node(&mut self, name: impl Into<String>) -> NodeId {
        self.nodes.push(Node { name: name.into(), is_switch: false });
        NodeId(self.nodes.len() as u32 - 1)
    }
    /// Adds a switch.
    pub(super) fn switch(&mut self, name: &str) -> NodeId {
        let id = self.node(name);
        self.nodes[id.0 as usize].is_switch = true;
        id
    }
    pub(super) fn link(&mut self, link: Link) -> LinkId {
        self.links.push(link);
        LinkId(self.links.len() as u32 - 1)
    }
    pub(super) fn path(&mut self, links: Vec<LinkId>) -> u32 {
        self.paths.push(links);
        self.paths.len() as u32 - 1
    }
    /// Adds a link that is named after its ends and otherwise equals `template`.
    pub(super) fn named_link(&mut self, from: NodeId, to: NodeId, template: &Link) -> LinkId {
        let name = |id: NodeId| self.nodes[id.0 as usize].name.as_str();
        let name = format!("{}->{}", name(from), name(to));
        self.link(Link { name, from, to, ..template.clone() })
    }
    /// Adds a link in each direction between two nodes, named after its ends.
    pub(super) fn join(&mut self, a: NodeId, b: NodeId, there: &Link, back: &Link) {
        self.named_link(a, b, there);
        self.named_link(b, a, back);
    }
    /// Adds a link without a queue.
    pub(super) fn pure_delay(&mut self, name: String, from: NodeId, to: NodeId, delay: Span) -> LinkId {
        self.link(Link { name, from, to, ..template(None, delay, 0, ENDLESS) })
    }
}

/// A link without name and ends that no result reports.
pub(super) fn template(rate: Option<Rate>, delay: Span, overhead_bytes: u16, queue: QueueConfig) -> Link {
    let (name, nowhere) = (String::new(), NodeId(0));
    Link {
        name,
        from: nowhere,
        to: nowhere,
        rate,
        delay,
        overhead_bytes,
        queue,
        monitored: false,
        pool: None,
        schedule: Schedule::default(),
        impairments: None,
    }
}

/// The port whose law and buffer have the keys `paths`.
pub(super) fn port<'a>(
    paths: (&'a str, &'a str),
    rate: Rate,
    bdp_rtt: Option<Span>,
    cx: &Context<'a>,
) -> Port<'a> {
    let (aqm_path, buffer_path) = paths;
    let (mtu, codepoints) = (largest_packet(cx), codepoints(cx));
    Port { aqm_path, buffer_path, rate, bdp_rtt, mtu, has_pool: false, codepoints, remarks: cx.remarks }
}

/// The round-trip time behind the unit BDP: as written, or that of the network; none if it is 0.
pub(super) fn bdp_rtt(written: Option<Duration>, of_network: Span) -> Option<Span> {
    Some(written.map_or(of_network, Duration::span)).filter(|rtt| !rtt.is_zero())
}

/// Framing bytes of a link, checked.
pub(super) fn checked_overhead(overhead: Size, path: &str, cx: &Context<'_>) -> u16 {
    match overhead.bytes() {
        Some(bytes @ 0..=1000) => bytes as u16,
        _ => {
            cx.error(path, "framing of more than 1000 B a packet", "Ethernet with preamble and gap has 38 B");
            0
        }
    }
}

/// The largest packet of any flow, bytes.
fn largest_packet(cx: &Context<'_>) -> u32 {
    let sizes = cx.scenario.flows.iter().filter_map(|group| group.mtu.bytes());
    sizes.max().map_or(1500, |bytes| u32::try_from(bytes).unwrap_or(65_535).clamp(1, 65_535))
}

/// The code points that flows have: a bit for each.
fn codepoints(cx: &Context<'_>) -> u64 {
    let numbers = cx.scenario.flows.iter().map(|group| group.dscp.unwrap_or_default().number());
    numbers.fold(0, |all, number| all | 1 << number)
}
