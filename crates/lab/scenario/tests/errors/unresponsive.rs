//! Unresponsive traffic that cannot be.

use super::errors;

const BASE: &str = r#"duration = "10 s"

[bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
cc = "none"
rtt = "25 ms"
app = { unresponsive = "1 Mbit/s" }
"#;

#[test]
fn a_controller_that_nobody_asks() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].cc", "dctcp")]), @r#"
    error: unresponsive traffic has no congestion controller "dctcp"
     --> --set:1:13
      |
    1 | flows[0].cc=dctcp
      |             ^^^^^
    hint: write cc = "none"
    "#);
}

#[test]
fn a_connection_without_controller() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "bulk")]), @r#"
    error: a connection needs a congestion controller
     --> demo.toml:8:6
      |
    8 | cc = "none"
      |      ^^^^^^
    hint: name one, as in cc = "reno", or write app = { unresponsive = "1 Mbit/s" }
    "#);
}

#[test]
fn packets_that_cannot_be() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"1 Mbit/s\", packet = \"28 B\" }")]), @r#"
    error: an IP packet with data has from 29 to 65535 B
     --> --set:1:52
      |
    1 | flows[0].app={ unresponsive = "1 Mbit/s", packet = "28 B" }
      |                                                    ^^^^^^
    hint: as in "1500 B"
    "#);
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"unlimited\", ecn = \"ce\" }")]), @r#"
    error: unknown value "ce"
     --> --set:1:50
      |
    1 | flows[0].app={ unresponsive = "unlimited", ecn = "ce" }
      |                                                  ^^^^
    hint: known: none, ect0, ect1
    "#);
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"0 bit/s\" }")]), @r#"
    error: the rate must be above 0 and limited
     --> --set:1:31
      |
    1 | flows[0].app={ unresponsive = "0 bit/s" }
      |                               ^^^^^^^^^
    hint: as in "1 Mbit/s"
    "#);
}

#[test]
fn rates_that_cannot_be() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"20000 Gbit/s\", packet = \"100 B\" }")]), @r#"
    error: the packets follow each other within a nanosecond
     --> --set:1:31
      |
    1 | flows[0].app={ unresponsive = "20000 Gbit/s", packet = "100 B" }
      |                               ^^^^^^^^^^^^^^
    hint: write a lower rate
    "#);
}
