//! Slow start and congestion avoidance as each stack counts.

use super::script::{OPEN, sender, sender_with, without_probes_and_frto};
use crate::EndpointConfig;
use crate::testing::config;

#[test]
fn slow_start_counts_acks_in_3_2() {
    // In 3.2 the window grows by one with each ACK, however much it acknowledges.
    sender("reno", "linux-3.2", OPEN).run(
        "
        200ms < ack 2
        200ms > 10..13                 # 2 freed + 1
        200ms < ack 6
        200ms > 13..18                 # 4 freed + 1
        200ms ? cwnd 12
        ",
    );
}

#[test]
fn slow_start_counts_packets_later() {
    for stack in ["linux-3.18", "linux-6"] {
        sender("reno", stack, OPEN).run(
            "
            200ms < ack 2
            200ms > 10..14             # 2 freed + 2
            200ms < ack 6
            200ms > 14..22             # 4 freed + 4
            200ms ? cwnd 16
            ",
        );
    }
}

/// A timeout with everything lost sets ssthresh to 5; then one ACK acknowledges everything.
const TIMEOUT: &str = "
    400ms > 0                          # RTO = 100 + max(2 x 100, 200) ms
    400ms ? cwnd 1 ssthresh 5 state loss
";

#[test]
fn avoidance_counts_acks_in_3_2() {
    // With ssthresh 5 slow start lasts while cwnd <= 5, so up to 6; then the window grows with the 7th ACK, which is
    // cwnd + 1.
    let mut run = sender_with(without_probes_and_frto("linux-3.2"), OPEN).run(TIMEOUT);
    run = run.run("500ms < ack 10\n500ms > 10..12\n500ms ? cwnd 2 state open cnt 0");
    for (ack, cwnd) in [(11, 3), (12, 4), (13, 5), (14, 6)] {
        let next = ack + cwnd;
        run = run.run(&format!("600ms < ack {ack}\n600ms > {}..{next}\n600ms ? cwnd {cwnd} cnt 0", next - 2));
    }
    // Six ACKs fill the counter, the seventh raises the window.
    for ack in 15..21 {
        run = run.run(&format!("700ms < ack {ack}\n700ms > {}\n700ms ? cwnd 6 cnt {}", ack + 5, ack - 14));
    }
    run.run("700ms < ack 21\n700ms > 26..28\n700ms ? cwnd 7 cnt 0");
}

#[test]
fn avoidance_counts_packets_in_6() {
    // With ssthresh 5 slow start lasts while cwnd < 5, and ends at 5; the rest of the ACK counts in congestion
    // avoidance.
    let run = sender_with(without_probes_and_frto("linux-6"), OPEN).run(TIMEOUT).run(
        "
        500ms < ack 10 ts 400ms        # 10 packets: 1 -> 5 takes 4, the other 6 are 6/5: +1, 1 left
        500ms > 10..16
        500ms ? cwnd 6 cnt 1 state open
        600ms < ack 12
        600ms > 16..18
        600ms ? cwnd 6 cnt 3
        600ms < ack 16                 # 3 + 4 = 7 = 6 + 1
        600ms > 18..23
        600ms ? cwnd 7 cnt 1
        ",
    );
    assert_eq!(run.sender().counters().timeouts, 1);
}

#[test]
fn slow_start_of_3_18_stops_at_ssthresh_plus_one() {
    sender_with(without_probes_and_frto("linux-3.18"), OPEN).run(TIMEOUT).run(
        "
        500ms < ack 10 ts 400ms        # min(1 + 10, 5 + 1)
        500ms > 10..16
        500ms ? cwnd 6 cnt 0 state open
        600ms < ack 16                 # avoidance counts ACKs
        600ms > 16..22
        600ms ? cwnd 6 cnt 1
        ",
    );
}

#[test]
fn the_clamp_holds() {
    let c = EndpointConfig { cwnd_clamp_packets: 11, ..config("reno", "linux-6") };
    sender_with(c, OPEN).run("200ms < ack 10\n200ms > 10..21\n200ms ? cwnd 11");
}
