//! Loss during an ECN reduction: the window is not cut again, but stacks differ in how the first reduction is
//! completed.

use super::script::{OPEN, OPEN_ECN, sender_with, with_ecn, without_probes};
use crate::testing::config;

/// A mark, and the third SACKed segment in the reduction.
const MARK_AND_LOSS: &str = "
    200ms < ack 1 ece
    200ms > 10 cwr ect0
    200ms ? state cwr ssthresh 5 cwnd 10
    201ms < ack 1 sack 2-3
    201ms ? cwnd 9
    202ms < ack 1 sack 2-4
    202ms > 11 ect0
    203ms < ack 1 sack 2-5
";

#[test]
fn recovery_of_3_2_begins_anew() {
    // The window before is 9, and nothing is delivered yet: flight 7, ceil(5 x 1 / 9) = 1. The new episode ends with
    // the data sent until now.
    sender_with(with_ecn("linux-3.2"), OPEN_ECN).run(MARK_AND_LOSS).run_loosely(
        "
        203ms > 1
        203ms ? state recovery ssthresh 5 cwnd 8 recoveries 1
        303ms < ack 10 ts 203ms
        303ms ? state recovery
        ",
    );
}

#[test]
fn recovery_of_6_continues_the_reduction() {
    // The window before is 10, 4 packets are delivered, 2 sent: ceil(5 x 4 / 10) - 2 = 0. No retransmission is forced,
    // as packets were sent since the mark. The episode ends where that of the mark would have ended.
    sender_with(with_ecn("linux-6"), OPEN_ECN).run(MARK_AND_LOSS).run_loosely(
        "
        203ms ? state recovery ssthresh 5 cwnd 7 flight 7 recoveries 1
        204ms < ack 1 sack 2-6         # ceil(5 x 5 / 10) - 2 = 1
        204ms > 1
        304ms < ack 10 ts 204ms
        304ms ? state open reductions 1
        ",
    );
}

#[test]
fn dctcp_of_6_cuts_once_more() {
    // dctcp_state halves on every transition to Recovery: 10 at the mark to 5 by alpha 1; then half of the 9 left: 4.
    let open = OPEN_ECN.replace("syn ece cwr", "syn ece cwr ect0");
    let marked = sender_with(config("dctcp", "linux-6"), &open).run(MARK_AND_LOSS);
    marked.run_loosely("203ms ? state recovery ssthresh 4");
}

#[test]
fn a_timeout_in_cwr_does_not_cut_again() {
    // Linux tcp_enter_loss: the window was reduced already for the data in flight.
    let script = "
        200ms < ack 1 ece
        200ms > 10 cwr ect0
        500ms > 1
        500ms ? state loss ssthresh 5 cwnd 1
    ";
    sender_with(with_ecn("linux-3.2"), OPEN_ECN).run(script);
}

#[test]
fn a_timeout_in_recovery_disables_frto() {
    // RFC 5682 (https://www.rfc-editor.org/rfc/rfc5682) 3.1 step 1: retransmissions are out already. The ACK
    // of the head brings retransmissions, not new data.
    sender_with(without_probes("linux-3.18"), OPEN).run(
        "
        200ms < ack 0 sack 1-5         # flight 5 = ssthresh: one by force
        200ms > 0
        200ms ? state recovery
        500ms > 0                      # RTO 300 ms after the retransmission
        500ms ? state loss timeouts 1 ssthresh 5
        600ms < ack 5 ts 500ms
        600ms > 5..10, 10              # slow start to ssthresh + 1: the five lost ones, then a new one
        600ms ? state loss cwnd 6
        ",
    );
}

#[test]
fn a_timeout_beyond_the_marked_window_cuts_again() {
    // CWR is held at its end until something above is acknowledged; a timeout then concerns data sent after the cut.
    let script = "
        200ms < ack 1 ece
        200ms > 10 cwr ect0
        200ms < ack 10                 # flight 1: cwnd 1 + 1
        200ms > 11 ect0
        200ms ? state cwr ssthresh 5 cwnd 2
        500ms > 10
        500ms ? state loss ssthresh 2 cwnd 1
    ";
    sender_with(with_ecn("linux-3.2"), OPEN_ECN).run(script);
}
