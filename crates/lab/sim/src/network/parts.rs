//! The network as one of several parts.

use super::{Arrival, Network, TO_CARD};
use crate::events::Key;
use crate::parts::{Crossings, Division, Message};
use crate::port::ALONE;
use shoal_packet::Packet;
use shoal_units::Time;
use std::sync::Arc;

impl Network {
    /// Makes the network the part `part` of a division.
    pub(crate) fn become_part(&mut self, division: &Arc<Division>, part: u32) {
        for crossing in &division.crossings {
            self.ports[crossing.link as usize].near_mut().is_special = true;
        }
        self.crossings = Some(Box::new(Crossings::new(Arc::clone(division), part)));
    }

    /// What another part must be told, if there is anything.
    pub(crate) fn take_message(&mut self, part: usize) -> Option<Message> {
        self.crossings.as_mut()?.take_message(part)
    }

    /// Swaps the state of some links with that of another part of the network.
    pub(crate) fn swap(&mut self, other: &mut Self, is_of_part: impl Fn(u32) -> bool) {
        for link in (0..self.links).filter(|link| is_of_part(*link)) {
            std::mem::swap(&mut self.ports[link as usize], &mut other.ports[link as usize]);
        }
        for (one, other) in self.host_queues.iter_mut().zip(&mut other.host_queues) {
            if is_of_part(one.first) {
                std::mem::swap(one, other);
            }
        }
        self.pools.swap(&mut other.pools, &is_of_part);
        let monitored = &self.monitored;
        self.recorder
            .collector
            .swap_links(&mut other.recorder.collector, |number| is_of_part(monitored[number as usize]));
    }

    /// Position of a link among those between parts.
    #[inline]
    pub(super) fn crossing(&self, link: u32) -> Option<u32> {
        self.crossings.as_ref()?.division.crossing(link)
    }

    /// The next entry of a route, unless that is a host.
    fn hop(routes: &[u32], place: u32) -> Option<u32> {
        Some(routes[place as usize]).filter(|hop| *hop < TO_CARD)
    }

    /// Adds what the other parts need to hear of, and the new events that this brings.
    pub(crate) fn hear(&mut self, messages: &mut [Message]) {
        let Some(crossings) = &mut self.crossings else { return };
        for message in messages {
            crossings.hear(message, |time, link| self.event_queue.push(Key::link(time, link)));
        }
    }

    /// A packet has come to the queue of a link between parts: as [`Self::expect`].
    pub(super) fn expect_at_crossing(&mut self, link: u32, crossing: u32) {
        self.expect(link);
        if let Some(crossings) = &mut self.crossings {
            crossings.touch(crossing);
        }
    }

    /// The event of a link between parts. A packet that leaves the link goes on from here, or the part that it reaches
    /// does the same at this event.
    pub(super) fn step_crossing(
        &mut self,
        link: u32,
        crossing: u32,
        now: Time,
        arrived: &mut Packet,
    ) -> Option<Arrival> {
        let crossings = self.crossings.as_mut()?;
        if !crossings.is_own(crossing) {
            let (packet, next) = crossings.arrive(crossing);
            self.event_queue.replace_next(next.map(|time| Key::link(time, link)));
            // The event counts where the packet leaves its queue.
            self.uncounted += 1;
            *arrived = packet?;
            return self.forward(arrived, now);
        }
        let port = &mut self.ports[link as usize];
        port.catch_up(now, &mut self.recorder);
        let has_arrived = port.deliver(now, arrived);
        if port.far.member != ALONE {
            self.pools.settle(port.far.member, port);
        }
        let next = port.next_event();
        port.near_mut().pending = next.is_some();
        self.event_queue.replace_next(next.map(|time| Key::link(time, link)));
        crossings.touch(crossing);
        if !has_arrived {
            return None;
        }
        let hop = Self::hop(&self.routes, arrived.route);
        // On one thread the packet is sent on without an event.
        self.uncounted += u64::from(hop.is_some_and(|hop| self.ports[hop as usize].near().is_chained));
        let stays = crossings.leave(crossing, hop);
        if stays { self.forward(arrived, now) } else { None }
    }

    /// Tells the other parts what has been sent to them before `end`. Returns the time of the next transmission on a
    /// link to them that will need no event of this part.
    pub(crate) fn tell(&mut self, end: Time) -> Time {
        let Some(mut crossings) = self.crossings.take() else { return Time::NEVER };
        let division = Arc::clone(&crossings.division);
        let link_of = |crossing: u32| division.crossings[crossing as usize].link;
        // At `end` itself a packet may still arrive.
        let before = Time::from_picos(end.as_picos().saturating_sub(1));
        let busy = crossings.take_busy();
        let mut next = Time::NEVER;
        for crossing in &busy {
            let link = link_of(*crossing);
            self.catch_up(link, before);
            let port = &self.ports[link as usize];
            next = next.min(port.next_departure());
            crossings.tell(*crossing, port.in_propagation(), |place| Self::hop(&self.routes, place));
        }
        crossings
            .keep(busy, |crossing| self.ports[link_of(crossing) as usize].next_departure() < Time::NEVER);
        self.crossings = Some(crossings);
        next
    }
}
