//! Step marking, packet by packet.

use crate::testing::bench::{Bench, LINE, dropped, dual_red_of, mark_of, unweighted};
use crate::{
    AnyQueue, AverageScope, DecideAt, Dequeued, Extent, MarkSpacing, Queue, QueueConfig, Reason, StepConfig,
    Verdict,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Stream};

fn step(threshold: Extent, decide: DecideAt) -> StepConfig {
    StepConfig { threshold, decide, drop_threshold: Extent::Unlimited, limit: Extent::Unlimited }
}

fn queue(config: impl Into<QueueConfig>) -> AnyQueue {
    AnyQueue::new(&config.into(), LINE)
}

/// Step marking as Kuehlewind et al. 2014 configures it: the ECT instance of a dual RED with min = max = K and weight
/// 1.
fn dual_red_step(k_bytes: f64) -> AnyQueue {
    let ect = unweighted(k_bytes, k_bytes, 1.0, MarkSpacing::Uniformised);
    let not_ect = unweighted(1e9, 2e9, 0.1, MarkSpacing::Uniformised);
    queue(dual_red_of(not_ect, ect, AverageScope::Shared))
}

/// Claim A3: exactly the ECT arrivals with which more than K waits are marked, and no random number is drawn. A comment
/// gives the bytes that wait after the arrival.
#[test]
fn scripted_arrivals_mark_exactly_those_above() {
    let by_bytes = queue(step(Extent::Bytes(4500), DecideAt::Enqueue));
    // 4500 B at 10 Mbit/s: 3.6 ms.
    let by_time = queue(step(Extent::Time(Span::from_micros(3600)), DecideAt::Enqueue));
    for queue in [by_bytes, by_time, dual_red_step(4500.0)] {
        let mut bench = Bench::new(queue);
        let mut marked = |size, ecn| mark_of(bench.arrive(size, ecn)).is_some();
        assert!(!marked(1500, Ecn::Ect0)); // 1500
        assert!(!marked(1500, Ecn::Ect1)); // 3000
        assert!(!marked(1500, Ecn::Ect0)); // 4500: equal is not above
        assert!(marked(40, Ecn::Ect0)); //    4540
        assert!(!marked(1500, Ecn::NotEct)); // 6040, not ECT
        assert!(marked(40, Ecn::Ce)); //      6080: a mark of an earlier queue does not exempt
        for _ in 0..3 {
            let _ = bench.take(); // 6080 - 3 * 1500 = 1580
        }
        let mut marked = |size, ecn| mark_of(bench.arrive(size, ecn)).is_some();
        assert!(!marked(1500, Ecn::Ect0)); // 3080
        assert!(!marked(1420, Ecn::Ect0)); // 4500
        assert!(marked(1, Ecn::Ect0)); //     4501
        assert_eq!(bench.draws(), 0);
    }
}

#[test]
fn packets_count_whatever_their_size() {
    let mut bench = Bench::any(step(Extent::Packets(2), DecideAt::Enqueue));
    let marks: Vec<bool> =
        [9000, 40, 40, 1500].map(|size| mark_of(bench.arrive(size, Ecn::Ect0)).is_some()).into();
    assert_eq!(marks, [false, false, true, true]);
}

/// Claim A4: 1500-byte packets see no difference between thresholds that hold 5 of them; the 6th is the first marked.
#[test]
fn thresholds_that_hold_five_packets_are_the_same() {
    let reference = marks_of_script(dual_red_step(7812.0));
    let burst: Vec<bool> = reference[..7].to_vec();
    assert_eq!(burst, [false, false, false, false, false, true, true]);
    assert!(reference.contains(&true) && reference[7..].contains(&false));
    for k in 7500..9000u32 {
        assert_eq!(marks_of_script(dual_red_step(f64::from(k))), reference, "K = {k} B, dual RED");
        let config = step(Extent::Bytes(k.into()), DecideAt::Enqueue);
        assert_eq!(marks_of_script(queue(config)), reference, "K = {k} B, step");
    }
    assert_eq!(marks_of_script(queue(step(Extent::Packets(5), DecideAt::Enqueue))), reference);
    assert_ne!(marks_of_script(dual_red_step(7499.0)), reference);
    assert_ne!(marks_of_script(dual_red_step(9000.0)), reference);
}

/// Seven arrivals at an empty queue, then 400 arrivals and departures in random order.
fn marks_of_script(queue: AnyQueue) -> Vec<bool> {
    let mut bench = Bench::new(queue);
    let mut marks: Vec<bool> = (0..7).map(|_| bench.is_marked()).collect();
    let mut script = Stream::new(4, "script");
    for _ in 0..400 {
        if script.uniform_u32() & 1 == 0 || bench.queue.backlog().packets > 9 {
            let _ = bench.take();
        } else {
            marks.push(bench.is_marked());
        }
    }
    marks
}

#[test]
fn on_departure_a_time_is_the_packets_own_wait() {
    let mut bench = Bench::any(step(Extent::Time(Span::from_millis(1)), DecideAt::Dequeue));
    // However much waits, arrivals are not marked.
    for _ in 0..50 {
        assert!(!bench.is_marked());
    }
    bench.wait(Span::from_millis(1));
    assert!(matches!(bench.take(), Dequeued::Packet { mark: None, .. }));
    bench.wait(Span::from_picos(1));
    let Dequeued::Packet { packet, mark, .. } = bench.take() else { panic!("a packet waits") };
    assert_eq!((packet.ecn, mark), (Ecn::Ce, Some(Reason::Threshold)));
    assert_eq!(bench.draws(), 0);
}

#[test]
fn on_departure_the_leaving_packet_counts() {
    let mut bench = Bench::any(step(Extent::Packets(2), DecideAt::Dequeue));
    for _ in 0..4 {
        assert!(!bench.is_marked());
    }
    // 4 and 3 packets exceed 2; 2 and 1 do not.
    let marks: Vec<bool> =
        (0..4).map(|_| matches!(bench.take(), Dequeued::Packet { mark: Some(_), .. })).collect();
    assert_eq!(marks, [true, true, false, false]);
}

#[test]
fn packets_that_are_not_ect_have_their_own_threshold() {
    let config =
        StepConfig { drop_threshold: Extent::Packets(3), ..step(Extent::Packets(1), DecideAt::Enqueue) };
    let mut bench = Bench::any(config);
    let verdicts: Vec<Option<Reason>> = (0..4).map(|_| dropped(bench.arrive(100, Ecn::NotEct))).collect();
    assert_eq!(verdicts, [None, None, None, Some(Reason::Threshold)]);
    // An ECT packet still gets in, marked.
    assert!(bench.is_marked());
}

#[test]
fn packets_that_are_not_ect_are_dropped_on_departure_too() {
    let drop_threshold = Extent::Time(Span::from_millis(2));
    let config = StepConfig { drop_threshold, ..step(Extent::Time(Span::from_millis(1)), DecideAt::Dequeue) };
    let mut bench = Bench::any(config);
    for ecn in [Ecn::NotEct, Ecn::NotEct, Ecn::Ect0] {
        assert_eq!(dropped(bench.arrive(1500, ecn)), None);
    }
    bench.wait(Span::from_millis(2));
    assert!(matches!(bench.take(), Dequeued::Packet { mark: None, .. }));
    bench.wait(Span::from_picos(1));
    assert!(matches!(bench.take(), Dequeued::Dropped { reason: Reason::Threshold, .. }));
    assert!(matches!(bench.take(), Dequeued::Packet { mark: Some(_), .. }));
    assert!(matches!(bench.take(), Dequeued::Empty));
}

#[test]
fn the_limit_comes_before_the_threshold() {
    let config = StepConfig { limit: Extent::Bytes(3000), ..step(Extent::Bytes(1500), DecideAt::Enqueue) };
    let mut bench = Bench::any(config);
    assert!(!bench.is_marked());
    assert!(bench.is_marked());
    assert_eq!(bench.arrive(1, Ecn::Ect0), Verdict::Dropped(Reason::Buffer));
}
