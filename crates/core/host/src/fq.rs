//! The queue discipline `fq` of a sending host
//! ([`net/sched/sch_fq.c`](https://elixir.bootlin.com/linux/v6.12/source/net/sched/sch_fq.c)).
//!
//! TCP hands segments over with the time from which each may leave. A connection whose next segment is not due is set
//! aside until it is; those that have something due take turns by deficit round robin, new ones first.

mod backlog;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BinaryHeap, VecDeque};
use alloc::vec::Vec;
use backlog::Backlog;
use core::cmp::Reverse;
use shoal_packet::{FlowId, Packet};
use shoal_units::cast::count_u32;
use shoal_units::{Span, Time};

/// Bytes of an Ethernet header, which the discipline counts with every packet (Linux `psched_mtu`,
/// `qdisc_pkt_len_init`).
const ETHERNET_BYTES: u32 = 14;
/// A connection that had nothing to send for longer begins with a whole quantum (Linux `flow_refill_delay`).
const REFILL_DELAY: Span = Span::from_millis(40);
/// Due segments that pass by the queues of the connections at most (Linux `fq_fastpath_check`).
const MOST_PASSING: usize = 8;

/// How many bytes connections send in a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quanta {
    /// Bytes of a turn, with Ethernet headers (`tc fq`: `quantum`).
    pub turn_bytes: u32,
    /// Bytes of the first turn of a connection (`tc fq`: `initial_quantum`).
    pub first_bytes: u32,
}

impl Quanta {
    /// The defaults of Linux: two packets and ten.
    pub const fn of_mtu(mtu_bytes: u16) -> Self {
        let packet = mtu_bytes as u32 + ETHERNET_BYTES;
        Self { turn_bytes: 2 * packet, first_bytes: 10 * packet }
    }
}

/// A segment that waits, or leaves: its packets follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Its connection.
    pub flow: FlowId,
    /// When it may leave.
    pub due: Time,
    /// Number of its packets.
    pub packets: u32,
    /// Bytes of its packets with Ethernet headers.
    pub bytes: u32,
    /// Whether TCP counts it until it has left (Linux `sk_wmem_alloc`).
    pub is_counted: bool,
}

/// Where a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// In no list, since this time.
    Detached(Time),
    /// In the list of new or of old connections.
    Listed,
    /// Set aside until its next segment is due.
    Throttled,
}

/// What the discipline knows of a connection.
#[derive(Clone, Debug)]
struct Connection {
    backlog: Backlog,
    /// Bytes that it may still send in its turn.
    credit: i64,
    place: Place,
}

/// The discipline of one host.
#[derive(Clone, Debug)]
pub struct Fq {
    quanta: Quanta,
    connections: Vec<Connection>,
    number_of: BTreeMap<FlowId, usize>,
    /// Due segments that found nothing due before them (Linux `internal`).
    passing: Backlog,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// Connections whose next segment is not due, by its time and then by the time at which they were set aside.
    throttled: BinaryHeap<Reverse<(Time, u64, usize)>>,
    /// How often one was set aside.
    throttlings: u64,
    /// Connections that have segments and are not set aside.
    eligible: usize,
    /// Number of waiting packets.
    packets: usize,
}

impl Fq {
    /// An empty queue.
    pub fn new(quanta: Quanta) -> Self {
        Self {
            quanta,
            connections: Vec::new(),
            number_of: BTreeMap::new(),
            passing: Backlog::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            throttled: BinaryHeap::new(),
            throttlings: 0,
            eligible: 0,
            packets: 0,
        }
    }

    /// Takes the packets of a segment of one connection that may leave at `due`; `is_counted` is returned with it.
    /// Without packets nothing happens.
    pub fn enqueue(&mut self, packets: &[Packet], due: Time, is_counted: bool, now: Time) {
        let Some(first) = packets.first() else { return };
        let bytes = packets.iter().map(|packet| u32::from(packet.size) + ETHERNET_BYTES).sum();
        let waiting = Waiting { flow: first.flow, due, packets: count_u32(packets.len()), bytes, is_counted };
        self.packets += packets.len();
        if self.passes(&waiting, now) {
            return self.passing.push(waiting, packets);
        }
        let first_bytes = self.quanta.first_bytes.into();
        let next = self.connections.len();
        let number = *self.number_of.entry(first.flow).or_insert(next);
        if number == next {
            // Whoever is new counts as emptied just now, and gets no second quantum for having waited.
            let place = Place::Detached(now);
            self.connections.push(Connection { backlog: Backlog::default(), credit: first_bytes, place });
        }
        let connection = &mut self.connections[number];
        if let Place::Detached(since) = connection.place {
            if now.since(since) > REFILL_DELAY {
                connection.credit = connection.credit.max(self.quanta.turn_bytes.into());
            }
            connection.place = Place::Listed;
            self.new.push_back(number);
        }
        if connection.backlog.is_empty() {
            self.eligible += 1;
        }
        connection.backlog.push(waiting, packets);
    }

    /// Whether a segment may leave before all that waits, because nothing else is due (Linux `fq_fastpath_check`).
    fn passes(&self, waiting: &Waiting, now: Time) -> bool {
        waiting.due <= now
            && self.eligible == 0
            && self.passing.segments() < MOST_PASSING
            && self.next_due() > now
    }

    /// When the next of the connections that were set aside has something due.
    fn next_due(&self) -> Time {
        self.throttled.peek().map_or(Time::NEVER, |Reverse((due, _, _))| *due)
    }

    /// The next segment that may leave, whose packets are put into `packets`; `None` if none is due (Linux
    /// `fq_dequeue`).
    pub fn dequeue(&mut self, now: Time, packets: &mut Vec<Packet>) -> Option<Waiting> {
        let leaving = self.next(now, packets)?;
        self.packets -= leaving.packets as usize;
        Some(leaving)
    }

    fn next(&mut self, now: Time, packets: &mut Vec<Packet>) -> Option<Waiting> {
        if let Some(passing) = self.passing.pop(packets) {
            return Some(passing);
        }
        while self.next_due() <= now
            && let Some(Reverse((_, _, number))) = self.throttled.pop()
        {
            self.connections[number].place = Place::Listed;
            self.old.push_back(number);
            self.eligible += 1;
        }
        loop {
            let is_new = !self.new.is_empty();
            let number = *if is_new { self.new.front() } else { self.old.front() }?;
            let connection = &mut self.connections[number];
            if connection.credit <= 0 {
                connection.credit += i64::from(self.quanta.turn_bytes);
                self.pop_front(is_new);
                self.old.push_back(number);
                continue;
            }
            match connection.backlog.next_due() {
                None => {
                    // A new connection passes through the old ones before it leaves the lists, lest it starve them.
                    if !is_new {
                        connection.place = Place::Detached(now);
                    }
                    self.pop_front(is_new);
                    if is_new {
                        self.old.push_back(number);
                    }
                }
                Some(due) if due > now => {
                    connection.place = Place::Throttled;
                    self.pop_front(is_new);
                    self.eligible -= 1;
                    self.throttlings += 1;
                    self.throttled.push(Reverse((due, self.throttlings, number)));
                }
                Some(_) => {
                    let leaving = connection.backlog.pop(packets)?;
                    connection.credit -= i64::from(leaving.bytes);
                    if connection.backlog.is_empty() {
                        self.eligible -= 1;
                    }
                    return Some(leaving);
                }
            }
        }
    }

    fn pop_front(&mut self, is_new: bool) {
        if is_new {
            self.new.pop_front()
        } else {
            self.old.pop_front()
        };
    }

    /// When the next segment is due, once [`Self::dequeue`] has found none; [`Time::NEVER`] if none waits.
    pub fn deadline(&self) -> Time {
        self.next_due()
    }

    /// Number of waiting packets.
    pub fn packets(&self) -> usize {
        self.packets
    }
}
