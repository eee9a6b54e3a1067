//! Allowed, but probably not as meant.

use super::warnings;

#[test]
fn dctcp_without_ecn() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "dctcp"
rtt = "25 ms"
ecn = "off"
"#, &[]), @r#"
    warning: dctcp needs ECN
      --> demo.toml:10:7
       |
    10 | ecn = "off"
       |       ^^^^^
    hint: without ECN the stack runs Reno instead; write ecn = "on"
    "#);
}

#[test]
fn an_ambiguous_bdp() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "2 BDP"

[[flows]]
cc = "reno"
rtt = "25 ms"

[[flows]]
cc = "cubic"
rtt = "50 ms"
"#, &[]), @r#"
    warning: the unit BDP takes the rtt of the first group, 25 ms; this group has another one
      --> demo.toml:13:7
       |
    13 | rtt = "50 ms"
       |       ^^^^^^^
    hint: say which one is meant: bottleneck.bdp_rtt = "25 ms"
    "#);
}

#[test]
fn a_million_flows() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
count = 1000000
"#, &[]), @r"
    warning: 1000000 flows take about 1954 MiB of memory
      --> demo.toml:10:9
       |
    10 | count = 1000000
       |         ^^^^^^^
    hint: about 2 KiB a flow, and time in proportion to their packets
    ");
}

#[test]
fn starts_after_the_end() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
count = 3
start = { every = "5 s" }
"#, &[]), @r#"
    warning: some flows start after the end of the run
      --> demo.toml:11:1
       |
    11 | start = { every = "5 s" }
       | ^^^^^
    hint: the duration is 10 s
    "#);
}

#[test]
fn hosts_without_rate() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"

[topology]
kind = "dumbbell"
hosts = 3
"#, &[]), @r"
    warning: host pairs make no difference while their links are pure delay
      --> demo.toml:13:9
       |
    13 | hosts = 3
       |         ^
    hint: add access_rate, or leave hosts out
    ");
}

#[test]
fn a_threshold_that_may_be_above_the_buffer() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "step"
threshold = "200 kB"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    warning: the threshold 200 kB is above the buffer of 100 packets if packets have 1500 B
     --> demo.toml:9:13
      |
    9 | threshold = "200 kB"
      |             ^^^^^^^^
    hint: raise the buffer or lower the threshold
    "#);
}

#[test]
fn a_step_that_marks_nothing() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "step"
threshold = "unlimited"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    warning: an unlimited threshold marks nothing
     --> demo.toml:9:13
      |
    9 | threshold = "unlimited"
      |             ^^^^^^^^^^^
    hint: this is a fifo
    "#);
}

#[test]
fn feedback_without_ecn() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
receiver = { feedback = "dctcp" }
rtt = "25 ms"
"#, &[]), @r#"
    warning: without ECN there is no feedback
     --> demo.toml:9:25
      |
    9 | receiver = { feedback = "dctcp" }
      |                         ^^^^^^^
    hint: write ecn = "on" beside receiver
    "#);
}

#[test]
fn a_delay_that_changes_nothing() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "ecn-newreno"
stack = "freebsd-2015"
receiver = { feedback = "classic", delays_cwr_acks = true }
rtt = "25 ms"
"#, &[]), @r#"
    warning: classic feedback delays those acknowledgements anyway
      --> demo.toml:10:54
       |
    10 | receiver = { feedback = "classic", delays_cwr_acks = true }
       |                                                      ^^^^
    hint: it matters with feedback = "dctcp", which acknowledges changes at once
    "#);
}
