//! Thresholds of the notices that nothing is marked and that a link is not full, from below and from above, on results
//! that are written by hand.

use shoal_measure::{
    Bottleneck, Finished, FlowResult, GroupResult, MeterPace, Notice, QueueMeter, TransferRates,
};
use shoal_notices::{
    ABOVE_BUFFER, GROWING, NO_MARKS, NOT_ECT, NOT_FULL, RECEIVE_WINDOW, SHORT_QUEUE, of_run,
};
use shoal_scenario::Document;
use shoal_units::{Rate, Span, Time};

/// A link of 12 Mbit/s, 1000 packets of 1500 B a second, with a step of `threshold` packets, and a DCTCP flow whose
/// round trip of 20 ms holds 20 of them.
fn run(threshold: u32, keys: &str, flow: FlowResult, link: Bottleneck) -> Vec<(String, Vec<String>)> {
    let text = format!(
        "duration = \"10 s\"\nwarmup = \"1 s\"
         bottleneck = {{ rate = \"12 Mbit/s\", buffer = \"100 packets\",
                         aqm = {{ kind = \"step\", threshold = \"{threshold} packets\" }} }}
         [[flows]]\nname = \"a\"\ncc = \"dctcp\"\nrtt = \"20 ms\"\n{keys}"
    );
    let experiment = Document::parse(&text, "test.toml").unwrap().resolve(None).unwrap();
    let groups = [GroupResult::new("a".to_owned(), "dctcp".to_owned(), vec![flow])];
    let transfers = TransferRates::new();
    let finished = Finished { groups: &groups, bottlenecks: &[link], transfers: &transfers, queue: None };
    let notices: Vec<Notice> = of_run(&experiment, &finished);
    let meant = notices.into_iter().filter(|notice| [NO_MARKS, NOT_FULL].contains(&notice.kind.as_str()));
    meant.map(|notice| (notice.kind, notice.mechanisms)).collect()
}

fn flow() -> FlowResult {
    FlowResult { base_rtt_s: Some(0.02), wire_bps: Some(1.2e7), reductions: 10, ..FlowResult::default() }
}

fn link() -> Bottleneck {
    let meter = QueueMeter::new(Time::ZERO, Rate::from_bps(12_000_000), MeterPace::default());
    let (mut link, _) = meter.finish("bottleneck", Time::ZERO + Span::from_secs(10));
    link.utilisation = Some(1.0);
    (link.arrived, link.ect.arrived) = (9000, 9000);
    link.queue_bytes.max = Some(1500.0);
    link
}

fn expected(kind: &str, mechanism: &str) -> Vec<(String, Vec<String>)> {
    vec![(kind.to_owned(), vec![mechanism.to_owned()])]
}

#[test]
fn a_single_mark_raises_no_question() {
    assert_eq!(run(10, "", flow(), link()), expected(NO_MARKS, SHORT_QUEUE));
    assert_eq!(run(10, "", flow(), Bottleneck { marked: 1, ..link() }), []);
}

#[test]
fn without_ect_no_other_cause_is_looked_for() {
    let mut link = link();
    link.ect.arrived = 0;
    assert_eq!(run(100, "", flow(), link), expected(NO_MARKS, NOT_ECT));
}

#[test]
fn a_threshold_as_high_as_the_buffer_is_above_it() {
    assert_eq!(run(100, "", flow(), link()), expected(NO_MARKS, ABOVE_BUFFER));
    assert_eq!(run(99, "", flow(), link()), expected(NO_MARKS, SHORT_QUEUE));
}

/// A round trip holds 20 packets and the threshold 10 more: a window of 30 packets of 1448 B does not exceed it, and
/// that of 31 does.
#[test]
fn a_receive_window_of_path_and_threshold_brings_no_mark() {
    let window = |packets: u32| format!("receive_window = \"{} B\"", 1448 * packets);
    assert_eq!(run(10, &window(30), flow(), link()), expected(NO_MARKS, RECEIVE_WINDOW));
    assert_eq!(run(10, &window(31), flow(), link()), expected(NO_MARKS, SHORT_QUEUE));
}

#[test]
fn a_link_is_not_full_below_four_fifths() {
    let link = |utilisation: f64| Bottleneck { marked: 1, utilisation: Some(utilisation), ..link() };
    let growing = || FlowResult { reductions: 0, ..flow() };
    assert_eq!(run(10, "", growing(), link(0.8)), []);
    assert_eq!(run(10, "", growing(), link(0.79)), expected(NOT_FULL, GROWING));
}
