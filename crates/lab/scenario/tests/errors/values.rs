//! Values without a meaning.

use super::errors;

#[test]
fn a_zero_rate() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "0 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the rate is 0: no packet would ever leave
     --> demo.toml:4:8
      |
    4 | rate = "0 Mbit/s"
      |        ^^^^^^^^^^
    hint: as in "10 Mbit/s"
    "#);
}

#[test]
fn an_unlimited_bottleneck() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "unlimited"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the rate must be limited here
     --> demo.toml:4:8
      |
    4 | rate = "unlimited"
      |        ^^^^^^^^^^^
    hint: as in "10 Mbit/s"
    "#);
}

#[test]
fn a_rate_beyond_the_clock() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "9000 Gbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the rate is above 8000 Gbit/s
     --> demo.toml:4:8
      |
    4 | rate = "9000 Gbit/s"
      |        ^^^^^^^^^^^^^
    hint: time is counted in picoseconds, and a byte must take at least one
    "#);
}

#[test]
fn a_zero_duration() {
    insta::assert_snapshot!(errors(r#"duration = "0 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the duration is 0
     --> demo.toml:1:12
      |
    1 | duration = "0 s"
      |            ^^^^^
    hint: write a time, as in "300 s"
    "#);
}

#[test]
fn a_huge_duration() {
    insta::assert_snapshot!(errors(r#"duration = "2000000 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `2000000 s` is too long
     --> demo.toml:1:12
      |
    1 | duration = "2000000 s"
      |            ^^^^^^^^^^^
    hint: at most "1000000 s"; for example "25 ms"
    "#);
}

#[test]
fn a_duration_beyond_the_clock() {
    insta::assert_snapshot!(errors(r#"duration = "1000000000000 min"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: `1000000000000 min` is too long
     --> demo.toml:1:12
      |
    1 | duration = "1000000000000 min"
      |            ^^^^^^^^^^^^^^^^^^^
    hint: at most "1000000 s"; for example "25 ms"
    "#);
}

#[test]
fn a_warmup_as_long_as_the_run() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"
warmup = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the warm-up is not shorter than the duration: nothing would be measured
     --> demo.toml:2:10
      |
    2 | warmup = "10 s"
      |          ^^^^^^
    hint: write a time below "10 s", or leave warmup out
    "#);
}

#[test]
fn a_zero_rtt() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "0 ms"
"#, &[]), @r#"
    error: a round-trip time of 0
     --> demo.toml:9:7
      |
    9 | rtt = "0 ms"
      |       ^^^^^^
    hint: write a time, as in "25 ms"
    "#);
}

#[test]
fn an_rtt_below_the_fixed_delays() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"
delay = "30 ms"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the rtt of 25 ms is shorter than the fixed delays of 30 ms
      --> demo.toml:10:7
       |
    10 | rtt = "25 ms"
       |       ^^^^^^^
    hint: write at least "30 ms", or lower bottleneck.delay
    "#);
}

#[test]
fn a_missing_rtt() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
"#, &[]), @r#"
    error: missing key `rtt`
     --> demo.toml:7:1
      |
    7 | [[flows]]
      | ^^^^^^^^^
    hint: add the two-way propagation delay, as in rtt = "25 ms"
    "#);
}

#[test]
fn a_buffer_below_one_packet() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "0.01 BDP"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the buffer does not hold one packet of 1500 B: "0.01 BDP" is 312 B at 10 Mbit/s
     --> demo.toml:5:10
      |
    5 | buffer = "0.01 BDP"
      |          ^^^^^^^^^^
    hint: write buffer = "100 packets", or raise the rate; the smallest buffer is "1 packets" or "1500 B"
    "#);
}

#[test]
fn a_packet_without_room() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
mtu = "52 B"
"#, &[]), @r#"
    error: the packets have no room for data
      --> demo.toml:10:7
       |
    10 | mtu = "52 B"
       |       ^^^^^^
    hint: write more than header_bytes = 52
    "#);
}

#[test]
fn a_packet_too_large() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
mtu = "70 kB"
"#, &[]), @r#"
    error: an IP packet has at most 65535 B
      --> demo.toml:10:7
       |
    10 | mtu = "70 kB"
       |       ^^^^^^^
    hint: as in mtu = "1500 B"
    "#);
}

#[test]
fn too_fine_a_series() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"

[trace]
series = "1 ns"
"#, &[]), @r#"
    error: too many bins for this duration
      --> demo.toml:12:10
       |
    12 | series = "1 ns"
       |          ^^^^^^
    hint: at most 10000000 bins; write a longer time, or "off"
    "#);
}

#[test]
fn too_short_windows() {
    insta::assert_snapshot!(errors(r#"duration = "200 s"

[bottleneck]
rate = "10 Mbit/s"

[[flows]]
cc = "reno"
rtt = "25 ms"

[trace]
windows = "1 ms"
"#, &[]), @r#"
    error: too many windows for this duration
      --> demo.toml:11:11
       |
    11 | windows = "1 ms"
       |           ^^^^^^
    hint: at most 100000 windows; write a longer time, or "off"
    "#);
}

#[test]
fn no_time_between_samples() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"

[[flows]]
cc = "reno"
rtt = "25 ms"

[trace]
sample = "0 s"
"#, &[]), @r#"
    error: no time between samples
      --> demo.toml:11:10
       |
    11 | sample = "0 s"
       |          ^^^^^
    hint: write a time, as in "10 ms"
    "#);
}

#[test]
fn a_slow_constant_rate() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
app = { constant_rate = "1 bit/s", packet = "4 GB" }
"#, &[]), @r#"
    error: the writes are more than 1000000 s apart
      --> demo.toml:10:25
       |
    10 | app = { constant_rate = "1 bit/s", packet = "4 GB" }
       |                         ^^^^^^^^^
    hint: write a higher rate or a smaller packet
    "#);
}

#[test]
fn a_seed_beyond_toml() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[(r"seed", r"9223372036854775808")]), @r"
    error: 9223372036854775808 is no seed
     --> --set:1:6
      |
    1 | seed=9223372036854775808
      |      ^^^^^^^^^^^^^^^^^^^
    hint: write a whole number from 0 to 9223372036854775807
    ");
}

#[test]
fn a_seed_that_is_negative_or_no_number() {
    let hint = "write a whole number from 0 to 9223372036854775807";
    for (seed, message) in [
        ("-1", "-1 is no seed"),
        ("1.5", "expected a whole number, found a number"),
        ("18446744073709551616", ""),
    ] {
        let found = errors(r#"duration = "10 s""#, &[("seed", seed)]);
        assert!(found.contains(message), "{found}");
        assert!(seed.len() > 19 || found.contains(hint), "{found}");
    }
}

#[test]
fn a_seed_given_to_a_run_has_the_same_range() {
    let text = r#"duration = "10 s"
bottleneck = { rate = "10 Mbit/s" }
flows = [{ cc = "reno", rtt = "25 ms" }]
"#;
    let document = shoal_scenario::Document::parse(text, "demo.toml").unwrap();
    let largest = shoal_scenario::schema::Seed::MAX;
    assert_eq!(document.resolve(Some(largest)).unwrap().seed, largest);
    let refused = document.resolve(Some(largest + 1)).unwrap_err().to_string();
    assert!(refused.contains("9223372036854775808 is no seed"), "{refused}");
}

#[test]
fn a_list_of_tables_with_single_brackets() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"

[flows]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r"
    error: `flows` is a list of tables, found one table
     --> demo.toml:6:2
      |
    6 | [flows]
      |  ^^^^^
    hint: write two brackets, as in [[flows]], once for each of the list
    ");
}

#[test]
fn a_default_buffer_below_one_packet() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "1 bit/s"

[[flows]]
cc = "reno"
rtt = "25 ms"
"#, &[]), @r#"
    error: the buffer does not hold one packet of 1500 B: buffer is not written, and its default of 4 BDP is 0 B at 1 bit/s
     --> demo.toml:3:2
      |
    3 | [bottleneck]
      |  ^^^^^^^^^^
    hint: write buffer = "100 packets", or raise the rate; the smallest buffer is "1 packets" or "1500 B"
    "#);
}

#[test]
fn a_round_trip_time_of_zero_is_the_only_complaint() {
    insta::assert_snapshot!(errors(r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
aqm = { kind = "red", min = "0.5 BDP", max = "1 BDP" }

[[flows]]
cc = "reno"
rtt = "0 ms"
"#, &[]), @r#"
    error: a round-trip time of 0
     --> demo.toml:9:7
      |
    9 | rtt = "0 ms"
      |       ^^^^^^
    hint: write a time, as in "25 ms"
    "#);
}
