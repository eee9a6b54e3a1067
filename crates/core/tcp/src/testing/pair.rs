//! A sender and a receiver with a fixed delay between them, and a hook that decides what happens to each packet.

use crate::{EndpointConfig, Receiver, Sender};
use shoal_packet::{FlowId, Packet};
use shoal_units::{Span, Time};
use std::collections::BTreeMap;

/// The direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the sender to the receiver.
    Data,
    /// From the receiver to the sender.
    Ack,
}

/// What happens to a packet on its way. Marks are made in the packet itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It arrives after the delay.
    Deliver,
    /// It is lost.
    Drop,
    /// It arrives that much later.
    Late(Span),
    /// It arrives twice, the second time that much later.
    Twice(Span),
}

/// A connection between two endpoints, which checks the invariants of the sender after every event.
#[derive(Debug)]
pub struct Pair<H> {
    /// Configuration of both ends.
    pub config: EndpointConfig,
    /// The sending end.
    pub sender: Sender,
    /// The receiving end.
    pub receiver: Receiver,
    /// The present.
    pub now: Time,
    hook: H,
    delay: Span,
    travelling: BTreeMap<(Time, u64), (Direction, Packet)>,
    sent: u64,
}

impl<H: FnMut(Direction, &mut Packet) -> Fate> Pair<H> {
    /// A closed connection with `delay` one way.
    pub fn new(config: EndpointConfig, delay: Span, hook: H) -> Self {
        Self {
            config,
            sender: Sender::new(&config, FlowId(0)),
            receiver: Receiver::new(&config, FlowId(0)),
            now: Time::ZERO,
            hook,
            delay,
            travelling: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Calls the sender and sends what it transmits.
    ///
    /// # Panics
    /// If an invariant does not hold.
    pub fn with_sender(&mut self, call: impl FnOnce(&mut Sender, &EndpointConfig, Time, &mut Vec<Packet>)) {
        let before = (self.sender.snd_una(), self.sender.snd_nxt());
        let mut out = Vec::new();
        call(&mut self.sender, &self.config, self.now, &mut out);
        self.sender.assert_invariants();
        assert!(
            before.0 <= self.sender.snd_una() && before.1 <= self.sender.snd_nxt(),
            "positions went back"
        );
        self.send(Direction::Data, out);
    }

    fn with_receiver(&mut self, call: impl FnOnce(&mut Receiver, &EndpointConfig, Time, &mut Vec<Packet>)) {
        let mut out = Vec::new();
        call(&mut self.receiver, &self.config, self.now, &mut out);
        self.send(Direction::Ack, out);
    }

    fn send(&mut self, direction: Direction, packets: Vec<Packet>) {
        for mut packet in packets {
            let arrival = self.now + self.delay;
            match (self.hook)(direction, &mut packet) {
                Fate::Drop => {}
                Fate::Deliver => self.travel(arrival, direction, packet),
                Fate::Late(by) => self.travel(arrival + by, direction, packet),
                Fate::Twice(by) => {
                    self.travel(arrival, direction, packet);
                    self.travel(arrival + by, direction, packet);
                }
            }
        }
    }

    fn travel(&mut self, arrival: Time, direction: Direction, packet: Packet) {
        self.travelling.insert((arrival, self.sent), (direction, packet));
        self.sent += 1;
    }

    /// Time of the next event.
    pub fn next_event(&self) -> Time {
        let arrival = self.travelling.first_key_value().map_or(Time::NEVER, |(&(time, _), _)| time);
        arrival.min(self.sender.deadline()).min(self.receiver.deadline())
    }

    /// Carries out the next event. Returns false if there is none.
    pub fn step(&mut self) -> bool {
        let next = self.next_event();
        if next == Time::NEVER {
            return false;
        }
        self.now = self.now.max(next);
        match self.travelling.first_entry() {
            Some(entry) if entry.key().0 <= self.now => {
                let (direction, packet) = entry.remove();
                match direction {
                    Direction::Data => {
                        self.with_receiver(|r, config, now, out| r.on_packet(config, &packet, now, out));
                    }
                    Direction::Ack => {
                        self.with_sender(|s, config, now, out| s.on_packet(config, &packet, now, out));
                    }
                }
            }
            _ if self.sender.deadline() <= self.now => {
                self.with_sender(Sender::on_timer);
            }
            _ => self.with_receiver(Receiver::on_timer),
        }
        true
    }

    /// Carries out all events up to and including `end`.
    pub fn run_until(&mut self, end: Time) {
        while self.next_event() <= end && self.step() {}
        self.now = self.now.max(end);
    }

    /// Opens the connection and transfers `bytes`. Returns the time at which all of them are acknowledged.
    ///
    /// # Panics
    /// If that has not happened by `limit`.
    pub fn transfer(&mut self, bytes: u64, limit: Time) -> Time {
        self.with_sender(Sender::connect);
        self.with_sender(|s, config, now, out| s.write_last(config, bytes, now, out));
        while !self.sender.is_drained() {
            assert!(self.step() && self.now <= limit, "stuck at {:?}: {:?}", self.now, self.sender);
        }
        self.now
    }
}
