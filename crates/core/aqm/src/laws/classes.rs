//! Traffic classes: several queues behind one line, each with a law, a limit and a place in the schedule of its own.
//!
//! A packet joins the queue of its flow's DiffServ code point. Of the queues that hold packets and that their shapers
//! allow to send, strict ones come first, in the order of the list; the others share what is left by deficit-weighted
//! round robin. The port of a switch is made like this (IEEE 802.1Q, clause 8.6.8; SONiC's `SCHEDULER` table), and so
//! is Linux `ets` (<https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_ets.c>), which the scheduler follows;
//! where it departs is listed in [`ClassesConfig::DOC`].
//!
//! It is a shell of its own, since its parts are whole queues: it holds no packets itself and decides on none.

mod config;
mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{ClassConfig, ClassesConfig, Service};

use crate::sched::{Dwrr, TokenBucket};
use crate::{AnyQueue, Backlog, Class, Dequeued, MemoryShare, Queue, Reason, TcError, Tunnels, Verdict};
use alloc::vec::Vec;
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// Most queues of a port: as many as Linux `ets` has bands (`TCQ_ETS_MAX_BANDS`); switches have eight to sixteen.
pub const MOST_CLASSES: usize = 16;

/// Queues behind one line.
#[derive(Clone, Debug)]
pub struct Classes {
    config: ClassesConfig,
    queues: Vec<ClassQueue>,
    turns: Dwrr,
}

/// One of the queues.
#[derive(Clone, Debug)]
struct ClassQueue {
    inner: AnyQueue,
    is_strict: bool,
    shaper: Option<TokenBucket>,
    /// What it may hold of the memory that all queues of the port share.
    memory: MemoryShare,
}

impl Classes {
    /// Empty queues at a line of `line_rate`.
    ///
    /// # Panics
    /// If a rate is zero, or if there are no queues or more than [`MOST_CLASSES`].
    ///
    /// # Errors
    /// If `tc` refuses the law of a queue.
    fn new(config: &ClassesConfig, line_rate: Rate) -> Result<Self, TcError> {
        assert!((1..=MOST_CLASSES).contains(&config.queues.len()), "1 to 16 queues");
        let queues = config.queues.iter().map(|queue| {
            Ok(ClassQueue {
                inner: AnyQueue::try_new(&queue.law, line_rate)?,
                is_strict: queue.service == Service::Strict,
                shaper: queue.shaper.map(TokenBucket::new),
                memory: queue.memory(MemoryShare::default()),
            })
        });
        let quanta = config.queues.iter().map(|queue| match queue.service {
            Service::Strict => 0,
            Service::Weighted { quantum_bytes } => quantum_bytes,
        });
        Ok(Self {
            queues: queues.collect::<Result<_, _>>()?,
            turns: Dwrr::new(quanta),
            config: config.clone(),
        })
    }

    /// See [`AnyQueue::law_has_failed`].
    #[cold]
    pub(crate) fn law_has_failed(&self) -> bool {
        self.queues.iter().any(|queue| queue.inner.law_has_failed())
    }

    /// The queue that sends next, or the time before which none may; [`Time::NEVER`] if nothing waits.
    #[inline]
    fn choose(&mut self, now: Time) -> Result<u8, Time> {
        let mut weighted = [None; MOST_CLASSES];
        let mut held_until = Time::NEVER;
        for ((index, queue), next) in (0u8..).zip(&mut self.queues).zip(&mut weighted) {
            let Some(bytes) = queue.inner.next_bytes(now) else { continue };
            let wait = queue.shaper.as_ref().and_then(|shaper| shaper.wait_for(bytes, now));
            if let Some(until) = wait {
                held_until = held_until.min(until);
            } else if queue.is_strict {
                return Ok(index);
            } else {
                *next = Some(u32::from(bytes));
            }
        }
        self.turns.turn(|index| weighted[usize::from(index)]).ok_or(held_until)
    }

    /// Whether a packet of `size` bytes may join queue `index` as far as the memory is concerned that all of them
    /// share.
    #[inline]
    fn has_memory_for(&self, index: u8, size: u16) -> bool {
        let Some(memory_bytes) = self.config.memory_bytes else { return true };
        // The sum of a few numbers cannot go wrong over packets that laws drop by themselves.
        let used = self
            .queues
            .iter()
            .map(|queue| queue.memory.reserved_bytes + queue.memory.shared(queue.inner.backlog().bytes));
        let free = memory_bytes.saturating_sub(used.sum());
        let queue = &self.queues[usize::from(index)];
        queue.memory.admits(queue.inner.backlog().bytes, size.into(), free)
    }

    /// Bytes that wait in queue `index`.
    pub fn backlog_bytes(&self, index: u8) -> u64 {
        self.queues[usize::from(index)].inner.backlog().bytes
    }

    /// The queue that a packet joins.
    pub fn queue_of(&self, packet: &Packet) -> u8 {
        self.config.queue_of(packet.flow.0)
    }

    /// Tells the round robin whether queue `index` holds packets, if that has changed.
    #[inline]
    fn settle(&mut self, index: u8, held_packets: bool) {
        let queue = &self.queues[usize::from(index)];
        let holds_packets = queue.inner.backlog().packets > 0;
        if queue.is_strict || holds_packets == held_packets {
            return;
        }
        if holds_packets {
            self.turns.activate(index);
        } else {
            self.turns.deactivate(index);
        }
    }

    fn backlog_of(&self, of: impl Fn(&AnyQueue) -> Backlog) -> Backlog {
        self.queues.iter().fold(Backlog::default(), |sum, queue| sum + of(&queue.inner))
    }
}

impl Queue for Classes {
    fn set_tunnels(&mut self, tunnels: &Tunnels) {
        for queue in &mut self.queues {
            queue.inner.set_tunnels(tunnels);
        }
    }

    fn redirected(&self) -> u64 {
        self.queues.iter().map(|queue| queue.inner.redirected()).sum()
    }

    // Not inlined in [`AnyQueue`]: most ports have no traffic classes.
    #[inline(never)]
    fn enqueue(&mut self, packet: &Packet, now: Time, random: &mut Stream) -> Verdict {
        let index = self.config.queue_of(packet.flow.0);
        if !self.has_memory_for(index, packet.size) {
            return Verdict::Dropped(Reason::SharedBuffer);
        }
        let queue = &mut self.queues[usize::from(index)];
        let held_packets = queue.inner.backlog().packets > 0;
        let verdict = queue.inner.enqueue(packet, now, random);
        self.settle(index, held_packets);
        verdict
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Time, random: &mut Stream) -> Dequeued {
        let index = match self.choose(now) {
            Ok(index) => index,
            Err(Time::NEVER) => return Dequeued::Empty,
            Err(until) => return Dequeued::Held { until },
        };
        let queue = &mut self.queues[usize::from(index)];
        let dequeued = queue.inner.dequeue(now, random);
        if let Dequeued::Packet { packet, .. } = &dequeued {
            if let Some(shaper) = &mut queue.shaper {
                shaper.on_sent(packet.size, now);
            }
            if !queue.is_strict {
                self.turns.on_sent(index, packet.size.into());
            }
        }
        self.settle(index, true);
        dequeued
    }

    fn next_bytes(&mut self, now: Time) -> Option<u16> {
        let index = self.choose(now).ok()?;
        self.queues[usize::from(index)].inner.next_bytes(now)
    }

    fn take_displaced(&mut self) -> Option<(Packet, Reason)> {
        self.queues.iter_mut().find_map(|queue| queue.inner.take_displaced())
    }

    #[inline(never)]
    fn backlog(&self) -> Backlog {
        self.backlog_of(AnyQueue::backlog)
    }

    #[inline(never)]
    fn class_backlog(&self, class: Class) -> Backlog {
        self.backlog_of(|queue| queue.class_backlog(class))
    }

    #[inline(never)]
    fn next_timer(&self) -> Time {
        self.queues.iter().map(|queue| queue.inner.next_timer()).min().unwrap_or(Time::NEVER)
    }

    fn on_timer(&mut self, now: Time) {
        for queue in self.queues.iter_mut().filter(|queue| queue.inner.next_timer() <= now) {
            queue.inner.on_timer(now);
        }
    }
}
