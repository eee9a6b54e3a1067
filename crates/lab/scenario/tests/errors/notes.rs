//! Allowed and as written, but with consequences that are worth a word.

use super::accepted;

fn notes(text: &str, set: &[(&str, &str)]) -> String {
    accepted(text, set).notes().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const DUALPI2: &str = r#"duration = "10 s"

[bottleneck]
rate = "40 Mbit/s"
buffer = "100 packets"
aqm = { kind = "dualpi2" }

[[flows]]
cc = "cubic"
rtt = "25 ms"

[[flows]]
cc = "dctcp"
rtt = "25 ms"
"#;

#[test]
fn dctcp_in_the_classic_queue_of_dualpi2() {
    insta::assert_snapshot!(notes(DUALPI2, &[]), @r#"
    note: dctcp sends ECT(0), which dualpi2 with ecn_mask = "l4s-ect" (mask 1, Linux's default) puts into the classic queue
      --> demo.toml:13:6
       |
    13 | cc = "dctcp"
       |      ^^^^^^^
    hint: for DCTCP in the low-latency queue write ecn_mask = "any-ect" (mask 3) into the section of the queue
    "#);
    let experiment = accepted(DUALPI2, &[]).resolve(None).unwrap();
    let found: Vec<_> = experiment
        .notes
        .iter()
        .map(|note| (note.kind, note.groups.join(" "), note.links.join(" ")))
        .collect();
    assert_eq!(found, [("dctcp-in-classic-queue", "dctcp".to_owned(), "bottleneck".to_owned())]);
    assert!(accepted(DUALPI2, &[]).warnings().is_empty(), "a note is no warning");
}

/// Nothing is said where DCTCP is in the low-latency queue, where it sends no ECT, or where nobody runs it.
#[test]
fn no_word_about_dctcp_that_is_where_it_belongs() {
    for set in [
        [("bottleneck.aqm.ecn_mask", "any-ect")],
        [("bottleneck.aqm.ecn_mask", "classic-ect")],
        [("flows[1].ecn", "off")],
        [("flows[1].cc", "reno")],
        [("bottleneck.aqm", r#"{ kind = "dualq-coupled", reno_slope = 1 }"#)],
    ] {
        assert_eq!(notes(DUALPI2, &set), "", "{set:?}");
    }
}

const NARROW_HOSTS: &str = r#"duration = "10 s"

[bottleneck]
rate = "1 Gbit/s"
buffer = "500 packets"
aqm = { kind = "step", threshold = "20 packets" }

[topology]
kind = "dumbbell"
access_rate = "1 Gbit/s"

[[flows]]
cc = "dctcp"
rtt = "200 us"
"#;

#[test]
fn hosts_that_are_as_fast_as_the_bottleneck() {
    insta::assert_snapshot!(notes(NARROW_HOSTS, &[]), @r#"
    note: the host links (dctcp/access) are no faster than the link bottleneck and have an unlimited buffer: while one host sends alone, its packets wait in the host itself, where nothing marks or drops them, so its flow grows without a signal, and a second flow gets next to nothing until that queue has drained
      --> demo.toml:10:15
       |
    10 | access_rate = "1 Gbit/s"
       |               ^^^^^^^^^^
    hint: give hosts a limit as real ones have: access_buffer, or a higher access_rate
    "#);
    let experiment = accepted(NARROW_HOSTS, &[]).resolve(None).unwrap();
    let found: Vec<_> = experiment.notes.iter().map(|note| (note.kind, note.links.join(" "))).collect();
    assert_eq!(found, [("queue-in-hosts", "dctcp/access".to_owned())]);
}

/// Faster hosts, hosts with a limit, hosts whose own queue marks, and hosts that only send short transfers have nothing to say.
#[test]
fn no_word_about_hosts_whose_queues_end() {
    for set in [
        [("topology.access_rate", "2 Gbit/s")],
        [("topology.access_buffer", "1000 packets")],
        [("topology.access_aqm", r#"{ kind = "codel" }"#)],
        [("flows[0].app", r#"{ transfer = "10 kB" }"#)],
    ] {
        assert_eq!(notes(NARROW_HOSTS, &set), "", "{set:?}");
    }
}

const STAR: &str = r#"duration = "10 s"

[topology]
kind = "star"
hosts = 3
rate = "1 Gbit/s"
delay = "50 us"
buffer = "100 packets"

[[flows]]
cc = "dctcp"
from = "h1"
to = "h3"

[[flows]]
name = "other"
cc = "dctcp"
from = "h2"
to = "h3"
"#;

#[test]
fn hosts_of_a_star() {
    insta::assert_snapshot!(notes(STAR, &[]), @r#"
    note: the host links (h1->switch, ...) are no faster than the link switch->h3 and have an unlimited buffer: while one host sends alone, its packets wait in the host itself, where nothing marks or drops them, so its flow grows without a signal, and a second flow gets next to nothing until that queue has drained
     --> demo.toml:3:2
      |
    3 | [topology]
      |  ^^^^^^^^
    hint: give hosts a limit as real ones have: host_buffer
    "#);
    assert_eq!(notes(STAR, &[("topology.host_buffer", "100 packets")]), "");
}
