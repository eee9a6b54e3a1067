//! Arrivals and distributions of sizes that cannot be.

use super::errors;

const BASE: &str = r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[distributions.mine]
cdf = [["6 kB", 0.15], ["1 MB", 1]]

[[flows]]
cc = "reno"
rtt = "25 ms"
app = { transfer = { distribution = "mine" } }
start = { poisson = "20 per s" }
"#;

#[test]
fn a_distribution_that_ends_below_one() {
    insta::assert_snapshot!(errors(BASE, &[("distributions.mine.cdf", "[[\"6 kB\", 0.15], [\"1 MB\", 0.9]]")]), @r#"
    error: the distribution ends at 0.9
     --> --set:1:24
      |
    1 | distributions.mine.cdf=[["6 kB", 0.15], ["1 MB", 0.9]]
      |                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: the last point must have the probability 1: every transfer has some size
    "#);
}

#[test]
fn an_empty_distribution() {
    insta::assert_snapshot!(errors(BASE, &[("distributions.mine.cdf", "[]")]), @r#"
    error: the distribution is empty
     --> --set:1:24
      |
    1 | distributions.mine.cdf=[]
      |                        ^^
    hint: as in cdf = [["6 kB", 0.15], ["1 MB", 1]]
    "#);
}

#[test]
fn a_distribution_out_of_order() {
    let cdf = "[[\"6 kB\", -0.5], [\"6 kB\", 0.5], [\"1 kB\", 0.6], [\"2 kB\", 0.4], [\"1 MB\", 1]]";
    insta::assert_snapshot!(errors(BASE, &[("distributions.mine.cdf", cdf)]), @r#"
    error: a probability of -0.5
     --> --set:1:25
      |
    1 | distributions.mine.cdf=[["6 kB", -0.5], ["6 kB", 0.5], ["1 kB", 0.6], ["2 kB", 0.4], ["1 MB", 1]]
      |                         ^^^^^^^^^^^^^^
    hint: write a number from 0 to 1

    error: the size 6 kB stands twice
     --> --set:1:41
      |
    1 | distributions.mine.cdf=[["6 kB", -0.5], ["6 kB", 0.5], ["1 kB", 0.6], ["2 kB", 0.4], ["1 MB", 1]]
      |                                         ^^^^^^^^^^^^^
    hint: give each size once; a step takes two sizes, as in ["999 B", 0], ["1000 B", 0.5]

    error: the sizes fall
     --> --set:1:56
      |
    1 | distributions.mine.cdf=[["6 kB", -0.5], ["6 kB", 0.5], ["1 kB", 0.6], ["2 kB", 0.4], ["1 MB", 1]]
      |                                                        ^^^^^^^^^^^^^
    hint: list the points from the smallest size to the largest

    error: the probability falls from 0.6 to 0.4
     --> --set:1:71
      |
    1 | distributions.mine.cdf=[["6 kB", -0.5], ["6 kB", 0.5], ["1 kB", 0.6], ["2 kB", 0.4], ["1 MB", 1]]
      |                                                                       ^^^^^^^^^^^^^
    hint: a cumulative distribution never falls: each point is the probability of at most its size
    "#);
}

#[test]
fn a_distribution_with_transfers_of_nothing() {
    let cdf = "[[\"0 B\", 0.5], [\"unlimited\", 1]]";
    insta::assert_snapshot!(errors(BASE, &[("distributions.mine.cdf", cdf)]), @r#"
    error: transfers of 0 B
     --> --set:1:25
      |
    1 | distributions.mine.cdf=[["0 B", 0.5], ["unlimited", 1]]
      |                         ^^^^^^^^^^^^
    hint: give 0 B the probability 0, or leave the point out

    error: a size without limit
     --> --set:1:39
      |
    1 | distributions.mine.cdf=[["0 B", 0.5], ["unlimited", 1]]
      |                                       ^^^^^^^^^^^^^^^^
    hint: at most 1000000000000 B
    "#);
}

#[test]
fn points_that_are_none() {
    let cdf = "[[\"-6 kB\", 0.5], [\"1 MB\"], 7, [\"1 MB\", \"1\"]]";
    insta::assert_snapshot!(errors(BASE, &[("distributions.mine.cdf", cdf)]), @r#"
    error: `-6 kB` is negative
     --> --set:1:26
      |
    1 | distributions.mine.cdf=[["-6 kB", 0.5], ["1 MB"], 7, ["1 MB", "1"]]
      |                          ^^^^^^^
    hint: a size in bytes is never negative

    error: expected a point of the distribution, found an array
     --> --set:1:41
      |
    1 | distributions.mine.cdf=[["-6 kB", 0.5], ["1 MB"], 7, ["1 MB", "1"]]
      |                                         ^^^^^^^^
    hint: write a size and a probability, as in ["6 kB", 0.15]

    error: expected a point of the distribution, found an integer
     --> --set:1:51
      |
    1 | distributions.mine.cdf=[["-6 kB", 0.5], ["1 MB"], 7, ["1 MB", "1"]]
      |                                                   ^
    hint: write a size and a probability, as in ["6 kB", 0.15]

    error: expected a number, found a string
     --> --set:1:63
      |
    1 | distributions.mine.cdf=[["-6 kB", 0.5], ["1 MB"], 7, ["1 MB", "1"]]
      |                                                               ^^^
    "#);
}

#[test]
fn a_distribution_that_is_built_in() {
    insta::assert_snapshot!(errors(BASE, &[("distributions.web-search", "{ cdf = [[\"1 kB\", 1]] }")]), @r#"
    error: the distribution "web-search" is built in
     --> --set:1:15
      |
    1 | distributions.web-search={ cdf = [["1 kB", 1]] }
      |               ^^^^^^^^^^
    hint: give yours another name
    "#);
}

#[test]
fn an_unknown_distribution() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ transfer = { distribution = \"websearch\" } }")]), @r#"
    error: unknown distribution "websearch"
     --> --set:1:44
      |
    1 | flows[0].app={ transfer = { distribution = "websearch" } }
      |                                            ^^^^^^^^^^^
    hint: did you mean "web-search"? known: data-mining, mine, web-search
    "#);
}

#[test]
fn rounds_of_a_drawn_size() {
    let app = "{ transfer = { distribution = \"mine\" }, rounds = 3 }";
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", app)]), @r#"
    error: rounds of a drawn size
     --> --set:1:63
      |
    1 | flows[0].app={ transfer = { distribution = "mine" }, rounds = 3 }
      |                                                               ^
    hint: a flow draws one size; write more flows instead of rounds
    "#);
}

#[test]
fn an_unknown_form_of_drawn_size() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ transfer = { normal = 3 } }")]), @r#"
    error: a drawn size has one key
     --> --set:1:27
      |
    1 | flows[0].app={ transfer = { normal = 3 } }
      |                           ^^^^^^^^^^^^^^
    hint: as in { distribution = "web-search" }
    "#);
}

#[test]
fn a_count_of_random_arrivals() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].count", "3")]), @r"
    error: random arrivals have no fixed number of flows
     --> --set:1:16
      |
    1 | flows[0].count=3
      |                ^
    hint: remove count: it follows from the rate, the time and the seed
    ");
}

#[test]
fn arrivals_that_never_come() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ poisson = \"0 per s\" }")]), @r#"
    error: flows that never arrive
     --> --set:1:28
      |
    1 | flows[0].start={ poisson = "0 per s" }
      |                            ^^^^^^^^^
    hint: as in { poisson = "200 per s" }
    "#);
}

#[test]
fn arrivals_without_a_unit() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ poisson = \"200/s\" }")]), @r#"
    error: `200/s` is not written as a quantity
     --> --set:1:28
      |
    1 | flows[0].start={ poisson = "200/s" }
      |                            ^^^^^^^
    hint: write "200 per s"
    "#);
}

#[test]
fn arrivals_that_end_before_they_begin() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ poisson = \"20 per s\", from = \"3 s\", until = \"2 s\" }")]), @r#"
    error: the arrivals end before they begin
     --> --set:1:62
      |
    1 | flows[0].start={ poisson = "20 per s", from = "3 s", until = "2 s" }
      |                                                              ^^^^^
    hint: write a later until, or an earlier from
    "#);
}

#[test]
fn arrivals_after_the_end() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ poisson = \"20 per s\", until = \"11 s\" }")]), @r#"
    error: flows would arrive after the end of the run
     --> --set:1:48
      |
    1 | flows[0].start={ poisson = "20 per s", until = "11 s" }
      |                                                ^^^^^^
    hint: the duration is 10 s
    "#);
}

#[test]
fn arrivals_after_the_stop() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ poisson = \"20 per s\", until = \"9 s\" }"), ("flows[0].stop", "5 s")]), @r"
    error: flows would stop before they start
     --> --set:1:15
      |
    1 | flows[0].stop=5 s
      |               ^^^
    hint: write a time after the last start
    ");
}

#[test]
fn too_many_arrivals() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ poisson = \"1000 per ms\" }")]), @r#"
    error: up to 10031632 flows would arrive: too many
     --> --set:1:10
      |
    1 | flows[0].start={ poisson = "1000 per ms" }
      |          ^^^^^
    hint: at most 1000000 in all groups together: lower the rate, or shorten the time
    "#);
}

#[test]
fn a_load_that_cannot_be() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ load = 0 }")]), @r"
    error: a load of 0
     --> --set:1:25
      |
    1 | flows[0].start={ load = 0 }
      |                         ^
    hint: write a number above 0, as in { load = 0.6 }; more than 10 cannot be meant
    ");
}

#[test]
fn a_load_of_flows_without_size() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].start", "{ load = 0.5 }"), ("flows[0].app", "bulk")]), @r#"
    error: a load needs transfers of known size and a link of known rate
     --> --set:1:10
      |
    1 | flows[0].start={ load = 0.5 }
      |          ^^^^^
    hint: write app = { transfer = ... } and links with a rate, or { poisson = "200 per s" }
    "#);
}

#[test]
fn a_number_of_listed_flows_that_is_none() {
    insta::assert_snapshot!(errors(BASE, &[("trace.flows", "some")]), @r#"
    error: unknown value "some"
     --> --set:1:13
      |
    1 | trace.flows=some
      |             ^^^^
    hint: write "all" or a whole number
    "#);
}
