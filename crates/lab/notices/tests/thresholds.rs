//! Thresholds of notices, from below and from above, on results that are written by hand.

use shoal_measure::{
    AlphaSummary, Bottleneck, Finished, FlowResult, GroupResult, MeterPace, Notice, QueueMeter, SrttSummary,
    Summary, TransferRates,
};
use shoal_notices::{
    BACKOFF, BELOW_HALF, BELOW_SHARE, BOTH_QUEUES, CONVERGING, DIFFERENT_ROUND_TRIPS, GROWING, HEAVY_LOSS,
    IDLE, LEFT_OUT, OVERGROWN, SEVERAL_QUEUES, SMALL_WINDOWS, STARVED, STORM, UNDONE_TIMEOUT, UNEQUAL,
    UNEVEN_LOSSES, UNEVEN_MARKS, UNRESPONSIVE, WITHOUT_ECN, of_run,
};
use shoal_scenario::{Document, Experiment};
use shoal_units::{Rate, Span, Time};

/// Ten seconds, of which nine are measured, of a link of 12 Mbit/s, which is 1000 packets of 1500 B a second, and a
/// round trip of 20 ms, which holds 20 of them.
const HEAD: &str = "
    duration = \"10 s\"
    warmup = \"1 s\"
    bottleneck = { rate = \"12 Mbit/s\", buffer = \"100 packets\",
                   aqm = { kind = \"step\", threshold = \"10 packets\" } }
";

fn scenario(groups: &[(&str, &str)]) -> Experiment {
    let tables: String =
        groups.iter().map(|(name, keys)| format!("[[flows]]\nname = \"{name}\"\n{keys}\n")).collect();
    let text = format!("{HEAD}\n{tables}");
    Document::parse(&text, "test.toml").unwrap().resolve(None).unwrap()
}

const DCTCP: &str = "cc = \"dctcp\"\nrtt = \"20 ms\"";
const RENO: &str = "cc = \"reno\"\nrtt = \"20 ms\"";

/// A flow with this rate and as many reductions as packets have marks, that has always sent.
fn flow(mbps: f64) -> FlowResult {
    FlowResult {
        wire_bps: Some(1e6 * mbps),
        goodput_bps: Some(1e6 * mbps),
        delivered_bytes: (9.0 * 1e6 * mbps / 8.0) as u64,
        base_rtt_s: Some(0.02),
        srtt_s: SrttSummary { mean: Some(0.025), ..SrttSummary::default() },
        cwnd_packets: Summary { mean: Some(10.0), max: Some(20.0), ..Summary::default() },
        alpha: AlphaSummary { mean: Some(0.1) },
        data_packets: Some(1000),
        marks_seen: 100,
        reductions: 200,
        ..FlowResult::default()
    }
}

fn link() -> Bottleneck {
    let meter = QueueMeter::new(Time::ZERO, Rate::from_bps(12_000_000), MeterPace::default());
    let (mut link, _) = meter.finish("bottleneck", Time::ZERO + Span::from_secs(10));
    link.utilisation = Some(1.0);
    link.arrived = 10_000;
    // A mark of another queue, so that nobody asks for marks.
    link.arrived_marked = 1;
    link.queue_packets.max = Some(20.0);
    link
}

fn notices(experiment: &Experiment, flows: &[&[FlowResult]], link: Bottleneck) -> Vec<Notice> {
    let named = experiment.groups.iter().zip(flows);
    let groups: Vec<GroupResult> = named
        .map(|(group, flows)| GroupResult::new(group.name.clone(), group.cc.clone(), flows.to_vec()))
        .collect();
    let transfers = TransferRates::new();
    let finished = Finished { groups: &groups, bottlenecks: &[link], transfers: &transfers, queue: None };
    of_run(experiment, &finished)
}

/// The notices of a run, without those that are not about shares and losses: kinds and mechanisms.
fn kinds(experiment: &Experiment, flows: &[&[FlowResult]], link: Bottleneck) -> Vec<(String, Vec<String>)> {
    let notices = notices(experiment, flows, link).into_iter();
    let meant = notices.filter(|notice| notice.kind != shoal_notices::UNEXPLAINED);
    meant.map(|notice| (notice.kind, notice.mechanisms)).collect()
}

fn expected(notices: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    notices.iter().map(|(kind, mechanisms)| ((*kind).to_owned(), names(mechanisms))).collect()
}

/// Rates of 3 : 1 have a standard deviation of half of their mean.
#[test]
fn two_flows_share_unequally_from_three_to_one_on() {
    let experiment = scenario(&[("a", &format!("{DCTCP}\ncount = 2"))]);
    assert_eq!(kinds(&experiment, &[&[flow(8.9), flow(3.1)]], link()), []);
    let unequal = kinds(&experiment, &[&[flow(9.0), flow(3.0)]], link());
    assert_eq!(unequal, expected(&[(UNEQUAL, &[])]));
}

/// One of eleven flows that gets nothing moves the standard deviation to a third of the mean only.
#[test]
fn one_flow_of_many_is_reported_below_a_tenth() {
    let experiment = scenario(&[("a", &format!("{DCTCP}\ncount = 11"))]);
    let with =
        |last: f64| -> Vec<FlowResult> { (0..11).map(|i| flow(if i < 10 { 1.1 } else { last })).collect() };
    assert_eq!(kinds(&experiment, &[&with(0.11)], link()), []);
    assert_eq!(kinds(&experiment, &[&with(0.10)], link()), expected(&[(UNEQUAL, &[])]));
}

#[test]
fn flows_of_groups_that_differ_in_their_start_only_are_alike() {
    let later = format!("{DCTCP}\nstart = \"500 ms\"");
    let unequal = |second: &str| {
        let experiment = scenario(&[("first", DCTCP), ("joins", second)]);
        let base_rtt_s = |number| Some(experiment.base_rtt(&experiment.flows.of(number)).as_secs_f64());
        let larger = FlowResult { base_rtt_s: base_rtt_s(0), ..flow(10.0) };
        let smaller = FlowResult { base_rtt_s: base_rtt_s(1), ..flow(2.0) };
        notices(&experiment, &[&[larger], &[smaller]], link())
    };
    let [notice] = &unequal(&later)[..] else { panic!("one notice") };
    assert_eq!(
        (notice.kind.as_str(), &notice.groups[..]),
        (UNEQUAL, &["first".to_owned(), "joins".to_owned()][..])
    );
    assert!(
        notice.text.starts_with(
            "the 2 flows of first and joins are alike and share unequally: the smallest (joins) gets 2.000 Mbit/s and \
             the largest (first) 10.000 Mbit/s, where equal shares are 6.000 Mbit/s each"
        ),
        "{}",
        notice.text
    );
    // Another controller, another host, another code point or another round trip: they are not alike.
    for other in [
        "cc = \"reno\"\nrtt = \"20 ms\"",
        "cc = \"dctcp\"\nrtt = \"23 ms\"",
        "cc = \"dctcp\"\nrtt = \"20 ms\"\nhost = \"linux-6-gso\"",
    ] {
        assert!(unequal(other).iter().all(|notice| notice.kind != UNEQUAL), "{other}");
    }
}

#[test]
fn short_measurements_and_late_flows_say_nothing() {
    let experiment = scenario(&[("a", &format!("{DCTCP}\ncount = 2"))]);
    let long = |rtt_s: f64| {
        let waits = SrttSummary { mean: Some(rtt_s), ..SrttSummary::default() };
        [flow(10.0), FlowResult { srtt_s: waits, ..flow(2.0) }]
    };
    // Nine seconds are 100 round trips of 90 ms.
    assert_eq!(kinds(&experiment, &[&long(0.0901)], link()), []);
    assert_eq!(kinds(&experiment, &[&long(0.0899)], link()).len(), 1);
    let late = scenario(&[("first", DCTCP), ("joins", &format!("{DCTCP}\nstart = \"1.001 s\""))]);
    assert_eq!(kinds(&late, &[&[flow(10.0)], &[flow(2.0)]], link()), []);
}

#[test]
fn mechanisms_of_unequal_shares_need_numbers() {
    let experiment = scenario(&[("a", &format!("{DCTCP}\ncount = 2"))]);
    let why = |larger: FlowResult, smaller: FlowResult| {
        let notices = kinds(&experiment, &[&[larger, smaller]], link());
        let [(kind, mechanisms)] = &notices[..] else { panic!("{notices:?}") };
        assert_eq!(kind, UNEQUAL);
        mechanisms.clone()
    };
    let (larger, smaller) = (flow(10.0), flow(2.0));
    assert!(why(larger.clone(), smaller.clone()).is_empty());
    // DCTCP's alpha says what it finds marked, whatever arrives: 0.15 is one and a half times 0.1.
    let sees =
        |alpha| FlowResult { alpha: AlphaSummary { mean: Some(alpha) }, marks_seen: 900, ..smaller.clone() };
    assert!(why(larger.clone(), sees(0.15)).is_empty());
    assert_eq!(why(larger.clone(), sees(0.151)), [UNEVEN_MARKS]);
    // Without alpha marks are counted: 150 and 151 for 100.
    let marked = |marks_seen| FlowResult { marks_seen, alpha: AlphaSummary { mean: None }, ..flow(2.0) };
    let plain_larger = FlowResult { alpha: AlphaSummary { mean: None }, ..larger.clone() };
    assert!(why(plain_larger.clone(), marked(150)).is_empty());
    assert_eq!(why(plain_larger.clone(), marked(151)), [UNEVEN_MARKS]);
    // Of flows of DCTCP one has no alpha: it has no ECN.
    assert_eq!(why(plain_larger.clone(), smaller.clone()), [WITHOUT_ECN]);
    assert_eq!(why(larger.clone(), marked(0)), [WITHOUT_ECN]);
    // If nothing of it arrived, it may still ask for its connection, and nothing is known.
    let silent = |data_packets| FlowResult { data_packets, ..marked(0) };
    assert!(why(larger.clone(), silent(Some(0))).is_empty());
    assert!(why(larger.clone(), silent(None)).is_empty());
    assert_eq!(why(larger.clone(), FlowResult { losses: 1, ..smaller.clone() }), [UNEVEN_LOSSES]);
    // Reductions by 0.1 / 2 in 9 s of the 10 s of the flows: 54 make 54 * 0.05 * 10 / 9 = 3.
    assert!(why(FlowResult { reductions: 54, ..larger.clone() }, smaller.clone()).is_empty());
    assert_eq!(why(FlowResult { reductions: 53, ..larger.clone() }, smaller.clone()), [CONVERGING]);
    // Without alpha a reduction takes 0.3 of the window: 10 make 10 * 0.3 * 10 / 9 = 3.3, and 8 make 2.7.
    let plain = |reductions| FlowResult { reductions, ..plain_larger.clone() };
    assert!(why(plain(10), marked(0)).is_empty());
    assert_eq!(why(plain(8), marked(0)), [CONVERGING]);
    assert_eq!(
        why(larger.clone(), FlowResult { base_rtt_s: Some(0.023), ..smaller.clone() }),
        [DIFFERENT_ROUND_TRIPS]
    );
    let waits = FlowResult {
        timeouts: 3,
        srtt_s: SrttSummary { mean: Some(0.002), ..SrttSummary::default() },
        ..smaller
    };
    assert_eq!(why(larger, waits), [BACKOFF]);
}

/// Two flows at 12 Mbit/s: a fair share is 6 Mbit/s.
#[test]
fn groups_are_short_of_their_share_below_a_half_and_three_tenths_and_starve_below_one() {
    let experiment = scenario(&[("classic", RENO), ("scalable", DCTCP)]);
    let said = |mbps: f64| {
        let classic = FlowResult { alpha: AlphaSummary { mean: None }, ..flow(mbps) };
        kinds(&experiment, &[&[classic], &[flow(12.0 - mbps)]], link())
    };
    assert_eq!(said(3.0), []);
    assert_eq!(said(2.99), expected(&[(BELOW_HALF, &[])]));
    assert_eq!(said(1.8), expected(&[(BELOW_HALF, &[])]));
    assert_eq!(said(1.79), expected(&[(BELOW_SHARE, &[])]));
    assert_eq!(said(0.6), expected(&[(BELOW_SHARE, &[])]));
    assert_eq!(said(0.59), expected(&[(STARVED, &[])]));
}

/// Traffic that answers nothing is a cause from the fair share of 6 Mbit/s on.
#[test]
fn unresponsive_traffic_explains_what_it_takes() {
    let beside = |sent: &str| {
        let traffic = format!("cc = \"none\"\nrtt = \"20 ms\"\napp = {{ unresponsive = \"{sent}\" }}");
        let experiment = scenario(&[("classic", RENO), ("traffic", &traffic)]);
        kinds(
            &experiment,
            &[&[flow(1.0)], &[FlowResult { wire_bps: Some(1.1e7), ..FlowResult::default() }]],
            link(),
        )
    };
    assert_eq!(beside("6.1 Mbit/s"), expected(&[(BELOW_SHARE, &[UNRESPONSIVE])]));
    assert_eq!(beside("5.9 Mbit/s"), expected(&[(BELOW_SHARE, &[])]));
}

/// Bursts of 12 Mbit/s of which each lasts a second: three in the nine measured seconds are 4 Mbit/s on average, which
/// leave 8 to the flow beside them; six are 8 Mbit/s and leave 4, so that they send more than the share that is fair.
#[test]
fn bursts_count_with_their_mean() {
    let beside = |starts: &[u32]| {
        let times = |after: u32| {
            starts.iter().map(|at| format!("\"{} s\"", at + after)).collect::<Vec<_>>().join(", ")
        };
        let (from, to) = (times(0), times(1));
        let traffic = format!(
            "cc = \"none\"\nrtt = \"20 ms\"\napp = {{ unresponsive = \"12 Mbit/s\" }}\nstart = [{from}]\nstop = [{to}]"
        );
        let experiment = scenario(&[("classic", RENO), ("traffic", &traffic)]);
        let burst = FlowResult { wire_bps: Some(12e6 / 9.0), ..FlowResult::default() };
        kinds(&experiment, &[&[flow(1.0)], &vec![burst; starts.len()]], link())
    };
    assert_eq!(beside(&[2, 4, 6]), expected(&[(BELOW_SHARE, &[])]));
    assert_eq!(beside(&[2, 3, 4, 6, 7, 8]), expected(&[(BELOW_SHARE, &[UNRESPONSIVE])]));
}

#[test]
fn who_still_grows_is_said() {
    let experiment = scenario(&[("classic", RENO), ("scalable", DCTCP)]);
    let classic = FlowResult { reductions: 0, alpha: AlphaSummary { mean: None }, ..flow(1.0) };
    let notices = kinds(&experiment, &[&[classic], &[flow(11.0)]], link());
    assert_eq!(notices, expected(&[(BELOW_SHARE, &[GROWING])]));
}

/// A window of 4 packets of 1500 B in 20 ms allows 2.4 Mbit/s, of which 1.3 Mbit/s is more than half.
#[test]
fn a_flow_that_its_window_limits_is_not_short_of_its_share() {
    let limited = format!("{RENO}\ncwnd_clamp = \"4 packets\"");
    let experiment = scenario(&[("classic", &limited), ("scalable", DCTCP)]);
    assert_eq!(kinds(&experiment, &[&[flow(1.3)], &[flow(10.7)]], link()), []);
}

/// Path and queue hold 20 + 20 packets.
fn lossy(
    dropped: u64,
    retransmissions: u64,
    largest_window: f64,
    timeouts: u64,
) -> Vec<(String, Vec<String>)> {
    let experiment = scenario(&[("a", DCTCP)]);
    let cwnd_packets = Summary { mean: Some(10.0), max: Some(largest_window), ..Summary::default() };
    let sender = FlowResult { retransmissions, timeouts, cwnd_packets, ..flow(12.0) };
    kinds(&experiment, &[&[sender]], Bottleneck { dropped, ..link() })
}

#[test]
fn heavy_losses_begin_above_a_tenth_of_the_packets() {
    // Of 10,000 packets that arrive.
    assert_eq!(lossy(1000, 1000, 20.0, 1), []);
    assert_eq!(lossy(1001, 1001, 20.0, 1), expected(&[(HEAVY_LOSS, &[])]));
    // What is not sent again was dropped of others, or by plan.
    assert_eq!(lossy(2000, 999, 20.0, 1), []);
    assert_eq!(lossy(2000, 1000, 20.0, 1), expected(&[(HEAVY_LOSS, &[])]));
}

/// A link that idles although windows of 120 packets in 25 ms allow 4.8 times its rate.
#[test]
fn windows_of_a_storm_are_no_reason_to_doubt_an_idle_link() {
    let experiment = scenario(&[("a", DCTCP)]);
    let idle = |dropped| {
        let cwnd_packets = Summary { mean: Some(120.0), max: Some(125.0), ..Summary::default() };
        let sender = FlowResult { retransmissions: dropped, cwnd_packets, ..flow(6.0) };
        let mut link = Bottleneck { dropped, utilisation: Some(0.5), ..link() };
        link.delay_s.all.mean = Some(0.005);
        kinds(&experiment, &[&[sender]], link)
    };
    assert_eq!(idle(0), expected(&[(IDLE, &[])]));
    assert_eq!(idle(9000), expected(&[(STORM, &[OVERGROWN])]));
}

/// Nine seconds are 100 round trips of 90 ms.
#[test]
fn a_loss_in_a_few_round_trips_may_be_one_slow_start() {
    let experiment = scenario(&[("a", DCTCP)]);
    let lost = |rtt_s: f64, largest_window: f64| {
        let cwnd_packets = Summary { mean: Some(10.0), max: Some(largest_window), ..Summary::default() };
        let waits = SrttSummary { mean: Some(rtt_s), ..SrttSummary::default() };
        let sender = FlowResult { retransmissions: 2000, cwnd_packets, srtt_s: waits, ..flow(12.0) };
        kinds(&experiment, &[&[sender]], Bottleneck { dropped: 2000, ..link() })
    };
    assert_eq!(lost(0.0901, 20.0), []);
    assert_eq!(lost(0.0899, 20.0), expected(&[(HEAVY_LOSS, &[])]));
    // A storm needs no longer measurement.
    assert_eq!(lost(0.0901, 121.0), expected(&[(STORM, &[OVERGROWN])]));
}

#[test]
fn storms_have_a_window_out_of_proportion() {
    assert_eq!(lossy(9000, 9000, 120.0, 0), expected(&[(HEAVY_LOSS, &[])]));
    assert_eq!(lossy(9000, 9000, 121.0, 0), expected(&[(STORM, &[OVERGROWN])]));
    assert_eq!(lossy(9000, 9000, 121.0, 1), expected(&[(STORM, &[OVERGROWN, UNDONE_TIMEOUT])]));
}

/// 40 packets are fewer than four for each of eleven flows.
#[test]
fn too_many_flows_lose_because_their_windows_are_small() {
    let experiment = scenario(&[("a", &format!("{DCTCP}\ncount = 11"))]);
    let flows: Vec<FlowResult> =
        (0..11).map(|_| FlowResult { retransmissions: 200, timeouts: 1, ..flow(1.0) }).collect();
    let notices = kinds(&experiment, &[&flows], Bottleneck { dropped: 2000, ..link() });
    assert_eq!(notices, expected(&[(HEAVY_LOSS, &[SMALL_WINDOWS])]));
}

#[test]
fn drops_with_given_probabilities_are_neither_a_heavy_loss_nor_starvation() {
    let text = HEAD.replace(
        "aqm = { kind = \"step\", threshold = \"10 packets\" }",
        "aqm = { kind = \"open-loop\", drop = 0.2 }",
    );
    let text = format!("{text}\n[[flows]]\nname = \"a\"\n{RENO}\n");
    let experiment = Document::parse(&text, "test.toml").unwrap().resolve(None).unwrap();
    let sender = FlowResult { retransmissions: 2000, timeouts: 9, ..flow(0.1) };
    assert_eq!(kinds(&experiment, &[&[sender]], Bottleneck { dropped: 2000, ..link() }), []);
}

#[test]
fn a_flow_through_several_queues_is_reduced_by_each() {
    let text = "
        duration = \"10 s\"
        warmup = \"1 s\"
        topology = { kind = \"parking-lot\", bottlenecks = 2, rate = \"12 Mbit/s\", delay = \"5 ms\",
                     buffer = \"100 packets\", aqm = { kind = \"step\", threshold = \"10 packets\" } }
        [[flows]]
        name = \"through\"
        cc = \"dctcp\"
        from = \"in\"
        to = \"out\"
        [[flows]]
        name = \"cross\"
        cc = \"dctcp\"
        from = [\"in1\", \"in2\"]
        to = [\"out1\", \"out2\"]
        count = 2
    ";
    let experiment = Document::parse(text, "test.toml").unwrap().resolve(None).unwrap();
    let names: Vec<String> = experiment.monitored().map(|(_, link)| link.name.clone()).collect();
    let links: Vec<Bottleneck> =
        names.into_iter().map(|name| Bottleneck { name, marked: 1000, ..link() }).collect();
    let group =
        |name: &str, flows: Vec<FlowResult>| GroupResult::new(name.to_owned(), "dctcp".to_owned(), flows);
    let groups = [group("through", vec![flow(1.5)]), group("cross", vec![flow(10.5), flow(10.5)])];
    let transfers = TransferRates::new();
    let finished = Finished { groups: &groups, bottlenecks: &links, transfers: &transfers, queue: None };
    let notices: Vec<_> =
        of_run(&experiment, &finished).into_iter().map(|notice| (notice.kind, notice.mechanisms)).collect();
    assert_eq!(notices, expected(&[(BELOW_SHARE, &[SEVERAL_QUEUES])]));
}

#[test]
fn what_linux_3_18_would_wait_for_is_said_where_windows_are_small() {
    let said = |keys: &str, window: f64, marks_seen: u64| {
        let experiment = scenario(&[("a", &format!("{DCTCP}\n{keys}"))]);
        let cwnd_packets = Summary { mean: Some(window), max: Some(20.0), ..Summary::default() };
        kinds(&experiment, &[&[FlowResult { cwnd_packets, marks_seen, ..flow(12.0) }]], link())
    };
    let old = "stack = \"linux-3.18\"";
    assert_eq!(said(old, 3.9, 100), expected(&[(LEFT_OUT, &[])]));
    assert_eq!(said(old, 4.0, 100), []);
    // Without marks, or with nothing but marks, the state of the echo does not change.
    for marks_seen in [0, 1000] {
        assert_eq!(said(old, 3.9, marks_seen), []);
    }
    assert_eq!(said(&format!("{old}\ndelayed_ack = false"), 3.9, 100), []);
    assert_eq!(said("", 3.9, 100), []);
}

#[test]
fn packets_with_ect_in_both_queues_are_said_to_be_one_class() {
    let said = |aqm: &str, classic: &str, arrived: u64| {
        let text = format!(
            "duration = \"10 s\"\nwarmup = \"1 s\"\n[bottleneck]\nrate = \"12 Mbit/s\"\nbuffer = \"100 packets\"\n\
             aqm = {aqm}\n[[flows]]\nname = \"a\"\ncc = \"prague-0.7\"\nrtt = \"20 ms\"\n\
             [[flows]]\nname = \"b\"\n{classic}\nrtt = \"20 ms\"\n"
        );
        let experiment = Document::parse(&text, "test.toml").unwrap().resolve(None).unwrap();
        let mut link = link();
        link.ect.arrived = arrived;
        let groups = [("a", "prague-0.7"), ("b", "cubic")]
            .map(|(name, cc)| GroupResult::new(name.to_owned(), cc.to_owned(), vec![flow(6.0)]));
        let transfers = TransferRates::new();
        let finished = Finished { groups: &groups, bottlenecks: &[link], transfers: &transfers, queue: None };
        let notices = of_run(&experiment, &finished);
        notices.into_iter().filter(|notice| notice.kind == BOTH_QUEUES).collect::<Vec<_>>()
    };
    let (dual, with_ecn) = ("{ kind = \"dualpi2\" }", "cc = \"cubic\"\necn = \"on\"");
    let [notice] = said(dual, with_ecn, 1).try_into().expect("one notice");
    assert_eq!((notice.groups, notice.links), (vec!["b".into(), "a".into()], vec!["bottleneck".into()]));
    assert!(notice.text.contains("those of a are ECT(1) and join the low-latency one"), "{}", notice.text);
    assert!(notice.text.contains("those of b are ECT(0) and join the classic one"), "{}", notice.text);
    // Nothing of the class came, the classic flow has no ECN, all ECT joins one queue, or there is one queue only.
    assert_eq!(said(dual, with_ecn, 0), []);
    assert_eq!(said(dual, "cc = \"cubic\"", 1), []);
    assert_eq!(said("{ kind = \"dualpi2\", ecn_mask = \"any-ect\" }", with_ecn, 1), []);
    assert_eq!(said("{ kind = \"pie\", ecn = true }", with_ecn, 1), []);
}
