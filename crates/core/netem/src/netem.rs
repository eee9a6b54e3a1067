//! The packets that a path holds, and what happens to them.

use crate::distribution::delay_ns;
use crate::slot::Slots;
use crate::{Chance, Correlated, Impairments, LossState, Prandom, Reorder};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use shoal_packet::{Ecn, Packet};
use shoal_units::{Span, Stream, Time};

/// What has happened to packets, counted as the kernel counts it (`struct tc_netem_xstats`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets that were lost. A packet that was to be sent twice and is lost once goes through, and counts as both.
    pub lost: u64,
    /// Packets that were to be sent twice.
    pub duplicated: u64,
    /// Packets of which a bit was flipped.
    pub corrupted: u64,
    /// Packets that were sent ahead of those that are delayed.
    pub reordered: u64,
}

/// A path with impairments (Linux
/// [net/sched/sch_netem.c](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_netem.c) without a child).
///
/// After packets have been enqueued, and whenever [`Self::next_event`] is reached, [`Self::dequeue`] is called until it
/// has no packet any more, as a device does. Times must not decrease from one call to the next.
#[derive(Clone, Debug)]
pub struct Netem {
    random: Prandom,
    mean_ns: i64,
    jitter_ns: u32,
    table: Option<Vec<i16>>,
    jitter: Correlated,
    keeps_order: bool,
    loss: LossState,
    duplicate: Chance,
    corrupt: Chance,
    reorder: Option<Reorder>,
    /// Packets since the last one that was sent ahead.
    counter: u32,
    slots: Option<Slots>,
    clears_ecn: bool,
    /// Packets that are sent ahead, the last first.
    ahead: VecDeque<Held>,
    /// Packets that are delayed, in the order of their times; at equal times in that of their arrival.
    delayed: VecDeque<Held>,
    /// The latest time for which a packet was meant.
    latest: Time,
    /// Packets held that are not corrupted.
    sound: usize,
    wake: Option<Time>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// When the packet is due; in the past if the jitter exceeds the delay.
    due: Time,
    packet: Packet,
    corrupted: bool,
}

impl Netem {
    /// A path with this delay, and the kernel's generator with this seed. What the kernel draws elsewhere is taken from
    /// `outside`, here and in [`Self::dequeue`].
    pub fn new(impairments: &Impairments, delay: Span, seed: u64, outside: &mut Stream) -> Self {
        let jitter = impairments.jitter;
        Self {
            random: Prandom::new(seed),
            mean_ns: signed_ns(delay),
            jitter_ns: jitter.ns,
            table: jitter.distribution.table().filter(|_| jitter.ns > 0),
            jitter: Correlated::new(jitter.correlation, outside.uniform_u32()),
            keeps_order: impairments.keep_order,
            loss: LossState::new(impairments.loss, outside.uniform_u32()),
            duplicate: impairments.duplicate,
            corrupt: impairments.corrupt,
            reorder: impairments.reorder,
            counter: 0,
            slots: impairments.slot.map(Slots::new),
            clears_ecn: impairments.clears_ecn,
            ahead: VecDeque::new(),
            delayed: VecDeque::new(),
            latest: Time::ZERO,
            sound: 0,
            wake: None,
            counts: Counts::default(),
        }
    }

    /// Sets the mean delay of the packets that come from now on.
    pub fn set_delay(&mut self, delay: Span) {
        self.mean_ns = signed_ns(delay);
    }

    /// Takes a packet (`netem_enqueue`). Returns how many copies of it will arrive: one, none if it is lost or
    /// corrupted, two if it is sent twice.
    pub fn enqueue(&mut self, mut packet: Packet, now: Time) -> usize {
        if self.clears_ecn {
            packet.ecn = Ecn::NotEct;
        }
        let before = self.sound;
        self.admit(packet, now, false);
        self.sound - before
    }

    /// The order of the draws is the kernel's: duplication, loss, corruption, then all draws for the copy, then
    /// reordering and jitter. A copy is not copied again, and draws nothing for that.
    fn admit(&mut self, packet: Packet, now: Time, is_copy: bool) {
        let twice = !is_copy && self.duplicate.happens(&mut self.random);
        let lost = self.loss.loses(&mut self.random);
        self.counts.duplicated += u64::from(twice);
        self.counts.lost += u64::from(lost);
        if lost && !twice {
            return;
        }
        let corrupted = self.corrupt.happens(&mut self.random);
        self.counts.corrupted += u64::from(corrupted);
        if twice && !lost {
            self.admit(packet, now, true);
        }
        self.sound += usize::from(!corrupted);
        if self.is_sent_ahead() {
            self.counts.reordered += 1;
            self.counter = 0;
            self.ahead.push_front(Held { due: now, packet, corrupted });
        } else {
            let due = self.due(now);
            self.counter = self.counter.wrapping_add(1);
            self.delay(Held { due, packet, corrupted });
        }
    }

    /// Nothing is drawn for a packet that follows too closely on one that was sent ahead.
    fn is_sent_ahead(&mut self) -> bool {
        let Some(Reorder { probability, gap }) = self.reorder else { return false };
        gap > 0 && self.counter >= gap - 1 && probability.0 >= self.random.draw()
    }

    fn due(&mut self, now: Time) -> Time {
        let table = self.table.as_deref();
        let delay = delay_ns(self.mean_ns, self.jitter_ns, table, &mut self.jitter, &mut self.random);
        let span = Span::from_nanos(delay.unsigned_abs());
        let due = if delay < 0 {
            Time::from_picos(now.as_picos().saturating_sub(span.as_picos()))
        } else {
            now.saturating_add(span)
        };
        // With a rate the kernel counts from the latest time of a packet that is still there. One that has left was due
        // before now, so that it makes no difference to look at all of them.
        self.latest = self.latest.max(due);
        if self.keeps_order { self.latest } else { due }
    }

    fn delay(&mut self, held: Held) {
        // Nearly always at the end.
        let mut at = self.delayed.len();
        while at > 0 && self.delayed[at - 1].due > held.due {
            at -= 1;
        }
        self.delayed.insert(at, held);
    }

    /// The next packet that leaves at `now`, if there is one (`netem_dequeue`). Corrupted packets leave too, and are
    /// dropped where they do.
    pub fn dequeue(&mut self, now: Time, outside: &mut Stream) -> Option<Packet> {
        loop {
            let held = self.next(now, outside)?;
            if !held.corrupted {
                self.sound -= 1;
                return Some(held.packet);
            }
        }
    }

    fn next(&mut self, now: Time, outside: &mut Stream) -> Option<Held> {
        if let Some(held) = self.ahead.pop_front() {
            return Some(held);
        }
        let Some(first) = self.delayed.front() else {
            self.wake = None;
            return None;
        };
        let due = first.due;
        let opens = self.slots.as_mut().map_or(Time::ZERO, |slots| slots.opening(due, now, outside));
        if due > now || opens > now {
            self.wake = Some(due.max(opens));
            return None;
        }
        let held = self.delayed.pop_front()?;
        if let Some(slots) = &mut self.slots {
            slots.take(held.packet.size, now, outside);
        }
        Some(held)
    }

    /// When packets must be asked for again, if none has come until then.
    pub fn next_event(&self) -> Option<Time> {
        self.wake
    }

    /// Packets held that will arrive.
    pub fn len(&self) -> usize {
        self.sound
    }

    /// Whether no packet is held that will arrive.
    pub fn is_empty(&self) -> bool {
        self.sound == 0
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

fn signed_ns(delay: Span) -> i64 {
    i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
