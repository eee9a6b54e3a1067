//! Requests and responses: a client that sends a request, waits for the response, thinks, and sends the next
//! request.

use shoal_measure::WaitMeter;
use shoal_scenario::{App, Experiment, Flow, Think};
use shoal_units::{Span, Stream, Time};

/// Client and server of one flow. The flow's own connection carries the responses.
pub(crate) struct Exchanges {
    /// Slot of the connection that carries the requests.
    pub(crate) requests: usize,
    request_bytes: u64,
    /// Bytes of the present response.
    response_bytes: u64,
    /// Bytes of all responses up to it.
    answered_bytes: u64,
    rounds: Option<u32>,
    think: Think,
    random: Stream,
    begun: u64,
    /// Whether a request or its response is in progress.
    waiting: bool,
    /// Whether no further request is to be sent.
    stopped: bool,
    pub(crate) meter: WaitMeter,
}

impl Exchanges {
    /// Client and server of flow `number`, if it has any; they take the next of the slots for requests.
    pub(crate) fn of(
        experiment: &Experiment,
        number: u32,
        flow: &Flow,
        requests: &mut impl Iterator<Item = usize>,
    ) -> Option<Box<Self>> {
        let (request_bytes, response_bytes, rounds, think) = match flow.app {
            App::Requests { request_bytes, response_bytes, rounds, think, .. } => {
                (request_bytes, response_bytes, rounds, think)
            }
            // The browser says what is asked for, and when.
            App::Page { request_bytes, think, .. } => (request_bytes, 0, None, think),
            _ => return None,
        };
        let name = experiment.stream_name("think", number);
        Some(Box::new(Self {
            requests: requests.next()?,
            request_bytes,
            response_bytes,
            answered_bytes: 0,
            rounds,
            think,
            random: Stream::new(experiment.seed, &name),
            begun: 0,
            waiting: false,
            stopped: false,
            meter: WaitMeter::new(Time::ZERO + experiment.warmup),
        }))
    }

    /// Begins the next exchange, if there is one. Returns the bytes of its request.
    pub(crate) fn ask(&mut self, now: Time) -> Option<u64> {
        if self.stopped {
            return None;
        }
        self.begun += 1;
        self.answered_bytes += self.response_bytes;
        self.waiting = true;
        self.meter.on_begin(now);
        Some(self.request_bytes)
    }

    /// Whether this is the first exchange.
    pub(crate) const fn is_first(&self) -> bool {
        self.begun == 0
    }

    /// Total bytes of requests after which the server answers.
    pub(crate) const fn asked_bytes(&self) -> u64 {
        self.request_bytes * self.begun
    }

    /// Total bytes of responses after which the exchange is complete.
    pub(crate) const fn answered_bytes(&self) -> u64 {
        self.answered_bytes
    }

    /// What is asked for next has so many bytes.
    pub(crate) fn expect(&mut self, response_bytes: u64) {
        self.response_bytes = response_bytes;
    }

    pub(crate) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) const fn response_bytes(&self) -> u64 {
        self.response_bytes
    }

    /// Ends an exchange whose response is complete; returns how long it took.
    pub(crate) fn on_answer(&mut self, now: Time) -> Span {
        self.waiting = false;
        self.stopped |= self.rounds.is_some_and(|rounds| self.begun >= u64::from(rounds));
        self.meter.on_end(now)
    }

    /// Ends the sequence of requests; returns whether the connections can be closed now.
    pub(crate) fn stop(&mut self) -> bool {
        self.stopped = true;
        !self.waiting
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.stopped && !self.waiting
    }

    /// Think time until the next request.
    pub(crate) fn think(&mut self) -> Span {
        thinking(self.think, &mut self.random)
    }
}

/// Draws a think time.
pub(crate) fn thinking(think: Think, random: &mut Stream) -> Span {
    if !think.at_random {
        return think.mean;
    }
    random.exponential(think.mean)
}
