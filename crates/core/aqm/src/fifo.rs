//! First in, first out, tail drop.

use crate::store::Store;
use crate::{Backlog, Class, Dequeued, FifoConfig, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// First in, first out: what does not fit is dropped on arrival, nothing is marked.
#[derive(Clone, Debug)]
pub struct Fifo {
    store: Store,
}

impl Fifo {
    /// An empty queue at a line of `line_rate`.
    pub fn new(config: &FifoConfig, line_rate: Rate) -> Self {
        Self { store: Store::new(config.limit, line_rate) }
    }

    /// See [`crate::AnyQueue::is_passed_by`].
    #[inline]
    pub(crate) fn is_passed_by(&self, packet: &Packet) -> bool {
        self.store.backlog().packets == 0 && self.store.fits(packet)
    }
}

impl Queue for Fifo {
    #[inline]
    fn enqueue(&mut self, packet: Packet, now: Time, _: &mut Stream) -> Verdict {
        if !self.store.fits(&packet) {
            return Verdict::Dropped(Reason::Buffer);
        }
        self.store.push(packet, now);
        Verdict::Queued { mark: None }
    }

    #[inline]
    fn dequeue(&mut self, _: Time, _: &mut Stream) -> Dequeued {
        match self.store.pop() {
            Some(packet) => Dequeued::Packet { packet, mark: None },
            None => Dequeued::Empty,
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }
}
