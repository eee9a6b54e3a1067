//! Applications as instructions, and records of applications as results.

mod common;

use common::{kernel_with, lines};
use shoal_linux::{Plan, Refusal, measure};
use shoal_measure::Measured;
use shoal_scenario::Experiment;

fn experiment(flows: &str) -> Experiment {
    let text = format!(
        r#"
duration = "1 s"
warmup = "100 ms"
bottleneck = {{ rate = "10 Mbit/s", buffer = "50 packets", aqm = {{ kind = "step", threshold = "20 packets" }} }}
{flows}
"#
    );
    common::experiment(&text)
}

fn plan(flows: &str) -> Result<Plan, Vec<Refusal>> {
    Plan::new(&experiment(flows), &kernel_with("reno cubic dctcp", "pfifo red"), false)
}

/// The words from the application on in the instruction of the only flow.
fn application(plan: &Plan, verb: &str) -> String {
    let line = &lines(plan, "flow")[0];
    line[line.find(verb).unwrap_or_else(|| panic!("{line}"))..].to_owned()
}

#[test]
fn applications_in_the_guests_words() {
    for (app, words) in [
        ("{ request = \"200 B\", response = \"20 kB\" }", "requests 200 20000 never 0 never"),
        (
            "{ request = \"1 B\", response = \"2 B\", rounds = 3, think = \"4 ms\", barrier = true }",
            "requests 1 2 3 4000000 0",
        ),
        ("{ frame = \"20 kB\", every = \"40 ms\", deadline = \"50 ms\" }", "frames 20000 20000 0 40000000"),
        (
            "{ frame = { min_rate = \"200 kbit/s\", max_rate = \"8 Mbit/s\" }, every = \"40 ms\", \
             deadline = \"50 ms\" }",
            "frames 1000 40000 36000000 40000000",
        ),
        ("{ transfer = \"9 kB\", rounds = 2, every = \"1 ms\" }", "transfers 9000 2 1000000 never 0"),
    ] {
        let plan = plan(&format!("flows = [{{ cc = \"reno\", rtt = \"20 ms\", app = {app} }}]")).unwrap();
        assert_eq!(application(&plan, words.split(' ').next().unwrap()), words);
        assert_eq!(lines(&plan, "gaps"), [""; 0]);
    }
}

/// The connections of a browser share the objects of a page; each client of the guest has a connection of its own.
#[test]
fn pages_and_controllers_without_a_module_are_refused() {
    let refused = |group: &str| {
        let refusals = plan(&format!("flows = [{{ rtt = \"20 ms\", {group} }}]")).unwrap_err();
        assert!(refusals.iter().all(|refusal| !refusal.hint.is_empty()));
        refusals.into_iter().map(|refusal| (refusal.place, refusal.reason)).collect::<Vec<_>>()
    };
    let app = "name = \"web\", cc = \"reno\", app = { page = 60, object = \"10 kB\", request = \"400 B\" }";
    let pages = refused(app);
    assert_eq!(pages.len(), 1, "{pages:?}");
    assert_eq!(pages[0].0, "flow group `web`: app");
    assert!(pages[0].1.contains("share the objects of a page"), "{pages:?}");
    let ledbat = refused("cc = \"ledbat\"");
    assert!(
        ledbat.iter().any(|(_, reason)| reason.contains("no kernel has the congestion control `ledbat`"))
    );
}

#[test]
fn data_and_acks_are_delayed_on_their_ways() {
    let with =
        |app: &str| plan(&format!("flows = [{{ cc = \"reno\", rtt = \"20 ms\", app = {app} }}]")).unwrap();
    let netem = |plan: &Plan| {
        let found = lines(plan, "qdisc").into_iter().filter(|line| line.contains(" netem "));
        found.map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(netem(&with("\"bulk\"")), ["r2", "d0"]);
    assert_eq!(netem(&with("{ request = \"1 B\", response = \"2 B\" }")), ["r2", "d0"]);
    // Half of the round trip in each direction; a sender learns of the next round when the message has
    // returned.
    assert_eq!(netem(&with("{ frame = \"1 B\", every = \"1 ms\", deadline = \"1 ms\" }")), ["r2", "d0"]);
    let barrier = with("{ transfer = \"9 kB\", rounds = 2, barrier = true }");
    assert_eq!(netem(&barrier), ["r2", "d0"]);
    assert_eq!(application(&barrier, "transfers"), "transfers 9000 2 0 0 10000000");
}

#[test]
fn clients_connect_as_their_servers_listen() {
    for (cc, names) in [("dctcp", "dctcp dctcp dctcp"), ("cubic", "cubic cubic cubic")] {
        let app = "{ request = \"1 B\", response = \"2 B\" }";
        let plan = plan(&format!("flows = [{{ cc = \"{cc}\", rtt = \"20 ms\", app = {app} }}]")).unwrap();
        // Controllers of the server, of the client while it connects, and of the client.
        let found = &lines(&plan, "flow")[0];
        assert!(
            found.starts_with(&format!("flow s0 d0 10.1.0.2 10.2.0.2 {names} 1 131072 1 0 never requests")),
            "{found}"
        );
    }
}

#[test]
fn random_times_are_drawn_before_and_fill_the_run() {
    let flows = r#"
flows = [
  { name = "web", cc = "reno", rtt = "20 ms", count = 2, app = {
      request = "1 B", response = "2 B", think = { exponential = "30 ms" } } },
  { name = "all", cc = "reno", rtt = "20 ms", count = 2, app = {
      request = "1 B", response = "2 B", think = { exponential = "30 ms" }, barrier = true } },
  { name = "udp", cc = "none", rtt = "20 ms", start = "0.5 s", app = {
      unresponsive = "1 Mbit/s", arrivals = "poisson", packet = "125 B", ecn = "ect1" } },
]"#;
    let plan = plan(flows).unwrap();
    let gaps = |whose: &str| -> Vec<u64> {
        let prefix = format!("gaps {whose} ");
        let own = lines(&plan, "gaps");
        let own = own.iter().filter_map(|line| line.strip_prefix(&prefix));
        own.flat_map(|line| line.split(' ').map(|word| word.parse::<u64>().unwrap()).collect::<Vec<_>>())
            .collect()
    };
    // An exchange takes at least a round trip: 1 s is over when think times and round trips exceed it, not
    // before.
    for whose in ["flow 0", "flow 1", "barrier 1"] {
        let own = gaps(whose);
        let passed: u64 = own.iter().map(|gap| gap + 20_000_000).sum();
        assert!(passed > 999_999_000, "{whose}: {passed}");
        assert!(passed - own.last().unwrap() - 20_000_000 <= 1_000_000_000, "{whose}");
    }
    assert_ne!(gaps("flow 0"), gaps("flow 1"));
    // One packet in each millisecond of half a second.
    let udp = gaps("flow 4");
    assert!((380..620).contains(&udp.len()), "{}", udp.len());
    assert!(udp.iter().sum::<u64>() > 499_999_000);
    assert!(lines(&plan, "flow")[4].ends_with("- - - 1 131072 1 500000000 never datagrams 125 1000000 1"));
    assert!(plan.config.lines().all(|line| line.split(' ').count() <= 32));
}

#[test]
fn more_random_times_than_anybody_waits_for_are_refused() {
    let flows = r#"flows = [{ cc = "none", rtt = "20 ms", count = 300, app = {
        unresponsive = "100 Mbit/s", packet = "125 B", arrivals = "poisson" } }]"#;
    let refusals = plan(flows).unwrap_err();
    assert_eq!(refusals.len(), 1);
    // 100000 packets per second each.
    assert!(refusals[0].reason.contains("about 30000000 random times"), "{}", refusals[0].reason);
}

/// Builds a record of `guest.h`.
fn record(time_us: u64, flow: u32, kind: u8, ecn: u8, value: u64, begun: u64) -> Vec<u8> {
    let mut bytes = (time_us * 1000).to_ne_bytes().to_vec();
    bytes.extend(flow.to_ne_bytes());
    bytes.extend([kind, 0, 0, ecn]);
    bytes.extend([0; 32]);
    bytes.extend(value.to_ne_bytes());
    bytes.extend(begun.to_ne_bytes());
    assert_eq!(bytes.len(), 64);
    bytes
}

const END: u8 = 5;
const ASKED: u8 = 6;
const ANSWERED: u8 = 7;
const ROUND: u8 = 8;
const WRITTEN: u8 = 9;
const DELIVERED: u8 = 10;
const SENT: u8 = 11;
const RECEIVED: u8 = 12;

fn run(flows: &str, records: &[Vec<u8>]) -> Measured {
    let experiment = experiment(flows);
    let records = [records.concat(), record(1_000_000, 0, END, 0, 0, 0)].concat();
    measure(&experiment, &[], &records).unwrap()
}

fn deliveries(measured: &Measured) -> usize {
    measured.tables.iter().find(|table| table.spec().name == "deliveries").map_or(0, shoal_trace::Table::len)
}

#[test]
fn exchanges_and_rounds_have_their_times() {
    let flows = r#"flows = [{ cc = "reno", rtt = "20 ms", count = 2, app = {
        request = "1 B", response = "2 B", barrier = true } }]
trace = { series = "100 ms" }"#;
    // The first round began during the warm-up. The second lasts from 150 to 190 ms, the third has not ended.
    let measured = run(
        flows,
        &[
            record(0, 0, ASKED, 0, 0, 1),
            record(0, 1, ASKED, 0, 0, 1),
            record(130_000, 0, ANSWERED, 0, 0, 1),
            record(140_000, 1, ANSWERED, 0, 0, 1),
            record(140_000, 1, ROUND, 0, 150_000_000, 1),
            record(150_000, 0, ASKED, 0, 0, 2),
            record(150_000, 1, ASKED, 0, 0, 2),
            record(170_000, 1, ANSWERED, 0, 0, 2),
            record(190_000, 0, ANSWERED, 0, 0, 2),
            record(190_000, 0, ROUND, 0, 200_000_000, 2),
            record(200_000, 0, ASKED, 0, 0, 3),
            record(200_000, 1, ASKED, 0, 0, 3),
        ],
    );
    let group = &measured.groups[0];
    let (exchanges, rounds) = (group.exchanges.unwrap(), group.rounds.unwrap());
    assert_eq!((exchanges.count, exchanges.unfinished), (2, 2));
    assert_eq!((exchanges.time_s.min, exchanges.time_s.max), (Some(0.02), Some(0.04)));
    assert_eq!((rounds.count, rounds.unfinished, rounds.time_s.max), (1, 1, Some(0.04)));
    assert_eq!(group.flows[1].exchanges.as_ref().unwrap().time_s.max, Some(0.02));
    assert_eq!(deliveries(&measured), 6);
    assert!(group.frames.is_none());
}

#[test]
fn frames_have_deadlines() {
    let flows = r#"flows = [{ cc = "reno", rtt = "20 ms", start = "100 ms", app = {
        frame = "1000 B", every = "40 ms", deadline = "50 ms" } }]
trace = { series = "100 ms" }"#;
    // Frames are written at 100, 140 and 180 ms; the first arrives in time, the next two together, 45 and 5
    // ms late.
    let measured = run(
        flows,
        &[
            record(100_000, 0, WRITTEN, 0, 1000, 1),
            record(130_000, 0, DELIVERED, 0, 1000, 1),
            record(140_000, 0, WRITTEN, 0, 2000, 2),
            record(180_000, 0, WRITTEN, 0, 3000, 3),
            record(235_000, 0, DELIVERED, 0, 3999, 3),
        ],
    );
    let frames = measured.groups[0].frames.unwrap();
    assert_eq!((frames.due, frames.on_time, frames.late, frames.missing), (3, 1, 2, 0));
    assert_eq!(frames.lateness_s.max, Some(0.045));
    assert_eq!(deliveries(&measured), 3);
}

#[test]
fn datagrams_are_counted_where_they_arrive() {
    let flows = r#"flows = [{ cc = "none", rtt = "20 ms", start = "100 ms", app = {
        unresponsive = "1 Mbit/s", packet = "125 B", ecn = "ect0" } }]"#;
    const CE: u8 = 4;
    let sent = |ms: u64| record(ms * 1000, 0, SENT, 0, 0, 0);
    let received =
        |ms: u64, ecn, number, sent_ms: u64| record(ms * 1000, 0, RECEIVED, ecn, number, sent_ms * 1_000_000);
    let measured = run(
        flows,
        &[sent(100), sent(101), sent(102), sent(103), received(111, 0, 0, 100), received(115, CE, 2, 102)],
    );
    let flow = &measured.groups[0].flows[0];
    let datagrams = flow.datagrams.as_ref().unwrap();
    assert_eq!((datagrams.sent, datagrams.received, datagrams.lost, datagrams.marked), (4, 2, 1, 1));
    assert_eq!((flow.marks_seen, flow.losses), (1, 0));
    // Each packet has 97 B of payload.
    assert_eq!(flow.delivered_bytes, 2 * 97);
    // No acknowledgements exist.
    assert_eq!((flow.data_packets, flow.acks_sent), (None, None));
    assert!((datagrams.delay_s.mean.unwrap() - 0.012).abs() < 1e-4);
}
