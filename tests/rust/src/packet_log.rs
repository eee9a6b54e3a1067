//! A sink that keeps every packet event.

use shoal_packet::{Packet, Reason};
use shoal_sim::PacketSink;
use shoal_trace::PacketRow;
use std::cell::RefCell;
use std::rc::Rc;

/// One event with the packet as it was after it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// What happened.
    pub row: PacketRow,
    /// To which packet.
    pub packet: Packet,
    /// Why it was marked or dropped, if that is what happened.
    pub reason: Option<Reason>,
}

/// A sink whose clones share one list.
#[derive(Clone, Debug, Default)]
pub struct PacketLog(Rc<RefCell<Vec<Seen>>>);

impl PacketLog {
    /// All events so far; the list is empty afterwards.
    pub fn take(&self) -> Vec<Seen> {
        self.0.take()
    }
}

impl PacketSink for PacketLog {
    fn on_event(&mut self, row: PacketRow, packet: &Packet, reason: Option<Reason>) {
        self.0.borrow_mut().push(Seen { row, packet: *packet, reason });
    }
}
