//! Two directions of a path between programs that have no clock: what a test of a stack needs around a bottleneck.

use shoal_bottleneck::{Bottleneck, LinkConfig, LinkError, Next};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};
use std::collections::BTreeMap;

/// A path with a bottleneck in its forward direction, and nothing but a delay back. It keeps the packets.
pub struct Path {
    /// The link from the sender to the receiver, and the link back.
    pub links: [Bottleneck; 2],
    packets: BTreeMap<u64, Vec<u8>>,
    handle: u64,
}

/// The directions of a [`Path`].
pub const FORWARD: usize = 0;
/// See [`FORWARD`].
pub const BACKWARD: usize = 1;

impl Path {
    /// The path over this link in an experiment with this seed, whose way back takes `delay`.
    ///
    /// # Errors
    /// If there is no such link.
    pub fn new(link: &LinkConfig, seed: u64, delay: Span) -> Result<Self, LinkError> {
        let links = [Bottleneck::new(link, seed)?, Bottleneck::new(&LinkConfig::pure_delay(delay), seed)?];
        Ok(Self { links, packets: BTreeMap::new(), handle: 0 })
    }

    /// Takes a packet of so many bytes on the wire.
    pub fn send(&mut self, direction: usize, now: Time, bytes: u16, ecn: Ecn, packet: Vec<u8>) {
        self.handle += 1;
        self.packets.insert(self.handle, packet);
        let _ = self.links[direction].enqueue(now, bytes, ecn, 0, self.handle);
    }

    /// The next packet that has reached the other end by `now`, with its ECN codepoint.
    pub fn receive(&mut self, direction: usize, now: Time) -> Option<(Vec<u8>, Ecn)> {
        loop {
            match self.links[direction].next(now) {
                Next::Packet(arrival) => {
                    return self.packets.remove(&arrival.handle).map(|packet| (packet, arrival.ecn));
                }
                Next::Lost(lost) => drop(self.packets.remove(&lost.handle)),
                Next::At(_) | Next::Nothing => return None,
            }
        }
    }

    /// When the path wants to be asked again, once nothing more arrives at `now`.
    pub fn next(&mut self, now: Time) -> Option<Time> {
        let at = |link: &mut Bottleneck| match link.next(now) {
            Next::At(at) => Some(at),
            _ => None,
        };
        self.links.iter_mut().filter_map(at).min()
    }
}
