//! What waits in a queue.

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
    /// Adds a packet of `size` bytes.
    #[inline]
    pub fn put(&mut self, size: u16) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
    /// Removes a packet of `size` bytes.
    #[inline]
    pub fn take(&mut self, size: u16) {
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }
    /// The backlog without `part`.
    #[inline]
    #[must_use]
    pub const fn without(self, part: Self) -> Self {
        Self { packets: self.packets - part.packets, bytes: self.bytes - part.bytes }
    }
}
