//! CoDel: when it drops, to the tick of 1024 ns.

use crate::testing::bench::{Bench, LINE, dropped, mark_of};
use crate::{
    CeThresholdFor, Codel, CodelConfig, CodelParameters, Dequeued, Extent, LawConfig, Queue, Reason, Single,
    Verdict,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

pub(super) const LAW: CodelParameters = CodelParameters {
    target: Span::from_millis(5),
    interval: Span::from_millis(100),
    ecn: false,
    ce_threshold: None,
    ce_threshold_for: CeThresholdFor::Ect,
    mtu_bytes: 1500,
};

fn bench(law: CodelParameters) -> Bench<Single<Codel>> {
    Bench::new(CodelConfig { law, limit: Extent::Unlimited }.build(LINE).unwrap())
}

fn at_tick(tick: u64) -> Time {
    Time::from_picos(tick * 1_024_000)
}

/// What one dequeue of the kernel does: the signals, and the packet that leaves.
#[allow(clippy::option_option, reason = "whether a packet leaves, and whether it is marked")]
fn kernel_dequeue(bench: &mut Bench<Single<Codel>>) -> (u32, Option<Option<Reason>>) {
    let mut drops = 0;
    loop {
        match bench.take() {
            Dequeued::Dropped { reason, .. } => {
                assert_eq!(reason, Reason::Sojourn);
                drops += 1;
            }
            Dequeued::Packet { mark, .. } => return (drops, Some(mark)),
            Dequeued::Empty => return (drops, None),
        }
    }
}

/// Every packet waits 10,000 ticks (10.24 ms) and one leaves each tick from tick 10,000 on, for `ticks` ticks; gives the
/// ticks of the signals.
fn signals_of_a_standing_queue(law: CodelParameters, ecn: Ecn, ticks: u64) -> Vec<u64> {
    let mut bench = bench(law);
    let mut signals = Vec::new();
    for tick in 0..10_000 + ticks {
        bench.now = at_tick(tick);
        let _ = bench.arrive(1500, ecn);
        if tick < 10_000 {
            continue;
        }
        let (drops, left) = kernel_dequeue(&mut bench);
        let marked = left == Some(Some(Reason::Sojourn));
        signals.extend((0..drops + u32::from(marked)).map(|_| tick));
        // What was dropped is replaced, so that the queue stands.
        for _ in 0..drops {
            let _ = bench.arrive(1500, ecn);
        }
    }
    signals
}

/// Interval 100,000,000 >> 10 = 97,656 ticks. The first late packet leaves at 10,000; the law acts when it is later than
/// 10,000 + 97,656, so at 107,657. Then gaps of 97,656 r >> 16 with r = 65,535 (97,654), 32,769 (48,829), 36,864 (54,931),
/// 31,968 (47,635), 28,935 (43,116), 26,481 (39,459), 24,588 (36,638), 23,037 (34,327), 21,746 (32,403), 20,647 (30,766).
#[test]
fn drops_come_at_the_kernels_ticks() {
    let gaps = [97_654, 48_829, 54_931, 47_635, 43_116, 39_459, 36_638, 34_327, 32_403, 30_766];
    let mut expected = vec![107_657];
    for gap in gaps {
        expected.push(expected[expected.len() - 1] + gap);
    }
    let ticks = expected[expected.len() - 1] + 1 - 10_000;
    assert_eq!(signals_of_a_standing_queue(LAW, Ecn::Ect0, ticks), expected);
    // With ecn the same times, marks for ECT packets and drops for others.
    let marking = CodelParameters { ecn: true, ..LAW };
    assert_eq!(signals_of_a_standing_queue(marking, Ecn::Ect0, ticks), expected);
    assert_eq!(signals_of_a_standing_queue(marking, Ecn::NotEct, ticks), expected);
}

/// Gaps I / sqrt(n): N signals take I (2 sqrt(N) - 1.46) asymptotically (zeta(1/2) = -1.46). In 2 s behind the first late
/// packet, one interval is waiting: 1.9 s / 0.1 s = 19 = 2 sqrt(N) - 1.46: N = 104.6, and the first signal makes it 105.6.
#[test]
fn the_rate_of_signals_grows_with_the_root_law() {
    let signals = signals_of_a_standing_queue(LAW, Ecn::NotEct, 1_953_125).len() as f64;
    assert!((signals / 105.6 - 1.0).abs() < 0.03, "{signals}");
}

/// Sojourn times of 4881 ticks are below the target of 4882 (5,000,000 >> 10), 4882 are not.
#[test]
fn the_target_is_4882_ticks() {
    for (wait, is_late) in [(4881, false), (4882, true)] {
        let mut bench = bench(LAW);
        let mut acted = false;
        for tick in 0..wait + 110_000 {
            bench.now = at_tick(tick);
            let _ = bench.arrive(1500, Ecn::NotEct);
            if tick >= wait {
                acted |= kernel_dequeue(&mut bench).0 > 0;
            }
        }
        assert_eq!(acted, is_late, "{wait}");
    }
}

/// With 1500 B left behind there is no signal, however late all are; with one byte more there is.
#[test]
fn no_signal_while_a_packet_or_less_waits() {
    for (size, acts) in [(1500, false), (1501, true)] {
        let mut bench = bench(LAW);
        let _ = bench.arrive(size, Ecn::NotEct);
        let mut drops = 0;
        // Always two wait when one is taken; each waits 20 ms.
        for _ in 0..20 {
            bench.wait(Span::from_millis(20));
            let _ = bench.arrive(size, Ecn::NotEct);
            drops += kernel_dequeue(&mut bench).0;
            if bench.queue.backlog().packets == 0 {
                let _ = bench.arrive(size, Ecn::NotEct);
            }
        }
        assert_eq!(drops > 0, acts, "{size}");
    }
}

/// After an interval of lateness and a long silence, one dequeue carries out all signals that are due, as the kernel's
/// loop does: 300 ms after the entry, I + I/2 + ... : at 97,654, 146,483, 201,414, 249,049 and 292,165 ticks; 300 ms are
/// 292,968.
#[test]
fn one_dequeue_makes_up_for_missed_signals() {
    let mut bench = bench(LAW);
    for _ in 0..100 {
        let _ = bench.arrive(1500, Ecn::NotEct);
    }
    bench.now = at_tick(10_000);
    assert_eq!(kernel_dequeue(&mut bench), (0, Some(None)));
    bench.now = at_tick(107_656);
    assert_eq!(kernel_dequeue(&mut bench), (0, Some(None)));
    bench.now = at_tick(107_657);
    assert_eq!(kernel_dequeue(&mut bench), (1, Some(None)));
    bench.now = at_tick(107_657 + 292_968);
    assert_eq!(kernel_dequeue(&mut bench), (5, Some(None)));
    assert_eq!(bench.draws(), 0);
}

/// 1 ms is 976 ticks: 976 are not beyond it.
#[test]
fn beyond_the_ce_threshold_ect_packets_are_marked() {
    let law = CodelParameters { ce_threshold: Some(Span::from_millis(1)), ..LAW };
    let mark = |law, wait, ecn| {
        let mut bench = bench(law);
        let _ = bench.arrive(1500, ecn);
        bench.now = at_tick(wait);
        let (drops, left) = kernel_dequeue(&mut bench);
        assert_eq!(drops, 0);
        left.unwrap()
    };
    assert_eq!(mark(law, 976, Ecn::Ect0), None);
    assert_eq!(mark(law, 977, Ecn::Ect0), Some(Reason::Threshold));
    assert_eq!(mark(law, 977, Ecn::NotEct), None);
    let l4s = CodelParameters { ce_threshold_for: CeThresholdFor::Ect1, ..law };
    assert_eq!(mark(l4s, 977, Ecn::Ect0), None);
    assert_eq!(mark(l4s, 977, Ecn::Ect1), Some(Reason::Threshold));
}

#[test]
fn what_does_not_fit_is_dropped() {
    let config = CodelConfig { law: LAW, limit: Extent::Packets(2) };
    let mut bench = Bench::new(config.build(LINE).unwrap());
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(bench.arrive(1, Ecn::Ect0), Verdict::Dropped(Reason::Buffer));
    let _ = bench.take();
    assert_eq!(dropped(bench.arrive(1, Ecn::Ect0)), None);
}
