//! Tests of the meter.

use super::*;
use crate::WindowPart;
use proptest::prelude::*;

const MBIT_10: Rate = Rate::from_bps(10_000_000);
fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// `ect` and `not_ect` packets of 1500 B wait from `now` on.
fn wait(meter: &mut QueueMeter, now: Time, ect: u32, not_ect: u32) {
    meter.on_backlog(now, ect + not_ect, u64::from(ect + not_ect) * 1500);
    for (class, wanted) in [(Class::Ect, ect), (Class::NotEct, not_ect)] {
        while meter.class_packets(class) < wanted {
            meter.on_join(now, class);
        }
        while meter.class_packets(class) > wanted {
            meter.on_leave(now, class);
        }
    }
}

#[test]
fn backlog_is_averaged_over_the_window_only() {
    let mut meter = QueueMeter::new(ms(10), MBIT_10, MeterPace::default());
    wait(&mut meter, ms(1), 9, 0);
    wait(&mut meter, ms(8), 2, 0);
    wait(&mut meter, ms(20), 2, 2);
    wait(&mut meter, ms(25), 0, 0);
    let (result, _) = meter.finish("l", ms(30));
    // 10 ms of 3000 B, 5 ms of 6000 B, 5 ms of nothing.
    assert_eq!(result.queue_bytes.mean, Some(3000.0));
    assert_eq!(result.queue_packets.mean, Some(2.0));
    assert_eq!(result.queue_empty, Some(0.25));
    assert_eq!(result.queue_packets.max, Some(4.0));
    // Variance of packets: (10 * 0 + 5 * 4 + 5 * 4) / 20 = 2.
    assert_eq!(result.queue_packets.sd, Some(2.0f64.sqrt()));
    // ECT: 2 packets for 15 ms, nothing for 5 ms. Others: 2 packets from 20 ms to 25 ms, nothing for 15 ms.
    let classes = result.class_queue_packets;
    assert_eq!((classes.ect.mean, classes.not_ect.mean), (Some(1.5), Some(0.5)));
    assert_eq!((classes.ect.min, classes.not_ect.max), (Some(0.0), Some(2.0)));
    // Samples at 10 ms (2 packets) and 20 ms (4: what waits after the change).
    assert_eq!(result.queue_empty_sampled, Some(0.0));
}

#[test]
fn queue_that_never_changes_counts_as_empty() {
    let (result, _) = QueueMeter::new(ms(10), MBIT_10, MeterPace::default()).finish("l", ms(30));
    assert_eq!(
        (result.queue_empty, result.queue_bytes.max, result.utilisation),
        (Some(1.0), Some(0.0), Some(0.0))
    );
    assert_eq!((result.delay_s.all.mean, result.ect.mark_fraction), (None, None));
}

#[test]
fn samples_see_what_waits_after_a_change() {
    let pace = MeterPace { sample: Span::from_millis(5), ..MeterPace::default() };
    let mut meter = QueueMeter::new(ms(10), MBIT_10, pace);
    wait(&mut meter, ms(11), 0, 1);
    wait(&mut meter, ms(20), 0, 0);
    wait(&mut meter, ms(24), 0, 3);
    let (result, _) = meter.finish("l", ms(30));
    // At 10 ms nothing waits, at 15 ms one packet, at 20 ms nothing again, at 25 ms three; 30 ms is outside.
    assert_eq!(result.queue_empty_sampled, Some(0.5));
    // In time: 1 ms and 4 ms of 20 ms.
    assert_eq!(result.queue_empty, Some(0.25));
}

#[test]
fn windows_partition_the_measurement() {
    let pace = MeterPace { windows: Span::from_millis(10), ..MeterPace::default() };
    let mut meter = QueueMeter::new(ms(10), MBIT_10, pace);
    wait(&mut meter, ms(5), 1, 0);
    wait(&mut meter, ms(14), 1, 2);
    meter.on_departure(ms(20), Class::Ect, Span::from_millis(15), 1500);
    wait(&mut meter, ms(32), 0, 0);
    meter.on_departure(ms(32), Class::NotEct, Span::from_millis(18), 1500);
    let (_, distributions) = meter.finish("l", ms(35));
    type Row = (Time, Time, Vec<(u64, u64)>);
    let rows = |parts: &[WindowPart], class| -> Vec<Row> {
        let of = |part: &WindowPart| part.buckets.iter().map(|b| (b.low, b.weight / 1_000_000_000)).collect();
        parts.iter().filter(|p| p.class == class).map(|p| (p.start, p.end, of(p))).collect()
    };
    let all = rows(&distributions.backlog_windows, QueueClass::All);
    // (packets, ms): 4 ms of one packet and 6 ms of three; 10 ms of three; 2 ms of three and 3 ms of none.
    assert_eq!(
        all,
        [
            (ms(10), ms(20), vec![(1, 4), (3, 6)]),
            (ms(20), ms(30), vec![(3, 10)]),
            (ms(30), ms(35), vec![(0, 3), (3, 2)]),
        ]
    );
    let ect = rows(&distributions.backlog_windows, QueueClass::Ect);
    assert_eq!(ect[1..], [(ms(20), ms(30), vec![(1, 10)]), (ms(30), ms(35), vec![(0, 3), (1, 2)])]);
    // A departure at 20 ms belongs to the window that begins then; windows without departures have no rows.
    let windows: Vec<_> =
        distributions.delay_windows.iter().map(|p| (p.class, p.start, p.buckets[0].weight)).collect();
    assert_eq!(windows, [(QueueClass::Ect, ms(20), 1), (QueueClass::NotEct, ms(30), 1)]);
}

#[test]
fn empty_window_measures_nothing() {
    let (result, _) = QueueMeter::new(ms(10), MBIT_10, MeterPace::default()).finish("l", ms(10));
    assert_eq!((result.utilisation, result.queue_empty, result.queue_bytes.mean), (None, None, None));
}

#[test]
fn transmissions_are_cut_at_both_ends_of_the_window() {
    let mut meter = QueueMeter::new(ms(10), MBIT_10, MeterPace::default());
    let class = Class::Ect;
    // 1250 B take 1 ms: one packet half before the window, one inside, one half after it.
    meter.on_departure(Time::ZERO + Span::from_micros(9500), class, Span::from_millis(7), 1250);
    meter.on_departure(ms(12), class, Span::from_millis(3), 1250);
    meter.on_departure(Time::ZERO + Span::from_micros(19_500), class, Span::from_millis(1), 1250);
    let (result, _) = meter.finish("l", ms(20));
    assert_eq!(result.utilisation, Some(0.2));
    assert_eq!((result.departed, result.departed_bytes), (2, 2500));
    assert_eq!((result.delay_s.ect.mean, result.delay_s.ect.max), (Some(0.002), Some(0.003)));
    assert_eq!(result.delay_s.not_ect.mean, None);
}

#[test]
fn counts_keep_class_and_reason_apart() {
    let mut meter = QueueMeter::new(ms(10), MBIT_10, MeterPace::default());
    for now in [ms(5), ms(10), ms(11)] {
        for class in [Class::Ect, Class::NotEct] {
            meter.on_arrival(now, class);
            if class == Class::Ect {
                meter.on_marked_arrival(now);
            }
        }
        meter.on_mark(now, Class::Ect, Reason::Threshold);
        meter.on_drop(now, Class::NotEct, Reason::Early);
    }
    meter.on_drop(ms(12), Class::Ect, Reason::Buffer);
    let (result, _) = meter.finish("l", ms(20));
    assert_eq!((result.arrived, result.marked, result.arrived_marked, result.dropped), (4, 2, 2, 3));
    assert_eq!(result.dropped_by, DroppedBy { aqm: 2, buffer: 1, early: 2, ..DroppedBy::default() });
    assert_eq!(result.marked_by, MarkedBy { threshold: 2, ..MarkedBy::default() });
    assert_eq!((result.ect.arrived, result.ect.dropped, result.not_ect.dropped), (2, 1, 2));
    assert_eq!((result.ect.mark_fraction, result.not_ect.drop_fraction), (Some(1.0), Some(1.0)));
}

#[test]
fn every_reason_has_a_count_of_its_own() {
    const REASONS: [Reason; 7] = [
        Reason::Buffer,
        Reason::Threshold,
        Reason::Early,
        Reason::Forced,
        Reason::Coupled,
        Reason::Sojourn,
        Reason::SharedBuffer,
    ];
    assert_eq!(REASONS.len(), Reason::NAMES.len());
    for reason in REASONS {
        let mut meter = QueueMeter::new(ms(10), MBIT_10, MeterPace::default());
        meter.on_mark(ms(11), Class::Ect, reason);
        meter.on_drop(ms(11), Class::NotEct, reason);
        let (result, _) = meter.finish("l", ms(20));
        let by_law = u64::from(!matches!(reason, Reason::Buffer | Reason::SharedBuffer));
        let dropped = serde_json::to_value(result.dropped_by).unwrap();
        let marked = serde_json::to_value(result.marked_by).unwrap();
        for name in Reason::NAMES {
            let expected = u64::from(*name == reason.as_str());
            // Counts that are nearly always zero are left out then.
            let count = |counts: &serde_json::Value| counts.get(name).map_or(0, |n| n.as_u64().unwrap());
            assert_eq!((count(&dropped), count(&marked)), (expected, expected), "{reason:?} as {name}");
        }
        assert_eq!(dropped["aqm"], by_law, "{reason:?}");
        assert_eq!(crate::laws::hold(&[result], 0.01), Ok(()), "{reason:?}");
    }
}

#[test]
fn every_packet_that_came_was_sent_or_dropped_or_waits() {
    let mut meter = QueueMeter::new(ms(10), MBIT_10, MeterPace::default());
    let class = Class::Ect;
    // Before the window counts, too: two come, one of them leaves, one waits; a third is dropped on arrival.
    for now in [ms(1), ms(2), ms(3)] {
        meter.on_arrival(now, class);
    }
    wait(&mut meter, ms(2), 1, 0);
    meter.on_departure(ms(2), class, Span::ZERO, 1500);
    meter.on_drop(ms(3), class, Reason::Buffer);
    assert_eq!(meter.balance("l"), Ok(()));
    meter.on_arrival(ms(20), class);
    let broken = meter.balance("l").unwrap_err();
    assert_eq!(
        broken.to_string(),
        "link `l`: 4 packets arrived since the start, 2 were sent or dropped, and 1 wait"
    );
}

proptest! {
    /// Against sampling every millisecond, which is exact because all changes are at whole milliseconds.
    #[test]
    fn time_average_equals_the_integral(
        changes in prop::collection::vec((0u64..20, 0u32..100), 0..60),
        start in 0u64..200,
    ) {
        let pace = MeterPace { windows: Span::from_millis(7), ..MeterPace::default() };
        let mut meter = QueueMeter::new(ms(start), MBIT_10, pace);
        let mut now = 0;
        let mut backlog = vec![0u32; 2000];
        for &(gap, packets) in &changes {
            now += gap;
            wait(&mut meter, ms(now), packets / 3, packets - packets / 3);
            backlog[now as usize..].fill(packets);
        }
        let end = now.max(start) + 7;
        let inside: Vec<f64> = backlog[start as usize..end as usize].iter().map(|&p| f64::from(p)).collect();
        let exact = crate::metrics::order_statistics(&inside);
        let (result, distributions) = meter.finish("l", ms(end));
        let close = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() < 1e-9;
        let measured = result.queue_packets;
        prop_assert!(close(measured.mean, exact.mean) && close(measured.sd, exact.sd), "{measured:?} {exact:?}");
        // Below 2048 the histogram's buckets are single values, so quantiles are exact too.
        prop_assert_eq!((measured.p5, measured.p50, measured.p99), (exact.p5, exact.p50, exact.p99));
        prop_assert_eq!((measured.min, measured.max), (exact.min, exact.max));
        let empty = inside.iter().filter(|&&p| p == 0.0).count() as f64 / inside.len() as f64;
        prop_assert!((result.queue_empty.unwrap() - empty).abs() < 1e-12);
        let ect: Vec<f64> = inside.iter().map(|p| (p / 3.0).floor()).collect();
        let rest: Vec<f64> = inside.iter().zip(&ect).map(|(all, ect)| all - ect).collect();
        for (class, values) in [(result.class_queue_packets.ect, ect), (result.class_queue_packets.not_ect, rest)] {
            let exact = crate::metrics::order_statistics(&values);
            prop_assert!(close(class.mean, exact.mean) && class.p95 == exact.p95 && class.max == exact.max);
        }
        let sampled: Vec<f64> = inside.iter().copied().step_by(10).collect();
        let empty = sampled.iter().filter(|&&p| p == 0.0).count() as f64 / sampled.len() as f64;
        prop_assert!((result.queue_empty_sampled.unwrap() - empty).abs() < 1e-12);
        // The windows of 7 ms together are the whole.
        let wholes = [
            (QueueClass::All, &distributions.queue_packets),
            (QueueClass::NotEct, &distributions.not_ect_packets),
        ];
        for (class, whole) in wholes {
            let mut together = Histogram::new();
            let parts = distributions.backlog_windows.iter().filter(|part| part.class == class);
            for part in parts {
                prop_assert_eq!(
                    part.buckets.iter().map(|b| b.weight).sum::<u64>(),
                    (part.end - part.start).as_picos()
                );
                part.buckets.iter().for_each(|b| together.record_weighted(b.low, b.weight));
            }
            prop_assert!(together.buckets().eq(whole.buckets()));
        }
    }
}

#[test]
fn what_waits_longer_than_the_target_is_counted() {
    let mut meter =
        QueueMeter::new(ms(10), MBIT_10, MeterPace::default()).with_delay_target(Span::from_millis(5));
    // The first leaves before the measurement begins; a wait as long as the target is not longer than it.
    for (at, waited) in [(9, 8), (12, 5), (14, 6), (16, 7)] {
        meter.on_departure(ms(at), Class::Ect, Span::from_millis(waited), 1250);
    }
    let above = meter.finish("l", ms(40)).0.above_target.unwrap();
    assert_eq!((above.target_s, above.packets, above.bytes), (0.005, 2, 2500));
    let without = QueueMeter::new(ms(10), MBIT_10, MeterPace::default());
    assert_eq!(without.finish("l", ms(40)).0.above_target, None);
}

/// A redirection before the window does not count.
#[test]
fn redirections_count_inside_the_window() {
    let mut meter = QueueMeter::new(Time::ZERO + Span::from_millis(10), MBIT_10, MeterPace::default());
    for ms in [9, 10, 11] {
        meter.on_redirection(Time::ZERO + Span::from_millis(ms));
    }
    let (result, _) = meter.finish("link", Time::ZERO + Span::from_millis(20));
    assert_eq!(result.redirected, 2);
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(json["redirected"], 2);
    let (without, _) = QueueMeter::new(Time::ZERO, MBIT_10, MeterPace::default()).finish("link", Time::ZERO);
    assert!(serde_json::to_value(&without).unwrap().get("redirected").is_none());
}
