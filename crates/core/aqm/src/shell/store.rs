//! The base of every queue: a first-in-first-out ring with counters and a limit.

use crate::{Backlog, Class, Extent};
use core::ops::Deref;
use shoal_packet::{Ecn, Packet, Ring};
use shoal_units::{Rate, Time};

/// An [`Extent`] on the instantaneous queue in whole packets and bytes; an unlimited part is the type's
/// maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    packets: u32,
    bytes: u64,
}

impl Bound {
    /// Queueing time becomes the bytes that `line_rate` transmits in it, rounded down, which is exact: a backlog is a
    /// whole number of bytes.
    pub fn new(extent: Extent, line_rate: Rate) -> Self {
        let (packets, bytes) = match extent {
            Extent::Unlimited => (u32::MAX, u64::MAX),
            Extent::Packets(packets) => (packets, u64::MAX),
            Extent::Bytes(bytes) => (u32::MAX, bytes),
            Extent::Time(span) => {
                let bits_picos = u128::from(line_rate.as_bps()) * u128::from(span.as_picos());
                (u32::MAX, u64::try_from(bits_picos / 8_000_000_000_000).unwrap_or(u64::MAX))
            }
        };
        Self { packets, bytes }
    }

    /// Most packets, if they are bounded.
    pub fn packets(self) -> Option<u64> {
        (self.packets != u32::MAX).then_some(self.packets.into())
    }

    /// Most bytes, if they are bounded.
    pub fn bytes(self) -> Option<u64> {
        (self.bytes != u64::MAX).then_some(self.bytes)
    }

    /// The bound with a limit in bytes in addition.
    pub(crate) fn and_bytes(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.min(bytes), ..self }
    }

    /// Whether `backlog` exceeds the bound.
    #[inline]
    pub const fn is_exceeded_by(self, backlog: Backlog) -> bool {
        backlog.packets > self.packets || backlog.bytes > self.bytes
    }
}

/// Counts of the packets that wait: all that a law learns of them on arrival.
#[derive(Clone, Debug)]
pub struct Waiting {
    all: Backlog,
    ect: Backlog,
    /// Size of the cells of the packet memory; 1 where bytes are counted.
    cell_bytes: u32,
    /// Bytes of the last cell of each packet that it leaves empty, in total.
    padding_bytes: u64,
}

impl Waiting {
    const NONE: Self = Self {
        all: Backlog { packets: 0, bytes: 0 },
        ect: Backlog { packets: 0, bytes: 0 },
        cell_bytes: 1,
        padding_bytes: 0,
    };

    /// The present backlog.
    #[inline]
    pub const fn backlog(&self) -> Backlog {
        self.all
    }

    /// The backlog including `packet`.
    #[inline]
    pub fn backlog_with(&self, packet: &Packet) -> Backlog {
        let Backlog { packets, bytes } = self.all;
        Backlog { packets: packets.saturating_add(1), bytes: bytes + u64::from(packet.size) }
    }

    /// The present backlog of one class.
    #[inline]
    pub fn class_backlog(&self, class: Class) -> Backlog {
        match class {
            Class::Ect => self.ect,
            Class::NotEct => self.all.without(self.ect),
        }
    }

    /// Bytes of the cells that the waiting packets occupy: a packet takes whole ones.
    #[inline]
    pub(crate) const fn occupied_bytes(&self) -> u64 {
        self.all.bytes + self.padding_bytes
    }

    /// Bytes of its last cell that a packet of `size` bytes leaves empty.
    #[inline]
    fn padding_of(&self, size: u16) -> u64 {
        let size = u32::from(size);
        if self.cell_bytes > 1 { u64::from(size.next_multiple_of(self.cell_bytes) - size) } else { 0 }
    }

    /// A packet of `size` bytes comes.
    #[inline]
    pub(super) fn put(&mut self, size: u16, is_ect: bool) {
        self.padding_bytes += self.padding_of(size);
        self.all.put(size);
        if is_ect {
            self.ect.put(size);
        }
    }

    /// A packet of `size` bytes goes.
    #[inline]
    pub(super) fn take(&mut self, size: u16, is_ect: bool) {
        self.padding_bytes -= self.padding_of(size);
        self.all.take(size);
        if is_ect {
            self.ect.take(size);
        }
    }
}

/// Waiting packets in order of arrival. Its memory grows to the largest queue seen and stays.
#[derive(Clone, Debug)]
pub struct Store {
    ring: Ring<Packet>,
    waiting: Waiting,
    limit: Bound,
}

impl Store {
    pub(crate) fn new(limit: Extent, line_rate: Rate) -> Self {
        Self { ring: Ring::new(), waiting: Waiting::NONE, limit: Bound::new(limit, line_rate) }
    }

    /// The empty store in a packet memory of cells of `cell_bytes`, at least 1. The limit still counts bytes.
    pub(crate) fn in_cells(self, cell_bytes: u32) -> Self {
        Self { waiting: Waiting { cell_bytes, ..self.waiting }, ..self }
    }

    /// Its limit.
    pub(super) const fn limit(&self) -> Bound {
        self.limit
    }

    /// Appends a copy of `packet`, with a mark if it `is_marked`; the caller has checked whether it fits, and whether
    /// it is ECN-capable.
    #[inline]
    pub(crate) fn push(&mut self, packet: &Packet, now: Time, is_marked: bool) {
        self.waiting.put(packet.size, packet.ecn.is_capable());
        // Written in its place: see `Packet`.
        let slot = self.ring.push_back(packet);
        slot.enqueued = now;
        if is_marked {
            slot.ecn = Ecn::Ce;
        }
    }

    /// Time at which the oldest packet arrived.
    #[inline]
    pub fn head(&self) -> Option<Time> {
        self.ring.front().map(|packet| packet.enqueued)
    }

    /// Size of the oldest packet in bytes.
    #[inline]
    pub(crate) fn next_bytes(&self) -> Option<u16> {
        self.ring.front().map(|packet| packet.size)
    }

    /// Takes the oldest packet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let packet = *self.ring.pop_front()?;
        self.waiting.take(packet.size, packet.ecn.is_capable());
        Some(packet)
    }
}

impl Deref for Store {
    type Target = Waiting;
    #[inline]
    fn deref(&self) -> &Waiting {
        &self.waiting
    }
}

/// Sets Congestion Experienced if the packet is ECN-capable
/// ([RFC 3168, section 5](https://www.rfc-editor.org/rfc/rfc3168#section-5)); returns whether it carries the
/// mark.
#[inline]
pub(crate) fn mark(packet: &mut Packet) -> bool {
    let capable = packet.ecn.is_capable();
    if capable {
        packet.ecn = Ecn::Ce;
    }
    capable
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_units::Span;

    #[test]
    fn a_time_is_the_bytes_that_the_line_sends_in_it() {
        // 10 Mbit/s x 1.2 ms / 8 = 1500 B.
        let bound = Bound::new(Extent::Time(Span::from_micros(1200)), Rate::from_bps(10_000_000));
        assert!(!bound.is_exceeded_by(Backlog { packets: 9, bytes: 1500 }));
        assert!(bound.is_exceeded_by(Backlog { packets: 1, bytes: 1501 }));
        // One picosecond less no longer covers byte 1500.
        let bound = Bound::new(Extent::Time(Span::from_picos(1_199_999_999)), Rate::from_bps(10_000_000));
        assert!(bound.is_exceeded_by(Backlog { packets: 1, bytes: 1500 }));
    }

    #[test]
    fn an_endless_time_is_not_a_bound() {
        let bound = Bound::new(Extent::Time(Span::MAX), Rate::from_bps(u64::MAX));
        assert!(!bound.is_exceeded_by(Backlog { packets: u32::MAX, bytes: u64::MAX }));
    }
}
