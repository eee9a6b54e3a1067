//! Converts between packets of the models and segments of scripts.

use crate::syntax::ast::{Segment, TcpFlags, TcpOption, Tos};
use shoal_packet::{ByteCounters, CounterOrder, Ecn, Flags, FlowId, Packet, Sack, SackBlocks, Seq};
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
    let mut counters = None;
    let mut packet = Packet::empty(FlowId(0), config.header_bytes.saturating_add(segment.payload));
    packet.seq = Seq(segment.seq);
    packet.ack = Seq(segment.ack);
    packet.flags = flags_of(segment.flags);
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
        Tos::Byte(byte) => Ecn::from_bits(byte),
    };
    for option in segment.options.iter().flatten() {
        match option {
            TcpOption::Sack(blocks) => {
                for (left, right) in blocks {
                    // A packet of the models has three blocks; a fourth fits only into segments without
                    // timestamps.
                    packet.sack.push(Sack { left: Seq(*left), right: Seq(*right) });
                }
            }
            TcpOption::AccurateEcn(fields) => counters = Some(counters_of(fields)),
            _ => {}
        }
    }
    if let Some(counters) = counters {
        packet.sack.set_counters(&counters);
    }
    packet
}

/// Whether a packet of the models has places for the SACK blocks and the counters of accurate ECN that a segment has.
pub(super) fn fits(segment: &Segment) -> bool {
    let mut sack = SackBlocks::EMPTY;
    let (mut blocks, mut counters) = (0, None);
    for option in segment.options.iter().flatten() {
        match option {
            TcpOption::Sack(all) => blocks = all.len(),
            TcpOption::AccurateEcn(fields) => counters = Some(counters_of(fields)),
            _ => {}
        }
    }
    for _ in 0..blocks {
        sack.push(Sack { left: Seq(0), right: Seq(1) });
    }
    counters.is_none_or(|counters| sack.set_counters(&counters))
}

/// Flags of a script whose bits are those of the wire; URG is refused before.
fn flags_of(flags: TcpFlags) -> Flags {
    let others = Flags((flags.bits & 0xff) as u8).without(Flags::AE);
    if flags.has(256) { others.with(Flags::AE) } else { others }
}

fn counters_of(fields: &[(u8, u32)]) -> ByteCounters {
    let order = match fields.first() {
        Some((0, _)) => CounterOrder::Ect0First,
        _ => CounterOrder::Ect1First,
    };
    let value = |n: usize| fields.get(n).map_or(0, |(_, value)| *value);
    ByteCounters::new(order, [value(0), value(1), value(2)], fields.len())
}

/// Converts a packet that left.
pub(super) fn leaving(packet: &Packet) -> (u8, Segment) {
    let blocks: Vec<(u32, u32)> =
        packet.sack.as_slice().iter().map(|block| (block.left.0, block.right.0)).collect();
    let mut options = Vec::new();
    if let Some(counters) = packet.sack.counters() {
        // Scripts name ECT(0), whose codepoint is 2, by 0.
        let name = |codepoint: Ecn| if codepoint == Ecn::Ect0 { 0 } else { codepoint.bits() };
        let fields = counters.counted().map(|(codepoint, value)| (name(codepoint), value));
        options.push(TcpOption::AccurateEcn(fields.collect()));
    }
    if !blocks.is_empty() {
        options.push(TcpOption::Sack(blocks));
    }
    let segment = Segment {
        flags: TcpFlags { bits: packet.flags.wire_bits(), ace: None },
        seq: packet.seq.0,
        payload: packet.payload,
        ack: packet.ack.0,
        window: None,
        urgent: 0,
        options: Some(options),
    };
    (packet.ecn.bits(), segment)
}
