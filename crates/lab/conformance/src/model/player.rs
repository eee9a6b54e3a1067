//! Plays a script on a model, event by event, with the same timing as the guest's player
//! (`linux/guest/script.c`).

use super::End;
use super::endpoint::Model;
use super::segments::{arriving, leaving};
use super::setup::{Setup, option_setting};
use crate::kernel::{anchored, patience};
use crate::syntax::ast::{
    Action, Body, Call, Event, Options, Packet as Line, Script, Segment, TcpFlags, Tos, Value,
};
use crate::transcript::{Record, Seen, Transcript};
use shoal_packet::{Ecn, Flags, Packet, Seq};
use shoal_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Time of the models' clock at the start of a script. It is above 0, since a timestamp of 0 means that there
/// is none.
const START: Time = Time::from_picos(1_000_000_000_000);

const EAGAIN: i64 = 11;
const EINPROGRESS: i64 = 115;

pub(super) struct Player {
    setup: Setup,
    options: Options,
    model: Model,
    /// Time after the start, in nanoseconds.
    now: i64,
    /// Scheduled arrival of the preceding packet, if the preceding event was an arrival.
    arrival: Option<i64>,
    left: VecDeque<(i64, u8, Segment)>,
    handshake: Handshake,
    /// Timestamps of the model, by the script's timestamps.
    labels: BTreeMap<u32, u32>,
    /// Timestamps of packets that left the model and have not been compared yet.
    stamps: VecDeque<u32>,
    syn_stamp: u32,
    nonblocking: bool,
    read: u64,
    /// Index of the record of a pending `connect`.
    connecting: Option<usize>,
    transcript: Transcript,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Handshake {
    Closed,
    /// One side has sent a SYN; whether it asked for ECN.
    Asked {
        ecn: bool,
    },
    Open,
}

impl Player {
    pub(super) fn new(setup: Setup, script: &Script) -> Self {
        let model = Model::new(&setup);
        Self {
            setup,
            options: script.options.clone(),
            model,
            now: 0,
            arrival: None,
            left: VecDeque::new(),
            handshake: Handshake::Closed,
            labels: BTreeMap::new(),
            stamps: VecDeque::new(),
            syn_stamp: 0,
            nonblocking: false,
            read: 0,
            connecting: None,
            transcript: Transcript::default(),
        }
    }

    pub(super) fn play(mut self, script: &Script) -> Transcript {
        if self.turned() {
            self.transcript.notes.push("the handshake is turned round".to_string());
        }
        for (n, event) in script.events.iter().enumerate() {
            let base = self.now;
            let (at, seen) = self.event(event, base);
            let stops = matches!(seen, Seen::Silence | Seen::Blocked);
            self.transcript.records.push(Record { event: n, base, at, seen });
            if stops {
                break;
            }
        }
        self.transcript
    }

    /// Whether the receiving side connects in the script; if a model has one direction, its sending side connects.
    fn turned(&self) -> bool {
        match self.setup.end {
            End::Sender => !self.setup.active,
            End::Receiver => self.setup.active,
            End::Both => false,
        }
    }

    fn event(&mut self, event: &Event, base: i64) -> (i64, Seen) {
        let time = event.time;
        let anchor =
            if anchored(event, self.arrival.is_some()) { self.arrival.unwrap_or(base) } else { base };
        let offset = if time.relative { anchor } else { 0 };
        let at = offset + time.from * 1000;
        self.arrival = None;
        if let Action::Leaves(line) = &event.action {
            return self.leaves(event, line, base);
        }
        // Timers that expire at the same instant fire after packets that arrive then.
        self.pass(at - 1);
        self.now = self.now.max(at);
        let seen = match &event.action {
            Action::Arrives(line) => {
                self.arrival = Some(at);
                if let Body::Tcp(segment) = &line.body {
                    self.arrives(segment, line.tos);
                }
                Seen::Done
            }
            Action::Call(call) => self.call(call, event.time.blocks),
            Action::Check(_) => Seen::State(Ok(self.model.state())),
            Action::Commands(commands) => {
                commands
                    .iter()
                    .filter_map(option_setting)
                    .for_each(|value| self.setup.config.ecn_option = value);
                Seen::Done
            }
            Action::Leaves(_) => Seen::Done,
        };
        (self.now, seen)
    }

    /// Advances the time to `until` and fires all timers that expire by then.
    fn pass(&mut self, until: i64) {
        loop {
            let deadline = self.model.deadline();
            if deadline > clock(until) {
                self.now = self.now.max(until);
                return;
            }
            self.now = self.now.max((deadline.since(START).as_picos() / 1000) as i64);
            self.drive(Model::on_timer);
        }
    }

    fn drive(&mut self, act: impl FnOnce(&mut Model, &Setup, Time, &mut Vec<Packet>)) {
        let mut out = Vec::new();
        act(&mut self.model, &self.setup, clock(self.now), &mut out);
        for packet in out {
            self.show(&packet);
        }
    }

    fn show(&mut self, packet: &Packet) {
        let (tos, segment) = leaving(packet);
        self.put(tos, segment, packet.ts_val);
    }
    fn put(&mut self, tos: u8, segment: Segment, stamp: u32) {
        self.left.push_back((self.now, tos, segment));
        self.stamps.push_back(stamp);
    }

    /// Expects a packet, or several that carry its payload together.
    fn leaves(&mut self, event: &Event, line: &Line, base: i64) -> (i64, Seen) {
        let offset = if event.time.relative { base } else { 0 };
        let limit = offset + patience(event.time, &self.options);
        let Body::Tcp(wanted) = &line.body else { return (self.now, Seen::Silence) };
        let mut found: Option<Record> = None;
        loop {
            while self.left.is_empty() && self.now < limit {
                let before = self.now;
                self.pass_to_next(limit);
                if self.left.is_empty() && self.now == before {
                    break;
                }
            }
            let Some((at, tos, segment)) = self.left.pop_front() else { return (self.now, Seen::Silence) };
            let stamp = self.stamps.pop_front().unwrap_or(0);
            if let Some((label, _)) = wanted.timestamps() {
                self.labels.insert(label, stamp);
            }
            let record = Record { event: 0, base, at, seen: Seen::Packet { tos, segment, torn: false } };
            match &mut found {
                None => found = Some(record),
                Some(found) => found.append(record),
            }
            if let Some(Record { at, seen: Seen::Packet { segment, .. }, .. }) = &found
                && segment.payload >= wanted.payload
            {
                let at = *at;
                return (at, found.map_or(Seen::Silence, |record| record.seen));
            }
        }
    }

    /// Advances the time to the next timer, by `limit` at most.
    fn pass_to_next(&mut self, limit: i64) {
        let deadline = self.model.deadline();
        let next = if deadline == Time::NEVER {
            limit
        } else {
            (deadline.since(START).as_picos() / 1000) as i64 + 1
        };
        self.pass(next.min(limit));
    }

    fn arrives(&mut self, segment: &Segment, tos: Tos) {
        // What tells an ACK from an older one is the timestamp of the script; otherwise the time.
        let stamp = match segment.timestamps() {
            Some((value, _)) if self.setup.end == End::Both => value.wrapping_mul(1000),
            _ => clock(self.now).as_micros() as u32 + 1,
        };
        let echo = segment.timestamps().map_or(0, |(_, label)| self.labels.get(&label).copied().unwrap_or(0));
        let packet = arriving(segment, tos, &self.setup.config, self.setup.peer_scale, stamp, echo);
        let asks_for_ecn = segment.flags.has(0xc0);
        match (self.turned(), self.handshake, segment.flags.has(2)) {
            // For a server that will send, the SYN/ACK is the model's SYN.
            (true, Handshake::Closed, true) if self.setup.end == End::Sender => {
                self.handshake = Handshake::Asked { ecn: asks_for_ecn };
                self.drive_turned_syn(asks_for_ecn);
            }
            (true, Handshake::Asked { ecn }, false) if self.setup.end == End::Sender => {
                self.handshake = Handshake::Open;
                self.complete_sender(&packet, ecn);
            }
            // For a client that will receive, the peer's SYN/ACK is the SYN that the model waits for.
            (true, Handshake::Asked { .. }, true) if self.setup.end == End::Receiver => {
                self.handshake = Handshake::Open;
                let mut syn = packet;
                let agreed = segment.flags.has(64) && !segment.flags.has(128);
                syn.flags = if agreed { Flags::SYN.with(Flags::ECE).with(Flags::CWR) } else { Flags::SYN };
                let mut unseen = Vec::new();
                self.model.on_packet(&self.setup, &syn, clock(self.now), &mut unseen);
                self.put(unseen.first().map_or(0, |packet| packet.ecn.bits()), ack_of_nothing(), 0);
            }
            _ => {
                if segment.flags.has(2) {
                    self.handshake = Handshake::Open;
                }
                // The ACK that completes the handshake of a listening receiver echoes the timestamp of its
                // SYN/ACK.
                self.drive(|model, setup, now, out| model.on_packet(setup, &packet, now, out));
            }
        }
        let is_open = match &self.model {
            Model::Both(end) => end.is_open(),
            Model::Sender(_) | Model::Receiver(_) => self.handshake == Handshake::Open,
        };
        if is_open
            && let Some(n) = self.connecting.take()
            && let Seen::Called { ended, .. } = &mut self.transcript.records[n].seen
        {
            *ended = self.now;
        }
    }

    /// Sends the model's SYN, shown as the SYN/ACK that answers the peer's SYN.
    fn drive_turned_syn(&mut self, asks_for_ecn: bool) {
        let mut out = Vec::new();
        self.model.connect(&self.setup, clock(self.now), &mut out);
        for mut packet in out {
            let grants = asks_for_ecn && packet.flags.has(Flags::ECE.with(Flags::CWR));
            packet.flags = Flags::SYN.with(Flags::ACK).with(if grants { Flags::ECE } else { Flags(0) });
            packet.ack = Seq(1);
            if !grants {
                packet.ecn = Ecn::NotEct;
            }
            self.syn_stamp = packet.ts_val;
            self.show(&packet);
        }
    }

    /// Completes a server's handshake: to the model, the peer's ACK is the SYN/ACK that answers its SYN.
    fn complete_sender(&mut self, ack: &Packet, ecn: bool) {
        let mut answer = *ack;
        answer.seq = Seq(0);
        answer.flags = Flags::SYN.with(Flags::ACK).with(if ecn { Flags::ECE } else { Flags(0) });
        answer.ts_ecr = self.syn_stamp;
        // The window of a SYN/ACK is not scaled. The ACK itself must not be an ACK to the model: Linux starts the
        // controller after it.
        let bytes = u32::from(ack.window) << self.setup.config.window_scale();
        answer.window = u16::try_from(bytes).unwrap_or(u16::MAX);
        // A client would acknowledge the SYN/ACK here; a server has nothing to acknowledge.
        self.model.on_packet(&self.setup, &answer, clock(self.now), &mut Vec::new());
    }

    fn call(&mut self, call: &Call, blocks: bool) -> Seen {
        let returned =
            |result: i64, error: i64, ended: i64| Seen::Called { ended, result, error, differs: None };
        let now = self.now;
        let int = |n: usize| match call.arguments.get(n) {
            Some(Value::Int(value)) => *value,
            _ => 0,
        };
        match call.name.as_str() {
            "accept" if matches!(&self.model, Model::Both(end) if !end.is_open()) => {
                if self.nonblocking {
                    returned(-1, EAGAIN, now)
                } else {
                    Seen::Blocked
                }
            }
            "socket" | "accept" => returned(3, 0, now),
            "fcntl" => {
                let sets = call.arguments.get(1) == Some(&Value::Name("F_SETFL".into()));
                if sets {
                    let flag = Value::Name("O_NONBLOCK".into());
                    self.nonblocking = match call.arguments.get(2) {
                        Some(Value::Or(all)) => all.contains(&flag),
                        Some(value) => *value == flag,
                        None => false,
                    };
                }
                // The flags are O_RDWR, and O_NONBLOCK if it was set.
                let flags = if self.nonblocking { 2 | 0o4000 } else { 2 };
                returned(if sets { 0 } else { flags }, 0, now)
            }
            "connect" => {
                self.connect();
                if self.nonblocking {
                    return returned(-1, EINPROGRESS, now);
                }
                if !blocks {
                    return Seen::Blocked;
                }
                self.connecting = Some(self.transcript.records.len());
                returned(0, 0, i64::MAX)
            }
            "write" | "send" => {
                let bytes = int(2);
                self.drive(|model, setup, now, out| model.write(setup, bytes as u64, now, out));
                returned(bytes, 0, now)
            }
            "read" | "recv" => {
                let Some(delivered) = self.model.delivered_bytes() else { return Seen::Blocked };
                let waiting = delivered - self.read;
                let taken = waiting.min(int(2) as u64);
                self.read += taken;
                match (taken, self.nonblocking) {
                    (0, true) => returned(-1, EAGAIN, now),
                    (0, false) => Seen::Blocked,
                    _ => returned(taken as i64, 0, now),
                }
            }
            // A sender reads nothing.
            "shutdown" if matches!(call.arguments.get(1), Some(Value::Name(how)) if how == "SHUT_RD") => {
                returned(0, 0, now)
            }
            "close" | "shutdown" => {
                self.drive(Model::close);
                returned(0, 0, now)
            }
            _ => returned(0, 0, now),
        }
    }

    fn connect(&mut self) {
        if self.setup.end != End::Receiver {
            self.drive(Model::connect);
            return;
        }
        // The models have no receiving client, so its SYN is made here.
        let ecn = self.setup.config.ecn == shoal_tcp::EcnSetting::On;
        self.handshake = Handshake::Asked { ecn };
        let mut syn = ack_of_nothing();
        syn.flags = TcpFlags { bits: if ecn { 2 | 0xc0 } else { 2 }, ace: None };
        (syn.seq, syn.ack) = (0, 0);
        self.put(0, syn, clock(self.now).as_micros() as u32 + 1);
    }
}

/// A pure ACK.
fn ack_of_nothing() -> Segment {
    Segment {
        flags: TcpFlags { bits: 16, ace: None },
        seq: 1,
        payload: 0,
        ack: 1,
        window: None,
        urgent: 0,
        options: Some(Vec::new()),
    }
}

fn clock(ns: i64) -> Time {
    START + Span::from_nanos(ns.max(0) as u64)
}
