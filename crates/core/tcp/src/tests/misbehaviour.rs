//! Receivers that say what is not so, and what a sender makes of it
//! ([RFC 9743, section 7.6](https://www.rfc-editor.org/rfc/rfc9743#section-7.6)).

use super::script::receiver_with;
use crate::testing::{Direction, Fate, Pair, config};
use crate::{EndpointConfig, Misbehaviour, ReceiverConfig};
use shoal_units::{Span, Time};

const OPEN: &str = "
    0ms   < syn
    0ms   > synack
";
const DELAY: Span = Span::from_millis(10);

fn with(cc: &str, misbehaviour: Misbehaviour) -> EndpointConfig {
    let receiver = ReceiverConfig { misbehaviour: Some(misbehaviour), ..ReceiverConfig::default() };
    EndpointConfig { receiver, ..config(cc, "linux-6") }
}

/// A bulk flow over 20 ms, whose packets `mark` marks, up to some time: the window at its end, and the packets sent.
fn window_and_packets(config: EndpointConfig, until: Time, mark: impl Fn(u64) -> bool) -> (u32, u64) {
    let mut data = 0;
    let mut pair = Pair::new(config, DELAY, |direction, packet: &mut shoal_packet::Packet| {
        if direction == Direction::Data && packet.payload > 0 {
            data += 1;
            if mark(data) && packet.ecn.is_capable() {
                packet.ecn = shoal_packet::Ecn::Ce;
            }
        }
        Fate::Deliver
    });
    pair.with_sender(|sender, config, now, out| {
        sender.set_greedy(config, true, now, out);
        sender.connect(config, now, out);
    });
    while pair.next_event() < until && pair.step() {}
    let window = pair.sender.window().cwnd;
    drop(pair);
    (window, data)
}

#[test]
fn nothing_wrong_is_like_no_misbehaviour() {
    receiver_with(with("reno", Misbehaviour::NONE), OPEN).run(
        "
        1ms   < 0
        1ms   > ack 1
        2ms   < 2
        2ms   > ack 1 sack 2-3
        ",
    );
}

#[test]
fn an_ack_is_divided_and_sent_again() {
    receiver_with(with("reno", Misbehaviour { pieces: 4, ..Misbehaviour::NONE }), OPEN).run(
        "
        1ms   < 0
        1ms   > ack 0+362, ack 0+724, ack 0+1086, ack 1
        ",
    );
    receiver_with(with("reno", Misbehaviour { copies: 2, ..Misbehaviour::NONE }), OPEN).run(
        "
        1ms   < 0
        1ms   > ack 1, ack 1, ack 1
        ",
    );
}

#[test]
fn what_has_not_come_is_acknowledged() {
    receiver_with(with("reno", Misbehaviour { packets_ahead: Some(2), ..Misbehaviour::NONE }), OPEN).run(
        "
        1ms   < 0
        1ms   > ack 3
        2ms   < 4                      # what is missing before it, too
        2ms   > ack 7
        ",
    );
}

#[test]
fn no_ack_is_sent_from_a_time_on() {
    let silent_from = Some(Span::from_millis(2));
    receiver_with(with("reno", Misbehaviour { silent_from, ..Misbehaviour::NONE }), OPEN).run(
        "
        1ms   < 0
        1ms   > ack 1
        2ms   < 1
        3ms   < 2
        ",
    );
}

#[test]
fn divided_acks_open_the_window_of_linux_no_faster() {
    // It counts packets that are acknowledged, not ACKs (`tcp_slow_start`).
    let until = Time::ZERO + Span::from_millis(150);
    let (plain, _) = window_and_packets(with("reno", Misbehaviour::NONE), until, |_| false);
    let divided = with("reno", Misbehaviour { pieces: 10, ..Misbehaviour::NONE });
    let (window, _) = window_and_packets(divided, until, |_| false);
    assert!(window <= plain, "{window} against {plain}");
    assert!(plain > 100, "slow start goes on: {plain}");
}

#[test]
fn acks_ahead_open_the_window_faster() {
    // Each ACK says that two more packets have come: a round trip seems to end when they are sent.
    let until = Time::ZERO + Span::from_millis(90);
    let (plain, _) = window_and_packets(with("reno", Misbehaviour::NONE), until, |_| false);
    let ahead = with("reno", Misbehaviour { packets_ahead: Some(2), ..Misbehaviour::NONE });
    let (window, _) = window_and_packets(ahead, until, |_| false);
    assert!(window > plain, "{window} against {plain}");
}

#[test]
fn hidden_marks_leave_the_window_as_it_is() {
    // The bound was set before: with every tenth packet marked, a sender that knows of it has a tenth of the window.
    let until = Time::ZERO + Span::from_millis(150);
    for cc in ["dctcp", "ecn-reno", "prague-0.7"] {
        let every_tenth = |packet| packet % 10 == 0;
        let hides = with(cc, Misbehaviour { hides_marks: true, ..Misbehaviour::NONE });
        let (hidden, _) = window_and_packets(hides, until, every_tenth);
        let (told, _) = window_and_packets(with(cc, Misbehaviour::NONE), until, every_tenth);
        let (unmarked, _) = window_and_packets(with(cc, Misbehaviour::NONE), until, |_| false);
        assert_eq!(hidden, unmarked, "{cc}");
        assert!(told < hidden / 10, "{cc}: {told} against {hidden}");
    }
}

#[test]
fn without_any_ack_a_sender_sends_ever_more_rarely() {
    let silent_from = Some(Span::from_millis(100));
    let config = with("dctcp", Misbehaviour { silent_from, ..Misbehaviour::NONE });
    let (_, before) = window_and_packets(config, Time::ZERO + Span::from_millis(200), |_| false);
    let (window, after) = window_and_packets(config, Time::ZERO + Span::from_secs(60), |_| false);
    // The timeout doubles from 0.2 s or more on: eight of them in 60 s, and a probe.
    assert!((5..=9).contains(&(after - before)), "{before} and {after}");
    assert_eq!(window, 1);
}
