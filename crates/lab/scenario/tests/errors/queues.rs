//! Queues that cannot be.

use super::errors;

#[test]
fn a_threshold_above_the_buffer() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "step"
threshold = "200 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the threshold 200 packets is above the buffer of 100 packets
     --> demo.toml:9:13
      |
    9 | threshold = "200 packets"
      |             ^^^^^^^^^^^^^
    hint: raise the buffer or lower the threshold
    "#);
}

#[test]
fn a_min_above_max() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "red"
min = "30 packets"
max = "10 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: min 30 packets is above max 10 packets
     --> demo.toml:9:7
      |
    9 | min = "30 packets"
      |       ^^^^^^^^^^^^
    hint: swap them, or raise max
    "#);
}

#[test]
fn a_probability_above_one() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "red"
min = "10 packets"
max = "30 packets"
max_probability = 1.5

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: a probability of 1.5
      --> demo.toml:11:19
       |
    11 | max_probability = 1.5
       |                   ^^^
    hint: write a number from 0 to 1, as in 0.1
    ");
}

#[test]
fn a_weight_of_zero() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "red"
min = "10 packets"
max = "30 packets"
weight = 0

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: a weight of 0
      --> demo.toml:11:10
       |
    11 | weight = 0
       |          ^
    hint: write a number above 0, at most 1, as in 0.002
    ");
}

#[test]
fn an_unlimited_red_threshold() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "red"
min = "10 packets"
max = "unlimited"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: RED needs a finite threshold
      --> demo.toml:10:7
       |
    10 | max = "unlimited"
       |       ^^^^^^^^^^^
    hint: as in "0.5 BDP"
    "#);
}

#[test]
fn a_threshold_and_a_slope() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dual-red"
reno.min = "10 packets"
reno.max = "30 packets"
dctcp.threshold = "20 packets"
dctcp.weight = 0.1

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a threshold excludes min, max, max_probability, weight and gentle
      --> demo.toml:11:19
       |
    11 | dctcp.threshold = "20 packets"
       |                   ^^^^^^^^^^^^
    hint: keep threshold, or min and max
    "#);
}

#[test]
fn neither_threshold_nor_slope() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dual-red"
reno.min = "10 packets"
reno.max = "30 packets"
dctcp.min = "20 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: missing max
      --> demo.toml:11:1
       |
    11 | dctcp.min = "20 packets"
       | ^^^^^
    hint: as in dctcp.threshold = "0.67 BDP", or dctcp.min = "0.5 BDP" and dctcp.max = "2.5 BDP"
    "#);
}

#[test]
fn a_linux_red_maximum_above_its_limit() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "linux-red"
limit = "60 kB"
min = "30 kB"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: max of 90000 B is above the limit of 60000 B
     --> demo.toml:7:13
      |
    7 | [bottleneck.aqm]
      |             ^^^
    hint: raise limit (or the buffer), or lower max
    ");
}

#[test]
fn harddrop_without_ecn() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "linux-red"
min = "10 kB"
harddrop = true
kernel = "new"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: harddrop needs ecn
      --> demo.toml:10:12
       |
    10 | harddrop = true
       |            ^^^^
    hint: add ecn = true

    error: `new` is not a kernel version
      --> demo.toml:11:10
       |
    11 | kernel = "new"
       |          ^^^^^
    hint: as in "3.2" or "6.12"
    "#);
}

#[test]
fn bursts_without_a_length() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"
aqm = { kind = "open-loop", mark = 0.1, spacing = "bursts", on = "0 s" }

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: bursts need a time above zero
     --> demo.toml:6:66
      |
    6 | aqm = { kind = "open-loop", mark = 0.1, spacing = "bursts", on = "0 s" }
      |                                                                  ^^^^^
    hint: write how long all packets are hit, as in on = "8 ms"
    "#);
}

#[test]
fn a_length_of_bursts_without_bursts() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"
aqm = { kind = "open-loop", drop = 1.5, on = "8 ms" }

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a probability of 1.5
     --> demo.toml:6:36
      |
    6 | aqm = { kind = "open-loop", drop = 1.5, on = "8 ms" }
      |                                    ^^^
    hint: write a number from 0 to 1, as in 0.1

    error: on needs spacing = "bursts"
     --> demo.toml:6:46
      |
    6 | aqm = { kind = "open-loop", drop = 1.5, on = "8 ms" }
      |                                              ^^^^^^
    hint: remove it, or change the spacing
    "#);
}
