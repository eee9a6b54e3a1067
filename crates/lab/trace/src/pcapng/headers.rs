//! IPv4 headers of simulated packets, and those of TCP or UDP.

use etherparse::{
    IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, TcpHeader, TcpHeaderSlice, TransportHeader,
    UdpHeader, UdpHeaderSlice,
};
use shoal_packet::{ByteCounters, Flags, FlowId, Packet, Sack, Seq};
use shoal_units::Time;

/// Direction of a packet on its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the host that opened the connection to the other one.
    Forward,
    /// To the host that opened the connection.
    Backward,
}

/// What headers of a flow show and simulated packets do not carry: the announcements of its handshake, and its
/// code point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Endpoints {
    /// Maximum segment size in the option of both hosts, before TCP options are deducted ([RFC 9293, section
    /// 3.7.1](https://www.rfc-editor.org/rfc/rfc9293#section-3.7.1)).
    pub mss: u16,
    /// Window scale that the opening host announces for its own windows ([RFC 7323, section
    /// 2](https://www.rfc-editor.org/rfc/rfc7323#section-2)).
    pub forward_window_scale: u8,
    /// Window scale that the other host announces.
    pub backward_window_scale: u8,
    /// Whether both hosts permit SACK ([RFC 2018](https://www.rfc-editor.org/rfc/rfc2018)).
    pub sack: bool,
    /// DiffServ code point of all packets of both hosts, below 64 ([RFC 2474, section
    /// 3](https://www.rfc-editor.org/rfc/rfc2474#section-3)). ACKs have it, too, as they do where `IP_TOS` is set
    /// on the sockets of both ends.
    pub code_point: u8,
}

/// Headers with valid checksums, and the length of the payload, which is zeros.
pub(super) struct Headers {
    pub ip: Ipv4Header,
    pub transport: TransportHeader,
    pub payload: u16,
}

/// Port of the discard protocol ([RFC 863](https://www.rfc-editor.org/rfc/rfc863)): receivers throw the data
/// away, and no dissector interprets it.
const SERVER_PORT: u16 = 9;
const CLIENT_PORT_BASE: u16 = 49_152;
const TIME_TO_LIVE: u8 = 64;
/// Bytes of IP and TCP headers with the timestamp option; a packet with fewer has no timestamps.
const HEADER_BYTES_WITH_TIMESTAMPS: u16 = 20 + 20 + 12;
const MAX_OPTION_BYTES: usize = 40;
/// Longest headers: an IPv4 header and a TCP header with as many options as their length fields can express.
pub(super) const MAX_BYTES: u32 = 60 + 60;

static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

impl Headers {
    /// The headers of a packet at time `now`.
    ///
    /// A capture's length fields must agree with its headers, so the IP length is that of headers and payload. It
    /// equals [`Packet::size`] wherever the size leaves room for the options that the packet carries; a larger size is
    /// filled with no-operation options up to the 40 bytes that TCP allows.
    pub(super) fn of(packet: &Packet, now: Time, direction: Direction, endpoints: &Endpoints) -> Self {
        let payload_bytes = packet.payload.min(u16::MAX - 120);
        // Every segment has a flag, that of SYN or of ACK, and what has none is traffic without a connection.
        let mut transport = if packet.flags == Flags(0) {
            let (_, _, source_port, destination_port) = addresses(packet.flow, direction);
            let length = UdpHeader::LEN_U16 + payload_bytes;
            TransportHeader::Udp(UdpHeader { source_port, destination_port, length, checksum: 0 })
        } else {
            TransportHeader::Tcp(Self::tcp(packet, now, direction, endpoints))
        };
        let (source, destination, ..) = addresses(packet.flow, direction);
        let protocol =
            if matches!(transport, TransportHeader::Udp(_)) { IpNumber::UDP } else { IpNumber::TCP };
        let header_bytes = transport.header_len() as u16;
        let mut ip =
            Ipv4Header::new(header_bytes + payload_bytes, TIME_TO_LIVE, protocol, source, destination)
                .expect("the length was limited");
        // Packets are never fragmented, so the identification is arbitrary ([RFC 6864, section
        // 4.1](https://www.rfc-editor.org/rfc/rfc6864#section-4.1)).
        ip.dont_fragment = true;
        ip.dscp = IpDscp::try_new(endpoints.code_point).expect("a code point has six bits");
        ip.ecn = IpEcn::try_new(packet.ecn.bits()).expect("a codepoint has two bits");
        ip.header_checksum = ip.calc_header_checksum();
        transport
            .update_checksum_ipv4(&ip, &ZEROS[..usize::from(payload_bytes)])
            .expect("the length was limited");
        Self { ip, transport, payload: payload_bytes }
    }

    fn tcp(packet: &Packet, now: Time, direction: Direction, endpoints: &Endpoints) -> TcpHeader {
        let (_, _, source_port, destination_port) = addresses(packet.flow, direction);
        let own_base = initial_sequence(packet.flow, direction);
        let other_base = initial_sequence(packet.flow, direction.reversed());

        let has = |flag| packet.flags.has(flag);
        let acknowledged = if has(Flags::ACK) { packet.ack.0.wrapping_add(other_base) } else { 0 };
        let mut tcp =
            TcpHeader::new(source_port, destination_port, packet.seq.0.wrapping_add(own_base), packet.window);
        tcp.acknowledgment_number = acknowledged;
        tcp.fin = has(Flags::FIN);
        tcp.syn = has(Flags::SYN);
        tcp.rst = has(Flags::RST);
        tcp.psh = has(Flags::PSH);
        tcp.ack = has(Flags::ACK);
        tcp.ece = has(Flags::ECE);
        tcp.cwr = has(Flags::CWR);
        // The bit of the withdrawn nonce sum is that of accurate ECN ([RFC 9768, section
        // 3.1](https://www.rfc-editor.org/rfc/rfc9768#section-3.1)).
        tcp.ns = has(Flags::AE);
        let options = Options::of(packet, now, direction, endpoints, other_base);
        tcp.set_options_raw(options.as_slice()).expect("options are at most 40 bytes");

        tcp
    }
}

/// Number of bytes at the start of a packet that are IP and TCP or UDP headers; all of them if the headers
/// cannot be read.
pub(super) fn length(packet: &[u8]) -> usize {
    let Ok((ip, rest)) = Ipv4HeaderSlice::from_slice(packet).map(|ip| (ip, &packet[ip.slice().len()..]))
    else {
        return packet.len();
    };
    let transport = match ip.protocol() {
        IpNumber::TCP => TcpHeaderSlice::from_slice(rest).map(|tcp| tcp.slice().len()).ok(),
        IpNumber::UDP => UdpHeaderSlice::from_slice(rest).map(|udp| udp.slice().len()).ok(),
        _ => None,
    };
    transport.map_or(packet.len(), |bytes| ip.slice().len() + bytes)
}

impl Direction {
    const fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }
}

/// Addresses and ports of a flow. Each flow has its own pair of hosts: 10.0.0.0/9 opens connections to
/// 10.128.0.0/9.
fn addresses(flow: FlowId, direction: Direction) -> ([u8; 4], [u8; 4], u16, u16) {
    // Two of the 2^23 host numbers cannot be used for hosts; further flows use the next port.
    const HOSTS: u32 = (1 << 23) - 2;
    let host = flow.0 % HOSTS + 1;
    let client = (0x0A00_0000 | host).to_be_bytes();
    let server = (0x0A80_0000 | host).to_be_bytes();
    let client_port = CLIENT_PORT_BASE + (flow.0 / HOSTS) as u16;
    match direction {
        Direction::Forward => (client, server, client_port, SERVER_PORT),
        Direction::Backward => (server, client, SERVER_PORT, client_port),
    }
}

/// Initial sequence number, different for each flow and direction, so that a mix-up is visible in a capture.
fn initial_sequence(flow: FlowId, direction: Direction) -> u32 {
    // Multiplication by an odd constant (2^32 / golden ratio) spreads consecutive numbers.
    flow.0.wrapping_mul(2).wrapping_add(direction as u32 + 1).wrapping_mul(0x9E37_79B9)
}

/// TCP options in the order in which Linux writes them (`tcp_options_write`).
struct Options {
    bytes: [u8; MAX_OPTION_BYTES],
    length: usize,
}

impl Options {
    fn of(packet: &Packet, now: Time, direction: Direction, endpoints: &Endpoints, other_base: u32) -> Self {
        let mut options = Self { bytes: [0; MAX_OPTION_BYTES], length: 0 };
        let header_bytes = packet.size.saturating_sub(packet.payload);
        let timestamps = header_bytes >= HEADER_BYTES_WITH_TIMESTAMPS;
        if packet.flags.has(Flags::SYN) {
            options.push(&[2, 4]);
            options.push(&endpoints.mss.to_be_bytes());
            if endpoints.sack {
                options.push(&[4, 2]);
            }
            // Both options together are aligned; either one alone needs padding.
            if endpoints.sack != timestamps {
                options.push(&[NO_OPERATION; 2]);
            }
        } else if timestamps {
            options.push(&[NO_OPERATION; 2]);
        }
        if timestamps {
            options.push(&[8, 10]);
            options.push(&wire_timestamp(packet.ts_val, now).to_be_bytes());
            options.push(&wire_timestamp(packet.ts_ecr, now).to_be_bytes());
        }
        options.push_counters(packet.sack.counters());
        if packet.flags.has(Flags::SYN) {
            let scale = match direction {
                Direction::Forward => endpoints.forward_window_scale,
                Direction::Backward => endpoints.backward_window_scale,
            };
            options.push(&[NO_OPERATION, 3, 3, scale]);
        }
        options.push_sack(packet.sack.as_slice(), other_base);
        let target = usize::from(header_bytes).saturating_sub(40).min(MAX_OPTION_BYTES);
        while options.length < target || !options.length.is_multiple_of(4) {
            options.push(&[NO_OPERATION]);
        }
        options
    }
    /// The option of accurate ECN, before that of SACK.
    fn push_counters(&mut self, counters: Option<ByteCounters>) {
        let Some(counters) = counters else { return };
        if self.length + usize::from(counters.bytes()) > MAX_OPTION_BYTES {
            return;
        }
        self.push(&[counters.order.kind(), counters.bytes() as u8]);
        for field in counters.fields() {
            self.push(&field.to_be_bytes()[1..]);
        }
        // A SACK option begins with padding that may end this one.
        while !self.length.is_multiple_of(4) {
            self.push(&[NO_OPERATION]);
        }
    }
    fn push_sack(&mut self, blocks: &[Sack], base: u32) {
        let room = (MAX_OPTION_BYTES - self.length).saturating_sub(4) / 8;
        let blocks = &blocks[..blocks.len().min(room)];
        if blocks.is_empty() {
            return;
        }
        self.push(&[NO_OPERATION, NO_OPERATION, 5, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            self.push(&block.left.0.wrapping_add(base).to_be_bytes());
            self.push(&block.right.0.wrapping_add(base).to_be_bytes());
        }
    }
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

const NO_OPERATION: u8 = 1;

/// Milliseconds, as Linux puts them on the wire, from the simulator's microseconds of 32 bits. These wrap
/// after 71 minutes, which is undone by means of the present time, since the sender's clock is close to it. A
/// value of 0 means that nothing is echoed, and stays 0.
fn wire_timestamp(microseconds: u32, now: Time) -> u32 {
    if microseconds == 0 { 0 } else { (Seq(microseconds).near(now.as_micros()) / 1000) as u32 }
}
