//! The interface through which endpoints send packets.

use alloc::vec::Vec;
use shoal_packet::Packet;

/// Takes packets in the order in which they leave the host.
pub trait Output {
    /// Sends a packet.
    fn transmit(&mut self, packet: Packet);
}

impl Output for Vec<Packet> {
    fn transmit(&mut self, packet: Packet) {
        self.push(packet);
    }
}
