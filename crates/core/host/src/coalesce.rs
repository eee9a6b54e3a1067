//! Segments of several packets, as both kinds of coalescing make them.

use crate::gro;
use crate::held::{Fate, Held};
use crate::lro;
use crate::{Coalescing, Receive};
use alloc::vec::Vec;
use shoal_packet::Packet;
use shoal_units::cast::count_u32;

/// The segments that a poll has made so far and that may still grow.
#[derive(Clone, Debug)]
pub(crate) struct Coalescer {
    rule: Coalescing,
    most_packets: u32,
    /// In the order in which they began.
    held: Vec<Held>,
}

impl Coalescer {
    pub(crate) fn new(receive: &Receive) -> Self {
        Self { rule: receive.coalescing, most_packets: receive.coalesced_packets.max(1), held: Vec::new() }
    }

    /// Takes the next packet of a poll; complete segments are appended to `out`.
    pub(crate) fn take(&mut self, packet: Packet, out: &mut Vec<Packet>) {
        if self.rule == Coalescing::Off {
            return out.push(packet);
        }
        let position = self.held.iter().position(|held| held.segment.flow == packet.flow);
        let fate = self.fate(position, &packet);
        match (fate, position) {
            (Fate::Merged, _) => {}
            (Fate::Completes, Some(position)) => out.push(self.held.remove(position).segment),
            (Fate::Begins | Fate::Passes | Fate::Completes, position) => {
                out.extend(position.map(|position| self.held.remove(position).segment));
                if fate == Fate::Begins {
                    self.make_room(&packet, out);
                    self.held.push(Held::of(packet));
                } else {
                    out.push(packet);
                }
            }
        }
    }

    fn fate(&mut self, position: Option<usize>, packet: &Packet) -> Fate {
        let held = position.and_then(|position| self.held.get_mut(position));
        match self.rule {
            Coalescing::Lro => lro::fate(held, packet, self.most_packets),
            Coalescing::Gro | Coalescing::Off => gro::fate(held, packet, self.most_packets),
        }
    }

    /// Completes the oldest segment where the kernel has no room for another.
    fn make_room(&mut self, packet: &Packet, out: &mut Vec<Packet>) {
        if self.rule != Coalescing::Gro {
            return;
        }
        let bucket = gro::bucket(packet.flow);
        let alike = |held: &Held| gro::bucket(held.segment.flow) == bucket;
        if count_u32(self.held.iter().filter(|held| alike(held)).count()) >= gro::BUCKET_SEGMENTS
            && let Some(oldest) = self.held.iter().position(alike)
        {
            out.push(self.held.remove(oldest).segment);
        }
    }

    /// Number of segments that may still grow.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Ends a poll that took all that it may: the next one follows, into which Linux with HZ = 1000 lets segments grow
    /// that are younger than a jiffy (`gro_flush_normal`).
    pub(crate) fn end_full_poll(&mut self, out: &mut Vec<Packet>) {
        if self.rule != Coalescing::Gro {
            self.flush(out);
        }
    }

    /// Ends a poll: all segments are complete.
    pub(crate) fn flush(&mut self, out: &mut Vec<Packet>) {
        if self.rule == Coalescing::Gro {
            self.held.sort_by_key(|held| gro::bucket(held.segment.flow));
        }
        out.extend(self.held.drain(..).map(|held| held.segment));
    }
}
