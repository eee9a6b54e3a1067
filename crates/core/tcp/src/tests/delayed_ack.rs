//! Delayed ACKs: quick-ACK mode, every second segment, the timer
//! ([RFC 5681, section 4.2](https://www.rfc-editor.org/rfc/rfc5681#section-4.2)).

use super::script::{linux, receiver_with};
use crate::testing::config;
use crate::{EndpointConfig, Receiver};
use alloc::vec::Vec;
use shoal_packet::{Flags, FlowId, Packet, Seq};
use shoal_units::Time;

/// Two quick ACKs at the start.
fn receiver() -> EndpointConfig {
    EndpointConfig { receive_window_bytes: 4 * 1448, ..config("reno", "linux-3.2") }
}

const OPEN: &str = "
    0ms   < syn
    0ms   > synack
";

fn run(script: &str) {
    receiver_with(receiver(), &format!("{OPEN}{script}"));
}

#[test]
fn a_connection_starts_with_quick_acks() {
    // There are min(16, window / 2 MSS) of them: 16 for any window of at least 32 segments.
    let quick: String = (0..16).map(|n| format!("1ms < {n}\n1ms > ack {}\n", n + 1)).collect();
    let script = format!("{OPEN}{quick}2ms < 16\n3ms < 17\n3ms > ack 18\n4ms < 18\n44ms > ack 19");
    receiver_with(config("reno", "linux-6"), &script);
}

/// Data that come instead of the ACK of the handshake reach a connection that no program has accepted, whose window
/// grows (`tcp_grow_window`: `quick |= 1`).
#[test]
fn data_that_complete_the_handshake_have_one_quick_ack_more() {
    for (has_ack, quick) in [(true, 16), (false, 17)] {
        let mut client = Client::open(config("reno", "linux-6"), has_ack);
        let at_once = (1..=20).take_while(|&ms| client.hears(ms, 1448) == 1).count();
        assert_eq!(at_once, quick);
    }
}

#[test]
fn every_second_segment_then_the_timer() {
    run("
        1ms   < 0
        1ms   > ack 1
        2ms   < 1
        2ms   > ack 2
        3ms   < 2
        4ms   < 3
        4ms   > ack 4
        5ms   < 4
        45ms  > ack 5                  # 40 ms
    ");
}

#[test]
fn small_segments_are_acknowledged_at_once() {
    run("
        1ms   < 0
        1ms   > ack 1
        2ms   < 1
        2ms   > ack 2
        3ms   < 2                      # full: waits
        4ms   < 3:700                  # the application reads it: a small one says that nothing follows for now
        4ms   > ack 3+700
        5ms   < 3+700:748
        5ms   > ack 4
        6ms   < 5:700                  # beyond a hole
        6ms   > ack 4 sack 5-5+700
    ");
}

/// This is so in Linux 6.6 and later; the connection has used up its quick ACKs.
#[test]
fn a_full_segment_with_psh_is_acknowledged_at_once() {
    let script = format!("{OPEN}1ms < 0\n1ms > ack 1\n2ms < 1\n2ms > ack 2\n3ms < 2 psh\n");
    let config = |stack| EndpointConfig { receive_window_bytes: 4 * 1448, ..config("reno", stack) };
    receiver_with(config("linux-6"), &format!("{script}3ms > ack 3"));
    receiver_with(config("linux-3.18"), &format!("{script}43ms > ack 3"));
}

#[test]
fn the_timer_follows_the_spacing_up_to_the_rtt() {
    // The timeout is 40 ms at first; a gap of 30 ms makes it 40/2 + 30 = 50 ms, one of 45 ms makes that 50/2 + 45 = 70
    // ms.
    let sparse = "
        1ms   < 0
        1ms   > ack 1
        2ms   < 1                      # gap 1 ms: 40/2 + 20 = 40
        2ms   > ack 2
        32ms  < 2                      # leaving quick mode had reset it to 40; now 50
        82ms  > ack 3                  # it fired: doubles to 100
    ";
    run(sparse);
    // The handshake took 25 ms: max(25, 40) = 40 bounds it.
    let bounded = sparse.replace("1ms   < 0\n", "1ms   < 0 ts -24ms\n").replace("82ms", "72ms");
    let bounded =
        bounded.replace("1ms   < 0 ts -24ms", "25ms < 0 ts 0ms").replace("1ms   > ack 1", "25ms > ack 1");
    let bounded = bounded.replace("2ms   < 1 ", "26ms < 1 ").replace("2ms   > ack 2", "26ms > ack 2");
    run(&bounded.replace("32ms  < 2", "56ms < 2").replace("72ms  > ack 3", "96ms > ack 3"));
}

#[test]
fn a_long_silence_brings_quick_acks_back() {
    // After the RTO of the receiver, which is 1 s without a sample.
    run("
        1ms    < 0
        1ms    > ack 1
        2ms    < 1
        2ms    > ack 2
        3ms    < 2
        43ms   > ack 3
        1100ms < 3
        1100ms > ack 4
        1101ms < 4
        1101ms > ack 5
        1102ms < 5
        1142ms > ack 6
    ");
}

#[test]
fn holes_and_their_ends_are_acknowledged_at_once() {
    run("
        1ms   < 0
        1ms   > ack 1
        2ms   < 1
        2ms   > ack 2
        3ms   < 3
        3ms   > ack 2 sack 3-4
        4ms   < 5
        4ms   > ack 2 sack 5-6 3-4     # newest block first (RFC 2018)
        5ms   < 3                      # a duplicate beyond the hole: D-SACK, then the block that holds it (RFC 2883)
        5ms   > ack 2 sack 3-4 3-4 5-6
        6ms   < 2
        6ms   > ack 4 sack 5-6
        7ms   < 4
        7ms   > ack 6
        8ms   < 6                      # back to normal
        48ms  > ack 7
    ");
}

#[test]
fn without_sack_holes_give_plain_duplicates() {
    let config = EndpointConfig { sack: false, ..receiver() };
    receiver_with(
        config,
        &format!(
            "{OPEN}1ms < 1\n1ms > ack 0\n2ms < 2\n2ms > ack 0\n3ms < 0\n3ms > ack 3\n4ms < 0\n4ms > ack 3"
        ),
    );
}

#[test]
fn old_data_is_answered_with_a_dsack_and_quick_acks() {
    run("
        1ms   < 0
        1ms   > ack 1
        2ms   < 1
        2ms   > ack 2
        3ms   < 2
        4ms   < 0                      # also acknowledges what was waiting
        4ms   > ack 3 sack 0-1
        5ms   < 3                      # window 2 MSS: two quick ACKs, one is used
        5ms   > ack 4
        6ms   < 4
        46ms  > ack 5
    ");
}

#[test]
fn data_beyond_the_window_is_ignored() {
    run("1ms < 0\n1ms > ack 1\n2ms < 5\n3ms < 4\n3ms > ack 1 sack 4-5");
}

#[test]
fn a_fin_is_acknowledged_at_once_and_not_counted_as_data() {
    let mut without_quick_acks = receiver();
    linux(&mut without_quick_acks).quick_acks = 0;
    receiver_with(without_quick_acks, &format!("{OPEN}1ms < 0 fin\n1ms > ack 1+1"));
}

/// Linux asks whether the gap is longer than the RTO (`tcp_event_data_recv`), which is 1 s without a sample.
#[test]
fn a_silence_of_just_the_rto_brings_no_quick_acks_back() {
    run("
        1ms    < 0
        1ms    > ack 1
        2ms    < 1
        2ms    > ack 2
        1002ms < 2
        1042ms > ack 3
    ");
}

/// 2000 B are less than two segments, of which half is no segment: Linux then takes two (`tcp_incr_quickack`).
#[test]
fn a_window_below_two_segments_has_two_quick_acks() {
    let narrow = EndpointConfig { receive_window_bytes: 2000, ..config("reno", "linux-3.2") };
    receiver_with(
        narrow,
        &format!("{OPEN}1ms < 0\n1ms > ack 1\n2ms < 1\n2ms > ack 2\n3ms < 2\n43ms > ack 3"),
    );
}

/// A FIN takes a position of the stream, but is no packet with data and no byte of it.
#[test]
fn a_bare_fin_counts_as_no_data_packet() {
    let mut receiver = Receiver::new(&receiver(), FlowId(7));
    let mut segment = Packet::empty(FlowId(7), 52);
    let mut arrive = |seq: u32, payload: u16, flags: Flags| {
        (segment.seq, segment.payload, segment.flags) = (Seq(seq), payload, flags);
        receiver.on_packet(&self::receiver(), &segment, Time::ZERO, &mut Vec::new());
        (receiver.data_packets(), receiver.delivered_bytes())
    };
    arrive(0, 0, Flags::SYN);
    assert_eq!(arrive(1, 1448, Flags::ACK), (1, 1448));
    assert_eq!(arrive(1449, 0, Flags::ACK.with(Flags::FIN)), (1, 1448));
}

/// A receiver that has used up its quick ACKs, and what it has sent.
struct Client {
    config: EndpointConfig,
    receiver: Receiver,
    next: u32,
}

impl Client {
    fn open(config: EndpointConfig, has_ack: bool) -> Self {
        let mut receiver = Receiver::new(&config, FlowId(0));
        for flags in [Flags::SYN, Flags::ACK].into_iter().take(1 + usize::from(has_ack)) {
            let packet = Packet { flags, ..Packet::empty(FlowId(0), 60) };
            receiver.on_packet(&config, &packet, Time::ZERO, &mut Vec::new());
        }
        Self { config, receiver, next: 1 }
    }

    fn new() -> Self {
        let narrow = EndpointConfig { receive_window_bytes: 4 * 1448, ..config("reno", "linux-6") };
        let mut client = Self::open(narrow, true);
        assert_eq!([client.hears(1, 1448), client.hears(2, 1448)], [1, 1]);
        client
    }

    const fn at(ms: u64) -> Time {
        Time::from_picos(ms * 1_000_000_000)
    }

    /// Data come; returns how many ACKs leave.
    fn hears(&mut self, ms: u64, bytes: u16) -> usize {
        let mut data = Packet::empty(FlowId(0), 52 + bytes);
        (data.seq, data.payload, data.flags) = (Seq(self.next), bytes, Flags::ACK);
        self.next += u32::from(bytes);
        let mut out = Vec::new();
        self.receiver.on_packet(&self.config, &data, Self::at(ms), &mut out);
        out.len()
    }

    /// Data leave; returns what they acknowledge.
    fn answers(&mut self, ms: u64) -> Seq {
        let mut data = Packet::empty(FlowId(0), 452);
        self.receiver.acknowledge_with(&self.config, &mut data, Self::at(ms));
        data.ack
    }

    /// When the delayed ACK leaves, if one waits.
    fn waits_until(&self) -> Option<Time> {
        Some(self.receiver.deadline()).filter(|deadline| *deadline != Time::NEVER)
    }
}

#[test]
fn whoever_answers_soon_waits_for_the_next_answer() {
    let mut client = Client::new();
    assert_eq!(client.hears(3, 700), 1, "nobody has answered yet");
    client.answers(5);
    // 40 ms after the last data; what is sent then acknowledges.
    assert_eq!(client.hears(6, 700), 0);
    assert_eq!(client.waits_until(), Some(Client::at(46)));
    assert_eq!((client.answers(20), client.waits_until()), (Seq(client.next), None));
    // Two small ones in a row do not wait, and neither do two full ones.
    assert_eq!([client.hears(21, 700), client.hears(22, 700)], [0, 1]);
    assert_eq!([client.hears(23, 1448), client.hears(24, 1448)], [0, 1]);
}

#[test]
fn an_answer_that_does_not_come_ends_the_interactive_mode() {
    let mut client = Client::new();
    client.answers(3);
    assert_eq!(client.hears(4, 700), 0);
    let mut out = Vec::new();
    client.receiver.on_timer(&client.config, Client::at(44), &mut out);
    assert_eq!((out.len(), client.hears(45, 700)), (1, 1));
    // Data that leave later than the estimate of 40 ms after the last that came are no answer.
    client.answers(86);
    assert_eq!(client.hears(87, 700), 1);
}
