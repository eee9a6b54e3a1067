//! Leaf-spine network: hosts at leaf switches, each of which has a link to every spine switch.

use shoal_units::Span;

use super::Context;
use super::hosts::connect;
use super::network::{Network, bdp_rtt, checked_overhead, port, template};
use super::star::receivers;
use crate::aqm::{Port, queue};
use crate::experiment::{Link, NodeId};
use crate::schema::{Aqm, Fifo, LeafSpine, Reported};

/// The network: hosts h1, h2, ... in the order of their leaves leaf1, leaf2, ...; spines spine1, spine2, ...
pub(super) fn network(plan: &LeafSpine, cx: &Context<'_>) -> Option<Network> {
    super::graph::refuse_bottleneck(cx);
    check_size(plan, cx)?;
    let rate = cx.remarks.finite_rate(plan.rate, "topology.rate");
    let fabric_rate = cx.remarks.finite_rate(plan.fabric_rate.unwrap_or(plan.rate), "topology.fabric_rate");
    let (rate, fabric_rate) = (rate?, fabric_rate?);
    let overhead_bytes = checked_overhead(plan.overhead, "topology.overhead", cx);
    let (delay, fabric_delay) = (plan.delay.span(), plan.fabric_delay.unwrap_or(plan.delay).span());
    // The longest round trip crosses host, leaf, spine, leaf, host, and returns.
    let links = delay.as_picos().saturating_add(fabric_delay.as_picos());
    let way = Span::from_picos(links).saturating_mul(4);
    let bdp_rtt = bdp_rtt(plan.bdp_rtt, way);
    let port = port(("topology.aqm", "topology.buffer"), rate, bdp_rtt, cx);
    let leaf_queue = queue(&plan.aqm, plan.buffer, &port);
    let host_port = Port { aqm_path: "topology.host_aqm", buffer_path: "topology.host_buffer", ..port };
    let host_queue = queue(&Aqm::Fifo(Fifo {}), plan.host_buffer, &host_port);
    let fabric_port = Port {
        aqm_path: if plan.fabric_aqm.is_some() { "topology.fabric_aqm" } else { "topology.aqm" },
        buffer_path: if plan.fabric_buffer.is_some() { "topology.fabric_buffer" } else { "topology.buffer" },
        rate: fabric_rate,
        ..port
    };
    let fabric_aqm = plan.fabric_aqm.as_ref().unwrap_or(&plan.aqm);
    let fabric_queue = queue(fabric_aqm, plan.fabric_buffer.unwrap_or(plan.buffer), &fabric_port);
    let (leaf_queue, host_queue, fabric_queue) = (leaf_queue?, host_queue?, fabric_queue?);

    let mut network = Network { ecmp: true, bdp_rtt, ..Network::default() };
    let leaves: Vec<NodeId> = (1..=plan.leaves).map(|n| network.node(format!("leaf{n}"))).collect();
    let spines: Vec<NodeId> = (1..=plan.spines).map(|n| network.node(format!("spine{n}"))).collect();
    let host_link = template(Some(rate), delay, overhead_bytes, host_queue);
    let down = Link { queue: leaf_queue, ..host_link.clone() };
    let fabric =
        Link { rate: Some(fabric_rate), delay: fabric_delay, queue: fabric_queue, ..host_link.clone() };
    let mut number = 0;
    for leaf in &leaves {
        for _ in 0..plan.hosts_per_leaf {
            number += 1;
            let host = network.node(format!("h{number}"));
            network.join(host, *leaf, &host_link, &down);
        }
    }
    for leaf in &leaves {
        for spine in &spines {
            network.join(*leaf, *spine, &fabric, &fabric);
        }
    }
    if let Some(shared) = &plan.shared_buffer {
        for switch in leaves.iter().chain(&spines) {
            super::pool::share(&mut network, *switch, shared, &cx.table("topology.shared_buffer"))?;
        }
    }
    connect(&mut network, cx)?;
    report(&mut network, plan.reported, &leaves, &spines);
    Some(network)
}

/// Checks the numbers of switches and hosts.
fn check_size(plan: &LeafSpine, cx: &Context<'_>) -> Option<()> {
    const MAX_HOSTS: u64 = 10_000;
    const MAX_SWITCHES: u32 = 1_000;
    for (key, count) in [("leaves", plan.leaves), ("spines", plan.spines)] {
        if !(1..=MAX_SWITCHES).contains(&count) {
            let hint = format!("write a number from 1 to {MAX_SWITCHES}");
            cx.error(&format!("topology.{key}"), format!("a network of {count} {key}"), hint);
            return None;
        }
    }
    let hosts = u64::from(plan.leaves) * u64::from(plan.hosts_per_leaf);
    if !(2..=MAX_HOSTS).contains(&hosts) {
        let hint = format!("all leaves together need 2 to {MAX_HOSTS}");
        cx.error("topology.hosts_per_leaf", format!("a network of {hosts} hosts"), hint);
        return None;
    }
    Some(())
}

/// Marks the ports that the result reports.
fn report(network: &mut Network, reported: Reported, leaves: &[NodeId], spines: &[NodeId]) {
    let receivers = receivers(network);
    let switch = |node: &NodeId| leaves.contains(node) || spines.contains(node);
    for link in &mut network.links {
        let fabric = switch(&link.from) && switch(&link.to);
        link.monitored = match reported {
            Reported::Receivers => receivers.contains(&link.to),
            Reported::Fabric => fabric,
            Reported::Switches => fabric || receivers.contains(&link.to),
        };
    }
}
