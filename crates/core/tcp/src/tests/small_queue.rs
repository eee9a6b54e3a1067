//! What waits in the sender's own host (TCP small queues).

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
