//! A scripted connection at two links, with everything that a capture can show.

use shoal_packet::{Ecn, Flags, FlowId, Packet, Reason, Sack, SackBlocks, Seq};
use shoal_trace::pcapng::{Capture, Direction, Endpoints, Frame, Interface, PacketNote, PcapWriter};
use shoal_units::{Rate, Span, Time};

/// One packet of the script.
pub(crate) struct Seen {
    pub now: Time,
    pub interface: u32,
    pub packet: Packet,
    pub direction: Direction,
    pub note: Option<PacketNote>,
}

pub(crate) const ENDPOINTS: Endpoints =
    Endpoints { mss: 1460, forward_window_scale: 7, backward_window_scale: 9, sack: true, code_point: 0 };

/// Payload of a full packet: 1500 B less 20 B IP, 20 B TCP and 12 B for the timestamp option.
const MSS: u16 = 1448;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn sack(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut sack = SackBlocks::EMPTY;
    for &(left, right) in blocks {
        assert!(sack.push(Sack { left: Seq(left), right: Seq(right) }));
    }
    sack
}

fn sent(us: u64, seq: u32, ecn: Ecn, flags: Flags, note: Option<PacketNote>) -> Seen {
    let packet = Packet {
        seq: Seq(seq),
        ack: Seq(1),
        ts_val: us as u32,
        ts_ecr: 25_000,
        payload: MSS,
        window: 512,
        flags: flags.with(Flags::ACK),
        ecn,
        ..Packet::empty(FlowId(3), 1500)
    };
    Seen { now: at(us), interface: 0, packet, direction: Direction::Forward, note }
}

fn acked(us: u64, ack: u32, flags: Flags, blocks: &[(u32, u32)]) -> Seen {
    let packet = Packet {
        seq: Seq(1),
        ack: Seq(ack),
        ts_val: us as u32,
        ts_ecr: us as u32 - 25_000,
        window: 64,
        flags: flags.with(Flags::ACK),
        sack: sack(blocks),
        ..Packet::empty(FlowId(3), 52)
    };
    Seen { now: at(us), interface: 1, packet, direction: Direction::Backward, note: None }
}

/// Handshake with ECN, data with marks and a drop, ECN-Echo, SACK with one and three blocks, CWR, FIN.
/// Sequence numbers: SYN is 0, data begins at 1.
pub(crate) fn script() -> Vec<Seen> {
    let syn = Packet {
        seq: Seq(0),
        ts_val: 0,
        window: 14_600,
        flags: Flags::SYN.with(Flags::ECE).with(Flags::CWR),
        ..Packet::empty(FlowId(3), 60)
    };
    let syn_ack = Packet {
        seq: Seq(0),
        ack: Seq(1),
        ts_val: 12_500,
        window: 14_480,
        flags: Flags::SYN.with(Flags::ACK).with(Flags::ECE),
        ..Packet::empty(FlowId(3), 60)
    };
    let data = |n: u32| 1 + n * u32::from(MSS);
    let none = Flags(0);
    vec![
        Seen { now: at(0), interface: 0, packet: syn, direction: Direction::Forward, note: None },
        Seen { now: at(12_500), interface: 1, packet: syn_ack, direction: Direction::Backward, note: None },
        sent(25_000, data(0), Ecn::Ect0, none, None),
        sent(26_200, data(1), Ecn::Ce, none, Some(PacketNote::Marked(Reason::Threshold))),
        sent(27_400, data(2), Ecn::NotEct, none, Some(PacketNote::Dropped(Reason::Buffer))),
        sent(28_600, data(3), Ecn::Ect1, none, None),
        acked(51_200, data(2), Flags::ECE, &[]),
        acked(53_600, data(2), Flags::ECE, &[(data(3), data(4))]),
        sent(76_300, data(2), Ecn::Ect0, Flags::CWR.with(Flags::PSH), None),
        acked(77_000, data(3), none, &[(data(9), data(10)), (data(7), data(8)), (data(5), data(6))]),
        sent(5_000_000_000, data(10), Ecn::Ect0, Flags::FIN, None),
    ]
}

/// The script as a pcapng file, without a code point.
pub(crate) fn file(capture: Capture) -> Vec<u8> {
    file_of(capture, &ENDPOINTS)
}

/// The script as a pcapng file, between these hosts.
pub(crate) fn file_of(capture: Capture, endpoints: &Endpoints) -> Vec<u8> {
    let interface = |name: &str| Interface { name: name.into(), rate: Some(Rate::from_bps(10_000_000)) };
    let mut writer =
        PcapWriter::new(Vec::new(), &[interface("uplink"), interface("downlink")], capture).unwrap();
    for seen in script() {
        let frame = Frame::Modelled(&seen.packet, seen.direction, endpoints);
        writer.write(seen.now, seen.interface, frame, seen.note).unwrap();
    }
    writer.finish().unwrap()
}
