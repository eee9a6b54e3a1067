//! Packets of many queues in one memory: a chain of places for each queue, and a chain of free places. It
//! grows to the largest backlog seen.

use alloc::vec::Vec;
use shoal_packet::Packet;
use shoal_units::cast::count_u32;

const NONE: u32 = u32::MAX;

/// The memory.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    places: Vec<Place>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    packet: Packet,
    next: u32,
}

/// A first-in-first-out chain of packets in the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    head: u32,
    tail: u32,
}

impl Chains {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), free: NONE }
    }

    /// Appends a packet to a chain.
    #[inline]
    pub(super) fn push(&mut self, chain: &mut Chain, packet: Packet) {
        let place = Place { packet, next: NONE };
        let index = self.free;
        let index = if index == NONE {
            self.places.push(place);
            count_u32(self.places.len() - 1)
        } else {
            self.free = self.places[index as usize].next;
            self.places[index as usize] = place;
            index
        };
        if chain.head == NONE {
            chain.head = index;
        } else {
            self.places[chain.tail as usize].next = index;
        }
        chain.tail = index;
    }

    /// Size in bytes of the oldest packet of a chain.
    #[inline]
    pub(super) fn next_bytes(&self, chain: Chain) -> Option<u16> {
        self.places.get(chain.head as usize).map(|place| place.packet.size)
    }

    /// Takes the oldest packet of a chain.
    #[inline]
    pub(super) fn pop(&mut self, chain: &mut Chain) -> Option<Packet> {
        if chain.head == NONE {
            return None;
        }
        let index = chain.head;
        let Place { packet, next } = self.places[index as usize];
        chain.head = next;
        self.places[index as usize].next = self.free;
        self.free = index;
        Some(packet)
    }
}

impl Chain {
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE };

    pub(super) const fn is_empty(self) -> bool {
        self.head == NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_packet::FlowId;

    /// Each of three interleaved chains returns its packets in their order, and no place is added while one is free.
    #[test]
    fn chains_keep_their_order_and_places_are_used_again() {
        let mut chains = Chains::new();
        let mut lists = [Chain::EMPTY; 3];
        for round in 0..5u16 {
            for size in 0..30 {
                chains.push(&mut lists[usize::from(size % 3)], Packet::empty(FlowId(0), 100 * round + size));
            }
            for (n, list) in (0..).zip(&mut lists) {
                for size in (n..30).step_by(3) {
                    assert_eq!(chains.pop(list).map(|packet| packet.size), Some(100 * round + size));
                }
                assert!(list.is_empty() && chains.pop(list).is_none());
            }
            assert_eq!(chains.places.len(), 30);
        }
    }
}
