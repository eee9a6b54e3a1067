//! Hosts: flows with the same settings share a pair of them.

use shoal_scenario::{Experiment, Flow};
use shoal_tcp::EcnSetting;
use shoal_units::Span;

/// What a host pair fixes for all of its flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostPair {
    /// `net.ipv4.tcp_ecn`.
    pub ecn: bool,
    /// `net.ipv4.tcp_sack`.
    pub sack: bool,
    /// `net.ipv4.tcp_timestamps`.
    pub timestamps: bool,
    /// Of both its links.
    pub mtu: u16,
    /// Propagation there and back.
    pub rtt: Span,
}

/// IP, TCP and the timestamp option with its padding.
pub(crate) const HEADERS_WITH_TIMESTAMPS: u16 = 52;
/// The same without the option.
pub(crate) const HEADERS_WITHOUT: u16 = 40;

impl HostPair {
    pub(crate) fn of(experiment: &Experiment, flow: &Flow) -> Self {
        let endpoint = &experiment.endpoints[flow.endpoint as usize];
        Self {
            ecn: endpoint.ecn == EcnSetting::On,
            sack: endpoint.sack,
            timestamps: endpoint.header_bytes >= HEADERS_WITH_TIMESTAMPS,
            mtu: endpoint.mtu_bytes,
            rtt: experiment.base_rtt(flow),
        }
    }
}

/// The pairs in order of first use, and the pair of each flow.
pub(crate) fn host_pairs(experiment: &Experiment) -> (Vec<HostPair>, Vec<usize>) {
    let mut pairs: Vec<HostPair> = Vec::new();
    let of_flow = experiment
        .flows
        .iter()
        .map(|flow| {
            let pair = HostPair::of(experiment, flow);
            pairs.iter().position(|other| *other == pair).unwrap_or_else(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        })
        .collect();
    (pairs, of_flow)
}
