//! Whoever hears what happens at a port.

use shoal_aqm::{Backlog, Start, Verdict};
use shoal_packet::{Packet, Reason};
use shoal_units::Time;

/// Hears what happens at ports, in the order of time for each of them: all of it at those that have a number, `port`,
/// and at the others which packets are lost.
///
/// A closed port (see [`Port::close`](crate::Port::close)) calls [`Self::on_start`] in the place of
/// [`Self::on_departure`], and [`Self::on_passing`] first.
pub trait Observer {
    /// Whether it wants the backlog that an arriving packet finds, and each packet as it departs.
    #[inline]
    fn sees_packets(&self) -> bool {
        false
    }
    /// A packet arrives, finds one backlog (an empty one unless it [`Self::sees_packets`]) and leaves another one
    /// behind. It is as it arrived: without the mark that the verdict may tell of.
    fn on_arrival(
        &mut self,
        port: u32,
        packet: &Packet,
        found: Backlog,
        verdict: Verdict,
        waiting: Backlog,
        now: Time,
    );
    /// Queue protection has sent the packet that arrived to the classic queue.
    fn on_redirection(&mut self, port: u32, packet: &Packet, now: Time);
    /// The transmission of a packet that waited begins at `at`, with a mark of this reason if there is one, and leaves
    /// `waiting`.
    fn on_departure(
        &mut self,
        port: u32,
        packet: &Packet,
        mark: Option<Reason>,
        wire_bytes: u32,
        waiting: Backlog,
        at: Time,
    );
    /// A packet that waited was dropped, on departure or to make room.
    fn on_drop_from_queue(&mut self, port: u32, packet: &Packet, reason: Reason, waiting: Backlog, at: Time);
    /// The transmission of a packet begins at a closed port.
    fn on_start(&mut self, port: u32, start: &Start, wire_bytes: u32, waiting: Backlog);
    /// A packet that is not dropped finds nothing before it at a closed port, and its transmission begins. Returns
    /// whether that is all there is to hear; if not, [`Self::on_arrival`] and [`Self::on_start`] follow.
    fn on_passing(
        &mut self,
        port: u32,
        packet: &Packet,
        verdict: Verdict,
        wire_bytes: u32,
        now: Time,
    ) -> bool;
    /// A packet is dropped at any port, whether it has a number or not.
    fn on_lost(&mut self, packet: &Packet);
    /// A packet has left the transmitter of which no copy will arrive: the impairments of the wire lose or corrupt it.
    #[inline]
    fn on_lost_on_wire(&mut self, packet: &Packet, at: Time) {
        let _ = (packet, at);
    }
}
