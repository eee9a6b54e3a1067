use super::*;
use etherparse::{Ipv4Header, PacketBuilder, PacketBuilderStep, UdpHeader};
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

use LinkType::{Ethernet, Raw};

const SOURCE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const DESTINATION: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);

fn framed(frame: &[u8]) -> Option<Frame> {
    Frame::read(Ethernet, frame)
}

fn written(builder: PacketBuilderStep<UdpHeader>, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    builder.write(&mut frame, payload).unwrap();
    frame
}

/// A UDP packet of IPv4 with a codepoint, without or with tags of virtual networks.
fn ipv4(ecn: u8, tags: usize, payload: &[u8]) -> Vec<u8> {
    let link = PacketBuilder::ethernet2([2; 6], [4; 6]);
    let builder = match tags {
        0 => link.ipv4(SOURCE.octets(), DESTINATION.octets(), 64),
        1 => link.single_vlan(7.try_into().unwrap()).ipv4(SOURCE.octets(), DESTINATION.octets(), 64),
        _ => link.double_vlan(7.try_into().unwrap(), 9.try_into().unwrap()).ipv4(
            SOURCE.octets(),
            DESTINATION.octets(),
            64,
        ),
    };
    let mut frame = written(builder.udp(1000, 2000), payload);
    let at = ETHERNET_BYTES + 4 * tags;
    frame[at + 1] |= ecn;
    let header = Ipv4Header::from_slice(&frame[at..]).unwrap().0;
    frame[at + 10..at + 12].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
    frame
}

fn ipv6(ecn: u8, payload: &[u8]) -> Vec<u8> {
    let (from, to) = (Ipv6Addr::LOCALHOST.octets(), Ipv6Addr::UNSPECIFIED.octets());
    let link = PacketBuilder::ethernet2([2; 6], [4; 6]);
    let mut frame = written(link.ipv6(from, to, 64).udp(1000, 2000), payload);
    frame[ETHERNET_BYTES + 1] |= ecn << 4;
    frame
}

fn sum_is_right(frame: &[u8], at: usize) -> bool {
    let header = Ipv4Header::from_slice(&frame[at..]).unwrap().0;
    header.calc_header_checksum() == header.header_checksum
}

#[test]
fn a_packet_has_its_codepoint_size_and_flow() {
    for (bits, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect1), (2, Ecn::Ect0), (3, Ecn::Ce)] {
        for tags in 0..3 {
            let read = framed(&ipv4(bits, tags, &[0; 100])).unwrap();
            assert_eq!((read.ecn, read.bytes), (ecn, 128));
            assert_eq!(read.payload, Payload::Ipv4(14 + 4 * tags));
            let addresses = Some((SOURCE.into(), DESTINATION.into()));
            assert_eq!(read.flow, FlowKey { addresses, protocol: 17, ports: (1000, 2000) });
        }
        let read = framed(&ipv6(bits, &[0; 100])).unwrap();
        assert_eq!((read.ecn, read.bytes, read.payload), (ecn, 148, Payload::Ipv6(14)));
        assert_eq!((read.flow.protocol, read.flow.ports), (17, (1000, 2000)));
    }
}

/// Short frames of Ethernet are filled up to 60 bytes, which are no part of the packet.
#[test]
fn padding_is_no_part_of_a_packet() {
    let mut frame = ipv4(2, 0, &[1]);
    frame.resize(60, 0);
    assert_eq!(framed(&frame).unwrap().bytes, 29);
}

#[test]
fn what_is_no_ip_waits_without_ecn() {
    let mut frame = vec![0xff; 6];
    frame.extend([2; 6]);
    frame.extend([0x88, 0xcc, 1, 2, 3]); // A frame of LLDP.
    let read = framed(&frame).unwrap();
    assert_eq!((read.ecn, read.bytes, read.payload), (Ecn::NotEct, 3, Payload::Other(0x88cc)));
    let before = frame.clone();
    set_ce(&mut frame, read.payload);
    assert_eq!(frame, before);
    assert_eq!(framed(&frame[..13]), None);
}

/// A fragment that is not the first has no ports, and what stands in their place is no port.
#[test]
fn a_fragment_has_no_ports() {
    let mut frame = ipv4(2, 0, &[0; 100]);
    frame[ETHERNET_BYTES + 7] = 10;
    assert_eq!(framed(&frame).unwrap().flow.ports, (0, 0));
}

/// In a tunnel (here IPv6 in IPv4) the outer header is marked, and the inner one keeps its codepoint.
#[test]
fn a_tunnel_is_marked_outside() {
    let inner = &ipv6(1, &[0; 20])[ETHERNET_BYTES..];
    let mut frame = ipv4(1, 0, inner);
    frame[ETHERNET_BYTES + 9] = 41;
    let header = Ipv4Header::from_slice(&frame[ETHERNET_BYTES..]).unwrap().0;
    frame[ETHERNET_BYTES + 10..ETHERNET_BYTES + 12]
        .copy_from_slice(&header.calc_header_checksum().to_be_bytes());
    let read = framed(&frame).unwrap();
    let before = frame.clone();
    set_ce(&mut frame, read.payload);
    assert_eq!(framed(&frame).unwrap().ecn, Ecn::Ce);
    assert_eq!(frame[34..], before[34..]);
    assert!(sum_is_right(&frame, ETHERNET_BYTES));
}

proptest! {
    /// A packet without a frame says the same as within one, is marked the same, and is kept as far in a record.
    #[test]
    fn a_packet_needs_no_frame(ecn in 0u8..4, payload in prop::collection::vec(any::<u8>(), 0..60)) {
        for mut frame in [ipv4(ecn, 0, &payload), ipv6(ecn, &payload)] {
            let (within, mut packet) = (framed(&frame).unwrap(), frame.split_off(ETHERNET_BYTES));
            let alone = Frame::read(Raw, &packet).unwrap();
            let payload = match within.payload {
                Payload::Ipv4(_) => Payload::Ipv4(0),
                _ => Payload::Ipv6(0),
            };
            prop_assert_eq!(alone, Frame { payload, read_bytes: within.read_bytes - ETHERNET_BYTES, ..within });
            frame.extend_from_slice(&packet);
            set_ce(&mut frame, within.payload);
            set_ce(&mut packet, alone.payload);
            prop_assert_eq!(&packet, &frame[ETHERNET_BYTES..]);
        }
    }

    /// Two bits and, of IPv4, the sum: nothing else changes, and the sum is that of the new header.
    #[test]
    fn ce_is_all_that_is_written(
        ecn in 1u8..4, tags in 0usize..3, payload in prop::collection::vec(any::<u8>(), 0..60)
    ) {
        for before in [ipv4(ecn, tags, &payload), ipv6(ecn, &payload)] {
            let mut after = before.clone();
            let read = framed(&before).unwrap();
            set_ce(&mut after, read.payload);
            prop_assert_eq!(framed(&after).unwrap(), Frame { ecn: Ecn::Ce, ..read });
            let (Payload::Ipv4(at) | Payload::Ipv6(at)) = read.payload else { panic!("{read:?}") };
            let mut expected = before.clone();
            if let Payload::Ipv4(_) = read.payload {
                expected[at + 1] |= 3;
                prop_assert!(sum_is_right(&after, at));
                expected[at + 10..at + 12].copy_from_slice(&after[at + 10..at + 12]);
            } else {
                expected[at + 1] |= 0x30;
            }
            prop_assert_eq!(after, expected);
        }
    }

    /// What is kept of a frame in a record says the same as the whole frame.
    #[test]
    fn what_is_read_is_in_the_first_bytes(
        ecn in 0u8..4, tags in 0usize..3, payload in prop::collection::vec(any::<u8>(), 0..60)
    ) {
        for frame in [ipv4(ecn, tags, &payload), ipv6(ecn, &payload)] {
            let read = framed(&frame).unwrap();
            prop_assert_eq!(read.read_bytes, frame.len() - payload.len());
            prop_assert_eq!(framed(&frame[..read.read_bytes]), Some(read));
        }
    }

    /// Whatever bytes come, reading and marking end, and no byte beyond a header's is touched.
    #[test]
    fn no_bytes_are_too_strange(
        mut bytes in prop::collection::vec(any::<u8>(), 0..120), kind in 0usize..4, is_raw: bool
    ) {
        let link_type = if is_raw { Raw } else { Ethernet };
        if is_raw && let (Some(version), Some(kind)) = (bytes.first_mut(), [0x45, 0x4f, 0x60].get(kind)) {
            *version = *kind;
        } else if let (Some(place), Some(kind)) =
            (bytes.get_mut(12..14), [[8, 0], [0x86, 0xdd], [0x81, 0]].get(kind))
        {
            place.copy_from_slice(kind);
        }
        if let Some(read) = Frame::read(link_type, &bytes) {
            prop_assert_eq!(Frame::read(link_type, &bytes[..read.read_bytes]), Some(read));
            prop_assert!(!(is_raw && matches!(read.payload, Payload::Other(_))), "{:?}", read);
            let before = bytes.clone();
            set_ce(&mut bytes, read.payload);
            let changed: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != before[*at]).collect();
            let allowed = match read.payload {
                Payload::Ipv4(at) => vec![at + 1, at + 10, at + 11],
                Payload::Ipv6(at) => vec![at + 1],
                Payload::Other(_) => vec![],
            };
            prop_assert!(changed.iter().all(|at| allowed.contains(at)), "{changed:?} {read:?}");
        }
    }
}
