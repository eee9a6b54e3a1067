//! The DCTCP receiver: exact ACK sequences for patterns of marks.

use super::script::{linux, receiver_with};
use crate::EndpointConfig;
use crate::testing::config;

/// A receiver without quick ACKs, so that delayed ones show.
fn receiver(cc: &str, stack: &str) -> EndpointConfig {
    let mut config = config(cc, stack);
    linux(&mut config).quick_acks = 0;
    config
}

const OPEN: &str = "
    0ms   < syn ece cwr ect0
    0ms   > synack ece ect0
";

fn flushing(script: &str) {
    for (cc, stack) in [("dctcp-stanford", "linux-3.2"), ("dctcp-linux-3.18", "linux-3.18")] {
        receiver_with(receiver(cc, stack), &format!("{OPEN}{script}"));
    }
}

fn acking(script: &str) {
    receiver_with(receiver("dctcp", "linux-6"), &format!("{OPEN}{script}"));
}

#[test]
fn a_change_flushes_the_pending_ack() {
    flushing(
        "
        1ms   < 0 ect0                 # delayed
        2ms   < 1 ce                   # flush with the old state; the new packet waits
        2ms   > ack 1 ect0
        3ms   < 2 ce
        3ms   > ack 3 ece ect0         # two packets
        4ms   < 3 ce
        5ms   < 4 ect0                 # flush with ECE; the new packet waits
        5ms   > ack 4 ece ect0
        45ms  > ack 5 ect0             # its timer: 40 ms
        ",
    );
}

#[test]
fn current_linux_acknowledges_the_changing_packet_at_once() {
    acking(
        "
        1ms   < 0 ect0
        2ms   < 1 ce
        2ms   > ack 1 ect0, ack 2 ece ect0
        3ms   < 2 ce
        4ms   < 3 ce
        4ms   > ack 4 ece ect0
        5ms   < 4 ect0                 # nothing pending: no flush
        5ms   > ack 5 ect0
        6ms   < 5 ect0
        7ms   < 6 ce
        7ms   > ack 6 ect0, ack 7 ece ect0
        ",
    );
}

#[test]
fn without_a_pending_ack_nothing_is_flushed() {
    flushing(
        "
        1ms   < 0 ect0
        2ms   < 1 ect0
        2ms   > ack 2 ect0
        3ms   < 2 ce                   # waits, with the new state
        43ms  > ack 3 ece ect0
        ",
    );
}

#[test]
fn every_packet_its_own_state_without_delayed_acks() {
    // The pattern 0110 of marks is echoed exactly.
    let script = "
        1ms   < 0 ect0
        1ms   > ack 1 ect0
        2ms   < 1 ce
        2ms   > ack 2 ece ect0
        3ms   < 2 ce
        3ms   > ack 3 ece ect0
        4ms   < 3 ect0
        4ms   > ack 4 ect0
    ";
    for (cc, stack) in [("dctcp-stanford", "linux-3.2"), ("dctcp", "linux-6")] {
        let config = EndpointConfig { delayed_ack: false, ..config(cc, stack) };
        receiver_with(config, &format!("{OPEN}{script}"));
    }
}

#[test]
fn out_of_order_data_changes_the_state_too() {
    acking(
        "
        1ms   < 1 ce
        1ms   > ack 0 ece ect0 sack 1-2
        2ms   < 2 ect0
        2ms   > ack 0 ect0 sack 1-3
        3ms   < 0 ce                   # fills the hole
        3ms   > ack 3 ece ect0
        ",
    );
}

#[test]
fn old_data_does_not_change_the_state() {
    acking(
        "
        1ms   < 0 ect0
        2ms   < 1 ect0
        2ms   > ack 2 ect0
        3ms   < 0 ce
        3ms   > ack 2 ect0 sack 0-1    # D-SACK
        ",
    );
}

#[test]
fn cwr_asks_for_an_ack_in_current_linux_only() {
    // tcp_ecn_accept_cwr acknowledges it, as the sender's window may be one packet. ECE still shows the mark of the
    // packet itself.
    acking(
        "1ms < 0 ect0 cwr\n1ms > ack 1 ect0\n2ms < 1 ce\n2ms > ack 2 ece ect0\n3ms < 2 ce cwr\n3ms > ack 3 ece ect0",
    );
    flushing("1ms < 0 ect0 cwr\n41ms > ack 1 ect0");
}

#[test]
fn data_without_ect_is_acknowledged_quickly() {
    // Linux considers it as a retransmission. The 16 quick ACKs of the start are used up first; then there are two more
    // in 6.
    let first: String = (0..16).map(|n| format!("1ms < {n} ect0\n1ms > ack {} ect0\n", n + 1)).collect();
    let then = "
        2ms   < 16                     # no ECT
        2ms   > ack 17 ect0
        2ms   < 17 ect0
        2ms   > ack 18 ect0
        2ms   < 18 ect0
        42ms  > ack 19 ect0
    ";
    receiver_with(config("dctcp", "linux-6"), &format!("{OPEN}{first}{then}"));
    // 3.x enters quick-ACK mode again: this ACK and 15 more.
    let again: String = (17..32).map(|n| format!("3ms < {n} ect0\n3ms > ack {} ect0\n", n + 1)).collect();
    let then = format!("2ms < 16\n2ms > ack 17 ect0\n{again}4ms < 32 ect0\n44ms > ack 33 ect0");
    receiver_with(config("dctcp-stanford", "linux-3.2"), &format!("{OPEN}{first}{then}"));
}
