//! FreeBSD receivers: delayed ACKs, both kinds of ECN feedback, and receivers unlike the sender (claim A52).

use super::script::{receiver_with, with_ecn};
use crate::testing::config;
use crate::{CwrAck, EcnFeedback, EndpointConfig, Profile, ReceiverConfig};

fn dctcp(stack: &str) -> EndpointConfig {
    config("dctcp-freebsd", stack)
}

const OPEN: &str = "
    0ms   < syn ece cwr
    0ms   > synack ece
    1ms   < 0 ect0
    2ms   < 1 ect0
    2ms   > ack 2
";

#[test]
fn every_second_segment_is_acknowledged_or_a_timer_after_the_first() {
    for (stack, after_ms) in [("freebsd-2015", 100), ("freebsd-14", 40)] {
        receiver_with(
            config("ecn-newreno", stack),
            &OPEN.replace("ece cwr", "").replace("synack ece", "synack"),
        )
        .run(&format!(
            "
                10ms  < 2
                {}ms  > ack 3
                200ms < 3:100              # small ones count like large ones
                210ms < 3+100:100
                210ms > ack 3+200
                ",
            10 + after_ms
        ));
    }
}

#[test]
fn a_segment_that_the_host_has_merged_is_acknowledged_at_once() {
    // DELAY_ACK asks for a segment that is not larger than the MSS, so that segments of LRO do not wait for a second
    // one.
    for stack in ["freebsd-2015", "freebsd-14"] {
        receiver_with(dctcp(stack), OPEN).run(
            "
            3ms   < 2:2896 ect0        # two packets
            3ms   > ack 4
            4ms   < 4 ect0             # one: waits
            5ms   < 5:5792 ect0
            5ms   > ack 9
            ",
        );
    }
}

#[test]
fn data_out_of_order_is_acknowledged_at_once() {
    receiver_with(dctcp("freebsd-2015"), OPEN).run(
        "
        3ms   < 3 ect0
        3ms   > ack 2 sack 3-4
        4ms   < 2 ect0
        4ms   > ack 4
        5ms   < 2 ect0                 # old: no D-SACK in 2015
        5ms   > ack 4
        ",
    );
    receiver_with(dctcp("freebsd-14"), OPEN).run("5ms < 1 ect0\n5ms > ack 2 sack 1-2");
}

/// Segment 2 is in order and fills no hole, but 4 waits behind the one at 3: `DELAY_ACK` asks for an empty queue of
/// segments.
#[test]
fn data_in_order_before_a_hole_are_acknowledged_at_once() {
    for stack in ["freebsd-2015", "freebsd-14"] {
        receiver_with(config("reno", stack), "0ms < syn\n0ms > synack\n1ms < 0\n2ms < 1\n2ms > ack 2").run(
            "
                10ms  < 4
                10ms  > ack 2 sack 4-5
                11ms  < 2
                11ms  > ack 3 sack 4-5
            ",
        );
    }
}

#[test]
fn a_change_of_state_is_acknowledged_at_once_with_the_new_state() {
    // The ACK for segment 2 waits; because of the mark on 3 both are acknowledged with ECE (Linux would acknowledge 2
    // without ECE first).
    for stack in ["freebsd-2015", "freebsd-14"] {
        receiver_with(dctcp(stack), OPEN).run(
            "
            3ms   < 2 ect0
            4ms   < 3 ce
            4ms   > ack 4 ece
            5ms   < 4 ce               # no change: waits
            6ms   < 5 ce
            6ms   > ack 6 ece
            7ms   < 6 ect0             # alone
            7ms   > ack 7
            ",
        );
    }
}

#[test]
fn an_acknowledgement_of_cwr_waits_in_2015_and_does_not_in_14() {
    // Claim A52. The data with CWR changes the state: 2015 (Kato et al. 2015, section 3.2) lets it wait for the second
    // segment nevertheless.
    let marked = "
        3ms   < 2 ce
        3ms   > ack 3 ece
        4ms   < 3 ect0 cwr
    ";
    receiver_with(dctcp("freebsd-2015"), OPEN).run(marked).run("5ms < 4 ect0\n5ms > ack 5");
    receiver_with(dctcp("freebsd-2015"), OPEN).run(marked).run("104ms > ack 4");
    receiver_with(dctcp("freebsd-14"), OPEN).run(marked).run("4ms > ack 4");
    // 14 does not wait either if nothing changes.
    receiver_with(dctcp("freebsd-14"), OPEN).run("3ms < 2 ect0 cwr\n3ms > ack 3");
    receiver_with(dctcp("freebsd-2015"), OPEN).run("3ms < 2 ect0 cwr\n103ms > ack 3");
}

#[test]
fn the_delay_of_acks_for_cwr_can_be_chosen() {
    let with = |stack: &str, rule: CwrAck| {
        let mut config = dctcp(stack);
        config.receiver.cwr_ack = Some(rule);
        receiver_with(config, OPEN).run("3ms < 2 ce\n3ms > ack 3 ece\n4ms < 3 ect0 cwr")
    };
    with("freebsd-2015", CwrAck::AsUsual).run("4ms > ack 4");
    with("freebsd-14", CwrAck::Delayed).run("44ms > ack 4");
    with("freebsd-2015", CwrAck::AtOnce).run("4ms > ack 4");
}

#[test]
fn data_without_ect_is_unmarked_in_14_only() {
    // 2015 keeps the last flag (the switch has no case for it).
    let marked = "3ms < 2 ce\n3ms > ack 3 ece\n4ms < 3";
    receiver_with(dctcp("freebsd-14"), OPEN).run(marked).run("4ms > ack 4");
    receiver_with(dctcp("freebsd-2015"), OPEN).run(marked).run("104ms > ack 4 ece");
}

#[test]
fn classic_feedback_holds_until_cwr() {
    let classic = |stack| receiver_with(config("ecn-newreno", stack), OPEN);
    let latched = "
        3ms   < 2 ce                   # FreeBSD has no quick ACKs: it waits
        4ms   < 3 ect0
        4ms   > ack 4 ece
        5ms   < 4 ect0
        6ms   < 5 ect0
        6ms   > ack 6 ece
        7ms   < 6 ect0 cwr
    ";
    classic("freebsd-2015").run(latched).run("8ms < 7 ect0\n8ms > ack 8");
    classic("freebsd-14").run(latched).run("7ms > ack 7");
}

#[test]
fn marks_on_old_data_count() {
    // tcp_do_segment evaluates ECN before positions.
    receiver_with(config("ecn-newreno", "freebsd-2015"), OPEN).run("3ms < 1 ce\n3ms > ack 2 ece");
    receiver_with(with_ecn("linux-6"), &OPEN.replace("2ms   < 1", "1ms   > ack 1\n2ms   < 1"))
        .run("3ms < 1 ce\n3ms > ack 2 sack 1-2");
}

#[test]
fn acks_are_never_ect() {
    // Linux with DCTCP sets ECT on them, FreeBSD obeys RFC 3168 (https://www.rfc-editor.org/rfc/rfc3168)
    // 6.1.4; what counts is the receiver's own stack.
    let freebsd_sender = EndpointConfig {
        receiver: ReceiverConfig { stack: Some(Profile::LINUX_6), ..ReceiverConfig::default() },
        ..dctcp("freebsd-2015")
    };
    receiver_with(freebsd_sender, "0ms < syn ece cwr\n0ms > synack ece ect0\n1ms < 0 ect0\n1ms > ack 1 ect0");
    let linux_sender = EndpointConfig {
        receiver: ReceiverConfig { stack: Some(Profile::FREEBSD_2015), ..ReceiverConfig::default() },
        ..config("dctcp", "linux-6")
    };
    receiver_with(linux_sender, OPEN);
}

#[test]
fn feedback_is_the_receivers_own() {
    // The peer of a DCTCP sender need not give DCTCP's feedback: here ECE stays set although unmarked data follows.
    let mut config = dctcp("freebsd-2015");
    config.receiver.feedback = Some(EcnFeedback::Classic);
    receiver_with(config, OPEN).run("3ms < 2 ce\n4ms < 3 ect0\n4ms > ack 4 ece");
    // The peer of a classic sender may give it.
    let mut config = super::super::testing::config("ecn-newreno", "freebsd-2015");
    config.receiver.feedback = Some(EcnFeedback::Dctcp);
    receiver_with(config, OPEN).run("3ms < 2 ce\n3ms > ack 3 ece\n4ms < 3 ect0\n4ms > ack 4");
}

#[test]
fn sack_blocks_are_the_receivers_own() {
    // Segments 2, 4, 6, 8 and 10 make five blocks, of which Linux remembers four. Segment 3 touches the first two.
    let script = |first: &str| {
        format!(
            "
        0ms < syn
        0ms > synack
        1ms < 2
        1ms > ack 0 sack 2-3
        1ms < 4
        1ms > ack 0 sack 4-5 2-3
        1ms < 6
        1ms > ack 0 sack 6-7 4-5 2-3
        1ms < 8
        1ms > ack 0 sack 8-9 6-7 4-5
        1ms < 10
        1ms > ack 0 sack 10-11 8-9 6-7
        1ms < 3
        1ms > ack 0 sack {first} 10-11 8-9
    "
        )
    };
    let peers = |stack: &str, receiver: Profile| EndpointConfig {
        receiver: ReceiverConfig { stack: Some(receiver), ..ReceiverConfig::default() },
        ..super::super::testing::config("reno", stack)
    };
    receiver_with(peers("freebsd-2015", Profile::LINUX_3_18), &script("3-5"));
    receiver_with(peers("linux-3.18", Profile::FREEBSD_2015), &script("2-5"));
}
