//! Segments that wait in the order in which they were handed over.

use super::Waiting;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use shoal_packet::Packet;
use shoal_units::Time;

/// Segments, and their packets one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    segments: VecDeque<Waiting>,
    packets: VecDeque<Packet>,
}

impl Backlog {
    pub(super) fn push(&mut self, waiting: Waiting, packets: &[Packet]) {
        self.segments.push_back(waiting);
        self.packets.extend(packets);
    }

    /// Removes the first segment, and appends its packets to `packets`.
    pub(super) fn pop(&mut self, packets: &mut Vec<Packet>) -> Option<Waiting> {
        let first = self.segments.pop_front()?;
        packets.extend(self.packets.drain(..first.packets as usize));
        Some(first)
    }

    /// When the first segment may leave.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.segments.front().map(|first| first.due)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }
}
