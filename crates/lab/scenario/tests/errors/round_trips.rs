//! Round-trip times that do not fit their flows.

use super::{errors, warnings};

const BASE: &str = r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#;

fn rtt(text: &str, count: &str) -> String {
    errors(BASE, &[("flows[0].rtt", text), ("flows[0].count", count)])
}

#[test]
fn a_list_of_another_length() {
    insta::assert_snapshot!(rtt("[\"10 ms\", \"20 ms\", \"30 ms\"]", "2"), @r#"
    error: 3 round-trip times for 2 flows
     --> --set:1:14
      |
    1 | flows[0].rtt=["10 ms", "20 ms", "30 ms"]
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: give one time for each flow, or leave out count
    "#);
    let set = [("flows[0].rtt", "[\"10 ms\", \"20 ms\"]"), ("flows[0].start", "[\"0 s\", \"1 s\", \"2 s\"]")];
    insta::assert_snapshot!(errors(BASE, &set), @r#"
    error: 2 round-trip times for 3 flows
     --> --set:1:14
      |
    1 | flows[0].rtt=["10 ms", "20 ms"]
      |              ^^^^^^^^^^^^^^^^^^
    hint: give one time for each flow, or leave out count
    "#);
    insta::assert_snapshot!(rtt("[]", "2"), @r#"
    error: no round-trip time
     --> --set:1:14
      |
    1 | flows[0].rtt=[]
      |              ^^
    hint: write "25 ms", ["10 ms", "40 ms"] or { from = "10 ms", to = "40 ms" }
    "#);
}

#[test]
fn a_value_that_cannot_be() {
    insta::assert_snapshot!(rtt("[\"10 ms\", \"0 ms\"]", "2"), @r#"
    error: a round-trip time of 0
     --> --set:1:24
      |
    1 | flows[0].rtt=["10 ms", "0 ms"]
      |                        ^^^^^^
    hint: write a time, as in "25 ms"
    "#);
    let set = [("flows[0].rtt", "[\"10 ms\", \"1 ms\"]"), ("bottleneck.delay", "2 ms")];
    insta::assert_snapshot!(errors(BASE, &set), @r#"
    error: the rtt of 1 ms is shorter than the fixed delays of 2 ms
     --> --set:1:24
      |
    1 | flows[0].rtt=["10 ms", "1 ms"]
      |                        ^^^^^^
    hint: write at least "2 ms", or lower bottleneck.delay
    "#);
    insta::assert_snapshot!(rtt("[\"10 ms\", \"20 kB\"]", "2"), @r#"
    error: `20 kB` is a size in bytes, not a time
     --> --set:1:24
      |
    1 | flows[0].rtt=["10 ms", "20 kB"]
      |                        ^^^^^^^
    hint: units here: ns, us, ms, s, min; as in "25 ms"
    "#);
}

#[test]
fn a_range_that_cannot_be() {
    insta::assert_snapshot!(rtt("{ from = \"40 ms\", to = \"10 ms\" }", "4"), @r#"
    error: the longest round-trip time is below the shortest
     --> --set:1:10
      |
    1 | flows[0].rtt={ from = "40 ms", to = "10 ms" }
      |          ^^^
    hint: write { from = "10 ms", to = "40 ms" }
    "#);
    insta::assert_snapshot!(rtt("{ from = \"10 ms\", to = \"40 ms\" }", "1"), @r#"
    error: a range of round-trip times for 1 flow
     --> --set:1:10
      |
    1 | flows[0].rtt={ from = "10 ms", to = "40 ms" }
      |          ^^^
    hint: add count, as in count = 4, or write one time, as in rtt = "25 ms"
    "#);
    insta::assert_snapshot!(rtt("{ from = \"10 ms\", upto = \"40 ms\" }", "4"), @r#"
    error: missing key `to`
     --> --set:1:14
      |
    1 | flows[0].rtt={ from = "10 ms", upto = "40 ms" }
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: add to = "25 ms"

    error: unknown key `upto`
     --> --set:1:32
      |
    1 | flows[0].rtt={ from = "10 ms", upto = "40 ms" }
      |                                ^^^^
    hint: known keys here: from, to
    "#);
    insta::assert_snapshot!(rtt("{ from = \"10 ms\", to = \"40 ms\" }", "200000"), @r#"
    error: a range of 200000 round-trip times is too long
     --> --set:1:10
      |
    1 | flows[0].rtt={ from = "10 ms", to = "40 ms" }
      |          ^^^
    hint: at most 100000, or one for all, as in rtt = "25 ms"
    "#);
}

#[test]
fn flows_without_number() {
    let set = [
        ("flows[0].rtt", "[\"10 ms\", \"20 ms\"]"),
        ("flows[0].start", "{ poisson = \"10 per s\" }"),
        ("flows[0].app", "{ transfer = \"1 kB\" }"),
    ];
    insta::assert_snapshot!(errors(BASE, &set), @r#"
    error: a list of round-trip times for flows that arrive at random
     --> --set:1:14
      |
    1 | flows[0].rtt=["10 ms", "20 ms"]
      |              ^^^^^^^^^^^^^^^^^^
    hint: write one for all, as in rtt = "25 ms", or several groups
    "#);
}

#[test]
fn host_pairs_that_are_shared() {
    let set = [
        ("flows[0].rtt", "[\"10 ms\", \"20 ms\"]"),
        ("topology.kind", "dumbbell"),
        ("topology.access_rate", "1 Gbit/s"),
        ("topology.hosts", "2"),
    ];
    insta::assert_snapshot!(errors(BASE, &set), @r#"
    error: groups that share host pairs need the same rtt
     --> --set:1:14
      |
    1 | flows[0].rtt=["10 ms", "20 ms"]
      |              ^^^^^^^^^^^^^^^^^^
    hint: leave hosts out: each group then has its own host pair
    "#);
}

#[test]
fn a_bdp_of_several() {
    let set = [("flows[0].rtt", "[\"10 ms\", \"20 ms\"]"), ("bottleneck.buffer", "2 BDP")];
    insta::assert_snapshot!(warnings(BASE, &set), @r#"
    warning: the unit BDP takes the rtt of the first flow, 10 ms; flows of this group have others
     --> --set:1:14
      |
    1 | flows[0].rtt=["10 ms", "20 ms"]
      |              ^^^^^^^^^^^^^^^^^^
    hint: say which one is meant: bottleneck.bdp_rtt = "10 ms"
    "#);
}
