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
        receiver.on_merged(&config, merged, false, Time::ZERO, &mut Vec::new());
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

/// ACKs that segments cause which are handed over together and then read: position in full segments, and whether ECE is
/// set.
fn acks_of(receiver: &mut Receiver, config: &EndpointConfig, batch: &[Packet]) -> Vec<(u32, bool)> {
    acks_of_read(receiver, config, batch, false)
}

fn acks_of_read(
    receiver: &mut Receiver,
    config: &EndpointConfig,
    batch: &[Packet],
    while_reading: bool,
) -> Vec<(u32, bool)> {
    let mut out = Vec::new();
    for segment in batch {
        receiver.on_merged(config, segment, while_reading, Time::ZERO, &mut out);
    }
    for segment in batch {
        receiver.on_read(config, segment, Time::ZERO, &mut out);
    }
    out.iter().map(|ack: &Packet| ((ack.ack.0 - 1) / 1448, ack.flags.has(Flags::ECE))).collect()
}

/// Segments of whole packets, from packet `start` on.
fn packets(start: u32, count: u16, ecn: Ecn, flags: Flags) -> Packet {
    let mut packet = data(1 + start * 1448, count * 1448, ecn);
    packet.flags = packet.flags.with(flags);
    packet
}

/// After the 16 ACKs that a connection begins with, each at once. The ACK of the handshake comes alone, before any
/// data.
fn after_quick_acks(config: &EndpointConfig) -> Receiver {
    let mut receiver = established(config);
    assert!(acks_of(&mut receiver, config, &[packets(0, 0, Ecn::Ect0, Flags::ACK)]).is_empty());
    for start in 0..16 {
        let acks = acks_of(&mut receiver, config, &[packets(start, 1, Ecn::Ect0, Flags::ACK)]);
        assert_eq!(acks, [(start + 1, false)]);
    }
    receiver
}

#[test]
fn what_comes_together_is_acknowledged_when_it_is_read() {
    let config = EndpointConfig { receive_window_bytes: 1 << 20, ..dctcp() };
    let mut receiver = after_quick_acks(&config);
    // What Linux 7.3 did with batches of a card that waits 50 us at 1 Gbit/s: two segments, of which a push ends the
    // first.
    let (push, cwr) = (Flags::PSH, Flags::CWR);
    let batch = [packets(16, 3, Ecn::Ect0, push), packets(19, 2, Ecn::Ect0, Flags::ACK)];
    assert_eq!(acks_of(&mut receiver, &config, &batch), [(21, false)]);
    // CWR is acknowledged at once; a single packet after it waits, as nothing is left of the push.
    let batch = [
        packets(21, 3, Ecn::Ect0, push),
        packets(24, 1, Ecn::Ect0, push.with(cwr)),
        packets(25, 1, Ecn::Ect0, Flags::ACK),
    ];
    assert_eq!(acks_of(&mut receiver, &config, &batch), [(25, false)]);
    assert_eq!(acks_of(&mut receiver, &config, &[packets(26, 5, Ecn::Ect0, Flags::ACK)]), [(31, false)]);
}

#[test]
fn what_comes_while_the_application_reads_is_acknowledged_once() {
    let config = EndpointConfig { receive_window_bytes: 1 << 20, ..dctcp() };
    // Both segments are acknowledged at once: the first because of CWR, the second because CE begins.
    let batch = [
        packets(16, 2, Ecn::Ect0, Flags::CWR),
        packets(18, 2, Ecn::Ce, Flags::ACK),
        packets(20, 1, Ecn::Ce, Flags::ACK),
    ];
    for (while_reading, acks) in [(false, vec![(18, false), (20, true)]), (true, vec![(21, true)])] {
        let mut receiver = after_quick_acks(&config);
        assert_eq!(acks_of_read(&mut receiver, &config, &batch, while_reading), acks);
        // It is over with the read.
        assert_eq!(acks_of(&mut receiver, &config, &[packets(21, 2, Ecn::Ce, Flags::ACK)]), [(23, true)]);
    }
}

#[test]
fn a_change_of_the_ce_state_does_not_wait_for_the_read() {
    let config = EndpointConfig { receive_window_bytes: 1 << 20, ..dctcp() };
    let mut receiver = after_quick_acks(&config);
    // 3-, 2C: the ACK of the three with the old state, then one of all with the new.
    let batch = [packets(16, 3, Ecn::Ect0, Flags::ACK), packets(19, 2, Ecn::Ce, Flags::ACK)];
    assert_eq!(acks_of(&mut receiver, &config, &batch), [(19, false), (21, true)]);
    // That ACK announced a smaller window, so two packets do not shrink it and are acknowledged at once; five would.
    let batch = [packets(21, 2, Ecn::Ce, Flags::PSH), packets(23, 3, Ecn::Ce, Flags::ACK)];
    assert_eq!(acks_of(&mut receiver, &config, &batch), [(23, true), (26, true)]);
    // 3C, 1-, 1C: three.
    let batch = [
        packets(26, 3, Ecn::Ce, Flags::ACK),
        packets(29, 1, Ecn::Ect0, Flags::ACK),
        packets(30, 1, Ecn::Ce, Flags::ACK),
    ];
    assert_eq!(acks_of(&mut receiver, &config, &batch), [(29, true), (30, false), (31, true)]);
}

#[test]
fn data_that_come_before_the_first_read_prolong_the_quick_acks() {
    let config = EndpointConfig { receive_window_bytes: 1 << 20, ..dctcp() };
    let mut receiver = established(&config);
    // Linux 7.3 with a card that waits 50 us at 10 Gbit/s: the ACK of the handshake and two segments of five in one
    // interrupt. Each of the two makes the window larger, and so 16 quick ACKs 17 (16 | 1): one is used by the first,
    // and the second has 17 again. 16 are left for what follows.
    let first = [
        packets(0, 0, Ecn::Ect0, Flags::ACK),
        packets(0, 5, Ecn::Ect0, Flags::PSH),
        packets(5, 5, Ecn::Ect0, Flags::PSH),
    ];
    assert_eq!(acks_of(&mut receiver, &config, &first), [(5, false), (10, false)]);
    let mut single = |start| acks_of(&mut receiver, &config, &[packets(start, 1, Ecn::Ect0, Flags::ACK)]);
    assert!((10..26).all(|start| single(start) == [(start + 1, false)]));
    assert!(single(26).is_empty(), "a single packet that nothing pushes waits for another");
}

#[test]
fn only_linux_has_quick_acks() {
    let config = EndpointConfig { receive_window_bytes: 1 << 20, ..config("dctcp", "freebsd-14") };
    let mut receiver = established(&config);
    assert!(acks_of(&mut receiver, &config, &[packets(0, 1, Ecn::Ect0, Flags::ACK)]).is_empty());
}
