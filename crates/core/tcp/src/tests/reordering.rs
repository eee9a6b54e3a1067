//! What a sender learns of reordering (linux-6): the window of RACK, the degree, D-SACKs
//! ([RFC 8985, section 6.2](https://www.rfc-editor.org/rfc/rfc8985#section-6.2) step 4). The scripts in
//! `linux/conformance/recovery` show the same on the kernel.

use super::script::{OPEN, Script, sender};

/// Segment 0 arrives after segment 1; the window has grown by two packets since.
fn reordered() -> Script {
    sender("reno", "linux-6", OPEN).run(
        "
        200ms < ack 0 sack 1-2
        200ms > 10
        200ms < ack 2
        200ms > 11..13
        200ms ? state open cwnd 11 losses 0
        ",
    )
}

#[test]
fn after_reordering_the_third_sack_proves_nothing() {
    reordered().run(
        "
        200ms < ack 2 sack 3-6
        200ms > 13..16
        200ms ? state disorder losses 0
        220ms < ack 6                  # within a quarter of 100 ms
        220ms > 16..18
        220ms ? state open losses 0
        ",
    );
    // Else it is lost after a quarter of the RTT and two jiffies.
    reordered().run_loosely(
        "
        200ms < ack 2 sack 3-6
        200ms > 13..16
        227ms > 2
        227ms ? state recovery losses 1
        ",
    );
}

#[test]
fn with_a_high_degree_the_window_grows_out_of_order() {
    // Segment 2 is overtaken by four: its ACK delivers one, and the SACK of 8 another one.
    reordered().run(
        "
        200ms < ack 2 sack 3-7
        200ms > 13..17
        200ms < ack 3 sack 4-7
        200ms > 17..19
        200ms ? cwnd 12
        200ms < ack 3 sack 4-7 8-9
        200ms > 19..21
        200ms ? cwnd 13
        ",
    );
}

#[test]
fn duplicates_that_the_network_made_explain_nothing() {
    // Nothing was sent again: the D-SACK for segment 0 says nothing about the reordering window, which stays 25 ms.
    reordered().run_loosely(
        "
        200ms < ack 2 sack 0-1
        201ms < ack 3
        201ms > 13..15
        201ms < ack 3 sack 4-7
        201ms > 15..18
        228ms > 3
        ",
    );
}
