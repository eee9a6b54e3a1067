//! Scenarios as testbeds: exact instructions, exact kernel structures, complete refusals.

mod common;

use common::{experiment, kernel_with, lines};
use shoal_linux::{Kernel, Plan, Refusal};

fn kernel() -> Kernel {
    kernel_with("cubic dctcp reno", "bfifo netem pfifo red")
}

fn plan(text: &str) -> Result<Plan, Vec<Refusal>> {
    Plan::new(&experiment(text), &kernel(), false)
}

/// Bytes of a discipline's options, the last word of its line.
fn options(line: &str) -> Vec<u8> {
    let hex = line.rsplit(' ').next().unwrap();
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
}

const STEP: &str = r#"
duration = "60 s"
warmup = "10 s"
bottleneck = { rate = "100 Mbit/s", buffer = "250 packets", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "dctcp", rtt = "10 ms" }]
"#;

#[test]
fn step_is_red_without_memory() {
    let plan = plan(STEP).unwrap();
    let qdiscs = lines(&plan, "qdisc");
    // TC_H_ROOT and handle 20: for netem; 1: for the line, 10: below 1:1, 11: below 10:1.
    assert!(qdiscs[0].starts_with("qdisc r2 e0 4294967295 1310720 netem "));
    assert!(qdiscs[1].starts_with("qdisc d0 e0 4294967295 1310720 netem "));
    assert!(qdiscs[2].starts_with("qdisc r1 b0 4294967295 65536 line "));
    assert!(qdiscs[3].starts_with("qdisc r1 b0 65537 655360 red "));
    assert!(qdiscs[4].starts_with("qdisc r1 b0 655361 720896 pfifo "));
    // More than 20 packets including the arriving one are at least 20 x 1500 B before it. Header of 4 bytes,
    // limit, min, max, then Wlog 0.
    let red = options(qdiscs[3]);
    assert_eq!((u32_at(&red, 8), u32_at(&red, 12), red[16]), (30_000, 30_000, 0));
    // Flags: ECN (1) and NODROP (8) of all four; their attribute is the last one.
    assert_eq!((u32_at(&red, red.len() - 8), u32_at(&red, red.len() - 4)), (9, 15));
    assert_eq!(u32_at(&options(qdiscs[4]), 0), 250);
    // A line of 100 Mbit/s without framing.
    let line = options(qdiscs[2]);
    assert_eq!(u64::from_ne_bytes(line[4..12].try_into().unwrap()), 100_000_000);
    // Half of the RTT each way: 5 ms in the last attribute of netem.
    for qdisc in &qdiscs[..2] {
        let netem = options(qdisc);
        assert_eq!(u64::from_ne_bytes(netem[netem.len() - 8..].try_into().unwrap()), 5_000_000);
    }
}

#[test]
fn drop_threshold_equal_to_the_threshold_is_red_that_drops() {
    let text = STEP
        .replace("threshold = \"20 packets\"", "threshold = \"20 packets\", drop_threshold = \"20 packets\"");
    let plan = plan(&text).unwrap();
    let red = options(lines(&plan, "qdisc")[3]);
    assert_eq!(u32_at(&red, red.len() - 8), 1);
}

#[test]
fn linux_red_is_what_tc_computes() {
    let plan = plan(
        r#"
duration = "60 s"
bottleneck = { rate = "10 Mbit/s", aqm = {
  kind = "linux-red", min = "30 kB", max = "90 kB", limit = "400 kB", avpkt = "1500 B", burst = "40 packets",
  probability = 0.1, bandwidth = "10 Mbit/s", ecn = true } }
flows = [{ cc = "reno", rtt = "25 ms" }]
"#,
    )
    .unwrap();
    let red = options(lines(&plan, "qdisc")[3]);
    assert_eq!((u32_at(&red, 4), u32_at(&red, 8), u32_at(&red, 12)), (400_000, 30_000, 90_000));
    // The smallest n with 40 + 1 - 20 <= (1 - (1 - 2^-n)^40) / 2^-n: 2^-4 gives 14.8, 2^-5 22.8.
    assert_eq!(red[16], 5);
    // 0.1 / 60000 doubled until it exceeds 1: 2^20 gives 1.75.
    assert_eq!(red[17], 20);
    assert!(
        plan.rules
            .iter()
            .any(|rule| rule.text.contains("red limit 400000 min 30000 max 90000 avpkt 1500 burst 40"))
    );
}

#[test]
fn dual_red_is_the_module_of_ours() {
    let text = r#"
duration = "60 s"
[bottleneck]
rate = "10 Mbit/s"
buffer = "4 BDP"
[bottleneck.aqm]
kind = "dual-red"
reno = { min = "0.5 BDP", max = "1.5 BDP", max_probability = 0.1, weight = 0.002 }
dctcp = { threshold = "0.67 BDP" }
[[flows]]
cc = "reno"
rtt = "25 ms"
[[flows]]
cc = "dctcp-ikr"
rtt = "25 ms"
"#;
    let experiment = experiment(text);
    let mut kernel = kernel();
    kernel.controllers.push("dctcp_ikr".to_owned());
    kernel.disciplines.push("dualred".to_owned());
    let plan = Plan::new(&experiment, &kernel, false).unwrap();
    let modules = [
        "module /fine_clock.ko asking_ns=0",
        "module /sch_dualred.ko",
        "module /tcp_dctcp_ikr.ko",
        "module /sch_line.ko",
    ];
    assert_eq!(lines(&plan, "module"), modules);
    assert!(lines(&plan, "flow")[1].contains(" dctcp_ikr "));
    let qdisc = *lines(&plan, "qdisc").last().unwrap();
    assert!(qdisc.starts_with("qdisc r1 b0 65537 655360 dualred "));
    let options = options(qdisc);
    // 4 BDP are 125,000 B; 10 Mbit/s are 1,250,000 B/s.
    assert_eq!(u32_at(&options, 4), 125_000);
    assert_eq!(u64::from_ne_bytes(options[20..28].try_into().unwrap()), 1_250_000);
    // The last nested attribute: its minimum is 0.67 BDP = 20937.5 B, truncated, and so is its maximum;
    // weight 1.
    let ect = &options[options.len() - 60..];
    assert_eq!((u32_at(ect, 8), u32_at(ect, 16)), (20_937, 20_937));
    assert_eq!(u64::from_ne_bytes(ect[36..44].try_into().unwrap()), 1 << 32);
}

#[test]
fn flows_with_equal_settings_share_hosts() {
    let plan = plan(
        r#"
duration = "20 s"
bottleneck = { rate = "10 Mbit/s" }
[[flows]]
cc = "reno"
rtt = "25 ms"
count = 2
[[flows]]
cc = "cubic"
rtt = "25 ms"
start = "1 s"
stop = "5 s"
[[flows]]
cc = "dctcp"
rtt = "25 ms"
app = { transfer = "100 kB", rounds = 3, every = "1 s" }
[[flows]]
name = "far"
cc = "reno"
rtt = "50 ms"
"#,
    )
    .unwrap();
    assert_eq!(
        lines(&plan, "flow"),
        [
            "flow s0 d0 10.1.0.2 10.2.0.2 reno reno reno 1 131072 1 0 never bulk",
            "flow s0 d0 10.1.0.2 10.2.0.2 reno reno reno 1 131072 1 0 never bulk",
            "flow s0 d0 10.1.0.2 10.2.0.2 cubic cubic cubic 1 1 1 1000000000 5000000000 bulk",
            "flow s1 d1 10.1.1.2 10.2.1.2 dctcp dctcp dctcp 1 131072 1 0 never transfers 100000 3 1000000000 never 0",
            "flow s2 d2 10.1.2.2 10.2.2.2 reno reno reno 1 131072 1 0 never bulk",
        ]
    );
    // At 100 Mbit/s receivers of bulk flows read 64 KiB at a time.
    let fast = self::plan(STEP).unwrap();
    assert_eq!(
        lines(&fast, "flow"),
        ["flow s0 d0 10.1.0.2 10.2.0.2 dctcp dctcp dctcp 65536 131072 1 0 never bulk"]
    );
    // ECN is a setting of hosts: off for reno and cubic, on for dctcp.
    let ecn: Vec<&str> = lines(&plan, "sysctl").into_iter().filter(|line| line.contains("tcp_ecn")).collect();
    assert_eq!(ecn[0], "sysctl s0 net/ipv4/tcp_ecn 0");
    assert_eq!(ecn[2], "sysctl s1 net/ipv4/tcp_ecn 1");
    // Bins of the time series end with a sample.
    assert_eq!(plan.config.lines().last(), Some("run 20000000000 10000000 2000000000"));
}

#[test]
fn short_runs_have_a_hundred_samples_and_longer_ones_a_sample_every_10_ms() {
    let interval = |duration: &str, series: &str| {
        let text = STEP
            .replace("duration = \"60 s\"\nwarmup = \"10 s\"", &format!("duration = \"{duration}\""))
            + &format!("trace = {{ series = \"{series}\" }}\n");
        let config = plan(&text).unwrap().config;
        config.lines().last().unwrap().split(' ').nth(2).unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(interval("60 s", "off"), 10_000_000);
    assert_eq!(interval("1 s", "off"), 10_000_000);
    assert_eq!(interval("12 ms", "off"), 120_000);
    assert_eq!(interval("99 ns", "off"), 1);
    // A bin ends with a sample: nine in each.
    assert_eq!(interval("12 ms", "1 ms"), 111_111);
    assert_eq!(interval("12 ms", "20 us"), 20_000);
}

#[test]
fn everything_that_linux_cannot_express_is_listed_at_once() {
    let refusals = plan(
        r#"
duration = "20 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "red", min = "20 packets", max = "60 packets" } }
[[flows]]
cc = "dctcp-ikr"
rtt = "25 ms"
[[flows]]
cc = "dctcp"
rtt = "25 ms"
cc_options = { initial_alpha_q10 = 512 }
[[flows]]
name = "free"
cc = "reno"
stack = "freebsd-2015"
rtt = "25 ms"
[[flows]]
name = "stanford"
cc = "dctcp-stanford"
rtt = "25 ms"
[[flows]]
name = "latch"
cc = "dctcp"
rtt = "25 ms"
receiver = { feedback = "classic", delays_cwr_acks = true }
[[flows]]
name = "datagrams"
cc = "none"
rtt = "25 ms"
app = { unresponsive = "1 Mbit/s", packet = "40 B" }
[trace]
packets = true
"#,
    )
    .unwrap_err();
    let places: Vec<(&str, &str)> =
        refusals.iter().map(|refusal| (refusal.place.as_str(), refusal.reason.as_str())).collect();
    let says = |place: &str, words: &str| {
        assert!(
            places.iter().any(|(at, reason)| *at == place && reason.contains(words)),
            "{place}: {words}: {places:#?}"
        );
    };
    says("bottleneck.aqm", "`red` without ecn drops ECT packets");
    says("flow group `dctcp-ikr`", "no congestion control `dctcp_ikr`");
    says("flow group `dctcp`", "cc_options");
    says("flow group `free`", "`freebsd-2015` is not a stack of Linux");
    says("flow group `stanford`", "no kernel has the congestion control `dctcp-stanford`");
    says("flow group `latch`: receiver.delays_cwr_acks", "acknowledges data with CWR at once");
    says("flow group `datagrams`: app.packet", "datagrams of 40 B");
    says("trace.packets", "does not write tables of packets");
    assert_eq!(refusals.len(), 8);
    assert!(refusals.iter().all(|refusal| !refusal.hint.is_empty()));
}

#[test]
fn bbr_is_the_kernels_where_it_has_it() {
    let text = STEP.replace("dctcp", "bbr");
    let (without, with) = (kernel(), kernel_with("bbr reno", "bfifo netem pfifo red"));
    let plan = Plan::new(&experiment(&text), &with, false).unwrap();
    assert!(lines(&plan, "flow")[0].starts_with("flow s0 d0 10.1.0.2 10.2.0.2 bbr bbr bbr "));
    assert!(lines(&plan, "sysctl").contains(&"sysctl s0 net/ipv4/tcp_ecn 0"));
    let refused = Plan::new(&experiment(&text), &without, false).unwrap_err();
    assert_eq!(refused[0].reason, "Linux 7.3.4-shoal has no congestion control `bbr`");
}

#[test]
fn flows_with_other_round_trips_get_other_hosts() {
    let text = r#"
        duration = "5 s"
        bottleneck = { rate = "10 Mbit/s", buffer = "50 packets" }
        flows = [{ cc = "reno", rtt = ["20 ms", "60 ms", "20 ms"] }]
    "#;
    let plan = plan(text).unwrap();
    let senders: Vec<_> = lines(&plan, "flow").iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(senders, ["s0", "s1", "s0"]);
}

#[test]
fn kernel_without_a_module_is_named() {
    let experiment = experiment(STEP);
    let mut kernel = kernel();
    kernel.controllers.retain(|name| name != "dctcp");
    kernel.disciplines.retain(|kind| kind != "red");
    let refusals = Plan::new(&experiment, &kernel, false).unwrap_err();
    assert!(refusals[0].reason.contains("has no congestion control `dctcp`"));
    assert!(refusals[1].reason.contains("has no discipline `red`"));
}

#[test]
fn other_stack_is_a_note() {
    let plan = plan(&STEP.replace("cc = \"dctcp\"", "cc = \"dctcp\", stack = \"linux-3.18\"")).unwrap();
    assert_eq!(
        plan.notes,
        [
            "flow group `dctcp`: the stack is that of Linux 7.3.4-shoal, not `linux-3.18`",
            "flow group `dctcp`: dctcp grows by packets, not by ACKs as that stack does",
        ]
    );
}

#[test]
fn memory_grows_with_buffers_and_flows() {
    let small = plan(STEP).unwrap().memory_mib;
    let large = plan(&STEP.replace("250 packets", "100000 packets")).unwrap().memory_mib;
    // 100000 x 1500 B take 572 MiB with the kernel's overhead, and the windows can fill them: the next power
    // of two is 1024.
    assert_eq!((small, large), (256, 1024));
    let many = plan(&STEP.replace("rtt = \"10 ms\"", "rtt = \"10 ms\", count = 1000")).unwrap().memory_mib;
    assert_eq!(many, 2048);
    // The cards of both ends have no limit of their own: small queues of 4 MiB a flow stand in for it, 60 x 2 x 4 MiB.
    let cards = STEP.replace("rtt = \"10 ms\"", "rtt = \"10 ms\", count = 60, host = \"linux-6-10g\"");
    assert_eq!(plan(&cards).unwrap().memory_mib, 4096);
}

#[test]
fn captures_are_at_the_line_and_at_the_senders() {
    let experiment = experiment(STEP);
    let with = Plan::new(&experiment, &kernel(), true).unwrap();
    assert_eq!(
        lines(&with, "module"),
        ["module /fine_clock.ko asking_ns=0", "module /sch_line.ko capture=1"]
    );
    assert_eq!(lines(&with, "capture"), ["capture s0 e0 1"]);
    let without = plan(STEP).unwrap();
    assert_eq!(lines(&without, "module"), ["module /fine_clock.ko asking_ns=0", "module /sch_line.ko"]);
    assert_eq!(lines(&without, "capture"), [""; 0]);
}
