//! Fair queueing with CoDel.
//!
//! Flows are hashed to queues, which take turns by bytes (deficit round robin), those that begin to send first; each
//! has the law of [`Codel`](crate::Codel). What does not fit makes room by dropping from the head of the fattest queue.
//! Follows RFC 8290 (<https://www.rfc-editor.org/rfc/rfc8290>) as `net/sched/sch_fq_codel.c` has it
//! (<https://elixir.bootlin.com/linux/v7.3/source/net/sched/sch_fq_codel.c>); where it departs is listed in
//! [`FqCodelConfig::DOC`].
//!
//! It is a shell of its own: packets lie in chains of one memory, an arrival may drop others, and one law is kept for
//! each queue.

mod chains;
mod classify;
mod config;
mod doc;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{FlowQueues, FqCodelConfig};

use super::codel::{Control, Parameters};
use crate::sched::Drr;
use crate::shell::{Bound, Decision, Transmitter, mark};
use crate::{Backlog, Class, Dequeued, Queue, Reason, Tunnels, Verdict};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use chains::{Chain, Chains};
use classify::Classifier;
use shoal_packet::Packet;
use shoal_units::{Rate, Stream, Time};

/// Queues served in turn, each with a CoDel law; queues that begin to send come first.
#[derive(Clone, Debug)]
pub struct FqCodel {
    classifier: Classifier,
    tunnels: Tunnels,
    parameters: Parameters,
    queues: Vec<FlowQueue>,
    chains: Chains,
    turns: Drr,
    line: Transmitter,
    all: Backlog,
    ect: Backlog,
    limit: Bound,
    drop_batch: u32,
    /// Packets that were dropped for lack of room and have not been fetched yet.
    displaced: VecDeque<Packet>,
}

/// One queue.
#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    chain: Chain,
    bytes: u64,
    law: Control,
}

impl FqCodel {
    /// An empty queue at a line of `line_rate`.
    ///
    /// # Panics
    /// If the line rate is zero.
    fn new(config: &FqCodelConfig, line_rate: Rate) -> Self {
        let classifier = Classifier::new(config.flows);
        let queues = classifier.queues();
        Self {
            classifier,
            tunnels: Tunnels::default(),
            parameters: Parameters::new(&config.law),
            queues: vec![FlowQueue::EMPTY; queues],
            chains: Chains::new(),
            // `fq_codel_change` raises smaller quanta.
            turns: Drr::new(queues, config.quantum_bytes.max(256)),
            line: Transmitter::new(line_rate),
            all: Backlog::default(),
            ect: Backlog::default(),
            limit: Bound::new(config.limit, line_rate).and_bytes(config.memory_limit_bytes),
            drop_batch: config.drop_batch.max(1),
            displaced: VecDeque::new(),
        }
    }

    #[inline]
    fn push(&mut self, index: u32, mut packet: Packet, now: Time) {
        packet.enqueued = now;
        let queue = &mut self.queues[index as usize];
        queue.bytes += u64::from(packet.size);
        self.all.put(packet.size);
        if packet.ecn.is_capable() {
            self.ect.put(packet.size);
        }
        self.chains.push(&mut queue.chain, packet);
    }

    #[inline]
    fn pop(&mut self, index: u32) -> Option<Packet> {
        let queue = &mut self.queues[index as usize];
        let packet = self.chains.pop(&mut queue.chain)?;
        queue.bytes -= u64::from(packet.size);
        self.all.take(packet.size);
        if packet.ecn.is_capable() {
            self.ect.take(packet.size);
        }
        Some(packet)
    }

    /// The queue that sends next. Queues that have nothing are told so and leave the lists.
    #[inline]
    fn turn(&mut self) -> Option<u32> {
        loop {
            let index = self.turns.turn()?;
            let queue = &mut self.queues[index as usize];
            if !queue.chain.is_empty() {
                return Some(index);
            }
            queue.law.on_empty();
            self.turns.on_empty(index);
        }
    }

    /// Drops packets from the head of the longest queue until half of its bytes or a batch are gone
    /// (`fq_codel_drop`).
    #[cold]
    fn cut_fattest(&mut self) {
        let Some(index) = self.fattest() else { return };
        let half = self.queues[index as usize].bytes >> 1;
        let (mut packets, mut bytes) = (0, 0);
        while let Some(packet) = self.pop(index) {
            packets += 1;
            bytes += u64::from(packet.size);
            self.displaced.push_back(packet);
            if packets >= self.drop_batch || bytes >= half {
                break;
            }
        }
        self.queues[index as usize].law.on_overflow(packets);
    }

    /// The queue with the most bytes; of equal ones the one with the lowest number, as a scan of all finds
    /// it. Only queues in the lists hold packets.
    fn fattest(&self) -> Option<u32> {
        let holding = self.turns.listed().filter(|&index| !self.queues[index as usize].chain.is_empty());
        holding.max_by_key(|&index| (self.queues[index as usize].bytes, u32::MAX - index))
    }

    /// Removes all queues from the lists: when the line became free, the kernel asked again and found no
    /// packet.
    #[cold]
    fn fall_idle(&mut self) {
        while let Some(index) = self.turns.turn() {
            self.queues[index as usize].law.on_empty();
            self.turns.on_empty(index);
        }
    }
}

impl Queue for FqCodel {
    #[inline]
    fn enqueue(&mut self, packet: &Packet, now: Time, random: &mut Stream) -> Verdict {
        if !self.turns.is_idle() && self.line.idle_since(Time::ZERO, self.all, now).is_some() {
            self.fall_idle();
        }
        let index = self.classifier.queue_of(self.tunnels.outer(packet.flow), random);
        if index as usize >= self.queues.len() {
            self.queues.resize(index as usize + 1, FlowQueue::EMPTY);
            self.turns.grow(index as usize + 1);
        }
        self.push(index, *packet, now);
        self.turns.activate(index);
        if !self.limit.is_exceeded_by(self.all) {
            return Verdict::Queued { mark: None };
        }
        self.cut_fattest();
        Verdict::Displaced
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Stream) -> Dequeued {
        if let Some(index) = self.turn()
            && let Some(mut packet) = self.pop(index)
        {
            // All waiting bytes, not only those of this queue.
            let backlog_bytes = self.all.bytes;
            let law = &mut self.queues[index as usize].law;
            let was_marked = packet.ecn.is_ce();
            let mark = match law.on_packet(&self.parameters, &packet, backlog_bytes, now) {
                Decision::Pass => None,
                Decision::Mark(reason) => mark(&mut packet).then_some(reason),
                Decision::Drop(reason) => return Dequeued::Dropped { packet, reason },
            };
            self.turns.on_sent(index, packet.size);
            self.line.on_departure(packet.size, now);
            return Dequeued::Packet { packet, mark, was_marked };
        }
        self.line.on_empty(now);
        Dequeued::Empty
    }

    fn next_bytes(&mut self, _: Time) -> Option<u16> {
        let index = self.turn()?;
        self.chains.next_bytes(self.queues[index as usize].chain)
    }

    fn take_displaced(&mut self) -> Option<(Packet, Reason)> {
        Some((self.displaced.pop_front()?, Reason::Buffer))
    }

    fn set_tunnels(&mut self, tunnels: &Tunnels) {
        self.tunnels = tunnels.clone();
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.all
    }

    #[inline]
    fn class_backlog(&self, class: Class) -> Backlog {
        match class {
            Class::Ect => self.ect,
            Class::NotEct => self.all.without(self.ect),
        }
    }

    fn retune(&mut self, newer: &Self) -> bool {
        self.parameters = newer.parameters;
        true
    }
}

impl FlowQueue {
    const EMPTY: Self = Self { chain: Chain::EMPTY, bytes: 0, law: Control::new() };
}
