//! Files that are no TOML, or say something twice.

use super::errors;

#[test]
fn an_empty_file() {
    insta::assert_snapshot!(errors(r"", &[]), @r"
    error: the scenario is empty
     --> demo.toml:1:1
    hint: a scenario needs at least duration, [bottleneck] and one [[flows]]; see the scenarios folder
    ");
}

#[test]
fn broken_toml() {
    insta::assert_snapshot!(errors(r#"duration = "10 s
seed = = 1
"#, &[]), @r#"
    error: invalid basic string, expected `"`
     --> demo.toml:1:17
      |
    1 | duration = "10 s
      |                 ^

    error: extra `=`, expected nothing
     --> demo.toml:2:8
      |
    2 | seed = = 1
      |        ^

    error: unexpected key or value, expected newline, `#`
     --> demo.toml:2:10
      |
    2 | seed = = 1
      |          ^
    "#);
}

#[test]
fn a_duplicate_key() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
rate = "20 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: duplicate key
     --> demo.toml:5:1
      |
    5 | rate = "20 Mbit/s"
      | ^^^^
    hint: keep one of them
    "#);
}

#[test]
fn a_dotted_key_that_conflicts() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[bottleneck.aqm]
kind = "dual-red"
reno = "0.5 BDP"
reno.max = "1.5 BDP"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: cannot extend value of type string with a dotted key
      --> demo.toml:10:1
       |
    10 | reno.max = "1.5 BDP"
       | ^^^^
    "#);
}

#[test]
fn a_date() {
    insta::assert_snapshot!(errors(r#"duration = 2020-01-01

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: expected a time as a string, found a date
     --> demo.toml:1:12
      |
    1 | duration = 2020-01-01
      |            ^^^^^^^^^^
    hint: write a string, as in "25 ms"
    "#);
}
