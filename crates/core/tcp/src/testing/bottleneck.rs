//! A sender and a receiver with a bottleneck between them that tests change while it runs: its rate, its buffer, what
//! it drops, and when acknowledgements arrive.

use super::Direction;
use crate::{EndpointConfig, Receiver, Sender};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use shoal_packet::{FlowId, Packet};
use shoal_units::{Rate, Span, Time};

/// A token bucket without a queue: what finds too few tokens is dropped.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    /// Rate of the tokens.
    pub rate: Rate,
    /// Tokens that the bucket holds, in bytes.
    pub burst_bytes: u64,
    tokens: u64,
    filled: Time,
}

impl Policer {
    /// A full bucket.
    pub const fn new(rate: Rate, burst_bytes: u64) -> Self {
        Self { rate, burst_bytes, tokens: burst_bytes, filled: Time::ZERO }
    }

    fn passes(&mut self, bytes: u64, now: Time) -> bool {
        self.tokens = self.burst_bytes.min(self.tokens + self.rate.bytes_in(now.since(self.filled)));
        self.filled = now;
        let passes = self.tokens >= bytes;
        self.tokens -= if passes { bytes } else { 0 };
        passes
    }
}

/// What happens to a data packet besides the queue: `None` if it is dropped, else how much later it arrives.
type Hook = Box<dyn FnMut(&Packet, Time) -> Option<Span>>;

/// A connection through a bottleneck.
pub struct Bottleneck {
    /// Configuration of both ends.
    pub config: EndpointConfig,
    /// The sending end.
    pub sender: Sender,
    /// The receiving end.
    pub receiver: Receiver,
    /// The present.
    pub now: Time,
    /// Rate of the link for packets that are sent from now on.
    pub rate: Rate,
    /// Packets that it holds, with the one on the wire.
    pub buffer_packets: usize,
    /// Propagation delay one way.
    pub delay: Span,
    /// Acknowledgements arrive at multiples of this time only.
    pub ack_every: Option<Span>,
    /// A token bucket in front of the link.
    pub policer: Option<Policer>,
    /// What else happens to data packets.
    pub hook: Hook,
    /// Packets dropped so far.
    pub dropped: u64,
    free: Time,
    waiting: VecDeque<Time>,
    travelling: BTreeMap<(Time, u64), (Direction, Packet)>,
    sent: u64,
}

impl Bottleneck {
    /// A closed connection with the round-trip time `rtt`.
    pub fn new(config: EndpointConfig, rate: Rate, rtt: Span, buffer_packets: usize) -> Self {
        Self {
            config,
            sender: Sender::new(&config, FlowId(0)),
            receiver: Receiver::new(&config, FlowId(0)),
            now: Time::ZERO,
            rate,
            buffer_packets,
            delay: rtt / 2,
            ack_every: None,
            policer: None,
            hook: Box::new(|_, _| Some(Span::ZERO)),
            dropped: 0,
            free: Time::ZERO,
            waiting: VecDeque::new(),
            travelling: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Calls the sender and sends what it transmits.
    pub fn with_sender(&mut self, call: impl FnOnce(&mut Sender, &EndpointConfig, Time, &mut Vec<Packet>)) {
        let mut out = Vec::new();
        call(&mut self.sender, &self.config, self.now, &mut out);
        for packet in out {
            self.send_data(packet);
        }
    }

    fn send_data(&mut self, packet: Packet) {
        let bytes = u64::from(packet.size);
        let passes = self.policer.as_mut().is_none_or(|policer| policer.passes(bytes, self.now));
        let later = (self.hook)(&packet, self.now).filter(|_| passes);
        while self.waiting.front().is_some_and(|leaves| *leaves <= self.now) {
            self.waiting.pop_front();
        }
        let Some(later) = later.filter(|_| self.waiting.len() < self.buffer_packets) else {
            self.dropped += 1;
            return;
        };
        self.free = self.free.max(self.now) + self.rate.time_for(bytes);
        self.waiting.push_back(self.free);
        self.travel(self.free + self.delay + later, Direction::Data, packet);
    }

    fn with_receiver(&mut self, call: impl FnOnce(&mut Receiver, &EndpointConfig, Time, &mut Vec<Packet>)) {
        let mut out = Vec::new();
        call(&mut self.receiver, &self.config, self.now, &mut out);
        for packet in out {
            let mut arrival = self.now + self.delay;
            if let Some(every) = self.ack_every {
                arrival = Time::from_picos(arrival.as_picos().next_multiple_of(every.as_picos()));
            }
            self.travel(arrival, Direction::Ack, packet);
        }
    }

    fn travel(&mut self, arrival: Time, direction: Direction, packet: Packet) {
        self.travelling.insert((arrival, self.sent), (direction, packet));
        self.sent += 1;
    }

    fn next_event(&self) -> Time {
        let arrival = self.travelling.first_key_value().map_or(Time::NEVER, |(&(time, _), _)| time);
        arrival.min(self.sender.deadline()).min(self.receiver.deadline())
    }

    fn step(&mut self) {
        self.now = self.now.max(self.next_event());
        match self.travelling.first_entry() {
            Some(entry) if entry.key().0 <= self.now => match entry.remove() {
                (Direction::Data, packet) => {
                    self.with_receiver(|r, config, now, out| r.on_packet(config, &packet, now, out));
                }
                (Direction::Ack, packet) => {
                    self.with_sender(|s, config, now, out| s.on_packet(config, &packet, now, out));
                }
            },
            _ if self.sender.deadline() <= self.now => self.with_sender(Sender::on_timer),
            _ => self.with_receiver(Receiver::on_timer),
        }
    }

    /// Carries out events until `is_done`, or until `span` has passed. Returns whether it is done.
    pub fn run_until(&mut self, span: Span, mut is_done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + span;
        while self.next_event() <= end {
            self.step();
            if is_done(self) {
                return true;
            }
        }
        self.now = end;
        false
    }

    /// Carries out events for `span`.
    pub fn run(&mut self, span: Span) {
        self.run_until(span, |_| false);
    }

    /// For `span`, the application writes `bytes` every millisecond, unless `is_done`. Returns whether it is.
    pub fn run_application(
        &mut self,
        span: Span,
        bytes: u64,
        mut is_done: impl FnMut(&Self) -> bool,
    ) -> bool {
        let end = self.now + span;
        while self.now < end {
            self.with_sender(|s, config, now, out| s.write(config, bytes, now, out));
            if self.run_until(Span::from_millis(1), &mut is_done) {
                return true;
            }
        }
        false
    }
}
