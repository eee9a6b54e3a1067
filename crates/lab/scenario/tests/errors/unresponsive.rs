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
    insta::assert_snapshot!(errors(BASE, &[("flows[0].cc", "dctcp")]), @"");
}

#[test]
fn a_connection_without_controller() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "bulk")]), @"");
}

#[test]
fn packets_that_cannot_be() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"1 Mbit/s\", packet = \"28 B\" }")]), @"");
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"unlimited\", ecn = \"ce\" }")]), @"");
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"0 bit/s\" }")]), @"");
}

#[test]
fn rates_that_cannot_be() {
    insta::assert_snapshot!(errors(BASE, &[("flows[0].app", "{ unresponsive = \"20000 Gbit/s\", packet = \"100 B\" }")]), @"");
}
