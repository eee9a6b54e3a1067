//! Leaf-spine network: hosts at leaf switches, each of which has a link to every spine switch.

use super::Context;
use super::fabric::{self, Shape};
use super::network::Network;
use crate::schema::{LeafSpine, MAX_HOSTS};

/// The network: hosts h1, h2, ... in the order of their leaves leaf1, leaf2, ...; spines spine1, spine2, ...
pub(super) fn network(plan: &LeafSpine, cx: &Context<'_>) -> Option<Network> {
    super::graph::refuse_bottleneck(cx);
    check_size(plan, cx)?;
    let (leaves, spines) = (plan.leaves as usize, plan.spines as usize);
    let leaf_names = (1..=leaves).map(|n| format!("leaf{n}"));
    let shape = Shape {
        switches: leaf_names.chain((1..=spines).map(|n| format!("spine{n}"))).collect(),
        edges: plan.leaves,
        hosts_per_edge: plan.hosts_per_leaf,
        trunks: (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, leaves + spine))).collect(),
        longest_way: 2,
    };
    fabric::network(shape, &plan.into(), cx)
}

/// Checks the numbers of switches and hosts.
fn check_size(plan: &LeafSpine, cx: &Context<'_>) -> Option<()> {
    const MAX_SWITCHES: u32 = 1_000;
    for (key, count) in [("leaves", plan.leaves), ("spines", plan.spines)] {
        if !(1..=MAX_SWITCHES).contains(&count) {
            let hint = format!("write a number from 1 to {MAX_SWITCHES}");
            cx.error(&format!("topology.{key}"), format!("a network of {count} {key}"), hint);
            return None;
        }
    }
    let hosts = u64::from(plan.leaves) * u64::from(plan.hosts_per_leaf);
    if !(2..=u64::from(MAX_HOSTS)).contains(&hosts) {
        let hint = format!("all leaves together need 2 to {MAX_HOSTS}");
        cx.error("topology.hosts_per_leaf", format!("a network of {hosts} hosts"), hint);
        return None;
    }
    Some(())
}
