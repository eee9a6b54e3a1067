//! FreeBSD senders and ECN: congestion recovery, CWR, growth in it; claims A45 and A53.

use super::script::{sender, sender_with};
use crate::EndpointConfig;
use crate::testing::config;
use shoal_cc::{CcConfig, DctcpConfig};
use shoal_packet::{Flags, Packet};

/// Ten segments are out.
const OPEN: &str = "
    0ms   connect
    0ms   > syn ece cwr
    0ms   greedy
    100ms < synack ece
    100ms > 0..10 ect0
";

fn dctcp(stack: &str, change: impl FnOnce(&mut DctcpConfig)) -> EndpointConfig {
    let mut config = config("dctcp-freebsd", stack);
    let CcConfig::Dctcp(dctcp) = &mut config.cc else { panic!("DCTCP") };
    change(dctcp);
    config
}

#[test]
fn newreno_halves_once_a_round_trip_and_goes_on_by_two_segments() {
    sender("ecn-newreno", "freebsd-2015", OPEN).run(
        "
        200ms < ack 2 ece              # 10 / 2; no growth in congestion recovery, until 10 is acknowledged
        200ms ? cwnd 7240 ssthresh 7240 state cwr reductions 1
        200ms < ack 4 ece
        200ms < ack 6 ece              # the receiver repeats itself until it sees CWR
        200ms > 10 cwr ect0
        200ms < ack 8 ece
        200ms > 11..13 ect0
        ",
    );
}

#[test]
fn after_congestion_recovery_the_ack_of_two_segments_is_worth_two() {
    // Kato et al. 2015, section 3.2: cwnd = ssthresh is still slow start, so that the first ACK adds what it
    // acknowledges. A DCTCP receiver that acknowledges the data with CWR alone makes that one segment instead of two.
    let episode = "
        200ms < ack 2 ece
        200ms < ack 4 ece
        200ms < ack 6 ece
        200ms > 10 cwr ect0
        200ms < ack 8 ece
        200ms > 11 ect0, 12 ect0
        200ms < ack 10 ece             # covers the recovery point; still before CWR: no second cut
        200ms > 13 ect0, 14 ect0
        200ms ? cwnd 7240 state open reductions 1
    ";
    sender("ecn-newreno", "freebsd-2015", OPEN)
        .run(episode)
        .run_loosely("300ms < ack 12\n300ms ? cwnd 10136");
    sender("ecn-newreno", "freebsd-2015", OPEN).run(episode).run_loosely("300ms < ack 11\n300ms ? cwnd 8688");
}

#[test]
fn dctcp_cuts_at_once_in_whole_segments() {
    // Alpha 512/1024, updated only by the ACK itself: the signal comes first. 10 - 2.5 = 7.5 segments: 7. It grows at
    // once: cwnd = ssthresh is slow start, two segments.
    sender_with(dctcp("freebsd-2015", |dctcp| dctcp.initial_alpha_q10 = 512), OPEN).run(
        "
        200ms < ack 2 ece
        200ms ? cwnd 13032 ssthresh 10136 state cwr reductions 1
        200ms > 10 cwr ect0
        ",
    );
}

fn carries_cwr(packets: &[Packet]) -> bool {
    packets.iter().any(|packet| packet.flags.has(Flags::CWR))
}

#[test]
fn growth_in_an_episode_with_echo_equals_growth_without() {
    // Claim A53. With 10 segments and alpha 512/1024 the window is 7 after the cut and 9 by the slow start of the same
    // ACK. The next three ACKs of two segments count 3 * 2896 = 8688 B of the 13032 B that one segment of growth needs,
    // whether they carry ECN-Echo or not.
    let grown = |echo: bool, grows_in_cwr: bool| {
        let config = dctcp("freebsd-2015", |dctcp| {
            dctcp.initial_alpha_q10 = 512;
            dctcp.grows_in_cwr = grows_in_cwr;
        });
        let mut run = sender_with(config, OPEN);
        for (segment, ece) in [(2, true), (4, echo), (6, echo), (8, echo)] {
            run.acknowledge(segment, ece);
        }
        (run.sender().window().cwnd, run.sender().window().cwnd_cnt)
    };
    assert_eq!(grown(true, true), (9 * 1448, 8688));
    assert_eq!(grown(false, true), grown(true, true));
    // Without section 4.1 of that paper it stays where the cut put it.
    assert_eq!(grown(true, false), (7 * 1448, 0));
}

#[test]
fn without_cwr_a_classic_receiver_takes_the_window_to_its_minimum() {
    // Claim A45. Every ACK carries ECN-Echo, without end. Alpha by windows of data, all marked: 0 + 64, 64 - 4 + 64 =
    // 124, ... to 1024, where 1024 - 64 + 64 stays. The window goes down to two segments, and nothing carries CWR.
    let config = dctcp("freebsd-2015", |dctcp| {
        dctcp.sends_cwr = false;
        dctcp.grows_in_cwr = false;
    });
    let mut run = sender_with(config, OPEN);
    for segment in 1..=1000 {
        assert!(!carries_cwr(&run.acknowledge(segment, true)), "segment {segment}");
    }
    assert_eq!((run.sender().window().cwnd, run.sender().alpha()), (2 * 1448, Some(1.0)));
    assert!(run.sender().counters().cwr_reductions > 100);
}

#[test]
fn cwr_stops_the_echo_of_a_classic_receiver() {
    // Claim A45 with Kato et al. 2015, section 3.1: one cut for the whole round trip, and the data that carries CWR is
    // the first sent after it.
    sender_with(dctcp("freebsd-2015", |dctcp| dctcp.initial_alpha_q10 = 512), OPEN).run(
        "
        200ms < ack 2 ece
        200ms > 10 cwr ect0
        200ms < ack 4 ece
        200ms > 11..13 ect0
        200ms < ack 6 ece
        200ms > 13..15 ect0
        200ms < ack 8 ece
        200ms > 15..17 ect0
        200ms < ack 10 ece
        200ms > 17..19 ect0
        200ms ? reductions 1 state open
        300ms < ack 12                 # the receiver has seen CWR
        300ms > 19..22 ect0
        300ms ? reductions 1
        ",
    );
}

#[test]
fn the_echo_of_the_data_with_cwr_counts_in_14() {
    // In 2015 it belongs to the episode; in 14 a mark on that very data begins the next one (SEQ_GEQ(th_ack,
    // snd_recover)).
    for (stack, reductions) in [("freebsd-2015", 1), ("freebsd-14", 2)] {
        let mut run = sender("ecn-newreno", stack, OPEN);
        let sent = [2, 4, 6, 8, 9].map(|segment| run.acknowledge(segment, true));
        assert_eq!(sent.iter().filter(|sent| carries_cwr(sent)).count(), 1, "{stack}: segment 10 carries it");
        run.acknowledge(12, true);
        assert_eq!(run.sender().counters().cwr_reductions, reductions, "{stack}");
    }
}

#[test]
fn an_ecn_episode_is_spread_by_prr() {
    // In 14 ssthresh is 5 segments. First ACK: 10 in the pipe, 2 delivered: ceil(2 * 5 / 10) = 1 goes out, so cwnd
    // = 10 - 2 + 1 = 9, not 5. Then 4 delivered: 2 - 1 sent = 1: 9 - 2 + 1 = 8 ...
    sender("ecn-newreno", "freebsd-14", OPEN).run(
        "
        200ms < ack 2 ece
        200ms > 10 cwr ect0
        200ms ? cwnd 13032 ssthresh 7240 state cwr
        200ms < ack 4 ece
        200ms > 11 ect0
        200ms ? cwnd 11584
        200ms < ack 6 ece              # pipe 8: ceil(6 / 2) - 2 = 1: 8 - 2 + 1
        200ms > 12 ect0
        200ms ? cwnd 10136
        200ms < ack 8 ece              # pipe 7: 4 - 3 = 1: 7 - 2 + 1
        200ms > 13 ect0
        200ms ? cwnd 8688
        200ms < ack 10 ece             # pipe 6: 5 - 4 = 1; the recovery point is one byte further
        200ms > 14 ect0
        200ms ? cwnd 7240 state cwr reductions 1
        300ms < ack 12                 # over: cwnd = ssthresh is slow start; in the episode still, so no growth
        300ms > 15..17 ect0
        300ms ? cwnd 7240 state open
        ",
    );
}

#[test]
fn retransmissions_are_not_ect_but_may_carry_cwr_in_2015() {
    // The timeout at 3.1 s. DCTCP announces it by CWR: 2015 on the retransmission, 14 (1.1 s) on the next new data.
    sender("dctcp-freebsd", "freebsd-2015", OPEN).run("3100ms > 0 cwr");
    sender("dctcp-freebsd-14", "freebsd-14", OPEN).run(
        "
        1100ms > 0
        1200ms < ack 10
        1200ms > 10 cwr ect0, 11 ect0
        ",
    );
    // NewReno of 2015 does not announce it.
    sender("ecn-newreno", "freebsd-2015", OPEN).run("3100ms > 0\n3200ms < ack 10\n3200ms > 10..12 ect0");
}

#[test]
fn without_ecn_in_the_answer_dctcp_is_newreno() {
    let script =
        sender("dctcp-freebsd", "freebsd-2015", &OPEN.replace("synack ece", "synack").replace(" ect0", ""));
    assert_eq!((script.sender().uses_ecn(), script.sender().alpha()), (false, None));
}

#[test]
fn the_second_syn_asks_for_ecn_too_the_third_does_not() {
    // net.inet.tcp.ecn.maxretries = 1. 2015: 3 s, then 3.2 s; the initial window after a lost SYN is one segment.
    sender("ecn-newreno", "freebsd-2015", "").run(
        "
        0ms    connect
        0ms    > syn ece cwr
        0ms    greedy
        3000ms > syn ece cwr
        6200ms > syn
        6300ms < synack ece
        6300ms > 0 ect0
        6300ms ? cwnd 1448
        ",
    );
}

#[test]
fn an_echo_on_the_ack_that_shows_a_spurious_timeout() {
    // CC_ECN comes before CC_RTO_ERR: cwnd and snd_recover are those of before the timeout, so the reduction is taken
    // back; but congestion recovery, once entered, is left only after this ACK was counted, so that cwnd does not grow
    // with it.
    let opened = "
        0ms   connect
        0ms   > syn ece cwr
        0ms   greedy
        100ms < synack ece ts 0ms
        100ms > 0..10 ect0
        603ms > 0
        603ms ? cwnd 1448 timeouts 1
    ";
    for (echo, window) in [("", "17376"), ("ece", "14480")] {
        sender_with(config("ecn-newreno", "freebsd-2015"), opened)
            .run_loosely(&format!("650ms < ack 10 {echo} ts 100ms\n650ms ? cwnd {window} undos 1"));
    }
}
