//! Gives the operations of a law that a kernel has carried out to the model: `replay_operations FILE`.
//!
//! The file is written by `linux/bpf/tests/replay_trace.c`: number of the connection, operation and arguments as in
//! the vectors of the kernel modules (`tests/linux_modules.rs`), cwnd and ssthresh before it, and alpha, cwnd, ssthresh
//! and the counter after it. Alpha and the counter are never read from the file before an operation.

use std::collections::BTreeMap;
use std::process::ExitCode;

use shoal_cc::{
    AckCounting, AckSample, AlphaAfter, AlphaResolution, AlphaUpdate, CongestionControl, CounterOnCut,
    CutStyle, Dctcp, DctcpConfig, Gain, GrowthRules, MarkCounting, Signal, SlowStartTest, SsthreshAfterCut,
    UndoWindow, Window, dctcp::presets,
};
use shoal_units::{Span, Time};

/// What follows the arguments of an operation.
const STATE: usize = 6;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: replay_operations FILE");
        return ExitCode::from(2);
    };
    match replay(&path) {
        Ok((operations, connections, stack)) => {
            println!(
                "the model: {operations} operations of {connections} connections agree; before {stack} of them the \
                 window was not what the law had left"
            );
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{path}{message}");
            ExitCode::FAILURE
        }
    }
}

fn replay(path: &str) -> Result<(u32, usize, u32), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!(": {error}"))?;
    let mut connections = BTreeMap::new();
    let (mut operations, mut stack) = (0, 0);
    for (line, row) in text.lines().enumerate() {
        let wrong = |what: String| format!(":{}: {what}", line + 1);
        let mut words = row.split('\t');
        let (connection, operation) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let numbers: Vec<u32> = words
            .map(|word| word.parse().map_err(|_| wrong(format!("`{word}`"))))
            .collect::<Result<_, _>>()?;
        let split = numbers.len().checked_sub(STATE).ok_or_else(|| wrong("too few fields".to_owned()))?;
        let (arguments, state) = numbers.split_at(split);
        if operation == "config" {
            connections.insert(connection.to_owned(), Connection::new(arguments));
        }
        // In the handshake there are calls before the first operation of the law.
        let Some(model) = connections.get_mut(connection) else { continue };
        stack += u32::from(model.window.cwnd != state[0]);
        (model.window.cwnd, model.window.ssthresh) = (state[0], state[1]);
        if operation != "config" {
            model
                .carry_out(operation, arguments)
                .ok_or_else(|| wrong(format!("no operation `{operation}`")))?;
        }
        let of_the_model = model.state();
        if of_the_model != state[2..] {
            let kernel = &state[2..];
            return Err(wrong(format!(
                "{operation}: the kernel says {kernel:?}, the model {of_the_model:?}"
            )));
        }
        operations += 1;
    }
    if operations == 0 {
        Err(": no operations".to_owned())
    } else {
        Ok((operations, connections.len(), stack))
    }
}

struct Connection {
    cc: Dctcp,
    window: Window,
    alpha_bits: u32,
    /// Sequence numbers of 64 bits.
    snd_una: u64,
    snd_nxt: u64,
}

impl Connection {
    /// Takes policies in the vectors' order, how growth counts, the first sequence number, the window's bound.
    fn new(fields: &[u32]) -> Self {
        let on = |at: usize| fields[at] != 0;
        let after = |at: usize| if on(at) { AlphaAfter::Update } else { AlphaAfter::Keep };
        let shift = fields[2] as u8;
        let config = DctcpConfig {
            alpha_resolution: if fields[0] == 20 { AlphaResolution::Bits20 } else { AlphaResolution::Bits10 },
            initial_alpha_q10: fields[1] as u16,
            gain: if on(5) { Gain::PerWindowInFlight(shift) } else { Gain::Shift(shift) },
            counting: if on(3) { MarkCounting::Acks } else { MarkCounting::Packets },
            alpha_update: if on(4) { AlphaUpdate::PerAck } else { AlphaUpdate::PerWindow },
            cut: if on(6) { CutStyle::Progressive } else { CutStyle::OnceAtOnce },
            ssthresh_after_cut: if on(7) { SsthreshAfterCut::CwndMinusOne } else { SsthreshAfterCut::Cwnd },
            counter_on_cut: if on(8) { CounterOnCut::KeepUnlessCut } else { CounterOnCut::Clear },
            alpha_after_idle: if on(9) { AlphaAfter::Reinitialise } else { AlphaAfter::Keep },
            alpha_on_timeout: after(10),
            alpha_on_loss: after(11),
            cuts_again_on_loss_in_cwr: on(12),
            undo: UndoWindow::AtReduction,
            ..presets::IKR
        };
        let rules = if on(13) {
            GrowthRules {
                counting: AckCounting::PerAck,
                slow_start_test: SlowStartTest::BelowOrAt,
                slow_start_counting: AckCounting::PerAck,
                is_paced: false,
            }
        } else {
            GrowthRules {
                counting: AckCounting::PerPacket,
                slow_start_test: SlowStartTest::Below,
                slow_start_counting: AckCounting::PerPacket,
                is_paced: false,
            }
        };
        // So that a number before the first one has a place.
        let first = 1 << 40 | u64::from(fields[14]);
        let mut cc = Dctcp::new(config, rules);
        cc.on_established(Time::ZERO, first);
        let window = Window { clamp: fields[15], ..Window::in_packets(10) };
        Self { cc, window, alpha_bits: fields[0], snd_una: first, snd_nxt: first }
    }

    fn carry_out(&mut self, operation: &str, arguments: &[u32]) -> Option<()> {
        let argument = |at: usize| arguments.get(at).copied();
        match operation {
            "k" => {
                self.snd_una = extended(argument(0)?, self.snd_una);
                self.snd_nxt = extended(argument(1)?, self.snd_nxt);
                let sample = AckSample {
                    delivered_packets: argument(2)?,
                    marked_packets: argument(3)?,
                    in_flight_before: argument(4)?,
                    acked_packets: argument(5)?,
                    acked_bytes: u64::from(argument(5)?),
                    duplicate: argument(6)? != 0,
                    ece: argument(7)? != 0,
                    ..self.sample()
                };
                self.cc.on_ack(&mut self.window, &sample);
            }
            "e" => {
                let signal = self.signal();
                let _ = self.cc.on_ecn(&mut self.window, &signal);
            }
            "m" => {
                let sample = AckSample { ece: true, in_cwr: true, ..self.sample() };
                self.cc.on_ece_in_cwr(&mut self.window, &sample);
            }
            "g" => {
                let sample = AckSample { acked_packets: argument(0)?, ..self.sample() };
                self.cc.on_growth(&mut self.window, &sample);
            }
            "l" => {
                self.snd_nxt = extended(argument(0)?, self.snd_nxt);
                let signal = self.signal();
                if argument(1)? == 0 {
                    self.cc.on_loss(&mut self.window, &signal);
                } else {
                    // Whether the cut counts from the present window concerns the endpoint.
                    let _ = self.cc.on_loss_in_cwr(&mut self.window, &signal);
                }
            }
            "t" => {
                self.snd_nxt = extended(argument(0)?, self.snd_nxt);
                let signal = Signal { mss: argument(1)?, ..self.signal() };
                self.cc.on_rto(&mut self.window, &signal, argument(2)? == 0);
            }
            "x" => self.cc.on_exit(&mut self.window, Time::ZERO),
            "i" => self.cc.on_idle_beyond_rto(&mut self.window, self.snd_nxt),
            _ => return None,
        }
        Some(())
    }

    fn state(&self) -> [u32; 4] {
        // Exact: alpha has 10 or 20 fraction bits.
        let alpha = self.cc.alpha().unwrap_or(0.0) * f64::from(1u32 << self.alpha_bits);
        [alpha as u32, self.window.cwnd, self.window.ssthresh, self.window.cwnd_cnt]
    }

    fn signal(&self) -> Signal {
        let Self { snd_una, snd_nxt, .. } = *self;
        Signal { now: Time::ZERO, in_flight: 0, snd_una, snd_nxt, mss: 1 }
    }

    fn sample(&self) -> AckSample {
        AckSample {
            now: Time::ZERO,
            acked_packets: 0,
            acked_bytes: 0,
            delivered_packets: 0,
            marked_packets: 0,
            in_flight_before: 0,
            delivered: 0,
            delivered_ce: 0,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: 1,
            rtt: None,
            srtt: Span::from_millis(10),
            ts_val: 0,
            ts_ecr: 0,
            ece: false,
            duplicate: false,
            app_limited: false,
            in_cwr: false,
        }
    }
}

/// The sequence number of 64 bits that is nearest to another one.
fn extended(number: u32, near: u64) -> u64 {
    near.wrapping_add_signed(i64::from(number.wrapping_sub(near as u32) as i32))
}
