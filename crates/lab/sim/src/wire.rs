//! The packets in propagation on a link.

use shoal_packet::Packet;
use shoal_scenario::{DelayChange, Link};
use shoal_units::{Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Packets in propagation, in the order of their delivery. `Packet::enqueued` is the time from which each still needs
/// `delay`.
pub(crate) struct Wire {
    packets: VecDeque<Packet>,
    /// Propagation delay; zero if it changes, since `enqueued` is then the time of delivery.
    delay: Span,
    moving: Option<Box<MovingDelay>>,
}

/// A propagation delay that changes.
struct MovingDelay {
    delay: Span,
    changes: Arc<[DelayChange]>,
    /// Position in `changes` of the next change.
    next: usize,
    /// Delivery of the last packet: no packet overtakes another.
    latest: Time,
}

impl Wire {
    pub(crate) fn new(link: &Link) -> Self {
        let moving = (!link.schedule.delay.is_empty()).then(|| {
            Box::new(MovingDelay {
                delay: link.delay,
                changes: link.schedule.delay.clone(),
                next: 0,
                latest: Time::ZERO,
            })
        });
        let delay = if moving.is_some() { Span::ZERO } else { link.delay };
        Self { packets: VecDeque::new(), delay, moving }
    }

    /// The last bit of the packet leaves the transmitter at `left`. Times must not decrease from one call to the next.
    #[inline]
    pub(crate) fn put(&mut self, mut packet: Packet, left: Time) {
        packet.enqueued = match &mut self.moving {
            None => left,
            Some(moving) => moving.delivery(left),
        };
        self.packets.push_back(packet);
    }

    /// The packet that reaches the other end by `now`, if there is one.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time) -> Option<Packet> {
        if self.next_delivery()? > now {
            return None;
        }
        let packet = self.packets.pop_front();
        if self.packets.is_empty() {
            // Returns to the start of its memory, as queues do.
            self.packets.clear();
        }
        packet
    }

    /// Time of the next delivery.
    #[inline]
    pub(crate) fn next_delivery(&self) -> Option<Time> {
        Some(self.packets.front()?.enqueued + self.delay)
    }

    /// Number of packets in propagation.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}

impl MovingDelay {
    #[cold]
    fn delivery(&mut self, left: Time) -> Time {
        while let Some(change) = self.changes.get(self.next).filter(|change| change.at <= left) {
            self.delay = change.delay;
            self.next += 1;
        }
        self.latest = self.latest.max(left + self.delay);
        self.latest
    }
}
