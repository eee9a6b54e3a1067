//! ACKs beyond a hole that stand for several packets (Linux since 4.18 `__tcp_ack_snd_check`).

use super::script::{linux, receiver_with};
use crate::EndpointConfig;
use crate::testing::config;

/// Runs `script` without quick ACKs after a handshake of `rtt_ms`; an ACK waits for 33 % of that, at most for 1 ms.
fn run(rtt_ms: u32, script: &str) {
    let mut config = config("reno", "linux-6");
    linux(&mut config).quick_acks = 0;
    let open = format!("0ms < syn\n0ms > synack\n{rtt_ms}ms < 0 ts 0ms\n{}ms > ack 1\n", rtt_ms + 40);
    receiver_with(config, &format!("{open}{script}"));
}

#[test]
fn after_three_one_ack_stands_for_a_millisecond() {
    run(
        20,
        "
        100ms     < 2
        100ms     > ack 1 sack 2-3
        100.1ms   < 3
        100.1ms   > ack 1 sack 2-4
        100.2ms   < 4
        100.2ms   > ack 1 sack 2-5
        100.3ms   < 5
        100.4ms   < 6
        101.31ms  > ack 1 sack 2-7        # 0.3 + 1 + 0.01
        101.4ms   < 7
        102.41ms  > ack 1 sack 2-8
    ",
    );
}

#[test]
fn a_third_of_a_short_rtt() {
    // 0.33 x 2 ms + 0.01 ms.
    run(
        2,
        "
        100ms     < 2..5
        100ms     > ack 1 sack 2-3, ack 1 sack 2-4, ack 1 sack 2-5
        100.3ms   < 5
        100.97ms  > ack 1 sack 2-6
    ",
    );
}

/// The RTT by which ACKs wait is the smaller one of that of the handshake, which ends with an ACK whenever data follow,
/// and of what timestamps of a millisecond show (`tcp_rcv_rtt_measure_ts`).
#[test]
fn the_wait_follows_the_smaller_estimate() {
    let held = |open: &str, wait: &str| {
        let mut config = config("reno", "linux-6");
        linux(&mut config).quick_acks = 0;
        receiver_with(
            config,
            &format!(
                "0ms < syn\n0ms > synack\n{open}
                100ms     < 2..5
                100ms     > ack 1 sack 2-3, ack 1 sack 2-4, ack 1 sack 2-5
                100.3ms   < 5
                {wait}    > ack 1 sack 2-6"
            ),
        );
    };
    // The handshake takes 2 ms, also if data follow after 4 ms, whose echoes would say 4.
    held("2ms < ack 0 ts 0ms\n4ms < 0 ts 0ms\n44ms > ack 1", "100.97ms");
    // It takes 20 ms, but the first data echo what was sent 2 ticks ago: 0.33 x 2 + 0.01 ms.
    held("20ms < ack 0 ts 0ms\n20.4ms < 0 ts 18.9ms\n60.4ms > ack 1", "100.97ms");
    // Within a tick echoes tell nothing, and nothing is known: 0.01 ms.
    held("0.2ms < ack 0 ts 0ms\n0.3ms < 0 ts 0ms\n40.3ms > ack 1", "100.31ms");
}

#[test]
fn progress_begins_three_more() {
    run(
        20,
        "
        100ms     < 2..5
        100ms     > ack 1 sack 2-3, ack 1 sack 2-4, ack 1 sack 2-5
        100.3ms   < 6                     # a second hole: held back
        100.4ms   < 1                     # fills the first: four segments more, at once, and it covers what was held
        100.4ms   > ack 5 sack 6-7
        100.5ms   < 7
        100.5ms   > ack 5 sack 6-8
        100.6ms   < 8
        100.6ms   > ack 5 sack 6-9
        100.7ms   < 9..11
        101.71ms  > ack 5 sack 6-11
    ",
    );
}

#[test]
fn what_three_blocks_would_push_out_goes_first() {
    run(
        20,
        "
        100ms     < 2
        100ms     > ack 1 sack 2-3
        100ms     < 5
        100ms     > ack 1 sack 5-6 2-3
        100ms     < 6
        100ms     > ack 1 sack 5-7 2-3
        100.3ms   < 7                     # extends the newest block: held back
        100.4ms   < 9                     # a third block: the state before it goes out, and nothing for this one
        100.4ms   > ack 1 sack 5-8 2-3
        100.5ms   < 10                    # waits for a millisecond and ten microseconds
        101.51ms  > ack 1 sack 9-11 5-8 2-3
        102ms     < 11
        102.1ms   < 3                     # extends the third: the state with it, in the old order
        102.1ms   > ack 1 sack 9-12 5-8 2-4
        102.2ms   < 12
        103.21ms  > ack 1 sack 9-13 2-4 5-8
    ",
    );
}

#[test]
fn what_goes_first_has_the_echo_of_the_packet_that_pushes_it_out() {
    // tcp_data_ecn_check comes before tcp_sack_new_ofo_skb.
    let mut config = config("dctcp", "linux-6");
    linux(&mut config).quick_acks = 0;
    receiver_with(
        config,
        "
        0ms       < syn ece cwr
        0ms       > synack ece ect0
        20ms      < 0 ect0 ts 0ms
        60ms      > ack 1 ect0
        100ms     < 2 ce
        100ms     > ack 1 ece ect0 sack 2-3
        100ms     < 4 ce
        100ms     > ack 1 ece ect0 sack 4-5 2-3
        100ms     < 5 ce
        100ms     > ack 1 ece ect0 sack 4-6 2-3
        100ms     < 6 ce                  # the change of state made the first go at once: this is the third that counts
        100ms     > ack 1 ece ect0 sack 4-7 2-3
        100.3ms   < 7 ce
        100.4ms   < 9 ect0
        100.4ms   > ack 1 ect0 sack 4-8 2-3
    ",
    );
}

#[test]
fn one_ack_stands_for_44_packets_at_most() {
    run(
        20,
        "
        100ms     < 2..5
        100ms     > ack 1 sack 2-3, ack 1 sack 2-4, ack 1 sack 2-5
        100.3ms   < 5..49                 # 44
        100.4ms   < 49
        100.4ms   > ack 1 sack 2-50
    ",
    );
}

#[test]
fn without_sack_and_before_4_18_every_packet_is_acknowledged() {
    let script = "
        0ms < syn
        0ms > synack
        100ms < 1..6
        100ms > ack 0, ack 0, ack 0, ack 0, ack 0
    ";
    receiver_with(EndpointConfig { sack: false, ..config("reno", "linux-6") }, script);
    let with_sack = script.replace(
        "ack 0, ack 0, ack 0, ack 0, ack 0",
        "ack 0 sack 1-2, ack 0 sack 1-3, ack 0 sack 1-4, ack 0 sack 1-5, ack 0 sack 1-6",
    );
    receiver_with(config("reno", "linux-3.18"), &with_sack);
}

/// The option has room for a second block, so that nothing is pushed out; the 0.3 + 1 + 0.01 ms of the first packet go
/// on.
#[test]
fn a_second_block_waits_with_the_first() {
    run(
        20,
        "
        100ms     < 2..5
        100ms     > ack 1 sack 2-3, ack 1 sack 2-4, ack 1 sack 2-5
        100.3ms   < 5
        100.4ms   < 8
        101.31ms  > ack 1 sack 8-9 2-6
    ",
    );
}

/// A copy of what waits beyond the hole is reported at once (`tcp_data_queue_ofo`, `tcp_dsack_extend`), although ACKs
/// are held.
#[test]
fn a_copy_beyond_the_hole_is_reported_at_once() {
    run(
        20,
        "
        100ms     < 2..5
        100ms     > ack 1 sack 2-3, ack 1 sack 2-4, ack 1 sack 2-5
        100.3ms   < 5
        100.4ms   < 3
        100.4ms   > ack 1 sack 3-4 2-6
    ",
    );
}

#[test]
fn the_timer_of_a_delayed_ack_that_was_sent_long_ago_ends_the_wait() {
    // The first of two segments sets it at 62.5 ms, for 40 ms later: it expires with the tick behind that.
    let mut config = config("reno", "linux-6");
    let rules = linux(&mut config);
    (rules.quick_acks, rules.timer_wheel) = (0, true);
    receiver_with(
        config,
        "
        0ms       < syn
        0ms       > synack
        20ms      < 0 ts 0ms
        61ms      > ack 1
        62.5ms    < 1
        62.6ms    < 2
        62.6ms    > ack 3
        102ms     < 4..7
        102ms     > ack 3 sack 4-5, ack 3 sack 4-6, ack 3 sack 4-7
        102.3ms   < 7
        103ms     > ack 3 sack 4-8
        103.1ms   < 8
        104.11ms  > ack 3 sack 4-9        # 0.1 + 1 + 0.01
    ",
    );
}

/// A FIN behind a hole closes nothing yet.
#[test]
fn a_fin_beyond_the_hole_waits_as_others_do() {
    run(
        20,
        "
        100ms     < 2..5
        100ms     > ack 1 sack 2-3, ack 1 sack 2-4, ack 1 sack 2-5
        100.3ms   < 5 fin
        101.31ms  > ack 1 sack 2-6+1      # 0.3 + 1 + 0.01
    ",
    );
}
