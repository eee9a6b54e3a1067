//! Traffic for a queue, and the record of the outcome of each operation.

use shoal_aqm::{Dequeued, Extent, Queue, Reason, Verdict};
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_units::{Rate, Span, Stream, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How often each outcome of each operation has been seen.
#[derive(Default, Debug)]
pub(super) struct Outcomes(BTreeMap<String, u32>);

impl Outcomes {
    /// Fails unless each outcome of "operation: outcome outcome ..." has been seen `least` times.
    pub(super) fn require(&self, least: u32, list: &str) {
        let (operation, outcomes) = list.split_once(": ").expect("an operation");
        for outcome in outcomes.split(' ') {
            let count = self.0.get(&format!("{operation} {outcome}"));
            assert!(count.is_some_and(|count| *count >= least), "{operation} {outcome}: {self:?}");
        }
    }
}

/// Limits of a module in packets and in bytes, of which one is 0 and means none.
pub(super) fn limit_row(limit: Extent) -> String {
    match limit {
        Extent::Packets(packets) => format!("{packets}\t0"),
        Extent::Bytes(bytes) => format!("0\t{bytes}"),
        other => panic!("{other:?}"),
    }
}

/// A queue under scripted traffic. All times are whole nanoseconds, which is what modules count.
pub(super) struct Script<'a, Q> {
    pub queue: Q,
    line: Rate,
    ecn: &'a [Ecn],
    script: Stream,
    random: Stream,
    now: Time,
    free: Time,
    pub text: &'a mut String,
    pub outcomes: &'a mut Outcomes,
}

/// What the record says after an operation besides its outcome.
pub(super) type State<Q> = fn(&Q) -> String;

impl<'a, Q: Queue> Script<'a, Q> {
    pub(super) fn new(
        queue: Q,
        line: Rate,
        ecn: &'a [Ecn],
        seed: u64,
        text: &'a mut String,
        outcomes: &'a mut Outcomes,
    ) -> Self {
        assert_eq!(8_000_000_000 % line.as_bps(), 0, "whole nanoseconds a byte");
        let stream = |name| Stream::new(seed, name);
        Self {
            queue,
            line,
            ecn,
            script: stream("script"),
            random: stream("random"),
            now: Time::ZERO,
            free: Time::ZERO,
            text,
            outcomes,
        }
    }

    /// `operations` operations in phases of rising and falling load, with short and long pauses.
    pub(super) fn run(&mut self, operations: u32, state: State<Q>) {
        for n in 0..operations {
            let arrivals = if n / 150 % 2 == 0 { 11 } else { 5 };
            match self.script.uniform_u32() % 16 {
                choice if choice < arrivals => self.arrive(state),
                15 => self.wait(),
                14 if n % 5 == 0 => self.dequeue(state),
                _ => {
                    self.now = self.now.max(self.free);
                    self.dequeue(state);
                }
            }
        }
    }

    fn wait(&mut self) {
        let longest: u32 = match self.script.uniform_u32() % 8 {
            0 => 300_000_000,
            1..=3 => 5_000_000,
            _ => 200_000,
        };
        self.now += Span::from_nanos(u64::from(self.script.uniform_u32() % longest));
    }

    fn arrive(&mut self, state: State<Q>) {
        let size = [1500, 1500, 1500, 576, 40][(self.script.uniform_u32() % 5) as usize];
        let ecn = self.ecn[self.script.uniform_u32() as usize % self.ecn.len()];
        let packet = Packet { ecn, ..Packet::empty(FlowId(0), size) };
        let before = self.random.clone();
        let outcome = match self.queue.enqueue(&packet, self.now, &mut self.random) {
            Verdict::Queued { mark: None } => "queued".to_owned(),
            Verdict::Queued { mark: Some(reason) } => format!("mark-{}", name(reason)),
            Verdict::Dropped(reason) => format!("drop-{}", name(reason)),
            Verdict::Displaced => panic!("none of these queues drops waiting packets"),
        };
        self.record('a', &format!("{size}\t{}", u8::from(ecn.is_capable())), &before, &outcome, state);
    }

    /// A dropped packet is followed by the next one at once, as in a kernel's dequeue.
    fn dequeue(&mut self, state: State<Q>) {
        loop {
            let before = self.random.clone();
            match self.queue.dequeue(self.now, &mut self.random) {
                Dequeued::Empty | Dequeued::Held { .. } => {
                    return self.record('d', "0\t0", &before, "empty", state);
                }
                Dequeued::Packet { packet, mark, .. } => {
                    self.free = self.now + self.line.time_for(packet.size.into());
                    let outcome = mark.map_or("sent".to_owned(), |reason| format!("mark-{}", name(reason)));
                    return self.record('d', &described(&packet), &before, &outcome, state);
                }
                Dequeued::Dropped { packet, reason } => {
                    let outcome = format!("drop-{}", name(reason));
                    self.record('d', &described(&packet), &before, &outcome, state);
                }
            }
        }
    }

    fn record(&mut self, operation: char, packet: &str, before: &Stream, outcome: &str, state: State<Q>) {
        let draws = self.draws_since(before);
        let nanos = (self.now - Time::ZERO).as_picos() / 1000;
        let state = state(&self.queue);
        writeln!(self.text, "{operation}\t{nanos}\t{packet}\t{draws}\t{outcome}\t{state}").unwrap();
        *self.outcomes.0.entry(format!("{operation} {outcome}")).or_default() += 1;
    }

    /// The numbers drawn since `before`, by drawing them again.
    fn draws_since(&self, before: &Stream) -> String {
        let next = |stream: &Stream| {
            let mut stream = stream.clone();
            [0; 4].map(|_: u32| stream.uniform_u64())
        };
        let (mut stream, mut draws) = (before.clone(), vec![]);
        while next(&stream) != next(&self.random) {
            assert!(draws.len() < 2, "no law draws more than two numbers");
            draws.push(stream.uniform_u32().to_string());
        }
        if draws.is_empty() { "-".to_owned() } else { draws.join(",") }
    }
}

/// Size of the packet, and the queue from which it comes in a dual queue.
fn described(packet: &Packet) -> String {
    format!("{}\t{}", packet.size, u8::from(packet.ecn.is_capable()))
}

fn name(reason: Reason) -> String {
    format!("{reason:?}").to_lowercase()
}
