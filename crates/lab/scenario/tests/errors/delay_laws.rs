//! CoDel, fair queueing, PIE and GRED that cannot be.

use super::{errors, warnings};

/// A scenario whose queue has these keys.
fn with(aqm: &str) -> String {
    format!(
        "duration = \"10 s\"\n\n[bottleneck]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\n\n[bottleneck.aqm]\n{aqm}\n\n\
         [[flows]]\ncc = \"reno\"\nrtt = \"25 ms\"\n"
    )
}

fn refused(aqm: &str) -> String {
    errors(&with(aqm), &[])
}

#[test]
fn codel_without_an_interval() {
    insta::assert_snapshot!(refused("kind = \"codel\"\ninterval = \"0 s\""), @r#"
    error: without an interval every packet is late
     --> demo.toml:9:12
      |
    9 | interval = "0 s"
      |            ^^^^^
    hint: as in "100 ms"
    "#);
}

#[test]
fn codel_with_times_that_tc_cannot_express() {
    insta::assert_snapshot!(refused("kind = \"codel\"\ntarget = \"500 ns\"\ninterval = \"5000 s\""), @r#"
    error: tc cuts this time to 0 us
     --> demo.toml:9:10
      |
    9 | target = "500 ns"
      |          ^^^^^^^^
    hint: write at least "1 us"

    error: tc counts microseconds with 32 bits
      --> demo.toml:10:12
       |
    10 | interval = "5000 s"
       |            ^^^^^^^^
    hint: write at most "4294 s"
    "#);
}

#[test]
fn codel_with_a_target_beyond_its_interval() {
    insta::assert_snapshot!(warnings(&with("kind = \"codel\"\ntarget = \"200 ms\""), &[]), @r#"
    warning: the target is longer than the interval
     --> demo.toml:9:10
      |
    9 | target = "200 ms"
      |          ^^^^^^^^
    hint: RFC 8289 recommends 5 % to 10 % of the interval
    "#);
}

#[test]
fn codel_with_a_limit_below_a_packet() {
    insta::assert_snapshot!(refused("kind = \"codel\"\nlimit = \"1000 B\""), @r#"
    error: the limit does not hold one packet of 1500 B
     --> demo.toml:9:9
      |
    9 | limit = "1000 B"
      |         ^^^^^^^^
    hint: write at least "1500 B" or "1 packets"
    "#);
}

#[test]
fn a_ce_threshold_below_a_microsecond() {
    insta::assert_snapshot!(refused("kind = \"codel\"\nce_threshold = \"1 ns\""), @r#"
    error: tc cuts this time to 0 us
     --> demo.toml:9:16
      |
    9 | ce_threshold = "1 ns"
      |                ^^^^^^
    hint: write at least "1 us"
    "#);
}

#[test]
fn fq_codel_with_too_many_queues() {
    insta::assert_snapshot!(refused("kind = \"fq-codel\"\nflows = 65537"), @r#"
    error: 65537 queues
     --> demo.toml:9:9
      |
    9 | flows = 65537
      |         ^^^^^
    hint: write a number from 1 to 65536, as in 1024
    "#);
}

#[test]
fn fq_codel_with_a_number_of_queues_of_their_own() {
    insta::assert_snapshot!(refused("kind = \"fq-codel\"\nclassifier = \"flow\"\nflows = 1024"), @r#"
    error: a queue for each flow has no number of queues
      --> demo.toml:10:9
       |
    10 | flows = 1024
       |         ^^^^
    hint: remove flows, or write classifier = "hash"
    "#);
}

#[test]
fn fq_codel_with_an_unknown_classifier() {
    insta::assert_snapshot!(refused("kind = \"fq-codel\"\nclassifier = \"port\""), @r#"
    error: unknown value "port"
     --> demo.toml:9:14
      |
    9 | classifier = "port"
      |              ^^^^^^
    hint: known: hash, flow
    "#);
}

#[test]
fn fq_codel_with_a_small_quantum_and_little_memory() {
    insta::assert_snapshot!(refused("kind = \"fq-codel\"\nquantum = \"255 B\"\nmemory_limit = \"1 kB\""), @r#"
    error: a quantum of 255 B
     --> demo.toml:9:11
      |
    9 | quantum = "255 B"
      |           ^^^^^^^
    hint: write at least "256 B", as in "1514 B"

    error: the memory does not hold one packet of 1500 B
      --> demo.toml:10:16
       |
    10 | memory_limit = "1 kB"
       |                ^^^^^^
    hint: write at least "1500 B"
    "#);
}

#[test]
fn fq_codel_that_cuts_nothing() {
    insta::assert_snapshot!(refused("kind = \"fq-codel\"\ndrop_batch = \"0 packets\""), @r#"
    error: a cut needs a number of packets above 0
     --> demo.toml:9:14
      |
    9 | drop_batch = "0 packets"
      |              ^^^^^^^^^^^
    hint: as in "64 packets"
    "#);
}

#[test]
fn fq_codel_with_an_unknown_selector() {
    insta::assert_snapshot!(refused("kind = \"fq-codel\"\nce_threshold_for = \"ect0\""), @r#"
    error: unknown value "ect0"
     --> demo.toml:9:20
      |
    9 | ce_threshold_for = "ect0"
      |                    ^^^^^^
    hint: did you mean "ect"? known: ect, ect1
    "#);
}

#[test]
fn pie_without_target_and_updates() {
    insta::assert_snapshot!(refused("kind = \"pie\"\ntarget = \"0 s\"\ntupdate = \"0 s\""), @r#"
    error: target must be above 0
     --> demo.toml:9:10
      |
    9 | target = "0 s"
      |          ^^^^^
    hint: as in "15 ms"

    error: tupdate must be above 0
      --> demo.toml:10:11
       |
    10 | tupdate = "0 s"
       |           ^^^^^
    hint: as in "15 ms"
    "#);
}

#[test]
fn pie_with_gains_that_tc_refuses() {
    insta::assert_snapshot!(refused("kind = \"pie\"\nalpha = 33\nbeta = 40"), @r#"
    error: alpha of 33 sixteenths
     --> demo.toml:9:9
      |
    9 | alpha = 33
      |         ^^
    hint: write a number from 0 to 32, as in 2

    error: beta of 40 sixteenths
      --> demo.toml:10:8
       |
    10 | beta = 40
       |        ^^
    hint: write a number from 0 to 32, as in 20
    "#);
}

#[test]
fn pie_with_the_key_of_another_law() {
    insta::assert_snapshot!(refused("kind = \"pie\"\ninterval = \"100 ms\""), @r#"
    error: `interval` is no key of kind "pie"
     --> demo.toml:9:1
      |
    9 | interval = "100 ms"
      | ^^^^^^^^
    hint: it belongs to codel, fq-codel
    "#);
}

#[test]
fn gred_without_a_virtual_queue() {
    insta::assert_snapshot!(refused("kind = \"gred\"\nnot_ect = { min = \"30 kB\", max = \"90 kB\" }"), @r#"
    error: missing key `ect`
     --> demo.toml:7:1
      |
    7 | [bottleneck.aqm]
      | ^^^^^^^^^^^^^^^^
    hint: add a section [ect]
    "#);
}

#[test]
fn gred_with_thresholds_in_disorder() {
    let aqm = "kind = \"gred\"\nnot_ect = { min = \"90 kB\", max = \"30 kB\" }\nect = { min = \"30 kB\", max = \"200 kB\" }";
    insta::assert_snapshot!(refused(aqm), @r#"
    error: max of 30000 B, min of 90000 B
     --> demo.toml:9:34
      |
    9 | not_ect = { min = "90 kB", max = "30 kB" }
      |                                  ^^^^^^^
    hint: 0 < min <= max is needed

    error: max of 200000 B is above the limit of 100000 B
      --> demo.toml:10:30
       |
    10 | ect = { min = "30 kB", max = "200 kB" }
       |                              ^^^^^^^^
    hint: raise limit (or the buffer), or lower max
    "#);
}

#[test]
fn gred_with_a_priority_out_of_range() {
    let aqm = "kind = \"gred\"\nnot_ect = { min = \"30 kB\", max = \"90 kB\", prio = 16 }\nect = { min = \"30 kB\", max = \"90 kB\" }";
    insta::assert_snapshot!(refused(aqm), @r#"
    error: a priority of 16
     --> demo.toml:9:50
      |
    9 | not_ect = { min = "30 kB", max = "90 kB", prio = 16 }
      |                                                  ^^
    hint: write a number from 1 to 15, as in 8
    "#);
}

#[test]
fn gred_with_a_burst_that_tc_refuses() {
    let aqm = "kind = \"gred\"\nnot_ect = { min = \"30 kB\", max = \"90 kB\", burst = \"3 packets\" }\n\
               ect = { min = \"30 kB\", max = \"90 kB\", harddrop = true }";
    insta::assert_snapshot!(refused(aqm), @r#"
    error: tc cannot configure this queue: a burst of 3 packets is too small for min/avpkt: use at least 31
     --> demo.toml:9:1
      |
    9 | not_ect = { min = "30 kB", max = "90 kB", burst = "3 packets" }
      | ^^^^^^^
    hint: change min, max, burst, avpkt or probability; the message is that of tc or the kernel

    error: harddrop needs ecn
      --> demo.toml:10:50
       |
    10 | ect = { min = "30 kB", max = "90 kB", harddrop = true }
       |                                                  ^^^^
    hint: add ecn = true
    "#);
}

#[test]
fn gred_with_one_average_and_two_weights() {
    let aqm = "kind = \"gred\"\nnot_ect = { min = \"30 kB\", max = \"90 kB\" }\n\
               ect = { min = \"30 kB\", max = \"31 kB\", ecn = true, burst = \"31 packets\" }";
    insta::assert_snapshot!(refused(aqm), @r#"
    error: with one average for both, weights of 2^-5 and 2^-2 misread it
      --> demo.toml:10:59
       |
    10 | ect = { min = "30 kB", max = "31 kB", ecn = true, burst = "31 packets" }
       |                                                           ^^^^^^^^^^^^
    hint: set burst (or min, avpkt) so that tc finds the same weight for both
    "#);
}
