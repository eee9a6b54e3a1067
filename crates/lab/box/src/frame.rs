//! What a queue asks of an Ethernet frame, or of an IP packet without one, and the one thing that it writes there: CE.

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use shoal_packet::Ecn;
use shoal_trace::pcapng::LinkType;
use std::net::IpAddr;

/// Bytes of two addresses and a type.
const ETHERNET_BYTES: usize = 14;

/// A frame as a queue sees it. Only the outermost IP header counts: below a tunnel the queue belongs to the tunnel, and
/// whoever takes the packet out of it carries CE over to the inner header ([RFC 6040, section
/// 4.2](https://www.rfc-editor.org/rfc/rfc6040#section-4.2)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The codepoint; that of a frame without an IP header is `NotEct`, since nothing can be marked in it.
    pub ecn: Ecn,
    /// The size that queues count, in bytes: that of the IP packet, or of the payload of another frame.
    pub bytes: u16,
    /// What tells its flow from others.
    pub flow: FlowKey,
    /// What it carries.
    pub payload: Payload,
    /// Bytes from the beginning of the frame on, of which all this is read: up to what TCP or UDP carries, else all.
    pub read_bytes: usize,
}

/// What a frame carries, and where the outermost IP header begins, in bytes from the beginning of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// An IPv4 packet.
    Ipv4(usize),
    /// An IPv6 packet.
    Ipv6(usize),
    /// Something else, by its type, such as 0x0806 for ARP. It waits in the queue as a packet without ECN.
    Other(u16),
}

/// Addresses, protocol and ports of the outermost IP header. Ports are 0 where there are none: in fragments, and behind
/// headers that are not read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FlowKey {
    /// Source and destination; none if the frame has no IP header.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// The protocol's number, as 6 for TCP.
    pub protocol: u8,
    /// Source and destination.
    pub ports: (u16, u16),
}

impl Frame {
    /// Reads a frame of Ethernet, or what begins with an IP header; `None` if it is too short to be one, or longer than
    /// packets are.
    pub fn read(link_type: LinkType, frame: &[u8]) -> Option<Self> {
        let (read, start) = match link_type {
            LinkType::Ethernet => {
                let read = LaxSlicedPacket::from_ethernet(frame).ok()?;
                let tags: usize = read.link_exts.iter().map(etherparse::LaxLinkExtSlice::header_len).sum();
                (read, ETHERNET_BYTES + tags)
            }
            LinkType::Raw => (LaxSlicedPacket::from_ip(frame).ok()?, 0),
        };
        let ports = match &read.transport {
            Some(TransportSlice::Tcp(tcp)) => (tcp.source_port(), tcp.destination_port()),
            Some(TransportSlice::Udp(udp)) => (udp.source_port(), udp.destination_port()),
            _ => (0, 0),
        };
        let transport = match &read.transport {
            Some(TransportSlice::Tcp(tcp)) => Some((tcp.slice(), tcp.header_len())),
            Some(TransportSlice::Udp(udp)) => Some((udp.slice(), udp.header_len())),
            _ => None,
        };
        let read_bytes = transport.map_or(frame.len(), |(slice, header)| {
            // The slice is a part of the frame.
            slice.as_ptr().addr() - frame.as_ptr().addr() + header
        });
        let flow = |addresses: (IpAddr, IpAddr), protocol: u8| FlowKey {
            addresses: Some(addresses),
            protocol,
            ports,
        };
        Some(match read.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                Self {
                    ecn: Ecn::from_bits(frame[start + 1]),
                    bytes: u16::try_from(header.slice().len()).ok()?.max(header.total_len()),
                    flow: flow(addresses, ip.payload_ip_number().0),
                    payload: Payload::Ipv4(start),
                    read_bytes,
                }
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                Self {
                    ecn: Ecn::from_bits(frame[start + 1] >> 4),
                    bytes: u16::try_from(header.slice().len()).ok()?.checked_add(header.payload_length())?,
                    flow: flow(addresses, ip.payload().ip_number.0),
                    payload: Payload::Ipv6(start),
                    read_bytes,
                }
            }
            _ => Self {
                ecn: Ecn::NotEct,
                bytes: u16::try_from(frame.len().saturating_sub(start)).ok()?,
                flow: FlowKey::default(),
                payload: Payload::Other(kind(frame, start)),
                read_bytes: frame.len(),
            },
        })
    }
}

/// Writes CE into the outermost IP header, and its sum of an IPv4 header
/// ([RFC 1624](https://www.rfc-editor.org/rfc/rfc1624)). Nothing else changes: no sum of TCP or UDP covers the
/// codepoint.
///
/// # Panics
/// If `payload` is not what [`Frame::read`] has read of this frame.
pub fn set_ce(frame: &mut [u8], payload: Payload) {
    match payload {
        Payload::Ipv4(at) => {
            let before = u16::from_be_bytes([frame[at], frame[at + 1]]);
            let after = before | u16::from(Ecn::Ce.bits());
            frame[at + 1] = after.to_be_bytes()[1];
            let sum = u16::from_be_bytes([frame[at + 10], frame[at + 11]]);
            frame[at + 10..at + 12].copy_from_slice(&updated(sum, before, after).to_be_bytes());
        }
        Payload::Ipv6(at) => frame[at + 1] |= Ecn::Ce.bits() << 4,
        Payload::Other(_) => {}
    }
}

/// A sum over 16-bit words in which one has changed: ~(~sum + ~before + after), equation 3 of RFC 1624.
const fn updated(sum: u16, before: u16, after: u16) -> u16 {
    let mut total = !sum as u32 + !before as u32 + after as u32;
    total = (total & 0xffff) + (total >> 16);
    total = (total & 0xffff) + (total >> 16);
    !(total as u16)
}

/// The type before the payload; 0 if the frame ends before.
fn kind(frame: &[u8], start: usize) -> u16 {
    let at = start.wrapping_sub(2);
    frame.get(at..start).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
}

#[cfg(test)]
mod tests;
