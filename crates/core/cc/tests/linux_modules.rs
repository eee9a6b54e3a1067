//! Scripted ACK streams for the kernel modules tcp_dctcp_ikr and tcp_dctcp_onesided: the modules must have the alpha
//! and the windows of the models here (linux/modules/tests replays the streams). The folder has those of
//! tcp_prague_shoal.

#[path = "linux_modules/prague.rs"]
mod prague;
#[path = "../../../../tests/vectors/check.rs"]
mod vectors;

use shoal_cc::{
    AckCounting, AckSample, AlphaAfter, AlphaResolution, AlphaUpdate, CongestionControl, CounterOnCut,
    CutStyle, Dctcp, DctcpConfig, Gain, GrowthRules, MarkCounting, Signal, SlowStartTest, SsthreshAfterCut,
    UndoWindow, Window, dctcp::presets,
};
use shoal_units::{Span, Stream, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

const MSS: u32 = 1448;
/// The first sequence number, so high that sequence numbers wrap soon.
const FIRST: u64 = (1 << 32) - 400_000;
/// Upper bound of the window, so low that it is reached.
const CLAMP: u32 = 48;

/// Current Linux.
const BY_PACKETS: GrowthRules = GrowthRules {
    counting: AckCounting::PerPacket,
    slow_start_test: SlowStartTest::Below,
    slow_start_counting: AckCounting::PerPacket,
    is_paced: false,
};
/// Linux 3.2: `ack_counting = 1`.
const BY_ACKS: GrowthRules = GrowthRules {
    counting: AckCounting::PerAck,
    slow_start_test: SlowStartTest::BelowOrAt,
    slow_start_counting: AckCounting::PerAck,
    is_paced: false,
};

/// The defaults of tcp_dctcp_ikr.
const IKR: DctcpConfig = DctcpConfig { undo: UndoWindow::AtReduction, ..presets::IKR };
/// The defaults of tcp_dctcp_onesided.
const ONE_SIDED: DctcpConfig = DctcpConfig {
    alpha_resolution: AlphaResolution::Bits10,
    initial_alpha_q10: 0,
    alpha_after_idle: AlphaAfter::Reinitialise,
    alpha_on_timeout: AlphaAfter::Update,
    alpha_on_loss: AlphaAfter::Update,
    cut: CutStyle::OnceAtOnce,
    grows_in_cwr: true,
    counter_on_cut: CounterOnCut::KeepUnlessCut,
    ..presets::DCTCP
};

/// The defaults of the modules, and each with some policies changed.
const CASES: [(DctcpConfig, GrowthRules); 11] = [
    (IKR, BY_PACKETS),
    (IKR, BY_ACKS),
    (
        DctcpConfig {
            gain: Gain::PerWindowInFlight(4),
            counting: MarkCounting::Packets,
            initial_alpha_q10: 300,
            ..IKR
        },
        BY_PACKETS,
    ),
    (DctcpConfig { alpha_resolution: AlphaResolution::Bits10, ..IKR }, BY_PACKETS),
    (DctcpConfig { cut: CutStyle::OnceAtOnce, cuts_again_on_loss_in_cwr: true, ..IKR }, BY_ACKS),
    (DctcpConfig { grows_in_cwr: false, ..IKR }, BY_ACKS),
    (
        DctcpConfig {
            ssthresh_after_cut: SsthreshAfterCut::Cwnd,
            counter_on_cut: CounterOnCut::Clear,
            ..IKR
        },
        BY_ACKS,
    ),
    (DctcpConfig { alpha_update: AlphaUpdate::PerWindow, gain: Gain::Shift(4), ..IKR }, BY_PACKETS),
    (ONE_SIDED, BY_PACKETS),
    (
        DctcpConfig { initial_alpha_q10: 1024, grows_in_cwr: false, gain: Gain::Shift(2), ..ONE_SIDED },
        BY_PACKETS,
    ),
    (
        DctcpConfig {
            alpha_after_idle: AlphaAfter::Keep,
            alpha_on_timeout: AlphaAfter::Keep,
            alpha_on_loss: AlphaAfter::Keep,
            cuts_again_on_loss_in_cwr: false,
            ..ONE_SIDED
        },
        BY_ACKS,
    ),
];

#[test]
fn dctcp() {
    let mut text = String::from(
        "# The law of tcp_dctcp_ikr and tcp_dctcp_onesided against shoal_cc::Dctcp.\n\
         # config: alpha bits, alpha_on_init, gain shift, count ACKs, alpha per ACK, gain per window, progressive, \
         ssthresh - 1, \
         keep counter, reset after idle, update on timeout, update on loss, cut on loss in CWR, growth by ACKs, first \
         sequence \
         number, clamp\n\
         # k: ACK (una, nxt, delivered, marked, flight before, advanced, duplicate, ECE); e: first mark; m: further \
         mark; \
         g: growth (packets);\n\
         # l: loss (nxt, in CWR); t: timeout (nxt, MSS, fresh); x: episode over; i: idle; u: undo (window); w: host \
         sets cwnd\n\
         # after each: alpha, cwnd, ssthresh, counter\n",
    );
    let mut rows = BTreeMap::new();
    for ((config, rules), seed) in CASES.into_iter().zip(1..) {
        Endpoint::new(config, rules, seed, &mut text, &mut rows).run(450);
    }
    for row in ["k", "e", "m", "g", "l", "t", "x", "i", "u", "w"] {
        assert!(rows.get(row).is_some_and(|count| *count >= 25), "{row}: {rows:?}");
    }
    vectors::check("dctcp.tsv", &text);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Cwr,
    Recovery,
    Loss,
}

/// A sender whose stack works in the order of current Linux: estimate, respond to marks, grow.
struct Endpoint<'a> {
    config: DctcpConfig,
    cc: Dctcp,
    window: Window,
    state: State,
    snd_una: u64,
    snd_nxt: u64,
    high_seq: u64,
    script: Stream,
    text: &'a mut String,
    rows: &'a mut BTreeMap<&'static str, u32>,
}

impl<'a> Endpoint<'a> {
    fn new(
        config: DctcpConfig,
        rules: GrowthRules,
        seed: u64,
        text: &'a mut String,
        rows: &'a mut BTreeMap<&'static str, u32>,
    ) -> Self {
        let by_acks = flag(rules == BY_ACKS);
        writeln!(text, "config\t{}\t{by_acks}\t{}\t{CLAMP}", policy(&config), FIRST as u32).unwrap();
        let mut cc = Dctcp::new(config, rules);
        cc.on_established(Time::ZERO, FIRST);
        Self {
            config,
            cc,
            window: Window { clamp: CLAMP, ..Window::in_packets(10) },
            state: State::Open,
            snd_una: FIRST,
            snd_nxt: FIRST,
            high_seq: 0,
            script: Stream::new(seed, "acks"),
            text,
            rows,
        }
    }

    fn run(&mut self, operations: u32) {
        self.send();
        // Numbers of ACKs with ECN-Echo among 16, each for 40 ACKs.
        let phases = [0, 1, 6, 16];
        for n in 0..operations {
            let marks = phases[(n / 40 % 4) as usize];
            match self.script.uniform_u32() % 64 {
                0 => self.lose(),
                1 if n % 3 == 0 => self.time_out(),
                2 => self.idle(),
                3 => self.undo(),
                4..=6 => self.ack(0, marks),
                _ => {
                    let packets = 1 + self.script.uniform_u32() % 3;
                    self.ack(packets, marks);
                }
            }
            self.send();
        }
    }

    fn ack(&mut self, packets: u32, marks: u32) {
        let ece = self.script.uniform_u32() % 16 < marks;
        self.process(packets.min(self.flight()), ece);
    }

    fn process(&mut self, packets: u32, ece: bool) {
        let flight = self.flight();
        self.snd_una += u64::from(packets) * u64::from(MSS);
        let sample = self.sample(packets, flight, ece);
        self.cc.on_ack(&mut self.window, &sample);
        self.row(
            "k",
            &format!(
                "{}\t{}\t{packets}\t{}\t{flight}\t{}\t{}\t{}",
                sample.snd_una as u32,
                sample.snd_nxt as u32,
                sample.marked_packets,
                flag(packets > 0),
                flag(sample.duplicate),
                flag(ece)
            ),
        );
        self.leave();
        self.respond(&sample);
        let grows = match self.state {
            State::Open | State::Loss => true,
            State::Cwr => self.config.grows_in_cwr,
            State::Recovery => false,
        };
        if grows && packets > 0 {
            self.cc.on_growth(&mut self.window, &sample);
            self.row("g", &packets.to_string());
        }
    }

    fn leave(&mut self) {
        let over = match self.state {
            State::Open => false,
            State::Cwr => self.snd_una > self.high_seq,
            State::Recovery | State::Loss => self.snd_una >= self.high_seq,
        };
        if !over {
            return;
        }
        if self.state == State::Recovery {
            self.set_cwnd(self.window.ssthresh);
        }
        self.state = State::Open;
        self.cc.on_exit(&mut self.window, Time::ZERO);
        self.row("x", "");
    }

    fn respond(&mut self, sample: &AckSample) {
        let signal = self.signal();
        match self.state {
            State::Open if sample.ece => {
                self.cc.on_ecn(&mut self.window, &signal);
                self.row("e", "");
                self.enter(State::Cwr);
            }
            State::Cwr if sample.ece => {
                self.cc.on_ece_in_cwr(&mut self.window, sample);
                self.row("m", "");
            }
            _ => {}
        }
    }

    fn lose(&mut self) {
        let (in_cwr, signal) = (self.state == State::Cwr, self.signal());
        match self.state {
            State::Open => self.cc.on_loss(&mut self.window, &signal),
            State::Cwr => {
                self.cc.on_loss_in_cwr(&mut self.window, &signal);
            }
            State::Recovery | State::Loss => return,
        }
        self.row("l", &format!("{}\t{}", self.snd_nxt as u32, flag(in_cwr)));
        self.set_cwnd(self.window.cwnd.min(self.window.ssthresh));
        self.enter(State::Recovery);
    }

    fn time_out(&mut self) {
        let fresh = self.state == State::Open || self.snd_una >= self.high_seq;
        let signal = self.signal();
        self.cc.on_rto(&mut self.window, &signal, !fresh);
        self.row("t", &format!("{}\t{MSS}\t{}", self.snd_nxt as u32, flag(fresh)));
        self.set_cwnd(1);
        self.enter(State::Loss);
    }

    fn idle(&mut self) {
        self.process(self.flight(), false);
        self.cc.on_idle_beyond_rto(&mut self.window, self.snd_nxt);
        self.row("i", "");
    }

    fn undo(&mut self) {
        let window = self.cc.undo_cwnd(&self.window);
        self.row("u", &window.to_string());
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.high_seq = self.snd_nxt;
    }

    fn send(&mut self) {
        let allowed = self.snd_una + u64::from(self.window.cwnd) * u64::from(MSS);
        self.snd_nxt = self.snd_nxt.max(allowed);
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.cwnd = cwnd;
        self.row("w", &cwnd.to_string());
    }

    fn flight(&self) -> u32 {
        ((self.snd_nxt - self.snd_una) / u64::from(MSS)) as u32
    }

    fn signal(&self) -> Signal {
        let (snd_una, snd_nxt) = (self.snd_una, self.snd_nxt);
        Signal { now: Time::ZERO, in_flight: self.flight(), snd_una, snd_nxt, mss: MSS }
    }

    fn sample(&self, packets: u32, flight: u32, ece: bool) -> AckSample {
        AckSample {
            now: Time::ZERO,
            acked_packets: packets,
            acked_bytes: u64::from(packets) * u64::from(MSS),
            delivered_packets: packets,
            marked_packets: if ece { packets } else { 0 },
            in_flight_before: flight,
            delivered: 0,
            delivered_ce: 0,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: MSS,
            rtt: None,
            srtt: Span::from_millis(10),
            ts_val: 0,
            ts_ecr: 0,
            ece,
            duplicate: packets == 0,
            app_limited: false,
            in_cwr: self.state == State::Cwr,
        }
    }

    fn row(&mut self, what: &'static str, arguments: &str) {
        let Window { cwnd, ssthresh, cwnd_cnt, .. } = self.window;
        // Exact: alpha has 10 or 20 fraction bits.
        let alpha = (self.cc.alpha().unwrap() * f64::from(1u32 << bits(&self.config))) as u32;
        let separator = if arguments.is_empty() { "" } else { "\t" };
        writeln!(self.text, "{what}{separator}{arguments}\t{alpha}\t{cwnd}\t{ssthresh}\t{cwnd_cnt}").unwrap();
        *self.rows.entry(what).or_default() += 1;
    }
}

fn flag(on: bool) -> u8 {
    u8::from(on)
}

fn bits(config: &DctcpConfig) -> u32 {
    match config.alpha_resolution {
        AlphaResolution::Bits10 => 10,
        AlphaResolution::Bits20 => 20,
        AlphaResolution::Bits10MinNotZero | AlphaResolution::Exact => panic!("the modules do not have it"),
    }
}

/// The module's parameters, from alpha_bits to cut_on_loss_in_cwr.
fn policy(config: &DctcpConfig) -> String {
    let (Gain::Shift(shift) | Gain::PerWindowInFlight(shift)) = config.gain;
    let flags = [
        config.counting == MarkCounting::Acks,
        config.alpha_update == AlphaUpdate::PerAck,
        matches!(config.gain, Gain::PerWindowInFlight(_)),
        config.cut == CutStyle::Progressive,
        config.ssthresh_after_cut == SsthreshAfterCut::CwndMinusOne,
        config.counter_on_cut == CounterOnCut::KeepUnlessCut,
        config.alpha_after_idle == AlphaAfter::Reinitialise,
        config.alpha_on_timeout == AlphaAfter::Update,
        config.alpha_on_loss == AlphaAfter::Update,
        config.cuts_again_on_loss_in_cwr,
    ];
    let mut row = format!("{}\t{}\t{shift}", bits(config), config.initial_alpha_q10);
    for on in flags {
        write!(row, "\t{}", flag(on)).unwrap();
    }
    row
}
