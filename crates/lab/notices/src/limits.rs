//! What bounds the rate of a flow, whatever the queue does.

use shoal_scenario::{Experiment, Flow, Link};

use crate::backlogged::{packet_bits, rate};

/// Mechanism: the receiver's window bounds the flows.
pub const RECEIVE_WINDOW: &str = "receive-window";
/// Mechanism: the bound of cwnd bounds the flows.
pub const WINDOW_CLAMP: &str = "window-clamp";
/// Mechanism: the cards of the hosts, or another link on the path, are slower than the link.
pub const NARROWER: &str = "narrower-elsewhere";

/// A bound of the rate of a flow.
pub(crate) struct Limit {
    pub mechanism: &'static str,
    /// The rate in bit/s.
    pub bps: f64,
    text: String,
}

impl Limit {
    /// The narrowest bound of `flow` apart from `link`.
    pub(crate) fn of(experiment: &Experiment, flow: &Flow, link: &Link) -> Option<Self> {
        let endpoint = &experiment.endpoints[flow.endpoint as usize];
        let rtt_s = experiment.base_rtt(flow).as_secs_f64();
        let windowed = |mechanism, name: &str, packets: f64| Self {
            mechanism,
            bps: packets * packet_bits(endpoint) / rtt_s,
            text: format!("{name} of {packets:.0} packets in each round trip of {:.2} ms", 1e3 * rtt_s),
        };
        let receive_packets = f64::from(endpoint.receive_window_bytes) / f64::from(endpoint.mss());
        let mut limits = vec![
            windowed(RECEIVE_WINDOW, "the receive window (receive_window)", receive_packets),
            windowed(WINDOW_CLAMP, "the bound of cwnd (cwnd_clamp)", f64::from(endpoint.cwnd_clamp_packets)),
        ];
        let narrower = |name: String, bps: f64| Self { mechanism: NARROWER, bps, text: name };
        let card = experiment.host_of(flow).nic_rate;
        limits.extend(card.map(|rate| narrower("the card of the host".to_owned(), rate.as_bps() as f64)));
        let others = experiment.links_of(flow.forward).filter(|other| other.name != link.name);
        limits.extend(others.filter_map(|other| {
            let bps = other.rate?.as_bps() as f64;
            Some(narrower(format!("the link {}", other.name), bps))
        }));
        limits.into_iter().min_by(|a, b| a.bps.total_cmp(&b.bps))
    }

    /// The bound in words.
    pub(crate) fn in_words(&self) -> String {
        format!("{} allows a flow {}", self.text, rate(self.bps))
    }
}
