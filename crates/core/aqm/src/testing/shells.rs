//! The two shells of a law that decides on arrival, on the same arrivals.

use super::{Input, Kind, Operation};
use crate::{AnyQueue, Backlog, Dequeued, Queue, Start, Verdict, Watch};
use proptest::prelude::*;
use shoal_packet::Packet;
use shoal_units::{Rate, Serialiser, Stream, Time};
use std::collections::BTreeSet;

/// What a queue and the line behind it do, in order.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Event {
    /// An arrival, and what waits then.
    Arrival(Verdict, Backlog),
    /// The transmission of a packet begins, and this is left.
    Start(Time, Backlog),
    /// The average in bytes and the probability of the law.
    Law(Option<f64>, Option<f64>),
}

impl Watch for Vec<Event> {
    fn on_verdict(&mut self, _: &Packet, verdict: Verdict, waiting: Backlog, _: Time) {
        self.push(Event::Arrival(verdict, waiting));
    }
    fn on_start(&mut self, start: &Start, waiting: Backlog) {
        self.push(Event::Start(start.at, waiting));
    }
    /// Every second one is told at once.
    fn on_passing(&mut self, packet: &Packet, verdict: Verdict, now: Time) -> bool {
        let at_once = self.len().is_multiple_of(2);
        if at_once {
            self.on_verdict(packet, verdict, Backlog { packets: 1, bytes: packet.size.into() }, now);
            self.push(Event::Start(now, Backlog::default()));
        }
        at_once
    }
}

/// Packets that come to a line of `rate` with the gaps that `operations` say.
fn arrivals(operations: &[Operation], rate: Rate) -> Vec<(Time, Packet)> {
    let (mut now, mut arrivals) = (Time::ZERO, Vec::new());
    for operation in operations {
        match *operation {
            Operation::Arrive { flow, size, ecn } => {
                arrivals.push((now, Packet { ecn, ..Packet::empty(flow, size) }));
            }
            // At the very end of a transmission, perhaps.
            Operation::Transmit | Operation::Take => now = now.saturating_add(rate.time_for(1500)),
            Operation::Wait(span) => now = now.saturating_add(span),
        }
    }
    arrivals.retain(|(now, _)| now.as_picos() < u64::MAX / 4);
    arrivals
}

fn with_packets(mut queue: AnyQueue, line: Serialiser, arrivals: &[(Time, Packet)]) -> Vec<Event> {
    let (mut free, mut random, mut events) = (Time::ZERO, Stream::new(1, "shells"), Vec::new());
    let last = Time::from_picos(u64::MAX / 2);
    for (now, packet) in arrivals.iter().map(|(now, packet)| (*now, Some(*packet))).chain([(last, None)]) {
        let transmit = |queue: &mut AnyQueue, free: &mut Time, random: &mut Stream, events: &mut Vec<_>| {
            while *free <= now && queue.backlog().packets > 0 {
                let Dequeued::Packet { packet, mark: None, .. } = queue.dequeue(*free, random) else {
                    panic!("a decision on departure");
                };
                events.push(Event::Start(*free, queue.backlog()));
                *free = free.saturating_add(line.span(packet.size.into()));
            }
        };
        transmit(&mut queue, &mut free, &mut random, &mut events);
        let Some(packet) = packet else { break };
        let verdict = queue.enqueue(&packet, now, &mut random);
        events.push(Event::Arrival(verdict, queue.backlog()));
        free = free.max(now);
        transmit(&mut queue, &mut free, &mut random, &mut events);
        events.push(Event::Law(queue.average_bytes(), queue.probability()));
    }
    events
}

fn without_packets(queue: &AnyQueue, line: Serialiser, arrivals: &[(Time, Packet)]) -> Option<Vec<Event>> {
    let mut queue = queue.closed()?;
    let (mut free, mut random, mut events) = (Time::ZERO, Stream::new(1, "shells"), Vec::new());
    for (now, packet) in arrivals {
        let start = free.max(*now);
        let verdict = queue.arrive(packet, start, *now, &mut random, &mut events);
        if let Verdict::Queued { .. } = verdict {
            free = start.saturating_add(line.span(packet.size.into()));
        }
        events.push(Event::Law(queue.average_bytes(), queue.probability()));
    }
    queue.leave(Time::from_picos(u64::MAX / 2), &mut events);
    Some(events)
}

/// Compares the shells of the queue of `kind` that `bytes` describe; whether there was a second shell to compare.
fn compare(kind: Kind, bytes: &[u8]) -> bool {
    let mut input = Input::new(bytes);
    let rate = input.rate();
    let config = input.config(kind, rate);
    let Ok(queue) = AnyQueue::try_new(&config, rate) else { return false };
    let operations: Vec<Operation> = core::iter::from_fn(|| input.operation()).collect();
    let (line, arrivals) = (Serialiser::new(rate), arrivals(&operations, rate));
    let Some(events) = without_packets(&queue, line, &arrivals) else { return false };
    assert_eq!(events, with_packets(queue, line, &arrivals), "{config:?}");
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn both_shells_do_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        for &kind in Kind::ALL {
            compare(kind, &bytes);
        }
    }
}

/// The property above compares every law of one queue that decides on arrival, and no other one.
#[test]
fn laws_that_decide_on_arrival_have_both_shells() {
    const SEED: u64 = 9;
    let mut random = Stream::new(SEED, "shells");
    let mut compared = BTreeSet::new();
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..600).map(|_| (random.uniform_u32() >> 24) as u8).collect();
        compared
            .extend(Kind::ALL.iter().filter(|kind| compare(**kind, &bytes)).map(|kind| format!("{kind:?}")));
    }
    let closed = ["Fifo", "Step", "Red", "LinuxRed", "DualRed", "OpenLoop", "Coupled", "Gred", "Wred"];
    assert_eq!(compared, closed.map(str::to_owned).into(), "seed {SEED}");
}
