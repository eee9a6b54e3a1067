//! The ports of the network, and what it keeps beside each.

use crate::card_queue::CardQueue;
use crate::impaired::ImpairedLink;
use shoal_bottleneck::{LinkConfig, UNMONITORED};
use shoal_scenario::Link;
use shoal_units::Span;

/// One link with its queue.
pub(crate) type Port = shoal_bottleneck::Port<Near, Far>;

/// What the network looks at for every packet.
#[derive(Default)]
pub(crate) struct Near {
    /// Whether an event for this port is in the event queue.
    pub(crate) pending: bool,
    /// Whether the port shares memory or its wire is impaired, so that the network treats it apart from all others.
    pub(crate) is_special: bool,
    /// Whether it does so when packets come out of the port, too: one that shares memory and is closed is like all
    /// others then.
    pub(crate) steps_apart: bool,
    /// Whether all packets come from one other port, which knows when they do, and [`Port::is_unseen`].
    pub(crate) is_chained: bool,
    /// Whether packets go to such a port.
    pub(crate) has_chained: bool,
    /// Whether the port is the card of a host.
    pub(crate) is_card: bool,
}

/// What few ports have.
pub(crate) struct Far {
    /// What a full queue in front of the card refuses.
    pub(crate) card_queue: Option<Box<CardQueue>>,
    pub(crate) impaired: Option<Box<ImpairedLink>>,
    /// Number of the port among those that share memory, or [`ALONE`].
    pub(crate) member: u32,
}

/// Number of a port that shares its memory with no other port.
pub(crate) const ALONE: u32 = u32::MAX;

/// The port of a link, which the recorder knows as `probe`.
pub(crate) fn new_port(link: &Link, seed: u64, probe: u32) -> Port {
    let impaired = link.impairments.is_some().then(Box::default);
    let is_special = impaired.is_some();
    let near = Near { is_special, steps_apart: is_special, ..Near::default() };
    Port::new(&link.config(), seed, probe, near, Far { card_queue: None, impaired, member: ALONE })
}

/// The place of a host's queue discipline in the list of ports. The network keeps what waits there.
pub(crate) fn of_host_queue() -> Port {
    let near = Near { is_special: true, steps_apart: true, ..Near::default() };
    let far = Far { card_queue: None, impaired: None, member: ALONE };
    Port::new(&LinkConfig::pure_delay(Span::ZERO), 0, UNMONITORED, near, far)
}

#[cfg(test)]
mod tests;
