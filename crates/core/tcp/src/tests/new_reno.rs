//! Recovery without SACK ([RFC 6582](https://www.rfc-editor.org/rfc/rfc6582)).

use super::script::{OPEN, sender_with};
use crate::EndpointConfig;
use crate::testing::config;

fn reno(stack: &str) -> EndpointConfig {
    EndpointConfig { sack: false, ..config("reno", stack) }
}

/// 0 and 3 are lost, so that there are eight duplicates.
const ENTRY: &str = "
    100ms < ack 0                      # opens the window beyond the field of a SYN, so that it is not a duplicate
    200ms < ack 0
    200ms > 10
    200ms ? state disorder
    200ms < ack 0
    200ms > 11
    200ms < ack 0
    200ms > 0                          # third duplicate; flight 12 - 3 - 1 = 8
    200ms ? state recovery ssthresh 5 cwnd 9
";

#[test]
fn duplicates_do_not_count_as_deliveries_in_3_2() {
    // Nothing counts as delivered: ceil(0) - 1 < 0, so that only the flight shrinks until it is below ssthresh.
    sender_with(reno("linux-3.2"), OPEN).run(ENTRY).run(
        "
        200ms < ack 0                  # flight 8
        200ms ? cwnd 8 flight 8
        200ms < ack 0
        200ms < ack 0
        200ms < ack 0                  # flight 5 = ssthresh
        200ms ? cwnd 5 flight 5
        200ms < ack 0                  # flight 4: max(0 - 1, 0) + 1 = 1
        200ms > 12
        200ms ? cwnd 5 flight 5
        ",
    );
}

#[test]
fn duplicates_count_as_deliveries_since_3_7() {
    for stack in ["linux-3.18", "linux-6"] {
        sender_with(reno(stack), OPEN).run(ENTRY).run(
            "
            200ms < ack 0              # delivered 2: ceil(5 x 2 / 10) - 1 = 0
            200ms ? cwnd 8 flight 8
            200ms < ack 0              # 3: 2 - 1
            200ms > 12
            200ms ? cwnd 8 flight 8
            ",
        );
    }
}

#[test]
fn a_partial_ack_repeats_the_next_hole() {
    // Of the three acknowledged packets two had been counted as duplicates, so that one is delivered: ceil(5 x 1 / 10)
    // - 1 = 0. 3.2 then waits until the flight is below ssthresh: 7, 6, 5, 4.
    let end = "
        400ms < ack 12 ts 300ms        # the recovery point itself: state held (RFC 6582 section 3.2 step 4)
        400ms ? state recovery recoveries 1 ssthresh 5
    ";
    sender_with(reno("linux-3.2"), OPEN)
        .run(ENTRY)
        .run("300ms < ack 3 ts 200ms\n300ms ? state recovery losses 2 cwnd 7 flight 7")
        .run("300ms < ack 3\n300ms < ack 3\n300ms < ack 3\n300ms > 3")
        .run_loosely(end);
    // Later kernels count the duplicates: 2 packets are delivered, then 3: ceil(5 x 3 / 10) - 1 = 1.
    for stack in ["linux-3.18", "linux-6"] {
        sender_with(reno(stack), OPEN)
            .run(ENTRY)
            .run("300ms < ack 3 ts 200ms\n300ms ? state recovery losses 2 cwnd 7")
            .run("300ms < ack 3\n300ms > 3")
            .run_loosely(end);
    }
}

#[test]
fn after_the_recovery_point_something_above_it_ends_recovery() {
    // In 3.18 nothing is in flight at the recovery point, so that cwnd 5 is limited to flight + 3; then cwnd =
    // ssthresh.
    let mut c = reno("linux-3.18");
    c.cwnd_clamp_packets = 10;
    sender_with(c, OPEN).run(ENTRY).run(
        "
        300ms < ack 12 ts 200ms
        300ms > 12..15                 # flight 0 + 3
        300ms ? state recovery cwnd 3
        400ms < ack 13
        400ms > 15..18
        400ms ? state open cwnd 5
        ",
    );
}
