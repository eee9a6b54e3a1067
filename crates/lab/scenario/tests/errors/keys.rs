//! Unknown, missing and misplaced keys.

use super::errors;

#[test]
fn an_unknown_key_near_a_known_one() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "step"
treshold = "20 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: unknown key `treshold`
     --> demo.toml:9:1
      |
    9 | treshold = "20 packets"
      | ^^^^^^^^
    hint: did you mean `threshold`?
    "#);
}

#[test]
fn an_unknown_key_near_none() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
colour = "red"
"#, &[]), @r#"
    error: unknown key `colour`
      --> demo.toml:10:1
       |
    10 | colour = "red"
       | ^^^^^^
    hint: known keys here: name, cc, cc_options, stack, host, receiver, ecn, rtt, count, start, stop, app, mtu, header_bytes, sack, delayed_ack, initial_window, receive_window, cwnd_clamp, from, to, pairing, via, via_back
    "#);
}

#[test]
fn an_unknown_section() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"

[botleneck2]
x = 1
"#, &[]), @r"
    error: unknown key `botleneck2`
      --> demo.toml:11:2
       |
    11 | [botleneck2]
       |  ^^^^^^^^^^
    hint: did you mean `bottleneck`?
    ");
}

#[test]
fn a_key_of_another_kind() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "fifo"
weight = 0.002

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `weight` is no key of kind "fifo"
     --> demo.toml:9:1
      |
    9 | weight = 0.002
      | ^^^^^^
    hint: it belongs to red
    "#);
}

#[test]
fn missing_keys() {
    insta::assert_snapshot!(errors(r#"title = "nothing else"
"#, &[]), @r#"
    error: missing key `duration`
     --> demo.toml:1:1
    hint: add duration = "25 ms"

    error: missing key `flows`
     --> demo.toml:1:1
    hint: add flows = [...] or a section [[flows]]
    "#);
}

#[test]
fn a_missing_kind() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
threshold = "20 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: missing key `kind`
     --> demo.toml:7:1
      |
    7 | [bottleneck.aqm]
      | ^^^^^^^^^^^^^^^^
    hint: known kinds: fifo, step, red, linux-red, dual-red, open-loop, coupled, dualq-coupled, dualpi2, codel, fq-codel, pie, gred, pi2
    ");
}

#[test]
fn an_unknown_kind() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "choke"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: unknown kind "choke"
     --> demo.toml:8:8
      |
    8 | kind = "choke"
      |        ^^^^^^^
    hint: known: fifo, step, red, linux-red, dual-red, open-loop, coupled, dualq-coupled, dualpi2, codel, fq-codel, pie, gred, pi2
    "#);
}

#[test]
fn a_table_where_a_value_belongs() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = { value = 10 }
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: expected a rate as a string, found a table
     --> demo.toml:4:8
      |
    4 | rate = { value = 10 }
      |        ^^^^^^^^^^^^^^
    hint: write a string, as in "10 Mbit/s"
    "#);
}

#[test]
fn a_value_where_a_table_belongs() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"
bottleneck = "10 Mbit/s"
flows = []
"#, &[]), @r#"
    error: expected a table, found a string
     --> demo.toml:2:14
      |
    2 | bottleneck = "10 Mbit/s"
      |              ^^^^^^^^^^^
    hint: its keys are: rate, buffer, delay, overhead, bdp_rtt, aqm
    "#);
}

#[test]
fn several_problems_at_once() {
    insta::assert_snapshot!(errors(r#"duraton = "10 s"

[bottleneck]
rate = "10mbps"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = 25
"#, &[]), @r#"
    error: unknown key `duraton`
     --> demo.toml:1:1
      |
    1 | duraton = "10 s"
      | ^^^^^^^
    hint: did you mean `duration`?

    error: `10mbps` is not written as a quantity
     --> demo.toml:4:8
      |
    4 | rate = "10mbps"
      |        ^^^^^^^^
    hint: write "10 Mbit/s"

    error: a time needs a unit
     --> demo.toml:9:7
      |
    9 | rtt = 25
      |       ^^
    hint: write a string, as in "25 ms"
    "#);
}

#[test]
fn an_override_of_the_kind_alone() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "step"
threshold = "20 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"bottleneck.aqm.kind", r"fifo")]), @r#"
    error: `threshold` is no key of kind "fifo"
     --> demo.toml:9:1
      |
    9 | threshold = "20 packets"
      | ^^^^^^^^^
    hint: it belongs to step, dualq-coupled
    "#);
}
