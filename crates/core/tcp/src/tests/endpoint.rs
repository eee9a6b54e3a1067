//! Whole ends of a connection: both halves, in either role of the handshake.

use crate::accurate::{ace, with_ace};
use crate::testing::config as plain_config;
use crate::{EcnFeedback, EcnOption, EcnSetting, Endpoint, EndpointConfig};
use shoal_packet::{ByteCounters, CounterOrder, Ecn, Flags, FlowId, Packet, Seq};
use shoal_units::{Span, Time};

fn config() -> EndpointConfig {
    let mut config = plain_config("cubic", "linux-6");
    config.ecn = EcnSetting::On;
    config.receiver.feedback = Some(EcnFeedback::Accurate);
    config
}

/// An end, its clock in milliseconds, and what it has sent.
struct Host {
    config: EndpointConfig,
    end: Endpoint,
    now: Time,
    out: Vec<Packet>,
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(1000 + ms)
}

impl Host {
    fn new(config: EndpointConfig) -> Self {
        Self { config, end: Endpoint::new(&config, FlowId(7)), now: at(0), out: Vec::new() }
    }
    /// A listening end of which a SYN has asked for accurate ECN.
    fn asked(config: EndpointConfig) -> Self {
        let mut host = Self::new(config);
        host.arrives(&packet(Flags::SYN, 7, Ecn::NotEct));
        host
    }
    fn arrives(&mut self, packet: &Packet) {
        self.end.on_packet(&self.config, packet, self.now, &mut self.out);
    }
    fn write(&mut self, bytes: u64) {
        self.end.write(&self.config, bytes, self.now, &mut self.out);
    }
    /// Lets time pass, with the timers that are due.
    fn pass(&mut self, ms: u64) {
        while self.end.deadline() <= at(ms) {
            self.now = self.end.deadline();
            self.end.on_timer(&self.config, self.now, &mut self.out);
        }
        self.now = at(ms);
    }
    fn sent(&mut self) -> Vec<Packet> {
        core::mem::take(&mut self.out)
    }
    fn one(&mut self) -> Packet {
        let sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent[0]
    }
}

fn packet(flags: Flags, number: u8, ecn: Ecn) -> Packet {
    let mut packet = Packet::empty(FlowId(7), 52);
    packet.flags = with_ace(flags, number);
    packet.ecn = ecn;
    packet.window = 0x7fff;
    if !flags.has(Flags::SYN) {
        packet.seq = Seq(1);
    }
    if flags.has(Flags::ACK) {
        packet.ack = Seq(1);
    }
    packet
}

fn option(packet: &mut Packet, ect0: u32, ce: u32) {
    assert!(packet.sack.set_counters(&ByteCounters::new(CounterOrder::Ect0First, [ect0, ce, 1], 3)));
}

fn fields(packet: &Packet) -> Option<Vec<u32>> {
    packet.sack.counters().map(|counters| counters.fields().to_vec())
}

#[test]
fn request_and_answer_go_both_ways() {
    // 20 requests of 3000 bytes and answers of 50 kB over 10 ms one way; every fifth packet with data is marked.
    let (mut client, mut server) = (Host::new(config()), Host::new(config()));
    client.end.connect(&client.config, client.now, &mut client.out);
    let (mut ms, mut answered, mut marks) = (0, 0, [0, 0]);
    client.write(3000);
    let mut travelling: Vec<(u64, bool, Packet)> = Vec::new();
    while answered < 20 || client.end.receiver().delivered_bytes() < 20 * 50_000 {
        for (host, is_client) in [(&mut client, true), (&mut server, false)] {
            host.pass(ms);
            for (n, mut packet) in host.sent().into_iter().enumerate() {
                if packet.payload > 0 && n % 5 == 0 {
                    packet.ecn = Ecn::Ce;
                    marks[usize::from(is_client)] += 1;
                }
                travelling.push((ms + 10, is_client, packet));
            }
        }
        let (arrived, later) = travelling.into_iter().partition(|(at, ..)| *at <= ms);
        travelling = later;
        let arrived: Vec<(u64, bool, Packet)> = arrived;
        for (_, from_client, packet) in arrived {
            if from_client { server.arrives(&packet) } else { client.arrives(&packet) }
        }
        while answered < 20 && server.end.receiver().delivered_bytes() >= (answered + 1) * 3000 {
            answered += 1;
            server.write(50_000);
            client.write(if answered < 20 { 3000 } else { 0 });
        }
        client.end.sender().assert_invariants();
        server.end.sender().assert_invariants();
        ms += 1;
        assert!(ms < 100_000, "{answered} answers");
    }
    for ms in ms..ms + 100 {
        for host in [&mut client, &mut server] {
            host.pass(ms);
        }
        let packets: Vec<_> = client.sent().into_iter().map(|packet| (true, packet)).collect();
        for (from_client, packet) in
            packets.into_iter().chain(server.sent().into_iter().map(|packet| (false, packet)))
        {
            if from_client { server.arrives(&packet) } else { client.arrives(&packet) }
        }
    }
    assert!(marks[0] > 50 && marks[1] >= 20, "{marks:?}");
    for (host, marks) in [(&client, marks[1]), (&server, marks[0])] {
        assert!(host.end.sender().is_drained() && host.end.is_open());
        assert_eq!(host.end.sender().counters().delivered_ce_packets, marks);
    }
    assert_eq!(server.end.sender().reported_bytes(Ecn::Ect1), 0);
    let told = [Ecn::Ect0, Ecn::Ce].map(|codepoint| server.end.sender().reported_bytes(codepoint));
    assert!(told[0] + told[1] >= 20 * 50_000 && told[1] > 0, "{told:?}");
}

#[test]
fn a_syn_ack_is_repeated_without_option_and_then_without_flags() {
    // RFC 9768 section 3.1.4 (https://www.rfc-editor.org/rfc/rfc9768#section-3.1.4); Linux tcp_ecn_make_synack. Timeouts
    // of 1, 2 and 4 s.
    let mut host = Host::asked(config());
    let mut said = Vec::new();
    for ms in [0, 1000, 3000, 7000] {
        host.pass(ms);
        let packet = host.one();
        assert!(packet.flags.has(Flags::SYN.with(Flags::ACK)) && packet.ecn == Ecn::NotEct, "{ms} ms");
        said.push((ace(packet.flags), fields(&packet)));
    }
    assert_eq!(said, [(2, Some(vec![1, 0, 1])), (2, None), (0, None), (0, None)]);
    assert_eq!(host.end.deadline(), at(15_000));
    // The flags of one SYN/ACK have come back, but others seem to have been lost for them: data are sent without ECT.
    let mut ack = packet(Flags::ACK, 2, Ecn::Ect0);
    option(&mut ack, 1, 0);
    host.arrives(&ack);
    host.write(1000);
    let data = host.one();
    assert_eq!((data.ecn, ace(data.flags), fields(&data)), (Ecn::NotEct, 5, Some(vec![1, 0, 1])));
    // One repetition is forgiven.
    let mut host = Host::asked(config());
    host.pass(1000);
    host.sent();
    host.arrives(&ack);
    host.write(1000);
    assert_eq!(host.one().ecn, Ecn::Ect0);
}

#[test]
fn a_repeated_syn_without_a_request_is_answered_with_the_flags() {
    let mut host = Host::asked(config());
    host.sent();
    host.pass(100);
    host.arrives(&packet(Flags::SYN, 0, Ecn::Ect0));
    let again = host.one();
    assert_eq!((ace(again.flags), fields(&again)), (4, None), "the codepoint of the new SYN");
    host.arrives(&packet(Flags::ACK, 2, Ecn::NotEct));
    host.write(1000);
    assert_eq!(host.one().ecn, Ecn::NotEct);
}

#[test]
fn data_open_a_connection_whose_last_ack_was_lost() {
    let mut host = Host::asked(config());
    host.sent();
    host.pass(50);
    let mut data = packet(Flags::ACK, 5, Ecn::Ce);
    (data.payload, data.size) = (1000, 1052);
    host.arrives(&data);
    let ack = host.one();
    assert_eq!((ack.seq, ack.ack, ace(ack.flags)), (Seq(1), Seq(1001), 6));
    assert!(host.end.is_open());
    // What acknowledges no SYN/ACK opens nothing.
    let mut host = Host::asked(config());
    host.sent();
    data.ack = Seq(2);
    host.arrives(&data);
    assert!(host.sent().is_empty() && !host.end.is_open());
}

#[test]
fn the_handshake_gives_a_server_its_round_trip_time() {
    let mut host = Host::asked(config());
    host.pass(50);
    host.arrives(&packet(Flags::ACK, 2, Ecn::NotEct));
    assert_eq!(host.end.sender().srtt(), Span::from_millis(50));
}

#[test]
fn a_client_answers_a_repeated_syn_ack_with_its_codepoint() {
    let mut host = Host::new(config());
    host.end.connect(&host.config, host.now, &mut host.out);
    assert_eq!(ace(host.one().flags), 7);
    host.pass(50);
    host.arrives(&packet(Flags::SYN.with(Flags::ACK), 2, Ecn::NotEct));
    assert_eq!(ace(host.one().flags), 2);
    host.write(1000);
    host.sent();
    // A copy comes with ECT(0): the answer stands behind the data, and says so.
    host.arrives(&packet(Flags::SYN.with(Flags::ACK), 0, Ecn::Ect0));
    let answer = host.one();
    assert_eq!((ace(answer.flags), answer.ecn), (4, Ecn::Ect0));
    assert_eq!((answer.seq, answer.ack, answer.payload), (Seq(1001), Seq(1), 0));
}

#[test]
fn a_first_option_is_answered_by_both_halves() {
    // The handshake had none; the ACK of the first data has one.
    let mut host = Host::new(config());
    host.end.connect(&host.config, host.now, &mut host.out);
    host.arrives(&packet(Flags::SYN.with(Flags::ACK), 2, Ecn::NotEct));
    host.sent();
    host.write(1000);
    assert_eq!(fields(&host.one()), None);
    let mut ack = packet(Flags::ACK, 5, Ecn::Ect0);
    option(&mut ack, 1001, 0);
    ack.ack = Seq(1001);
    host.arrives(&ack);
    assert_eq!(host.end.sender().reported_bytes(Ecn::Ect0), 1000);
    host.write(1000);
    assert!(fields(&host.one()).is_some());
    let mut data = packet(Flags::ACK, 5, Ecn::Ect0);
    (data.payload, data.ack) = (100, Seq(1001));
    host.arrives(&data);
    assert_eq!(fields(&host.one()), Some(vec![1, 0, 101]));
}

#[test]
fn a_marked_syn_ack_counts_where_nothing_falls_back() {
    // What was sent without ECT cannot arrive with CE: with tcp_ecn_fallback data are sent without ECT.
    for (falls_back, counted, ecn) in [(true, 0, Ecn::NotEct), (false, 1, Ecn::Ect0)] {
        let mut config = config();
        config.stack.linux_mut().expect("Linux").ecn_fallback = falls_back;
        let mut host = Host::asked(config);
        host.sent();
        host.arrives(&packet(Flags::ACK, 6, Ecn::Ect0));
        assert_eq!(host.end.sender().counters().delivered_ce_packets, counted);
        host.write(1000);
        assert_eq!(host.one().ecn, ecn);
    }
}

#[test]
fn classic_ecn_and_none_are_for_both_halves_too() {
    for (asked, answered, ecn) in [(3, 1, Ecn::Ect0), (0, 0, Ecn::NotEct)] {
        let mut host = Host::new(config());
        host.arrives(&packet(Flags::SYN, asked, Ecn::NotEct));
        assert_eq!(ace(host.one().flags), answered);
        host.arrives(&packet(Flags::ACK, 0, Ecn::NotEct));
        host.write(1000);
        assert_eq!(host.one().ecn, ecn);
        // Where there is ECN, a mark of the peer's data is echoed.
        let mut data = packet(Flags::ACK, 0, Ecn::Ce);
        data.payload = 1000;
        host.arrives(&data);
        assert_eq!(host.one().flags.has(Flags::ECE), answered == 1);
    }
}

#[test]
fn the_option_is_what_the_configuration_says_now() {
    // Linux looks at tcp_ecn_option for every segment.
    let mut host = Host::asked(config());
    host.sent();
    let mut ack = packet(Flags::ACK, 2, Ecn::NotEct);
    option(&mut ack, 1, 0);
    host.arrives(&ack);
    for (setting, is_sent) in [(EcnOption::Full, true), (EcnOption::Off, false), (EcnOption::Full, true)] {
        host.config.ecn_option = setting;
        host.write(1448);
        let sent = host.sent();
        assert_eq!(fields(&sent[0]).is_some(), is_sent);
        assert_eq!(sent[0].payload, if is_sent { 1436 } else { 1448 });
    }
}

#[test]
fn a_reset_ends_everything() {
    let mut host = Host::asked(config());
    host.arrives(&packet(Flags::ACK, 2, Ecn::NotEct));
    host.write(1000);
    host.sent();
    host.arrives(&packet(Flags::RST.with(Flags::ACK), 0, Ecn::NotEct));
    assert_eq!(host.end.deadline(), Time::NEVER);
    host.arrives(&packet(Flags::SYN, 7, Ecn::NotEct));
    assert!(host.sent().is_empty() && !host.end.is_open());
}
