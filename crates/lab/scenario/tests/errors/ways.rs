//! Ways that flows ask for and cannot have, and parts of a network that no flow can reach.

use super::errors;

/// Two ways from a to d, over b or c; e hangs at b.
const GRAPH: &str = r#"duration = "10 s"

[topology]
kind = "graph"
nodes = ["a", "b", "c", "d", "e"]
links = [
  { from = "a", to = "b", rate = "1 Gbit/s" },
  { from = "b", to = "d", rate = "1 Gbit/s" },
  { from = "a", to = "c", rate = "1 Gbit/s" },
  { from = "c", to = "d", rate = "1 Gbit/s" },
  { from = "b", to = "e", rate = "1 Gbit/s" },
]

[[flows]]
cc = "reno"
from = "a"
to = "d"
"#;

fn refused(via: &str) -> String {
    errors(&format!("{GRAPH}{via}\n"), &[])
}

#[test]
fn a_way_over_nodes_that_do_not_exist() {
    insta::assert_snapshot!(refused("via = [\"c\", \"f\"]\nvia_back = \"bb\""), @r#"
    error: unknown node "f"
      --> demo.toml:18:7
       |
    18 | via = ["c", "f"]
       |       ^^^^^^^^^^
    hint: did you mean "a"? known: a, b, c, d, e

    error: unknown node "bb"
      --> demo.toml:19:12
       |
    19 | via_back = "bb"
       |            ^^^^
    hint: did you mean "b"? known: a, b, c, d, e
    "#);
}

#[test]
fn a_way_over_no_nodes() {
    insta::assert_snapshot!(refused("via = []"), @r"
    error: a list of no nodes
      --> demo.toml:18:7
       |
    18 | via = []
       |       ^^
    hint: name at least one, or remove the key
    ");
    insta::assert_snapshot!(refused("via = 3"), @r#"
    error: expected names of nodes, found an integer
      --> demo.toml:18:7
       |
    18 | via = 3
       |       ^
    hint: write "h1" or ["h1", "h2"]
    "#);
}

#[test]
fn a_way_that_turns_back() {
    // From e there is no way to d but over b.
    insta::assert_snapshot!(refused("via = \"e\""), @r#"
    error: a routing loop: packets would pass "b" twice
      --> demo.toml:18:7
       |
    18 | via = "e"
       |       ^^^
    hint: leave out the node that makes them turn back, or name more of those between
    "#);
    insta::assert_snapshot!(refused("via_back = [\"c\", \"b\"]"), @r#"
    error: a routing loop: packets would pass "a" twice
      --> demo.toml:18:12
       |
    18 | via_back = ["c", "b"]
       |            ^^^^^^^^^^
    hint: leave out the node that makes them turn back, or name more of those between
    "#);
    insta::assert_snapshot!(refused("via = [\"b\", \"b\"]"), @r#"
    error: a routing loop: packets would pass "b" twice
      --> demo.toml:18:7
       |
    18 | via = ["b", "b"]
       |       ^^^^^^^^^^
    hint: leave out the node that makes them turn back, or name more of those between
    "#);
    insta::assert_snapshot!(refused("via = \"a\""), @r#"
    error: a routing loop: packets would pass "a" twice
      --> demo.toml:18:7
       |
    18 | via = "a"
       |       ^^^
    hint: leave out the node that makes them turn back, or name more of those between
    "#);
}

#[test]
fn a_way_against_the_direction_of_a_link() {
    let text = GRAPH
        .replace("to = \"c\", rate = \"1 Gbit/s\"", "to = \"c\", rate = \"1 Gbit/s\", both_ways = false");
    insta::assert_snapshot!(errors(&format!("{text}via_back = \"c\"\n"), &[]), @r#"
    error: a routing loop: packets would pass "d" twice
      --> demo.toml:18:12
       |
    18 | via_back = "c"
       |            ^^^
    hint: leave out the node that makes them turn back, or name more of those between
    "#);
}

#[test]
fn a_way_into_a_dead_end() {
    // Both links of c lead to it.
    let text = GRAPH
        .replace("to = \"c\", rate = \"1 Gbit/s\"", "to = \"c\", rate = \"1 Gbit/s\", both_ways = false")
        .replace(
            "from = \"c\", to = \"d\", rate = \"1 Gbit/s\"",
            "from = \"d\", to = \"c\", rate = \"1 Gbit/s\", both_ways = false",
        );
    insta::assert_snapshot!(errors(&format!("{text}via = \"c\"\n"), &[]), @r#"
    error: there is no way from "c" to "d"
      --> demo.toml:18:7
       |
    18 | via = "c"
       |       ^^^
    hint: add links, or name the nodes in the order in which packets pass them
    "#);
}

#[test]
fn a_way_that_loops_for_one_pair_of_hosts() {
    // h2 is at the leaf of h1: packets would return to it.
    insta::assert_snapshot!(errors(r#"duration = "10 s"

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
from = ["h1", "h2"]
to = ["h3", "h1"]
via = "spine2"
"#, &[]), @r#"
    error: a routing loop: packets would pass "leaf1" twice
      --> demo.toml:16:7
       |
    16 | via = "spine2"
       |       ^^^^^^^^
    hint: leave out the node that makes them turn back, or name more of those between
    "#);
}

#[test]
fn a_way_in_a_dumbbell() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
via = "left"
"#, &[]), @r#"
    error: a dumbbell has no use for `via`
      --> demo.toml:10:7
       |
    10 | via = "left"
       |       ^^^^^^
    hint: remove it, or use a star or graph as [topology]
    "#);
}

#[test]
fn a_part_of_the_network_without_flows() {
    let text = GRAPH
        .replace("\"e\"]", "\"e\", \"f\", \"g\"]")
        .replace("\n]\n", "\n  { from = \"f\", to = \"g\", rate = \"1 Gbit/s\" },\n]\n");
    insta::assert_snapshot!(errors(&text, &[]), @r#"
    error: no link joins "f" to any host with flows
     --> demo.toml:5:35
      |
    5 | nodes = ["a", "b", "c", "d", "e", "f", "g"]
      |                                   ^^^
    hint: add a link to the rest of the network, or remove it and what it is linked to
    "#);
}

#[test]
fn schedules_of_no_length() {
    insta::assert_snapshot!(refused("start = []"), @r"
    error: a list of no start times
      --> demo.toml:18:9
       |
    18 | start = []
       |         ^^
    hint: give one time for each flow, or remove the group
    ");
    insta::assert_snapshot!(refused("count = 3\nstart = { every = \"0 s\", first = \"1 s\" }"), @r#"
    error: one after the other without time between them
      --> demo.toml:19:1
       |
    19 | start = { every = "0 s", first = "1 s" }
       | ^^^^^
    hint: write a time above 0, or start = "1 s": all at once
    "#);
    insta::assert_snapshot!(refused("start = { poisson = \"5 per s\", from = \"2 s\", until = \"2 s\" }"), @r#"
    error: the arrivals end before they begin
      --> demo.toml:18:54
       |
    18 | start = { poisson = "5 per s", from = "2 s", until = "2 s" }
       |                                                      ^^^^^
    hint: write a later until, or an earlier from
    "#);
    insta::assert_snapshot!(refused("start = \"1 s\"\nstop = \"1 s\""), @r#"
    error: flows would stop before they start
      --> demo.toml:19:8
       |
    19 | stop = "1 s"
       |        ^^^^^
    hint: write a time after the last start
    "#);
    insta::assert_snapshot!(refused("app = { on = \"0 s\", off = \"1 s\" }"), @r#"
    error: a period of 0
      --> demo.toml:18:14
       |
    18 | app = { on = "0 s", off = "1 s" }
       |              ^^^^^
    hint: as in { on = "1 s", off = "1 s" }; always on is app = "bulk"
    "#);
    insta::assert_snapshot!(errors(GRAPH, &[("duration", "0 s")]), @r#"
    error: the duration is 0
     --> --set:1:10
      |
    1 | duration=0 s
      |          ^^^
    hint: write a time, as in "300 s"
    "#);
}
