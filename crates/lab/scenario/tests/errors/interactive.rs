//! Requests, frames and barriers that cannot be.

use super::errors;

const BASE: &str = r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#;

fn app(text: &str) -> String {
    errors(BASE, &[("flows[0].app", text)])
}

#[test]
fn half_an_exchange() {
    insta::assert_snapshot!(app("{ request = \"200 B\" }"), @r#"
    error: missing key `response`
     --> --set:1:14
      |
    1 | flows[0].app={ request = "200 B" }
      |              ^^^^^^^^^^^^^^^^^^^^^
    hint: add response = "1500 B"
    "#);
    insta::assert_snapshot!(app("{ response = \"20 kB\", requests = \"200 B\" }"), @r#"
    error: unknown key `requests`
     --> --set:1:36
      |
    1 | flows[0].app={ response = "20 kB", requests = "200 B" }
      |                                    ^^^^^^^^
    hint: did you mean `request`?
    "#);
}

#[test]
fn nothing_to_say() {
    insta::assert_snapshot!(app("{ request = \"0 B\", response = \"unlimited\" }"), @r#"
    error: a request has from 1 to 1000000000000 B
     --> --set:1:26
      |
    1 | flows[0].app={ request = "0 B", response = "unlimited" }
      |                          ^^^^^
    hint: as in "200 B"

    error: a response has from 1 to 1000000000000 B
     --> --set:1:44
      |
    1 | flows[0].app={ request = "0 B", response = "unlimited" }
      |                                            ^^^^^^^^^^^
    hint: as in "20 kB"
    "#);
    insta::assert_snapshot!(app("{ request = \"1 B\", response = \"1 B\", rounds = 0 }"), @r#"
    error: there are no exchanges
     --> --set:1:60
      |
    1 | flows[0].app={ request = "1 B", response = "1 B", rounds = 0 }
      |                                                            ^
    hint: write at least 1, or leave rounds out
    "#);
}

#[test]
fn thoughts_of_no_kind() {
    insta::assert_snapshot!(app("{ request = \"1 B\", response = \"1 B\", think = { uniform = \"1 s\" } }"), @r#"
    error: unknown form of think
     --> --set:1:59
      |
    1 | flows[0].app={ request = "1 B", response = "1 B", think = { uniform = "1 s" } }
      |                                                           ^^^^^^^^^^^^^^^^^^^
    hint: write "10 ms" or { exponential = "10 ms" }
    "#);
    insta::assert_snapshot!(app("{ request = \"1 B\", response = \"1 B\", think = { exponential = \"0 s\" } }"), @r#"
    error: random times of 0
     --> --set:1:51
      |
    1 | flows[0].app={ request = "1 B", response = "1 B", think = { exponential = "0 s" } }
      |                                                   ^^^^^
    hint: as in { exponential = "10 ms" }
    "#);
    insta::assert_snapshot!(app("{ request = \"1 B\", response = \"1 B\", think = 5 }"), @r#"
    error: a time needs a unit
     --> --set:1:59
      |
    1 | flows[0].app={ request = "1 B", response = "1 B", think = 5 }
      |                                                           ^
    hint: write a string, as in "25 ms"
    "#);
}

#[test]
fn requests_between_hosts_that_differ() {
    let set = [
        ("flows[0].app", "{ request = \"1 kB\", response = \"1 kB\" }"),
        ("flows[0].receiver.stack", "freebsd-14"),
    ];
    insta::assert_snapshot!(errors(BASE, &set), @r"
    error: requests go both ways: their ends must be alike
     --> --set:1:10
      |
    1 | flows[0].receiver.stack=freebsd-14
      |          ^^^^^^^^
    hint: remove receiver, or write another app
    ");
}

#[test]
fn frames_without_time() {
    insta::assert_snapshot!(app("{ frame = \"20 kB\", every = \"40 ms\" }"), @r#"
    error: missing key `deadline`
     --> --set:1:14
      |
    1 | flows[0].app={ frame = "20 kB", every = "40 ms" }
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: add deadline = "25 ms"
    "#);
    insta::assert_snapshot!(app("{ frame = \"20 kB\", every = \"0 s\", deadline = \"0 s\" }"), @r#"
    error: all frames at the same time
     --> --set:1:41
      |
    1 | flows[0].app={ frame = "20 kB", every = "0 s", deadline = "0 s" }
      |                                         ^^^^^
    hint: as in "40 ms"

    error: no frame can arrive within 0
     --> --set:1:59
      |
    1 | flows[0].app={ frame = "20 kB", every = "0 s", deadline = "0 s" }
      |                                                           ^^^^^
    hint: as in "100 ms"
    "#);
    insta::assert_snapshot!(app("{ frame = \"0 B\", every = \"40 ms\", deadline = \"1 s\" }"), @r#"
    error: a frame has from 1 to 1000000000000 B
     --> --set:1:24
      |
    1 | flows[0].app={ frame = "0 B", every = "40 ms", deadline = "1 s" }
      |                        ^^^^^
    hint: as in "20 kB"
    "#);
    insta::assert_snapshot!(app("{ frame = \"20 kB\", every = \"40 ms\", dedline = \"1 s\" }"), @r#"
    error: unknown key `dedline`
     --> --set:1:50
      |
    1 | flows[0].app={ frame = "20 kB", every = "40 ms", dedline = "1 s" }
      |                                                  ^^^^^^^
    hint: did you mean `deadline`?
    "#);
}

#[test]
fn a_barrier_for_those_who_come_by_chance() {
    let set = [
        ("flows[0].app", "{ transfer = \"32 kB\", rounds = 3, barrier = true }"),
        ("flows[0].start", "{ poisson = \"10 per s\" }"),
    ];
    insta::assert_snapshot!(errors(BASE, &set), @r#"
    error: flows that arrive at random cannot wait for each other
     --> --set:1:58
      |
    1 | flows[0].app={ transfer = "32 kB", rounds = 3, barrier = true }
      |                                                          ^^^^
    hint: write start = "0 s" and count, or leave barrier out
    "#);
    insta::assert_snapshot!(app("{ transfer = \"32 kB\", barrier = \"yes\" }"), @r#"
    error: expected true or false, found a string
     --> --set:1:46
      |
    1 | flows[0].app={ transfer = "32 kB", barrier = "yes" }
      |                                              ^^^^^
    "#);
}
