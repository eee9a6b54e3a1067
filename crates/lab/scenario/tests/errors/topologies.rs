//! Topologies that cannot be.

use super::errors;

#[test]
fn a_dumbbell_without_bottleneck() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"
[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: a dumbbell needs a bottleneck
     --> demo.toml:1:1
    hint: add [bottleneck] with rate and buffer, or another [topology]
    ");
}

#[test]
fn a_dumbbell_flow_with_a_place() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
from = "h1"
"#, &[]), @r#"
    error: a dumbbell has no use for `from`
      --> demo.toml:10:8
       |
    10 | from = "h1"
       |        ^^^^
    hint: remove it, or use a star or graph as [topology]
    "#);
}

#[test]
fn switches_without_access_rate() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"

[topology]
kind = "dumbbell"
switches = true
"#, &[]), @r#"
    error: switches need host links with a rate
      --> demo.toml:13:12
       |
    13 | switches = true
       |            ^^^^
    hint: add access_rate, as in "1 Gbit/s"
    "#);
}

#[test]
fn shared_hosts_with_different_rtts() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"

[[flows]]
cc = "cubic"
rtt = "30 ms"

[topology]
kind = "dumbbell"
access_rate = "1 Gbit/s"
hosts = 2
"#, &[]), @r#"
    error: groups that share host pairs need the same rtt
      --> demo.toml:13:7
       |
    13 | rtt = "30 ms"
       |       ^^^^^^^
    hint: leave hosts out: each group then has its own host pair
    "#);
}

#[test]
fn a_star_with_wrong_places() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[topology]
kind = "star"
hosts = 3
rate = "1 Gbit/s"
delay = "10 us"
buffer = "100 packets"

[[flows]]
cc = "reno"
from = "h1"
to = "h9"
rtt = "1 ms"

[[flows]]
name = "self"
cc = "reno"
from = ["h1", "h2"]
to = "h2"
"#, &[]), @r#"
    error: unknown node "h9"
      --> demo.toml:13:6
       |
    13 | to = "h9"
       |      ^^^^
    hint: did you mean "h1"? known: h1, h2, h3, switch

    error: only flows of a dumbbell have an rtt
      --> demo.toml:14:7
       |
    14 | rtt = "1 ms"
       |       ^^^^^^
    hint: remove it: the round-trip time follows from the delays of the links

    error: flows from "h2" to itself
      --> demo.toml:19:15
       |
    19 | from = ["h1", "h2"]
       |               ^^^^
    hint: name two different hosts
    "#);
}

#[test]
fn a_graph_without_a_way_back() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[topology]
kind = "graph"
nodes = ["a", "b"]
links = [{ from = "a", to = "b", rate = "1 Gbit/s", both_ways = false }]

[[flows]]
cc = "reno"
from = "a"
to = "b"
"#, &[]), @r#"
    error: there is no way from "b" to "a"
      --> demo.toml:10:8
       |
    10 | from = "a"
       |        ^^^
    hint: add links; ACKs need a way back (both_ways = true)
    "#);
}

#[test]
fn a_graph_with_unknown_nodes() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[topology]
kind = "graph"
nodes = ["left", "right", "left"]
links = [{ from = "left", to = "rihgt", rate = "1 Gbit/s" }, { from = "left", to = "left", rate = "0 bit/s" }]

[[flows]]
cc = "reno"
from = "left"
to = "right"
"#, &[]), @r#"
    error: duplicate node "left"
     --> demo.toml:5:27
      |
    5 | nodes = ["left", "right", "left"]
      |                           ^^^^^^
    hint: name each node once

    error: unknown node "rihgt"
     --> demo.toml:6:32
      |
    6 | links = [{ from = "left", to = "rihgt", rate = "1 Gbit/s" }, { from = "left", to = "left", rate = "0 bit/s" }]
      |                                ^^^^^^^
    hint: did you mean "right"? known: left, right

    error: the rate is 0: no packet would ever leave
     --> demo.toml:6:99
      |
    6 | }, { from = "left", to = "left", rate = "0 bit/s" }]
      |                                         ^^^^^^^^^
    hint: as in "10 Mbit/s"

    error: there is no way from "left" to "right"
      --> demo.toml:10:8
       |
    10 | from = "left"
       |        ^^^^^^
    hint: add links; ACKs need a way back (both_ways = true)
    "#);
}

#[test]
fn a_bdp_without_round_trip() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[topology]
kind = "graph"
nodes = ["a", "b"]
links = [{ from = "a", to = "b", rate = "1 Gbit/s", buffer = "1 BDP" }]

[[flows]]
cc = "reno"
from = "a"
to = "b"
"#, &[]), @r#"
    error: BDP has no meaning here: no round-trip time is known
     --> demo.toml:6:62
      |
    6 | links = [{ from = "a", to = "b", rate = "1 Gbit/s", buffer = "1 BDP" }]
      |                                                              ^^^^^^^
    hint: set bdp_rtt, or write bytes, packets or a time
    "#);
}
