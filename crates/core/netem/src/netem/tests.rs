use super::*;
use crate::{Distribution, Jitter, Loss, Slot};
use proptest::prelude::*;
use shoal_packet::{Ecn, FlowId, Seq};
use std::vec;

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn packet(number: u32) -> Packet {
    Packet { seq: Seq(number), ..Packet::empty(FlowId(0), 1500) }
}

fn outside() -> Stream {
    Stream::new(1, "outside")
}

fn jitter(ns: u32) -> Jitter {
    Jitter { ns, ..Impairments::NONE.jitter }
}

/// Carries packets that come at these times; returns number and time of those that leave.
fn carry(netem: &mut Netem, arrivals: &[Time], outside: &mut Stream) -> Vec<(u32, Time)> {
    let (mut left, mut next) = (Vec::new(), 0);
    loop {
        let arrival = arrivals.get(next).copied();
        let now = match (arrival, netem.next_event()) {
            (Some(at), Some(wake)) => at.min(wake),
            (Some(at), None) | (None, Some(at)) => at,
            (None, None) => return left,
        };
        if arrival == Some(now) && netem.next_event().is_none_or(|wake| wake > now) {
            netem.enqueue(packet(u32::try_from(next).unwrap()), now);
            next += 1;
        }
        while let Some(packet) = netem.dequeue(now, outside) {
            left.push((packet.seq.0, now));
        }
    }
}

/// Each codepoint arrives as Not-ECT; times and everything else are those of the same path without it.
#[test]
fn a_cleared_field_is_all_that_changes() {
    let carried = |clears_ecn: bool| {
        let impairments = Impairments { jitter: jitter(2_000_000), clears_ecn, ..Impairments::NONE };
        let mut outside = outside();
        let mut netem = Netem::new(&impairments, Span::from_millis(5), 7, &mut outside);
        for (number, ecn) in (0..).zip([Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]) {
            netem.enqueue(Packet { ecn, ..packet(number) }, us(u64::from(number)));
        }
        let mut left = Vec::new();
        let mut now = us(0);
        while !netem.is_empty() {
            while let Some(packet) = netem.dequeue(now, &mut outside) {
                left.push((now, packet.seq.0, packet.ecn));
            }
            now = netem.next_event().unwrap_or(now);
        }
        left
    };
    let (plain, cleared) = (carried(false), carried(true));
    assert_eq!(
        plain.iter().map(|one| one.2).collect::<Vec<_>>(),
        [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]
    );
    assert_eq!(cleared, plain.iter().map(|&(at, number, _)| (at, number, Ecn::NotEct)).collect::<Vec<_>>());
}

/// The k-th delay is D - J plus the k-th draw modulo 2 J.
#[test]
fn uniform_delays_are_those_of_the_generator() {
    let (seed, delay, width) = (77, 5_000_000i64, 2_000_000);
    let impairments = Impairments { jitter: jitter(width), keep_order: false, ..Impairments::NONE };
    let arrivals: Vec<Time> = (0..500).map(|k| us(10_000 * k)).collect();
    let mut outside = outside();
    let mut netem = Netem::new(&impairments, Span::from_millis(5), seed, &mut outside);
    let left = carry(&mut netem, &arrivals, &mut outside);
    let mut random = Prandom::new(seed);
    for (arrival, (_, at)) in arrivals.iter().zip(left) {
        let drawn = i64::from(random.draw() % (2 * width));
        assert_eq!(i64::try_from((at - *arrival).as_nanos()).unwrap(), delay - i64::from(width) + drawn);
    }
}

#[test]
fn order_is_kept_by_waiting_for_the_packet_before() {
    let impairments = |keep_order| Impairments { jitter: jitter(4_000_000), keep_order, ..Impairments::NONE };
    let arrivals: Vec<Time> = (0..200).map(|k| us(300 * k)).collect();
    let run = |keep_order| {
        let mut outside = outside();
        let mut netem = Netem::new(&impairments(keep_order), Span::from_millis(5), 8, &mut outside);
        carry(&mut netem, &arrivals, &mut outside)
    };
    let (kept, free) = (run(true), run(false));
    assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert!(free.windows(2).any(|pair| pair[0].0 > pair[1].0));
    // With the same draws a packet leaves when the latest of it and of those before it would have left.
    let mut times = vec![Time::ZERO; arrivals.len()];
    for (number, at) in &free {
        times[*number as usize] = *at;
    }
    let mut latest = Time::ZERO;
    for (number, at) in kept {
        latest = latest.max(times[number as usize]);
        assert_eq!(at, latest);
    }
}

#[test]
fn packets_whose_delay_would_be_negative_are_sent_at_once() {
    let impairments = Impairments { jitter: jitter(3_000_000), keep_order: false, ..Impairments::NONE };
    let arrivals: Vec<Time> = (1..200).map(|k| us(10_000 * k)).collect();
    let mut outside = outside();
    let mut netem = Netem::new(&impairments, Span::from_millis(1), 3, &mut outside);
    let left = carry(&mut netem, &arrivals, &mut outside);
    let at_once = left.iter().filter(|(number, at)| *at == arrivals[*number as usize]).count();
    // A third of the delays from -2 ms to 4 ms is not positive: 66 of 199, with a standard deviation of 6.7.
    assert!((40..93).contains(&at_once), "{at_once}");
}

/// The draws of each packet in their order: duplication, loss, corruption, for a copy loss, corruption and jitter, then
/// jitter.
#[test]
fn the_order_of_draws() {
    let half = Chance::of(0.5);
    let impairments = Impairments {
        jitter: jitter(1_000_000),
        keep_order: false,
        loss: Loss::Random { probability: half, correlation: Chance::NEVER },
        duplicate: half,
        corrupt: half,
        reorder: Some(Reorder { probability: half, gap: 2 }),
        ..Impairments::NONE
    };
    let mut outside = outside();
    let mut netem = Netem::new(&impairments, Span::from_millis(2), 21, &mut outside);
    let mut random = Prandom::new(21);
    let mut expected = Counts::default();
    let mut counter = 0;
    let last = |random: &mut Prandom, expected: &mut Counts| {
        expected.corrupted += u64::from(half.0 >= random.draw());
    };
    let mut place = |random: &mut Prandom, expected: &mut Counts| {
        // Behind one that was sent ahead, one packet is delayed without a draw.
        if counter >= 1 && half.0 >= random.draw() {
            expected.reordered += 1;
            counter = 0;
        } else {
            random.draw();
            counter += 1;
        }
    };
    for number in 0..300 {
        netem.enqueue(packet(number), us(0));
        let twice = half.0 >= random.draw();
        let lost = half.0 >= random.draw();
        expected.duplicated += u64::from(twice);
        expected.lost += u64::from(lost);
        if twice || !lost {
            last(&mut random, &mut expected);
            if twice && !lost {
                let copy_lost = half.0 >= random.draw();
                expected.lost += u64::from(copy_lost);
                if !copy_lost {
                    last(&mut random, &mut expected);
                    place(&mut random, &mut expected);
                }
            }
            place(&mut random, &mut expected);
        }
        assert_eq!((netem.counts(), &netem.random), (expected, &random), "packet {number}");
    }
    assert!(expected.reordered > 20 && expected.lost > 100);
}

/// `gap 5` with certainty: four packets are delayed, and the fifth goes ahead of them.
#[test]
fn every_fifth_packet_goes_ahead() {
    let reorder = Some(Reorder { probability: Chance::ALWAYS, gap: 5 });
    let mut outside = outside();
    let impairments = Impairments { reorder, ..Impairments::NONE };
    let mut netem = Netem::new(&impairments, Span::from_millis(1), 1, &mut outside);
    let arrivals: Vec<Time> = (0..10).map(|k| us(10 * k)).collect();
    let left = carry(&mut netem, &arrivals, &mut outside);
    let order: Vec<u32> = left.iter().map(|(number, _)| *number).collect();
    assert_eq!(order, [4, 9, 0, 1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(left[0].1, us(40));
    assert_eq!(netem.counts().reordered, 2);
}

/// Slots of 3 packets exactly 1 ms apart.
#[test]
fn slots_let_packets_leave_in_bursts() {
    let ms = Span::from_millis(1);
    let slot = Some(Slot { min: ms, max: ms, packets: 3, bytes: 0 });
    let mut outside = outside();
    let mut netem = Netem::new(&Impairments { slot, ..Impairments::NONE }, Span::ZERO, 1, &mut outside);
    // Five packets at 0.1 ms: a slot opens 1 ms later, for three. With the third the next one is set, for 1 ms later,
    // which two leave with one place to spare. That slot is from before the packet of 5 ms, which therefore waits for a
    // new one.
    let arrivals = [us(100), us(100), us(100), us(100), us(100), us(5_000)];
    let left = carry(&mut netem, &arrivals, &mut outside);
    let times: Vec<u64> = left.iter().map(|(_, at)| at.as_micros()).collect();
    assert_eq!(times, [1_100, 1_100, 1_100, 2_100, 2_100, 6_000]);
}

/// 1500 + 14 B a packet: the second exceeds 2000 B and still leaves in the slot.
#[test]
fn the_last_packet_of_a_slot_may_exceed_its_bytes() {
    let ms = Span::from_millis(1);
    let slot = Some(Slot { min: ms, max: ms, packets: 0, bytes: 2_000 });
    let mut outside = outside();
    let mut netem = Netem::new(&Impairments { slot, ..Impairments::NONE }, Span::ZERO, 1, &mut outside);
    let left = carry(&mut netem, &[us(1); 5], &mut outside);
    let times: Vec<u64> = left.iter().map(|(_, at)| at.as_micros()).collect();
    assert_eq!(times, [1_001, 1_001, 2_001, 2_001, 3_001]);
}

#[test]
fn slots_are_uniformly_apart() {
    let (min, max) = (Span::from_micros(800), Span::from_millis(5));
    let slot = Some(Slot { min, max, packets: 1, bytes: 0 });
    let mut outside = outside();
    let mut netem = Netem::new(&Impairments { slot, ..Impairments::NONE }, Span::ZERO, 1, &mut outside);
    let n = 20_000;
    let left = carry(&mut netem, &vec![us(1); n], &mut outside);
    let mut gaps: Vec<f64> =
        left.windows(2).map(|pair| (pair[1].1 - pair[0].1).as_secs_f64() * 1e3).collect();
    gaps.sort_by(f64::total_cmp);
    let distance = gaps.iter().enumerate().map(|(i, gap)| {
        let (below, expected) = (i as f64 / gaps.len() as f64, (gap - 0.8) / 4.2);
        (expected - below).abs()
    });
    // Kolmogorov and Smirnov: 1.95 / sqrt(n) is exceeded with probability 1e-3.
    assert!(distance.fold(0.0, f64::max) < 1.95 / (n as f64).sqrt());
}

#[test]
fn corrupted_packets_leave_the_path_and_do_not_arrive() {
    let mut outside = outside();
    let impairments = Impairments { corrupt: Chance::of(0.3), ..Impairments::NONE };
    let mut netem = Netem::new(&impairments, Span::from_millis(1), 5, &mut outside);
    let left = carry(&mut netem, &vec![us(1); 1000], &mut outside);
    assert_eq!(left.len() as u64 + netem.counts().corrupted, 1000);
    assert!((250..350).contains(&netem.counts().corrupted));
}

#[test]
fn a_delay_that_falls_keeps_the_order_of_packets() {
    let mut outside = outside();
    let mut netem = Netem::new(&Impairments::NONE, Span::from_millis(9), 5, &mut outside);
    netem.enqueue(packet(0), us(0));
    netem.set_delay(Span::from_millis(1));
    netem.enqueue(packet(1), us(1_000));
    assert!(netem.dequeue(us(1_000), &mut outside).is_none());
    assert_eq!(netem.next_event(), Some(us(9_000)));
    let both: Vec<u32> =
        core::iter::from_fn(|| netem.dequeue(us(9_000), &mut outside)).map(|p| p.seq.0).collect();
    assert_eq!(both, [0, 1]);
}

fn some_impairments() -> impl Strategy<Value = Impairments> {
    let chance = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64].prop_map(Chance::of);
    let loss = prop_oneof![
        (chance(), chance()).prop_map(|(probability, correlation)| Loss::Random { probability, correlation }),
        (chance(), chance(), chance(), chance()).prop_map(|(p, r, loss_in_bad, loss_in_good)| {
            Loss::GilbertElliott { p, r, loss_in_bad, loss_in_good }
        }),
        (chance(), chance(), chance(), chance(), chance())
            .prop_map(|(p13, p31, p32, p23, p14)| Loss::FourState { p13, p31, p32, p23, p14 }),
    ];
    let distributions = prop::sample::select(Distribution::NAMED.map(|(_, d)| d).to_vec());
    let jitter = (prop_oneof![Just(0u32), 1..8_000_000u32], distributions, chance())
        .prop_map(|(ns, distribution, correlation)| Jitter { ns, distribution, correlation });
    let reorder =
        prop::option::of((chance(), 1..6u32).prop_map(|(probability, gap)| Reorder { probability, gap }));
    let slot = prop::option::of((0..3_000u64, 1..3_000u64, 0..4u32, 0..6_000u32).prop_map(
        |(min, more, packets, bytes)| Slot {
            min: Span::from_micros(min),
            max: Span::from_micros(min + more),
            packets,
            bytes,
        },
    ));
    (jitter, any::<bool>(), loss, chance(), chance(), reorder, slot, any::<bool>()).prop_map(
        |(jitter, keep_order, loss, duplicate, corrupt, reorder, slot, clears_ecn)| Impairments {
            jitter,
            keep_order,
            loss,
            duplicate,
            corrupt,
            reorder,
            slot,
            clears_ecn,
        },
    )
}

proptest! {
    /// In the end what came and what was copied has left, was lost, or was corrupted, whatever is combined; and nothing
    /// leaves before it came.
    #[test]
    fn no_packet_vanishes(
        impairments in some_impairments(),
        gaps in prop::collection::vec(0u64..3_000, 1..80),
        seed in any::<u64>(),
    ) {
        let mut outside = outside();
        let mut netem = Netem::new(&impairments, Span::from_millis(4), seed, &mut outside);
        let mut now = Time::ZERO;
        let arrivals: Vec<Time> = gaps.iter().map(|&gap| { now += Span::from_micros(gap); now }).collect();
        let left = carry(&mut netem, &arrivals, &mut outside);
        let counts = netem.counts();
        prop_assert_eq!(netem.len(), 0);
        prop_assert_eq!(arrivals.len() as u64 + counts.duplicated, left.len() as u64 + counts.lost + counts.corrupted);
        prop_assert!(left.iter().all(|(number, at)| *at >= arrivals[*number as usize]));
        prop_assert!(left.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        if impairments.keep_order && impairments.reorder.is_none() {
            prop_assert!(left.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        }
    }
}

/// Correlation of neighbours among the delays of packets that are far apart.
fn neighbours(width_ns: u32, distribution: Distribution, correlation: f64) -> f64 {
    const PACKETS: u64 = 40_000;
    let jitter = Jitter { ns: width_ns, distribution, correlation: Chance::of(correlation) };
    let impairments = Impairments { jitter, ..Impairments::NONE };
    let arrivals: Vec<Time> = (0..PACKETS).map(|k| us(20_000_000 * k)).collect();
    let mut outside = outside();
    let mut netem = Netem::new(&impairments, Span::from_secs(3), 5, &mut outside);
    let left = carry(&mut netem, &arrivals, &mut outside);
    let delays: Vec<f64> =
        arrivals.iter().zip(&left).map(|(came, (_, left))| (*left - *came).as_secs_f64()).collect();
    let mean = delays.iter().sum::<f64>() / PACKETS as f64;
    let product = |pair: &[f64]| (pair[0] - mean) * (pair[1] - mean);
    let variance = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>();
    delays.windows(2).map(product).sum::<f64>() / variance
}

/// Four standard errors of 40,000 packets are 4 / sqrt(40,000) = 0.02.
#[test]
fn a_correlation_of_jitter_is_lost_in_the_remainder() {
    for correlation in [0.25, 0.5, 0.9, 0.99] {
        for distribution in [Distribution::Uniform, Distribution::Normal, Distribution::Pareto] {
            let measured = neighbours(2_000_000, distribution, correlation);
            assert!(measured.abs() < 0.02, "{distribution:?} {correlation}: {measured}");
        }
    }
    // With a divisor of 4 * 10^9, nearly 2^32 = 4.29 * 10^9, most of it is left.
    let measured = neighbours(2_000_000_000, Distribution::Uniform, 0.5);
    assert!((0.4..0.6).contains(&measured), "{measured}");
    // With 0.99999 draws move by at most 42,950 of 4,000,000 from one packet to the next.
    let measured = neighbours(2_000_000, Distribution::Uniform, 0.99999);
    assert!(measured > 0.9, "{measured}");
}
