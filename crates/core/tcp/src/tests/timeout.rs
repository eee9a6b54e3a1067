//! Retransmission timeout: floor, backoff, Karn, the Loss state, F-RTO
//! ([RFC 6298](https://www.rfc-editor.org/rfc/rfc6298), [RFC 5682](https://www.rfc-editor.org/rfc/rfc5682)).

use super::script::{OPEN, OPEN_ECN, sender, sender_with, without_probes, without_probes_and_frto};
use crate::EndpointConfig;

#[test]
fn backoff_doubles_until_an_rtt_is_measured() {
    // The first sample is 100 ms: RTO = 100 + max(2 x 100, 200) = 300 ms.
    sender("reno", "linux-3.2", OPEN).run(
        "
        400ms  > 0
        400ms  ? state loss cwnd 1 ssthresh 5 timeouts 1 flight 1
        1000ms > 0                     # 600
        2200ms > 0                     # 1200
        2200ms ? ssthresh 5 timeouts 3 # the same window: one cut
        4600ms > 0                     # 2400
        ",
    );
}

#[test]
fn karn_keeps_the_backoff_unless_timestamps_measure() {
    let c = without_probes_and_frto("linux-3.2");
    let timed_out = format!("{OPEN}\n400ms > 0\n500ms < ack 1");
    // Without a timestamp the RTO stays at 600 ms.
    sender_with(c, &format!("{timed_out}\n500ms > 1..3\n1100ms > 1"));
    // The echo of 400 ms is a sample of 100 ms: RTTVAR stays at 200 ms, and the RTO is 300 ms.
    sender_with(c, &format!("{timed_out} ts 400ms\n500ms > 1..3\n500ms ? srtt 100ms\n800ms > 1"));
}

#[test]
fn the_lost_are_repeated_in_slow_start() {
    let c = without_probes_and_frto("linux-3.18");
    sender_with(c, OPEN).run(
        "
        400ms > 0
        500ms < ack 1 ts 400ms
        500ms > 1..3
        500ms ? state loss cwnd 2
        600ms < ack 3 ts 500ms
        600ms > 3..7
        600ms ? cwnd 4
        700ms < ack 7 ts 600ms         # ssthresh 5: stops at 6
        700ms > 7..10, 10..13
        700ms ? cwnd 6 state loss
        800ms < ack 10 ts 700ms        # everything sent before the timeout
        800ms > 13..16
        800ms ? state open cwnd 6
        ",
    );
}

#[test]
fn sacked_segments_are_not_repeated() {
    let c = without_probes_and_frto("linux-3.2");
    sender_with(c, OPEN).run(
        "
        200ms < ack 0 sack 1-3
        200ms > 10..12                 # cwnd 10 = flight 8 + 2
        400ms > 0
        400ms ? losses 10 flight 1
        500ms < ack 3 ts 400ms
        500ms > 3..5
        ",
    );
}

#[test]
fn recent_segments_are_spared_in_6() {
    // Linux since 4.18 marks only segments that were sent more than an RTT ago as lost; cwnd = flight + 1.
    let c = without_probes("linux-6");
    sender_with(c, OPEN).run(
        "
        200ms < ack 1                  # 1 to 9 stay lost; 10 and 11 leave at 200 ms
        200ms > 10..12
        499ms ? timeouts 0
        500ms > 1                      # SRTT 100, RTTVAR 200: RTO 300. RACK RTT 100: all are older than 100 ms
        500ms ? flight 1 cwnd 1 losses 11
        ",
    );
    let run = sender_with(c, OPEN).run("200ms < ack 1\n200ms > 10..12\n").run(
        "
        480ms < ack 1 sack 10-11       # a late arrival, sent at 200: RACK RTT 280; 1 to 9 are due at 100 + 280 + 25
        480ms > 1                      # so the SACK alone finds them lost
        480ms ? state recovery
        ",
    );
    assert_eq!(run.sender().counters().timeouts, 0);
}

#[test]
fn frto_finds_a_spurious_timeout() {
    // RFC 5682: after the first advancing ACK two new segments are sent instead of retransmissions; an ACK for data
    // that was never repeated proves that nothing was lost.
    for stack in ["linux-3.2", "linux-3.18", "linux-6"] {
        sender_with(without_probes(stack), OPEN).run_loosely(
            "
            400ms > 0
            450ms < ack 1
            450ms > 10..12
            450ms ? state loss cwnd 2
            460ms < ack 2              # segment 1 was sent once
            460ms ? state open undos 1 ssthresh 2147483647 losses 10
            ",
        );
    }
}

#[test]
fn what_a_spurious_timeout_sent_and_lost_waits_for_the_next() {
    // The undo takes the mark of the loss from 0, whose retransmission is lost as well. RACK then marks the original
    // and looks no more, so that the retransmission counts as under way (Linux `tcp_mark_skb_lost`). The timer counts
    // from 450 ms, since the SACK is of data older than the retransmission: 100 + 250 / 8 + 400 ms.
    sender_with(without_probes("linux-6"), OPEN).run_loosely(
        "
        400ms > 0
        450ms < ack 0 sack 6-10
        450ms > 1..4
        550ms < ack 0 sack 1-2 6-10    # sent after the retransmission of 0
        550ms > 4..6
        551ms < ack 0 sack 1-3 6-10
        551ms > 10
        551ms ? timeouts 1 undos 1
        981.25ms > 0
        981.25ms ? timeouts 2
        ",
    );
}

#[test]
fn frto_gives_up_on_a_duplicate() {
    for stack in ["linux-3.18", "linux-6"] {
        sender_with(without_probes(stack), OPEN).run(
            "
            400ms > 0
            500ms < ack 1
            500ms > 10..12
            600ms < ack 1 sack 10-11   # the new data arrived, the old did not: the loss was real
            600ms > 1
            600ms ? state loss undos 0
            ",
        );
    }
}

#[test]
fn without_new_data_frto_repeats() {
    let script = OPEN.replace("greedy", "write 10");
    for stack in ["linux-3.2", "linux-3.18", "linux-6"] {
        sender_with(without_probes(stack), &script)
            .run("400ms > 0\n500ms < ack 1\n500ms > 1..3\n500ms ? state loss");
    }
}

#[test]
fn reneging_is_found() {
    // The receiver SACKed 1, then acknowledges 0 only: it has dropped 1 (RFC 2018 section 8,
    // https://www.rfc-editor.org/rfc/rfc2018#section-8).
    let script = format!("{OPEN}200ms < ack 0 sack 1-2\n200ms > 10\n210ms < ack 1\n");
    // 3.2 repeats it at once; later kernels after max(SRTT / 2, 10 ms), with SRTT = 100 + (110 - 100) / 8.
    let end = sender("reno", "linux-3.2", &format!("{script}210ms > 1\n210ms ? state loss cwnd 1 losses 10"));
    assert_eq!(end.sender().counters().timeouts, 0);
    for stack in ["linux-3.18", "linux-6"] {
        let end = sender_with(
            without_probes(stack),
            &format!("{script}210ms > 11..13\n260.625ms > 1\n260.625ms ? state loss timeouts 1"),
        );
        assert_eq!(end.sender().counters().fast_recoveries, 0);
    }
}

#[test]
fn a_connection_never_gives_up() {
    // tcp_retries2 would end it after 15 retransmissions; tcp_syn_retries a SYN after 6. The timeout stays at 120 s.
    let mut run = sender("reno", "linux-3.2", OPEN).run_loosely("4000000ms ? state loss");
    assert!(run.sender().counters().timeouts > 30);
    run = sender("reno", "linux-3.2", "0ms connect\n0ms > syn").run_loosely("4000000ms ? flight 0");
    assert!(run.sender().counters().timeouts > 30);
}

#[test]
fn a_duplicate_with_an_old_timestamp_undoes_nothing() {
    let c = without_probes_and_frto("linux-3.18");
    sender_with(c, OPEN)
        .run_loosely("400ms > 0\n450ms < ack 0 sack 5-6 ts 100ms\n450ms ? state loss undos 0");
    // On an ACK that advances it does.
    sender_with(c, OPEN).run_loosely("400ms > 0\n450ms < ack 1 ts 100ms\n450ms ? state open undos 1");
}

#[test]
fn an_ack_beyond_the_head_proves_the_timeout_spurious_only_with_sack() {
    // 1 and 2 were sent once. Without SACK they may have been waiting for the head, which was repeated.
    let with = sender_with(without_probes("linux-6"), OPEN)
        .run_loosely("400ms > 0\n500ms < ack 3\n500ms ? undos 1 state open");
    assert!(with.config.sack);
    let without = EndpointConfig { sack: false, ..without_probes("linux-6") };
    sender_with(without, OPEN).run("400ms > 0\n500ms < ack 3\n500ms > 10..14\n500ms ? undos 0 state loss");
}

#[test]
fn a_timeout_is_announced_by_cwr() {
    // RFC 3168 (https://www.rfc-editor.org/rfc/rfc3168) 6.1.2: after any reduction, on the first new data.
    let c = EndpointConfig { ecn: crate::EcnSetting::On, ..without_probes_and_frto("linux-3.2") };
    sender_with(c, OPEN_ECN).run("400ms > 0\n500ms < ack 10 ts 400ms\n500ms > 10 cwr ect0, 11 ect0");
}

#[test]
fn a_timeout_in_recovery_can_be_undone_since_3_18_only() {
    // 3.2 tcp_enter_loss forgets the undo marker if anything in flight was repeated before.
    for (stack, undos, state) in [("linux-3.2", 0, "loss"), ("linux-3.18", 1, "open")] {
        let c = without_probes_and_frto(stack);
        sender_with(c, OPEN).run_loosely(&format!(
            "
            200ms < ack 0 sack 1-5
            200ms > 0
            500ms > 0
            510ms < ack 5 ts 100ms     # the first transmission arrived after all
            510ms ? undos {undos} state {state}
            "
        ));
    }
}
