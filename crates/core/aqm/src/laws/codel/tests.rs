//! CoDel: when it drops, to the tick of 1024 ns.

use crate::testing::bench::{Bench, dropped, mark_of};
use crate::{
    CeThresholdFor, Codel, CodelConfig, CodelParameters, Dequeued, Extent, Queue, Reason, Single, Verdict,
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
    Bench::of(CodelConfig { law, limit: Extent::Unlimited })
}

fn at_tick(tick: u64) -> Time {
    Time::from_picos(tick * 1_024_000)
}

/// As one dequeue of the kernel: the number of packets that are dropped, and the reason of the mark on the packet that
/// leaves.
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
            Dequeued::Empty | Dequeued::Held { .. } => return (drops, None),
        }
    }
}

/// Each packet waits for 10,000 ticks (10.24 ms), and one leaves each tick from tick 10,000 on, for `ticks` ticks.
/// Returns the ticks at which packets are marked or dropped.
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
        // Each packet that was dropped is replaced, so that the delay stays constant.
        bench.arrivals(drops, 1500, ecn);
    }
    signals
}

/// Interval 100,000,000 >> 10 = 97,656 ticks. The first late packet leaves at 10,000; the law acts when it is later
/// than 10,000 + 97,656, so at 107,657. Then gaps of 97,656 r >> 16 with r = 65,535 (97,654), 32,769 (48,829), 36,864
/// (54,931), 31,968 (47,635), 28,935 (43,116), 26,481 (39,459), 24,588 (36,638), 23,037 (34,327), 21,746 (32,403),
/// 20,647 (30,766).
#[test]
fn drops_come_at_the_kernels_ticks() {
    let gaps = [97_654, 48_829, 54_931, 47_635, 43_116, 39_459, 36_638, 34_327, 32_403, 30_766];
    let mut expected = vec![107_657];
    for gap in gaps {
        expected.push(expected[expected.len() - 1] + gap);
    }
    let ticks = expected[expected.len() - 1] + 1 - 10_000;
    assert_eq!(signals_of_a_standing_queue(LAW, Ecn::Ect0, ticks), expected);
    // With `ecn` ECT packets are marked and others dropped, at the same times.
    let marking = CodelParameters { ecn: true, ..LAW };
    assert_eq!(signals_of_a_standing_queue(marking, Ecn::Ect0, ticks), expected);
    assert_eq!(signals_of_a_standing_queue(marking, Ecn::NotEct, ticks), expected);
}

/// With gaps I / sqrt(n), N signals take I (2 sqrt(N) - 1.46) asymptotically (zeta(1/2) = -1.46). Of the 2 s after the
/// first late packet one interval passes without a signal: 1.9 s / 0.1 s = 19 = 2 sqrt(N) - 1.46 gives N = 104.6, and
/// with the first signal it is 105.6.
#[test]
fn the_rate_of_signals_grows_with_the_root_law() {
    let signals = signals_of_a_standing_queue(LAW, Ecn::NotEct, 1_953_125).len() as f64;
    assert!((signals / 105.6 - 1.0).abs() < 0.03, "{signals}");
}

/// A sojourn time of 4881 ticks is below the target of 4882 ticks (5,000,000 >> 10), one of 4882 ticks is not.
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

/// With 1500 B waiting behind a packet it is not dropped, however late it is; with one byte more it is.
#[test]
fn no_signal_while_a_packet_or_less_waits() {
    for (size, acts) in [(1500, false), (1501, true)] {
        let mut bench = bench(LAW);
        let _ = bench.arrive(size, Ecn::NotEct);
        let mut drops = 0;
        // Two packets wait whenever one is taken; each waits for 20 ms.
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

/// When no packet has left for a long time in the dropping state, one dequeue drops all packets that are due, as the
/// kernel's loop does. 300 ms after its begin, which are 292,968 ticks, those after I + I/2 + ... are due: at 97,654,
/// 146,483, 201,414, 249,049 and 292,165 ticks.
#[test]
fn one_dequeue_makes_up_for_missed_signals() {
    let mut bench = bench(LAW);
    bench.arrivals(100, 1500, Ecn::NotEct);
    for (tick, drops) in [(10_000, 0), (107_656, 0), (107_657, 1), (107_657 + 292_968, 5)] {
        bench.now = at_tick(tick);
        assert_eq!(kernel_dequeue(&mut bench), (drops, Some(None)), "{tick}");
    }
    assert_eq!(bench.draws(), 0);
}

/// The threshold of 1 ms is 976 ticks, which a sojourn time of 976 ticks does not exceed.
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
    let l4s = CodelParameters { ce_threshold_for: CeThresholdFor::ECT1, ..law };
    assert_eq!(mark(l4s, 977, Ecn::Ect0), None);
    assert_eq!(mark(l4s, 977, Ecn::Ect1), Some(Reason::Threshold));
}

/// `(dsfield & mask) == selector`, of packets that are ECN-capable: Not-ECT 0, ECT(1) 1, ECT(0) 2, CE 3.
#[test]
fn the_selector_names_the_packets_of_the_ce_threshold() {
    for (value, mask, marked) in [
        (1, 3, [false, true, false]),
        (2, 3, [false, false, true]),
        (1, 1, [false, true, false]),
        (2, 2, [false, false, true]),
        // Not-ECT is selected, and cannot be marked; ECT(0) and ECT(1) have a zero in bit 0 and bit 1.
        (0, 1, [false, false, true]),
        (0, 2, [false, true, false]),
        (0, 0, [false, true, true]),
        (3, 3, [false, false, false]),
    ] {
        let law = CodelParameters {
            ce_threshold: Some(Span::from_millis(1)),
            ce_threshold_for: CeThresholdFor::Field { value, mask },
            ..LAW
        };
        let marks = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0].map(|ecn| {
            let mut bench = bench(law);
            let _ = bench.arrive(1500, ecn);
            bench.now = at_tick(977);
            kernel_dequeue(&mut bench) == (0, Some(Some(Reason::Threshold)))
        });
        assert_eq!(marks, marked, "{value}/{mask}");
    }
}

/// CoDel asks whether packets are ECN-capable, not which codepoint they have: signals come at the same packets.
#[test]
fn ect1_is_treated_as_ect0() {
    for ecn_flag in [false, true] {
        let run = |ecn| {
            let mut bench = bench(CodelParameters { ecn: ecn_flag, ..LAW });
            bench.arrivals(400, 1500, ecn);
            let out: Vec<_> = (0..300u32)
                .map(|n| {
                    bench.now = at_tick(u64::from(n) * 1172);
                    kernel_dequeue(&mut bench)
                })
                .collect();
            out
        };
        let (ect1, ect0, not_ect) = (run(Ecn::Ect1), run(Ecn::Ect0), run(Ecn::NotEct));
        assert_eq!(ect1, ect0);
        assert_eq!(ect1 == not_ect, !ecn_flag);
        assert!(not_ect.iter().any(|(drops, _)| *drops > 0));
    }
}

#[test]
fn what_does_not_fit_is_dropped() {
    let mut bench = Bench::of(CodelConfig { law: LAW, limit: Extent::Packets(2) });
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    assert_eq!(bench.arrive(1, Ecn::Ect0), Verdict::Dropped(Reason::Buffer));
    let _ = bench.take();
    assert_eq!(dropped(bench.arrive(1, Ecn::Ect0)), None);
}
