//! SACK recovery with FACK (3.2, 3.18): limited transmit, the third SACK, proportional reduction, lost retransmissions.

use super::script::{OPEN, linux, sender, sender_with};
use crate::testing::config;
use crate::{EndpointConfig, Recovery};

/// Segment 0 is lost; the others arrive one by one.
const ENTRY: &str = "
    200ms < ack 0 sack 1-2
    200ms > 10                         # limited transmit (RFC 3042)
    200ms ? state disorder cwnd 10
    200ms < ack 0 sack 1-3
    200ms > 11
    200ms < ack 0 sack 1-4             # 4 > 3 packets up to the highest SACK
    200ms > 0                          # flight 8 > 5: ceil(5 x 1 / 10) = 1
    200ms ? state recovery ssthresh 5 cwnd 9 losses 1
";

/// The course of recovery if all packets but the first arrive.
const COURSE: &str = "
    200ms < ack 0 sack 1-5             # flight 8: ceil(5 x 2 / 10) - 1 = 0
    200ms ? cwnd 8
    200ms < ack 0 sack 1-6             # flight 7: 2 - 1 = 1
    200ms > 12
    200ms ? cwnd 8
    200ms < ack 0 sack 1-7             # flight 7: 2 - 2
    200ms < ack 0 sack 1-8             # flight 6: 3 - 2
    200ms > 13
    200ms < ack 0 sack 1-9             # flight 6: 3 - 3
    200ms < ack 0 sack 1-10            # flight 5 = ssthresh: no room
    200ms ? cwnd 5
    300ms < ack 0 sack 1-11            # flight 4: room 1
    300ms > 14
    300ms < ack 0 sack 1-12
    300ms > 15
    300ms ? cwnd 5 flight 5 state recovery
";

#[test]
fn fack_and_prr() {
    for stack in ["linux-3.2", "linux-3.18"] {
        sender("reno", stack, OPEN).run(ENTRY).run(COURSE).run(
            "
            300ms < ack 12 ts 200ms    # the retransmission arrived: no undo, no growth
            300ms > 16
            300ms ? cwnd 5 ssthresh 5 state open cnt 0 undos 0
            ",
        );
    }
}

#[test]
fn prr_fills_up_after_heavy_loss() {
    // 0 to 5 are lost, flight falls below ssthresh: one more than delivered on each ACK (before 4.5).
    sender("reno", "linux-3.18", OPEN).run(
        "
        200ms < ack 0 sack 6-7         # FACK: 7 - 3 = 4 lost at once; flight 10 - 1 - 4 = 5 = ssthresh: one, by force
        200ms > 0
        200ms ? cwnd 6 losses 4 state recovery
        200ms < ack 0 sack 6-8         # 5 lost; flight 10 - 2 - 5 + 1 = 4, room 1
        200ms > 1
        200ms ? cwnd 5
        200ms < ack 0 sack 6-9         # 6 lost; flight 3 + ... = 10 - 3 - 6 + 2 = 3, room 2, max(3 - 2, 1) + 1 = 2
        200ms > 2..4
        200ms ? cwnd 5
        200ms < ack 0 sack 6-10        # flight 4, room 1
        200ms > 4
        300ms < ack 1 sack 6-10 ts 200ms
        300ms > 5
        300ms ? flight 5 cwnd 5 losses 6
        ",
    );
}

#[test]
fn a_retransmission_overtaken_by_new_data_is_lost_again() {
    // 3.2 tcp_mark_lost_retrans: 0 was sent again when snd_nxt was 12; SACK of 12 proves it lost.
    for stack in ["linux-3.2", "linux-3.18"] {
        sender("reno", stack, OPEN).run(ENTRY).run(COURSE).run(
            "
            300ms < ack 0 sack 1-13    # flight 16 - 12 - 1 = 3, room 2
            300ms > 0, 16
            300ms ? losses 2 flight 5 cwnd 5
            ",
        );
    }
}

#[test]
fn reordering_of_two_packets_is_not_a_loss() {
    // The ACK covers two segments, of which one was SACKed before: 3.2 counts one ACK, 3.18 both packets, 6 only the
    // other one.
    for (stack, sent, cwnd) in
        [("linux-3.2", "11..13", 11), ("linux-3.18", "11..14", 12), ("linux-6", "11..13", 11)]
    {
        sender("reno", stack, OPEN)
            .run("200ms < ack 0 sack 1-2\n200ms > 10\n200ms ? state disorder")
            .run(&format!("201ms < ack 2\n201ms > {sent}\n201ms ? state open cwnd {cwnd}"));
    }
}

#[test]
fn rate_halving_can_be_chosen_for_recovery() {
    let mut c: EndpointConfig = config("reno", "linux-3.2");
    linux(&mut c).recovery = Recovery::RateHalving;
    sender_with(c, OPEN).run(
        "
        200ms < ack 0 sack 1-2
        200ms > 10
        200ms < ack 0 sack 1-3
        200ms > 11
        200ms < ack 0 sack 1-4         # flight 8: min(10, 8 + 1), room for the retransmission
        200ms > 0
        200ms ? cwnd 9 ssthresh 5 state recovery
        200ms < ack 0 sack 1-5         # second ACK: 8; flight 8
        200ms ? cwnd 8
        200ms < ack 0 sack 1-6         # flight 7
        200ms > 12
        200ms ? cwnd 8
        200ms < ack 0 sack 1-7         # 7; flight 7
        200ms ? cwnd 7
        300ms < ack 12 ts 200ms
        300ms ? cwnd 5 state open
        300ms > 13..17
        ",
    );
}

#[test]
fn an_old_ack_still_tells_what_arrived() {
    // An ACK below snd_una moves nothing back; what it SACKs has left the path.
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 2
        200ms > 10..14
        201ms < ack 1
        201ms ? state open flight 12
        201ms < ack 1 sack 3-5
        201ms > 14..16
        201ms ? state disorder flight 12
        ",
    );
}

#[test]
fn the_degree_of_reordering_is_not_learnt() {
    // A segment is late by four packets, which is found to be spurious, and another one is late by four again: a second
    // recovery. The kernel would have raised its degree of reordering.
    for stack in ["linux-3.2", "linux-3.18"] {
        sender("reno", stack, OPEN).run_loosely(
            "
            200ms < ack 0 sack 1-5     # flight 10 - 4 - 1 = 5 = ssthresh: one, by force
            200ms > 0
            210ms < ack 10 ts 100ms    # cwnd 10 again
            210ms > 10..20
            210ms ? undos 1 recoveries 1 state open
            310ms < ack 10 sack 11-15
            310ms ? recoveries 2
            ",
        );
    }
}

#[test]
fn holes_not_known_to_be_lost_are_not_repeated() {
    // 0 and 2 are missing, of which FACK only proves 0 to be lost; there is no new data. Kernels before 4.18 would also
    // repeat 2.
    let finite = OPEN.replace("greedy", "write 10");
    for stack in ["linux-3.2", "linux-3.18"] {
        let end = sender("reno", stack, &finite)
            .run("200ms < ack 0 sack 1-2 3-4\n200ms > 0")
            .run("210ms < ack 2 sack 3-4\n210ms ? state recovery losses 1 flight 7");
        assert_eq!(end.sender().counters().retransmissions, 1);
    }
}

#[test]
fn two_packets_do_not_make_three_duplicates() {
    // The first of two segments is lost, which gives one SACK. Early retransmit (3.5 to 4.18) would repeat it after a
    // quarter of an RTT; here the timeout does: the SACK measured 100 ms, so that the RTO is 300 ms, from 100 ms on.
    let two = OPEN.replace("greedy", "write 2").replace("0..10", "0..2");
    sender("reno", "linux-3.18", &two)
        .run("200ms < ack 0 sack 1-2\n200ms ? state disorder\n400ms > 0\n400ms ? timeouts 1");
}
