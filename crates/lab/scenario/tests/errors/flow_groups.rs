//! Flow groups that cannot be.

use super::errors;

#[test]
fn no_flows() {
    insta::assert_snapshot!(errors(r#"flows = []
duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
"#, &[]), @r"
    error: there are no flows
     --> demo.toml:1:9
      |
    1 | flows = []
      |         ^^
    hint: add a group: [[flows]] with at least cc and rtt
    ");
}

#[test]
fn a_group_without_flows() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
count = 0
"#, &[]), @r#"
    error: group "reno" has no flows
      --> demo.toml:10:9
       |
    10 | count = 0
       |         ^
    hint: write at least 1, or remove the group
    "#);
}

#[test]
fn too_many_flows() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
count = 1000001
"#, &[]), @r"
    error: 1000001 flows are too many
      --> demo.toml:10:9
       |
    10 | count = 1000001
       |         ^^^^^^^
    hint: at most 1000000 in all groups together
    ");
}

#[test]
fn a_negative_count() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
count = -1
"#, &[]), @r"
    error: -1 is out of range
      --> demo.toml:10:9
       |
    10 | count = -1
       |         ^^
    hint: a whole number from 0 to 4294967295
    ");
}

#[test]
fn duplicate_names() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: duplicate flow group name "reno"
      --> demo.toml:11:1
       |
    11 | [[flows]]
       | ^^^^^^^^^
    hint: flows[0] has this name too; give each group its own name
    "#);
}

#[test]
fn an_unknown_controller() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "dctpc"
rtt = "25 ms"
"#, &[]), @r#"
    error: unknown congestion controller "dctpc"
     --> demo.toml:8:6
      |
    8 | cc = "dctpc"
      |      ^^^^^^^
    hint: did you mean "dctcp"? known: reno, cubic, cubic-rfc9438, dctcp, dctcp-linux-3.18, dctcp-stanford, dctcp-ikr, dctcp-freebsd, dctcp-freebsd-14, ecn-reno, ecn-newreno
    "#);
}

#[test]
fn an_unknown_stack() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
stack = "linux-2.6"
"#, &[]), @r#"
    error: unknown stack "linux-2.6"
      --> demo.toml:10:9
       |
    10 | stack = "linux-2.6"
       |         ^^^^^^^^^^^
    hint: did you mean "linux-3.2"? known: linux-3.2, linux-3.18, linux-6, freebsd-2015, freebsd-14
    "#);
}

#[test]
fn a_policy_of_another_controller() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
cc_options = { alpha_update = "per-ack" }
"#, &[]), @r#"
    error: unknown key `alpha_update`
      --> demo.toml:10:16
       |
    10 | cc_options = { alpha_update = "per-ack" }
       |                ^^^^^^^^^^^^
    hint: known keys here: halves_to_half_ssthresh, undo
    "#);
}

#[test]
fn an_unknown_policy_value() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "dctcp"
rtt = "25 ms"
cc_options = { alpha_update = "per-packet", gain = { shift = 99 }, floor_packets = 0 }
"#, &[]), @r#"
    error: unknown value "per-packet"
      --> demo.toml:10:31
       |
    10 | cc_options = { alpha_update = "per-packet", gain = { shift = 99 }, floor_packets = 0 }
       |                               ^^^^^^^^^^^^
    hint: known: per-window, per-ack

    error: not a usable shift
      --> demo.toml:10:62
       |
    10 | cc_options = { alpha_update = "per-packet", gain = { shift = 99 }, floor_packets = 0 }
       |                                                              ^^
    hint: a whole number from 0 to 10

    error: 0 is out of range
      --> demo.toml:10:84
       |
    10 |  gain = { shift = 99 }, floor_packets = 0 }
       |                                         ^
    hint: the window needs at least one packet
    "#);
}

#[test]
fn start_times_for_other_flows() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
count = 3
start = ["0 s", "1 s"]
"#, &[]), @r#"
    error: 2 start times for 3 flows
      --> demo.toml:11:9
       |
    11 | start = ["0 s", "1 s"]
       |         ^^^^^^^^^^^^^^
    hint: give one time for each flow, or leave out count
    "#);
}

#[test]
fn a_start_after_the_end() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
start = "10 s"
"#, &[]), @r#"
    error: the group starts after the end of the run
      --> demo.toml:10:9
       |
    10 | start = "10 s"
       |         ^^^^^^
    hint: the duration is 10 s
    "#);
}

#[test]
fn a_stop_before_the_start() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
start = "5 s"
stop = "5 s"
"#, &[]), @r#"
    error: flows would stop before they start
      --> demo.toml:11:8
       |
    11 | stop = "5 s"
       |        ^^^^^
    hint: write a time after the last start
    "#);
}

#[test]
fn a_backward_uniform_start() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
start = { uniform = ["2 s", "1 s"] }
"#, &[]), @r#"
    error: the latest start is before the earliest
      --> demo.toml:10:1
       |
    10 | start = { uniform = ["2 s", "1 s"] }
       | ^^^^^
    hint: as in { uniform = ["0 s", "1 s"] }
    "#);
}

#[test]
fn an_unknown_form_of_start() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
start = { poisson = "1 s" }
"#, &[]), @r#"
    error: `1 s` is a time, not a frequency
      --> demo.toml:10:21
       |
    10 | start = { poisson = "1 s" }
       |                     ^^^^^
    hint: units here: per min, per s, per ms; as in "200 per s"
    "#);
}

#[test]
fn an_unknown_application() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
app = "bulkk"
"#, &[]), @r#"
    error: unknown application "bulkk"
      --> demo.toml:10:7
       |
    10 | app = "bulkk"
       |       ^^^^^^^
    hint: did you mean "bulk"? known: bulk; or write "bulk", { transfer = "800 kB", rounds = 50, every = "100 ms" }, { request = "200 B", response = "20 kB" }, { frame = "20 kB", every = "40 ms", deadline = "100 ms" }, { constant_rate = "1 Mbit/s" }, { on = "1 s", off = "1 s" } or { unresponsive = "1 Mbit/s" }
    "#);
}

#[test]
fn an_empty_transfer() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
app = { transfer = "0 B", rounds = 0 }
"#, &[]), @r#"
    error: a transfer needs a size above 0
      --> demo.toml:10:20
       |
    10 | app = { transfer = "0 B", rounds = 0 }
       |                    ^^^^^
    hint: as in "800 kB"; endless is app = "bulk"

    error: there are no rounds
      --> demo.toml:10:36
       |
    10 | app = { transfer = "0 B", rounds = 0 }
       |                                    ^
    hint: write at least 1
    "#);
}

#[test]
fn windows_that_cannot_be() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
initial_window = "0 packets"
receive_window = "2 GB"
cwnd_clamp = "1 packet"
"#, &[]), @r#"
    error: the initial window is not a number of packets above 0
      --> demo.toml:10:18
       |
    10 | initial_window = "0 packets"
       |                  ^^^^^^^^^^^
    hint: as in "10 packets"

    error: TCP cannot express this window
      --> demo.toml:11:18
       |
    11 | receive_window = "2 GB"
       |                  ^^^^^^
    hint: at most 1073725440 B, or "unlimited"

    error: cwnd needs at least 2 packets
      --> demo.toml:12:14
       |
    12 | cwnd_clamp = "1 packet"
       |              ^^^^^^^^^^
    hint: as in "100 packets" or "unlimited"
    "#);
}

#[test]
fn an_unknown_stack_of_the_receiver() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "dctcp-freebsd"
stack = "freebsd-2015"
receiver = { stack = "freebsd-15" }
rtt = "25 ms"
"#, &[]), @r#"
    error: unknown stack "freebsd-15"
      --> demo.toml:10:22
       |
    10 | receiver = { stack = "freebsd-15" }
       |                      ^^^^^^^^^^^^
    hint: did you mean "freebsd-14"? known: linux-3.2, linux-3.18, linux-6, freebsd-2015, freebsd-14
    "#);
}

#[test]
fn an_unknown_feedback() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "dctcp-freebsd"
receiver = { feedback = "accurate" }
rtt = "25 ms"
"#, &[]), @r#"
    error: unknown value "accurate"
     --> demo.toml:9:25
      |
    9 | receiver = { feedback = "accurate" }
      |                         ^^^^^^^^^^
    hint: known: classic, dctcp
    "#);
}

#[test]
fn an_unknown_key_of_the_receiver() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "ecn-newreno"
receiver = { delays_cwr_ack = true }
rtt = "25 ms"
"#, &[]), @r#"
    error: unknown key `delays_cwr_ack`
     --> demo.toml:9:14
      |
    9 | receiver = { delays_cwr_ack = true }
      |              ^^^^^^^^^^^^^^
    hint: did you mean `delays_cwr_acks`?
    "#);
}

#[test]
fn a_controller_of_packets_on_a_stack_of_bytes() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "cubic"
stack = "freebsd-14"
rtt = "25 ms"
"#, &[]), @r#"
    error: cubic counts packets, but the windows of freebsd-14 are bytes
     --> demo.toml:8:6
      |
    8 | cc = "cubic"
      |      ^^^^^^^
    hint: write cc = "cubic-rfc9438", or a linux stack
    "#);
}

#[test]
fn a_host_that_nobody_describes() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "dctcp"
rtt = "25 ms"
host = "linus"
"#, &[]), @r#"
    error: unknown host "linus"
      --> demo.toml:10:8
       |
    10 | host = "linus"
       |        ^^^^^^^
    hint: did you mean "linux"? known: ideal, linux
    "#);
}
