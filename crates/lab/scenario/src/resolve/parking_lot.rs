//! Parking lot: several bottlenecks in a row.

use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_units::Span;

use super::Context;
use super::hosts::connect;
use super::network::{Network, checked_overhead, largest_packet};
use crate::aqm::{Port, queue};
use crate::experiment::{Link, NodeId};
use crate::line_rate::{checked_rate, finite_rate};
use crate::schema::{Aqm, Fifo, ParkingLot};

/// The network of a parking lot: switches s1, s2, ... with bottleneck1 from s1 to s2 and so on; hosts in1,
/// ... at the heads and out1, ... at the ends of the bottlenecks, `in` at the first switch and `out` at the
/// last.
pub(super) fn network(lot: &ParkingLot, cx: &mut Context<'_>) -> Option<Network> {
    const MAX_BOTTLENECKS: u32 = 1_000;
    super::graph::refuse_bottleneck(cx);
    if !(1..=MAX_BOTTLENECKS).contains(&lot.bottlenecks) {
        let message = format!("a parking lot of {} bottlenecks", lot.bottlenecks);
        cx.error("topology.bottlenecks", message, format!("write a number from 1 to {MAX_BOTTLENECKS}"));
        return None;
    }
    let rate = finite_rate(lot.rate, "topology.rate", &mut cx.remarks);
    let access_rate = checked_rate(lot.access_rate, "topology.access_rate", &mut cx.remarks);
    let (rate, access_rate) = (rate?, access_rate.ok()?);
    let overhead_bytes = checked_overhead(lot.overhead, "topology.overhead", cx);
    let (delay, access_delay) = (lot.delay.span(), lot.access_delay.span());
    // Round-trip time of the through flows.
    let (row, ends) = (delay.saturating_mul(lot.bottlenecks.into()), access_delay.saturating_mul(2));
    let way = Span::from_picos(row.as_picos().saturating_add(ends.as_picos()));
    let round_trip = lot.bdp_rtt.map_or(way.saturating_mul(2), |rtt| rtt.span());
    let bdp_rtt = Some(round_trip).filter(|rtt| *rtt > Span::ZERO);
    let port = Port {
        aqm_path: "topology.aqm",
        buffer_path: "topology.buffer",
        rate,
        bdp_rtt,
        mtu: largest_packet(cx),
    };
    let law = queue(&lot.aqm, lot.buffer, &port, &mut cx.remarks);
    // ACKs return through plain FIFOs of the same size.
    let back = queue(&Aqm::Fifo(Fifo {}), lot.buffer, &port, &mut cx.remarks);

    let mut network = Network { bdp_rtt, ..Network::default() };
    let switches: Vec<NodeId> = (0..=lot.bottlenecks).map(|n| network.node(format!("s{}", n + 1))).collect();
    let forward = Link {
        name: String::new(),
        from: switches[0],
        to: switches[0],
        rate: Some(rate),
        delay,
        overhead_bytes,
        queue: law?,
        monitored: true,
        pool: None,
    };
    let backward = Link { queue: back?, monitored: false, ..forward.clone() };
    let access = Link {
        rate: access_rate,
        delay: access_delay,
        queue: QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited }),
        ..backward.clone()
    };
    for (n, pair) in (1..).zip(switches.windows(2)) {
        let name = format!("bottleneck{n}");
        network.link(Link { name: format!("{name}/back"), from: pair[1], to: pair[0], ..backward.clone() });
        network.link(Link { name, from: pair[0], to: pair[1], ..forward.clone() });
    }
    let mut attach = |host: String, switch: NodeId| {
        let host = network.node(host);
        network.named_link(host, switch, &access);
        network.named_link(switch, host, &access);
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
