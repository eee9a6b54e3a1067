//! Accurate ECN ([RFC 9768](https://www.rfc-editor.org/rfc/rfc9768)) between both ends of a connection.

use crate::accurate::with_ace;
use crate::testing::config as plain_config;
use crate::{EcnFeedback, EcnOption, EcnSetting, EndpointConfig, Offload, Receiver, Sender};
use shoal_cc::CcConfig;
use shoal_packet::{ByteCounters, CounterOrder, Ecn, Flags, FlowId, Packet, Seq};
use shoal_units::{Span, Time};
use std::collections::VecDeque;

fn config(cc: &str, option: EcnOption) -> EndpointConfig {
    let mut config = plain_config(cc, "linux-6");
    config.ecn = EcnSetting::On;
    config.ecn_option = option;
    config.receiver.feedback = Some(EcnFeedback::Accurate);
    config
}

/// What a path does to the packets of one direction: packet number n, from 0, of those with data or without.
type Change = fn(usize, &mut Packet) -> bool;

/// A sender and a receiver, 10 ms apart.
struct Pair {
    config: EndpointConfig,
    sender: Sender,
    receiver: Receiver,
    now: Time,
    /// What is on its way, with the time at which it arrives, to the receiver and back.
    forward: VecDeque<(Time, Packet)>,
    backward: VecDeque<(Time, Packet)>,
    data: usize,
    acks: usize,
    /// End of the data that have been sent once, and how many packets of them were marked.
    end: u64,
    marked: u64,
    /// What has left each end.
    sent: Vec<Packet>,
    acknowledged: Vec<Packet>,
}

const DELAY: Span = Span::from_millis(10);

impl Pair {
    fn new(config: EndpointConfig) -> Self {
        Self {
            config,
            sender: Sender::new(&config, FlowId(7)),
            receiver: Receiver::new(&config, FlowId(7)),
            now: Time::ZERO + Span::from_secs(1),
            forward: VecDeque::new(),
            backward: VecDeque::new(),
            data: 0,
            acks: 0,
            end: 1,
            marked: 0,
            sent: Vec::new(),
            acknowledged: Vec::new(),
        }
    }

    /// Transfers `bytes`; `change_data` and `change_acks` see each packet that leaves, and drop what they refuse.
    fn transfer(mut self, bytes: u64, change_data: Change, change_acks: Change) -> Self {
        let mut out = Vec::new();
        self.sender.connect(&self.config, self.now, &mut out);
        self.sender.write_last(&self.config, bytes, self.now, &mut out);
        self.send(&mut out, change_data);
        while !self.sender.is_drained() {
            let next = [
                self.forward.front().map_or(Time::NEVER, |(at, _)| *at),
                self.backward.front().map_or(Time::NEVER, |(at, _)| *at),
                self.sender.deadline(),
                self.receiver.deadline(),
            ];
            self.now = next.into_iter().min().filter(|at| *at < Time::NEVER).expect("something happens");
            if next[0] == self.now {
                let (_, packet) = self.forward.pop_front().expect("a packet");
                self.receiver.on_packet(&self.config, &packet, self.now, &mut out);
                self.answer(&mut out, change_acks);
            } else if next[1] == self.now {
                let (_, packet) = self.backward.pop_front().expect("an ACK");
                self.sender.on_packet(&self.config, &packet, self.now, &mut out);
                self.send(&mut out, change_data);
            } else if next[2] == self.now {
                self.sender.on_timer(&self.config, self.now, &mut out);
                self.send(&mut out, change_data);
            } else {
                self.receiver.on_timer(&self.config, self.now, &mut out);
                self.answer(&mut out, change_acks);
            }
            self.sender.assert_invariants();
        }
        self
    }
    fn send(&mut self, out: &mut Vec<Packet>, change: Change) {
        for mut packet in out.drain(..) {
            self.sent.push(packet);
            self.data += 1;
            let is_new = packet.payload > 0 && packet.seq.near(self.end) == self.end;
            if change(self.data - 1, &mut packet) {
                self.end += if is_new { packet.payload.into() } else { 0 };
                self.marked += u64::from(is_new && packet.ecn.is_ce());
                self.forward.push_back((self.now + DELAY, packet));
            }
        }
    }
    fn answer(&mut self, out: &mut Vec<Packet>, change: Change) {
        for mut packet in out.drain(..) {
            self.acknowledged.push(packet);
            self.acks += 1;
            if change(self.acks - 1, &mut packet) {
                self.backward.push_back((self.now + DELAY, packet));
            }
        }
    }
    /// Packets that were marked, but for repetitions of what had arrived, and those that the sender has been told of.
    fn marks(&self) -> (u64, u64) {
        (self.marked, self.sender.counters().delivered_ce_packets)
    }
}

fn unchanged(_: usize, _: &mut Packet) -> bool {
    true
}

/// Marks one packet of seven that has data.
fn one_of_seven(n: usize, packet: &mut Packet) -> bool {
    if n % 7 == 3 && packet.payload > 0 {
        packet.ecn = Ecn::Ce;
    }
    true
}

#[test]
fn the_sender_counts_exactly_the_packets_that_were_marked() {
    for cc in ["reno", "cubic", "dctcp"] {
        for option in [EcnOption::Off, EcnOption::Minimum, EcnOption::Full] {
            for change in [unchanged, one_of_seven, |n, packet: &mut Packet| {
                // Trains of marks and of none, as a step causes.
                if n / 10 % 2 == 1 && packet.payload > 0 {
                    packet.ecn = Ecn::Ce;
                }
                true
            }] {
                let pair = Pair::new(config(cc, option)).transfer(500_000, change, unchanged);
                let (marked, counted) = pair.marks();
                assert_eq!(marked, counted, "{cc} {option:?}");
            }
        }
    }
}

#[test]
fn marks_are_counted_although_acks_are_lost() {
    // Of four ACKs three are lost: an ACK covers up to eight packets, so that the flags alone could mean eight marks
    // more; the option tells them apart.
    fn one_of_four(n: usize, packet: &mut Packet) -> bool {
        packet.flags.has(Flags::SYN) || n.is_multiple_of(4)
    }
    for change in [unchanged, one_of_seven] {
        let pair = Pair::new(config("cubic", EcnOption::Full)).transfer(500_000, change, one_of_four);
        let (marked, counted) = pair.marks();
        assert_eq!(marked, counted);
    }
}

#[test]
fn every_packet_but_the_syn_has_ect_and_there_is_no_cwr() {
    for (cc, syn) in [("cubic", Ecn::NotEct), ("dctcp", Ecn::Ect0)] {
        let pair = Pair::new(config(cc, EcnOption::Full)).transfer(200_000, one_of_seven, unchanged);
        assert_eq!(pair.sent[0].ecn, syn);
        assert!(pair.sent[0].flags.has(Flags::AE.with(Flags::CWR).with(Flags::ECE)));
        assert_eq!(pair.acknowledged[0].ecn, Ecn::NotEct, "SYN/ACK");
        let others = pair.sent[1..].iter().chain(&pair.acknowledged[1..]);
        assert!(others.clone().all(|packet| packet.ecn == Ecn::Ect0));
        assert!(pair.sender.uses_ecn() && pair.marks().0 > 5);
        // The flags of data are the counter of CE on ACKs: none came, so it stays at its first value, 5.
        let data = || pair.sent.iter().filter(|packet| packet.payload > 0);
        assert!(data().all(|packet| with_ace(packet.flags, 5) == packet.flags));
    }
}

#[test]
fn the_option_takes_twelve_bytes_of_each_packet() {
    for (option, payload) in [(EcnOption::Off, 1448), (EcnOption::Full, 1436)] {
        let pair = Pair::new(config("cubic", option)).transfer(200_000, one_of_seven, unchanged);
        let data: Vec<_> = pair.sent.iter().filter(|packet| packet.payload > 0).collect();
        assert!(data[..data.len() - 1].iter().all(|packet| (packet.payload, packet.size) == (payload, 1500)));
        let with = pair.acknowledged.iter().filter(|ack| ack.sack.counters().is_some()).count();
        assert_eq!(with, if option == EcnOption::Off { 0 } else { pair.acknowledged.len() });
        // Every second packet is acknowledged, and each change of the codepoint at once: two of seven packets change
        // it, so that at most two ACKs of seven packets come in addition.
        let (packets, acks) = (data.len(), pair.acknowledged.len() - 1);
        assert!(
            acks >= packets / 2 && acks <= packets / 2 + 2 * packets / 7 + 16,
            "{acks} ACKs of {packets}"
        );
    }
}

#[test]
fn a_change_of_the_codepoint_is_acknowledged_at_once() {
    let mut receiver = Receiver::new(&config("cubic", EcnOption::Full), FlowId(7));
    let config = EndpointConfig { receive_window_bytes: 4 * 1448, ..config("cubic", EcnOption::Full) };
    let mut syn = Packet::empty(FlowId(7), 60);
    syn.flags = with_ace(Flags::SYN, 7);
    let mut acks = Vec::new();
    let mut now = Time::ZERO + Span::from_secs(1);
    receiver.on_packet(&config, &syn, now, &mut acks);
    let mut acked = Vec::new();
    for (n, ecn) in [Ecn::Ect1; 20].into_iter().chain([Ecn::Ce, Ecn::Ce, Ecn::Ect1, Ecn::Ect1]).enumerate() {
        let mut packet = Packet::empty(FlowId(7), 1500);
        packet.flags = with_ace(Flags::ACK, 5);
        (packet.payload, packet.ecn) = (1448, ecn);
        packet.seq = Seq::of(1 + 1448 * n as u64);
        acks.clear();
        now += Span::from_micros(100);
        receiver.on_packet(&config, &packet, now, &mut acks);
        acked.push(acks.len());
    }
    // Twenty of one codepoint leave none waiting; the first CE and the first without are acknowledged by themselves,
    // what follows each waits for a second one.
    assert_eq!(acked[20..], [1, 0, 1, 0]);
}

/// RFC 9768 table 2, as Linux reads it: the SYN/ACK decides.
#[test]
fn the_answer_to_the_syn_decides_the_mode() {
    for (ace, ecn, reduces) in [
        (0b000, Ecn::NotEct, false),
        (0b001, Ecn::Ect0, true),
        (0b010, Ecn::Ect0, false),
        (0b011, Ecn::Ect0, false),
        (0b100, Ecn::Ect0, false),
        (0b101, Ecn::Ect0, false),
        (0b110, Ecn::Ect0, false),
        (0b111, Ecn::NotEct, false),
    ] {
        let config = config("cubic", EcnOption::Off);
        let mut sender = Sender::new(&config, FlowId(7));
        let (mut out, now) = (Vec::new(), Time::ZERO + Span::from_secs(1));
        sender.connect(&config, now, &mut out);
        let mut answer = Packet::empty(FlowId(7), 60);
        answer.flags = with_ace(Flags::SYN.with(Flags::ACK), ace);
        (answer.ack, answer.window, answer.ts_ecr) = (Seq(1), 65535, out[0].ts_val);
        sender.on_packet(&config, &answer, now + DELAY, &mut out);
        out.clear();
        sender.write(&config, 14_480, now + DELAY, &mut out);
        assert!(!out.is_empty() && out.iter().all(|packet| packet.ecn == ecn), "{ace:03b}");
        // Flags that mean ECE of classic ECN, and no mark in accurate ECN: 5 + 4 = 9, which is 1.
        let mut ack = Packet::empty(FlowId(7), 52);
        ack.flags = with_ace(Flags::ACK, if reduces { 1 } else { 5 });
        (ack.ack, ack.window, ack.ts_val) = (Seq::of(1 + 1448), 1000, 9_000_000);
        sender.on_packet(&config, &ack, now + DELAY + DELAY, &mut out);
        assert_eq!(sender.counters().cwr_reductions, u32::from(reduces), "{ace:03b}");
    }
}

/// RFC 9768 section 3.1.4: the SYN is repeated once as it is, and then without the flags.
#[test]
fn a_syn_that_is_lost_twice_asks_for_nothing() {
    fn drops(lost: usize) -> Change {
        match lost {
            1 => |n, _| n >= 1,
            2 => |n, _| n >= 2,
            _ => |n, _| n >= 3,
        }
    }
    for (lost, ecn) in [(1, Ecn::Ect0), (2, Ecn::NotEct), (3, Ecn::NotEct)] {
        let pair = Pair::new(config("cubic", EcnOption::Full)).transfer(50_000, drops(lost), unchanged);
        let asked: Vec<_> = pair.sent[..=lost].iter().map(|syn| syn.flags.has(Flags::AE)).collect();
        let expected: Vec<_> = (0..=lost).map(|n| n < 2).collect();
        assert_eq!(asked, expected);
        let data = pair.sent.iter().find(|packet| packet.payload > 0).expect("data");
        assert_eq!(data.ecn, ecn, "{lost} lost");
    }
}

#[test]
fn a_server_that_sees_no_flags_behind_its_grant_sends_no_ect() {
    // Something takes the flags off all that follows the SYN.
    fn without_flags(_: usize, packet: &mut Packet) -> bool {
        if !packet.flags.has(Flags::SYN) {
            packet.flags = with_ace(packet.flags, 0);
        }
        true
    }
    let pair = Pair::new(config("cubic", EcnOption::Full)).transfer(50_000, without_flags, unchanged);
    assert!(pair.acknowledged[1..].iter().all(|ack| ack.ecn == Ecn::NotEct));
    assert!(pair.sent[2..].iter().all(|packet| packet.ecn == Ecn::Ect0), "the client sees nothing of it");
}

#[test]
fn marks_on_acks_are_fed_back_with_data() {
    fn one_of_five(n: usize, packet: &mut Packet) -> bool {
        if n % 5 == 4 && packet.ecn == Ecn::Ect0 {
            packet.ecn = Ecn::Ce;
        }
        true
    }
    let pair = Pair::new(config("cubic", EcnOption::Off)).transfer(500_000, unchanged, one_of_five);
    let marked =
        pair.acknowledged.iter().enumerate().filter(|(n, ack)| n % 5 == 4 && ack.ecn == Ecn::Ect0).count();
    let last = pair.sent.last().expect("a packet");
    // The marks of ACKs that came after the last packet left are not in it.
    let told = (0..8).find(|&number| with_ace(last.flags, number) == last.flags);
    let reads = (0..=marked).rev().take(9).any(|marked| told == Some(((marked + 5) % 8) as u8));
    assert!(marked > 20 && reads);
}

/// A receiver behind an accurate handshake with the option, at `now`.
fn open_receiver(config: &EndpointConfig, now: Time) -> Receiver {
    let mut receiver = Receiver::new(config, FlowId(7));
    let mut syn = Packet::empty(FlowId(7), 60);
    syn.flags = with_ace(Flags::SYN, 7);
    receiver.on_packet(config, &syn, now, &mut Vec::new());
    let mut ack = Packet::empty(FlowId(7), 64);
    (ack.flags, ack.ecn) = (with_ace(Flags::ACK, 2), Ecn::Ect0);
    assert!(ack.sack.set_counters(&ByteCounters::new(CounterOrder::Ect1First, [1, 0, 1], 3)));
    receiver.on_packet(config, &ack, now, &mut Vec::new());
    receiver
}

/// Segment `n` of 1000 bytes.
fn data(n: u64, ecn: Ecn) -> Packet {
    let mut packet = Packet::empty(FlowId(7), 1052);
    packet.flags = with_ace(Flags::ACK, 5);
    (packet.payload, packet.ecn, packet.seq) = (1000, ecn, Seq::of(1 + 1000 * n));
    packet
}

#[test]
fn three_sack_blocks_leave_no_room_for_an_option() {
    let config = config("cubic", EcnOption::Full);
    let now = Time::ZERO + Span::from_secs(1);
    let mut receiver = open_receiver(&config, now);
    let mut acks = Vec::new();
    // Holes before segments 1, 3 and 5; ECT(1), CE and ECT(0) need one, two and three fields.
    for (n, ecn, blocks, fields) in [
        (1, Ecn::Ect1, 1, Some(3)),
        (3, Ecn::Ect1, 2, Some(2)),
        (5, Ecn::Ce, 2, Some(2)),
        (7, Ecn::Ect0, 3, None),
    ] {
        acks.clear();
        receiver.on_packet(&config, &data(n, ecn), now, &mut acks);
        let ack = acks.last().expect("an ACK at once");
        assert_eq!(ack.sack.as_slice().len(), blocks, "segment {n}");
        assert_eq!(ack.sack.counters().map(|counters| counters.fields().len()), fields, "segment {n}");
    }
    // Nothing has changed since: Linux sends an option without fields beside three blocks, and the model none.
    let before = acks.last().expect("an ACK").size;
    acks.clear();
    receiver.on_packet(&config, &data(7, Ecn::Ect0), now, &mut acks);
    assert_eq!((acks[0].sack.counters(), acks[0].size), (None, before));
}

#[test]
fn data_feed_back_what_the_other_half_of_their_end_has_received() {
    let config = config("cubic", EcnOption::Full);
    let now = Time::ZERO + Span::from_secs(1);
    let mut receiver = open_receiver(&config, now);
    let mut acks = Vec::new();
    for n in 0..3 {
        receiver.on_packet(&config, &data(n, Ecn::Ce), now, &mut acks);
    }
    // Data of the half that sends carry its own counter, of CE on ACKs, until the half that receives writes its own.
    let mut answer = data(0, Ecn::Ect0);
    receiver.acknowledge_with(&config, &mut answer, now);
    assert_eq!(answer.flags, with_ace(answer.flags, (5 + 3) % 8));
    assert_eq!(answer.ack, Seq::of(3001));
}

#[test]
fn an_option_that_the_path_drops_is_not_sent_again() {
    // The same old data come twice, although the first was reported by D-SACK with the option.
    let config = config("cubic", EcnOption::Full);
    let now = Time::ZERO + Span::from_secs(1);
    let mut receiver = open_receiver(&config, now);
    let mut acks = Vec::new();
    receiver.on_packet(&config, &data(0, Ecn::Ect0), now, &mut acks);
    receiver.on_packet(&config, &data(1, Ecn::Ect0), now, &mut acks);
    let has_option: Vec<_> = (0..3)
        .map(|_| {
            acks.clear();
            receiver.on_packet(&config, &data(0, Ecn::Ect0), now, &mut acks);
            acks[0].sack.counters().is_some()
        })
        .collect();
    assert_eq!(has_option, [true, false, false]);
}

#[test]
fn data_that_come_again_are_counted_again() {
    // RFC 9768 section 3.2.2: whatever arrives counts. Linux does not look at what ends before the last ACK.
    let config = config("cubic", EcnOption::Full);
    let now = Time::ZERO + Span::from_secs(1);
    let mut receiver = open_receiver(&config, now);
    let mut acks = Vec::new();
    for (n, ect0, marked, ace) in [(0, 1, 1000, 6), (0, 1, 2000, 7), (1, 1, 3000, 0), (0, 1, 3000, 0)] {
        acks.clear();
        receiver.on_packet(&config, &data(n, Ecn::Ce), now, &mut acks);
        let ack = acks.last().expect("an ACK at once");
        assert_eq!(ack.flags, with_ace(ack.flags, ace), "segment {n}");
        if let Some(counters) = ack.sack.counters() {
            assert_eq!(counters.fields(), [1, marked, ect0], "segment {n}");
        }
    }
}

/// Prague on a host that sends packet by packet.
fn prague(preset: &str) -> EndpointConfig {
    EndpointConfig { offload: Some(Offload::PACED), ..config(preset, EcnOption::Off) }
}

/// Opens a connection whose SYN/ACK has `ace`, writes without end, and returns the sender and the packets of its first
/// 120 ms, each with the time at which it left; every one is acknowledged by itself after `rtt`, without marks.
fn beginning(config: &EndpointConfig, ace: u8, rtt: Span) -> (Sender, Vec<(Time, Packet)>) {
    let mut sender = Sender::new(config, FlowId(7));
    let (mut out, start) = (Vec::new(), Time::ZERO + Span::from_secs(1));
    sender.connect(config, start, &mut out);
    let mut answer = Packet::empty(FlowId(7), 60);
    answer.flags = with_ace(Flags::SYN.with(Flags::ACK), ace);
    (answer.ack, answer.window, answer.ts_ecr) = (Seq(1), 65535, out[0].ts_val);
    let mut now = start + rtt;
    out.clear();
    sender.on_packet(config, &answer, now, &mut out);
    sender.set_greedy(config, true, now, &mut out);
    let mut sent = Vec::new();
    let mut acked = 0;
    while now < start + Span::from_millis(120) {
        sent.extend(out.drain(..).filter(|packet| packet.payload > 0).map(|packet| (now, packet)));
        let arrives = sent.get(acked).map_or(Time::NEVER, |(left, _)| *left + rtt);
        now = arrives.min(sender.deadline());
        if arrives == now {
            let data = sent[acked].1;
            acked += 1;
            let mut ack = Packet::empty(FlowId(7), 52);
            ack.flags = with_ace(Flags::ACK, if ace == 1 { 0 } else { 5 });
            (ack.ack, ack.window) = (Seq(data.seq.0 + u32::from(data.payload)), 65535);
            (ack.ts_val, ack.ts_ecr) = (u32::try_from(now.as_micros()).expect("seconds"), data.ts_val);
            sender.on_packet(config, &ack, now, &mut out);
        } else {
            sender.on_timer(config, now, &mut out);
        }
    }
    (sender, sent)
}

#[test]
fn prague_paces_itself_and_marks_all_as_scalable() {
    for preset in ["prague-2020", "prague-0.6", "prague-0.7-early", "prague-0.7"] {
        let rtt = Span::from_millis(20);
        let (sender, sent) = beginning(&prague(preset), 0b010, rtt);
        assert!(sent.iter().all(|(_, packet)| packet.ecn == Ecn::Ect1), "{preset}");
        assert!(sender.alpha().is_some(), "{preset}");
        // Behind the ten packets that Linux does not pace, bursts are at most what the pace allows in 2^-12 s and one
        // packet: below 1 Gbit/s at most 21.
        let mut burst = (Time::ZERO, 0);
        for (left, _) in &sent[20..] {
            burst = if *left == burst.0 { (burst.0, burst.1 + 1) } else { (*left, 1) };
            assert!(burst.1 <= 21, "{preset}: {} packets at once", burst.1);
        }
        let times = sent[10..60].windows(2).filter(|pair| pair[0].0 < pair[1].0).count();
        assert!(times > 40, "{preset}: {times} departures of 50 packets at some Mbit/s");
    }
}

#[test]
fn prague_without_accurate_feedback_is_reno() {
    for (ace, ecn) in [(0b000, Ecn::NotEct), (0b001, Ecn::Ect0), (0b111, Ecn::NotEct)] {
        let (sender, sent) = beginning(&prague("prague-0.7"), ace, Span::from_millis(20));
        assert!(sender.alpha().is_none(), "{ace:03b}");
        assert!(sent.iter().all(|(_, packet)| packet.ecn == ecn), "{ace:03b}");
    }
}

#[test]
fn a_classic_controller_takes_over_with_the_window_and_without_the_codepoint() {
    let rtt = Span::from_millis(20);
    for preset in ["prague-2020", "prague-0.6", "prague-0.7-early", "prague-0.7"] {
        let config = prague(preset);
        let (mut sender, sent) = beginning(&config, 0b010, rtt);
        let before = *sender.window();
        let now = sent.last().expect("data").0 + rtt;
        let cubic = CcConfig::preset("cubic").expect("a preset");
        sender.replace_controller(&config, &cubic, now);
        assert_eq!(*sender.window(), before, "{preset}");
        assert!(sender.alpha().is_none(), "{preset}");
        let (mut out, data) = (Vec::new(), sent.last().expect("data").1);
        let mut ack = Packet::empty(FlowId(7), 52);
        ack.flags = with_ace(Flags::ACK, 5);
        (ack.ack, ack.window) = (Seq(data.seq.0 + u32::from(data.payload)), 65535);
        (ack.ts_val, ack.ts_ecr) = (u32::try_from(now.as_micros()).expect("seconds"), data.ts_val);
        sender.on_packet(&config, &ack, now, &mut out);
        assert!(!out.is_empty() && out.iter().all(|packet| packet.ecn == Ecn::Ect0), "{preset}");
    }
}

#[test]
fn what_takes_over_without_its_feedback_is_reno() {
    let config = EndpointConfig { ecn: EcnSetting::Off, ..plain_config("cubic", "linux-6") };
    let (mut sender, sent) = beginning(&config, 0b000, Span::from_millis(20));
    let dctcp = CcConfig::preset("dctcp").expect("a preset");
    sender.replace_controller(&config, &dctcp, sent.last().expect("data").0);
    assert!(sender.alpha().is_none());
}
