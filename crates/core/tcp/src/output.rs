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
    /// Whether the queue in front of the host's card takes a whole segment of `bytes` with headers, which follows at
    /// once if it does. Only senders with segmentation ask: they keep what it refuses.
    fn takes(&mut self, bytes: u64) -> bool {
        let _ = bytes;
        true
    }
    /// The packets from here to [`Output::end_segment`] are one segment for the host's queue discipline, which lets it
    /// leave at `departure` at the earliest. A sender says so only if it is paced by one ([`crate::Pacing::Fq`]).
    fn begin_segment(&mut self, departure: Time) {
        let _ = departure;
    }
    /// The segment is complete. Returns how many segments of the connection have left the host since it began, this one
    /// perhaps among them; [`crate::Sender::on_segment_left`] is to be called for each that leaves later. What has no
    /// queue discipline sends at once.
    fn end_segment(&mut self) -> u32 {
        1
    }
}

impl Output for Vec<Packet> {
    fn transmit(&mut self, packet: Packet) {
        self.push(packet);
    }
}
