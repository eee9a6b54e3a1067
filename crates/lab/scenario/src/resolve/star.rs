//! Star: hosts around one switch.

use std::collections::BTreeSet;

use shoal_units::Span;

use super::Context;
use super::hosts::connect;
use super::network::{Network, checked_overhead, largest_packet};
use crate::aqm::{Port, queue};
use crate::experiment::{Link, NodeId};
use crate::line_rate::finite_rate;
use crate::schema::{Aqm, Fifo, Star};

/// The network of a star.
pub(super) fn network(star: &Star, cx: &mut Context<'_>) -> Option<Network> {
    const MAX_HOSTS: u32 = 10_000;
    super::graph::refuse_bottleneck(cx);
    if !(2..=MAX_HOSTS).contains(&star.hosts) {
        let message = format!("a star of {} hosts", star.hosts);
        cx.error("topology.hosts", message, format!("write a number from 2 to {MAX_HOSTS}"));
        return None;
    }
    let rate = finite_rate(star.rate, "topology.rate", &mut cx.remarks)?;
    let overhead_bytes = checked_overhead(star.overhead, "topology.overhead", cx);
    let round_trip = star.bdp_rtt.map_or(star.delay.span().saturating_mul(4), |rtt| rtt.span());
    let bdp_rtt = Some(round_trip).filter(|rtt| *rtt > Span::ZERO);
    let mtu = largest_packet(cx);
    let port = Port { aqm_path: "topology.aqm", buffer_path: "topology.buffer", rate, bdp_rtt, mtu };
    let switch_queue = queue(&star.aqm, star.buffer, &port, &mut cx.remarks);
    let host_port = Port { buffer_path: "topology.host_buffer", ..port };
    let host_queue = queue(&Aqm::Fifo(Fifo {}), star.host_buffer, &host_port, &mut cx.remarks);

    let mut network = Network { bdp_rtt, ..Network::default() };
    let switch = network.node("switch");
    let (switch_queue, host_queue) = (switch_queue?, host_queue?);
    for number in 1..=star.hosts {
        let name = format!("h{number}");
        let host = network.node(name.as_str());
        let up = Link {
            name: format!("{name}->switch"),
            from: host,
            to: switch,
            rate: Some(rate),
            delay: star.delay.span(),
            overhead_bytes,
            queue: host_queue,
            monitored: false,
            pool: None,
        };
        let down = Link {
            name: format!("switch->{name}"),
            from: switch,
            to: host,
            queue: switch_queue,
            ..up.clone()
        };
        network.link(up);
        network.link(down);
    }
    if let Some(shared) = &star.shared_buffer {
        super::pool::share(&mut network, switch, shared, "topology.shared_buffer", cx)?;
    }
    connect(&mut network, cx)?;
    monitor_receivers(&mut network, switch);
    Some(network)
}

/// Monitors the ports towards hosts that receive data, since only these can become bottlenecks.
fn monitor_receivers(network: &mut Network, switch: NodeId) {
    let receivers = receivers(network);
    for link in &mut network.links {
        link.monitored = link.from == switch && receivers.contains(&link.to);
    }
}

/// The hosts that receive data.
pub(super) fn receivers(network: &Network) -> BTreeSet<NodeId> {
    network.ends.iter().flat_map(|ends| ends.to.iter().copied()).collect()
}
