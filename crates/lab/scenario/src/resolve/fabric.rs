//! Networks of a data centre: hosts at the switches of a fabric, which has links and queues of the same kind
//! throughout.

use shoal_units::Span;

use super::Context;
use super::hosts::connect;
use super::network::{Network, bdp_rtt, checked_overhead, port, template};
use super::pool;
use super::star::receivers;
use crate::aqm::{Port, queue};
use crate::experiment::{Link, NodeId};
use crate::quantity::{Amount, DataRate, Duration, Size};
use crate::schema::{Aqm, FatTree, Fifo, LeafSpine, Reported, SharedBuffer};

/// The switches of a fabric, and what joins them.
pub(super) struct Shape {
    /// Names of all switches.
    pub switches: Vec<String>,
    /// Number of switches with hosts, which come first.
    pub edges: u32,
    /// Hosts of each of these switches; h1, h2, ... are counted from switch to switch.
    pub hosts_per_edge: u32,
    /// Links between switches, as positions in `switches`; each is a link in both directions.
    pub trunks: Vec<(usize, usize)>,
    /// Links between switches on the longest path between two hosts.
    pub longest_way: u64,
}

/// The keys that all fabrics have.
pub(super) struct Keys<'a> {
    rate: DataRate,
    fabric_rate: Option<DataRate>,
    delay: Duration,
    fabric_delay: Option<Duration>,
    buffer: Amount,
    fabric_buffer: Option<Amount>,
    host_buffer: Amount,
    overhead: Size,
    bdp_rtt: Option<Duration>,
    aqm: &'a Aqm,
    fabric_aqm: Option<&'a Aqm>,
    shared_buffer: Option<&'a SharedBuffer>,
    reported: Reported,
}

macro_rules! keys_of {
    ($section:ty) => {
        impl<'a> From<&'a $section> for Keys<'a> {
            fn from(plan: &'a $section) -> Self {
                Self {
                    rate: plan.rate,
                    fabric_rate: plan.fabric_rate,
                    delay: plan.delay,
                    fabric_delay: plan.fabric_delay,
                    buffer: plan.buffer,
                    fabric_buffer: plan.fabric_buffer,
                    host_buffer: plan.host_buffer,
                    overhead: plan.overhead,
                    bdp_rtt: plan.bdp_rtt,
                    aqm: &plan.aqm,
                    fabric_aqm: plan.fabric_aqm.as_ref(),
                    shared_buffer: plan.shared_buffer.as_ref(),
                    reported: plan.reported,
                }
            }
        }
    };
}
keys_of!(LeafSpine);
keys_of!(FatTree);

/// The network of this shape.
pub(super) fn network(shape: Shape, keys: &Keys<'_>, cx: &Context<'_>) -> Option<Network> {
    let templates = templates(keys, shape.longest_way, cx)?;
    let mut network = Network { ecmp: true, bdp_rtt: templates.bdp_rtt, ..Network::default() };
    let switches: Vec<NodeId> = shape.switches.into_iter().map(|name| network.node(name)).collect();
    let mut number = 0;
    for edge in &switches[..shape.edges as usize] {
        for _ in 0..shape.hosts_per_edge {
            number += 1;
            let host = network.node(format!("h{number}"));
            network.join(host, *edge, &templates.up, &templates.down);
        }
    }
    for (a, b) in shape.trunks {
        network.join(switches[a], switches[b], &templates.fabric, &templates.fabric);
    }
    if let Some(shared) = keys.shared_buffer {
        let ports = pool::ports(&network);
        for (switch, ports) in switches.iter().zip(&ports) {
            pool::share(&mut network, *switch, ports, shared, &cx.table("topology.shared_buffer"))?;
        }
    }
    connect(&mut network, cx)?;
    report(&mut network, keys.reported, switches.len());
    Some(network)
}

/// Links without names and ends.
struct Templates {
    /// From a host to its switch.
    up: Link,
    /// From a switch to a host.
    down: Link,
    /// Between switches.
    fabric: Link,
    bdp_rtt: Option<Span>,
}

fn templates(keys: &Keys<'_>, longest_way: u64, cx: &Context<'_>) -> Option<Templates> {
    let rate = cx.remarks.finite_rate(keys.rate, "topology.rate");
    let fabric_rate = cx.remarks.finite_rate(keys.fabric_rate.unwrap_or(keys.rate), "topology.fabric_rate");
    let (rate, fabric_rate) = (rate?, fabric_rate?);
    let overhead_bytes = checked_overhead(keys.overhead, "topology.overhead", cx);
    let (delay, fabric_delay) = (keys.delay.span(), keys.fabric_delay.unwrap_or(keys.delay).span());
    // The longest round trip crosses the links of both hosts and those between switches, and returns.
    let hosts = delay.saturating_mul(4).as_picos();
    let trunks = fabric_delay.saturating_mul(longest_way.saturating_mul(2)).as_picos();
    let bdp_rtt = bdp_rtt(keys.bdp_rtt, Span::from_picos(hosts.saturating_add(trunks)));
    let has_pool = keys.shared_buffer.is_some();
    let port = Port { has_pool, ..port(("topology.aqm", "topology.buffer"), rate, bdp_rtt, cx) };
    let edge_queue = queue(keys.aqm, keys.buffer, &port);
    let host_port = Port { aqm_path: "topology.host_aqm", buffer_path: "topology.host_buffer", ..port };
    let host_queue = queue(&Aqm::Fifo(Fifo {}), keys.host_buffer, &host_port);
    let fabric_port = Port {
        aqm_path: if keys.fabric_aqm.is_some() { "topology.fabric_aqm" } else { "topology.aqm" },
        buffer_path: if keys.fabric_buffer.is_some() { "topology.fabric_buffer" } else { "topology.buffer" },
        rate: fabric_rate,
        ..port
    };
    let fabric_aqm = keys.fabric_aqm.unwrap_or(keys.aqm);
    let fabric_queue = queue(fabric_aqm, keys.fabric_buffer.unwrap_or(keys.buffer), &fabric_port);
    let (edge_queue, host_queue, fabric_queue) = (edge_queue?, host_queue?, fabric_queue?);
    let up = template(Some(rate), delay, overhead_bytes, host_queue);
    let down = Link { queue: edge_queue, ..up.clone() };
    let fabric = Link { rate: Some(fabric_rate), delay: fabric_delay, queue: fabric_queue, ..up.clone() };
    Some(Templates { up, down, fabric, bdp_rtt })
}

/// Marks the ports that the result reports; the first nodes are the `switches`.
fn report(network: &mut Network, reported: Reported, switches: usize) {
    let receivers = receivers(network);
    let switch = |node: NodeId| (node.0 as usize) < switches;
    for link in &mut network.links {
        let fabric = switch(link.from) && switch(link.to);
        link.monitored = match reported {
            Reported::Receivers => receivers.contains(&link.to),
            Reported::Fabric => fabric,
            Reported::Switches => fabric || receivers.contains(&link.to),
        };
    }
}
