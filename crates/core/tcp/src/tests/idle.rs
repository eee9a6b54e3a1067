//! Idle and application-limited connections ([RFC 2861](https://www.rfc-editor.org/rfc/rfc2861),
//! [RFC 5681, section 4.1](https://www.rfc-editor.org/rfc/rfc5681#section-4.1)).

use super::script::{sender, sender_with, without_probes_and_frto};

const OPEN: &str = "
    0ms   connect
    0ms   > syn
    0ms   write 10
    100ms < synack ts 0ms
    100ms > 0..10
    200ms < ack 10
";

#[test]
fn idle_beyond_the_timeout_restarts_from_the_initial_window() {
    // 3.18: cwnd 20 after 10 packets. RTO = 100 + 200. Idle 1000 ms: 20 -> 10, the initial window; ssthresh 3/4 of 20.
    sender("reno", "linux-3.18", OPEN)
        .run("200ms ? cwnd 20\n1100ms write 20\n1100ms > 10..20\n1100ms ? cwnd 10 ssthresh 2147483647");
    // Shorter than the timeout: nothing happens.
    sender("reno", "linux-3.18", OPEN).run("390ms write 20\n390ms > 10..30\n390ms ? cwnd 20");
}

#[test]
fn the_window_halves_for_each_timeout_of_idleness() {
    // The window of 40 packets is halved once for each RTO of idle time after the first, as long as time is left.
    let open = "
        0ms   connect
        0ms   > syn
        0ms   write 30
        100ms < synack ts 0ms
        100ms > 0..10
        200ms < ack 10
        200ms > 10..30
        300ms < ack 30
        300ms ? cwnd 40
    ";
    // The RTO is 300 ms: SRTT is 100 ms, RTTVAR is at its floor of 200 ms. Of 400 ms idle time 100 ms are left: one
    // halving.
    sender("reno", "linux-3.18", open).run("600ms write 40\n600ms > 30..50\n600ms ? cwnd 20");
    // Of 850 ms idle time 550 ms and then 250 ms are left: two halvings.
    sender("reno", "linux-3.18", open).run("1050ms write 40\n1050ms > 30..40\n1050ms ? cwnd 10");
}

/// A connection that sends so many packets, one every 20 ms, each of which is acknowledged after 10 ms.
fn one_at_a_time(packets: u32) -> String {
    let mut script = "0ms connect\n0ms > syn\n100ms < synack ts 0ms\n100ms > ack 0\n".to_string();
    for n in 0..packets {
        let (t, back) = (100 + 20 * n, 110 + 20 * n);
        script += &format!("{t}ms write 1\n{t}ms > {n}\n{back}ms < ack {}\n", n + 1);
    }
    script
}

#[test]
fn an_unused_window_does_not_grow() {
    // With one packet at a time 3.2 does not grow at cwnd 10, as it would need a flight of at least 7.
    for stack in ["linux-3.2", "linux-3.18", "linux-6"] {
        sender("reno", stack, &(one_at_a_time(20) + "500ms ? cwnd 10"));
    }
}

#[test]
fn a_window_used_in_part_grows_to_twice_the_flight() {
    // 3.16 and later, slow start: cwnd < 2 x largest flight. 6 packets a round: 10 -> 12.
    for stack in ["linux-3.18", "linux-6"] {
        sender("reno", stack, "0ms connect\n0ms > syn\n100ms < synack ts 0ms\n100ms > ack 0").run(
            "
            100ms write 6
            100ms > 0..6
            200ms < ack 1
            200ms ? cwnd 11
            200ms < ack 2
            200ms ? cwnd 12
            200ms < ack 3
            200ms ? cwnd 12
            ",
        );
    }
}

#[test]
fn acks_keep_a_partly_used_window_alive() {
    // tcp_cong_avoid renews the time of the window even if it does not grow, so that it decays only after a timeout
    // without ACKs.
    let mut c = crate::testing::config("reno", "linux-3.2");
    c.initial_window = Some(30);
    sender_with(c, &(one_at_a_time(60) + "1300ms ? cwnd 30"));
}

#[test]
fn controllers_learn_of_idleness_beyond_the_timeout() {
    // By a policy of FreeBSD alpha has its initial value again.
    let mut c = crate::testing::config("dctcp", "linux-6");
    let shoal_cc::CcConfig::Dctcp(dctcp) = &mut c.cc else { panic!("not DCTCP") };
    dctcp.alpha_after_idle = shoal_cc::AlphaAfter::Reinitialise;
    let script = "
        0ms   connect
        0ms   > syn ece cwr ect0
        0ms   write 10
        100ms < synack ece ts 0ms
        100ms > 0..10 ect0
        200ms < ack 10
        200ms ? alpha 0.9375
        390ms write 1
        390ms > 10 ect0
        390ms ? alpha 0.9375
        490ms < ack 11
        490ms ? alpha 0.87890625
        900ms write 1
        900ms > 11 ect0
        900ms ? alpha 1
    ";
    sender_with(c, script);
}

#[test]
fn a_window_that_limited_once_counts_as_used_in_the_whole_round() {
    // 5.19 and later: cwnd stopped the first transmission (10 of 12 packets), so every ACK of this window counts,
    // though the flight is down to a few packets when the later ones come.
    let script = "
        0ms   connect
        0ms   > syn
        0ms   write 12
        100ms < synack ts 0ms
        100ms > 0..10
        200ms < ack 2
        200ms > 10..12
        200ms < ack 4
        200ms < ack 9
        200ms ? cwnd 19
    ";
    sender("reno", "linux-6", script);
}

#[test]
fn a_restart_remembers_three_quarters_of_the_window() {
    // After a restart ssthresh is max(ssthresh, 3/4 cwnd).
    let mut c = without_probes_and_frto("linux-6");
    c.initial_window = Some(4);
    let script = "
        0ms    connect
        0ms    > syn
        0ms    write 4
        100ms  < synack ts 0ms
        100ms  > 0..4
        400ms  > 0                     # ssthresh max(4/2, 2)
        500ms  < ack 4 ts 400ms        # 1 + 1 in slow start, then 2/2: 3
        500ms  ? cwnd 3 ssthresh 2 state open
        2000ms write 4                 # idle for more than the timeout: restart from min(4, 3)
        2000ms > 4..7
        2000ms ? cwnd 3 ssthresh 2     # 3/2 + 3/4 = 1: not more than 2
        2100ms < ack 7
        2100ms > 7
        2100ms ? cwnd 4                # 3 packets at cwnd 3: one step
        2200ms < ack 8
        4000ms write 4
        4000ms > 8..12
        4000ms ? cwnd 4 ssthresh 3     # 4/2 + 4/4
    ";
    sender_with(c, script);
}
