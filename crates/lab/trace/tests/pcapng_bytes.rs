//! Captures compared byte by byte, without any other tool.

mod capture;

use proptest::prelude::*;
use shoal_packet::{ByteCounters, CounterOrder, Ecn, Flags, FlowId, Packet, Sack, SackBlocks, Seq};
use shoal_trace::pcapng::{Capture, Direction, Endpoints, Frame, Interface, PcapWriter};
use shoal_units::{Rate, Time};

/// Type and body of each block, with both lengths checked (pcapng section 3.1).
fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut at, mut blocks) = (0, Vec::new());
    while at < file.len() {
        let length = word(at + 4) as usize;
        assert!(length.is_multiple_of(4));
        assert_eq!(word(at + length - 4) as usize, length);
        blocks.push((word(at), &file[at + 8..at + length - 4]));
        at += length;
    }
    assert_eq!(at, file.len());
    blocks
}

/// Ones' complement sum of 16-bit words ([RFC 1071](https://www.rfc-editor.org/rfc/rfc1071)); 0xffff if a
/// checksum inside is right.
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let total: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0))).sum();
    let folded = (total & 0xffff) + (total >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

/// Checks the lengths and both checksums of an IPv4 packet of `protocol`; returns what it carries.
fn carried(packet: &[u8], protocol: u8) -> &[u8] {
    assert_eq!(packet[0], 0x45);
    assert_eq!(usize::from(u16::from_be_bytes([packet[2], packet[3]])), packet.len());
    assert_eq!(sum(&[&packet[..20]]), 0xffff, "IP checksum");
    let segment = &packet[20..];
    let length = (segment.len() as u16).to_be_bytes();
    assert_eq!(packet[9], protocol);
    assert_eq!(
        sum(&[&packet[12..20], &[0, protocol], &length, segment]),
        0xffff,
        "checksum of what it carries"
    );
    segment
}

/// Checks a packet with TCP; returns the TCP header and the payload length.
fn verified(packet: &[u8]) -> (&[u8], usize) {
    let segment = carried(packet, 6);
    let header = usize::from(segment[12] >> 4) * 4;
    assert!(segment[header..].iter().all(|&byte| byte == 0));
    (&segment[..header], segment.len() - header)
}

#[test]
fn head_of_the_file() {
    let file = capture::file(Capture::Whole);
    let blocks = blocks(&file);
    assert_eq!(blocks.iter().map(|block| block.0).collect::<Vec<_>>()[..3], [0x0a0d_0d0a, 1, 1]);
    assert_eq!(blocks.len(), 3 + capture::script().len());
    assert_eq!(blocks[0].1[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
    // LINKTYPE_RAW, no limit; if_name; if_speed 10^7 = 0x989680; if_tsresol 9.
    let expected = [
        &[101, 0, 0, 0, 0, 0, 0, 0][..],
        &[2, 0, 6, 0],
        b"uplink\0\0",
        &[8, 0, 8, 0, 0x80, 0x96, 0x98, 0, 0, 0, 0, 0],
        &[9, 0, 1, 0, 9, 0, 0, 0],
        &[0, 0, 0, 0],
    ];
    assert_eq!(blocks[1].1, expected.concat());
}

#[test]
fn captures_of_headers_say_how_much_they_keep() {
    let file = capture::file(Capture::Headers);
    let blocks = blocks(&file);
    // 60 + 60 B: IP and TCP headers with all the options that their length fields can express.
    assert_eq!(blocks[1].1[..8], [101, 0, 0, 0, 120, 0, 0, 0]);
    let word = |body: &[u8], at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
    // SYN: 60 B, all headers. Data: 52 of 1500 B. An acknowledgement with one SACK block: 52 + 12 B, all headers.
    let lengths: Vec<_> = [0, 2, 7].map(|at| (word(blocks[3 + at].1, 12), word(blocks[3 + at].1, 16))).into();
    assert_eq!(lengths, [(60, 60), (52, 1500), (64, 64)]);
}

#[test]
fn packets_of_real_hosts_are_cut_after_their_headers() {
    let interface = Interface { name: "l".into(), rate: None };
    let kept = |capture, packet: &[u8]| {
        let mut writer = PcapWriter::new(Vec::new(), std::slice::from_ref(&interface), capture).unwrap();
        writer.write(Time::ZERO, 0, Frame::Captured(packet), None).unwrap();
        let file = writer.finish().unwrap();
        let body = blocks(&file)[2].1;
        let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(body[20..20 + word(12)], packet[..word(12)]);
        assert_eq!(word(16), packet.len(), "the original length is recorded");
        word(12)
    };
    // A header of 20 B for IP with 100 B behind it; in TCP, the upper half of byte 12 is the header's length in words.
    let mut packet = [0u8; 120];
    (packet[0], packet[3]) = (0x45, 120);
    for (protocol, data_offset, headers) in [(6, 8 << 4, 52), (6, 5 << 4, 40), (17, 0, 28)] {
        (packet[9], packet[32]) = (protocol, data_offset);
        assert_eq!(kept(Capture::Headers, &packet), headers);
        assert_eq!(kept(Capture::Whole, &packet), 120);
    }
    // A packet that is neither TCP nor UDP, or is truncated, is kept whole.
    packet[9] = 1;
    assert_eq!(kept(Capture::Headers, &packet), 120);
    assert_eq!(kept(Capture::Headers, &packet[..10]), 10);
}

#[test]
fn marked_packet() {
    let file = capture::file(Capture::Headers);
    let body = blocks(&file)[3 + 3].1;
    // Interface 0, 26.2 ms = 26,200,000 ns = 0x18fc740, 52 of 1500 bytes.
    assert_eq!(body[..8], [0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(body[8..20], [0xc0, 0xc7, 0x8f, 0x01, 52, 0, 0, 0, 0xdc, 0x05, 0, 0]);
    let packet = &body[20..72];
    // Version and length, CE, 1500 bytes, no identification, do not fragment, 64 hops, TCP.
    assert_eq!(packet[..10], [0x45, 0b11, 0x05, 0xdc, 0, 0, 0x40, 0, 64, 6]);
    assert_eq!(packet[12..20], [10, 0, 0, 4, 10, 128, 0, 4]);
    // Port 49152 to 9. Initial sequence numbers: 7 and 8 times 0x9e3779b9; 1 + 1448 = 1449 and 1 beyond.
    let isn = 7u32.wrapping_mul(0x9e37_79b9);
    assert_eq!(packet[20..24], [0xc0, 0, 0, 9]);
    assert_eq!(packet[24..28], isn.wrapping_add(1449).to_be_bytes());
    assert_eq!(packet[28..32], 8u32.wrapping_mul(0x9e37_79b9).wrapping_add(1).to_be_bytes());
    // 32 bytes of header, ACK, window 512.
    assert_eq!(packet[32..36], [0x80, 0x10, 0x02, 0x00]);
    // Timestamps in milliseconds: 26 and 25.
    assert_eq!(packet[40..52], [1, 1, 8, 10, 0, 0, 0, 26, 0, 0, 0, 25]);
    assert_eq!(&body[72..], [&[1, 0, 17, 0][..], b"marked: threshold\0\0\0", &[0, 0, 0, 0]].concat());
}

/// AF11 is 10, or 001010 in the upper six bits of the second byte; the lower two are ECN's ([RFC 2474, section
/// 3](https://www.rfc-editor.org/rfc/rfc2474#section-3)).
#[test]
fn packets_of_both_directions_have_the_code_point_of_their_flow() {
    let file = capture::file_of(Capture::Headers, &Endpoints { code_point: 10, ..capture::ENDPOINTS });
    let blocks = blocks(&file);
    // A marked data packet of 1500 = 0x05dc bytes: 10 * 4 + 3 = 43.
    let data = &blocks[3 + 3].1[20..40];
    assert_eq!(data[..10], [0x45, 43, 0x05, 0xdc, 0, 0, 0x40, 0, 64, 6]);
    // With 0 in the second byte its words are 4500 + 05dc + 4000 + 4006 + 0a00 + 0004 + 0a80 + 0004 = df6a. With
    // 43 = 2b they are df95, and the checksum is ffff - df95 = 206a.
    assert_eq!(data[10..12], [0x20, 0x6a]);
    // An ACK of 52 = 34 bytes that is not ECN-capable: 10 * 4 + 0 = 40 = 28. The words are
    // df6a - 05dc + 0034 + 0028 = d9ea, and the checksum is 2615.
    let ack = &blocks[3 + 6].1[20..40];
    assert_eq!(ack[..2], [0x45, 40]);
    assert_eq!(ack[10..12], [0x26, 0x15]);

    // All packets have it, SYN and SYN/ACK included, and nothing but it and the checksum is different.
    let plain = capture::file(Capture::Headers);
    let plain = self::blocks(&plain);
    assert_eq!(blocks[..3], plain[..3]);
    for (&(_, with), &(_, without)) in blocks.iter().zip(&plain).skip(3) {
        let mut expected = without.to_vec();
        expected[21] |= 10 << 2;
        expected[30..32].copy_from_slice(&with[30..32]);
        assert_eq!(sum(&[&with[20..40]]), 0xffff);
        assert_eq!(with, expected);
    }
}

#[test]
fn options_of_syn_and_sack() {
    let file = capture::file(Capture::Whole);
    let packets: Vec<&[u8]> = blocks(&file)[3..].iter().map(|block| block.1).collect();
    // MSS 1460, SACK permitted, timestamps 12 and 0, scale of the answering host.
    assert_eq!(
        packets[1][20 + 40..20 + 60],
        [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 12, 0, 0, 0, 0, 1, 3, 3, 9]
    );
    let isn = 7u32.wrapping_mul(0x9e37_79b9);
    let edge = |n: u32| isn.wrapping_add(1 + n * 1448).to_be_bytes();
    let expected = [&[1, 1, 5, 10][..], &edge(3), &edge(4)].concat();
    assert_eq!(packets[7][20 + 52..20 + 64], expected);
    let three = [&[1, 1, 5, 26][..], &edge(9), &edge(10), &edge(7), &edge(8), &edge(5), &edge(6)].concat();
    assert_eq!(packets[9][20 + 52..20 + 80], three);
}

#[test]
fn timestamps_survive_the_wrap_of_the_microsecond_clock() {
    let file = capture::file(Capture::Whole);
    let last = *blocks(&file).last().unwrap();
    // 5,000 s is 5,000,000 ms, although its microseconds exceed 32 bits.
    assert_eq!(last.1[20 + 44..20 + 48], 5_000_000u32.to_be_bytes());
}

/// A packet without flags is that of traffic without a connection: UDP, with the size that the simulator counts.
#[test]
fn datagrams_are_udp() {
    let endpoints =
        Endpoints { mss: 0, forward_window_scale: 0, backward_window_scale: 0, sack: false, code_point: 46 };
    let interface = Interface { name: "l".into(), rate: Some(Rate::from_bps(1)) };
    let mut writer = PcapWriter::new(Vec::new(), &[interface], Capture::Whole).unwrap();
    let packet = Packet { payload: 1472, ecn: Ecn::Ect1, ts_val: 7, ..Packet::empty(FlowId(3), 1500) };
    let frame = Frame::Modelled(&packet, Direction::Forward, &endpoints);
    writer.write(Time::from_picos(1), 0, frame, None).unwrap();
    let file = writer.finish().unwrap();
    let bytes = &blocks(&file)[2].1[20..1520];
    let datagram = carried(bytes, 17);
    assert_eq!(bytes[1], 46 << 2 | 1);
    // Ports 49152 and 9, and 1480 bytes.
    assert_eq!(datagram[..6], [0xc0, 0, 0, 9, 5, 0xc8]);
    assert!(datagram[8..].iter().all(|&byte| byte == 0));
}

prop_compose! {
    fn any_packet()(
        flow: u32, seq: u32, ack: u32, ts_val: u32, ts_ecr: u32, window: u16, flags in 1u8..,
        ecn in prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]),
        blocks in prop::collection::vec((any::<u32>(), any::<u32>()), 0..4),
        counters in prop::option::of((any::<bool>(), any::<[u32; 3]>(), 0usize..=3)),
        payload in prop_oneof![Just(0u16), 1u16..9000, Just(u16::MAX)],
        header in 0u16..130,
    ) -> Packet {
        let mut sack = SackBlocks::EMPTY;
        for (left, right) in blocks {
            sack.push(Sack { left: Seq(left), right: Seq(right) });
        }
        if let Some((order, fields, len)) = counters {
            let order = if order { CounterOrder::Ect1First } else { CounterOrder::Ect0First };
            sack.set_counters(&ByteCounters::new(order, fields, len));
        }
        Packet {
            seq: Seq(seq), ack: Seq(ack), ts_val, ts_ecr, window, flags: Flags(flags), ecn, sack, payload,
            ..Packet::empty(FlowId(flow), payload.saturating_add(header))
        }
    }
}

proptest! {
    #[test]
    fn every_packet_has_valid_headers(
        packet in any_packet(), now: u64, forward: bool, sack: bool, mss: u16, scale in 0u8..=14, code_point in 0u8..64,
    ) {
        let direction = if forward { Direction::Forward } else { Direction::Backward };
        let endpoints =
            Endpoints { mss, forward_window_scale: scale, backward_window_scale: scale, sack, code_point };
        let interface = Interface { name: "l".into(), rate: Some(Rate::from_bps(1)) };
        let mut writer = PcapWriter::new(Vec::new(), &[interface], Capture::Whole).unwrap();
        let frame = Frame::Modelled(&packet, direction, &endpoints);
        writer.write(Time::from_picos(now), 0, frame, None).unwrap();
        let file = writer.finish().unwrap();
        let body = blocks(&file)[2].1;
        let length = u32::from_le_bytes(body[12..16].try_into().unwrap()) as usize;
        let bytes = &body[20..20 + length];
        let (tcp, payload) = verified(bytes);
        prop_assert_eq!(payload, usize::from(packet.payload.min(u16::MAX - 120)));
        prop_assert_eq!(bytes[1], code_point << 2 | packet.ecn.bits());
        let flags = u16::from_be_bytes([tcp[12] & 1, tcp[13]]);
        prop_assert_eq!(flags, packet.flags.wire_bits());
        // The size is kept if TCP can express it.
        let header = packet.size.saturating_sub(packet.payload);
        let plain =
            packet.sack.is_empty() && packet.sack.counters().is_none() && !packet.flags.has(Flags::SYN);
        if plain && header % 4 == 0 && (40..=80).contains(&header) && packet.payload < 60_000 {
            prop_assert_eq!(length, usize::from(packet.size));
        }
        // Options are well-formed: walking them ends exactly at the end of the header.
        let mut at = 20;
        let mut counters = None;
        while at < tcp.len() {
            if [172, 174].contains(&tcp[at]) {
                counters = Some(tcp[at..at + usize::from(tcp[at + 1])].to_vec());
            }
            at += if tcp[at] == 1 { 1 } else { usize::from(tcp[at + 1]) };
        }
        prop_assert_eq!(at, tcp.len());
        // Byte counters of accurate ECN stand as they are, in whole fields of three bytes, where there is room.
        let written = packet.sack.counters().map(|counters| {
            let fields = counters.fields().iter().flat_map(|field| field.to_be_bytes()[1..].to_vec());
            [counters.order.kind(), counters.bytes() as u8].into_iter().chain(fields).collect::<Vec<_>>()
        });
        prop_assert!(counters.is_none() || counters == written);
        if !packet.flags.has(Flags::SYN) {
            prop_assert_eq!(counters, written);
        }
    }
}
