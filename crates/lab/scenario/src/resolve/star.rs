//! Star: hosts around one switch.

use std::collections::BTreeSet;

use super::Context;
use super::hosts::connect;
use super::network::{Network, bdp_rtt, checked_overhead, port, template};
use crate::aqm::{Port, queue};
use crate::experiment::{Link, NodeId};
use crate::schema::{Aqm, Fifo, MAX_HOSTS, Star};

/// The network of a star.
pub(super) fn network(star: &Star, cx: &Context<'_>) -> Option<Network> {
    super::graph::refuse_bottleneck(cx);
    if !(2..=MAX_HOSTS).contains(&star.hosts) {
        let message = format!("a star of {} hosts", star.hosts);
        cx.error("topology.hosts", message, format!("write a number from 2 to {MAX_HOSTS}"));
        return None;
    }
    let rate = cx.remarks.finite_rate(star.rate, "topology.rate")?;
    let overhead_bytes = checked_overhead(star.overhead, "topology.overhead", cx);
    let delay = star.delay.span();
    let bdp_rtt = bdp_rtt(star.bdp_rtt, delay.saturating_mul(4));
    let port = port(("topology.aqm", "topology.buffer"), rate, bdp_rtt, cx);
    let has_pool = star.shared_buffer.is_some();
    let switch_queue = queue(&star.aqm, star.buffer, &Port { has_pool, ..port });
    let host_port = Port { buffer_path: "topology.host_buffer", ..port };
    let host_queue = queue(&Aqm::Fifo(Fifo {}), star.host_buffer, &host_port);

    let mut network = Network { bdp_rtt, ..Network::default() };
    let switch = network.node("switch");
    let (switch_queue, host_queue) = (switch_queue?, host_queue?);
    let up = template(Some(rate), delay, overhead_bytes, host_queue);
    let down = Link { queue: switch_queue, ..up.clone() };
    for number in 1..=star.hosts {
        let host = network.node(format!("h{number}"));
        network.join(host, switch, &up, &down);
    }
    if let Some(shared) = &star.shared_buffer {
        let ports = super::pool::ports(&network);
        super::pool::share(
            &mut network,
            switch,
            &ports[switch.0 as usize],
            shared,
            &cx.table("topology.shared_buffer"),
        )?;
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
