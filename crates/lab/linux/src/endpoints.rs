//! End hosts: settings that apply to all flows of a host, and checks of what no host can do.

use crate::card::Card;
use crate::controllers::is_linux;
use crate::refusal::Refusals;
use shoal_scenario::{App, Experiment, Flow};
use shoal_tcp::{EcnOption, EcnSetting, EndpointConfig};

/// Settings of a host that apply to all of its flows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct HostSettings {
    /// `net.ipv4.tcp_ecn`.
    pub ecn: u8,
    /// `net.ipv4.tcp_ecn_option`.
    pub ecn_option: u8,
    /// `net.ipv4.tcp_sack`.
    pub sack: bool,
    /// `net.ipv4.tcp_timestamps`.
    pub timestamps: bool,
    /// MTU of its link in bytes.
    pub mtu: u16,
    /// Metric `initcwnd` of its route in packets; 0 leaves the choice to the kernel.
    pub initial_window: u32,
    /// Metric `quickack` of its route: no ACK is delayed.
    pub acks_at_once: bool,
    /// Its network card.
    pub card: Card,
}

/// Bytes of the IP and TCP headers with the timestamp option and its padding.
const HEADERS_WITH_TIMESTAMPS: u16 = 52;
/// Bytes of the IP and TCP headers without options.
const HEADERS_WITHOUT: u16 = 40;
/// Smallest packet of a datagram flow in bytes: IPv4 and UDP headers, and what linux/guest/datagrams.c
/// writes.
const DATAGRAM_BYTES: u16 = 44;
/// Receive window in bytes from which a scenario's window is not a limit: the window of a receiver without
/// one.
const NO_LIMIT: u32 = 64 << 20;

/// Value of `net.ipv4.tcp_ecn` with which a host asks for accurate ECN, and grants it.
const ACCURATE: u8 = 3;

impl HostSettings {
    /// Settings that both hosts of a flow have.
    pub(crate) fn of(experiment: &Experiment, flow: &Flow) -> Self {
        let endpoint = &experiment.endpoints[flow.endpoint as usize];
        Self {
            ecn: match endpoint.ecn {
                EcnSetting::Off => 0,
                EcnSetting::On if endpoint.is_accurate() => ACCURATE,
                EcnSetting::On => 1,
            },
            ecn_option: match endpoint.ecn_option {
                EcnOption::Off => 0,
                EcnOption::Minimum => 1,
                EcnOption::Full => 2,
            },
            sack: endpoint.sack,
            timestamps: endpoint.header_bytes >= HEADERS_WITH_TIMESTAMPS,
            mtu: endpoint.mtu_bytes,
            initial_window: endpoint.initial_window.unwrap_or(0),
            acks_at_once: !endpoint.delayed_ack,
            card: Card::of(experiment.host_of(flow), endpoint),
        }
    }

    /// Kernel parameters (paths below /proc/sys) and their values.
    pub(crate) fn sysctls(&self, socket_buffer: u32) -> Vec<(&'static str, String)> {
        let switch = |on: bool| u8::from(on).to_string();
        let own = [
            ("net/ipv4/tcp_ecn", self.ecn.to_string()),
            ("net/ipv4/tcp_sack", switch(self.sack)),
            ("net/ipv4/tcp_timestamps", switch(self.timestamps)),
            ("net/ipv4/tcp_no_metrics_save", switch(true)),
            ("net/ipv4/tcp_rmem", format!("4096 {socket_buffer} {socket_buffer}")),
            ("net/ipv4/tcp_wmem", format!("4096 {socket_buffer} {socket_buffer}")),
        ];
        // Older kernels do not have it.
        let option = (self.ecn == ACCURATE).then(|| ("net/ipv4/tcp_ecn_option", self.ecn_option.to_string()));
        own.into_iter().chain(option).chain(self.card.sysctls()).collect()
    }

    /// Metrics of the default route in the syntax of `ip route`.
    pub(crate) fn metrics(&self) -> String {
        let mut words = String::new();
        if self.initial_window > 0 {
            words += &format!(" initcwnd {}", self.initial_window);
        }
        if self.acks_at_once {
            words += " quickack 1";
        }
        words
    }
}

/// Refuses what hosts cannot do, independently of their controllers.
pub(crate) fn check(place: &str, flow: &Flow, endpoint: &EndpointConfig, refusals: &mut Refusals) {
    let dctcp = endpoint.cc.ecn_use() == shoal_cc::EcnUse::Dctcp;
    if dctcp && endpoint.ecn == EcnSetting::Off {
        refusals.add(
            place,
            "the kernel's dctcp asks for ECN whatever is set",
            "write ecn = \"on\", or cc = \"reno\"",
        );
    }
    if ![HEADERS_WITH_TIMESTAMPS, HEADERS_WITHOUT].contains(&endpoint.header_bytes) {
        refusals.add(
            place,
            format!(
                "headers of {} B; IPv4 and TCP have 52 with timestamps and 40 without",
                endpoint.header_bytes
            ),
            "write header_bytes = 52 or 40",
        );
    }
    // A locked metric of the route would bound cwnd, but only towards destinations for which the kernel has
    // stored metrics.
    if endpoint.cwnd_clamp_packets != u32::MAX {
        refusals.add(
            place,
            "the kernel has no bound of cwnd that a program could set",
            "leave cwnd_clamp out, or run this on the simulator",
        );
    }
    // TCP_WINDOW_CLAMP is lost with the first full segment (`tcp_measure_rcv_mss`). SO_RCVBUF bounds memory,
    // and the window that fits into it depends on the segments.
    if endpoint.receive_window_bytes < NO_LIMIT {
        refusals.add(
            place,
            "the kernel bounds the memory of a receiver, not its window",
            "leave receive_window out, or run this on the simulator",
        );
    }
    if !is_linux(&endpoint.stack) {
        refusals.add(
            place,
            format!("`{}` is not a stack of Linux", endpoint.stack.name),
            "leave `stack` out, or run this on the simulator",
        );
    }
    if !(576..=9000).contains(&endpoint.mtu_bytes) {
        refusals.add(place, format!("an mtu of {} B", endpoint.mtu_bytes), "write an mtu of 576 to 9000 B");
    }
    if let App::Unresponsive { packet_bytes, .. } = flow.app
        && !(DATAGRAM_BYTES..=endpoint.mtu_bytes).contains(&packet_bytes)
    {
        refusals.add(
            format!("{place}: app.packet"),
            format!("datagrams of {packet_bytes} B; the guest's carry their number and time, and are not fragmented"),
            format!("write a packet of {DATAGRAM_BYTES} to {} B", endpoint.mtu_bytes),
        );
    }
}
