//! Tests of the meter.

use super::*;
use proptest::prelude::*;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}
fn span(start: u64, end: u64) -> FlowSpan {
    FlowSpan { window_start: ms(start), window_end: ms(end), start: Time::ZERO, stop: None }
}

#[test]
fn averages_and_counts_begin_with_the_window() {
    let mut meter = FlowMeter::new(ms(100));
    let before =
        FlowCounters { delivered_bytes: 5000, wire_bytes: 6000, marks_seen: 3, ..Default::default() };
    meter.on_window(ms(0), 40, Some(1.0));
    meter.on_srtt(ms(50), Span::from_millis(900));
    meter.on_window(ms(60), 10, Some(0.5));
    meter.on_window_start(&before);
    meter.on_srtt(ms(110), Span::from_millis(20));
    meter.on_window(ms(150), 30, Some(0.25));
    meter.on_srtt(ms(160), Span::from_millis(30));
    let after = FlowCounters { delivered_bytes: 130_000, wire_bytes: 131_000, marks_seen: 8, ..before };
    let flow = meter.finish(&after, span(100, 200));
    // 125,000 B in 100 ms are 10 Mbit/s; half of the time at 10 packets, half at 30.
    assert_eq!((flow.goodput_bps, flow.wire_bps), (Some(10e6), Some(10e6)));
    assert_eq!((flow.delivered_bytes, flow.marks_seen, flow.losses), (125_000, 5, 0));
    assert_eq!(
        flow.cwnd_packets,
        Summary { mean: Some(20.0), sd: Some(10.0), min: Some(10.0), max: Some(30.0) }
    );
    assert_eq!(flow.alpha.mean, Some(0.375));
    assert_eq!((flow.srtt_s.mean, flow.srtt_s.min, flow.srtt_s.count), (Some(0.025), Some(0.02), 2));
}

#[test]
fn feedback_is_counted_from_the_start_of_the_window_on() {
    let mut flow = FlowMeter::new(ms(0)).finish(&FlowCounters::default(), span(0, 100));
    assert_eq!((flow.data_packets, flow.acks_sent, flow.acks_per_packet), (None, None, None));
    let start = FeedbackCounters { data_packets: u32::MAX - 1, acks_sent: 900 };
    FeedbackCounters { data_packets: 6, acks_sent: 904 }.fill(&start, &mut flow);
    // 4,294,967,294 wraps around to 6 after 8 more; 4 / 8.
    assert_eq!((flow.data_packets, flow.acks_sent, flow.acks_per_packet), (Some(8), Some(4), Some(0.5)));
    start.fill(&start, &mut flow);
    // Nothing arrived: there is no ratio.
    assert_eq!((flow.data_packets, flow.acks_sent, flow.acks_per_packet), (Some(0), Some(0), None));
}

#[test]
fn flow_that_lives_for_a_part_of_the_window_is_averaged_over_its_life() {
    let mut meter = FlowMeter::new(ms(0));
    meter.on_window(ms(40), 10, None);
    let flow = meter
        .finish(&FlowCounters::default(), FlowSpan { start: ms(40), stop: Some(ms(60)), ..span(0, 100) });
    assert_eq!(flow.cwnd_packets.mean, Some(10.0));
    assert_eq!((flow.alpha.mean, flow.goodput_bps, flow.stop_s), (None, Some(0.0), Some(0.06)));
}

#[test]
fn flow_that_never_started_has_no_averages() {
    let flow = FlowMeter::new(ms(0)).finish(&FlowCounters::default(), span(0, 100));
    assert_eq!((flow.cwnd_packets, flow.srtt_s), (Summary::default(), SrttSummary::default()));
    assert_eq!(flow.goodput_bps, Some(0.0));
}

proptest! {
    #[test]
    fn time_average_equals_the_integral(
        changes in prop::collection::vec((1u64..20, 1u32..1000, 0u32..=1024), 1..60),
        start in 0u64..300,
    ) {
        let mut meter = FlowMeter::new(ms(start));
        let (mut now, mut trace) = (0, vec![(0, 0.0); 3000]);
        for &(gap, cwnd, alpha) in &changes {
            meter.on_window(ms(now), cwnd, Some(f64::from(alpha) / 1024.0));
            trace[now as usize..].fill((cwnd, f64::from(alpha) / 1024.0));
            now += gap;
        }
        let end = now.max(start + 1);
        let inside = &trace[start as usize..end as usize];
        let n = inside.len() as f64;
        let flow = meter.finish(&FlowCounters::default(), span(start, end));
        let cwnd = inside.iter().map(|s| f64::from(s.0)).sum::<f64>() / n;
        let alpha = inside.iter().map(|s| s.1).sum::<f64>() / n;
        prop_assert!((flow.cwnd_packets.mean.unwrap() - cwnd).abs() < 1e-9 * cwnd);
        prop_assert!((flow.alpha.mean.unwrap() - alpha).abs() < 1e-9);
        prop_assert_eq!(flow.cwnd_packets.max, inside.iter().map(|s| f64::from(s.0)).reduce(f64::max));
        prop_assert_eq!(flow.cwnd_packets.min, inside.iter().map(|s| f64::from(s.0)).reduce(f64::min));
    }
}
