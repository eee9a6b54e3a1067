//! Tail loss probes ([RFC 8985, section 7](https://www.rfc-editor.org/rfc/rfc8985#section-7)).

use super::script::{sender, sender_with, with_ecn};
use crate::testing::config;

const OPEN: &str = "
    0ms   connect
    0ms   > syn
    0ms   write 4
    100ms < synack ts 0ms
    100ms > 0..4
";

#[test]
fn the_last_segment_is_repeated_after_two_rtts() {
    // 6 waits for 2 x 100 + 2 ms, 3.18 for 2 x 100 ms.
    sender("reno", "linux-6", OPEN).run("302ms > 3\n302ms ? probes 1 flight 4 timeouts 0 state open");
    sender("reno", "linux-3.18", OPEN).run("300ms > 3\n300ms ? probes 1 flight 4 timeouts 0 state open");
    // Then the timeout, counted from the probe.
    sender("reno", "linux-6", OPEN).run("302ms > 3\n602ms > 0\n602ms ? timeouts 1");
}

#[test]
fn a_single_segment_waits_for_the_delayed_ack() {
    // 6 waits for min(2 x 100 + 200, RTO 300), 3.18 for min(max(200, 150 + 200), 300). The probe replaces the timeout.
    for stack in ["linux-6", "linux-3.18"] {
        sender("reno", stack, &OPEN.replace("write 4", "write 1").replace("0..4", "0"))
            .run("400ms > 0\n400ms ? probes 1 timeouts 0\n700ms > 0\n700ms ? timeouts 1");
    }
}

#[test]
fn new_data_makes_the_better_probe() {
    let mut c = config("reno", "linux-6");
    c.initial_window = Some(2);
    let open = OPEN.replace("0..4", "0..2");
    sender_with(c, &open).run(
        "302ms > 2\n302ms ? probes 1 flight 3 cwnd 2\n310ms < ack 3\n310ms > 3\n310ms ? ssthresh 2147483647",
    );
}

#[test]
fn the_timeout_counts_from_a_probe_with_new_data() {
    // No other probe is scheduled by it, in whose place the timeout would begin after 202 ms more.
    let mut c = config("reno", "linux-6");
    c.initial_window = Some(2);
    sender_with(c, &OPEN.replace("0..4", "0..2")).run("302ms > 2\n602ms > 0\n602ms ? probes 1 timeouts 1");
}

#[test]
fn a_repaired_tail_costs_one_reduction() {
    // 3 was lost, and the probe repairs it, which only an ACK for later data shows. Then the window is reduced as for a
    // loss: 10 / 2.
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 3
        200ms ? cwnd 10
        500ms > 3                      # one in flight: min(2 x 100 + 200, 300)
        600ms < ack 4                  # not decided yet
        600ms ? state open ssthresh 2147483647
        600ms write 1
        600ms > 4
        700ms < ack 5
        700ms ? state open ssthresh 5 cwnd 5 cnt 0   # the application limits: no growth
        ",
    );
}

#[test]
fn an_unnecessary_probe_does_not_reduce_the_window() {
    // The ACK was late: the D-SACK of the probe says so, although nothing is in flight any more.
    for stack in ["linux-6", "linux-3.18"] {
        sender("reno", stack, OPEN)
            .run("200ms < ack 3\n500ms > 3\n510ms < ack 4\n600ms < ack 4 sack 3-4")
            .run("610ms write 1\n610ms > 4\n710ms < ack 5\n710ms ? ssthresh 2147483647 state open");
    }
}

#[test]
fn the_probe_shows_rack_the_loss_of_the_tail() {
    // 2 and 3 are lost; the repeated 3 is SACKed, and 2, sent earlier, is lost.
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 2
        402ms > 3
        502ms < ack 2 sack 3-4
        502ms > 2
        502ms ? state recovery losses 1 timeouts 0
        ",
    );
}

#[test]
fn without_sack_there_are_no_probes() {
    let c = crate::EndpointConfig { sack: false, ..config("reno", "linux-6") };
    sender_with(c, OPEN).run("400ms > 0\n400ms ? timeouts 1 probes 0");
}

#[test]
fn one_probe_until_it_is_answered() {
    // Data sent in between arms the timer once more, no later than the timeout of the head, 100 + 300 ms. When it fires
    // it only puts that off to the next tick (Linux: rearm_timer).
    sender("reno", "linux-6", OPEN).run(
        "
        302ms > 3
        310ms write 1
        310ms > 4
        400ms ? probes 1 timeouts 0
        401ms > 0
        401ms ? timeouts 1
        ",
    );
}

#[test]
fn a_mark_ends_the_probe_episode() {
    // The reduction for the mark covers the loss that the probe may have repaired (Linux tcp_init_cwnd_reduction).
    sender_with(
        with_ecn("linux-6"),
        "
        0ms   connect
        0ms   > syn ece cwr
        0ms   write 4
        100ms < synack ece ts 0ms
        100ms > 0..4 ect0
        302ms > 3
        310ms < ack 4 ece              # flight 0: max(4 - 0, 4) + 1
        310ms ? state cwr ssthresh 5 cwnd 5
        320ms write 1
        320ms > 4 cwr ect0
        420ms < ack 5
        420ms ? state open ssthresh 5 cwnd 5
        ",
    );
}
