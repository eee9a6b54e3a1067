//! The receiving side of a network card and the poll that empties it.

use crate::Receive;
use crate::coalesce::Coalescer;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use shoal_packet::Packet;
use shoal_units::cast::count_u32;
use shoal_units::{Span, Time};

/// What a card has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CardCounters {
    /// Packets that were taken from the ring.
    pub packets: u64,
    /// Segments that were handed to TCP.
    pub segments: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Packets for which the ring had no place.
    pub ring_drops: u64,
}

/// What the host is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Activity {
    /// The ring is empty.
    Idle,
    /// Packets wait for an interrupt at this time.
    Waiting(Time),
    /// A core is busy until this time with the segments that are `ready` then.
    Polling(Time),
}

/// The receiving side of one host: all of its connections share it.
#[derive(Clone, Debug)]
pub struct Card {
    receive: Receive,
    ring: VecDeque<Packet>,
    coalescer: Coalescer,
    ready: Vec<Packet>,
    activity: Activity,
    /// Polls since the interrupt.
    polls: u32,
    counters: CardCounters,
}

impl Card {
    /// A card whose ring is empty.
    pub fn new(receive: &Receive) -> Self {
        Self {
            receive: *receive,
            ring: VecDeque::new(),
            coalescer: Coalescer::new(receive),
            ready: Vec::new(),
            activity: Activity::Idle,
            polls: 0,
            counters: CardCounters::default(),
        }
    }

    /// A packet comes from the wire. Returns whether the ring has a place for it. [`Self::deadline`] may be `now`
    /// afterwards. What was due by `now` must have been handed over before: a packet that comes at the end of the wait
    /// belongs to the next interrupt, as on the kernel plane (linux/testbed/coalesce.c).
    pub fn arrive(&mut self, packet: Packet, now: Time) -> bool {
        let waiting = count_u32(self.ring.len());
        if self.receive.ring_packets > 0 && waiting >= self.receive.ring_packets {
            self.counters.ring_drops += 1;
            return false;
        }
        self.ring.push_back(packet);
        if self.activity == Activity::Idle {
            self.activity = Activity::Waiting(now + self.receive.interrupt_delay);
        }
        let limit = self.receive.interrupt_packets;
        if limit > 0 && waiting + 1 >= limit && matches!(self.activity, Activity::Waiting(_)) {
            self.activity = Activity::Waiting(now);
        }
        true
    }

    /// The next time at which [`Self::on_timer`] must be called; [`Time::NEVER`] if there is none.
    pub fn deadline(&self) -> Time {
        match self.activity {
            Activity::Idle => Time::NEVER,
            Activity::Waiting(at) | Activity::Polling(at) => at,
        }
    }

    /// Time has passed: appends the segments to `out` that TCP gets now and that are read together. If more are due,
    /// they follow after the read: Linux polls once after an interrupt, and leaves the rest to a thread (ksoftirqd)
    /// that the reader, which has been woken, precedes.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Packet>) {
        while self.deadline() <= now {
            match self.activity {
                Activity::Idle => return,
                Activity::Waiting(_) => {
                    self.counters.interrupts += 1;
                    self.polls = 0;
                    self.activity = Activity::Polling(now + self.poll());
                }
                Activity::Polling(_) => {
                    self.counters.segments += self.ready.len() as u64;
                    out.append(&mut self.ready);
                    // Whatever came meanwhile is polled at once (`napi_poll` keeps the instance scheduled).
                    self.activity = if self.ring.is_empty() && self.coalescer.len() == 0 {
                        Activity::Idle
                    } else {
                        Activity::Polling(now + self.poll())
                    };
                    self.polls += 1;
                    if self.polls == 1 && !out.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    /// Makes segments of the packets of one poll; returns the time that it takes.
    fn poll(&mut self) -> Span {
        let count = self.ring.len().min(self.receive.poll_packets.max(1) as usize);
        for packet in self.ring.drain(..count) {
            self.coalescer.take(packet, &mut self.ready);
        }
        self.counters.packets += count as u64;
        if count < self.receive.poll_packets.max(1) as usize {
            self.coalescer.flush(&mut self.ready);
        } else {
            self.coalescer.end_full_poll(&mut self.ready);
        }
        let cpu = &self.receive.cpu;
        let bytes = self.ready.iter().map(|segment| u64::from(segment.payload)).sum();
        cpu.packet.saturating_mul(count as u64)
            + cpu.segment.saturating_mul(self.ready.len() as u64)
            + cpu.byte.saturating_mul(bytes)
    }

    /// Whether the segments that [`Self::on_timer`] has just appended came while the application read earlier ones.
    pub fn came_while_reading(&self) -> bool {
        self.polls > 1
    }

    /// What the card has done so far.
    pub fn counters(&self) -> &CardCounters {
        &self.counters
    }
    /// Packets in the ring, and segments that may still grow or on which the core works.
    pub fn held(&self) -> usize {
        self.ring.len() + self.coalescer.len() + self.ready.len()
    }
}

#[cfg(test)]
mod tests;
