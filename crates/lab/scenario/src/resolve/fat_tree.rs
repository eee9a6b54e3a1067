//! Fat-tree of switches with k ports each: pods of edge and aggregation switches, joined by core switches.
//!
//! Al-Fares, Loukissas and Vahdat, ["A scalable, commodity data center network architecture", SIGCOMM
//! 2008](https://doi.org/10.1145/1402958.1402967), section 3: k pods of two layers of k/2 switches, of which each edge
//! switch has k/2 hosts and a link to each aggregation switch of its pod. Each of the (k/2)^2 core switches has one
//! link to every pod: the first k/2 of them to the first aggregation switch of each pod, the next k/2 to the second,
//! and so on.

use super::Context;
use super::fabric::{self, Shape};
use super::network::Network;
use crate::schema::FatTree;

/// The network: hosts h1, h2, ... in the order of their switches edge1, edge2, ..., and these and aggregation1,
/// aggregation2, ... in the order of their pods; core switches core1, core2, ...
pub(super) fn network(plan: &FatTree, cx: &Context<'_>) -> Option<Network> {
    super::graph::refuse_bottleneck(cx);
    check_ports(plan.k, cx)?;
    let (pods, half) = (plan.k as usize, plan.k as usize / 2);
    let in_pods = pods * half;
    let named = |name: &'static str, count: usize| (1..=count).map(move |n| format!("{name}{n}"));
    let mut trunks = Vec::with_capacity(2 * in_pods * half);
    for edge in 0..in_pods {
        let pod = edge / half;
        trunks.extend((0..half).map(|n| (edge, in_pods + pod * half + n)));
    }
    for aggregation in 0..in_pods {
        let place = aggregation % half;
        trunks.extend((0..half).map(|n| (in_pods + aggregation, 2 * in_pods + place * half + n)));
    }
    let shape = Shape {
        switches: named("edge", in_pods)
            .chain(named("aggregation", in_pods))
            .chain(named("core", half * half))
            .collect(),
        edges: in_pods as u32,
        hosts_per_edge: half as u32,
        trunks,
        longest_way: 4,
    };
    fabric::network(shape, &plan.into(), cx)
}

fn check_ports(k: u32, cx: &Context<'_>) -> Option<()> {
    const FEWEST: u32 = 4;
    const MOST: u32 = 32;
    if k.is_multiple_of(2) && (FEWEST..=MOST).contains(&k) {
        return Some(());
    }
    let hint = format!("write an even number from {FEWEST} to {MOST}: k = 4 has 16 hosts, k = 32 has 8192");
    cx.error("topology.k", format!("a fat-tree of switches with {k} ports"), hint);
    None
}
