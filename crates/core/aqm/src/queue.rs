//! The interface of every queue.

use crate::Tunnels;
use shoal_packet::{Backlog, Class, Packet, Reason};
use shoal_units::{Stream, Time};

/// The fate of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Verdict {
    /// The packet waits.
    Queued {
        /// Reason for which it was marked on arrival, if it was.
        mark: Option<Reason>,
    },
    /// The packet was dropped.
    Dropped(Reason),
    /// It was put in unmarked, and packets that waited, perhaps itself, were dropped to make room: ask
    /// [`Queue::take_displaced`] until it has no more.
    Displaced,
}

/// The result of asking a queue for a packet. The value is short-lived and copied once into the ring of the
/// link, so the packet is stored inline.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Dequeued {
    /// Nothing waits.
    Empty,
    /// The next packet to transmit.
    Packet {
        /// The packet; its `enqueued` says when it arrived.
        packet: Packet,
        /// Reason for which it was marked on departure, if it was.
        mark: Option<Reason>,
        /// Whether it carried a mark before: then a mark on departure changes nothing.
        was_marked: bool,
    },
    /// A packet was dropped on departure; ask again.
    Dropped {
        /// The packet.
        packet: Packet,
        /// Reason for the drop.
        reason: Reason,
    },
    /// Packets wait, but none may leave now: the queue limits their rate. Ask again at `until`, or after an arrival.
    Held {
        /// Earliest time at which one of those that wait may leave; later than now.
        until: Time,
    },
}

/// A queue with its marking and dropping law.
///
/// The caller guarantees that `now` never decreases over calls, and that `dequeue` is called when transmission of a
/// packet may start (the transmitter is idle), in particular right after an `enqueue` into an idle port.
pub trait Queue {
    /// A packet arrives. The queue keeps a copy of it, whose `enqueued` it sets, and if it marks, `ecn`.
    fn enqueue(&mut self, packet: &Packet, now: Time, random: &mut Stream) -> Verdict;
    /// The transmitter is free.
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued;
    /// Size in bytes of the packet that [`Queue::dequeue`] would take out at `now`, to be sent or dropped; `None` if
    /// there is none.
    fn next_bytes(&mut self, now: Time) -> Option<u16>;
    /// The next packet that was dropped because another one arrived, and the reason; see
    /// [`Verdict::Displaced`].
    fn take_displaced(&mut self) -> Option<(Packet, Reason)> {
        None
    }
    /// The present backlog.
    fn backlog(&self) -> Backlog;
    /// The present backlog of one class, also of queues that do not keep classes apart.
    fn class_backlog(&self, class: Class) -> Backlog;
    /// Time at which [`Queue::on_timer`] is to be called; [`Time::NEVER`] if the queue has no timer.
    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    /// Called when the timer expires: periodic control laws.
    fn on_timer(&mut self, now: Time) {
        let _ = now;
    }
    /// The probability that controls the law now, 0..=1, if there is a single one; the law's documentation
    /// says of what. For output.
    fn probability(&self) -> Option<f64> {
        None
    }
    /// The averaged queue in bytes, if the law keeps one. For output.
    fn average_bytes(&self) -> Option<f64> {
        None
    }
    /// Which flows it cannot tell apart; before the first packet, for queues that keep flows apart.
    fn set_tunnels(&mut self, tunnels: &Tunnels) {
        let _ = tunnels;
    }
    /// Packets that queue protection has sent to the classic queue so far, dropped there or not. For output.
    fn redirected(&self) -> u64 {
        0
    }
    /// Takes the parameters of a law from a queue that was just made, as `tc qdisc change` does: what waits stays, and
    /// so does what the law has learnt. Returns whether the law can; else nothing changes. The capacity stays.
    fn retune(&mut self, newer: &Self) -> bool
    where
        Self: Sized,
    {
        let _ = newer;
        false
    }
}
