//! Packets as bytes: IPv4 ([RFC 791](https://www.rfc-editor.org/rfc/rfc791)), TCP
//! ([RFC 9293](https://www.rfc-editor.org/rfc/rfc9293)), ICMP errors
//! ([RFC 792](https://www.rfc-editor.org/rfc/rfc792)), and the options of both sides.

use crate::syntax::ast::{Body, Icmp, Packet, Segment, TcpFlags, TcpOption, Tos};

/// Address of the side under test in the guest, and of its peer: those of `ksft_runner.sh`.
pub(crate) const LOCAL: [u8; 4] = [192, 168, 0, 1];
pub(crate) const REMOTE: [u8; 4] = [192, 0, 2, 1];

pub(super) const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;

/// Values that only the guest knows and fills in, each at a byte offset of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Patch {
    /// Adds the initial sequence number of the side under test.
    LocalIsn(usize),
    /// The timestamp that the kernel sent where the script has this one.
    Echo(usize, u32),
    /// The port of the side under test, and its peer's port.
    LocalPort(usize),
    RemotePort(usize),
}

/// Encodes a packet that arrives: its bytes without checksums, and the values that the guest fills in.
pub(super) fn encode(packet: &Packet, local_isn: u32, remote_isn: u32) -> (Vec<u8>, Vec<Patch>) {
    let tos = match packet.tos {
        Tos::Unsaid => 0,
        Tos::Ecn(bits) | Tos::Byte(bits) => bits,
        Tos::AnyEct => 2,
    };
    match &packet.body {
        Body::Tcp(segment) => encode_segment(segment, tos, local_isn, remote_isn),
        Body::Icmp(icmp) => encode_icmp(icmp, tos),
    }
}

fn encode_segment(segment: &Segment, tos: u8, local_isn: u32, remote_isn: u32) -> (Vec<u8>, Vec<Patch>) {
    let options: Vec<u8> = segment.options.iter().flatten().flat_map(encode_option).collect();
    let header = TCP_HEADER + options.len();
    let size = IP_HEADER + header + usize::from(segment.payload);
    let mut bytes = ip_header(REMOTE, LOCAL, tos, 6, size);
    let mut patches = vec![Patch::RemotePort(IP_HEADER), Patch::LocalPort(IP_HEADER + 2)];
    bytes.extend_from_slice(&[0; 4]);
    // Sequence numbers of a script are absolute in SYNs and relative to the initial sequence numbers
    // elsewhere.
    let is_syn = segment.flags.has(2);
    bytes.extend_from_slice(&segment.seq.wrapping_add(if is_syn { 0 } else { remote_isn }).to_be_bytes());
    let has_ack = segment.flags.has(16);
    let base = if is_syn { local_isn } else { 0 };
    bytes.extend_from_slice(&segment.ack.wrapping_sub(if has_ack { base } else { 0 }).to_be_bytes());
    if has_ack {
        patches.push(Patch::LocalIsn(IP_HEADER + 8));
    }
    let offset_and_flags = (header as u16 / 4) << 12 | segment.flags.bits;
    bytes.extend_from_slice(&offset_and_flags.to_be_bytes());
    bytes.extend_from_slice(&segment.window.unwrap_or(0).to_be_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&segment.urgent.to_be_bytes());
    let mut at = bytes.len();
    for option in segment.options.iter().flatten() {
        match option {
            TcpOption::Sack(blocks) => {
                patches.extend((0..2 * blocks.len()).map(|n| Patch::LocalIsn(at + 2 + 4 * n)));
            }
            TcpOption::Timestamp(_, echo) if has_ack => patches.push(Patch::Echo(at + 6, *echo)),
            _ => {}
        }
        at += encode_option(option).len();
    }
    bytes.extend_from_slice(&options);
    bytes.resize(size, 0);
    (bytes, patches)
}

fn encode_icmp(icmp: &Icmp, tos: u8) -> (Vec<u8>, Vec<Patch>) {
    let (seq, payload) = icmp.about;
    // The error repeats the IP header and eight bytes of what it is about (RFC 792).
    let mut bytes = ip_header(REMOTE, LOCAL, tos, 1, IP_HEADER + 8 + IP_HEADER + 8);
    bytes.extend_from_slice(&[icmp.kind, icmp.code, 0, 0, 0, 0]);
    bytes.extend_from_slice(&icmp.mtu.to_be_bytes());
    let at = bytes.len();
    bytes.extend_from_slice(&ip_header(LOCAL, REMOTE, 0, 6, IP_HEADER + TCP_HEADER + usize::from(payload)));
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&seq.to_be_bytes());
    let tcp = at + IP_HEADER;
    (bytes, vec![Patch::LocalPort(tcp), Patch::RemotePort(tcp + 2), Patch::LocalIsn(tcp + 4)])
}

fn ip_header(from: [u8; 4], to: [u8; 4], tos: u8, protocol: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0x45, tos];
    bytes.extend_from_slice(&(size as u16).to_be_bytes());
    bytes.extend_from_slice(&[0, 0, 0, 0, 255, protocol, 0, 0]);
    bytes.extend_from_slice(&from);
    bytes.extend_from_slice(&to);
    bytes
}

/// Encodes an option.
pub(crate) fn encode_option(option: &TcpOption) -> Vec<u8> {
    let sized = |kind: u8, value: &[u8]| {
        let mut bytes = vec![kind, value.len() as u8 + 2];
        bytes.extend_from_slice(value);
        bytes
    };
    match option {
        TcpOption::End => vec![0],
        TcpOption::Nop => vec![1],
        TcpOption::Mss(mss) => sized(2, &mss.to_be_bytes()),
        TcpOption::WindowScale(shift) => sized(3, &[*shift]),
        TcpOption::SackPermitted => sized(4, &[]),
        TcpOption::Sack(blocks) => {
            let edges = blocks.iter().flat_map(|(left, right)| [*left, *right]);
            sized(5, &edges.flat_map(u32::to_be_bytes).collect::<Vec<_>>())
        }
        TcpOption::Timestamp(value, echo) => sized(8, &[value.to_be_bytes(), echo.to_be_bytes()].concat()),
        TcpOption::Md5(digest) => sized(19, digest),
        TcpOption::FastOpen(cookie) => sized(34, cookie),
        // RFC 6994 (https://www.rfc-editor.org/rfc/rfc6994) with the identifier 0xf989.
        TcpOption::FastOpenExperimental(cookie) => sized(254, &[&[0xf9, 0x89], cookie.as_slice()].concat()),
        TcpOption::AccurateEcn(counters) => {
            // RFC 9768 section 3.2.3 (https://www.rfc-editor.org/rfc/rfc9768#section-3.2.3): the order of the
            // counters is the kind of the option.
            let kind = if counters.first().is_some_and(|(which, _)| *which == 0) { 172 } else { 174 };
            sized(kind, &counters.iter().flat_map(|(_, n)| n.to_be_bytes()[1..].to_vec()).collect::<Vec<_>>())
        }
        TcpOption::Other(kind, value) => sized(*kind, value),
    }
}

/// Decodes a packet that left: its type of service and its segment, with the sequence numbers of the wire.
pub(super) fn decode(bytes: &[u8]) -> Option<(u8, Segment)> {
    let word = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let long = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.first()? >> 4 != 4 || *bytes.get(9)? != 6 {
        return None;
    }
    let tcp = usize::from(bytes.first()? & 15) * 4;
    let offset_and_flags = word(tcp + 12)?;
    let header = usize::from(offset_and_flags >> 12) * 4;
    let segment = Segment {
        flags: TcpFlags { bits: offset_and_flags & 0x1ff, ace: None },
        seq: long(tcp + 4)?,
        payload: usize::from(word(2)?).checked_sub(tcp + header)? as u16,
        ack: long(tcp + 8)?,
        window: Some(word(tcp + 14)?),
        urgent: word(tcp + 18)?,
        options: Some(decode_options(bytes.get(tcp + TCP_HEADER..tcp + header)?)?),
    };
    Some((*bytes.get(1)?, segment))
}

fn decode_options(mut bytes: &[u8]) -> Option<Vec<TcpOption>> {
    let mut found = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        if kind <= 1 {
            found.push(if kind == 0 { TcpOption::End } else { TcpOption::Nop });
            bytes = rest;
            continue;
        }
        let size = usize::from(*rest.first()?);
        let value = bytes.get(2..size)?;
        found.push(decode_option(kind, value));
        bytes = &bytes[size..];
    }
    Some(found)
}

fn decode_option(kind: u8, value: &[u8]) -> TcpOption {
    let longs: Vec<u32> =
        value.chunks_exact(4).map(|c| u32::from_be_bytes(c.try_into().unwrap_or_default())).collect();
    let order: &[u8] = if kind == 172 { &[0, 3, 1] } else { &[1, 3, 0] };
    match (kind, value) {
        (2, [high, low]) => TcpOption::Mss(u16::from_be_bytes([*high, *low])),
        (3, [shift]) => TcpOption::WindowScale(*shift),
        (4, []) => TcpOption::SackPermitted,
        (5, _) => TcpOption::Sack(longs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()),
        (8, _) if longs.len() == 2 => TcpOption::Timestamp(longs[0], longs[1]),
        (19, _) => TcpOption::Md5(value.to_vec()),
        (34, _) => TcpOption::FastOpen(value.to_vec()),
        (254, [0xf9, 0x89, cookie @ ..]) => TcpOption::FastOpenExperimental(cookie.to_vec()),
        (172 | 174, _) if value.len().is_multiple_of(3) && value.len() <= 9 => {
            let counters = value.chunks_exact(3).map(|c| u32::from_be_bytes([0, c[0], c[1], c[2]]));
            TcpOption::AccurateEcn(order.iter().copied().zip(counters).collect())
        }
        _ => TcpOption::Other(kind, value.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::Action;
    use crate::syntax::parse;

    fn segment(line: &str) -> Packet {
        let script = parse(line, &|_| None).expect(line);
        match script.events.into_iter().next().expect("an event").action {
            Action::Arrives(packet) | Action::Leaves(packet) => packet,
            other => panic!("{other:?}"),
        }
    }

    /// Bytes of a SYN with options as tcpdump shows them, computed by hand after RFC 9293.
    #[test]
    fn a_syn_in_bytes() {
        let packet = segment("0 < [ect0] SEW 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>");
        let (bytes, patches) = encode(&packet, 0, 0);
        assert_eq!(bytes.len(), 52);
        assert_eq!(&bytes[..4], [0x45, 2, 0, 52]);
        assert_eq!(&bytes[20 + 12..20 + 16], [0x80, 0xc2, 0x80, 0x18]);
        assert_eq!(&bytes[40..], [2, 4, 3, 0xe8, 4, 2, 1, 1, 1, 3, 3, 7]);
        assert_eq!(patches, [Patch::RemotePort(20), Patch::LocalPort(22)]);
    }

    #[test]
    fn numbers_of_the_kernel_are_patched() {
        let packet = segment("0 < . 1:1(0) ack 1001 win 9 <nop,nop,TS val 7 ecr 100,sack 2001:3001,nop,nop>");
        let (bytes, patches) = encode(&packet, 0, 0);
        assert_eq!(
            patches[2..],
            [Patch::LocalIsn(28), Patch::Echo(48, 100), Patch::LocalIsn(54), Patch::LocalIsn(58)]
        );
        assert_eq!(&bytes[54..62], [0, 0, 7, 0xd1, 0, 0, 0xb, 0xb9]);
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for line in [
            "0 < EWA. 1:1001(1000) ack 5 win 7 <ECN e1b 1 ceb 2 e0b 3,nop>",
            "0 < [ce] F. 1:1(0) ack 5 win 7 urg 3 <ECN e0b 1 ceb 2,FO abcd,nop,nop,nop,nop>",
            "0 < S 5:5(0) win 7 <FOEXP 3021b9d8,md5 000102030405060708090a0b0c0d0e0f,nop,eol>",
        ] {
            let packet = segment(line);
            let (bytes, _) = encode(&packet, 0, 0);
            let Body::Tcp(wanted) = &packet.body else { panic!("TCP") };
            assert_eq!(decode(&bytes).expect("a segment").1, *wanted, "{line}");
        }
        assert_eq!(decode(&[0x45, 0, 0, 1]), None);
        assert_eq!(decode(&[]), None);
    }
}
