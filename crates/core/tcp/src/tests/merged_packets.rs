//! Packets that the receiving host has merged (GRO, LRO).

use crate::testing::config;
use crate::{EndpointConfig, Receiver};
use shoal_packet::{Ecn, Flags, FlowId, Packet, Seq};
use shoal_units::Time;

/// A receive window of 10 segments.
fn dctcp() -> EndpointConfig {
    EndpointConfig { receive_window_bytes: 10 * 1448, ..config("dctcp", "linux-6") }
}

/// A receiver after the handshake.
fn established(config: &EndpointConfig) -> Receiver {
    let mut receiver = Receiver::new(config, FlowId(0));
    let mut syn = Packet::empty(FlowId(0), 60);
    syn.flags = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
    receiver.on_packet(config, &syn, Time::ZERO, &mut Vec::new());
    receiver
}

fn data(start: u32, payload: u16, ecn: Ecn) -> Packet {
    let mut packet = Packet::empty(FlowId(0), payload + 52);
    (packet.seq, packet.payload, packet.ecn, packet.flags) = (Seq(start), payload, ecn, Flags::ACK);
    packet
}

/// Data packets, marks and bytes after each of `merged`.
fn counts(merged: &[Packet]) -> Vec<(u32, u64, u64)> {
    let config = dctcp();
    let mut receiver = established(&config);
    let of = |merged: &Packet| {
        receiver.on_merged(&config, merged, Time::ZERO, &mut Vec::new());
        (receiver.data_packets(), receiver.marks_seen(), receiver.delivered_bytes())
    };
    merged.iter().map(of).collect()
}

#[test]
fn merged_packets_are_counted_as_what_they_were() {
    // 3 x 1448 = 4344 B; then two and a part of a third; then one as it came from the wire.
    let merged = [
        data(1, 4344, Ecn::Ect0),
        data(4345, 2 * 1448 + 100, Ecn::Ce),
        data(7341, 1448, Ecn::Ce),
        data(1, 4344, Ecn::Ce),
    ];
    // An old copy arrived, too.
    assert_eq!(counts(&merged), [(3, 0, 4344), (6, 3, 7340), (7, 4, 8788), (10, 7, 8788)]);
}

#[test]
fn what_the_receiver_does_not_take_is_not_counted() {
    // 11 segments are beyond the window of 10; an acknowledgement has no data.
    assert_eq!(counts(&[data(1, 11 * 1448, Ecn::Ce), data(1, 0, Ecn::Ce)]), [(0, 0, 0), (0, 0, 0)]);
}
