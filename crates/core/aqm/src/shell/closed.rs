//! The shell of one FIFO whose law decides on arrival, in front of a line whose rate never changes.
//!
//! The fate of such a packet is known when it arrives: it is dropped or marked then, and its transmission begins when
//! those of all packets before it are over. So this shell holds no packets. They go straight to where they go after
//! their transmission, and what is left to keep is when each begins: all that the law compares an arrival with.

use super::single::judge;
use super::{Bound, Law, Waiting};
use crate::{Backlog, Verdict};
use alloc::collections::VecDeque;
use shoal_packet::Packet;
use shoal_units::{Stream, Time};

/// One FIFO under a law, without its packets.
#[derive(Clone, Debug)]
pub struct Closed<L> {
    law: L,
    waiting: Waiting,
    limit: Bound,
    starts: VecDeque<Start>,
}

/// When the transmission of a packet begins that waits, and what is counted of it.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: Time,
    size: u16,
    is_ect: bool,
}

impl<L: Law> Closed<L> {
    pub(super) const fn new(law: L, waiting: Waiting, limit: Bound) -> Self {
        Self { law, waiting, limit, starts: VecDeque::new() }
    }

    /// `packet` arrives at `now`, when all have left whose transmission has begun, and would be sent from `start` on.
    /// The caller sets the mark if there is one.
    #[inline]
    pub fn arrive(&mut self, packet: &Packet, start: Time, now: Time, random: &mut Stream) -> Verdict {
        let verdict = judge(&mut self.law, self.limit, packet, &self.waiting, now, random);
        if let Verdict::Queued { .. } = verdict {
            let (size, is_ect) = (packet.size, packet.ecn.is_capable());
            self.waiting.put(size, is_ect);
            self.starts.push_back(Start { at: start, size, is_ect });
        }
        verdict
    }

    /// Lets the packets go whose transmission has begun by `now`; tells for each when it began, and what it leaves.
    #[inline]
    pub fn leave(&mut self, now: Time, mut tell: impl FnMut(Time, Backlog)) {
        while let Some(&Start { at, size, is_ect }) = self.starts.front().filter(|start| start.at <= now) {
            self.starts.pop_front();
            self.waiting.take(size, is_ect);
            self.law.on_left(size, &self.waiting, at);
            tell(at, self.waiting.backlog());
        }
        if self.starts.is_empty() {
            // Returns to the start of its memory, as a store does.
            self.starts.clear();
        }
    }

    /// The present backlog.
    #[inline]
    pub const fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    /// Whether nothing can exceed the limit.
    pub(crate) fn is_unlimited(&self) -> bool {
        !self.limit.is_exceeded_by(Backlog { packets: u32::MAX, bytes: u64::MAX })
    }

    /// The law.
    pub const fn law(&self) -> &L {
        &self.law
    }
}
