//! Scripted ACK streams for the kernel module tcp_prague_shoal: alpha, windows, packet sizes and pacing rates are those
//! of the models.

use super::{BY_PACKETS, CLAMP, FIRST, State, flag, vectors};
use shoal_cc::{
    AckSample, CongestionControl, FirstCe, IncreaseUnit, PacedWindow, Prague, PragueConfig, RttIndependence,
    Signal, Window, WindowSteps,
    prague::presets::{PRAGUE_0_6, PRAGUE_0_7, PRAGUE_0_7_EARLY, PRAGUE_2020},
};
use shoal_units::{Span, Stream, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Headers that the model adds to the MSS, in bytes.
const HEADERS: u32 = 52;
/// When connections are established, in us: 32 bits of a time wrap around soon.
const ESTABLISHED: u64 = (1 << 32) - 900_000;

/// A version on a path: its policies, the least RTT in us, and the size of full packets in bytes.
struct Case {
    config: PragueConfig,
    rtt_us: u32,
    mtu: u32,
}

const fn case(config: PragueConfig, rtt_us: u32, mtu: u32) -> Case {
    Case { config, rtt_us, mtu }
}

/// A pacing rate that shows the fraction of the window.
const fn shown(config: PragueConfig) -> PragueConfig {
    PragueConfig { paced_window: PacedWindow::Fractional, ..config }
}

/// All versions with short and long round trips, small and large packets, and the law of the virtual round trip from
/// the start.
const CASES: [Case; 12] = [
    case(PRAGUE_0_7, 10_000, 1500),
    case(PRAGUE_0_7, 2_000, 1500),
    case(shown(PRAGUE_0_7), 5_000, 1500),
    case(shown(PRAGUE_0_7), 40_000, 1500),
    case(shown(PRAGUE_0_7), 12_000, 576),
    case(PRAGUE_0_7, 700, 9000),
    case(PRAGUE_0_7_EARLY, 3_000, 1500),
    case(shown(PRAGUE_0_7_EARLY), 20_000, 1200),
    case(PRAGUE_0_6, 8_000, 1500),
    case(PragueConfig { independent_after_rounds: 0, ..PRAGUE_0_6 }, 8_000, 1500),
    case(PRAGUE_2020, 10_000, 1500),
    case(shown(PRAGUE_2020), 60_000, 1500),
];

#[test]
fn prague() {
    let mut text = String::from(
        "# The law of tcp_prague_shoal against shoal_cc::Prague.\n\
         # config: alpha bits, alpha from one, first CE halves, target (us, 0: none), rounds before it counts, carry, \
         1500 bytes, paced window, rate mode, time (us), first sequence number, clamp\n\
         # k: ACK (una, nxt, delivered, marked, time in us, smoothed RTT in us/8, MTU); e: enters CWR (time in us);\n\
         # g: growth for the last ACK (packets, limited by the window); l: loss; t: timeout (fresh); x: episode over;\n\
         # u: undo (window); p: pace (smoothed RTT in us/8, in flight, MTU, B/s); w: host sets cwnd\n\
         # after each: alpha, cwnd, ssthresh, packet in bytes (0: full)\n",
    );
    let mut rows = BTreeMap::new();
    for (case, seed) in CASES.into_iter().zip(1..) {
        Sender::new(&case, seed, &mut text, &mut rows).run(1200);
    }
    for row in ["k", "e", "g", "l", "t", "x", "u", "p", "w", "small packets"] {
        assert!(rows.get(row).is_some_and(|count| *count >= 25), "{row}: {rows:?}");
    }
    vectors::check("prague.tsv", &text);
}

/// A sender whose stack works in the order of Linux 7: estimate, respond to marks, grow.
struct Sender<'a> {
    config: PragueConfig,
    cc: Prague,
    window: Window,
    state: State,
    now_us: u64,
    rtt_us: u32,
    /// Smoothed RTT in eighths of a microsecond.
    srtt: u32,
    mss: u32,
    snd_una: u64,
    snd_nxt: u64,
    high_seq: u64,
    script: Stream,
    text: &'a mut String,
    rows: &'a mut BTreeMap<&'static str, u32>,
}

impl<'a> Sender<'a> {
    fn new(case: &Case, seed: u64, text: &'a mut String, rows: &'a mut BTreeMap<&'static str, u32>) -> Self {
        let config = case.config;
        writeln!(text, "config\t{}\t{ESTABLISHED}\t{}\t{CLAMP}", policy(&config), FIRST as u32).unwrap();
        let mut cc = Prague::new(config, BY_PACKETS);
        cc.on_established(at(ESTABLISHED), FIRST);
        Self {
            config,
            cc,
            window: Window { clamp: CLAMP, ..Window::in_packets(10) },
            state: State::Open,
            now_us: ESTABLISHED,
            rtt_us: case.rtt_us,
            srtt: case.rtt_us * 8,
            mss: case.mtu - HEADERS,
            snd_una: FIRST,
            snd_nxt: FIRST,
            high_seq: 0,
            script: Stream::new(seed, "acks"),
            text,
            rows,
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.script.uniform_u32() % bound
    }

    fn run(&mut self, operations: u32) {
        self.send();
        // Numbers of ACKs with CE among 16, each for 60 ACKs.
        let phases = [0, 1, 4, 12, 16, 2];
        for n in 0..operations {
            let marks = phases[(n / 60 % 6) as usize];
            match self.below(96) {
                0 => self.lose(),
                1 if n % 3 == 0 => self.time_out(),
                2 => self.undo(),
                3..=5 => self.ack(0, marks),
                _ => {
                    let packets = 1 + self.below(3);
                    self.ack(packets, marks);
                }
            }
            self.pace();
            self.send();
        }
    }

    fn ack(&mut self, packets: u32, marks: u32) {
        self.now_us += u64::from(self.below(self.rtt_us / 2));
        self.srtt = self.rtt_us * 8 + self.below(self.rtt_us * 4);
        let packets = packets.min(self.flight());
        let marked = if self.below(16) < marks { 1 + self.below(3) } else { 0 }.min(packets);
        self.snd_una += u64::from(packets) * u64::from(self.mss);
        let mut sample = self.sample(packets, marked);
        self.cc.on_ack(&mut self.window, &sample);
        self.row(
            "k",
            &format!(
                "{}\t{}\t{packets}\t{marked}\t{}\t{}\t{}",
                sample.snd_una as u32,
                sample.snd_nxt as u32,
                self.now_us as u32,
                self.srtt,
                self.mss + HEADERS
            ),
        );
        self.leave();
        if self.state == State::Open && marked > 0 {
            let signal = self.signal();
            self.cc.on_ecn(&mut self.window, &signal);
            self.row("e", &(self.now_us as u32).to_string());
            self.enter(State::Cwr);
        }
        if self.state != State::Recovery && packets > 0 {
            sample.in_cwr = self.state == State::Cwr;
            sample.app_limited = self.below(8) == 0;
            self.cc.on_growth(&mut self.window, &sample);
            self.row("g", &format!("{packets}\t{}", flag(!sample.app_limited)));
        }
    }

    fn leave(&mut self) {
        let over = match self.state {
            State::Open => false,
            State::Cwr => self.snd_una > self.high_seq,
            State::Recovery | State::Loss => self.snd_una >= self.high_seq,
        };
        if over {
            if self.state == State::Recovery {
                self.set_cwnd(self.window.ssthresh);
            }
            self.exit();
        }
    }

    fn exit(&mut self) {
        self.state = State::Open;
        self.cc.on_exit(&mut self.window, at(self.now_us));
        self.row("x", "");
    }

    fn lose(&mut self) {
        let signal = self.signal();
        match self.state {
            State::Open => self.cc.on_loss(&mut self.window, &signal),
            State::Cwr => {
                self.cc.on_loss_in_cwr(&mut self.window, &signal);
            }
            State::Recovery | State::Loss => return,
        }
        self.row("l", "");
        self.set_cwnd(self.window.cwnd.min(self.window.ssthresh));
        self.enter(State::Recovery);
    }

    fn time_out(&mut self) {
        let fresh = self.state == State::Open || self.snd_una >= self.high_seq;
        let signal = self.signal();
        self.cc.on_rto(&mut self.window, &signal, !fresh);
        self.row("t", &flag(fresh).to_string());
        self.set_cwnd(1);
        self.enter(State::Loss);
    }

    /// What was taken for a loss was none.
    fn undo(&mut self) {
        let window = self.cc.undo_cwnd(&self.window);
        self.row("u", &window.to_string());
        if matches!(self.state, State::Recovery | State::Loss) {
            self.set_cwnd(window);
            self.exit();
        }
    }

    fn pace(&mut self) {
        let (srtt, flight) = (self.smoothed(), self.flight());
        let pace = self.cc.pacing(&self.window, srtt, flight, self.mss).unwrap();
        self.row("p", &format!("{}\t{flight}\t{}\t{}", self.srtt, self.mss + HEADERS, pace.bytes_per_s));
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.high_seq = self.snd_nxt;
    }

    fn send(&mut self) {
        let allowed = self.snd_una + u64::from(self.window.cwnd) * u64::from(self.mss);
        self.snd_nxt = self.snd_nxt.max(allowed);
    }

    fn set_cwnd(&mut self, cwnd: u32) {
        self.window.cwnd = cwnd;
        self.row("w", &cwnd.to_string());
    }

    fn flight(&self) -> u32 {
        ((self.snd_nxt - self.snd_una) / u64::from(self.mss)) as u32
    }

    fn smoothed(&self) -> Span {
        Span::from_picos(u64::from(self.srtt) * 125_000)
    }

    fn signal(&self) -> Signal {
        Signal {
            now: at(self.now_us),
            in_flight: self.flight(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: self.mss,
        }
    }

    fn sample(&self, packets: u32, marked: u32) -> AckSample {
        AckSample {
            now: at(self.now_us),
            acked_packets: packets,
            acked_bytes: u64::from(packets) * u64::from(self.mss),
            delivered_packets: packets,
            marked_packets: marked,
            in_flight_before: self.flight(),
            delivered: 0,
            delivered_ce: 0,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: self.mss,
            rtt: None,
            srtt: self.smoothed(),
            ts_val: 0,
            ts_ecr: 0,
            ece: marked > 0,
            duplicate: packets == 0,
            app_limited: false,
            in_cwr: self.state == State::Cwr,
        }
    }

    fn row(&mut self, what: &'static str, arguments: &str) {
        let Window { cwnd, ssthresh, .. } = self.window;
        // Exact: alpha has 20 or 24 fraction bits.
        let alpha = (self.cc.alpha().unwrap() * f64::from(1u32 << self.config.alpha_bits)) as u32;
        let packet = self.cc.packet_bytes().unwrap_or(0);
        let separator = if arguments.is_empty() { "" } else { "\t" };
        writeln!(self.text, "{what}{separator}{arguments}\t{alpha}\t{cwnd}\t{ssthresh}\t{packet}").unwrap();
        *self.rows.entry(what).or_default() += 1;
        *self.rows.entry("small packets").or_default() += u32::from(packet > 0 && packet < self.mss);
    }
}

fn at(us: u64) -> Time {
    Time::from_picos(us * 1_000_000)
}

/// The module's policy, from `alpha_bits` to `rate_mode`.
fn policy(config: &PragueConfig) -> String {
    let target = match config.rtt_independence {
        RttIndependence::Off => 0,
        RttIndependence::Floor => config.rtt_target_us,
    };
    let paced = match config.paced_window {
        PacedWindow::Cwnd => 0,
        PacedWindow::Fractional => 1,
        PacedWindow::Whole => 2,
    };
    format!(
        "{}\t{}\t{}\t{target}\t{}\t{}\t{}\t{paced}\t{}",
        config.alpha_bits,
        flag(config.initial_alpha_q10 == 1024),
        flag(config.first_ce == FirstCe::HalveThenZero),
        config.independent_after_rounds,
        flag(config.window_steps == WindowSteps::Carry),
        flag(config.increase_unit == IncreaseUnit::Bytes1500),
        flag(config.rate_mode_packets > 0),
    )
}
