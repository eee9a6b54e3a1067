//! Leaf-spine networks, parking lots and shared buffers that cannot be.

use super::errors;

const LEAF_SPINE: &str = r#"duration = "10 s"

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "1 Gbit/s"
delay = "10 us"
buffer = "100 packets"

[[flows]]
cc = "reno"
from = "h1"
to = "h4"
"#;

const PARKING_LOT: &str = r#"duration = "10 s"

[topology]
kind = "parking-lot"
bottlenecks = 2
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"

[[flows]]
cc = "reno"
from = "in"
to = "out"
"#;

const GRAPH: &str = r#"duration = "10 s"

[topology]
kind = "graph"
nodes = ["a", "b", "c"]
links = [
  { from = "a", to = "b", rate = "1 Gbit/s" },
  { from = "b", to = "c", rate = "1 Gbit/s" },
]

[[flows]]
cc = "reno"
from = "a"
to = "c"
"#;

#[test]
fn networks_of_nothing() {
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("topology.leaves", "0")]), @r"
    error: a network of 0 leaves
     --> --set:1:17
      |
    1 | topology.leaves=0
      |                 ^
    hint: write a number from 1 to 1000
    ");
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("topology.spines", "2000")]), @r"
    error: a network of 2000 spines
     --> --set:1:17
      |
    1 | topology.spines=2000
      |                 ^^^^
    hint: write a number from 1 to 1000
    ");
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("topology.hosts_per_leaf", "0")]), @r"
    error: a network of 0 hosts
     --> --set:1:25
      |
    1 | topology.hosts_per_leaf=0
      |                         ^
    hint: all leaves together need 2 to 10000
    ");
    insta::assert_snapshot!(errors(PARKING_LOT, &[("topology.bottlenecks", "0")]), @r"
    error: a parking lot of 0 bottlenecks
     --> --set:1:22
      |
    1 | topology.bottlenecks=0
      |                      ^
    hint: write a number from 1 to 1000
    ");
}

#[test]
fn a_rate_that_a_fabric_cannot_have() {
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("topology.fabric_rate", "unlimited")]), @r#"
    error: the rate must be limited here
     --> --set:1:22
      |
    1 | topology.fabric_rate=unlimited
      |                      ^^^^^^^^^
    hint: as in "10 Mbit/s"
    "#);
}

#[test]
fn unknown_hosts_in_ranges() {
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("flows[0].from", "h3..h5")]), @r#"
    error: unknown node "h5"
     --> --set:1:15
      |
    1 | flows[0].from=h3..h5
      |               ^^^^^^
    hint: did you mean "h1"? known: h1, h2, h3, h4, leaf1, leaf2, spine1, spine2
    "#);
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("flows[0].from", "h3..h1")]), @r#"
    error: unknown node "h3..h1"
     --> --set:1:15
      |
    1 | flows[0].from=h3..h1
      |               ^^^^^^
    hint: known: h1, h2, h3, h4, leaf1, leaf2, spine1, spine2
    "#);
}

#[test]
fn lists_that_meet_in_one_host() {
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("flows[0].from", "[\"h1\", \"h2\"]"), ("flows[0].to", "[\"h2\", \"h1\", \"h3\"]")]), @r#"
    error: flows from "h1" to itself
     --> --set:1:16
      |
    1 | flows[0].from=["h1", "h2"]
      |                ^^^^
    hint: name two different hosts
    "#);
}

#[test]
fn a_random_pair_of_one_host() {
    insta::assert_snapshot!(errors(LEAF_SPINE, &[("flows[0].to", "h1"), ("flows[0].pairing", "random")]), @r#"
    error: flows from "h1" to itself
      --> demo.toml:14:8
       |
    14 | from = "h1"
       |        ^^^^
    hint: name two different hosts
    "#);
}

#[test]
fn shared_buffers_that_cannot_be() {
    let set = |value: &str| errors(LEAF_SPINE, &[("topology.shared_buffer", value)]);
    insta::assert_snapshot!(set("{ size = \"0 B\" }"), @r#"
    error: the shared buffer needs a size above 0
     --> --set:1:33
      |
    1 | topology.shared_buffer={ size = "0 B" }
      |                                 ^^^^^
    hint: as in "4 MB"; without one, remove it
    "#);
    insta::assert_snapshot!(set("{ size = \"1 MB\", alpha = 0 }"), @r#"
    error: an alpha of 0
     --> --set:1:49
      |
    1 | topology.shared_buffer={ size = "1 MB", alpha = 0 }
      |                                                 ^
    hint: write a number above 0, as in alpha = 1; switches have powers of two from 1/128 to 8
    "#);
    insta::assert_snapshot!(set("{ size = \"1 MB\", reserved = \"300 kB\" }"), @r#"
    error: 300 kB a port is more than the buffer holds
     --> --set:1:52
      |
    1 | topology.shared_buffer={ size = "1 MB", reserved = "300 kB" }
      |                                                    ^^^^^^^^
    hint: "leaf1" has 4 ports; write less, or a larger size
    "#);
}

#[test]
fn shared_buffers_at_wrong_nodes() {
    let set = |value: &str| errors(GRAPH, &[("topology.shared_buffers", value)]);
    insta::assert_snapshot!(set("[{ node = \"x\", size = \"1 MB\" }, { node = \"b\", size = \"1 MB\" }, { node = \"b\", size = \"2 MB\" }]"), @r#"
    error: unknown node "x"
     --> --set:1:35
      |
    1 | topology.shared_buffers=[{ node = "x", size = "1 MB" }, { node = "b", size = "1 MB" }, { node = "b", size = "2 MB" }]
      |                                   ^^^
    hint: did you mean "a"? known: a, b, c

    error: "b" has a shared buffer already
     --> --set:1:97
      |
    1 | { node = "b", size = "1 MB" }, { node = "b", size = "2 MB" }]
      |                                         ^^^
    hint: give each node one
    "#);
}

#[test]
fn a_node_without_links() {
    insta::assert_snapshot!(errors(&GRAPH.replace("\"c\"]", "\"c\", \"d\"]"), &[]), @r#"
    error: "d" has no links
     --> demo.toml:5:25
      |
    5 | nodes = ["a", "b", "c", "d"]
      |                         ^^^
    hint: add a link to it, or remove the node
    "#);
}

#[test]
fn a_link_that_nobody_takes() {
    let twice = GRAPH.replace(
        "]\n\n[[flows]]",
        "  { name = \"second\", from = \"b\", to = \"c\", rate = \"2 Gbit/s\" },\n]\n\n[[flows]]",
    );
    insta::assert_snapshot!(errors(&twice, &[]), @r#"
    error: a second link like topology.links[1]: no flow would take it
     --> demo.toml:9:3
      |
    9 |   { name = "second", from = "b", to = "c", rate = "2 Gbit/s" },
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: remove it, or set topology.ecmp = true
    "#);
}

#[test]
fn a_link_without_cost() {
    insta::assert_snapshot!(errors(GRAPH, &[("topology.links[0].weight", "0")]), @r"
    error: a link without cost
     --> --set:1:26
      |
    1 | topology.links[0].weight=0
      |                          ^
    hint: write at least 1: with 0 a way could go in circles
    ");
}
