//! Generic receive offload of Linux: `dev_gro_receive` in
//! [`net/core/gro.c`](https://elixir.bootlin.com/linux/v6.12/source/net/core/gro.c) and `tcp_gro_receive` in
//! [`net/ipv4/tcp_offload.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_offload.c).

use crate::held::{Fate, Held};
use shoal_packet::{Flags, FlowId, Packet};

/// Bytes of the largest segment (`gro_max_size`).
const MAX_BYTES: u32 = 65536;
/// Segments that are held of the flows of one bucket (`MAX_GRO_SKBS`), and buckets (`GRO_HASH_BUCKETS`).
pub(crate) const BUCKET_SEGMENTS: u32 = 8;
const BUCKETS: u32 = 8;
/// Flags that may differ: they end the segment.
const ENDING: Flags = Flags(Flags::FIN.0 | Flags::PSH.0);
/// Microseconds of a tick of the timestamps on the wire, which count milliseconds.
const TICK_US: u32 = 1000;

/// Bucket of a flow; the kernel takes the card's hash of the addresses and ports.
pub(crate) const fn bucket(flow: FlowId) -> u32 {
    flow.0 % BUCKETS
}

/// What becomes of `packet` and of the segment that is `held` of its flow.
pub(crate) fn fate(held: Option<&mut Held>, packet: &Packet, most_packets: u32) -> Fate {
    // Datagrams, which have no acknowledgement, are not merged.
    let is_tcp = packet.flags.has(Flags::ACK);
    let ends = packet.flags.0 & (ENDING.0 | Flags::SYN.0 | Flags::RST.0) != 0;
    let Some(held) = held else {
        return if packet.payload == 0 || ends || !is_tcp { Fate::Passes } else { Fate::Begins };
    };
    if packet.payload == 0 || !is_tcp || packet.flags.has(Flags::SYN) || packet.flags.has(Flags::RST) {
        return Fate::Passes;
    }
    if !agrees(held, packet) || packet.payload > held.first_payload || held.packets >= most_packets {
        return if ends { Fate::Passes } else { Fate::Begins };
    }
    if held.size_with(packet) >= MAX_BYTES {
        return if ends { Fate::Passes } else { Fate::Begins };
    }
    held.append(packet);
    held.segment.flags = held.segment.flags.with(packet.flags);
    if ends || packet.payload < held.first_payload { Fate::Completes } else { Fate::Merged }
}

/// Whether all that has to be equal is: the codepoint, the sequence, the acknowledgement, the flags but FIN and PSH,
/// and the options.
fn agrees(held: &Held, packet: &Packet) -> bool {
    let segment = &held.segment;
    segment.ecn == packet.ecn
        && held.end() == packet.seq
        && segment.ack == packet.ack
        && (segment.flags.0 ^ packet.flags.0) & !ENDING.0 == 0
        && segment.sack == packet.sack
        && segment.ts_val / TICK_US == packet.ts_val / TICK_US
        && segment.ts_ecr / TICK_US == packet.ts_ecr / TICK_US
}
