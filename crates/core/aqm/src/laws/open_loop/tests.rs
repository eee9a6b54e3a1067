//! Marks and drops with given probabilities, packet by packet.

use crate::testing::bench::Bench;
use crate::{AnyQueue, Extent, OpenLoopConfig, OpenLoopSpacing, Reason, Verdict};
use shoal_packet::Ecn;
use shoal_units::{Probability, Span};

fn bench(mark: f64, drop: f64, spacing: OpenLoopSpacing) -> Bench<AnyQueue> {
    let (mark, drop) = (Probability::from_f64(mark), Probability::from_f64(drop));
    Bench::any(OpenLoopConfig { mark, drop, spacing, limit: Extent::Packets(3) })
}

/// Whether the packet is marked or, if it is not ECT, dropped.
fn hits(bench: &mut Bench<AnyQueue>, ecn: Ecn) -> bool {
    match bench.cycle(1500, ecn) {
        Verdict::Queued { mark } => {
            assert!(mark.is_none_or(|reason| reason == Reason::Early && ecn.is_capable()));
            mark.is_some()
        }
        Verdict::Dropped(reason) => {
            assert!(reason == Reason::Early && !ecn.is_capable());
            true
        }
        Verdict::Displaced => panic!("no packet is displaced"),
    }
}

/// The sum of 3/8 for each packet, in eighths, is 3, 6, 9 (a mark), 4, 7, 10 (a mark), 5, 8 (a mark), and so on; no
/// random number is drawn. Each class has a sum of its own.
#[test]
fn even_gaps_differ_by_at_most_one_packet() {
    let mut bench = bench(0.375, 0.5, OpenLoopSpacing::Even);
    let marks: Vec<bool> = (0..8).map(|_| hits(&mut bench, Ecn::Ect0)).collect();
    assert_eq!(marks, [false, false, true, false, false, true, false, true]);
    let drops: Vec<bool> = (0..4).map(|_| hits(&mut bench, Ecn::NotEct)).collect();
    assert_eq!(drops, [false, true, false, true]);
    assert_eq!(bench.draws(), 0);
}

/// The rate of marks over 1e5 packets is within four standard deviations: 4 sqrt(0.1 x 0.9 / 1e5) = 0.0038.
#[test]
fn independent_coins_have_the_rate() {
    let mut bench = bench(0.1, 0.0, OpenLoopSpacing::Independent);
    let marks = (0..100_000).filter(|_| hits(&mut bench, Ecn::Ect1)).count();
    assert!((marks as f64 / 1e5 - 0.1).abs() < 0.0038, "{marks}");
    assert!((0..1000).all(|_| !hits(&mut bench, Ecn::NotEct)), "a drop probability of 0 drops nothing");
}

/// All packets are marked for 2 ms of every 2 / 0.25 = 8 ms.
#[test]
fn bursts_hit_everything_for_a_while() {
    let mut bench = bench(0.25, 0.0, OpenLoopSpacing::Bursts { on: Span::from_millis(2) });
    let marks: Vec<bool> = (0..20)
        .map(|_| {
            let hit = hits(&mut bench, Ecn::Ect0);
            bench.wait(Span::from_millis(1));
            hit
        })
        .collect();
    let expected: Vec<bool> = (0..20).map(|ms| ms % 8 < 2).collect();
    assert_eq!(marks, expected);
    assert_eq!(bench.draws(), 0);
}

#[test]
fn zero_never_hits_and_one_always() {
    for spacing in [
        OpenLoopSpacing::Independent,
        OpenLoopSpacing::Even,
        OpenLoopSpacing::Bursts { on: Span::from_millis(1) },
    ] {
        let mut never = bench(0.0, 0.0, spacing);
        let mut always = bench(1.0, 1.0, spacing);
        for ecn in [Ecn::Ect0, Ecn::NotEct] {
            for _ in 0..100 {
                assert!(!hits(&mut never, ecn) && hits(&mut always, ecn), "{spacing:?}");
                never.wait(Span::from_micros(300));
                always.wait(Span::from_micros(300));
            }
        }
    }
}

/// A packet that does not fit is not one that the law decides about, so that its drop does not change the gaps.
#[test]
fn the_buffer_comes_first() {
    const PASSED: Verdict = Verdict::Queued { mark: None };
    const MARKED: Verdict = Verdict::Queued { mark: Some(Reason::Early) };
    let mut bench = bench(0.5, 0.0, OpenLoopSpacing::Even);
    let verdicts: Vec<Verdict> = (0..4).map(|_| bench.arrive(1500, Ecn::Ect0)).collect();
    assert_eq!(verdicts, [PASSED, MARKED, PASSED, Verdict::Dropped(Reason::Buffer)]);
    let _ = bench.take();
    assert_eq!(bench.arrive(1500, Ecn::Ect0), MARKED);
}
