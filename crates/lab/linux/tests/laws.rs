//! Contradictory records give no result, and implausible numbers give a notice.

mod common;

use common::{ECT, QUEUED, STARTED, Sample, end};
use shoal_linux::{Unlawful, check, measure};
use shoal_scenario::{Experiment, OpportunitySchedule};
use shoal_units::{Opportunities, Rate, RateChange, Span, Time};
use std::sync::Arc;

fn experiment() -> Experiment {
    common::experiment(&common::scenario("off"))
}

/// A packet that is not marked.
fn line(time_us: i64, queued_us: i64, event: u8, waiting: u32) -> Vec<u8> {
    common::line(time_us, queued_us, event, (ECT, ECT), waiting)
}

fn sample(time_ms: u64, cwnd: u32, retransmissions: u32, received: u64) -> Vec<u8> {
    Sample { time_ms, cwnd, retransmissions, received, ..Sample::default() }.bytes()
}

/// Two packets at 600 ms, 1 ms each, of which the second waits for the first.
fn lines() -> Vec<Vec<u8>> {
    vec![
        line(600_000, 600_000, QUEUED, 1),
        line(600_000, 600_000, STARTED, 0),
        line(600_000, 600_000, QUEUED, 1),
        line(601_000, 600_000, STARTED, 0),
    ]
}

fn flows() -> Vec<Vec<u8>> {
    vec![sample(610, 10, 0, 1448), sample(620, 10, 0, 2896), end()]
}

fn broken(lines: &[Vec<u8>], flows: &[Vec<u8>]) -> String {
    match check(&experiment(), &lines.concat(), &flows.concat()) {
        Err(Unlawful::Law(law)) => law.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lawful_records_hold() {
    assert_eq!(check(&experiment(), &lines().concat(), &flows().concat()), Ok(()));
    // A timer that is a microsecond late: an arrival is recorded before a transmission that began earlier.
    let mut late = lines();
    late.insert(3, line(601_001, 601_001, QUEUED, 2));
    late[4] = line(601_000, 600_000, STARTED, 1);
    assert_eq!(check(&experiment(), &late.concat(), &flows().concat()), Ok(()));
}

#[test]
fn each_law_is_named_when_it_breaks() {
    let mut backwards = lines();
    backwards[2] = line(599_000, 599_000, QUEUED, 1);
    assert!(broken(&backwards, &flows()).contains("time runs backwards, from 600000000 ns to 599000000 ns"));

    let mut vanished = lines();
    vanished.remove(2);
    assert!(broken(&vanished, &flows()).contains(
        "the kernel has 0 packets (0 B) in the queue; by what came, left and was dropped there are -1"
    ));

    let mut fast = lines();
    fast[3] = line(600_999, 600_000, STARTED, 0);
    let law = broken(&fast, &flows());
    assert!(
        law.contains("began at 600999000 ns, before the one before it could end at 600999999 ns"),
        "{law}"
    );

    let mut early = lines();
    early[3] = line(601_000, 602_000, STARTED, 0);
    assert!(broken(&early, &flows()).contains("before it came at 602000000 ns"));

    let falls = |second: Vec<u8>| broken(&lines(), &[sample(610, 10, 3, 1448), second, end()]);
    assert_eq!(falls(sample(609, 10, 3, 1448)), "flow 0: time, ns fell from 610000000 to 609000000");
    assert_eq!(falls(sample(620, 10, 2, 1448)), "flow 0: retransmissions fell from 3 to 2");
    assert_eq!(falls(sample(620, 10, 3, 1447)), "flow 0: delivered bytes fell from 1448 to 1447");

    let more = [sample(610, 10, 0, 2897), end()];
    assert!(broken(&lines(), &more).contains("has 2897 bytes of its stream, of which the line carried 2896"));
}

/// What is wrong if the rate of the line changes at a time in microseconds; zero Mbit/s is an outage.
fn broken_after(changes: &[(u64, u64)]) -> Option<String> {
    let mut experiment = experiment();
    let link = experiment.links.iter_mut().find(|link| link.monitored).unwrap();
    let change = |&(at_us, mbps)| RateChange {
        at: Time::ZERO + Span::from_micros(at_us),
        rate: Rate::from_bps(mbps * 1_000_000),
    };
    link.schedule.rate = changes.iter().map(change).collect();
    check(&experiment, &lines().concat(), &flows().concat()).err().map(|error| match error {
        Unlawful::Law(law) => law.to_string(),
        Unlawful::Records(error) => panic!("{error:?}"),
    })
}

#[test]
fn lines_obey_their_schedule() {
    // The second packet begins 1 ms after the first, which takes 1 ms at 12 Mbit/s and 2 ms at 6 Mbit/s.
    assert_eq!(broken_after(&[(600_000, 24)]), None);
    assert!(
        broken_after(&[(600_000, 6)]).unwrap().contains("before the one before it could end at 601999999 ns")
    );
    // The first keeps the rate with which it began.
    assert_eq!(broken_after(&[(600_001, 6)]), None);
    assert!(
        broken_after(&[(600_500, 0), (602_000, 12)])
            .unwrap()
            .contains("began at 601000000 ns, during an outage")
    );
    assert_eq!(broken_after(&[(600_500, 0), (601_000, 12)]), None);
}

#[test]
fn lines_begin_transmissions_at_opportunities() {
    // Packets began at 600 and 601 ms: both are multiples of one, and none of them is one of seven.
    let broken = |gap: u32| {
        let mut experiment = experiment();
        let link = experiment.links.iter_mut().find(|link| link.monitored).unwrap();
        let opportunities = Arc::new(Opportunities::new([(gap, 1)]).unwrap());
        let own = OpportunitySchedule { opportunities, mean_over: Span::from_millis(100) };
        link.schedule.opportunities = Some(own);
        check(&experiment, &lines().concat(), &flows().concat()).err()
    };
    assert_eq!(broken(1), None);
    let Some(Unlawful::Law(law)) = broken(7) else { panic!("a line without opportunities sent") };
    assert!(
        law.to_string().contains("began at 600000000 ns, when there was no opportunity to send"),
        "{law}"
    );
}

fn notices(flows: &[Vec<u8>]) -> Vec<(String, String)> {
    let experiment = experiment();
    let measured = measure(&experiment, &lines().concat(), &flows.concat()).unwrap();
    measured.notices.into_iter().map(|notice| (notice.kind, notice.text)).collect()
}

fn samples(cwnd: u32, retransmissions: u32) -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> = (1..=100)
        .map(|step| sample(step * 10, cwnd, if step > 60 { retransmissions } else { 0 }, step * 28))
        .collect();
    samples.push(end());
    samples
}

#[test]
fn line_that_idles_despite_its_windows_is_noticed() {
    // 12 Mbit/s and 10 ms are 10 packets of 1500 B, which waited 0.5 ms on average; 30 packets allow 30 / 10.5 ms =
    // 34.3 Mbit/s.
    let found = notices(&samples(30, 0));
    let idle = found.iter().find(|(kind, _)| kind == "idle-despite-windows").unwrap();
    assert!(idle.1.contains("is busy for 0 % of the time"), "{}", idle.1);
    assert!(idle.1.contains("allow 2.9 times its rate"), "{}", idle.1);
    // 12 and 20 packets allow 13.7 and 22.9 Mbit/s, which is not clearly more.
    for cwnd in [12, 20] {
        assert!(notices(&samples(cwnd, 0)).iter().all(|(kind, _)| kind != "idle-despite-windows"));
    }
}

#[test]
fn retransmissions_of_what_nobody_dropped_are_noticed() {
    let found = notices(&samples(12, 13));
    let unexplained = found.iter().find(|(kind, _)| kind == "retransmissions-without-drops").unwrap();
    assert!(
        unexplained.1.contains("13 packets were sent again of which queues dropped 0"),
        "{}",
        unexplained.1
    );
    // A window may have been lost just before the measurement began.
    assert!(notices(&samples(12, 12)).iter().all(|(kind, _)| kind != "retransmissions-without-drops"));
}
