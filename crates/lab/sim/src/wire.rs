//! The packets in propagation on a link.

use crate::impaired::Impaired;
use crate::moving_delay::MovingDelay;
use shoal_packet::{Ecn, Packet, Ring};
use shoal_scenario::{DelayChange, Link};
use shoal_units::{Span, Time};
use std::sync::Arc;

/// Packets in propagation, in the order of their delivery. `Packet::enqueued` is the time from which each still needs
/// `delay`.
#[derive(Default)]
pub(crate) struct Wire {
    packets: Ring<Packet>,
    /// Propagation delay; zero if it changes or varies, since `enqueued` is then the time of delivery.
    delay: Span,
}

/// What else than a constant delay happens to packets.
pub(crate) enum Course {
    /// A delay that changes.
    Moving { delay: MovingDelay, latest: Time },
    /// Impairments.
    Impaired(Box<Impaired>),
}

impl Course {
    /// What happens to packets on `link`, if it is more than a constant delay.
    pub(crate) fn of(link: &Link, seed: u64) -> Option<Self> {
        match &link.impairments {
            Some(impairments) => Some(Self::Impaired(Box::new(Impaired::new(link, impairments, seed)))),
            None if link.schedule.delay.is_empty() => None,
            None => Some(Self::Moving { delay: MovingDelay::new(link), latest: Time::ZERO }),
        }
    }
}

impl Course {
    /// The delay changes as `changes` say, which differ from those before only later than for any packet so far.
    pub(crate) fn replan(&mut self, changes: Arc<[DelayChange]>) {
        match self {
            Self::Moving { delay, .. } => delay.replan(changes),
            Self::Impaired(impaired) => impaired.replan(changes),
        }
    }
}

impl Wire {
    /// A wire of constant delay.
    pub(crate) fn new(delay: Span) -> Self {
        Self { packets: Ring::new(), delay }
    }

    /// The last bit of the packet leaves the transmitter at `left`, with a mark if it `is_marked`, and its route goes
    /// on behind this link. Times must not decrease from one call to the next. Returns the packet on the wire.
    #[inline]
    pub(crate) fn put(&mut self, packet: &Packet, left: Time, is_marked: bool) -> &mut Packet {
        // Written in its place: see `Packet`.
        let slot = self.packets.push_back(packet);
        slot.enqueued = left;
        slot.route = packet.route + 1;
        if is_marked {
            slot.ecn = Ecn::Ce;
        }
        slot
    }

    /// Puts a packet on a wire with a course of its own; see [`Wire::put`].
    #[cold]
    #[inline(never)]
    pub(crate) fn put_on_course(&mut self, course: &mut Course, packet: &Packet, left: Time) {
        match course {
            Course::Impaired(impaired) => {
                impaired.put(Packet { enqueued: left, route: packet.route + 1, ..*packet });
            }
            Course::Moving { delay, latest } => {
                // No packet overtakes another.
                *latest = left.saturating_add(delay.at(left)).max(*latest);
                self.put(packet, *latest, false);
            }
        }
    }

    /// Time that each packet takes.
    pub(crate) const fn delay(&self) -> Span {
        self.delay
    }

    /// Copies the packet that reaches the other end by `now` to `arrived`; returns whether there is one.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Time, arrived: &mut Packet) -> bool {
        let delay = self.delay;
        let packet = self.packets.pop_front_if(|packet| packet.enqueued + delay <= now);
        packet.is_some_and(|packet| {
            *arrived = *packet;
            true
        })
    }

    /// Time of the next delivery.
    #[inline]
    pub(crate) fn next_delivery(&self) -> Option<Time> {
        Some(self.packets.front()?.enqueued + self.delay)
    }

    /// The packets in propagation, each with the time of its delivery as `enqueued`.
    pub(crate) fn in_propagation(&self) -> impl ExactSizeIterator<Item = Packet> {
        self.packets.iter().map(|packet| Packet { enqueued: packet.enqueued + self.delay, ..*packet })
    }

    /// Number of packets in propagation.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Carries out what the impairments do until `now`.
    pub(crate) fn advance(&mut self, impaired: &mut Impaired, now: Time) {
        impaired.advance(now, &mut self.packets);
    }
}
