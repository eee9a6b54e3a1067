//! Network cards of hosts: what the keys of `host` become, and what the kernel cannot do.

mod common;

use common::{kernel_with, lines};
use shoal_linux::{Kernel, Plan, Refusal};

/// Handles of the root, of the delay's class, and of the moderation.
const ROOT: u32 = u32::MAX;
const BEHIND_DELAY: u32 = 20 << 16 | 1;
const MODERATION: u32 = 30 << 16;

fn kernel() -> Kernel {
    kernel_with("cubic dctcp reno", "bfifo fq netem pfifo red")
}

fn plan_on(kernel: &Kernel, host: &str, more: &str) -> Result<Plan, Vec<Refusal>> {
    let text = format!(
        "duration = \"1 s\"\n\
         bottleneck = {{ rate = \"1 Gbit/s\", buffer = \"100 packets\", overhead = \"38 B\" }}\n\
         [[flows]]\nname = \"a\"\ncc = \"reno\"\nrtt = \"1 ms\"\nhost = {host}\n{more}"
    );
    Plan::new(&common::experiment(&text), kernel, false)
}

fn plan(host: &str, more: &str) -> Plan {
    plan_on(&kernel(), host, more).unwrap()
}

/// The interrupt moderation at a port, with its options in nanoseconds and packets.
fn coalesce(port: &str, parent: u32, (wait_ns, frames, ring): (u64, u32, u32)) -> String {
    let mut options = Vec::new();
    for (length, kind, value) in [
        (12u16, 1u16, wait_ns.to_ne_bytes().to_vec()),
        (8, 2, frames.to_ne_bytes().to_vec()),
        (8, 3, ring.to_ne_bytes().to_vec()),
    ] {
        options.extend(length.to_ne_bytes());
        options.extend(kind.to_ne_bytes());
        options.extend(value);
    }
    let hex: String = options.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("qdisc {port} {parent} {MODERATION} coalesce {hex}")
}

fn moderations(plan: &Plan) -> Vec<&str> {
    lines(plan, "qdisc").into_iter().filter(|line| line.contains(" coalesce ")).collect()
}

#[test]
fn preset_with_a_card_is_a_line_at_the_host_gro_and_moderation() {
    let plan = plan("\"linux-6-10g\"", "");
    assert_eq!(
        lines(&plan, "nic"),
        ["nic h0 e0 gso_max_segs 65535 gro 1", "nic h1 e0 gso_max_segs 65535 gro 1"]
    );
    // 50 us, any number of packets, a ring of 512; in front of the sender, who receives ACKs, and of the receiver.
    let found = moderations(&plan);
    assert_eq!(found.len(), 2);
    for (host, line) in ["h0", "h1"].into_iter().zip(found) {
        let router =
            lines(&plan, "veth").into_iter().find(|veth| veth.starts_with(&format!("veth {host} "))).unwrap();
        let port = router.split(' ').skip(4).take(2).collect::<Vec<_>>().join(" ");
        assert_eq!(line, coalesce(&port, ROOT, (50_000, 0, 512)));
    }
    assert!(plan.config.contains("module /sch_coalesce.ko\n"));
    // 10^10 bit/s is 0x2540be400: the card of the sender.
    let card = lines(&plan, "qdisc").into_iter().find(|line| line.starts_with("qdisc h0 e0 ")).unwrap();
    assert!(
        card.contains(" line 0c000100")
            && card.contains(&10_000_000_000u64.to_ne_bytes().map(|byte| format!("{byte:02x}")).concat())
    );
    for setting in [
        "tcp_min_tso_segs 2",
        "tcp_tso_rtt_log 9",
        "tcp_tso_win_divisor 3",
        "tcp_limit_output_bytes 4194304",
        "tcp_pacing_ca_ratio 120",
    ] {
        assert!(
            plan.config.contains(&format!("sysctl h0 net/ipv4/{setting}\n")),
            "{setting}\n{}",
            plan.config
        );
    }
    let said = plan.rules.iter().map(|rule| rule.text.as_str()).collect::<Vec<_>>().join("\n");
    for words in [
        "ethtool -K e0 gro on",
        "ethtool -C e0 rx-usecs 50; ethtool -G e0 rx 512",
        "net.ipv4.tcp_tso_rtt_log=9",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn keys_of_a_host_become_settings_of_its_kernel() {
    let keys = "{ preset = \"linux-6-gso\", gso_max_size = \"16384 B\", gso_max_segs = 8, min_tso_segs = 4, \
                tso_rtt_log = 0, tso_win_divisor = 2, limit_output = \"100000 B\", pacing = \"internal\", coalescing \
                = \"gro\", coalesced_packets = 8, interrupt_delay = \"20 us\", interrupt_packets = 16, ring_packets = \
                256 }";
    let plan = plan(keys, "");
    // 8 packets of 1448 B and headers of 52 B are 11636 B.
    let nic = "gso_max_size 16384 gso_max_segs 8 gro_max_size 11637 gro 1";
    assert_eq!(lines(&plan, "nic"), [format!("nic s0 e0 {nic}"), format!("nic d0 e0 {nic}")]);
    assert_eq!(lines(&plan, "pace"), ["pace s0", "pace d0"]);
    assert_eq!(
        moderations(&plan),
        [coalesce("r1 e0", ROOT, (20_000, 16, 256)), coalesce("r2 e0", 20 << 16 | 1, (20_000, 16, 256))]
    );
    for setting in
        ["tcp_min_tso_segs 4", "tcp_tso_rtt_log 0", "tcp_tso_win_divisor 2", "tcp_limit_output_bytes 100000"]
    {
        assert!(plan.config.contains(&format!("sysctl s0 net/ipv4/{setting}\n")), "{setting}");
    }
    // IPv4 has a size of its own above 64 KiB.
    let big = self::plan("{ preset = \"linux-6-gso\", gso_max_size = \"185000 B\" }", "");
    assert_eq!(
        lines(&big, "nic")[0],
        "nic s0 e0 gso_max_size 185000 gso_ipv4_max_size 185000 gso_max_segs 65535"
    );
}

#[test]
fn host_that_takes_every_packet_at_once_merges_none() {
    let plan = plan("{ preset = \"linux-6-gso\", coalescing = \"gro\" }", "");
    assert_eq!(lines(&plan, "nic"), ["nic s0 e0 gso_max_segs 65535", "nic d0 e0 gso_max_segs 65535"]);
    assert!(moderations(&plan).is_empty() && !plan.config.contains("sch_coalesce"));
}

#[test]
fn flows_whose_cards_hold_packets_back_have_hosts_of_their_own() {
    let moderated = "{ preset = \"linux-6-gso\", interrupt_delay = \"20 us\" }";
    let ends = |host: &str| {
        let plan = plan(host, "count = 3");
        let flows = lines(&plan, "flow").into_iter().map(|line| line.split(' ').nth(2).unwrap().to_owned());
        flows.collect::<std::collections::BTreeSet<String>>().len()
    };
    assert_eq!((ends("\"linux-6-gso\""), ends(moderated)), (1, 3));
}

#[test]
fn pure_delay_before_a_card_comes_first() {
    let frames = "app = { frame = \"20 kB\", every = \"10 ms\", deadline = \"10 ms\" }";
    let plan = plan("{ preset = \"linux-6-gso\", interrupt_delay = \"20 us\" }", frames);
    let found = moderations(&plan);
    assert_eq!(found[0], coalesce("r1 e0", ROOT, (20_000, 0, 0)));
    assert_eq!(found[1], coalesce("r2 e0", BEHIND_DELAY, (20_000, 0, 0)));
    let position = |words: &str| plan.config.lines().position(|line| line.starts_with(words));
    assert!(position("qdisc r2 e0 4294967295 1310720 netem") < position(found[1]));
}

#[test]
fn what_the_kernel_cannot_do_is_refused_at_its_key() {
    let refused = |kernel: &Kernel, host: &str| {
        let refusals = plan_on(kernel, host, "").unwrap_err();
        assert!(refusals.iter().all(|refusal| !refusal.hint.is_empty()));
        refusals.into_iter().map(|refusal| (refusal.place, refusal.reason)).collect::<Vec<_>>()
    };
    let table = |keys: &str| format!("{{ preset = \"linux-6-10g\", {keys} }}");
    for (host, key, words) in [
        ("\"linux-3.2-1g\"".to_owned(), "", "the rules of its segments"),
        ("{ preset = \"freebsd-14-10g\", coalescing = \"gro\" }".to_owned(), "", "the rules of its segments"),
        (table("coalescing = \"lro\""), ".coalescing", "different codepoints"),
        (
            table("cpu_per_segment = \"1 us\""),
            ".cpu_per_packet, cpu_per_segment and cpu_per_kilobyte",
            "processors cost no time",
        ),
        (table("poll_packets = 32"), ".poll_packets", "64 packets, not 32"),
        (table("gso_max_segs = 70000"), ".gso_max_segs", "70000 packets"),
        (table("min_tso_segs = 256"), ".min_tso_segs", "256 packets"),
    ] {
        let found = refused(&kernel(), &host);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, format!("flow group `a`: host{key}"));
        assert!(found[0].1.contains(words), "{found:?}");
    }
    let iperf3 = Kernel { generator: Some("iperf 3.12".to_owned()), ..kernel() };
    let found = refused(&iperf3, &table("pacing = \"internal\""));
    assert_eq!(found[0].0, "flow group `a`: host.pacing");
}

#[test]
fn fq_is_the_discipline_of_the_host() {
    // Without a card at the root, and the delay of the ACKs at the other end of the wire of the sender.
    let plain = plan("{ preset = \"linux-6-gso\", pacing = \"fq\" }", "");
    // Attribute 13, the slack of its timer, is zero.
    let fq = |host: &str| format!("qdisc {host} e0 {ROOT} {} fq 08000d0000000000", 40 << 16);
    let found = lines(&plain, "qdisc");
    assert!(found.contains(&fq("s0").as_str()) && found.contains(&fq("d0").as_str()), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("qdisc r1 e0 ") && line.contains(" netem ")));
    assert!(!found.iter().any(|line| line.starts_with("qdisc d0 ") && line.contains(" netem ")));
    // With one, below its line: 1:1 is 1 << 16 | 1.
    let card = plan("{ preset = \"linux-6-10g\", pacing = \"fq\" }", "");
    let found =
        lines(&card, "qdisc").into_iter().filter(|line| line.starts_with("qdisc h0 ")).collect::<Vec<_>>();
    assert!(found[0].starts_with(&format!("qdisc h0 e0 {ROOT} {} line ", 1 << 16)));
    assert_eq!(&found[1..], [format!("qdisc h0 e0 {} {} fq 08000d0000000000", 1 << 16 | 1, 10 << 16)]);
    // The receiver has no line, and sends ACKs.
    assert!(lines(&card, "qdisc").contains(&fq("h1").as_str()));
    let without = kernel_with("reno", "bfifo netem pfifo red");
    let refusals = plan_on(&without, "{ preset = \"linux-6-gso\", pacing = \"fq\" }", "").unwrap_err();
    assert_eq!(refusals[0].place, "flow group `a`: host.pacing");
}
