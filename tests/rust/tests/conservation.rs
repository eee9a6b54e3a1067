//! Packets are conserved and windows keep to their bounds, in whole runs.

use proptest::prelude::*;
use shoal_packet::CaState;
use shoal_scenario::{Document, Experiment};
use shoal_sim::Outcome;
use shoal_tcp::Recovery;
use shoal_tests::{Bytes, check_conservation, monitor_all_links, random_scenario, run};
use shoal_trace::{Column, SegmentEvent};
use std::collections::BTreeMap;

fn floats(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    let table = outcome.tables.iter().find(|t| t.spec().name == table).expect("recorded");
    let position = table.spec().columns.iter().position(|spec| spec.name == column).expect("declared");
    match &table.columns()[position] {
        Column::F64(values) => values.clone(),
        Column::U32(values) => values.iter().map(|&v| f64::from(v)).collect(),
        Column::U64(values) => values.iter().map(|&v| v as f64).collect(),
        Column::Text { codes, .. } => codes.iter().map(|&v| f64::from(v)).collect(),
    }
}

/// `cwnd` is never below one packet; `ssthresh` is never below two
/// ([RFC 5681](https://www.rfc-editor.org/rfc/rfc5681) equation 4,
/// [RFC 8257, section 3.3](https://www.rfc-editor.org/rfc/rfc8257#section-3.3)). In Open, `cwnd` is at least
/// two unless a timeout, an initial window of one, or rate halving came before: Linux 3.2 halves down to half
/// of `ssthresh` and `tcp_complete_cwr` takes the smaller of both; so does FreeBSD, whose PRR may end at one
/// segment.
fn check_windows(experiment: &Experiment, outcome: &Outcome) {
    let flows = floats(outcome, "controller", "flow");
    let windows = floats(outcome, "controller", "cwnd_packets");
    let thresholds = floats(outcome, "controller", "ssthresh_packets");
    let states = floats(outcome, "controller", "state");
    let results: Vec<_> = outcome.groups.iter().flat_map(|group| &group.flows).collect();
    for row in 0..flows.len() {
        let (flow, cwnd, ssthresh) = (flows[row] as usize, windows[row], thresholds[row]);
        // NaN is "no threshold yet".
        assert!(cwnd >= 1.0 && (ssthresh >= 2.0 || ssthresh.is_nan()), "cwnd {cwnd}, ssthresh {ssthresh}");
        let config = &experiment.endpoints[experiment.flows.of(flow as u32).endpoint as usize];
        let may_be_one = results[flow].timeouts > 0
            || config.initial_window == Some(1)
            || config.stack.linux().is_none_or(|rules| rules.cwr == Recovery::RateHalving);
        let open = states[row] == f64::from(CaState::Open as u8);
        assert!(cwnd >= 2.0 || !open || may_be_one, "cwnd {cwnd} in Open, flow {flow}, row {row}");
    }
}

/// What hosts sent and received is what the network carried: each end receives only what the other one has sent before.
fn check_segments(outcome: &Outcome) {
    let column = |name| floats(outcome, "segments", name);
    let (times, flows, ends, events) = (column("time_ps"), column("flow"), column("end"), column("event"));
    let (seqs, acks, flags, stamps) = (column("seq"), column("ack"), column("flags"), column("ts_val"));
    let mut on_the_way: BTreeMap<[u64; 6], i64> = BTreeMap::new();
    let mut count = [0u64; 2];
    let mut last = 0.0;
    for row in 0..times.len() {
        assert!(times[row] >= last, "rows are in order of time");
        last = times[row];
        let receives = events[row] == f64::from(SegmentEvent::Receive as u8);
        // A packet is received at the other end.
        let origin = if receives { 1.0 - ends[row] } else { ends[row] };
        let packet = [flows[row], origin, seqs[row], acks[row], flags[row], stamps[row]].map(|v| v as u64);
        let entry = on_the_way.entry(packet).or_default();
        *entry += if receives { -1 } else { 1 };
        assert!(*entry >= 0, "received before it was sent: {packet:?}");
        count[usize::from(receives)] += 1;
    }
    let account = outcome.conservation;
    assert_eq!(count, [account.sent, account.delivered]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(shoal_tests::cases(200)))]

    #[test]
    fn packets_are_conserved_and_windows_bounded(bytes in prop::collection::vec(any::<u8>(), 40..80)) {
        let text = random_scenario(&mut Bytes::new(&bytes));
        let Ok(document) = Document::parse(&text, "test.toml") else { return Ok(()) };
        let mut experiment = document.resolve(None).unwrap();
        monitor_all_links(&mut experiment);
        experiment.trace.segment_flows = u32::MAX;
        let outcome = run(&experiment);
        check_conservation(&outcome);
        // Random arrivals may leave no flow at all: tables of traced flows are not there then, and nothing was carried.
        if experiment.flows.is_empty() {
            prop_assert_eq!(outcome.conservation.sent, 0);
            prop_assert!(!outcome.tables.iter().any(|table| ["segments", "controller"].contains(&table.spec().name)));
            return Ok(());
        }
        check_segments(&outcome);
        check_windows(&experiment, &outcome);
    }
}

/// Guards the property above: random scenarios are accepted, carry traffic, mark and drop.
#[test]
fn random_scenarios_test_something() {
    let mut random = shoal_units::Stream::new(3, "bytes");
    let (mut accepted, mut marked, mut dropped, mut delivered) = (0, 0, 0, 0);
    for _ in 0..100 {
        let bytes: Vec<u8> = (0..60).map(|_| random.uniform_u32() as u8).collect();
        let Ok(document) = Document::parse(&random_scenario(&mut Bytes::new(&bytes)), "test.toml") else {
            continue;
        };
        accepted += 1;
        let mut experiment = document.resolve(None).unwrap();
        monitor_all_links(&mut experiment);
        let outcome = run(&experiment);
        marked += u32::from(outcome.bottlenecks.iter().any(|link| link.marked > 0));
        dropped += u32::from(outcome.bottlenecks.iter().any(|link| link.dropped > 0));
        delivered += u32::from(outcome.conservation.delivered > 100);
    }
    assert!(
        accepted >= 40 && marked >= 5 && dropped >= 15 && delivered >= 15,
        "{accepted} {marked} {dropped} {delivered}"
    );
}
