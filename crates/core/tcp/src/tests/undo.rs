//! Undo of spurious reductions: Eifel by timestamps ([RFC 3522](https://www.rfc-editor.org/rfc/rfc3522)), D-SACK
//! ([RFC 3708](https://www.rfc-editor.org/rfc/rfc3708)).

use super::script::{OPEN, OPEN_ECN, Script, sender, sender_with, with_ecn};

/// Segment 0 is late by more than three packets.
fn late(stack: &str) -> Script {
    sender("reno", stack, OPEN).run("200ms < ack 0 sack 1-4")
}

#[test]
fn an_old_timestamp_ends_recovery() {
    // The ACK for 0 echoes its first transmission. Everything below the recovery point is acknowledged.
    for stack in ["linux-3.2", "linux-3.18"] {
        late(stack).run(
            "
            200ms > 0, 10              # flight 6: ceil(5 x 3 / 10) = 2
            200ms ? state recovery cwnd 8 ssthresh 5
            210ms < ack 10 ts 100ms    # max(8, 2 x 5)
            210ms > 11..20
            210ms ? state open cwnd 10 ssthresh 2147483647 undos 1
            ",
        );
    }
}

/// Clocks of timestamps tick once a millisecond.
#[test]
fn an_echo_of_the_same_tick_proves_nothing() {
    for (echo, undos) in [("199.9ms", 1), ("200.1ms", 0)] {
        sender("reno", "linux-6", OPEN).run_loosely(&format!(
            "200.4ms < ack 0 sack 1-4\n200.4ms > 0, 10\n210ms < ack 10 ts {echo}\n210ms ? undos {undos}"
        ));
    }
}

#[test]
fn a_partial_ack_with_an_old_timestamp() {
    // 3.2 restores the window and stays; later kernels wait while the retransmission is out.
    late("linux-3.2")
        .run_loosely("200ms > 0, 10\n210ms < ack 4 ts 100ms\n210ms ? state recovery undos 1 ssthresh 5");
    late("linux-6")
        .run_loosely("200ms > 0, 10\n210ms < ack 4 ts 100ms\n210ms ? state open undos 1 ssthresh 2147483647");
}

#[test]
fn dsack_explains_the_retransmission() {
    for stack in ["linux-3.18", "linux-6"] {
        late(stack).run_loosely(
            "
            200ms > 0, 10
            210ms < ack 4              # flight 7: ceil(5 x 4 / 10) - 2 = 0
            210ms ? state recovery undos 0 flight 7 cwnd 7
            220ms < ack 4 sack 0-1     # D-SACK: 0 arrived twice
            220ms ? state open undos 1 ssthresh 2147483647
            ",
        );
    }
    // 3.2 evaluates D-SACKs in Open and Disorder only; the reduction is undone at the end of Recovery.
    late("linux-3.2")
        .run_loosely("200ms > 0, 10\n210ms < ack 4\n220ms < ack 4 sack 0-1\n220ms ? state recovery undos 0");
}

#[test]
fn a_mark_forbids_undo() {
    // Recovery ends with its undo (nothing to restore: cwnd 8), then the mark starts a reduction of its own.
    sender_with(with_ecn("linux-6"), OPEN_ECN).run_loosely(
        "
        200ms < ack 0 sack 1-4
        200ms > 0, 10 cwr ect0         # the retransmission is not ECT (RFC 3168 6.1.5)
        200ms ? cwnd 8
        210ms < ack 10 ece ts 100ms
        210ms ? state cwr ssthresh 4 cwnd 4
        ",
    );
}
