//! What waits in a queue.

use crate::Packet;
use core::ops::Add;

/// The packets that wait in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u32,
    /// Waiting bytes.
    pub bytes: u64,
}

impl Add for Backlog {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self { packets: self.packets.saturating_add(other.packets), bytes: self.bytes + other.bytes }
    }
}

impl Backlog {
    /// Adds a packet.
    #[inline]
    pub fn put(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }
    /// Removes a packet.
    #[inline]
    pub fn take(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
    }
    /// The backlog without `part`.
    #[inline]
    #[must_use]
    pub const fn without(self, part: Self) -> Self {
        Self { packets: self.packets - part.packets, bytes: self.bytes - part.bytes }
    }
}
