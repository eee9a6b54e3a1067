//! Reductions after ECN-Echo: by rate halving (3.2) and proportionally (later), once a window, announced by CWR.

use super::script::{OPEN_ECN, sender_with, with_ecn};
use crate::{EcnSetting, EndpointConfig};

#[test]
fn rate_halving_takes_one_packet_every_second_ack() {
    sender_with(with_ecn("linux-3.2"), OPEN_ECN).run(
        "
        200ms < ack 2 ece              # slow start goes on below ssthresh: 11; ssthresh 11/2; cwnd = flight 8 + 1
        200ms > 10 cwr ect0
        200ms ? cwnd 9 ssthresh 5 state cwr cnt 1
        200ms < ack 4 ece              # flight 9 - 2 = 7; cwnd - 1
        200ms > 11 ect0                # CWR was sent once
        200ms ? cwnd 8 cnt 0
        200ms < ack 6 ece              # flight 6: cwnd 7
        200ms > 12 ect0
        200ms ? cwnd 7 cnt 1
        200ms < ack 8                  # flight 5: cwnd 6
        200ms > 13 ect0
        200ms ? cwnd 6 cnt 0 state cwr
        200ms < ack 10                 # the end of the window itself does not end the episode
        200ms > 14 ect0
        200ms ? cwnd 5 cnt 1 state cwr
        300ms < ack 12
        300ms > 15..17 ect0
        300ms ? cwnd 5 ssthresh 5 state open reductions 1
        300ms < ack 14                 # cwnd <= ssthresh: slow start (+1)
        300ms > 17..20 ect0
        300ms ? cwnd 6
        ",
    );
}

#[test]
fn rate_halving_may_go_below_ssthresh() {
    // tcp_reno_min_cwnd = ssthresh / 2: with one ACK for each packet the window falls twice as fast as it should.
    let mut script = "200ms < ack 1 ece\n200ms > 10 cwr ect0\n200ms ? cwnd 10 ssthresh 5\n".to_string();
    // The flight is 9, so that cwnd = min(11, 9 + 1). With 9 more ACKs it falls by one with every second, and is never
    // above flight + 1.
    for (ack, cwnd, sent) in [
        (2, 9, None),
        (3, 9, Some(11)),
        (4, 8, None),
        (5, 8, Some(12)),
        (6, 7, None),
        (7, 7, Some(13)),
        (8, 6, None),
        (9, 6, Some(14)),
        (10, 5, None),
    ] {
        script += &format!("200ms < ack {ack}\n");
        if let Some(sent) = sent {
            script += &format!("200ms > {sent} ect0\n");
        }
        script += &format!("200ms ? cwnd {cwnd} state cwr\n");
    }
    sender_with(with_ecn("linux-3.2"), OPEN_ECN)
        .run(&script)
        .run("300ms < ack 11\n300ms > 15 ect0\n300ms ? cwnd 5 state open");
}

#[test]
fn proportional_reduction_of_3_18_begins_after_growth() {
    // The ACK that brings the mark raises the window first: 12; ssthresh 6, prior 12.
    sender_with(with_ecn("linux-3.18"), OPEN_ECN).run(
        "
        200ms < ack 2 ece              # flight 8 > 6: ceil(6 x 2 / 12) = 1
        200ms > 10 cwr ect0
        200ms ? cwnd 9 ssthresh 6 state cwr
        200ms < ack 4 ece              # flight 7: ceil(6 x 4 / 12) - 1 = 1
        200ms > 11 ect0
        200ms ? cwnd 8
        200ms < ack 6                  # flight 6 = ssthresh: no room
        200ms ? cwnd 6
        200ms < ack 8                  # flight 4, room 2: min(2, max(8 - 2, 2) + 1)
        200ms > 12..14 ect0
        200ms ? cwnd 6
        200ms < ack 11                 # above 10: done; 3.18 does not grow on this ACK
        200ms > 14..17 ect0
        200ms ? cwnd 6 state open cnt 0
        ",
    );
}

#[test]
fn proportional_reduction_of_6_begins_before_growth() {
    sender_with(with_ecn("linux-6"), OPEN_ECN).run(
        "
        200ms < ack 2 ece              # ssthresh 10/2, prior 10; flight 8: ceil(5 x 2 / 10) = 1
        200ms > 10 cwr ect0
        200ms ? cwnd 9 ssthresh 5 state cwr
        200ms < ack 4 ece              # flight 7: ceil(5 x 4 / 10) - 1 = 1
        200ms > 11 ect0
        200ms ? cwnd 8
        200ms < ack 6                  # flight 6: 3 - 2 = 1
        200ms > 12 ect0
        200ms ? cwnd 7
        200ms < ack 8                  # flight 5: no room
        200ms ? cwnd 5
        200ms < ack 10                 # flight 3, room 2
        200ms > 13..15 ect0
        200ms ? cwnd 5 state cwr
        300ms < ack 11                 # above 10: cwnd = ssthresh, and this ACK counts in avoidance
        300ms > 15 ect0
        300ms ? cwnd 5 cnt 1 state open reductions 1
        ",
    );
}

#[test]
fn cwr_waits_for_new_data() {
    // There is no data to send when the mark comes: the next new segment carries CWR, a retransmission would not (RFC
    // 3168, https://www.rfc-editor.org/rfc/rfc3168 6.1.2).
    let script = "
        0ms   connect
        0ms   > syn ece cwr
        0ms   write 4
        100ms < synack ece ts 0ms
        100ms > 0..4 ect0
        200ms < ack 2 ece
        200ms ? state cwr
        201ms < ack 4
        250ms write 1
        250ms > 4 cwr ect0
        350ms < ack 5
        350ms write 1
        350ms > 5 ect0
    ";
    for stack in ["linux-3.2", "linux-3.18", "linux-6"] {
        sender_with(with_ecn(stack), script);
    }
}

#[test]
fn ece_without_negotiation_is_ignored() {
    let off = EndpointConfig { ecn: EcnSetting::Off, ..with_ecn("linux-6") };
    sender_with(off, "0ms connect\n0ms > syn\n0ms greedy\n100ms < synack ece\n100ms > 0..10")
        .run("200ms < ack 2 ece\n200ms > 10..14\n200ms ? cwnd 12 state open reductions 0");
}
