//! A controller whose law is a module.

use crate::body::{Body, Call};
use crate::program::Program;
use shoal_cc::{
    AckSample, Burst, CongestionControl, Connection, ExternalController, GrowthRules, LostPacket, Pace,
    RateBased, RateSample, Reduction, Signal, Window,
};
use shoal_law::{ANSWERS, Calls, Word, Words};
use shoal_units::{Span, Time};
use std::cell::RefCell;

/// Fastest pace that is believed: a thousand times the fastest link.
const MOST_BYTES_PER_S: u64 = 1_000_000_000_000_000;

/// The controller of one connection.
#[derive(Debug)]
pub(crate) struct Controller {
    program: &'static Program,
    calls: Calls<Call>,
    /// Behind a cell since two questions change nothing that is seen, but run the module.
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    body: Box<dyn Body>,
    words: Words,
    has_failed: bool,
}

impl Controller {
    /// A new controller.
    pub(crate) fn start(program: &'static Program, values: &[f64], rules: GrowthRules) -> Self {
        let words = Words::new(&rules, values.iter().copied());
        let mut body = program.start();
        let calls =
            Calls::of(|name| body.function(name)).unwrap_or_else(|what| program.fail(what, Time::ZERO, 0));
        let state = RefCell::new(State { body, words, has_failed: false });
        let controller = Self { program, calls, state };
        controller.ask(controller.calls.on_init, &|_| {});
        controller
    }

    /// Calls `call` with the words that `fill` sets. Returns its answer, or zero if the law has no such function.
    fn ask(&self, call: Option<Call>, fill: &dyn Fn(&mut Words)) -> i32 {
        let Some(call) = call else { return 0 };
        let mut state = self.state.borrow_mut();
        let State { body, words, .. } = &mut *state;
        fill(words);
        match body.exchange(call, words, ANSWERS) {
            Ok(answer) => answer,
            Err(what) => {
                drop(state);
                self.fail(what)
            }
        }
    }

    /// Calls `call`, and takes over the window that it answers.
    fn decide(&self, window: &mut Window, call: Option<Call>, fill: &dyn Fn(&mut Words)) -> i32 {
        if call.is_none() {
            return 0;
        }
        let answer = self.ask(call, &|words| {
            words.set_window(window);
            fill(words);
        });
        let state = self.state.borrow();
        let words = &state.words;
        let mut checked = || {
            window.cwnd = answered(words, Word::cwnd, "cwnd", 1)?;
            window.ssthresh = answered(words, Word::ssthresh, "ssthresh", 1)?;
            window.cwnd_cnt = answered(words, Word::cwnd_cnt, "cwnd_cnt", 0)?;
            check_pace(words)?;
            check_alpha(words)
        };
        let checked = checked();
        drop(state);
        if let Err(what) = checked {
            self.fail(what);
        }
        answer
    }

    /// Ends the run: whoever has begun it catches this.
    fn fail(&self, what: String) -> ! {
        let mut state = self.state.borrow_mut();
        state.has_failed = true;
        let (now, packet) = (state.words.get(Word::now_ps), state.words.get(Word::delivered));
        self.program.fail(what, now, packet)
    }

    /// The answer as one of the two that there are.
    fn yes_or_no(&self, answer: i32, call: &str) -> bool {
        match answer {
            0 => false,
            1 => true,
            other => self.fail(format!("`{call}` answered {other}, which is neither 0 nor 1")),
        }
    }
}

/// An answer in units of the window.
fn answered(words: &Words, word: Word, name: &str, least: u32) -> Result<u32, String> {
    let value: u64 = words.get(word);
    match u32::try_from(value) {
        Ok(small) if small >= least => Ok(small),
        _ => Err(format!("it answered {name} = {}, which is not from {least} to {}", value as i64, u32::MAX)),
    }
}

fn check_pace(words: &Words) -> Result<(), String> {
    let pace: u64 = words.get(Word::pacing_bytes_per_s);
    if pace > MOST_BYTES_PER_S {
        return Err(format!("it answered pacing_bytes_per_s = {pace}, more than {MOST_BYTES_PER_S}"));
    }
    answered(words, Word::pacing_burst_packets, "pacing_burst_packets", 0).map(|_| ())
}

fn check_alpha(words: &Words) -> Result<(), String> {
    let alpha: f64 = words.get(Word::alpha);
    if alpha.is_nan() || (0.0..=1.0).contains(&alpha) {
        return Ok(());
    }
    Err(format!("it answered alpha = {alpha}, which is not from 0 to 1"))
}

impl CongestionControl for Controller {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.decide(window, self.calls.on_ack, &|words| words.set_ack(ack));
    }
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        self.decide(window, self.calls.on_growth, &|words| words.set_ack(ack));
    }
    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction {
        if self.calls.on_ecn.is_none() {
            self.on_loss(window, signal);
            return Reduction::Spread;
        }
        let answer = self.decide(window, self.calls.on_ecn, &|words| words.set_signal(signal));
        if self.yes_or_no(answer, "on_ecn") { Reduction::Done } else { Reduction::Spread }
    }
    fn on_ece_in_cwr(&mut self, window: &mut Window, ack: &AckSample) {
        self.decide(window, self.calls.on_ece_in_cwr, &|words| words.set_ack(ack));
    }
    fn on_loss(&mut self, window: &mut Window, signal: &Signal) {
        self.decide(window, self.calls.on_loss, &|words| words.set_signal(signal));
    }
    fn on_loss_in_cwr(&mut self, window: &mut Window, signal: &Signal) -> bool {
        let answer = self.decide(window, self.calls.on_loss_in_cwr, &|words| words.set_signal(signal));
        self.yes_or_no(answer, "on_loss_in_cwr")
    }
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool) {
        if self.calls.on_rto.is_none() {
            if !already_reduced {
                self.on_loss(window, signal);
            }
            return;
        }
        self.decide(window, self.calls.on_rto, &|words| {
            words.set_signal(signal);
            words.set(Word::already_reduced, already_reduced);
        });
    }
    fn on_exit(&mut self, window: &mut Window, now: Time) {
        self.decide(window, self.calls.on_exit, &|words| words.set(Word::now_ps, now));
    }
    fn on_recovered(&mut self, window: &mut Window, signal: &Signal) {
        let call = self.calls.on_recovered.or(self.calls.on_exit);
        self.decide(window, call, &|words| words.set_signal(signal));
    }
    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        self.decide(window, self.calls.on_idle_restart, &|words| {
            words.set(Word::now_ps, now);
            words.set(Word::idle_ps, idle);
        });
    }
    fn on_idle_beyond_rto(&mut self, window: &mut Window, snd_nxt: u64) {
        self.decide(window, self.calls.on_idle_beyond_rto, &|words| words.set(Word::snd_nxt, snd_nxt));
    }
    fn on_sent(&mut self, now: Time, packets: u32, snd_nxt: u64) {
        self.ask(self.calls.on_sent, &|words| {
            words.set(Word::now_ps, now);
            words.set(Word::packets, packets);
            words.set(Word::snd_nxt, snd_nxt);
        });
    }
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        self.ask(self.calls.on_established, &|words| {
            words.set(Word::now_ps, now);
            words.set(Word::snd_nxt, snd_nxt);
        });
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        if self.calls.undo_cwnd.is_none() {
            return window.cwnd.max(window.ssthresh.saturating_mul(2));
        }
        self.ask(self.calls.undo_cwnd, &|words| words.set_window(window)).cast_unsigned().max(1)
    }
    fn rate_halving_floor(&self, window: &Window) -> u32 {
        if self.calls.rate_halving_floor.is_none() {
            return window.ssthresh;
        }
        self.ask(self.calls.rate_halving_floor, &|words| words.set_window(window)).cast_unsigned().max(1)
    }
    fn grows_in_cwr(&self) -> bool {
        self.program.description().grows_in_cwr
    }
    fn sends_cwr(&self) -> bool {
        self.program.description().sends_cwr
    }
    fn pacing(&self, _: &Window, _: Span, _: u32, _: u32) -> Option<Pace> {
        let state = self.state.borrow();
        let bytes_per_s = state.words.get(Word::pacing_bytes_per_s);
        let burst = match state.words.get(Word::pacing_burst_packets) {
            0 => Burst::Autosized { least_packets: 2 },
            packets => Burst::Packets(packets),
        };
        (bytes_per_s > 0).then_some(Pace { bytes_per_s, burst })
    }
    fn rate_based(&mut self) -> Option<&mut dyn RateBased> {
        self.calls.on_sample.is_some().then_some(self as &mut dyn RateBased)
    }
    fn alpha(&self) -> Option<f64> {
        let alpha: f64 = self.state.borrow().words.get(Word::alpha);
        (!alpha.is_nan()).then_some(alpha)
    }
}

impl RateBased for Controller {
    fn on_start(&mut self, window: &mut Window, connection: &Connection, seed: u64) {
        self.decide(window, self.calls.on_start, &|words| {
            words.set_connection(connection);
            words.set(Word::seed, seed);
        });
    }
    fn on_packet_lost(&mut self, window: &mut Window, connection: &Connection, packet: &LostPacket) {
        self.decide(window, self.calls.on_packet_lost, &|words| {
            words.set_connection(connection);
            words.set_lost(packet);
        });
    }
    fn on_sample(&mut self, window: &mut Window, connection: &Connection, sample: &RateSample) -> bool {
        let answer = self.decide(window, self.calls.on_sample, &|words| {
            words.set_connection(connection);
            words.set_sample(sample);
        });
        self.yes_or_no(answer, "on_sample")
    }
    fn on_restart(&mut self, window: &mut Window, connection: &Connection) {
        self.decide(window, self.calls.on_restart, &|words| words.set_connection(connection));
    }
    fn on_timeout(&mut self, window: &mut Window, connection: &Connection) {
        self.decide(window, self.calls.on_timeout, &|words| words.set_connection(connection));
    }
    fn on_undo(&mut self, window: &mut Window, connection: &Connection) {
        self.decide(window, self.calls.on_undo, &|words| words.set_connection(connection));
    }
}

impl ExternalController for Controller {
    fn timer(&self) -> Time {
        self.state.borrow().words.get(Word::timer_ps)
    }
    fn on_timer(&mut self, window: &mut Window, now: Time, in_flight: u32) {
        // The timer runs once: a law that wants to be called again says so in the call.
        self.state.get_mut().words.set(Word::timer_ps, Time::NEVER);
        self.decide(window, self.calls.on_timer, &|words| {
            words.set(Word::now_ps, now);
            words.set(Word::in_flight, in_flight);
        });
    }
    fn has_failed(&self) -> bool {
        self.state.borrow().has_failed
    }
}
