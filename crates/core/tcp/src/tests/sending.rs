//! Limits of sending: the receiver's window, Nagle, the end of the data. Sizes of packets, and wrapped sequence
//! numbers.

use super::script::{linux, sender, sender_with};
use crate::testing::{Direction, Fate, Pair, config};
use crate::{EndpointConfig, Receiver, Sender};
use shoal_packet::{Ecn, Flags, FlowId, Packet, Seq};
use shoal_units::{Span, Time};

#[test]
fn the_receive_window_limits_the_flight() {
    // Five segments and a part of one.
    let c = EndpointConfig { receive_window_bytes: 5 * 1448 + 100, ..config("reno", "linux-3.2") };
    sender_with(c, "0ms connect\n0ms > syn\n0ms greedy\n100ms < synack ts 0ms\n100ms > 0..5").run(
        "
        200ms < ack 2
        200ms > 5..7
        200ms ? flight 5
        300ms < ack 7 win 0            # closed: nothing may be sent; no zero-window probes here
        900ms < ack 7                  # opened again
        900ms > 7..12
        ",
    );
}

/// However much a write or an ACK allows, no packet is larger than the MTU: a queue gets the segments of a window one
/// by one, and not an aggregate of segmentation offload.
#[test]
fn every_segment_is_a_packet_of_its_own() {
    for stack in ["linux-3.2", "linux-3.18", "linux-6", "freebsd-2015", "freebsd-14"] {
        let config = config("reno", stack);
        let (mtu, mss) = (config.mtu_bytes, config.mss());
        let mut sizes = Vec::new();
        let mut pair = Pair::new(config, Span::from_millis(10), |direction, packet: &mut Packet| {
            if direction == Direction::Data && packet.payload > 0 {
                sizes.push((packet.size, packet.payload));
            }
            Fate::Deliver
        });
        pair.with_sender(crate::Sender::connect);
        pair.with_sender(|sender, config, now, out| sender.set_greedy(config, true, now, out));
        pair.run_until(Time::ZERO + Span::from_millis(200));
        drop(pair);
        assert!(sizes.len() > 100, "{stack}: {} packets", sizes.len());
        assert!(sizes.iter().all(|size| *size == (mtu, mss)), "{stack}");
    }
}

/// The ten packets of the initial window, and those that an ACK allows, leave at the same instant: pacing would spread
/// them over the round trip.
#[test]
fn what_the_window_allows_leaves_at_once() {
    for stack in ["linux-3.18", "linux-6"] {
        sender("reno", stack, "0ms connect\n0ms > syn\n0ms greedy\n100ms < synack ts 0ms\n100ms > 0..10")
            .run(
                "
            200ms < ack 10
            200ms > 10..30             # 10 freed + 10, none of them later
            200ms ? flight 20
            ",
            );
    }
}

#[test]
fn a_small_segment_waits_for_the_one_in_flight() {
    // Minshall's variant of Nagle: a small segment waits for another small one in flight, but not for full ones.
    sender("reno", "linux-6", "0ms connect\n0ms > syn\n100ms < synack ts 0ms\n100ms > ack 0").run(
        "
        100ms write 1
        100ms > 0
        101ms bytes 100
        101ms > 1:100
        102ms bytes 100                # waits
        103ms write 1                  # fills the segment: 1448 of 1548 bytes go, 100 wait
        103ms > 1+100
        200ms < ack 2+100
        200ms > 2+100:100
        ",
    );
}

#[test]
fn a_small_segment_of_a_socket_without_delay_leaves_at_once() {
    let config = EndpointConfig { no_delay: true, ..config("reno", "linux-6") };
    sender_with(config, "0ms connect\n0ms > syn\n100ms < synack ts 0ms\n100ms > ack 0").run(
        "
        100ms bytes 100
        100ms > 0:100
        102ms bytes 100
        102ms > 0+100:100
        ",
    );
}

#[test]
fn the_last_segment_carries_fin_and_ignores_nagle_and_cwnd() {
    let script = "
        0ms   connect
        0ms   > syn
        0ms   last 2
        100ms < synack ts 0ms
    ";
    let c = EndpointConfig { initial_window: Some(1), ..config("reno", "linux-3.2") };
    // tcp_cwnd_test before 6.10 lets a segment with FIN exceed the window, once it is its turn.
    sender_with(c, script).run("100ms > 0, 1 fin");
    let c = EndpointConfig { initial_window: Some(1), ..config("reno", "linux-6") };
    sender_with(c, script).run("100ms > 0\n200ms < ack 1\n200ms > 1 fin\n300ms < ack 2+1\n300ms ? flight 0");
}

#[test]
fn finite_transfers_finish_exactly() {
    for bytes in [1, 1447, 1448, 1449, 100_000] {
        let mut pair =
            Pair::new(config("cubic", "linux-6"), Span::from_millis(10), |_, _: &mut Packet| Fate::Deliver);
        let end = pair.transfer(bytes, Time::ZERO + Span::from_secs(5));
        assert_eq!((pair.receiver.delivered_bytes(), pair.sender.counters().acked_bytes), (bytes, bytes));
        // 10 packets a round trip of 20 ms, doubling: 1 + ceil(log2(1 + n/10)) rounds, handshake included; 70 packets
        // take one more, as on Linux 7.3 (100.05 ms at 1 Gbit/s), because the odd packet of a round waits for an ACK.
        let rounds = if bytes == 100_000 { 5 } else { 2 };
        assert_eq!(end, Time::ZERO + Span::from_millis(20 * rounds));
    }
}

#[test]
fn sequence_numbers_wrap() {
    // 5 GiB in segments of 64 KiB, with losses on the way: stream positions pass 2^32 once.
    let c = EndpointConfig {
        mtu_bytes: 65_000,
        receive_window_bytes: 1 << 28,
        cwnd_clamp_packets: 200,
        ..config("reno", "linux-6")
    };
    let mut n = 0;
    let mut pair = Pair::new(c, Span::from_millis(1), |direction, _: &mut Packet| {
        n += u32::from(direction == Direction::Data);
        if direction == Direction::Data && n % 997 == 0 { Fate::Drop } else { Fate::Deliver }
    });
    let bytes = 5 << 30;
    pair.transfer(bytes, Time::ZERO + Span::from_secs(600));
    assert_eq!(pair.receiver.delivered_bytes(), bytes);
    assert!(pair.sender.losses() >= 70, "{} losses", pair.sender.losses());
    assert_eq!(pair.sender.counters().timeouts, 0);
}

#[test]
fn header_sizes() {
    // IPv4 and TCP with timestamps: 52 bytes; SYN 60; each SACK block 8 and 4 for the option.
    let c = config("reno", "linux-6");
    let mut sender = Sender::new(&c, FlowId(1));
    let mut receiver = Receiver::new(&c, FlowId(1));
    let (mut there, mut back) = (Vec::new(), Vec::new());
    sender.write(&c, 1448 * 3 + 10, Time::ZERO, &mut there);
    sender.connect(&c, Time::ZERO, &mut there);
    assert_eq!(there[0].size, 60);
    receiver.on_packet(&c, &there[0], Time::ZERO, &mut back);
    assert_eq!(back[0].size, 60);
    there.clear();
    sender.on_packet(&c, &back[0], Time::ZERO, &mut there);
    assert_eq!(there.iter().map(|p| p.size).collect::<Vec<_>>(), [52, 1500, 1500, 1500, 62]);
    back.clear();
    for n in [2, 4, 1] {
        receiver.on_packet(&c, &there[n], Time::ZERO, &mut back);
    }
    assert_eq!(back.iter().map(|p| p.size).collect::<Vec<_>>(), [52 + 12, 52 + 20, 52 + 12]);
    assert_eq!(back[2].ack, Seq(1 + 2 * 1448));
}

#[test]
fn data_packets_echo_the_last_timestamp() {
    let c = config("reno", "linux-6");
    let mut sender = Sender::new(&c, FlowId(1));
    let mut out = Vec::new();
    sender.connect(&c, Time::ZERO, &mut out);
    let mut answer = Packet::empty(FlowId(1), 60);
    answer.flags = Flags::SYN.with(Flags::ACK);
    answer.ack = Seq(1);
    answer.window = 1000;
    answer.ts_val = 77;
    sender.on_packet(&c, &answer, Time::ZERO, &mut out);
    sender.write(&c, 10, Time::ZERO, &mut out);
    assert_eq!((out[2].ts_ecr, out[2].payload, out[2].ecn), (77, 10, Ecn::NotEct));
}

#[test]
fn acks_echo_the_earliest_unacknowledged_timestamp() {
    // RFC 7323 (https://www.rfc-editor.org/rfc/rfc7323) section 4.3: only the timestamps of segments that begin at or
    // below the last ACK sent are kept. So a delayed ACK echoes its first segment, and never one beyond a hole.
    let mut c = config("reno", "linux-6");
    linux(&mut c).quick_acks = 0;
    let mut receiver = Receiver::new(&c, FlowId(1));
    let mut out = Vec::new();
    let mut syn = Packet::empty(FlowId(1), 60);
    syn.flags = Flags::SYN;
    receiver.on_packet(&c, &syn, Time::ZERO, &mut out);
    receiver.on_packet(&c, &Packet { flags: Flags::ACK, ..syn }, Time::ZERO, &mut out);
    for (n, ts) in [(0, 10), (1, 20), (3, 30), (2, 40)] {
        let mut data = Packet::empty(FlowId(1), 1500);
        data.seq = Seq::of(1 + n * 1448);
        data.payload = 1448;
        data.ts_val = ts;
        receiver.on_packet(&c, &data, Time::ZERO, &mut out);
    }
    let echoed: Vec<_> = out.iter().skip(1).map(|p| (p.ack.0 / 1448, p.ts_ecr)).collect();
    assert_eq!(echoed, [(2, 10), (2, 10), (4, 40)]);
}
