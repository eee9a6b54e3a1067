//! The packets in propagation on a link.

use crate::impaired::Impaired;
use crate::moving_delay::MovingDelay;
use crate::{DelayChange, LinkConfig, Observer};
use alloc::boxed::Box;
use alloc::sync::Arc;
use shoal_packet::{Ecn, Packet, Ring};
use shoal_units::{Span, Time};

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
    Moving(Moving),
    /// Impairments.
    Impaired(Box<Impaired>),
}

/// A delay that changes, with which no packet overtakes another.
pub(crate) struct Moving {
    delay: MovingDelay,
    /// When the last packet is delivered.
    latest: Time,
    /// When its last bit leaves the transmitter, and when the packet before it is delivered.
    left: Time,
    before: Time,
}

impl Moving {
    fn new(delay: MovingDelay) -> Self {
        Self { delay, latest: Time::ZERO, left: Time::ZERO, before: Time::ZERO }
    }

    /// When a packet is delivered whose last bit leaves the transmitter at `left`.
    fn delivery(&mut self, left: Time) -> Time {
        (self.left, self.before) = (left, self.latest);
        self.latest = left.saturating_add(self.delay.at(left)).max(self.before);
        self.latest
    }
}

impl Course {
    /// What happens to packets on `link`, if it is more than a constant delay.
    pub(crate) fn of(link: &LinkConfig, seed: u64) -> Option<Self> {
        match &link.impairments {
            Some(impairments) => Some(Self::Impaired(Box::new(Impaired::new(link, impairments, seed)))),
            None if link.delay_changes.is_empty() => None,
            None => Some(Self::Moving(Moving::new(MovingDelay::new(link)))),
        }
    }
}

impl Course {
    /// The delay changes as `changes` say, which differ from those before only later than for any packet so far.
    pub(crate) fn replan(&mut self, changes: Arc<[DelayChange]>) {
        match self {
            Self::Moving(moving) => moving.delay.replan(changes),
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
            Course::Moving(moving) => {
                let delivery = moving.delivery(left);
                self.put(packet, delivery, false);
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
    pub(crate) fn advance(&mut self, impaired: &mut Impaired, now: Time, observer: &mut impl Observer) {
        impaired.advance(now, &mut self.packets, observer);
    }

    /// For packets that leave the transmitter at `at` or later the delay is `delay`, and never changes again. What
    /// happens before has been carried out, and nothing else. Returns the course that the wire has now, unless it is
    /// `course`.
    pub(crate) fn set_delay(&mut self, course: Option<&mut Course>, at: Time, delay: Span) -> Option<Course> {
        match course {
            Some(Course::Impaired(impaired)) => impaired.set_delay(at, delay),
            Some(Course::Moving(moving)) => {
                moving.delay.set(at, delay);
                // The transmission of the last packet may go on.
                if moving.left >= at
                    && let Some(last) = self.packets.len().checked_sub(1)
                {
                    moving.latest = moving.before;
                    self.packets[last].enqueued = moving.delivery(moving.left);
                }
            }
            None => {
                let mut moving = Moving::new(MovingDelay::constant(core::mem::take(&mut self.delay)));
                moving.delay.set(at, delay);
                for n in 0..self.packets.len() {
                    self.packets[n].enqueued = moving.delivery(self.packets[n].enqueued);
                }
                return Some(Course::Moving(moving));
            }
        }
        None
    }
}
