//! Opening, and ECN negotiation as each stack does it
//! ([RFC 9293, section 3.5](https://www.rfc-editor.org/rfc/rfc9293#section-3.5),
//! [RFC 3168, section 6.1.1](https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1)).

use super::script::{receiver_with, sender, sender_with, with_ecn};
use crate::testing::config;

#[test]
fn without_ecn_nothing_is_marked() {
    let script = "
        0ms   connect
        0ms   > syn
        100ms < synack ts 0ms
        100ms > ack 0                  # nothing to send: a pure ACK completes the handshake
        100ms ? cwnd 10 ecn off srtt 100ms
        110ms write 2
        110ms > 0..2
    ";
    for stack in ["linux-3.2", "linux-3.18", "linux-6"] {
        sender("reno", stack, script);
    }
}

#[test]
fn the_last_ack_of_the_handshake_goes_ahead_of_data() {
    let script = "
        0ms   write 2
        0ms   connect
        0ms   > syn
        100ms < synack
        100ms > ack 0
        100ms > 0..2
    ";
    for stack in ["linux-3.2", "linux-3.18", "linux-6", "freebsd-14"] {
        sender("reno", stack, script);
    }
}

#[test]
fn classic_ecn_spares_syn_and_pure_acks() {
    let script = "
        0ms   connect
        0ms   > syn ece cwr
        100ms < synack ece
        100ms > ack 0
        100ms ? ecn on
        110ms write 2
        110ms > 0..2 ect0
    ";
    sender_with(with_ecn("linux-6"), script);
}

#[test]
fn dctcp_sets_ect_on_everything() {
    let script = "
        0ms   connect
        0ms   > syn ece cwr ect0
        100ms < synack ece
        100ms > ack 0 ect0
        100ms ? ecn on alpha 1
        110ms write 1
        110ms > 0 ect0
        120ms close
        120ms > 1:0 fin ect0
    ";
    sender("dctcp", "linux-6", script);
}

#[test]
fn a_bare_fin_of_classic_ecn_is_not_ect() {
    // Linux tcp_ecn_send: no payload, no ECT.
    let script = "
        0ms   connect
        0ms   > syn ece cwr
        100ms < synack ece
        100ms > ack 0
        110ms close
        110ms > 0:0 fin
    ";
    sender_with(with_ecn("linux-6"), script);
}

#[test]
fn refusal_turns_dctcp_into_reno() {
    // RFC 3168 section 6.1.1: a SYN/ACK with both flags is one of a peer that copies bits that it does not know.
    for answer in ["synack", "synack ece cwr"] {
        let script = format!(
            "
            0ms   connect
            0ms   > syn ece cwr ect0
            0ms   write 1
            100ms < {answer}
            100ms > 0
            100ms ? ecn off
            "
        );
        let end = sender("dctcp", "linux-6", &script);
        assert_eq!(end.sender().alpha(), None, "still DCTCP");
    }
}

#[test]
fn syn_backs_off() {
    // RFC 6298 (https://www.rfc-editor.org/rfc/rfc6298) 2.1: 1 s, doubled each time. One lost SYN is
    // forgiven, two are not: cwnd 1 (Linux tcp_init_metrics).
    let script = "
        0ms    connect
        0ms    > syn
        1000ms > syn
    ";
    // While the second SYN is under way the window is that after a timeout (Linux tcp_enter_loss).
    let once = sender("reno", "linux-3.2", script)
        .run("1050ms ? cwnd 1\n1100ms < synack ts 1000ms\n1100ms > ack 0\n1100ms ? cwnd 10 srtt 100ms");
    assert_eq!(once.sender().counters().timeouts, 1);
    let twice = "
        3000ms > syn
        7000ms > syn
        7100ms < synack
        7100ms > ack 0
        7100ms ? cwnd 1 srtt 0ms          # no timestamp came back, so there is no RTT (Karn)
    ";
    sender("reno", "linux-3.2", script).run(twice);
}

/// Linux `tcp_try_undo_spurious_syn`: the SYN/ACK echoes the timestamp of the first SYN, as where the RTT is
/// longer than the timeout.
#[test]
fn syns_that_were_repeated_in_vain_cost_no_window() {
    let script = "
        0ms    connect
        0ms    > syn
        1000ms > syn
        2000ms > syn
    ";
    let answer = |ts: u32, cwnd: u32| {
        format!(
            "2500ms ? cwnd 1\n2501ms < synack ts {ts}ms\n2501ms > ack 0\n2501ms ? cwnd {cwnd} srtt {}ms",
            2501 - ts
        )
    };
    sender("reno", "linux-6", script).run(&answer(0, 10));
    sender("reno", "linux-6", script).run(&answer(1000, 1));
}

#[test]
fn a_repeated_syn_asks_for_ecn_again_in_old_kernels_only() {
    // Since 4.2 Linux does not (tcp_ecn_clear_syn). The SYN is still ECT, because DCTCP sets ECT for the socket, not
    // the packet.
    sender("dctcp", "linux-3.18", "0ms connect\n0ms > syn ece cwr ect0\n1000ms > syn ece cwr ect0");
    sender("dctcp", "linux-6", "0ms connect\n0ms > syn ece cwr ect0\n1000ms > syn ect0");
}

#[test]
fn receiver_answers_what_it_is_asked() {
    receiver_with(config("reno", "linux-6"), "0ms < syn\n0ms > synack");
    receiver_with(config("reno", "linux-6"), "0ms < syn ece cwr\n0ms > synack"); // ECN is off here.
    receiver_with(with_ecn("linux-6"), "0ms < syn\n0ms > synack");
    receiver_with(with_ecn("linux-6"), "0ms < syn ece cwr\n0ms > synack ece");
    receiver_with(config("dctcp", "linux-6"), "0ms < syn ece cwr ect0\n0ms > synack ece ect0");
    receiver_with(config("dctcp", "linux-6"), "0ms < syn ect0\n0ms > synack");
}

#[test]
fn the_first_syn_decides() {
    // The SYN/ACK was lost; the repeated SYN without ECN gets the same answer (Linux keeps ecn_ok in the request).
    let script = "
        0ms    < syn ece cwr ect0
        0ms    > synack ece ect0
        1000ms < syn ect0
        1000ms > synack ece ect0
        1001ms < 0 ect0
        1001ms > ack 1 ect0
        1002ms < syn ect0               # a late copy: no answer
    ";
    receiver_with(config("dctcp", "linux-6"), script);
}

#[test]
fn a_syn_ack_is_not_repeated() {
    // The kernel's server would repeat it after 1 s; here it is only repeated for another SYN of the client.
    receiver_with(config("reno", "linux-6"), "0ms < syn\n0ms > synack\n5000ms < 3\n5000ms > ack 0 sack 3-4");
}

#[test]
fn the_timeout_of_a_syn_doubles() {
    let script = "
        0ms    connect
        0ms    > syn
        1000ms > syn
        3000ms > syn
        7000ms > syn
    ";
    sender("reno", "linux-3.18", script);
    // With tcp_syn_linear_timeouts = 4, as since Linux 6.5, the fifth timeout is the first that doubles.
    let script = "
        0ms     connect
        0ms     > syn
        1000ms  > syn
        2000ms  > syn
        3000ms  > syn
        4000ms  > syn
        5000ms  > syn
        7000ms  > syn
        11000ms > syn
    ";
    sender("reno", "linux-6", script);
}
