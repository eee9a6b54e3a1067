//! Quantities that are not written as quantities.

use super::errors;

#[test]
fn a_rate_as_tc_writes_it() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10mbit"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `10mbit` is not written as a quantity
     --> demo.toml:4:8
      |
    4 | rate = "10mbit"
      |        ^^^^^^^^
    hint: write "10 Mbit/s"
    "#);
}

#[test]
fn a_rate_without_unit() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = 10
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a rate needs a unit
     --> demo.toml:4:8
      |
    4 | rate = 10
      |        ^^
    hint: write a string, as in "10 Mbit/s"
    "#);
}

#[test]
fn a_time_as_a_rate() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 ms"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `10 ms` is a time, not a rate
     --> demo.toml:4:8
      |
    4 | rate = "10 ms"
      |        ^^^^^^^
    hint: units here: bit/s, kbit/s, Mbit/s, Gbit/s, or "unlimited"; as in "10 Mbit/s"
    "#);
}

#[test]
fn a_negative_time() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "-25 ms"
"#, &[]), @r#"
    error: `-25 ms` is negative
     --> demo.toml:9:7
      |
    9 | rtt = "-25 ms"
      |       ^^^^^^^^
    hint: a time is never negative
    "#);
}

#[test]
fn nan() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = nan
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a rate needs a unit
     --> demo.toml:4:8
      |
    4 | rate = nan
      |        ^^^
    hint: write a string, as in "10 Mbit/s"
    "#);
}

#[test]
fn not_a_number_in_a_probability() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "red"
min = "10 packets"
max = "30 packets"
max_probability = nan
weight = inf

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: NaN is not a usable number
      --> demo.toml:11:19
       |
    11 | max_probability = nan
       |                   ^^^
    hint: write a finite number

    error: inf is not a usable number
      --> demo.toml:12:10
       |
    12 | weight = inf
       |          ^^^
    hint: write a finite number
    ");
}

#[test]
fn a_fraction_of_a_byte() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
mtu = "1500.5 B"
"#, &[]), @r#"
    error: `1500.5 B` is not a whole number of bytes
      --> demo.toml:10:7
       |
    10 | mtu = "1500.5 B"
       |       ^^^^^^^^^^
    hint: for example "1500 B"
    "#);
}

#[test]
fn an_unlimited_time() {
    insta::assert_snapshot!(errors(r#"duration = "unlimited"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: a time cannot be unlimited
     --> demo.toml:1:12
      |
    1 | duration = "unlimited"
      |            ^^^^^^^^^^^
    hint: write a number and a unit, as in "25 ms"
    "#);
}

#[test]
fn too_long_a_threshold() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "step"
threshold = "2000000 s"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `2000000 s` is too long
     --> demo.toml:9:13
      |
    9 | threshold = "2000000 s"
      |             ^^^^^^^^^^^
    hint: at most "1000000 s"; for example "1 ms"
    "#);
}
