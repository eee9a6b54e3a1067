//! Packet scripts in the manner of packetdrill. One line, one step:
//!
//! ```text
//! 0ms   connect                      the application acts: connect, write N (segments), bytes N, last N, close,
//!                                    greedy, stop; or the card of its host has sent what it was given at that
//!                                    time: card 900ms; or its queue takes so many bytes from now on: room 3000
//! 0ms   > syn ece cwr ect0           exactly this leaves at exactly this time; commas separate several packets
//! 25ms  < synack ece                 this arrives
//! 25ms  > 0..10 ect0                 segments 0 to 9, each with ECT(0)
//! 50ms  < ack 2 ece sack 3-5 7-8     positions count in segments: `ack 2` acknowledges segments 0 and 1
//! 50ms  ? cwnd 12 state open         the state of the sender
//! ```
//!
//! Before a step at time t all timers due by t have expired. A packet that no line expects fails the script, except the
//! ACK that completes the handshake where data follow it.

use crate::testing::config as plain_config;
use crate::{EcnSetting, EndpointConfig, Linux, Output, Receiver, Sender, TailProbe};
use shoal_packet::{Ecn, Flags, FlowId, Packet, Sack, Seq};
use shoal_units::{Span, Time};
use std::collections::VecDeque;
use std::fmt::Write;

/// A connection with an RTT of 100 ms opens, and ten segments are out.
pub(super) const OPEN: &str = "
    0ms   connect
    0ms   > syn
    0ms   greedy
    100ms < synack ts 0ms
    100ms > 0..10
";

/// [`OPEN`] with ECN.
pub(super) const OPEN_ECN: &str = "
    0ms   connect
    0ms   > syn ece cwr
    0ms   greedy
    100ms < synack ece ts 0ms
    100ms > 0..10 ect0
";

/// The end under test.
enum End {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
}

/// What an end sends in one call.
struct Wire {
    packets: Vec<Packet>,
    card_free: Time,
    room: u64,
}

impl Output for Wire {
    fn transmit(&mut self, packet: Packet) {
        self.packets.push(packet);
    }
    fn card_free(&self) -> Time {
        self.card_free
    }
    fn takes(&mut self, bytes: u64) -> bool {
        let left = self.room.checked_sub(bytes);
        self.room = left.unwrap_or(self.room);
        left.is_some()
    }
}

/// A script being run.
pub(super) struct Script {
    pub(super) config: EndpointConfig,
    end: End,
    now: Time,
    sent: VecDeque<(Time, Packet)>,
    /// When the card of the host has sent all that it was given.
    card_free: Time,
    /// Bytes that the queue in front of the card still takes.
    room: u64,
    /// Whether a receiver has got a SYN and no ACK of the handshake.
    awaits_ack: bool,
    loose: bool,
}

impl Drop for Script {
    fn drop(&mut self) {
        if !self.loose && !std::thread::panicking() {
            self.expect_silence("end of script");
        }
    }
}

/// Runs `text` against a sender with the preset and profile.
pub(super) fn sender(cc: &str, stack: &str, text: &str) -> Script {
    sender_with(plain_config(cc, stack), text)
}

/// Runs `text` against a sender.
pub(super) fn sender_with(config: EndpointConfig, text: &str) -> Script {
    let end = End::Sender(Box::new(Sender::new(&config, FlowId(7))));
    Script::start(config, end).run(text)
}

/// Runs `text` against a receiver.
pub(super) fn receiver_with(config: EndpointConfig, text: &str) -> Script {
    let end = End::Receiver(Box::new(Receiver::new(&config, FlowId(7))));
    Script::start(config, end).run(text)
}

/// The part of the stack of `config` that only Linux has, to be changed.
pub(super) fn linux(config: &mut EndpointConfig) -> &mut Linux {
    config.stack.linux_mut().expect("a Linux")
}

/// Reno with ECN.
pub(super) fn with_ecn(stack: &str) -> EndpointConfig {
    EndpointConfig { ecn: EcnSetting::On, ..plain_config("reno", stack) }
}

/// Reno on Linux without tail loss probes.
pub(super) fn without_probes(stack: &str) -> EndpointConfig {
    let mut config = plain_config("reno", stack);
    linux(&mut config).tail_probe = TailProbe::Off;
    config
}

/// Reno on Linux without tail loss probes and without F-RTO.
pub(super) fn without_probes_and_frto(stack: &str) -> EndpointConfig {
    let mut config = without_probes(stack);
    linux(&mut config).frto = false;
    config
}

impl Script {
    fn start(config: EndpointConfig, end: End) -> Self {
        Self {
            config,
            end,
            now: Time::ZERO,
            sent: VecDeque::new(),
            card_free: Time::ZERO,
            room: u64::MAX,
            awaits_ack: false,
            loose: false,
        }
    }

    /// Runs further lines.
    pub(super) fn run(mut self, text: &str) -> Self {
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                self.line(line);
            }
        }
        self
    }

    /// Runs further lines; packets that leave after the last one are not checked.
    pub(super) fn run_loosely(mut self, text: &str) -> Self {
        self.loose = true;
        self.run(text)
    }

    /// An ACK 0.1 ms later, and the packets for which it makes room.
    pub(super) fn acknowledge(&mut self, segment: u64, ece: bool) -> Vec<Packet> {
        self.now += Span::from_micros(100);
        self.arrive(&format!("ack {segment}{}", if ece { " ece" } else { "" }));
        self.sender().assert_invariants();
        self.sent.drain(..).map(|(_, packet)| packet).collect()
    }

    pub(super) fn sender(&self) -> &Sender {
        match &self.end {
            End::Sender(sender) => sender,
            End::Receiver(_) => panic!("this script runs a receiver"),
        }
    }

    fn line(&mut self, line: &str) {
        let (time, rest) = line.split_once(char::is_whitespace).expect("time and action");
        let time = parse_time(time);
        let rest = rest.trim();
        assert!(time >= self.now, "{line}: time goes back");
        if let Some(wanted) = rest.strip_prefix('>') {
            self.fire_timers(time);
            self.expect(time, wanted, line);
        } else {
            // Timers that are due at the same instant expire after the packet arrives, as in the engine; earlier ones
            // before.
            self.fire_timers(Time::from_picos(time.as_picos().saturating_sub(1)));
            if !rest.starts_with('?') {
                self.expect_silence(line);
            }
            self.now = time;
            if let Some(packet) = rest.strip_prefix('<') {
                for packet in expand(packet) {
                    self.arrive(&packet);
                }
            } else if let Some(state) = rest.strip_prefix('?') {
                self.check(state, line);
            } else {
                self.act(rest);
            }
        }
        if let End::Sender(sender) = &self.end {
            sender.assert_invariants();
        }
    }

    fn fire_timers(&mut self, until: Time) {
        loop {
            let deadline = match &self.end {
                End::Sender(sender) => sender.deadline(),
                End::Receiver(receiver) => receiver.deadline(),
            };
            if deadline > until {
                self.now = self.now.max(until);
                return;
            }
            self.now = self.now.max(deadline);
            self.call(|end, config, now, out| match end {
                End::Sender(sender) => sender.on_timer(config, now, out),
                End::Receiver(receiver) => receiver.on_timer(config, now, out),
            });
        }
    }

    fn call(&mut self, call: impl FnOnce(&mut End, &EndpointConfig, Time, &mut Wire)) {
        let mut out = Wire { packets: Vec::new(), card_free: self.card_free, room: self.room };
        call(&mut self.end, &self.config, self.now, &mut out);
        self.room = out.room;
        self.sent.extend(out.packets.into_iter().map(|packet| (self.now, packet)));
    }

    fn act(&mut self, action: &str) {
        if let Some(time) = action.strip_prefix("card ") {
            self.card_free = parse_time(time);
            return;
        }
        if let Some(bytes) = action.strip_prefix("room ") {
            self.room = bytes.parse().expect("bytes");
            return;
        }
        let mut words = action.split_whitespace();
        let verb = words.next().unwrap_or("");
        let amount: u64 = words.next().map_or(0, |n| n.parse().expect("a number"));
        let mss = u64::from(self.config.mss());
        self.call(|end, config, now, out| {
            let End::Sender(sender) = end else { panic!("a receiver cannot {verb}") };
            match verb {
                "connect" => sender.connect(config, now, out),
                "write" => sender.write(config, amount * mss, now, out),
                "bytes" => sender.write(config, amount, now, out),
                "last" => sender.write_last(config, amount * mss, now, out),
                "close" => sender.close(config, now, out),
                "greedy" => sender.set_greedy(config, true, now, out),
                "stop" => sender.set_greedy(config, false, now, out),
                other => panic!("unknown action {other}"),
            }
        });
    }

    fn arrive(&mut self, text: &str) {
        let packet = self.parse(text);
        if core::mem::replace(&mut self.awaits_ack, packet.flags.has(Flags::SYN)) && packet.payload > 0 {
            // The ACK of the handshake comes just before the first data.
            self.deliver(&Packet { payload: 0, size: self.config.header_bytes, flags: Flags::ACK, ..packet });
        }
        self.deliver(&packet);
    }

    fn deliver(&mut self, packet: &Packet) {
        self.call(|end, config, now, out| match end {
            End::Sender(sender) => sender.on_packet(config, packet, now, out),
            End::Receiver(receiver) => receiver.on_packet(config, packet, now, out),
        });
    }

    fn position(&self, text: &str) -> u64 {
        let (segments, bytes) = text.split_once('+').unwrap_or((text, "0"));
        let segments: u64 = segments.parse().unwrap_or_else(|_| panic!("not a position: {text}"));
        1 + segments * u64::from(self.config.mss()) + bytes.parse::<u64>().expect("bytes")
    }

    fn parse(&self, text: &str) -> Packet {
        let mut packet = Packet::empty(FlowId(7), self.config.header_bytes);
        packet.window = self.config.advertised_window();
        packet.flags = Flags::ACK;
        packet.ts_val = self.now.as_micros() as u32 + 1;
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            match word {
                "syn" => packet.flags = Flags::SYN,
                "synack" => {
                    packet.flags = Flags::SYN.with(Flags::ACK);
                    packet.ack = Seq(1);
                    packet.window = self.config.syn_window();
                }
                "ack" => packet.ack = Seq::of(self.position(words.next().expect("a position"))),
                "ece" => packet.flags = packet.flags.with(Flags::ECE),
                "cwr" => packet.flags = packet.flags.with(Flags::CWR),
                "fin" => packet.flags = packet.flags.with(Flags::FIN),
                "psh" => packet.flags = packet.flags.with(Flags::PSH),
                "ce" => packet.ecn = Ecn::Ce,
                "ect0" => packet.ecn = Ecn::Ect0,
                "win" => packet.window = words.next().and_then(|w| w.parse().ok()).expect("a window"),
                "ts" => {
                    let time = parse_time(words.next().expect("a time"));
                    packet.ts_ecr = time.as_micros() as u32 + 1;
                }
                "sack" => {
                    while let Some((left, right)) = words.peek().and_then(|w| w.split_once('-')) {
                        let (left, right) = (self.position(left), self.position(right));
                        assert!(packet.sack.push(Sack { left: Seq::of(left), right: Seq::of(right) }));
                        words.next();
                    }
                }
                data => {
                    let (at, len) = data.split_once(':').unwrap_or((data, ""));
                    packet.seq = Seq::of(self.position(at));
                    packet.payload =
                        if len.is_empty() { self.config.mss() } else { len.parse().expect("bytes") };
                    packet.size += packet.payload;
                }
            }
        }
        packet
    }

    fn expect(&mut self, time: Time, wanted: &str, line: &str) {
        for wanted in expand(wanted) {
            let ends_handshake = |packet: &Packet| packet.payload == 0 && packet.flags == Flags::ACK;
            if matches!(self.end, End::Sender(_))
                && !wanted.starts_with("ack")
                && self.sent.front().is_some_and(|(_, packet)| ends_handshake(packet))
            {
                self.sent.pop_front();
            }
            let Some((sent_at, packet)) = self.sent.pop_front() else {
                panic!("{line}: nothing sent, wanted `{wanted}`; {:?}", self.summary());
            };
            let got = self.render(&packet);
            assert_eq!((sent_at, got.as_str()), (time, wanted.as_str()), "in line `{line}`");
        }
    }

    fn expect_silence(&self, line: &str) {
        let unexpected: Vec<_> =
            self.sent.iter().map(|(time, p)| format!("{time:?} {}", self.render(p))).collect();
        assert!(unexpected.is_empty(), "before `{line}`: unexpected packets {unexpected:?}");
    }

    /// A stream position in segments, with the bytes beyond.
    fn show(&self, position: u64) -> String {
        let mss = u64::from(self.config.mss());
        let (segments, bytes) = ((position - 1) / mss, (position - 1) % mss);
        if bytes == 0 { segments.to_string() } else { format!("{segments}+{bytes}") }
    }

    fn render(&self, packet: &Packet) -> String {
        let reference = match &self.end {
            End::Sender(sender) => sender.snd_una(),
            End::Receiver(receiver) => receiver.delivered_bytes() + 1,
        };
        let mut text = if packet.flags.has(Flags::SYN) {
            (if packet.flags.has(Flags::ACK) { "synack" } else { "syn" }).to_string()
        } else if packet.payload > 0 || packet.flags.has(Flags::FIN) {
            let at = self.show(packet.seq.near(reference));
            if packet.payload == self.config.mss() { at } else { format!("{at}:{}", packet.payload) }
        } else {
            format!("ack {}", self.show(packet.ack.near(reference)))
        };
        for (flag, name) in [(Flags::FIN, "fin"), (Flags::ECE, "ece"), (Flags::CWR, "cwr")] {
            if packet.flags.has(flag) {
                write!(text, " {name}").expect("writing to a string");
            }
        }
        for (codepoint, name) in [(Ecn::Ect0, "ect0"), (Ecn::Ect1, "ect1"), (Ecn::Ce, "ce")] {
            if packet.ecn == codepoint {
                write!(text, " {name}").expect("writing to a string");
            }
        }
        for (n, block) in packet.sack.as_slice().iter().enumerate() {
            let (left, right) =
                (self.show(block.left.near(reference)), self.show(block.right.near(reference)));
            write!(text, "{}{left}-{right}", if n == 0 { " sack " } else { " " })
                .expect("writing to a string");
        }
        text
    }

    fn check(&self, state: &str, line: &str) {
        let mut words = state.split_whitespace();
        while let Some(what) = words.next() {
            let wanted = words.next().expect("a value");
            let sender = self.sender();
            let got = match what {
                "cwnd" => sender.window().cwnd.to_string(),
                "ssthresh" => sender.window().ssthresh.to_string(),
                "cnt" => sender.window().cwnd_cnt.to_string(),
                "flight" => sender.in_flight().to_string(),
                "state" => format!("{:?}", sender.state()).to_lowercase(),
                "losses" => sender.losses().to_string(),
                "undos" => sender.counters().undos.to_string(),
                "timeouts" => sender.counters().timeouts.to_string(),
                "probes" => sender.counters().probes.to_string(),
                "recoveries" => sender.counters().fast_recoveries.to_string(),
                "reductions" => sender.counters().cwr_reductions.to_string(),
                "srtt" => format!("{}ms", sender.srtt().as_secs_f64() * 1e3),
                "alpha" => sender.alpha().expect("alpha").to_string(),
                "ecn" => (if sender.uses_ecn() { "on" } else { "off" }).to_string(),
                other => panic!("unknown quantity {other}"),
            };
            assert_eq!(got, wanted, "{what} in `{line}`; {:?}", self.summary());
        }
    }

    fn summary(&self) -> String {
        match &self.end {
            End::Sender(s) => format!("{:?} {:?} flight {}", s.window(), s.state(), s.in_flight()),
            End::Receiver(r) => format!("{r:?}"),
        }
    }
}

/// Splits at commas and writes out ranges: `3..5 ect0` is `3 ect0`, `4 ect0`.
fn expand(list: &str) -> Vec<String> {
    let mut packets = Vec::new();
    for item in list.split(',').map(str::trim) {
        let (first, rest) =
            item.split_once(' ').map_or((item, String::new()), |(f, r)| (f, format!(" {}", r.trim())));
        match first.split_once("..") {
            Some((from, to)) => {
                let (from, to): (u32, u32) = (from.parse().expect("from"), to.parse().expect("to"));
                packets.extend((from..to).map(|n| format!("{n}{rest}")));
            }
            None => packets.push(item.to_string()),
        }
    }
    packets
}

fn parse_time(text: &str) -> Time {
    let ms: f64 =
        text.strip_suffix("ms").and_then(|t| t.parse().ok()).unwrap_or_else(|| panic!("not a time: {text}"));
    Time::ZERO + Span::from_nanos((ms * 1e6).round() as u64)
}
