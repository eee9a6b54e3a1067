//! Loss during an ECN reduction: the window is not cut again, but stacks differ in how the first reduction is
//! completed.

use super::script::{OPEN, OPEN_ECN, Script, linux, sender_with, with_ecn, without_probes};
use crate::TailProbe;
use crate::testing::config;
use shoal_cc::CcConfig;

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

/// A timeout of twenty packets turns out spurious, and the ACK that shows it carries ECE: no undo, and CWR from a
/// window of one with 17 packets in flight. Then a packet is lost. The script of the kernel is
/// `docs/findings/dctcp-storm/dctcp_loss_after_spurious_timeout.pkt`.
fn lost_after_a_spurious_timeout(base_follows: bool) -> Script {
    let mut config = config("dctcp", "linux-6");
    linux(&mut config).tail_probe = TailProbe::Off;
    let CcConfig::Dctcp(dctcp) = &mut config.cc else { panic!("DCTCP") };
    dctcp.raises_prr_base_on_loss = base_follows;
    sender_with(config, &OPEN_ECN.replace("syn ece cwr", "syn ece cwr ect0")).run_loosely(
        "
        200ms < ack 10 ts 100ms
        200ms > 10..30 ect0
        500ms > 10 ect0
        500ms ? state loss cwnd 1
        520ms < ack 13 ece ts 200ms    # three delivered, of which PRR makes six
        520ms > 30 cwr ect0, 31..36 ect0
        520ms ? state cwr ssthresh 2 cwnd 23 flight 23
        ",
    )
}

#[test]
fn prr_multiplies_what_is_delivered_if_ssthresh_grows_above_its_base() {
    // As Linux has it: ssthresh is half of 25, the base 1. Six are delivered: 12 x 6 / 1 - 10 = 62 leave at once.
    lost_after_a_spurious_timeout(false).run_loosely(
        "
        520ms < ack 13 sack 14-15
        520ms > 36..38 ect0
        520ms < ack 13 sack 14-16
        520ms > 38..40 ect0
        520ms ? cwnd 25
        520ms < ack 13 sack 14-17
        520ms ? state recovery ssthresh 12 cwnd 85
        ",
    );
    // With the cure: 12 x 6 / 25 rounds up to 3, of which 10 were sent; none is forced.
    lost_after_a_spurious_timeout(true).run_loosely(
        "
        520ms < ack 13 sack 14-15
        520ms > 36..38 ect0
        520ms < ack 13 sack 14-16
        520ms > 38..40 ect0
        520ms < ack 13 sack 14-17
        520ms ? state recovery ssthresh 12 cwnd 23
        ",
    );
}
