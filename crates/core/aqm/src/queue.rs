//! The interface of every queue.

use core::ops::Add;
use shoal_packet::{Class, Packet, Reason};
use shoal_units::{Stream, Time};

/// What waits in a queue.
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
    /// One packet more.
    #[inline]
    pub(crate) fn put(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }
    /// One packet less.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
    }
    /// What is left without `part`.
    #[inline]
    pub(crate) const fn without(self, part: Self) -> Self {
        Self { packets: self.packets - part.packets, bytes: self.bytes - part.bytes }
    }
}

/// What became of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Verdict {
    /// It waits; `mark` says why it was marked, if it was.
    Queued {
        /// Why it was marked on arrival.
        mark: Option<Reason>,
    },
    /// It is gone.
    Dropped(Reason),
    /// It was put in unmarked, and packets that waited, perhaps itself, were dropped to make room: ask
    /// [`Queue::take_displaced`] until it has no more.
    Displaced,
}

/// What came out of a queue. The value is short-lived and copied once into the wire's ring, so the packet is inline.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Dequeued {
    /// Nothing waits.
    Empty,
    /// The next packet to transmit.
    Packet {
        /// The packet; its `enqueued` says when it arrived.
        packet: Packet,
        /// Why it was marked on departure, if it was.
        mark: Option<Reason>,
    },
    /// A packet was dropped on departure; ask again.
    Dropped {
        /// The packet.
        packet: Packet,
        /// Why.
        reason: Reason,
    },
}

/// A queue with its marking and dropping law.
///
/// The caller guarantees that `now` never decreases over calls, and that `dequeue` is called when transmission of a
/// packet may start (the transmitter is idle), in particular right after an `enqueue` into an idle port.
pub trait Queue {
    /// A packet arrives. Sets `packet.enqueued` and, if it marks, `packet.ecn`.
    fn enqueue(&mut self, packet: Packet, now: Time, random: &mut Stream) -> Verdict;
    /// The transmitter is free.
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued;
    /// The next packet that was dropped when another one arrived, and why; see [`Verdict::Displaced`].
    fn take_displaced(&mut self) -> Option<(Packet, Reason)> {
        None
    }
    /// What waits now.
    fn backlog(&self) -> Backlog;
    /// What waits of one class; queues that do not keep classes apart count them all the same.
    fn class_backlog(&self, class: Class) -> Backlog;
    /// When the queue wants [`Queue::on_timer`] to be called; [`Time::NEVER`] if it has no timer.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// Its timer has come: periodic control laws.
    fn on_timer(&mut self, now: Time) {
        let _ = now;
    }
    /// The probability that controls the law now, 0..=1, if there is a single one; its docs say of what. For output.
    fn probability(&self) -> Option<f64> {
        None
    }
    /// The averaged queue in bytes, if the law keeps one. For output.
    fn average_bytes(&self) -> Option<f64> {
        None
    }
}
