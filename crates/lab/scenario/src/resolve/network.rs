//! The graph of a network while it is built.

use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_units::{Rate, Span};

use super::Context;
use super::flows::Routes;
use super::hosts::Ends;
use crate::experiment::{Link, LinkId, Node, NodeId, Pool};
use crate::quantity::{DataRate, Size};

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
    pub fn node(&mut self, name: impl Into<String>) -> NodeId {
        self.nodes.push(Node { name: name.into() });
        NodeId(self.nodes.len() as u32 - 1)
    }
    pub fn link(&mut self, link: Link) -> LinkId {
        self.links.push(link);
        LinkId(self.links.len() as u32 - 1)
    }
    pub fn path(&mut self, links: Vec<LinkId>) -> u32 {
        self.paths.push(links);
        self.paths.len() as u32 - 1
    }
    /// Adds a link that is named after its ends and otherwise equals `template`.
    pub fn named_link(&mut self, from: NodeId, to: NodeId, template: &Link) -> LinkId {
        let name = |id: NodeId| self.nodes[id.0 as usize].name.as_str();
        let name = format!("{}->{}", name(from), name(to));
        self.link(Link { name, from, to, ..template.clone() })
    }
    /// Adds a link without a queue.
    pub fn pure_delay(&mut self, name: String, from: NodeId, to: NodeId, delay: Span) -> LinkId {
        let queue = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });
        self.link(Link {
            name,
            from,
            to,
            rate: None,
            delay,
            overhead_bytes: 0,
            queue,
            monitored: false,
            pool: None,
        })
    }
}

/// The highest rate: time is counted in picoseconds, and a byte takes one picosecond at this rate.
const MAX_RATE: Rate = Rate::from_bps(8_000_000_000_000);

/// The rate of a transmitter, or `None` for `unlimited`; `Err` if the rate was refused.
pub(super) fn checked_rate(rate: DataRate, path: &str, cx: &mut Context<'_>) -> Result<Option<Rate>, ()> {
    match rate.rate() {
        Some(rate) if rate.as_bps() == 0 => {
            cx.error(path, "the rate is 0: no packet would ever leave", "as in \"10 Mbit/s\"");
            Err(())
        }
        Some(rate) if rate > MAX_RATE => {
            cx.error(
                path,
                "the rate is above 8000 Gbit/s",
                "time is counted in picoseconds, and a byte must take at least one",
            );
            Err(())
        }
        rate => Ok(rate),
    }
}

/// Framing bytes of a link, checked.
pub(super) fn checked_overhead(overhead: Size, path: &str, cx: &mut Context<'_>) -> u16 {
    match overhead.bytes() {
        Some(bytes @ 0..=1000) => bytes as u16,
        _ => {
            cx.error(path, "framing of more than 1000 B a packet", "Ethernet with preamble and gap has 38 B");
            0
        }
    }
}
