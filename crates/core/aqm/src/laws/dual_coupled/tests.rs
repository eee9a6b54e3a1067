//! The coupled dual queue.

use crate::testing::bench::{Bench, LINE, dropped, mark_of};
use crate::{
    AnyQueue, Backlog, Class, CoupledSlope, CouplingInput, DecideAt, Dequeued, DualCoupledConfig, Extent,
    Queue, QueueConfig, Reason, SchedulerConfig, Verdict,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Stream};

/// Never marks or drops.
const IDLE_SLOPE: CoupledSlope = CoupledSlope::Linear { saturation: Extent::Unlimited, coupling: 8.0 };

const BASE: DualCoupledConfig = DualCoupledConfig {
    slope: IDLE_SLOPE,
    input: CouplingInput::Classic,
    threshold: Extent::Unlimited,
    decide: DecideAt::Dequeue,
    scheduler: SchedulerConfig::StrictPriority,
    mtu: 1500,
    limit: Extent::Unlimited,
    protection: None,
};

/// Claim A28: p_r = (p_d / 8)^2 within 5 % for every length of the classic queue until all ECT packets are marked;
/// beyond, p_r goes on with the square of the length.
#[test]
fn drops_are_the_square_of_an_eighth_of_the_marks() {
    // p_d = Q / 16 packets: S_d = 28, S_r = S_d - 3.
    let slope = CoupledSlope::Shift { drop_bits: 25, mark_bits: 28, unit: Extent::Packets(1) };
    let config = DualCoupledConfig { slope, decide: DecideAt::Enqueue, ..BASE };
    let fraction = |waiting: u32, ecn: Ecn, n: u32| {
        let mut bench = Bench::seeded(AnyQueue::new(&QueueConfig::DualCoupled(config), LINE), 28);
        while bench.queue.backlog().packets < waiting {
            let _ = bench.arrive(1500, Ecn::NotEct);
        }
        let acted = |verdict| !matches!(verdict, Verdict::Queued { mark: None });
        f64::from((0..n).filter(|_| acted(bench.cycle(1500, ecn))).count() as u32) / f64::from(n)
    };
    for q in [8, 12, 16] {
        // 4 sigma of p_r are 5 % if n p_r = 6400.
        let p_d = fraction(q, Ecn::Ect0, 300_000);
        let expected = f64::from(q) / 16.0;
        assert!((p_d - expected).abs() < 0.004, "{p_d} at {q}, seed 28");
        let n = (6400.0 / (expected / 8.0).powi(2)) as u32;
        // A classic arrival counts itself.
        let p_r = fraction(q - 1, Ecn::NotEct, n);
        assert!((p_r / (p_d / 8.0).powi(2) - 1.0).abs() < 0.05, "{p_r} and {p_d} at {q}, seed 28");
    }
    // Saturated: p_d stays 1, p_r is still (32/16/8)^2 = 1/16.
    assert_eq!(fraction(32, Ecn::Ect0, 10_000), 1.0);
    let p_r = fraction(31, Ecn::NotEct, 100_000);
    assert!((p_r * 16.0 - 1.0).abs() < 0.05, "{p_r}");
}

/// The comparison of the slides at both queues, recomputed from the same random numbers, with decisions on departure.
#[test]
fn the_slides_comparison_packet_by_packet() {
    let (drop_bits, mark_bits, threshold) = (6u32, 9u32, 4u32);
    let slope = CoupledSlope::Shift { drop_bits: 6, mark_bits: 9, unit: Extent::Time(Span::from_nanos(1)) };
    let mut bench = Bench::any(DualCoupledConfig { slope, threshold: Extent::Packets(threshold), ..BASE });
    let mut numbers = Stream::new(1, "queue");
    let mut script = Stream::new(7, "script");
    let (mut threshold_marks, mut coupled_marks, mut drops) = (0, 0, 0);
    // When the waiting classic packets arrived.
    let mut classic = std::collections::VecDeque::new();
    for n in 0..40_000 {
        bench.wait(Span::from_picos(u64::from(script.uniform_u32() % 400_000_000)));
        if script.uniform_u32() % 9 < 5 {
            let ecn = [Ecn::NotEct, Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ce]
                [script.uniform_u32() as usize % 5];
            let _ = bench.arrive(1500, ecn);
            if ecn == Ecn::NotEct {
                classic.push_back(bench.now);
            }
            continue;
        }
        let low = bench.queue.class_backlog(Class::Ect).packets;
        let q = classic.front().map_or(0, |&arrived| bench.now.since(arrived).as_nanos());
        let mut above = |bits| u128::from(q) << bits > u128::from(numbers.uniform_u32());
        match bench.take() {
            Dequeued::Empty => assert_eq!((low, classic.len()), (0, 0)),
            Dequeued::Packet { packet, mark, .. } if packet.ecn.is_capable() => {
                let expected = if low > threshold {
                    threshold_marks += 1;
                    Some(Reason::Threshold)
                } else if above(mark_bits) {
                    coupled_marks += 1;
                    Some(Reason::Coupled)
                } else {
                    None
                };
                assert_eq!(mark, expected, "departure {n}");
            }
            taken => {
                assert_eq!(low, 0, "strict priority");
                classic.pop_front();
                // The last packet is not dropped, whatever was drawn for it.
                let drop = above(drop_bits) && above(drop_bits) && !classic.is_empty();
                drops += u32::from(drop);
                let dropped = matches!(taken, Dequeued::Dropped { reason: Reason::Early, .. });
                assert_eq!(dropped, drop, "departure {n}");
            }
        }
    }
    let counts = (threshold_marks, coupled_marks, drops);
    assert!(counts.0 > 20 && counts.1 > 500 && counts.2 > 20, "{counts:?}");
}

/// However arrivals and departures mix, a classic packet never leaves while an ECT packet waits.
#[test]
fn ect_packets_never_wait_behind_others() {
    let mut bench = Bench::any(BASE);
    let mut script = Stream::new(3, "script");
    let mut overtaken = 0;
    for _ in 0..50_000 {
        if script.uniform_u32().is_multiple_of(2) {
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][script.uniform_u32() as usize % 4];
            let _ = bench.arrive(1500, ecn);
        } else if let Dequeued::Packet { packet, .. } = bench.take() {
            if packet.ecn == Ecn::NotEct {
                assert_eq!(bench.queue.class_backlog(Class::Ect), Backlog::default());
            } else {
                overtaken += u32::from(bench.queue.class_backlog(Class::NotEct).packets > 0);
            }
        }
    }
    assert!(overtaken > 1000, "{overtaken}");
}

/// Every departing packet that is not ECT is dropped, except one that would leave both queues empty.
#[test]
fn a_drop_on_departure_never_empties_both_queues() {
    let slope = CoupledSlope::Linear { saturation: Extent::Packets(1), coupling: 1.0 };
    let mut bench = Bench::any(DualCoupledConfig { slope, ..BASE });
    bench.arrivals(3, 1500, Ecn::NotEct);
    for left in [2, 1] {
        assert!(matches!(bench.take(), Dequeued::Dropped { reason: Reason::Early, .. }));
        assert_eq!(bench.queue.backlog().packets, left);
    }
    let (last, mark) = bench.send();
    assert_eq!((last.ecn, mark), (Ecn::NotEct, None));
    assert!(matches!(bench.take(), Dequeued::Empty));
}

#[test]
fn marked_packets_wait_with_ect_packets() {
    let mut bench = Bench::any(BASE);
    for ecn in [Ecn::NotEct, Ecn::Ce, Ecn::Ect1] {
        let _ = bench.arrive(100, ecn);
    }
    assert_eq!(bench.queue.class_backlog(Class::Ect), Backlog { packets: 2, bytes: 200 });
    let order: Vec<Ecn> = (0..3).map(|_| bench.send().0.ecn).collect();
    assert_eq!(order, [Ecn::Ce, Ecn::Ect1, Ecn::NotEct]);
}

/// The coupled probability follows the age of the oldest classic packet, a drop the wait of the packet itself.
#[test]
fn on_departure_times_are_waits() {
    let slope = CoupledSlope::Linear { saturation: Extent::Time(Span::from_millis(10)), coupling: 1.0 };
    let mut bench = Bench::any(DualCoupledConfig { slope, ..BASE });
    let _ = bench.arrive(1500, Ecn::NotEct);
    bench.wait(Span::from_millis(10));
    let _ = bench.arrive(1500, Ecn::Ect0);
    // The ECT packet itself has not waited at all.
    assert_eq!(bench.send().1, Some(Reason::Coupled));
    let _ = bench.arrive(1500, Ecn::NotEct);
    assert!(matches!(bench.take(), Dequeued::Dropped { reason: Reason::Early, .. }));
    assert_eq!(bench.send().1, None);
    // Without a classic queue there is no coupled probability.
    let _ = bench.arrive(1500, Ecn::Ect0);
    bench.wait(Span::from_millis(100));
    assert_eq!(bench.send().1, None);
}

/// With both queues as the input, the low-latency queue itself leads to marks, too.
#[test]
fn the_total_may_drive_the_marks() {
    let slope = CoupledSlope::Linear { saturation: Extent::Bytes(3000), coupling: 1.0 };
    let total = DualCoupledConfig { slope, input: CouplingInput::Total, ..BASE };
    for (config, expected) in [(total, Some(Reason::Coupled)), (DualCoupledConfig { slope, ..BASE }, None)] {
        let mut bench = Bench::any(config);
        bench.arrivals(2, 1500, Ecn::Ect0);
        assert_eq!(bench.send().1, expected);
    }
    // Of times the longer one counts, here the ECT packet's own wait.
    let slope = CoupledSlope::Linear { saturation: Extent::Time(Span::from_millis(2)), coupling: 1.0 };
    let mut bench = Bench::any(DualCoupledConfig { slope, input: CouplingInput::Total, ..BASE });
    let _ = bench.arrive(1500, Ecn::Ect0);
    bench.wait(Span::from_millis(2));
    assert_eq!(bench.send().1, Some(Reason::Coupled));
}

/// The threshold of the low-latency queue comes first: no random number is drawn, and it is the reason of the mark even
/// where the coupled probability is one.
#[test]
fn above_the_threshold_nothing_is_drawn() {
    let slope = CoupledSlope::Linear { saturation: Extent::Packets(1), coupling: 8.0 };
    let config =
        DualCoupledConfig { slope, threshold: Extent::Packets(2), decide: DecideAt::Enqueue, ..BASE };
    let mut bench = Bench::any(config);
    let marks: Vec<Option<Reason>> = (0..4).map(|_| mark_of(bench.arrive(1500, Ecn::Ect0))).collect();
    assert_eq!(marks, [None, None, Some(Reason::Threshold), Some(Reason::Threshold)]);
    assert_eq!(bench.draws(), 2);
}

#[test]
fn one_limit_for_both_queues() {
    let mut bench = Bench::any(DualCoupledConfig { limit: Extent::Packets(3), ..BASE });
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0] {
        assert_eq!(dropped(bench.arrive(1500, ecn)), None);
    }
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        assert_eq!(dropped(bench.arrive(40, ecn)), Some(Reason::Buffer));
    }
}

/// Claim A37: ECT packets get nine bytes of ten while packets wait in both queues, whatever their sizes.
#[test]
fn weights_share_bytes() {
    for (low, classic) in [(1500u16, 1500u16), (1500, 100), (60, 1500)] {
        let mut bench = Bench::any(DualCoupledConfig {
            scheduler: SchedulerConfig::Weighted { classic_percent: 10 },
            ..BASE
        });
        let mut bytes = [0u64; 2];
        for _ in 0..100_000 {
            while bench.queue.class_backlog(Class::Ect).packets < 2 {
                let _ = bench.arrive(low, Ecn::Ect0);
            }
            while bench.queue.class_backlog(Class::NotEct).packets < 2 {
                let _ = bench.arrive(classic, Ecn::NotEct);
            }
            let (packet, _) = bench.send();
            bytes[usize::from(packet.ecn.is_capable())] += u64::from(packet.size);
            bench.now += LINE.time_for(packet.size.into());
        }
        let share = bytes[0] as f64 / (bytes[0] + bytes[1]) as f64;
        assert!((share - 0.1).abs() < 0.003, "{share} with {low} and {classic} B");
    }
}

/// The credit begins anew when the line finds both queues empty, and only then: 1500 * (10 - 90) = -120000 lets nine
/// ECT packets go first, each worth 10 * 1500.
#[test]
fn credit_begins_anew_on_an_idle_line() {
    let config = DualCoupledConfig { scheduler: SchedulerConfig::Weighted { classic_percent: 10 }, ..BASE };
    let ahead = |bench: &mut Bench<AnyQueue>| {
        bench.arrivals(20, 1500, Ecn::Ect0);
        let _ = bench.arrive(1500, Ecn::NotEct);
        let mut ahead = 0;
        while bench.send().0.ecn == Ecn::Ect0 {
            bench.now += LINE.time_for(1500);
            ahead += 1;
        }
        ahead
    };
    let drain = |bench: &mut Bench<AnyQueue>| {
        while bench.queue.backlog().packets > 0 {
            bench.now += LINE.time_for(1500);
            let _ = bench.take();
        }
    };
    // The credit is 15000 - 135000 after the classic packet; packets of one queue alone do not change it.
    let mut first = Bench::any(config);
    assert_eq!(ahead(&mut first), 9);
    drain(&mut first);
    // Five more ECT packets against a classic one: -120000 + 5 * 15000.
    first.arrivals(5, 1500, Ecn::Ect0);
    let _ = first.arrive(1500, Ecn::NotEct);
    for _ in 0..5 {
        first.now += LINE.time_for(1500);
        assert_eq!(first.send().0.ecn, Ecn::Ect0);
    }
    first.now += LINE.time_for(1500);
    assert_eq!(first.send().0.ecn, Ecn::NotEct);
    let idle = first.queue.clone();
    // The last packet is still being sent: -45000 is kept, so four more go first.
    assert_eq!(ahead(&mut first), 4);
    // Now it has been sent: the line was idle in between.
    let mut second = Bench::new(idle);
    second.now = first.now + LINE.time_for(1500);
    assert_eq!(ahead(&mut second), 9);
}

#[test]
fn a_head_start_in_time_orders_the_queues() {
    let shift = Span::from_millis(5);
    let mut bench =
        Bench::any(DualCoupledConfig { scheduler: SchedulerConfig::TimeShifted { shift }, ..BASE });
    let _ = bench.arrive(100, Ecn::NotEct);
    bench.wait(shift);
    let _ = bench.arrive(101, Ecn::Ect0);
    bench.wait(Span::from_picos(1));
    let _ = bench.arrive(102, Ecn::Ect0);
    let order: Vec<u16> = (0..3).map(|_| bench.send().0.size).collect();
    assert_eq!(order, [101, 100, 102]);
}
