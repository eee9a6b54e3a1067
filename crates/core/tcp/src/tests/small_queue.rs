//! What waits in the sender's own host (TCP small queues), and what it refuses.

use super::script::sender_with;
use crate::testing::config;
use crate::{EndpointConfig, Offload};

#[test]
fn retransmissions_do_not_wait_for_the_card() {
    let config = EndpointConfig { offload: Some(Offload::LINUX), ..config("reno", "linux-6") };
    let script = "
        0ms   connect
        0ms   > syn
        0ms   greedy
        0ms   card 900ms               # it sends nothing before
        100ms < synack ts 0ms
        100ms > ack 0
        100ms > 0..4                   # two segments of two packets, the least that TCP gives a slow card
        200ms < ack 0 sack 1-4
        200ms > 0                      # is lost, and leaves, though new data wait
        250ms ? state recovery
    ";
    sender_with(config, script);
}

/// Reno on a host that segments: ten packets are out, and the host takes 3000 bytes more.
fn crowded(script: &str) -> String {
    format!(
        "
        0ms   connect
        0ms   > syn
        0ms   greedy
        100ms < synack ts 0ms
        100ms > ack 0
        100ms > 0..10
        150ms room 3000
        {script}
        "
    )
}

#[test]
fn what_the_host_refuses_stays_with_tcp() {
    let config = EndpointConfig { offload: Some(Offload::LINUX), ..config("reno", "linux-6") };
    // Four packets may be sent, in segments of two. There is no room for the second: it stays, and CWR begins.
    sender_with(
        config,
        &crowded(
            "
            200ms < ack 2
            200ms > 10..12
            200ms ? state cwr ssthresh 6 cwnd 12 flight 10 reductions 1
            201ms room 100000
            201ms < ack 3              # PRR: ceil(6 x 1 / 12), of which two have left
            202ms < ack 8              # flight 4: up to ssthresh
            202ms > 12..14
            202ms ? state cwr flight 6 cwnd 6
            ",
        ),
    );
}

#[test]
fn a_refused_retransmission_is_tried_again() {
    let config = EndpointConfig { offload: Some(Offload::LINUX), ..config("reno", "linux-6") };
    sender_with(
        config,
        &crowded(
            "
            150ms room 0
            200ms < ack 0 sack 1-4
            200ms ? state recovery losses 1 flight 6
            210ms < ack 0 sack 1-5
            220ms room 100000
            220ms < ack 0 sack 1-6
            220ms > 0
            ",
        ),
    );
}

#[test]
fn a_host_that_takes_nothing_is_asked_again_after_the_timeout() {
    let config = EndpointConfig { offload: Some(Offload::LINUX), ..config("reno", "linux-6") };
    // Nothing is in flight: TCP waits for the retransmission timeout of 300 ms, as for a probe of a closed window.
    let script = "
        0ms   connect
        0ms   > syn
        0ms   greedy
        50ms  room 0
        100ms < synack ts 0ms
        100ms > ack 0
        150ms room 100000
        400ms > 0..10
    ";
    sender_with(config, script);
}
