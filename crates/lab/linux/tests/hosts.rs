//! The two ends of a connection on the kernel: controllers, their parameters, ECN feedback, route metrics.

mod common;

use common::kernel_with;
use shoal_linux::{Plan, Refusal};

fn plan(flows: &str) -> Result<Plan, Vec<Refusal>> {
    let text = format!(
        "duration = \"20 s\"\nbottleneck = {{ rate = \"10 Mbit/s\", buffer = \"100 packets\", aqm = {{ kind = \
         \"step\", threshold = \"20 packets\" }} }}\n{flows}"
    );
    plan_of(&text)
}

const CONTROLLERS: &str = "cubic dctcp reno dctcp_ikr dctcp_onesided dctcp_1sided_rx reno_acks prague_0_7 \
                           prague_0_7early prague_0_6 prague_0_5";

/// The plan of a whole scenario on a kernel with every controller.
fn plan_of(text: &str) -> Result<Plan, Vec<Refusal>> {
    Plan::new(&common::experiment(text), &kernel_with(CONTROLLERS, "bfifo netem pfifo red"), false)
}

/// Controllers of the sender, of the sender while it connects, and of the listener.
fn controllers(plan: &Plan) -> Vec<Vec<&str>> {
    let flows = plan.config.lines().filter(|line| line.starts_with("flow "));
    flows.map(|line| line.split(' ').skip(5).take(3).collect()).collect()
}

/// Modules other than the clock, which every guest loads.
fn modules(plan: &Plan) -> Vec<&str> {
    let mut modules = plan.config.lines().filter(|line| line.starts_with("module "));
    assert_eq!(modules.next(), Some("module /fine_clock.ko asking_ns=0"));
    modules.collect()
}

fn group(cc: &str, more: &str) -> String {
    format!("[[flows]]\ncc = \"{cc}\"\nrtt = \"25 ms\"\n{more}\n")
}

#[test]
fn both_ends_run_what_the_scenario_names() {
    for (cc, kernel) in [("reno", "reno"), ("ecn-reno", "reno"), ("cubic", "cubic"), ("dctcp", "dctcp")] {
        assert_eq!(controllers(&plan(&group(cc, "")).unwrap()), [[kernel; 3]]);
    }
    let ecn = |cc: &str| plan(&group(cc, "")).unwrap().config.contains("sysctl s0 net/ipv4/tcp_ecn 1");
    assert_eq!((ecn("reno"), ecn("ecn-reno"), ecn("dctcp")), (false, true, true));
}

#[test]
fn classic_listener_of_dctcp_is_reached_by_a_classic_handshake() {
    let plan = plan(&group("dctcp", "receiver = { feedback = \"classic\" }")).unwrap();
    assert_eq!(controllers(&plan), [["dctcp", "reno", "reno"]]);
    assert!(plan.notes[0].contains("connects as reno and becomes dctcp"), "{:?}", plan.notes);
    // The one-sided module opens connections as RFC 3168 (https://www.rfc-editor.org/rfc/rfc3168) requires,
    // without connecting as Reno first.
    let one_sided = self::plan(&group("dctcp-freebsd", "receiver = { feedback = \"classic\" }")).unwrap();
    assert_eq!(controllers(&one_sided), [["dctcp_onesided", "dctcp_onesided", "reno"]]);
    assert_eq!(modules(&one_sided), ["module /tcp_dctcp_onesided.ko", "module /sch_line.ko"]);
}

#[test]
fn both_ends_of_a_connection_have_accurate_ecn() {
    for (cc, own, option, value) in
        [("dctcp", "dctcp", "", 2), ("cubic", "cubic", "\necn = \"on\"\necn_option = \"off\"", 0)]
    {
        let plan = plan(&group(cc, &format!("receiver = {{ feedback = \"accurate\" }}{option}"))).unwrap();
        assert_eq!(controllers(&plan), [[own, own, "reno"]], "DCTCP's listener would echo besides");
        for setting in ["tcp_ecn 3".to_owned(), format!("tcp_ecn_option {value}")] {
            let of_hosts = plan.config.lines().filter(|line| line.ends_with(&format!(" net/ipv4/{setting}")));
            assert_eq!(of_hosts.count(), 2, "{setting}");
        }
        assert!(plan.notes.iter().any(|note| note.contains("no CWR on the line")), "{:?}", plan.notes);
    }
    // Kernels before accurate ECN do not have the option's parameter, so nobody else sets it.
    assert!(!plan(&group("dctcp", "")).unwrap().config.contains("tcp_ecn_option"));
}

#[test]
fn prague_is_a_module_that_needs_accurate_ecn_at_both_ends() {
    let versions = [
        ("prague-0.7", "prague_0_7"),
        ("prague-0.7-early", "prague_0_7early"),
        ("prague-0.6", "prague_0_6"),
        ("prague-2020", "prague_0_5"),
    ];
    for (cc, own) in versions {
        let plan = plan(&group(cc, "")).unwrap();
        assert_eq!(controllers(&plan), [[own, own, "reno"]]);
        assert_eq!(modules(&plan), ["module /tcp_prague_shoal.ko", "module /sch_line.ko"]);
        assert_eq!(plan.config.lines().filter(|line| line.ends_with(" net/ipv4/tcp_ecn 3")).count(), 2);
        assert!(plan.notes[0].contains("it writes ECT(1) itself"), "{:?}", plan.notes);
    }
    let refused = |more: &str| plan(&group("prague-0.7", more)).unwrap_err()[0].reason.clone();
    assert!(refused("cc_options = { alpha_bits = 20 }").contains("no parameter"));
    assert_eq!(refused("ecn = \"off\""), "without accurate ECN at both ends Prague is Reno");
    let classic = refused("receiver = { feedback = \"classic\" }");
    assert_eq!(classic, "without accurate ECN at both ends Prague is Reno");
}

#[test]
fn prague_needs_a_kernel_whose_controllers_can_ask_for_accurate_ecn() {
    let text = format!(
        "duration = \"1 s\"\nbottleneck = {{ rate = \"10 Mbit/s\", buffer = \"100 packets\" }}\n{}",
        group("prague-0.7", "")
    );
    let plan = |release: &str| {
        let mut kernel = kernel_with(CONTROLLERS, "bfifo netem pfifo red");
        kernel.release = release.to_owned();
        Plan::new(&common::experiment(&text), &kernel, false)
    };
    let refusals = plan("6.12.117-shoal").unwrap_err();
    assert!(refusals[0].reason.starts_with("Linux 6.12.117-shoal does not let"), "{refusals:?}");
    assert_eq!(refusals[0].hint, "use Linux 7.0 or newer, or run this on the simulator");
    assert!(plan("7.0.1-shoal").is_ok() && plan("10.2-shoal").is_ok());
}

#[test]
fn listener_with_dctcp_echoes_to_an_ordinary_sender() {
    let plan = plan(&group("ecn-reno", "receiver = { feedback = \"dctcp\" }")).unwrap();
    assert_eq!(controllers(&plan), [["reno", "reno", "dctcp"]]);
    let delays =
        self::plan(&group("ecn-reno", "receiver = { feedback = \"dctcp\", delays_cwr_acks = true }"))
            .unwrap();
    assert_eq!(controllers(&delays), [["reno", "reno", "dctcp_1sided_rx"]]);
    assert_eq!(modules(&delays), ["module /tcp_dctcp_onesided.ko", "module /sch_line.ko"]);
}

#[test]
fn options_become_parameters_of_modules() {
    let plan = plan(&group(
        "dctcp-ikr",
        "cc_options = { alpha_resolution = \"bits10\", cut = \"once-at-once\", gain = { shift = 4 } }",
    ))
    .unwrap();
    let wanted = "module /tcp_dctcp_ikr.ko alpha_bits=10 gain_shift=4 progressive=0";
    assert_eq!(modules(&plan), [wanted, "module /sch_line.ko"]);
    let one_sided = self::plan(&group(
        "dctcp-freebsd",
        "cc_options = { initial_alpha_q10 = 1024, grows_in_cwr = false }",
    ))
    .unwrap();
    assert_eq!(modules(&one_sided)[0], "module /tcp_dctcp_onesided.ko alpha_on_init=1024 grow_in_cwr=0");
    // The kernel always announces a reduction with CWR.
    let refusals = self::plan(&group("dctcp-freebsd", "cc_options = { sends_cwr = false }")).unwrap_err();
    assert!(refusals[0].reason.contains("no parameter"), "{refusals:?}");
}

#[test]
fn stack_that_counts_acks_gets_controllers_that_do() {
    let both =
        format!("{}{}", group("reno", "stack = \"linux-3.2\""), group("dctcp-ikr", "stack = \"linux-3.2\""));
    let plan = plan(&both).unwrap();
    assert_eq!(controllers(&plan), [["reno_acks"; 3], ["dctcp_ikr"; 3]]);
    let wanted =
        ["module /tcp_dctcp_ikr.ko ack_counting=1", "module /tcp_reno_acks.ko", "module /sch_line.ko"];
    assert_eq!(modules(&plan), wanted);
    assert!(plan.notes.iter().any(|note| note.contains("not `linux-3.2`")));
}

#[test]
fn module_has_one_set_of_parameters() {
    let one = group("dctcp-ikr", "");
    let other = group("dctcp-ikr", "name = \"fine\"\ncc_options = { gain = { shift = 4 } }");
    let refusals = plan(&format!("{one}{other}")).unwrap_err();
    assert_eq!(refusals[0].place, "flows: cc_options");
    assert!(refusals[0].reason.contains("tcp_dctcp_ikr.ko"));
}

#[test]
fn first_window_and_acks_of_hosts_are_metrics_of_their_routes() {
    let plan = plan(&group("reno", "initial_window = \"3 packets\"\ndelayed_ack = false")).unwrap();
    let routes: Vec<&str> = plan.config.lines().filter(|line| line.starts_with("route s0")).collect();
    assert_eq!(routes, ["route s0 0.0.0.0 0 10.1.0.1 initcwnd 3 quickack 1"]);
}

#[test]
fn other_windows_cannot_be_bounded() {
    let refusals =
        plan(&group("reno", "cwnd_clamp = \"40 packets\"\nreceive_window = \"64 KiB\"")).unwrap_err();
    assert!(refusals[0].reason.contains("bound of cwnd"), "{refusals:?}");
    assert!(refusals[1].reason.contains("memory of a receiver"), "{refusals:?}");
}

#[test]
fn sockets_hold_more_than_any_path() {
    let with = |rtt: &str, buffer: &str| {
        let text = format!(
            "duration = \"1 s\"\nbottleneck = {{ rate = \"10 Gbit/s\", buffer = \"{buffer}\" }}\n\
             flows = [{{ cc = \"reno\", rtt = \"{rtt}\" }}]"
        );
        let plan = plan_of(&text).unwrap();
        let sizes = |key: &str| {
            let prefix = format!("sysctl d0 net/ipv4/{key} 4096 ");
            let line = plan.config.lines().find(|line| line.starts_with(&prefix)).unwrap();
            line[prefix.len()..].split(' ').map(|word| word.parse::<u64>().unwrap() >> 20).collect::<Vec<_>>()
        };
        assert_eq!(sizes("tcp_rmem"), sizes("tcp_wmem"));
        sizes("tcp_rmem")
    };
    // 6 x (1.25 MB + 1.5 MB) is less than 64 MiB.
    assert_eq!(with("1 ms", "1000 packets"), [64, 64]);
    // 6 x (12.5 MB + 1.5 MB) = 84 MB.
    assert_eq!(with("10 ms", "1000 packets"), [128, 128]);
    // 6 x (1.25 MB + 15 MB) = 97.5 MB.
    assert_eq!(with("1 ms", "10000 packets"), [128, 128]);
    // 6 x 1.25 GB exceeds the largest window.
    assert_eq!(with("1 s", "1000 packets"), [1024, 1024]);
    // No buffer would be large enough for an unlimited queue.
    assert_eq!(with("1 ms", "unlimited"), [64, 64]);
}

#[test]
fn hosts_hand_over_packets_one_by_one_or_as_the_kernel_does() {
    let ideal = plan(&group("dctcp", "")).unwrap();
    assert!(!ideal.config.contains("\nnic "), "the guest gives every device a gso_max_segs of 1");
    let linux = plan(&group("dctcp", "host = \"linux-6-gso\"")).unwrap();
    let verbs: Vec<&str> = linux.config.lines().filter(|line| line.starts_with("nic ")).collect();
    // Both ends of the flow; the ports of the routers send no packets of their own.
    assert_eq!(verbs, ["nic s0 e0 gso_max_segs 65535", "nic d0 e0 gso_max_segs 65535"]);
    // Everything else is the same, but that the receiver reads every packet: the last one of a segment has PSH, and is
    // acknowledged when it is read; and that four segments of 64 KiB wait in the socket of the sender.
    let flow = |plan: &Plan| plan.config.lines().find(|line| line.starts_with("flow ")).unwrap().to_owned();
    assert_eq!(flow(&linux), flow(&ideal).replace(" 1 131072 1 ", " 1 262144 0 "));
    let of_segments = |line: &str| {
        ["tso", "limit_output", "tcp_pacing"]
            .iter()
            .any(|part| line.starts_with("sysctl ") && line.contains(part))
    };
    let rest = |plan: &Plan| {
        let differs =
            |line: &&str| line.starts_with("nic ") || line.starts_with("flow ") || of_segments(line);
        let lines = plan.config.lines().filter(|line| !differs(line));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rest(&ideal), rest(&linux));
    // The value must be set before the socket learns what its route can do (`sk_setup_caps`).
    let position = |word: &str| linux.config.lines().position(|line| line.starts_with(word));
    assert!(position("veth s0") < position("nic s0") && position("nic d0") < position("flow "));
    let said = |plan: &Plan, host: &str| {
        let of_host = plan.rules.iter().filter(|rule| rule.place == host);
        of_host
            .filter(|rule| rule.text.contains("gso_max_segs"))
            .map(|rule| rule.text.clone())
            .collect::<Vec<_>>()
    };
    for host in ["s0", "d0"] {
        assert!(said(&ideal, host)[0].contains("gso_max_segs 1,"), "{:?}", said(&ideal, host));
        assert!(said(&linux, host)[0].contains("gso_max_segs 65535"), "{:?}", said(&linux, host));
        assert_eq!((said(&ideal, host).len(), said(&linux, host).len()), (1, 1));
    }
}

#[test]
fn groups_with_different_hosts_share_none() {
    let one = group("dctcp", "name = \"a\"");
    let other = group("dctcp", "name = \"b\"\nhost = \"linux-6-gso\"");
    let plan = plan(&format!("{one}{other}")).unwrap();
    let flows: Vec<&str> = plan.config.lines().filter(|line| line.starts_with("flow ")).collect();
    assert!(flows[0].starts_with("flow s0 d0 ") && flows[1].starts_with("flow s1 d1 "), "{flows:?}");
    let verbs: Vec<&str> = plan.config.lines().filter(|line| line.starts_with("nic ")).collect();
    assert_eq!(verbs, ["nic s1 e0 gso_max_segs 65535", "nic d1 e0 gso_max_segs 65535"]);
    // Also in a graph: one node, two hosts.
    let graph = r#"
duration = "1 s"
topology = { kind = "star", hosts = 3, rate = "100 Mbit/s", delay = "100 us", buffer = "100 packets" }
flows = [
    { name = "a", cc = "dctcp", from = "h1", to = "h3" },
    { name = "b", cc = "dctcp", host = "linux-6-gso", from = "h1", to = "h3" },
]
"#;
    let plan = plan_of(graph).unwrap();
    let verbs: Vec<&str> = plan.config.lines().filter(|line| line.starts_with("nic ")).collect();
    let ends: Vec<&str> = plan.config.lines().filter(|line| line.starts_with("veth h")).collect();
    assert_eq!((verbs.len(), ends.len()), (2, 4), "{}", plan.config);
}

#[test]
fn link_behind_a_host_that_segments_is_its_card() {
    let lines_at = |host: &str, from: &str, more: &str| {
        let text = format!(
            "duration = \"1 s\"\n\
             topology = {{ kind = \"star\", hosts = 3, rate = \"100 Mbit/s\", delay = \"100 us\", buffer = \"100 \
             packets\" }}\n\
             flows = [{{ name = \"a\", cc = \"dctcp\", host = \"{host}\", from = \"{from}\", to = \"h3\" }}{more}]"
        );
        let plan = plan_of(&text).unwrap();
        let lines = common::lines(&plan, "qdisc").into_iter().filter(|line| line.contains(" line "));
        let places = lines.map(|line| line.split(' ').skip(1).take(2).collect::<Vec<_>>().join(" "));
        places.collect::<Vec<_>>()
    };
    let at_hosts =
        |lines: Vec<String>| lines.into_iter().filter(|place| place.starts_with('h')).collect::<Vec<_>>();
    // Sender and receiver: data and ACKs begin their paths there. The switch has the link to the receiver.
    assert_eq!(at_hosts(lines_at("linux-6-gso", "h1", "")), ["h0 e0", "h1 e0"]);
    assert_eq!(at_hosts(lines_at("ideal", "h1", "")), [""; 0]);
    // Two hosts at one node share its link, and neither has it for itself; the receiver's is still its own.
    let other = ", { name = \"b\", cc = \"dctcp\", host = \"linux-6-gso\", mtu = \"1000 B\", from = \"h1\", to = \
                 \"h2\" }";
    assert_eq!(at_hosts(lines_at("linux-6-gso", "h1", other)).len(), 2);
}
