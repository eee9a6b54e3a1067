//! Large receive offload of FreeBSD
//! ([`sys/netinet/tcp_lro.c`](https://cgit.freebsd.org/src/tree/sys/netinet/tcp_lro.c?h=release/14.0.0)).

use crate::held::{Fate, Held};
use shoal_packet::{Flags, Packet};

/// Payload of the largest segment (`TCP_LRO_LENGTH_MAX`).
const MAX_PAYLOAD_BYTES: u32 = 65535 - 255;
/// Flags that a packet may have to be appended.
const ORDINARY: Flags = Flags(Flags::ACK.0 | Flags::PSH.0);

/// What becomes of `packet` and of the segment that is `held` of its flow. The segment keeps the codepoint of its first
/// packet.
pub(crate) fn fate(held: Option<&mut Held>, packet: &Packet, most_packets: u32) -> Fate {
    let is_ordinary = packet.flags.has(Flags::ACK) && packet.flags.0 & (Flags::SYN.0 | Flags::RST.0) == 0;
    if !is_ordinary || !packet.sack.is_empty() {
        return Fate::Passes;
    }
    let Some(held) = held else { return Fate::Begins };
    let segment = &held.segment;
    let follows = packet.flags.0 & !ORDINARY.0 == 0
        && held.end() == packet.seq
        && packet.ts_val.wrapping_sub(segment.ts_val).cast_signed() >= 0
        && u32::from(segment.payload) + u32::from(packet.payload) < MAX_PAYLOAD_BYTES
        && u16::try_from(held.size_with(packet)).is_ok()
        && held.packets < most_packets
        // A pure ACK is merged if it acknowledges more.
        && (packet.payload > 0 || packet.ack.0.wrapping_sub(segment.ack.0).cast_signed() > 0);
    if !follows {
        return Fate::Begins;
    }
    held.append(packet);
    let segment = &mut held.segment;
    segment.flags = segment.flags.with(packet.flags);
    segment.ack = packet.ack;
    segment.window = packet.window;
    segment.ts_val = packet.ts_val;
    segment.ts_ecr = packet.ts_ecr;
    Fate::Merged
}
