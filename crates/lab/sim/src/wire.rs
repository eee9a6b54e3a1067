//! The packets in propagation on a link.

use crate::impaired::Impaired;
use crate::moving_delay::MovingDelay;
use shoal_packet::Packet;
use shoal_scenario::Link;
use shoal_units::{Span, Time};
use std::collections::VecDeque;

/// Packets in propagation, in the order of their delivery. `Packet::enqueued` is the time from which each still needs
/// `delay`.
#[derive(Default)]
pub(crate) struct Wire {
    packets: VecDeque<Packet>,
    /// Propagation delay; zero if it changes or varies, since `enqueued` is then the time of delivery.
    delay: Span,
    course: Option<Box<Course>>,
}

/// What else than a constant delay happens to packets.
enum Course {
    Moving { delay: MovingDelay, latest: Time },
    Impaired(Box<Impaired>),
}

impl Wire {
    pub(crate) fn new(link: &Link, seed: u64) -> Self {
        let course = match &link.impairments {
            Some(impairments) => Some(Course::Impaired(Box::new(Impaired::new(link, impairments, seed)))),
            None if link.schedule.delay.is_empty() => None,
            None => Some(Course::Moving { delay: MovingDelay::new(link), latest: Time::ZERO }),
        };
        let delay = if course.is_some() { Span::ZERO } else { link.delay };
        Self { packets: VecDeque::new(), delay, course: course.map(Box::new) }
    }

    /// The last bit of the packet leaves the transmitter at `left`. Times must not decrease from one call to the next.
    #[inline]
    pub(crate) fn put(&mut self, mut packet: Packet, left: Time) {
        if self.course.is_some() {
            return self.put_on_course(packet, left);
        }
        packet.enqueued = left;
        self.packets.push_back(packet);
    }

    #[cold]
    fn put_on_course(&mut self, mut packet: Packet, left: Time) {
        match self.course.as_deref_mut() {
            Some(Course::Impaired(impaired)) => impaired.put(packet, left),
            Some(Course::Moving { delay, latest }) => {
                // No packet overtakes another.
                *latest = left.saturating_add(delay.at(left)).max(*latest);
                packet.enqueued = *latest;
                self.packets.push_back(packet);
            }
            None => {}
        }
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
        self.packets.len() + self.impaired().map_or(0, Impaired::len)
    }

    /// The impairments of the link, if it has any.
    pub(crate) fn impaired(&self) -> Option<&Impaired> {
        match self.course.as_deref() {
            Some(Course::Impaired(impaired)) => Some(impaired),
            _ => None,
        }
    }

    pub(crate) fn impaired_mut(&mut self) -> Option<&mut Impaired> {
        match self.course.as_deref_mut() {
            Some(Course::Impaired(impaired)) => Some(impaired),
            _ => None,
        }
    }

    /// Carries out what the impairments do until `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        if let Some(Course::Impaired(impaired)) = self.course.as_deref_mut() {
            impaired.advance(now, &mut self.packets);
        }
    }
}
