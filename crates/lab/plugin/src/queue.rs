//! The law of a queue from outside.

use crate::body::{Body, Call};
use crate::program::Program;
use shoal_aqm::{Backlog, Class, Decision, Extent, ExternalQueue, Store, Waiting};
use shoal_law::{DRAWS, NONE, QUEUE_ANSWERS, QueueCalls, QueueWord, Words};
use shoal_packet::{Packet, Reason};
use shoal_units::{Rate, Stream, Time};

/// Reasons by the numbers that laws give them.
const REASONS: [Reason; 6] =
    [Reason::Buffer, Reason::Threshold, Reason::Early, Reason::Forced, Reason::Coupled, Reason::Sojourn];
/// The number that a law gives no other instead of: a random early decision.
const EARLY: u64 = 2;

/// The law of one queue.
#[derive(Debug)]
pub(crate) struct Queue {
    program: &'static Program,
    calls: QueueCalls<Call>,
    body: Box<dyn Body>,
    words: Words,
    arrivals: u64,
    has_failed: bool,
}

/// The words of a queue of capacity `limit` at a line of `line_rate` before the first call.
pub(crate) fn words_of(limit: Extent, line_rate: Rate, values: &mut dyn Iterator<Item = f64>) -> Words {
    let bound = shoal_aqm::Bound::new(limit, line_rate);
    Words::of_queue(line_rate.as_bps(), bound.packets(), bound.bytes(), values)
}

impl Queue {
    /// A new law.
    pub(crate) fn start(program: &'static Program, words: Words) -> Self {
        let mut body = program.start();
        let calls = QueueCalls::of(|name| body.function(name))
            .unwrap_or_else(|what| program.fail(what, Time::ZERO, 0));
        let mut queue = Self { program, calls, body, words, arrivals: 0, has_failed: false };
        queue.ask(calls.on_init, Time::ZERO, None, &|_| {});
        queue
    }

    /// Calls `call` with the words that `fill` sets. Returns its answer, or zero if the law has no such function.
    fn ask(
        &mut self,
        call: Option<Call>,
        now: Time,
        random: Option<&mut Stream>,
        fill: &dyn Fn(&mut Words),
    ) -> i32 {
        let Some(call) = call else { return 0 };
        self.words.set(QueueWord::now_ps, now);
        self.words.set(QueueWord::draws, 0_u64);
        self.words.set(QueueWord::reason, EARLY);
        // The law sees the next draws, and the stream goes on by as many as it says that it has used.
        if let Some(random) = &random {
            let mut ahead = Stream::clone(random);
            for draw in 0..DRAWS {
                self.words.0[QueueWord::random_0 as usize + draw] = ahead.uniform_u64();
            }
        }
        fill(&mut self.words);
        match self.body.exchange(call, &mut self.words, QUEUE_ANSWERS).and_then(|answer| {
            self.check(random.is_some())?;
            Ok(answer)
        }) {
            Ok(answer) => {
                if let Some(random) = random {
                    for _ in 0..self.words.get::<u64>(QueueWord::draws) {
                        random.uniform_u64();
                    }
                }
                answer
            }
            Err(what) => self.fail(what),
        }
    }

    fn check(&self, has_draws: bool) -> Result<(), String> {
        let (draws, most) =
            (self.words.get::<u64>(QueueWord::draws), if has_draws { DRAWS as u64 } else { 0 });
        if draws > most {
            return Err(format!("it answered draws = {draws}, and this call has {most}"));
        }
        let reason: u64 = self.words.get(QueueWord::reason);
        if reason >= REASONS.len() as u64 {
            return Err(format!(
                "it answered reason = {reason}, which is not from 0 to {}",
                REASONS.len() - 1
            ));
        }
        let timer: u64 = self.words.get(QueueWord::timer_ps);
        let now: u64 = self.words.get(QueueWord::now_ps);
        if timer <= now {
            return Err(format!("it answered timer_ps = {timer}, which is not later than now, {now}"));
        }
        let probability: f64 = self.words.get(QueueWord::probability);
        if !probability.is_nan() && !(0.0..=1.0).contains(&probability) {
            return Err(format!("it answered probability = {probability}, which is not from 0 to 1"));
        }
        let average: f64 = self.words.get(QueueWord::average_bytes);
        if average < 0.0 || average.is_infinite() {
            return Err(format!("it answered average_bytes = {average}, which is no number of bytes"));
        }
        Ok(())
    }

    /// The decision that an answer stands for.
    fn decision(&mut self, answer: i32, packet: &Packet, call: &str) -> Decision {
        let reason = REASONS[self.words.get::<u64>(QueueWord::reason) as usize];
        match answer {
            0 => Decision::Pass,
            1 if packet.ecn.is_capable() => Decision::Mark(reason),
            1 => Decision::Pass,
            2 => Decision::Drop(reason),
            other => self.fail(format!("`{call}` answered {other}, which is not 0, 1 or 2")),
        }
    }

    fn fail(&mut self, what: String) -> ! {
        self.has_failed = true;
        self.program.fail(what, self.words.get(QueueWord::now_ps), self.arrivals)
    }
}

fn set_waiting(words: &mut Words, waiting: &Waiting) {
    let Backlog { packets, bytes } = waiting.backlog();
    words.set(QueueWord::waiting_packets, packets);
    words.set(QueueWord::waiting_bytes, bytes);
    let Backlog { packets, bytes } = waiting.class_backlog(Class::Ect);
    words.set(QueueWord::waiting_ect_packets, packets);
    words.set(QueueWord::waiting_ect_bytes, bytes);
}

fn set_packet(words: &mut Words, packet: &Packet) {
    words.set(QueueWord::size, u32::from(packet.size));
    words.set(QueueWord::ecn, u32::from(packet.ecn.bits()));
    words.set(QueueWord::flow, packet.flow.0);
}

impl ExternalQueue for Queue {
    fn on_arrival(&mut self, packet: &Packet, waiting: &Waiting, now: Time, random: &mut Stream) -> Decision {
        self.arrivals += 1;
        let answer = self.ask(self.calls.on_arrival, now, Some(random), &|words| {
            set_packet(words, packet);
            set_waiting(words, waiting);
        });
        self.decision(answer, packet, "on_arrival")
    }
    fn on_overflow(&mut self, now: Time) {
        self.arrivals += 1;
        self.ask(self.calls.on_overflow, now, None, &|_| {});
    }
    fn on_departure(
        &mut self,
        packet: &Packet,
        waiting: &Waiting,
        now: Time,
        random: &mut Stream,
    ) -> Decision {
        let answer = self.ask(self.calls.on_departure, now, Some(random), &|words| {
            set_packet(words, packet);
            set_waiting(words, waiting);
            words.set(QueueWord::sojourn_ps, now.since(packet.enqueued));
        });
        self.decision(answer, packet, "on_departure")
    }
    fn on_empty(&mut self, now: Time) {
        self.ask(self.calls.on_empty, now, None, &|_| {});
    }
    fn on_timer(&mut self, waiting: &Store, now: Time) {
        // The timer runs once: a law that wants to be called again says so in the call.
        self.words.set(QueueWord::timer_ps, NONE);
        self.ask(self.calls.on_timer, now, None, &|words| {
            set_waiting(words, waiting);
            words.set(QueueWord::oldest_ps, waiting.head().map(|arrival| now.since(arrival)));
        });
    }
    fn next_timer(&self) -> Time {
        self.words.get(QueueWord::timer_ps)
    }
    fn probability(&self) -> Option<f64> {
        number(self.words.get(QueueWord::probability))
    }
    fn average_bytes(&self) -> Option<f64> {
        number(self.words.get(QueueWord::average_bytes))
    }
    fn has_failed(&self) -> bool {
        self.has_failed
    }
}

/// A number for output, if there is one.
fn number(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}
