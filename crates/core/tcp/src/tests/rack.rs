//! RACK (linux-6): the reordering window, its timer, the third SACK, lost retransmissions
//! ([RFC 8985, section 6](https://www.rfc-editor.org/rfc/rfc8985#section-6)).

use super::script::{OPEN, sender, sender_with, without_probes_and_frto};

#[test]
fn the_third_sack_closes_the_reordering_window() {
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 0 sack 1-2         # 0 is due at 100 + 100 + 100/4 ms
        200ms > 10
        200ms ? state disorder losses 0
        201ms < ack 0 sack 1-3
        201ms > 11
        202ms < ack 0 sack 1-4
        202ms > 0                      # flight 8: ceil(5 x 1 / 10)
        202ms ? state recovery cwnd 9 ssthresh 5 losses 1
        203ms < ack 0 sack 1-5
        204ms < ack 0 sack 1-6
        204ms > 12
        205ms < ack 0 sack 1-7
        206ms < ack 0 sack 1-8
        206ms > 13
        207ms < ack 0 sack 1-9
        208ms < ack 0 sack 1-10        # flight 5: no room
        208ms ? cwnd 5
        300ms < ack 0 sack 1-11        # flight 4, room 1: max(8 - 4, 1); 10 had left before the retransmission
        300ms > 14
        302ms < ack 12 ts 202ms        # two packets delivered: cwnd = ssthresh, counter 2
        302ms > 15..17
        302ms ? cwnd 5 cnt 2 state open
        ",
    );
}

#[test]
fn the_timer_finds_the_loss_that_two_sacks_do_not_prove() {
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 0 sack 1-2
        200ms > 10
        200ms < ack 0 sack 1-3
        200ms > 11
        227ms > 0                      # 225 ms and two jiffies; PRR as if one packet had been delivered
        227ms ? state recovery losses 1 ssthresh 5 cwnd 10
        ",
    );
}

#[test]
fn reordering_within_a_quarter_rtt_does_nothing() {
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 0 sack 1-2
        200ms > 10
        220ms < ack 2                  # 2 acknowledged, one of them delivered before
        220ms > 11..13
        220ms ? state open cwnd 11 losses 0
        ",
    );
}

#[test]
fn a_retransmission_is_lost_if_something_sent_later_arrived() {
    // 0 is repeated at 200 ms and lost again; 10, which is later in the sequence and leaves at the same instant,
    // arrives.
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 0 sack 1-4         # flight 6: ceil(5 x 3 / 10) = 2
        200ms > 0, 10
        200ms ? state recovery cwnd 8 flight 8
        210ms < ack 0 sack 1-6         # flight 6: ceil(5 x 5 / 10) - 2
        210ms > 11
        220ms < ack 0 sack 1-10        # flight 3, room 2: max(9 - 3, 4)
        220ms > 12..14
        300ms < ack 0 sack 1-11        # 0 lost again: flight 3, room 2
        300ms > 0, 14
        300ms ? losses 2 cwnd 5 state recovery
        ",
    );
}

#[test]
fn a_lost_retransmission_ends_loss_state_with_a_second_cut() {
    // After a timeout the repeated head is lost again: a segment that was sent after it arrives. Linux enters Recovery
    // and cuts ssthresh once more (FLAG_LOST_RETRANS).
    sender_with(without_probes_and_frto("linux-6"), OPEN).run(
        "
        400ms > 0
        400ms ? state loss cwnd 1 ssthresh 5
        500ms < ack 1
        500ms > 1..3
        500ms ? cwnd 2
        600ms < ack 1 sack 2-3         # 2, sent with 1 but after it, arrived
        600ms ? state recovery ssthresh 2
        600ms > 1
        ",
    );
}

#[test]
fn the_timer_waits_for_the_last_of_the_missing() {
    // 0 and 1 left at 100 and 110 ms, 2 at 120 ms. They are due at 225 and 235 ms; one timer is set, for the later time
    // (Linux: "maximum wait time").
    sender("reno", "linux-6", "0ms connect\n0ms > syn\n100ms < synack ts 0ms\n100ms > ack 0").run(
        "
        100ms write 1
        100ms > 0
        110ms write 1
        110ms > 1
        120ms write 1
        120ms > 2
        220ms < ack 0 sack 2-3
        220ms ? state disorder
        237ms > 0
        237ms ? state recovery losses 2
        ",
    );
}

#[test]
fn prr_adds_one_only_if_the_ack_advances_without_new_losses() {
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 0 sack 6-9         # 0 to 5 are lost: flight 1, room 4: max(3 - 0, 3)
        200ms > 0..3
        200ms ? cwnd 4 losses 6
        201ms < ack 0 sack 6-10        # flight 3, room 2: max(4 - 3, 1)
        201ms > 3
        300ms < ack 1 sack 6-10        # flight 3, room 2: max(5 - 4, 1) + 1
        300ms > 4..6
        300ms ? cwnd 5
        302ms < ack 2 sack 3-4 6-10    # 3, sent after 2, arrived: 2 is lost again. Flight 2, room 3: max(7 - 6, 2)
        302ms > 2, 10
        302ms ? cwnd 4 losses 7
        ",
    );
}
