//! Parking lot: several bottlenecks in a row.

use shoal_units::Span;

use super::Context;
use super::hosts::connect;
use super::network::{ENDLESS, Network, bdp_rtt, checked_overhead, port, template};
use crate::aqm::queue;
use crate::experiment::{Link, NodeId};
use crate::schema::{Aqm, Fifo, ParkingLot};

/// The network of a parking lot: switches s1, s2, ... with bottleneck1 from s1 to s2 and so on; hosts in1,
/// ... at the heads and out1, ... at the ends of the bottlenecks, `in` at the first switch and `out` at the
/// last.
pub(super) fn network(lot: &ParkingLot, cx: &Context<'_>) -> Option<Network> {
    const MAX_BOTTLENECKS: u32 = 1_000;
    super::graph::refuse_bottleneck(cx);
    if !(1..=MAX_BOTTLENECKS).contains(&lot.bottlenecks) {
        let message = format!("a parking lot of {} bottlenecks", lot.bottlenecks);
        cx.error("topology.bottlenecks", message, format!("write a number from 1 to {MAX_BOTTLENECKS}"));
        return None;
    }
    let rate = cx.remarks.finite_rate(lot.rate, "topology.rate");
    let access_rate = cx.remarks.checked_rate(lot.access_rate, "topology.access_rate");
    let (rate, access_rate) = (rate?, access_rate.ok()?);
    let overhead_bytes = checked_overhead(lot.overhead, "topology.overhead", cx);
    let (delay, access_delay) = (lot.delay.span(), lot.access_delay.span());
    // Round-trip time of the through flows.
    let (row, ends) = (delay.saturating_mul(lot.bottlenecks.into()), access_delay.saturating_mul(2));
    let way = Span::from_picos(row.as_picos().saturating_add(ends.as_picos()));
    let bdp_rtt = bdp_rtt(lot.bdp_rtt, way.saturating_mul(2));
    let port = port(("topology.aqm", "topology.buffer"), rate, bdp_rtt, cx);
    let law = queue(&lot.aqm, lot.buffer, &port);
    // ACKs return through plain FIFOs of the same size.
    let back = queue(&Aqm::Fifo(Fifo {}), lot.buffer, &port);

    let mut network = Network { bdp_rtt, ..Network::default() };
    let switches: Vec<NodeId> = (0..=lot.bottlenecks).map(|n| network.node(format!("s{}", n + 1))).collect();
    let backward = template(Some(rate), delay, overhead_bytes, back?);
    let forward = Link { queue: law?, monitored: true, ..backward.clone() };
    let access = template(access_rate, access_delay, overhead_bytes, ENDLESS);
    for (n, pair) in (1..).zip(switches.windows(2)) {
        let name = format!("bottleneck{n}");
        network.link(Link { name: format!("{name}/back"), from: pair[1], to: pair[0], ..backward.clone() });
        network.link(Link { name, from: pair[0], to: pair[1], ..forward.clone() });
    }
    let mut attach = |host: String, switch: NodeId| {
        let host = network.node(host);
        network.join(host, switch, &access, &access);
    };
    attach("in".to_owned(), switches[0]);
    attach("out".to_owned(), switches[switches.len() - 1]);
    for (n, pair) in (1..).zip(switches.windows(2)) {
        attach(format!("in{n}"), pair[0]);
        attach(format!("out{n}"), pair[1]);
    }
    connect(&mut network, cx)?;
    Some(network)
}
