//! FreeBSD: windows to the byte, appropriate byte counting
//! ([RFC 3465](https://www.rfc-editor.org/rfc/rfc3465)), idle periods, small segments.

use super::script::{sender, sender_with};
use crate::EndpointConfig;
use crate::testing::config;

/// Ten segments of 1448 B are out; the initial window is 14480 B. Without timestamps no RTT is known, so that the
/// timeout stays at its initial 3 s.
const OPEN: &str = "
    0ms   connect
    0ms   > syn
    0ms   greedy
    100ms < synack
    100ms > 0..10
    100ms ? cwnd 14480
";

#[test]
fn slow_start_counts_bytes_up_to_two_segments_an_ack() {
    for stack in ["freebsd-2015", "freebsd-14"] {
        sender("ecn-newreno", stack, "").run(&OPEN.replace("syn\n", "syn ece cwr\n")).run(
            "
            200ms < ack 2              # + 2896 B
            200ms > 10..14
            200ms ? cwnd 17376
            200ms < ack 6              # four segments count as two
            200ms > 14..20
            200ms ? cwnd 20272
            200ms < ack 7              # one is one
            200ms > 20..22
            200ms ? cwnd 21720
            ",
        );
    }
}

#[test]
fn avoidance_takes_a_window_of_bytes_for_a_segment() {
    // After the timeout at 3.1 s ssthresh is 5 segments. Slow start goes 1 -> 2 -> 3 ... (one segment an ACK until
    // everything is repaired); above ssthresh 2015 counts at most two segments an ACK, 14 all of them.
    let repaired = "
        3200ms < ack 10
        3200ms > 10, 11
        3200ms ? cwnd 2896 ssthresh 7240
        3300ms < ack 12                # 2 <= 5 segments: + 2
        3300ms > 12..16
        3400ms < ack 14                # 4 <= 5: 6
        3400ms > 16..20
        3400ms ? cwnd 8688 cnt 0
    ";
    let open = OPEN.replace("syn\n", "syn ece cwr\n");
    sender("ecn-newreno", "freebsd-2015", &open).run("3100ms > 0").run(repaired).run(
        "
        3500ms < ack 17                # 3 segments count as 2896 B
        3500ms > 20..23
        3500ms ? cwnd 8688 cnt 2896
        3500ms < ack 20                # 5792
        3500ms > 23..26
        3500ms < ack 21                # 7240
        3500ms > 26
        3500ms < ack 22                # 8688 >= cwnd: one segment more, 0 left
        3500ms > 27, 28
        3500ms ? cwnd 10136 cnt 0
        ",
    );
    // 14: an initial timeout of 1 s. 3 + 4 segments are 10136 B: one step, 1448 B left.
    let earlier =
        repaired.replace("3200ms", "1200ms").replace("3300ms", "1300ms").replace("3400ms", "1400ms");
    sender("ecn-newreno", "freebsd-14", &open).run("1100ms > 0").run(&earlier).run(
        "
        1500ms < ack 17
        1500ms > 20..23
        1500ms ? cwnd 8688 cnt 4344
        1500ms < ack 21                # 10136 B
        1500ms > 23..28
        1500ms ? cwnd 10136 cnt 1448
        ",
    );
}

#[test]
fn a_part_of_a_segment_is_not_sent() {
    // Alpha 100/1024: 10 segments less (14480 * 100 >> 11 = 707) are 13773 B; slow start adds 2896 B: 16669 B are 11
    // segments and 741 B.
    let mut config = config("dctcp-freebsd-14", "freebsd-2015");
    let shoal_cc::CcConfig::Dctcp(dctcp) = &mut config.cc else { panic!("DCTCP") };
    dctcp.initial_alpha_q10 = 100;
    sender_with(
        config,
        &OPEN
            .replace("syn\n", "syn ece cwr\n")
            .replace("synack", "synack ece")
            .replace("0..10", "0..10 ect0"),
    )
    .run(
        "
        200ms < ack 10 ece
        200ms > 10 cwr ect0, 11..21 ect0
        200ms ? cwnd 16669 ssthresh 13773
        ",
    );
}

#[test]
fn small_segments_leave_at_once() {
    sender("ecn-newreno", "freebsd-2015", "0ms connect\n0ms > syn ece cwr\n100ms < synack\n100ms > ack 0")
        .run(
            "
        100ms bytes 100
        100ms > 0:100
        101ms bytes 50
        101ms > 0+100:50
        ",
        );
}

#[test]
fn idle_restarts_from_four_segments_or_the_initial_window() {
    // RTT 100 ms by the SYN: timeout 503 ms. Twelve segments go out, all is acknowledged at 300 ms; 700 ms of silence.
    let script = "
        0ms   connect
        0ms   > syn ece cwr
        0ms   write 14
        100ms < synack ts 0ms
        100ms > 0..10
        200ms < ack 10 ts 100ms        # two segments more
        200ms > 10..14
        300ms < ack 14 ts 200ms
        300ms ? cwnd 20272
    ";
    // 2015: min(4 MSS, max(2 MSS, 4380)) = 4380 B; three whole segments and 36 B, which wait.
    sender("ecn-newreno", "freebsd-2015", script).run(
        "
        1000ms greedy
        1000ms > 14..17
        1000ms ? cwnd 4380
        ",
    );
    // 14: the initial window, ssthresh raised to 3/4 of 20272.
    sender("ecn-newreno", "freebsd-14", script).run(
        "
        1000ms greedy
        1000ms > 14..24
        1000ms ? cwnd 14480
        ",
    );
    // Shorter than the timeout: the whole window.
    sender("ecn-newreno", "freebsd-2015", script).run("700ms greedy\n700ms > 14..28\n700ms ? cwnd 20272");
}

#[test]
fn the_window_grows_whether_used_or_not() {
    // CCF_CWND_LIMITED compares cwnd with the peer's window only: it also grows with an application that sends little.
    let script = "
        0ms   connect
        0ms   > syn ece cwr
        100ms < synack
        100ms > ack 0
        100ms write 1
        100ms > 0
        200ms < ack 1
        200ms ? cwnd 15928
    ";
    sender("ecn-newreno", "freebsd-2015", script);
    // It does not grow beyond the peer's window: 14480 B > 10000 B.
    let small = EndpointConfig { receive_window_bytes: 10_000, ..config("ecn-newreno", "freebsd-2015") };
    sender_with(small, script.replace("15928", "14480").as_str());
}
