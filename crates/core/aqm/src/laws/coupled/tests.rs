//! Coupled marks and drops in one queue.

use crate::testing::bench::{Bench, LINE, dropped, is_likely, mark_of};
use crate::{
    AnyQueue, Backlog, CoupledConfig, CoupledSlope, DecideAt, Dequeued, Extent, Queue, QueueConfig, Reason,
    Verdict,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Stream};

fn queue(slope: CoupledSlope, decide: DecideAt) -> AnyQueue {
    let config = CoupledConfig { slope, decide, limit: Extent::Unlimited };
    AnyQueue::new(&QueueConfig::Coupled(config), LINE)
}

fn shift(drop_bits: u8, mark_bits: u8, unit: Extent) -> CoupledSlope {
    CoupledSlope::Shift { drop_bits, mark_bits, unit }
}

/// Claim A27: P{max(r1, r2) < P} = P^2, measured at the queue itself.
#[test]
fn two_random_numbers_square_the_probability() {
    // Every arrival finds three packets, so Q = 4 = 2^2: the root is 2^(2 + bits - 32).
    for (bits, root) in [(29u8, 0.5f64), (28, 0.25), (27, 0.125)] {
        let mut bench = Bench::seeded(queue(shift(bits, 31, Extent::Packets(1)), DecideAt::Enqueue), 27);
        while bench.queue.backlog().packets < 3 {
            let _ = bench.arrive(1500, Ecn::NotEct);
        }
        let n = 1_000_000;
        let drops = (0..n).filter(|_| dropped(bench.cycle(1500, Ecn::NotEct)).is_some()).count();
        assert!(is_likely(drops, n, root * root), "{drops} of {n} at {root}^2, seed 27");
    }
}

/// The integers of the slides, recomputed with wider ones from the same random numbers: a packet is marked if and only
/// if (Q << S_d) > R1, and dropped if and only if (Q << S_r) > R1 and > R2, where R2 is drawn only if R1 is below.
#[test]
fn the_slides_comparison_packet_by_packet() {
    for (drop_bits, mark_bits) in [(13u8, 16u8), (0, 3), (20, 21), (31, 31)] {
        let unit = Extent::Bytes(16);
        let mut bench = Bench::seeded(queue(shift(drop_bits, mark_bits, unit), DecideAt::Enqueue), 5);
        let mut numbers = Stream::new(5, "queue");
        let mut script = Stream::new(6, "script");
        for n in 0..20_000 {
            if script.uniform_u32() % 5 < 2 {
                let _ = bench.take();
                continue;
            }
            let size = 40 + (script.uniform_u32() % 1461) as u16;
            let q = u128::from((bench.queue.backlog().bytes + u64::from(size)) / 16);
            let mut above = |bits: u8| q << bits > u128::from(numbers.uniform_u32());
            if script.uniform_u32() & 1 == 0 {
                let expected = above(mark_bits).then_some(Reason::Coupled);
                assert_eq!(mark_of(bench.arrive(size, Ecn::Ect0)), expected, "packet {n}");
            } else {
                let expected = (above(drop_bits) && above(drop_bits)).then_some(Reason::Early);
                assert_eq!(dropped(bench.arrive(size, Ecn::NotEct)), expected, "packet {n}");
            }
        }
    }
}

/// Claim A26: ECT packets are marked with p, others dropped with (p / 1.63)^2.
#[test]
fn the_coupling_factor_relates_the_probabilities() {
    // Q is 4 of 10 packets at every arrival: p = 0.4, (0.4 / 1.63)^2 = 0.060220.
    let slope = CoupledSlope::Linear { saturation: Extent::Packets(10), coupling: 1.63 };
    for (ecn, p) in [(Ecn::Ect0, 0.4), (Ecn::NotEct, 0.4 / 1.63 * (0.4 / 1.63))] {
        let mut bench = Bench::seeded(queue(slope, DecideAt::Enqueue), 26);
        while bench.queue.backlog().packets < 3 {
            let _ = bench.arrive(1500, Ecn::NotEct);
        }
        let n = 400_000;
        let acted = |verdict| !matches!(verdict, Verdict::Queued { mark: None });
        let count = (0..n).filter(|_| acted(bench.cycle(1500, ecn))).count();
        assert!(is_likely(count, n, p), "{count} of {n} at {p}, seed 26");
        assert!((bench.queue.probability().unwrap() - 0.4).abs() < 1e-9);
    }
}

#[test]
fn a_time_on_arrival_is_bytes_over_the_line_rate() {
    // At 10 Mbit/s 3000 B take 2.4 ms, with which every ECT packet is marked.
    let slope = CoupledSlope::Linear { saturation: Extent::Time(Span::from_micros(2400)), coupling: 1.0 };
    let mut bench = Bench::new(queue(slope, DecideAt::Enqueue));
    let _ = bench.arrive(1500, Ecn::Ect0);
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), Some(Reason::Coupled));
    assert_eq!(mark_of(bench.arrive(40, Ecn::Ect0)), Some(Reason::Coupled));
    // Both random numbers are below a probability of one.
    assert_eq!(dropped(bench.arrive(40, Ecn::NotEct)), Some(Reason::Early));
}

#[test]
fn on_departure_a_time_is_the_packets_own_wait() {
    let slope = CoupledSlope::Linear { saturation: Extent::Time(Span::from_millis(10)), coupling: 1.0 };
    let mut bench = Bench::new(queue(slope, DecideAt::Dequeue));
    for ecn in [Ecn::Ect0, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1] {
        assert_eq!(bench.arrive(9000, ecn), Verdict::Queued { mark: None });
    }
    // A packet that has not waited has a probability of zero, whatever waits behind it.
    assert!(matches!(bench.take(), Dequeued::Packet { mark: None, .. }));
    bench.wait(Span::from_millis(10));
    assert!(
        matches!(bench.take(), Dequeued::Packet { packet, mark: Some(Reason::Coupled), .. } if packet.ecn == Ecn::Ce)
    );
    assert!(matches!(bench.take(), Dequeued::Dropped { reason: Reason::Early, .. }));
    assert_eq!(bench.queue.backlog(), Backlog { packets: 1, bytes: 9000 });
}

/// With a saturation of one packet and k = 1, a drop has the probability one at every backlog; the last packet leaves
/// nevertheless.
#[test]
fn a_drop_on_departure_never_empties_the_queue() {
    let slope = CoupledSlope::Linear { saturation: Extent::Packets(1), coupling: 1.0 };
    let mut bench = Bench::new(queue(slope, DecideAt::Dequeue));
    bench.arrivals(3, 1500, Ecn::NotEct);
    for left in [2, 1] {
        assert!(matches!(bench.take(), Dequeued::Dropped { reason: Reason::Early, .. }));
        assert_eq!(bench.queue.backlog().packets, left);
    }
    assert!(matches!(bench.take(), Dequeued::Packet { mark: None, .. }));
    assert!(matches!(bench.take(), Dequeued::Empty));
    // On arrival an empty queue may drop its first packet, as the line has not asked for it.
    let mut bench = Bench::new(queue(slope, DecideAt::Enqueue));
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Early));
}
