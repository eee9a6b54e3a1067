//! The shell of one FIFO.

use super::{Bound, Closed, Decision, Store, Transmitter, Waiting, mark};
use crate::{Backlog, Class, Dequeued, Extent, Queue, Reason, Verdict};
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// The control law of one FIFO. It is consulted for every packet on arrival and on departure, and decides on
/// it; it holds no packets itself. The default implementations have no effect.
pub trait Law {
    /// Whether the limit is checked before the law, as in disciplines that count for themselves, or after it,
    /// as in disciplines with a child that drops (`sch_red`). A packet that passes a law which is consulted
    /// second will wait.
    const LIMIT_FIRST: bool = true;

    /// The line behind the queue, for laws that need to know how long it has been idle.
    #[inline]
    fn line(&mut self) -> Option<&mut Transmitter> {
        None
    }

    /// Decides on `packet`, which arrives and finds `waiting`.
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision {
        let _ = (packet, waiting, now, random);
        Decision::Pass
    }

    /// Called when a packet arrives that does not fit, and that the shell drops.
    #[inline]
    fn on_overflow(&mut self, now: Time) {
        let _ = now;
    }

    /// Decides on `packet`, which leaves `waiting` behind. After a drop the shell is asked for the next
    /// packet immediately. A law whose decisions all fall on arrival has [`Self::on_left`] instead.
    #[inline]
    fn on_departure(
        &mut self,
        packet: &Packet,
        waiting: &Waiting,
        now: Time,
        random: &mut Stream,
    ) -> Decision {
        let _ = random;
        self.on_left(packet.size, waiting, now);
        Decision::Pass
    }

    /// Takes note of a packet of `size` bytes, which leaves `waiting` behind.
    #[inline]
    fn on_left(&mut self, size: u16, waiting: &Waiting, now: Time) {
        let _ = waiting;
        if let Some(line) = self.line() {
            line.on_departure(size, now);
        }
    }

    /// Whether all decisions fall on arrival, so that [`Closed`] can be the shell: the law has no timer, and of
    /// departures it wants to hear [`Self::on_left`] only.
    fn decides_on_arrival(&self) -> bool {
        false
    }

    /// Called when the line asked for a packet and there was none.
    #[inline]
    fn on_empty(&mut self, now: Time) {
        if let Some(line) = self.line() {
            line.on_empty(now);
        }
    }

    /// See [`Queue::next_timer`].
    #[inline]
    fn next_timer(&self) -> Time {
        Time::NEVER
    }

    /// See [`Queue::on_timer`]; `waiting` is the backlog at that time.
    fn on_timer(&mut self, waiting: &Store, now: Time) {
        let _ = (waiting, now);
    }

    /// See [`Queue::probability`].
    fn probability(&self) -> Option<f64> {
        None
    }

    /// See [`Queue::average_bytes`].
    fn average_bytes(&self) -> Option<f64> {
        None
    }

    /// See [`Queue::retune`].
    fn retune(&mut self, newer: &Self) -> bool
    where
        Self: Sized,
    {
        let _ = newer;
        false
    }
}

/// What becomes of `packet`, which arrives and finds `waiting`: whether it is to wait, and is marked, or is dropped.
#[inline]
pub(super) fn judge<L: Law>(
    law: &mut L,
    limit: Bound,
    packet: &Packet,
    waiting: &Waiting,
    now: Time,
    random: &mut Stream,
) -> Verdict {
    let overflows = |law: &mut L| {
        let overflows = limit.is_exceeded_by(waiting.backlog_with(packet));
        if overflows {
            law.on_overflow(now);
        }
        overflows
    };
    if L::LIMIT_FIRST && overflows(law) {
        return Verdict::Dropped(Reason::Buffer);
    }
    let mark = match law.on_arrival(packet, waiting, now, random) {
        Decision::Pass => None,
        Decision::Mark(reason) => packet.ecn.is_capable().then_some(reason),
        Decision::Drop(reason) => return Verdict::Dropped(reason),
    };
    if !L::LIMIT_FIRST && overflows(law) {
        return Verdict::Dropped(Reason::Buffer);
    }
    Verdict::Queued { mark }
}

/// One FIFO under a law.
#[derive(Clone, Debug)]
pub struct Single<L> {
    store: Store,
    law: L,
}

impl<L: Law> Single<L> {
    /// An empty queue of capacity `limit` at a line of `line_rate`.
    pub(crate) fn new(law: L, limit: Extent, line_rate: Rate) -> Self {
        Self { store: Store::new(limit, line_rate), law }
    }

    /// The empty queue in a packet memory of cells of `cell_bytes`; see [`Store::in_cells`].
    pub(crate) fn in_cells(self, cell_bytes: u32) -> Self {
        Self { store: self.store.in_cells(cell_bytes), ..self }
    }

    /// The queue, which must be empty, in the other shell, if its law decides on arrival only.
    pub(crate) fn closed(&self) -> Option<Closed<L>>
    where
        L: Clone,
    {
        self.law
            .decides_on_arrival()
            .then(|| Closed::new(self.law.clone(), Waiting::clone(&self.store), self.store.limit()))
    }

    /// The law.
    pub const fn law(&self) -> &L {
        &self.law
    }
}

impl<L: Law> Queue for Single<L> {
    #[inline]
    fn enqueue(&mut self, packet: &Packet, now: Time, random: &mut Stream) -> Verdict {
        let verdict = judge(&mut self.law, self.store.limit(), packet, &self.store, now, random);
        if let Verdict::Queued { mark } = verdict {
            self.store.push(packet, now, mark.is_some());
        }
        verdict
    }

    #[inline]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        let Some(mut packet) = self.store.pop() else {
            self.law.on_empty(now);
            return Dequeued::Empty;
        };
        match self.law.on_departure(&packet, &self.store, now, random) {
            Decision::Pass => Dequeued::Packet { packet, mark: None, was_marked: false },
            Decision::Mark(reason) => {
                let was_marked = packet.ecn.is_ce();
                let mark = mark(&mut packet).then_some(reason);
                Dequeued::Packet { packet, mark, was_marked }
            }
            Decision::Drop(reason) => Dequeued::Dropped { packet, reason },
        }
    }

    #[inline]
    fn next_bytes(&mut self, _: Time) -> Option<u16> {
        self.store.next_bytes()
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.store.class_backlog(class)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.law.next_timer()
    }

    #[inline]
    fn on_timer(&mut self, now: Time) {
        self.law.on_timer(&self.store, now);
    }

    #[inline]
    fn probability(&self) -> Option<f64> {
        self.law.probability()
    }

    #[inline]
    fn average_bytes(&self) -> Option<f64> {
        self.law.average_bytes()
    }

    fn retune(&mut self, newer: &Self) -> bool {
        self.law.retune(&newer.law)
    }
}
