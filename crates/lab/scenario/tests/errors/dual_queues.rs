//! Dual and coupled queues that cannot be.

use super::{errors, warnings};

#[test]
fn a_coupled_queue_without_a_slope() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "coupled"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: missing saturation, or reno_slope
     --> demo.toml:7:13
      |
    7 | [bottleneck.aqm]
      |             ^^^
    hint: as in saturation = "100 ms" (natural units) or reno_slope = 3 (the slides' integers)
    "#);
}

#[test]
fn a_slope_in_both_forms() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualq-coupled"
saturation = "100 ms"
reno_slope = 3

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: saturation excludes reno_slope
      --> demo.toml:10:14
       |
    10 | reno_slope = 3
       |              ^
    hint: keep one of them
    ");
}

#[test]
fn integers_beside_a_saturation() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "coupled"
saturation = "100 ms"
dctcp_slope = 3
slope_unit = "1 us"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: dctcp_slope needs reno_slope
      --> demo.toml:10:15
       |
    10 | dctcp_slope = 3
       |               ^
    hint: remove it, or replace saturation

    error: slope_unit needs reno_slope
      --> demo.toml:11:14
       |
    11 | slope_unit = "1 us"
       |              ^^^^^^
    hint: remove it, or replace saturation
    "#);
}

#[test]
fn a_coupling_factor_beside_integers() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualq-coupled"
reno_slope = 3
coupling = 8

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: coupling needs saturation
      --> demo.toml:10:12
       |
    10 | coupling = 8
       |            ^
    hint: the difference of the slopes says it: k = 2^(dctcp_slope - reno_slope)
    ");
}

#[test]
fn a_coupling_factor_of_zero() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "coupled"
saturation = "100 ms"
coupling = 0

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: a coupling factor of 0
      --> demo.toml:10:12
       |
    10 | coupling = 0
       |            ^
    hint: write a number above 0, at most 1000, as in 1.63 (one queue) or 8 (two)
    ");
}

#[test]
fn a_saturation_of_nothing() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "coupled"
saturation = "0 ms"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `0 ms` does not make a slope
     --> demo.toml:9:14
      |
    9 | saturation = "0 ms"
      |              ^^^^^^
    hint: write an amount above zero, as in "100 ms"
    "#);
}

#[test]
fn an_unlimited_unit() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "coupled"
reno_slope = 1
slope_unit = "unlimited"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `unlimited` does not make a slope
      --> demo.toml:10:14
       |
    10 | slope_unit = "unlimited"
       |              ^^^^^^^^^^^
    hint: write an amount above zero, as in "1 ns"
    "#);
}

#[test]
fn a_shift_beyond_the_random_number() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualq-coupled"
reno_slope = 30

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: reno_slope = 30 makes dctcp_slope 33, which is out of range
     --> demo.toml:9:14
      |
    9 | reno_slope = 30
      |              ^^
    hint: write reno_slope from 0 to 28, or add dctcp_slope, from 0 to 31
    ");
}

#[test]
fn a_slope_is_blamed_only_once_and_by_its_own_name() {
    for (kind, most) in [("coupled", 30), ("dualq-coupled", 28)] {
        let text = |slopes: &str| {
            format!(
                "duration = \"10 s\"\nbottleneck = {{ rate = \"10 Mbit/s\", aqm = {{ kind = \"{kind}\", {slopes} }} }}\n\
                 flows = [{{ cc = \"reno\", rtt = \"25 ms\" }}]\n"
            )
        };
        let found = errors(&text("reno_slope = 33"), &[]);
        assert!(found.starts_with("error: reno_slope = 33 is out of range\n"), "{found}");
        assert!(!found.contains("dctcp_slope"), "{found}");
        let found = errors(&text("reno_slope = 31"), &[]);
        assert!(found.contains(&format!("write reno_slope from 0 to {most}, or add dctcp_slope")), "{found}");
        let found = errors(&text("reno_slope = 3, dctcp_slope = 32"), &[]);
        assert!(found.starts_with("error: dctcp_slope = 32 is out of range\n"), "{found}");
        assert_eq!(found.matches("error: ").count(), 1, "{found}");
    }
}

#[test]
fn weights_without_their_scheduler() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualq-coupled"
saturation = "100 ms"
classic_percent = 10
shift = "40 ms"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: classic_percent needs scheduler = "weighted"
      --> demo.toml:10:19
       |
    10 | classic_percent = 10
       |                   ^^
    hint: remove it, or change the scheduler

    error: shift needs scheduler = "time-shifted"
      --> demo.toml:11:9
       |
    11 | shift = "40 ms"
       |         ^^^^^^^
    hint: remove it, or change the scheduler
    "#);
}

#[test]
fn a_share_above_all() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualq-coupled"
saturation = "100 ms"
scheduler = "weighted"
classic_percent = 101

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: a share of 101 %
      --> demo.toml:11:19
       |
    11 | classic_percent = 101
       |                   ^^^
    hint: write a whole number from 0 to 100, as in 10
    ");
}

#[test]
fn a_low_latency_threshold_above_the_buffer() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualq-coupled"
saturation = "100 ms"
threshold = "200 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the threshold 200 packets is above the buffer of 100 packets
      --> demo.toml:10:13
       |
    10 | threshold = "200 packets"
       |             ^^^^^^^^^^^^^
    hint: raise the buffer or lower the threshold
    "#);
}

#[test]
fn gains_and_coupling_out_of_range() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualpi2"
alpha = -1
beta = 1e9
coupling = 256

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: a gain of -1 Hz
     --> demo.toml:9:9
      |
    9 | alpha = -1
      |         ^^
    hint: write a number from 0 to 8388607, as in 0.16

    error: a gain of 1000000000 Hz
      --> demo.toml:10:8
       |
    10 | beta = 1e9
       |        ^^^
    hint: write a number from 0 to 8388607, as in 0.16

    error: a coupling factor of 256
      --> demo.toml:11:12
       |
    11 | coupling = 256
       |            ^^^
    hint: write a whole number from 1 to 255, as in 2
    ");
}

#[test]
fn times_that_tc_cannot_pass() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualpi2"
target = "1 ns"
tupdate = "0 s"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a target of 1 ns
     --> demo.toml:9:10
      |
    9 | target = "1 ns"
      |          ^^^^^^
    hint: write whole microseconds from 0 us to 4 s, as in "16 ms"

    error: a tupdate of 0 s
      --> demo.toml:10:11
       |
    10 | tupdate = "0 s"
       |           ^^^^^
    hint: write whole microseconds from 1 us to 4 s, as in "16 ms"
    "#);
}

#[test]
fn a_step_in_bytes() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualpi2"
step_threshold = "3000 B"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a step threshold of 3000 B
     --> demo.toml:9:18
      |
    9 | step_threshold = "3000 B"
      |                  ^^^^^^^^
    hint: write a time or packets, as in "1 ms" or "5 packets"
    "#);
}

#[test]
fn a_ramp_beside_a_step() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualpi2"
ramp_min = "1 ms"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: ramp_min needs native = "ramp"
     --> demo.toml:9:12
      |
    9 | ramp_min = "1 ms"
      |            ^^^^^^
    hint: remove it, or change native
    "#);
}

#[test]
fn a_step_beside_a_ramp_on_arrival() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dualpi2"
native = "ramp"
decide = "enqueue"
min_qlen_step = 1

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a ramp decides on departure
      --> demo.toml:10:10
       |
    10 | decide = "enqueue"
       |          ^^^^^^^^^
    hint: the wait that the ramp looks at is known on departure: decide = "dequeue"

    error: min_qlen_step needs native = "step"
      --> demo.toml:11:17
       |
    11 | min_qlen_step = 1
       |                 ^
    hint: remove it, or change native
    "#);
}

#[test]
fn a_pi2_without_coupling() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "pi2"
coupling = 0
tupdate = "5 s"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a coupling factor of 0
     --> demo.toml:9:12
      |
    9 | coupling = 0
      |            ^
    hint: write a whole number from 1 to 255, as in 2

    error: a tupdate of 5 s
      --> demo.toml:10:11
       |
    10 | tupdate = "5 s"
       |           ^^^^^
    hint: write whole microseconds from 1 us to 4 s, as in "16 ms"
    "#);
}

#[test]
fn a_gain_that_rounds_to_nothing() {
    insta::assert_snapshot!(warnings(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "pi2"
alpha = 0.05

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    warning: a gain of 0.05 Hz counts as 0
     --> demo.toml:9:9
      |
    9 | alpha = 0.05
      |         ^^^^
    hint: write at least 0.0625
    ");
}
