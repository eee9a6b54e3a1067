//! Invariants of every queue, checked after every operation.

use super::promise::Promises;
use crate::{AnyQueue, Backlog, Class, Dequeued, Queue, QueueConfig, Reason, Verdict};
use shoal_packet::{Ecn, FlowId, Packet, Seq};
use shoal_units::{Rate, Span, Stream, Time};
use std::collections::VecDeque;

/// The operations on a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A packet arrives.
    Arrive {
        /// Flow of the packet.
        flow: FlowId,
        /// Size of the packet in bytes.
        size: u16,
        /// Codepoint of the packet.
        ecn: Ecn,
    },
    /// Time passes until the transmitter is free, then it takes a packet.
    Transmit,
    /// The queue is asked immediately, whatever the state of the transmitter.
    Take,
    /// Time passes.
    Wait(Span),
}

/// A queue with a plain list of the packets that should wait in it.
#[derive(Clone, Debug)]
pub struct Model {
    queue: AnyQueue,
    line_rate: Rate,
    promises: Promises,
    holds_back: bool,
    random: Stream,
    waiting: VecDeque<Waiting>,
    now: Time,
    free: Time,
    arrived: u64,
    dropped: u64,
    departed: u64,
    largest_backlog_bytes: u64,
    digest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    /// Packets with the same queue and number leave in the order of their arrival.
    order: (u8, u32),
    /// Codepoint of the packet on arrival.
    arrived_as: Ecn,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Queued,
    Dropped,
    Sent,
}

impl Model {
    /// Around an empty `queue` made of `config`.
    pub fn new(queue: AnyQueue, config: &QueueConfig, line_rate: Rate, random: Stream) -> Self {
        Self {
            queue,
            line_rate,
            promises: config.promises(),
            holds_back: config.holds_back(),
            random,
            waiting: VecDeque::new(),
            now: Time::ZERO,
            free: Time::ZERO,
            arrived: 0,
            dropped: 0,
            departed: 0,
            largest_backlog_bytes: 0,
            digest: 0,
        }
    }

    /// Carries out an operation and checks the invariants.
    ///
    /// # Panics
    /// If the queue breaks an invariant.
    pub fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Arrive { flow, size, ecn } => self.arrive(flow, size, ecn),
            Operation::Transmit => {
                self.advance_to(self.now.max(self.free));
                self.take();
            }
            Operation::Take => self.take(),
            Operation::Wait(span) => self.advance_to(self.now.saturating_add(span)),
        }
        self.check();
    }

    /// Takes all waiting packets and checks the balance.
    ///
    /// # Panics
    /// If packets were lost or invented.
    pub fn drain(&mut self) {
        while !self.waiting.is_empty() {
            self.apply(Operation::Transmit);
        }
        assert!(matches!(self.queue.dequeue(self.now, &mut self.random), Dequeued::Empty));
        assert_eq!(self.arrived, self.dropped + self.departed, "conservation");
    }

    /// A number that depends on all outcomes so far: two runs with different outcomes hardly ever share it.
    pub const fn digest(&self) -> u64 {
        self.digest
    }

    /// Adds an outcome to the digest.
    fn note(&mut self, outcome: Outcome, packet: &Packet, reason: Option<Reason>) {
        let packet = u64::from(packet.seq.0) << 8 | u64::from(packet.ecn.bits());
        let reason = reason.map_or(0, |reason| 1 + reason as u64);
        for word in [self.now.as_picos(), packet, reason << 8 | outcome as u64] {
            // As FNV-1a, by words.
            self.digest = (self.digest ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
    }

    fn advance_to(&mut self, then: Time) {
        // A timer expires at its time; after a long wait a few calls are enough.
        for _ in 0..4 {
            let due = self.queue.next_timer();
            if due > then || due == Time::NEVER {
                break;
            }
            assert!(due >= self.now, "a timer in the past");
            self.queue.on_timer(due);
            assert!(self.queue.next_timer() > due, "a timer that does not move");
        }
        if self.queue.next_timer() <= then {
            // Has no effect without a timer.
            self.queue.on_timer(then);
        }
        self.now = then;
    }

    fn arrive(&mut self, flow: FlowId, size: u16, ecn: Ecn) {
        self.arrived += 1;
        // Sequence numbers distinguish the packets.
        let packet = Packet { ecn, seq: Seq(self.arrived as u32), ..Packet::empty(flow, size) };
        let fits = self.fits(&packet);
        match self.queue.enqueue(&packet, self.now, &mut self.random) {
            Verdict::Queued { mark } => {
                self.note(Outcome::Queued, &packet, mark);
                assert!(fits, "queued beyond the limit");
                assert!(mark.is_none() || ecn.is_capable(), "marked a packet that is not ECT");
                self.wait_for(packet, mark);
            }
            Verdict::Displaced => {
                self.note(Outcome::Queued, &packet, None);
                assert!(!fits, "others were dropped although it fits");
                self.wait_for(packet, None);
                self.take_displaced();
            }
            Verdict::Dropped(reason) => {
                self.note(Outcome::Dropped, &packet, Some(reason));
                assert!(reason != Reason::Buffer || !fits, "dropped for the buffer although it fits");
                assert!(
                    reason == Reason::Buffer || !(ecn.is_capable() && self.promises.of(&packet).keeps_ect),
                    "dropped an ECT packet that fits"
                );
                self.dropped += 1;
            }
        }
    }

    fn wait_for(&mut self, packet: Packet, mark: Option<Reason>) {
        let order = (self.promises.queue_of(&packet), self.promises.of(&packet).order.group(&packet));
        let ecn = if mark.is_some() { Ecn::Ce } else { packet.ecn };
        let waits = Packet { ecn, enqueued: self.now, ..packet };
        self.waiting.push_back(Waiting { packet: waits, order, arrived_as: packet.ecn });
    }

    fn take_displaced(&mut self) {
        let dropped = self.dropped;
        while let Some((packet, reason)) = self.queue.take_displaced() {
            self.note(Outcome::Dropped, &packet, Some(reason));
            assert_eq!(packet, self.remove(packet), "changed");
            assert_eq!(reason, Reason::Buffer);
            self.dropped += 1;
        }
        assert!(self.dropped > dropped, "no packet was displaced");
    }

    fn take(&mut self) {
        let next_bytes = self.queue.next_bytes(self.now);
        let dequeued = self.queue.dequeue(self.now, &mut self.random);
        if let Dequeued::Packet { packet, .. } | Dequeued::Dropped { packet, .. } = &dequeued {
            assert_eq!(next_bytes, Some(packet.size), "another packet than the next one left");
        } else {
            assert_eq!(next_bytes, None, "the next packet did not leave");
        }
        match dequeued {
            Dequeued::Empty => assert!(self.waiting.is_empty(), "empty although something waits"),
            Dequeued::Held { until } => {
                assert!(self.holds_back && !self.waiting.is_empty(), "nothing to hold back");
                assert!(until > self.now && until < Time::NEVER, "held until {until:?}");
                self.free = self.free.max(until);
            }
            Dequeued::Packet { packet, mark, .. } => {
                self.note(Outcome::Sent, &packet, mark);
                let expected = self.remove(packet);
                assert!(mark.is_none() || expected.ecn.is_capable(), "marked a packet that is not ECT");
                let ecn = if mark.is_some() { Ecn::Ce } else { expected.ecn };
                assert_eq!(packet, Packet { ecn, ..expected }, "changed");
                assert!(packet.enqueued <= self.now, "negative sojourn time");
                self.departed += 1;
                self.free = self.now.saturating_add(self.line_rate.time_for(packet.size.into()));
            }
            Dequeued::Dropped { packet, reason } => {
                self.note(Outcome::Dropped, &packet, Some(reason));
                let expected = self.remove(packet);
                assert_eq!(packet, expected, "changed");
                assert!(
                    !(packet.ecn.is_capable() && self.promises.of(&packet).keeps_ect),
                    "dropped an ECT packet on departure"
                );
                self.dropped += 1;
            }
        }
    }

    /// Takes the packet that left off the list; it must be the oldest of those that keep their order.
    fn remove(&mut self, left: Packet) -> Packet {
        let position = self.waiting.iter().position(|waiting| waiting.packet.seq == left.seq);
        let position = position.expect("a packet that does not wait");
        let order = self.waiting[position].order;
        let overtook = self.waiting.iter().take(position).any(|earlier| earlier.order == order);
        assert!(!overtook, "not the oldest packet");
        self.waiting.remove(position).expect("found").packet
    }

    /// Computed from the configuration, not from the queue.
    fn fits(&self, packet: &Packet) -> bool {
        let queue = self.promises.queue_of(packet);
        let limit = self.promises.of(packet).limit;
        limit.admits(packet.size, packet.ecn, self.line_rate, |counts| {
            self.recount(|w| w.order.0 == queue && counts(w.arrived_as))
        })
    }

    fn recount(&self, of: impl Fn(&Waiting) -> bool) -> Backlog {
        let sizes = self.waiting.iter().filter(|waiting| of(waiting)).map(|w| u64::from(w.packet.size));
        Backlog { packets: sizes.clone().count() as u32, bytes: sizes.sum() }
    }

    fn check(&mut self) {
        let backlog = self.recount(|_| true);
        assert_eq!(self.queue.backlog(), backlog);
        for class in [Class::Ect, Class::NotEct] {
            assert_eq!(self.queue.class_backlog(class), self.recount(|w| Class::of(&w.packet) == class));
        }
        assert_eq!(self.arrived, u64::from(backlog.packets) + self.dropped + self.departed, "conservation");
        self.largest_backlog_bytes = self.largest_backlog_bytes.max(backlog.bytes);
        if let Some(probability) = self.queue.probability() {
            assert!((0.0..=1.0).contains(&probability), "probability {probability}");
        }
        if let Some(average) = self.queue.average_bytes().filter(|_| self.promises.averages_bytes()) {
            let largest = self.largest_backlog_bytes as f64 * (1.0 + 1e-9);
            assert!((0.0..=largest).contains(&average), "average {average} outside 0..={largest}");
        }
    }
}
