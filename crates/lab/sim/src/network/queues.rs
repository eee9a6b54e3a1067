//! What enters and leaves the queue disciplines of hosts.

use super::{Arrival, Network, Rare};
use crate::events::Key;
use crate::host_queues::HostQueue;
use crate::port::of_host_queue;
use shoal_host::Quanta;
use shoal_packet::Packet;
use shoal_units::Time;
use shoal_units::cast::count_u32;

impl Network {
    /// Adds the queue discipline of a host in front of the link `first`, which is its card if `card` has it; returns
    /// what a route begins with that passes it.
    pub(crate) fn add_host_queue(&mut self, quanta: Quanta, first: u32, card: Option<u32>) -> u32 {
        self.host_queues.push(HostQueue::new(quanta, first, card));
        self.ports.push(of_host_queue());
        count_u32(self.ports.len() - 1)
    }

    /// What a host sends on this route until [`Self::end_segment`] is one segment, which may leave at `departure`.
    pub(crate) fn begin_segment(&mut self, route: u32, departure: Time) {
        if let Some(queue) = self.host_queue(self.routes[route as usize]) {
            self.host_queues[queue].departure = Some(departure);
        }
    }

    /// The segment is complete. Returns how many of its connection have left the host meanwhile.
    pub(crate) fn end_segment(&mut self, route: u32, now: Time) -> u32 {
        let Some(number) = self.host_queue(self.routes[route as usize]) else { return 1 };
        let queue = &mut self.host_queues[number];
        let flow = queue.forming.first().map(|packet| packet.flow);
        queue.hand_over(now);
        self.run_host_queue(number, now);
        let left = flow.map_or(0, |flow| self.host_queues[number].take_left(flow));
        self.expect_host_queue(number, now);
        left
    }

    /// Number of the host queue that has this place in the list of ports.
    fn host_queue(&self, place: u32) -> Option<usize> {
        place.checked_sub(self.links).map(|number| number as usize)
    }

    /// A packet of a host comes to its queue discipline.
    pub(super) fn enter_host_queue(&mut self, packet: &Packet, place: u32, now: Time) {
        let Some(number) = self.host_queue(place) else { return };
        let queue = &mut self.host_queues[number];
        queue.forming.push(Packet { route: packet.route + 1, ..*packet });
        if queue.departure.is_none() {
            queue.hand_over(now);
            self.run_host_queue(number, now);
            self.expect_host_queue(number, now);
        }
    }

    /// The event of a host queue: something is due, the card is free, or a sender is to learn what has left.
    pub(super) fn step_host_queue(&mut self, place: u32, now: Time, arrived: &mut Packet) -> Option<Arrival> {
        self.event_queue.replace_next(None);
        let number = self.host_queue(place)?;
        if self.host_queues[number].expected != now {
            return None;
        }
        self.host_queues[number].expected = Time::NEVER;
        self.run_host_queue(number, now);
        let left = self.host_queues[number].left.pop_front();
        self.expect_host_queue(number, now);
        *arrived = Packet::empty(left?, 0);
        Some(Arrival::Rare(Rare::Departure))
    }

    /// Sends what may leave now, as far as the card is free for it.
    fn run_host_queue(&mut self, number: usize, now: Time) {
        let mut leaving = std::mem::take(&mut self.leaving);
        while self.host_queues[number].next(now, &mut leaving) {
            for packet in leaving.drain(..) {
                self.enter_hop(&packet, self.routes[packet.route as usize], now);
            }
            if let Some(card) = self.host_queues[number].card {
                self.host_queues[number].card_free = self.ports[card as usize].idle_from();
            }
        }
        self.leaving = leaving;
    }

    /// Puts the next event of a host queue in the event queue, unless an earlier one is there.
    fn expect_host_queue(&mut self, number: usize, now: Time) {
        let queue = &mut self.host_queues[number];
        let next = queue.next_event(now);
        if next < queue.expected {
            queue.expected = next;
            self.event_queue.push(Key::link(next, self.links + count_u32(number)));
        }
    }
}
