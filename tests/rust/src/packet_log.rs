//! A sink that keeps every packet event.

use shoal_packet::{Packet, Reason};
use shoal_sim::PacketSink;
use shoal_trace::PacketRow;
use std::sync::{Arc, Mutex, PoisonError};

/// A packet event, with the packet as it was after it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Kind of the event.
    pub row: PacketRow,
    /// Packet of the event.
    pub packet: Packet,
    /// Reason of a mark or drop.
    pub reason: Option<Reason>,
}

/// A sink whose clones share one list.
#[derive(Clone, Debug, Default)]
pub struct PacketLog(Arc<Mutex<Vec<Seen>>>);

impl PacketLog {
    /// All events so far; the list is empty afterwards.
    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PacketSink for PacketLog {
    fn on_event(&mut self, row: PacketRow, packet: &Packet, reason: Option<Reason>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Seen { row, packet: *packet, reason });
    }
}
