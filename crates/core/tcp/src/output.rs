//! The interface through which endpoints send packets.

use alloc::vec::Vec;
use shoal_packet::Packet;
use shoal_units::Time;

/// Takes packets in the order in which they leave the host.
pub trait Output {
    /// Sends a packet.
    fn transmit(&mut self, packet: Packet);
    /// Time at which the host's card will have sent everything that it was given; [`Time::ZERO`] if it sends at once.
    fn card_free(&self) -> Time {
        Time::ZERO
    }
}

impl Output for Vec<Packet> {
    fn transmit(&mut self, packet: Packet) {
        self.push(packet);
    }
}
