//! A segment that is held for more packets, and what becomes of those.

use shoal_packet::{Packet, Seq};

/// A segment that may still grow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub segment: Packet,
    /// Packets in it.
    pub packets: u32,
    /// Payload of its first packet in bytes.
    pub first_payload: u16,
}

impl Held {
    /// A segment of one packet.
    pub(crate) fn of(packet: Packet) -> Self {
        Self { segment: packet, packets: 1, first_payload: packet.payload }
    }
    /// Sequence number behind its payload.
    pub(crate) fn end(&self) -> Seq {
        Seq(self.segment.seq.0.wrapping_add(u32::from(self.segment.payload)))
    }
    /// Adds the payload of a packet that follows.
    pub(crate) fn append(&mut self, packet: &Packet) {
        self.segment.payload += packet.payload;
        self.segment.size += packet.payload;
        self.packets += 1;
    }
    /// Bytes of the segment with `packet` appended.
    pub(crate) fn size_with(&self, packet: &Packet) -> u32 {
        u32::from(self.segment.size) + u32::from(packet.payload)
    }
}

/// What becomes of a packet and of the segment that is held of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// The packet is part of the segment now.
    Merged,
    /// The packet is part of the segment now, which is complete.
    Completes,
    /// The segment is complete; the packet begins a new one.
    Begins,
    /// The segment is complete, and the packet is a segment of its own.
    Passes,
}
