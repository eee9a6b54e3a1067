//! The head of a link whose packets go straight onto the wire: see [`shoal_aqm::Closed`].

use super::{Hot, UNMONITORED};
use crate::Observer;
use shoal_aqm::{AnyClosed, Backlog, Start, Verdict, Watch};
use shoal_packet::{Ecn, Packet};
use shoal_units::{Serialiser, Stream, Time};

/// Transmitter of a constant rate, and the queue in front of it.
pub(super) struct Closed {
    serialiser: Serialiser,
    overhead: u32,
    /// None if all packets pass as they are, and nobody asks how many wait.
    judge: Option<Judge>,
}

struct Judge {
    queue: AnyClosed,
    random: Stream,
    probe: u32,
}

impl Closed {
    pub(super) fn new(
        serialiser: Serialiser,
        overhead: u32,
        queue: AnyClosed,
        random: Stream,
        probe: u32,
        is_shared: bool,
    ) -> Self {
        let is_needed = probe != UNMONITORED || is_shared || !queue.takes_all();
        let judge = is_needed.then_some(Judge { queue, random, probe });
        Self { serialiser, overhead, judge }
    }

    /// Handles the arrival of a packet. Returns whether it is marked, and `None` if it is dropped; else it leaves at
    /// [`Hot::free`].
    #[inline]
    pub(super) fn arrive(
        &mut self,
        packet: &Packet,
        hot: &mut Hot<impl Sized>,
        now: Time,
        observer: &mut impl Observer,
    ) -> Option<bool> {
        let overhead = self.overhead;
        let is_marked = self
            .pass(packet.size, hot, now, |judge, start| judge.arrive(packet, overhead, start, now, observer));
        if is_marked.is_none() {
            observer.on_lost(packet);
        }
        is_marked
    }

    /// Handles the arrival of a packet as [`Self::arrive`] does, at a port that is not monitored. Returns false if it
    /// is dropped. Whether a port has marked the packet is in `is_marked`, and not yet in the packet.
    #[inline]
    pub(super) fn arrive_unseen(
        &mut self,
        packet: &Packet,
        is_marked: &mut bool,
        hot: &mut Hot<impl Sized>,
        now: Time,
    ) -> bool {
        let was_marked = *is_marked;
        let marks = self
            .pass(packet.size, hot, now, |judge, start| judge.arrive_unseen(packet, was_marked, start, now));
        *is_marked |= marks == Some(true);
        marks.is_some()
    }

    /// Handles the arrival of a packet of `size` bytes, about which the judge, if there is one, is asked with the time
    /// from which it would be sent. Returns whether it is marked, and `None` if it is dropped.
    // Inlined in its callers, which are on the path of every packet, as their own text was before.
    #[allow(clippy::inline_always, reason = "see above")]
    #[inline(always)]
    fn pass(
        &mut self,
        size: u16,
        hot: &mut Hot<impl Sized>,
        now: Time,
        ask: impl FnOnce(&mut Judge, Time) -> Verdict,
    ) -> Option<bool> {
        let start = hot.free.max(now);
        let mut is_marked = false;
        if let Some(judge) = &mut self.judge {
            match ask(judge, start) {
                Verdict::Dropped(_) => return None,
                Verdict::Queued { mark } => is_marked = mark.is_some(),
                Verdict::Displaced => {}
            }
        }
        hot.free = start + self.serialiser.span(u32::from(size) + self.overhead);
        Some(is_marked)
    }

    /// Reports the transmissions that have begun by `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time, observer: &mut impl Observer) {
        if let Some(judge) = &mut self.judge {
            judge.leave(self.overhead, now, observer);
        }
    }

    /// What waits, but for the packets whose transmission begins after [`Self::catch_up`].
    pub(super) fn backlog(&self) -> Backlog {
        self.judge.as_ref().map_or(Backlog::default(), |judge| judge.queue.backlog())
    }

    /// When the next transmission begins that was not reported; [`Time::NEVER`] if none does.
    pub(super) fn next_start(&self) -> Time {
        self.judge.as_ref().map_or(Time::NEVER, |judge| judge.queue.next_start())
    }

    /// The average in bytes and the probability that the law keeps.
    pub(super) fn law_state(&self) -> (Option<f64>, Option<f64>) {
        let queue = self.judge.as_ref().map(|judge| &judge.queue);
        (queue.and_then(AnyClosed::average_bytes), queue.and_then(AnyClosed::probability))
    }
}

impl Judge {
    #[inline]
    fn arrive(
        &mut self,
        packet: &Packet,
        overhead: u32,
        start: Time,
        now: Time,
        observer: &mut impl Observer,
    ) -> Verdict {
        let Self { queue, random, probe } = self;
        if *probe == UNMONITORED {
            return queue.arrive(packet, start, now, random, &mut ());
        }
        let mut probe = Probe { number: *probe, overhead, observer };
        queue.arrive(packet, start, now, random, &mut probe)
    }

    /// Handles an arrival of which nobody hears. The packet may be marked, although it does not show that yet.
    #[inline(never)]
    fn arrive_unseen(&mut self, packet: &Packet, is_marked: bool, start: Time, now: Time) -> Verdict {
        let ecn = if is_marked { Ecn::Ce } else { packet.ecn };
        self.queue.arrive(&Packet { ecn, ..*packet }, start, now, &mut self.random, &mut ())
    }

    /// The packets leave whose transmission has begun by `now`.
    fn leave(&mut self, overhead: u32, now: Time, observer: &mut impl Observer) {
        if self.probe == UNMONITORED {
            self.queue.leave(now, &mut ());
        } else {
            let mut probe = Probe { number: self.probe, overhead, observer };
            self.queue.leave(now, &mut probe);
        }
    }
}

/// Reports what happens at a monitored port.
struct Probe<'a, O> {
    number: u32,
    overhead: u32,
    observer: &'a mut O,
}

impl<O: Observer> Watch for Probe<'_, O> {
    #[inline]
    fn on_verdict(&mut self, packet: &Packet, verdict: Verdict, waiting: Backlog, now: Time) {
        // Only rows about packets need the backlog that the packet finds, and with them ports are not closed.
        self.observer.on_arrival(self.number, packet, Backlog::default(), verdict, waiting, now);
    }

    #[inline]
    fn on_start(&mut self, start: &Start, waiting: Backlog) {
        self.observer.on_start(self.number, start, u32::from(start.size) + self.overhead, waiting);
    }

    #[inline]
    fn on_passing(&mut self, packet: &Packet, verdict: Verdict, now: Time) -> bool {
        let wire_bytes = u32::from(packet.size) + self.overhead;
        self.observer.on_passing(self.number, packet, verdict, wire_bytes, now)
    }
}
