//! The DCTCP family end to end through the endpoint (claims A13 to A16).

use super::script::{sender, sender_with};
use crate::EndpointConfig;
use crate::testing::config;

const OPEN: &str = "
    0ms   connect
    0ms   > syn ece cwr ect0
    0ms   greedy
    100ms < synack ece ts 0ms
    100ms > 0..10 ect0
";

#[test]
fn mainline_reduces_proportionally_and_does_not_grow_in_cwr() {
    sender("dctcp", "linux-6", OPEN).run(
        "
        200ms < ack 2 ece              # window over: all 2 marked, alpha 1024 - 64 + 64;
                                       # ssthresh 10 - (10 x 1024 >> 11)
        200ms > 10 cwr ect0            # flight 8: ceil(5 x 2 / 10) = 1
        200ms ? cwnd 9 ssthresh 5 state cwr alpha 1
        200ms < ack 4
        200ms > 11 ect0
        200ms < ack 6
        200ms > 12 ect0
        200ms ? cwnd 7 cnt 0
        200ms < ack 8                  # flight 5: no room
        200ms < ack 10                 # 8 unmarked packets end the window: alpha 1024 - 64
        200ms > 13..15 ect0
        200ms ? cwnd 5 state cwr alpha 0.9375
        300ms < ack 11
        300ms > 15 ect0
        300ms ? cwnd 5 cnt 1 state open
        ",
    );
}

#[test]
fn stanford_cuts_at_once_and_slow_starts_one_packet_after() {
    // Claim A13: with ssthresh = cwnd the test cwnd <= ssthresh gives one packet too many after each episode.
    sender("dctcp-stanford", "linux-3.2", OPEN).run(
        "
        200ms ? alpha 0 cwnd 10
        200ms < ack 2 ece              # alpha 0 + (2 << 6) / 2 = 64; slow start first: 11; cut (11 x 64) >> 11 = 0
        200ms > 10 cwr ect0, 11..13 ect0
        200ms ? cwnd 11 ssthresh 11 state cwr alpha 0.0625 cnt 0
        200ms < ack 4 ece              # one cut a window, and no growth in CWR
        200ms > 13..15 ect0
        200ms < ack 6
        200ms > 15..17 ect0
        200ms < ack 8
        200ms > 17..19 ect0
        200ms < ack 10                 # 6 of 8 packets unmarked: 64 - 4 + (2 << 6) / 8 = 76
        200ms > 19..21 ect0
        200ms ? cwnd 11 cnt 0 state cwr alpha 0.07421875
        300ms < ack 12                 # still CWR when growth is decided
        300ms > 21..23 ect0
        300ms ? cwnd 11 state open
        300ms < ack 14                 # the bug: cwnd <= ssthresh
        300ms > 23..26 ect0
        300ms ? cwnd 12 ssthresh 11 cnt 0
        300ms < ack 16                 # from here on avoidance
        300ms > 26..28 ect0
        300ms ? cwnd 12 cnt 1
        ",
    );
}

#[test]
fn stanford_sets_cwnd_without_rate_halving() {
    // With alpha 1 half of the window is taken at once: 40 + 1 - (41 x 1024 >> 11) = 21. No packet is sent until 20
    // have left the network.
    let mut c = EndpointConfig { initial_window: Some(40), ..config("dctcp-stanford", "linux-3.2") };
    if let shoal_cc::CcConfig::Dctcp(dctcp) = &mut c.cc {
        dctcp.initial_alpha_q10 = 1024;
    }
    let open = OPEN.replace("0..10", "0..40");
    sender_with(c, &open).run(
        "
        200ms < ack 1 ece
        200ms ? cwnd 21 ssthresh 21 flight 39 state cwr
        200ms < ack 19
        200ms ? cwnd 21 flight 21
        200ms < ack 20
        200ms > 40 cwr ect0
        ",
    );
}

#[test]
fn ikr_trace() {
    // Claims A14 (growth in CWR, the counter is kept without a cut), A15 (alpha per ACK) and A16 (progressive cut from
    // the window at the start). ssthresh is cwnd - 1, which corrects A13. alpha in 2^-20, g = 2^-8; cut = floor(257
    // alpha / 2^21).
    let c = EndpointConfig { initial_window: Some(256), ..config("dctcp-ikr", "linux-3.2") };
    // The window of the SYN/ACK is not scaled: 65535 bytes. The next ACK opens it.
    let open = OPEN.replace("0..10", "0..45");
    sender_with(c, &open).run(
        "
        100ms < ack 0
        100ms > 45..256 ect0
        200ms < ack 1 ece              # slow start: 257; alpha 4096: cut 0
        200ms > 256 cwr ect0, 257 ect0
        200ms ? cwnd 257 ssthresh 256 state cwr alpha 0.00390625
        200ms < ack 2 ece              # counter 1; alpha 4096 - 16 + 4096 = 8176: cut 1, counter cleared
        200ms ? cwnd 256 ssthresh 255 cnt 0 alpha 0.0077972412109375
        200ms < ack 3 ece              # alpha 8176 - 31 + 4096 = 12241: cut 1, not lower; counter kept
        200ms > 258 ect0
        200ms ? cwnd 256 ssthresh 255 cnt 1
        200ms < ack 4 ece              # alpha 12241 - 47 + 4096 = 16290: cut 1
        200ms > 259 ect0
        200ms ? cwnd 256 cnt 2
        200ms < ack 5 ece              # alpha 16290 - 63 + 4096 = 20323: cut 2
        200ms ? cwnd 255 ssthresh 254 cnt 0
        200ms < ack 6                  # alpha 20323 - 79; growth in CWR
        200ms > 260 ect0
        200ms ? cwnd 255 cnt 1 state cwr alpha 0.019306182861328125
        300ms < ack 257                # end of the episode; cwnd > ssthresh, so no slow start
        300ms > 261..512 ect0
        300ms ? cwnd 255 cnt 2 state open reductions 1
        ",
    );
}

#[test]
fn the_first_dctcp_answers_loss_like_a_mark() {
    // 3.18 to 5.0 (claim A36): ssthresh by alpha. Here alpha is 1024 - 64 = 960 of 1024 after one unmarked
    // ACK: 11 - (11 x 960 >> 11) = 11 - 5 = 6; with RFC 8257 (https://www.rfc-editor.org/rfc/rfc8257) it
    // would be 5.
    sender("dctcp-linux-3.18", "linux-3.18", OPEN).run(
        "
        200ms < ack 1                  # 3.18 grows: 11
        200ms > 10..12 ect0
        200ms ? cwnd 11 alpha 0.9375
        201ms < ack 1 sack 5-6
        201ms > 1 ect0                 # FACK: 4 > 3 packets below the highest SACK; retransmissions are ECT too
        201ms ? ssthresh 6 state recovery
        ",
    );
}
