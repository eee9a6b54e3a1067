//! The shell of one FIFO whose law decides on arrival, in front of a line whose rate never changes.
//!
//! The fate of such a packet is known when it arrives: it is dropped or marked then, and its transmission begins when
//! those of all packets before it are over. So this shell holds no packets. They go straight to where they go after
//! their transmission, and what is left to keep is when each begins: all that the law compares an arrival with.

use super::single::judge;
use super::{Bound, Law, Waiting};
use crate::{Backlog, Class, Verdict};
use shoal_packet::{FlowId, Packet, Ring};
use shoal_units::{Stream, Time};

/// One FIFO under a law, without its packets.
#[derive(Clone, Debug)]
pub struct Closed<L> {
    law: L,
    waiting: Waiting,
    limit: Bound,
    coming: Ring<Start>,
}

/// The start of the transmission of a packet, which waits until then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// When it is.
    pub at: Time,
    /// When the packet arrived.
    pub since: Time,
    /// Flow of the packet.
    pub flow: FlowId,
    /// Size of the packet in bytes.
    pub size: u16,
    /// Class of the packet.
    pub class: Class,
    /// Whether the packet has payload.
    pub has_data: bool,
}

// Three fit into a cache line with an eighth to spare; of packets, one.
const _: () = assert!(size_of::<Start>() == 24);

/// Whoever hears what happens at a closed queue, in the order in which it does.
pub trait Watch {
    /// The packet that arrives has this fate; `waiting` is the backlog then.
    fn on_verdict(&mut self, packet: &Packet, verdict: Verdict, waiting: Backlog, now: Time);
    /// The transmission of a packet begins, which leaves `waiting`.
    fn on_start(&mut self, start: &Start, waiting: Backlog);
    /// The packet that arrives is not dropped, finds nothing before it, and is transmitted at once. Returns whether
    /// that is all there is to hear; if not, [`Self::on_verdict`] and [`Self::on_start`] follow.
    fn on_passing(&mut self, packet: &Packet, verdict: Verdict, now: Time) -> bool;
}

/// Nobody hears it.
impl Watch for () {
    #[inline]
    fn on_verdict(&mut self, _: &Packet, _: Verdict, _: Backlog, _: Time) {}
    #[inline]
    fn on_start(&mut self, _: &Start, _: Backlog) {}
    #[inline]
    fn on_passing(&mut self, _: &Packet, _: Verdict, _: Time) -> bool {
        true
    }
}

impl<L: Law> Closed<L> {
    pub(super) fn new(law: L, waiting: Waiting, limit: Bound) -> Self {
        Self { law, waiting, limit, coming: Ring::new() }
    }

    /// `packet` arrives at `now`, behind all whose transmission has begun by then, and would be sent from `start` on.
    /// The caller sets the mark if there is one.
    #[inline]
    pub fn arrive(
        &mut self,
        packet: &Packet,
        start: Time,
        now: Time,
        random: &mut Stream,
        watch: &mut impl Watch,
    ) -> Verdict {
        self.leave(now, watch);
        let verdict = judge(&mut self.law, self.limit, packet, &self.waiting, now, random);
        if let Verdict::Queued { .. } = verdict {
            if start == now && watch.on_passing(packet, verdict, now) {
                debug_assert!(self.coming.is_empty(), "a packet overtakes others");
                self.law.on_left(packet.size, &self.waiting, now);
                return verdict;
            }
            // Nobody else gets its address: it would lie in memory, written in parts, and its copy would have to wait
            // for them.
            let next = Start {
                at: start,
                since: now,
                flow: packet.flow,
                size: packet.size,
                class: Class::of(packet),
                has_data: packet.payload > 0,
            };
            self.waiting.put(next.size, next.class == Class::Ect);
            self.coming.push_back(&next);
        }
        watch.on_verdict(packet, verdict, self.waiting.backlog(), now);
        if start == now {
            self.leave(now, watch);
        }
        verdict
    }

    /// Lets the packets go whose transmission has begun by `now`.
    #[inline]
    pub fn leave(&mut self, now: Time, watch: &mut impl Watch) {
        if self.coming.front().is_some_and(|next| next.at <= now) {
            self.leave_some(now, watch);
        }
    }

    fn leave_some(&mut self, now: Time, watch: &mut impl Watch) {
        while let Some(next) = self.coming.pop_front_if(|next| next.at <= now) {
            self.waiting.take(next.size, next.class == Class::Ect);
            self.law.on_left(next.size, &self.waiting, next.at);
            watch.on_start(next, self.waiting.backlog());
        }
    }

    /// What waits, but for the packets whose transmission begins after the last call and by now.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    /// When the next transmission begins; [`Time::NEVER`] if nothing waits.
    #[inline]
    pub fn next_start(&self) -> Time {
        self.coming.front().map_or(Time::NEVER, |next| next.at)
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
