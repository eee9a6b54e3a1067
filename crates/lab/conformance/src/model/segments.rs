//! Converts between packets of the models and segments of scripts.

use crate::syntax::ast::{Segment, TcpFlags, TcpOption, Tos};
use shoal_packet::{Ecn, Flags, FlowId, Packet, Sack, Seq};
use shoal_tcp::EndpointConfig;

/// Converts a segment that arrives. `echo` is the model's timestamp for the one in the script.
pub(super) fn arriving(
    segment: &Segment,
    tos: Tos,
    config: &EndpointConfig,
    peer_scale: u8,
    timestamp: u32,
    echo: u32,
) -> Packet {
    let mut packet = Packet::empty(FlowId(0), config.header_bytes.saturating_add(segment.payload));
    packet.seq = Seq(segment.seq);
    packet.ack = Seq(segment.ack);
    packet.flags = Flags((segment.flags.bits & 0xff) as u8);
    packet.payload = segment.payload;
    // The window of a SYN is never scaled ([RFC 7323, section
    // 2.2](https://www.rfc-editor.org/rfc/rfc7323#section-2.2)).
    let scale = if segment.flags.has(2) { 0 } else { peer_scale };
    let bytes = u32::from(segment.window.unwrap_or(0)) << scale;
    packet.window =
        (bytes >> if segment.flags.has(2) { 0 } else { config.window_scale() }).min(0xffff) as u16;
    packet.ts_val = timestamp;
    packet.ts_ecr = echo;
    packet.ecn = match tos {
        Tos::Unsaid | Tos::Ecn(0) => Ecn::NotEct,
        Tos::Ecn(1) => Ecn::Ect1,
        Tos::Ecn(3) => Ecn::Ce,
        Tos::AnyEct | Tos::Ecn(_) => Ecn::Ect0,
        Tos::Byte(byte) => [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(byte & 3)],
    };
    for option in segment.options.iter().flatten() {
        if let TcpOption::Sack(blocks) = option {
            for (left, right) in blocks {
                // A packet of the models has three blocks; a fourth fits only into segments without
                // timestamps.
                packet.sack.push(Sack { left: Seq(*left), right: Seq(*right) });
            }
        }
    }
    packet
}

/// Converts a packet that left.
pub(super) fn leaving(packet: &Packet) -> (u8, Segment) {
    let blocks: Vec<(u32, u32)> =
        packet.sack.as_slice().iter().map(|block| (block.left.0, block.right.0)).collect();
    let segment = Segment {
        flags: TcpFlags { bits: u16::from(packet.flags.0), ace: None },
        seq: packet.seq.0,
        payload: packet.payload,
        ack: packet.ack.0,
        window: None,
        urgent: 0,
        options: Some(if blocks.is_empty() { Vec::new() } else { vec![TcpOption::Sack(blocks)] }),
    };
    (packet.ecn.bits(), segment)
}
