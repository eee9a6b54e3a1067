//! Flows that iperf3 drives.

mod common;

use shoal_linux::{Kernel, Plan, Refusal};

fn plan(flows: &str) -> Result<Plan, Vec<Refusal>> {
    let generator = Some("iperf3 3.12".to_owned());
    let kernel = Kernel { generator, ..common::kernel_with("reno cubic dctcp", "pfifo") };
    let text = format!(
        "duration = \"20 s\"\nbottleneck = {{ rate = \"10 Mbit/s\", buffer = \"50 packets\" }}\n{flows}"
    );
    Plan::new(&common::experiment(&text), &kernel, false)
}

#[test]
fn bulk_flows_become_a_client_and_a_server() {
    let plan = plan("flows = [{ cc = \"dctcp\", rtt = \"20 ms\", start = \"1 s\" }]").unwrap();
    let has = |line: &str| assert!(plan.config.lines().any(|other| other == line), "{line}: {}", plan.config);
    has("flow s0 d0 10.1.0.2 10.2.0.2 dctcp dctcp dctcp 1 131072 1 1000000000 never iperf3 80");
    has("sysctl init net/ipv4/tcp_allowed_congestion_control cubic dctcp reno");
    has("sysctl s0 net/ipv4/tcp_notsent_lowat 131072");
    assert!(plan.rules.iter().any(|rule| rule.text.ends_with("dctcp at the listener; iperf3 3.12")));
}

#[test]
fn what_iperf3_cannot_do_is_refused_at_its_place() {
    for (flow, place) in [
        ("app = { transfer = \"1 MB\" }", "app"),
        ("app = { on = \"1 s\", off = \"1 s\" }", "app"),
        ("app = { request = \"1 B\", response = \"1 B\" }", "app"),
        ("stop = \"3 s\"", "stop"),
        ("receiver = { feedback = \"classic\" }", "receiver"),
        ("replace = { cc = \"cubic\", after = \"1 s\" }", "replace"),
    ] {
        let refusals = plan(&format!("flows = [{{ cc = \"dctcp\", rtt = \"20 ms\", {flow} }}]")).unwrap_err();
        assert_eq!(refusals.len(), 1, "{flow}");
        assert_eq!(refusals[0].place, format!("flow group `dctcp`: {place}"));
    }
    let udp = "flows = [{ cc = \"none\", rtt = \"20 ms\", app = { unresponsive = \"1 Mbit/s\" } }]";
    assert_eq!(plan(udp).unwrap_err()[0].place, "flow group `none`: app");
}
