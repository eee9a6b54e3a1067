//! `--set` arguments that cannot be applied: the place is the argument.

use super::errors;

#[test]
fn a_wrong_value() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"bottleneck.rate", r"10mbps")]), @r#"
    error: `10mbps` is not written as a quantity
     --> --set:1:17
      |
    1 | bottleneck.rate=10mbps
      |                 ^^^^^^
    hint: write "10 Mbit/s"
    "#);
}

#[test]
fn an_unknown_key() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"bottleneck.rte", r"10 Mbit/s")]), @r"
    error: unknown key `rte`
     --> --set:1:12
      |
    1 | bottleneck.rte=10 Mbit/s
      |            ^^^
    hint: did you mean `rate`?
    ");
}

#[test]
fn a_key_that_is_none() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"flows[.cc", r"reno")]), @r"
    error: `flows[.cc` is not a key
     --> --set:1:1
      |
    1 | flows[.cc=reno
      | ^^^^^^^^^
    hint: write a dotted key, as in bottleneck.rate, flows[0].cc or flows.reno.cc
    ");
}

#[test]
fn an_unknown_group() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"flows.rno.cc", r"cubic")]), @r#"
    error: there is no "rno" here
     --> --set:1:7
      |
    1 | flows.rno.cc=cubic
      |       ^^^
    hint: did you mean "reno"? known: reno; or by number, as in [0]
    "#);
}

#[test]
fn an_index_too_far() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"flows[3].cc", r"cubic")]), @r"
    error: there is no entry 3
     --> --set:1:6
      |
    1 | flows[3].cc=cubic
      |      ^^^
    hint: there are 1, counted from 0
    ");
}

#[test]
fn inside_a_value() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"duration.seconds", r"3")]), @r"
    error: `seconds` cannot be set inside a string
     --> --set:1:10
      |
    1 | duration.seconds=3
      |          ^^^^^^^
    hint: set the value before it as a whole
    ");
}

#[test]
fn broken_quotes() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"title", r#""abc"#)]), @r#"
    error: invalid basic string, expected `"`
     --> --set:1:7
      |
    1 | title="abc
      |       ^^^^
    "#);
}

#[test]
fn an_empty_value() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"title", r"")]), @r"
    error: the value is empty
     --> --set:1:7
      |
    1 | title=
      |       ^
    hint: write key=value
    ");
}

#[test]
fn a_later_argument_that_contradicts() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"duration", r"5 s"), (r"warmup", r"6 s")]), @r#"
    error: the warm-up is not shorter than the duration: nothing would be measured
     --> --set:1:8
      |
    1 | warmup=6 s
      |        ^^^
    hint: write a time below "5 s", or leave warmup out
    "#);
}
