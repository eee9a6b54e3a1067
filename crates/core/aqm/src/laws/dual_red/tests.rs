//! Two RED instances on one queue.

use crate::testing::bench::{Bench, PACKET_TIME, dropped, dual_red_of, mark_of, red_of, unweighted};
use crate::{
    AverageScope, Class, Dequeued, DualRed, DualRedConfig, Extent, MarkSpacing, Queue, Reason, RedConfig,
    RedParameters, Single, Verdict,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Stream};

fn dual(not_ect: RedParameters, ect: RedParameters, average: AverageScope) -> Bench<Single<DualRed>> {
    Bench::of(dual_red_of(not_ect, ect, average))
}

/// Averages with weights of 1/4 for packets that are not ECT and of 1/2 for those that are.
fn quarter_and_half(average: AverageScope) -> Bench<Single<DualRed>> {
    let slope = |weight| slope(weight, MarkSpacing::Uniformised);
    dual(slope(0.25), slope(0.5), average)
}

/// The average of a class.
fn average_of(bench: &Bench<Single<DualRed>>, class: Class) -> f64 {
    bench.queue.law().class_average_bytes(class)
}

fn slope(weight: f64, spacing: MarkSpacing) -> RedParameters {
    RedParameters { weight, ..unweighted(6000.0, 18_000.0, 0.2, spacing) }
}

/// Each instance decides about the packets of its own class only. A comment gives the bytes that wait after the
/// arrival.
#[test]
fn ect_packets_are_marked_and_others_dropped_by_their_own_thresholds() {
    let not_ect = unweighted(6000.0, 6000.0, 0.1, MarkSpacing::Uniformised);
    let ect = unweighted(3000.0, 3000.0, 1.0, MarkSpacing::Uniformised);
    let mut bench = dual(not_ect, ect, AverageScope::Shared);
    let mut verdict = |ecn| bench.arrive(1500, ecn);
    assert_eq!(mark_of(verdict(Ecn::NotEct)), None); // 1500
    assert_eq!(mark_of(verdict(Ecn::Ect0)), None); //   3000
    assert_eq!(mark_of(verdict(Ecn::NotEct)), None); // 4500
    assert_eq!(mark_of(verdict(Ecn::Ect0)), Some(Reason::Threshold)); // 6000
    assert_eq!(dropped(verdict(Ecn::NotEct)), Some(Reason::Threshold)); // it would be 7500
    assert_eq!(mark_of(verdict(Ecn::Ect1)), Some(Reason::Threshold));
    assert_eq!(bench.draws(), 0);
}

/// With a shared average, equal parameters and independent decisions, two instances are one RED queue with ECN, as WRED
/// is with equal profiles: every verdict and every bit of the average is the same.
#[test]
fn equal_instances_with_a_shared_average_are_one_red_queue() {
    let parameters = slope(0.02, MarkSpacing::Independent);
    assert_same_as_single(parameters, |script| [Ecn::NotEct, Ecn::Ect0][(script.uniform_u32() & 1) as usize]);
}

/// With uniform gaps this holds for each class alone, because each instance counts its own packets, as WRED does.
#[test]
fn one_class_alone_is_one_red_queue() {
    let parameters = slope(0.02, MarkSpacing::Uniformised);
    assert_same_as_single(parameters, |_| Ecn::NotEct);
    assert_same_as_single(parameters, |_| Ecn::Ect0);
}

fn assert_same_as_single(parameters: RedParameters, mut ecn: impl FnMut(&mut Stream) -> Ecn) {
    let limit = Extent::Packets(20);
    let mut single = Bench::of(RedConfig { limit, ..red_of(parameters, true) });
    let dual = dual_red_of(parameters, parameters, AverageScope::Shared);
    let mut double = Bench::of(DualRedConfig { limit, ..dual });
    let mut script = Stream::new(9, "script");
    let mut early = 0;
    for _ in 0..20_000 {
        match script.uniform_u32() % 16 {
            0..=7 => {
                let ecn = ecn(&mut script);
                let verdict = single.arrive(1500, ecn);
                assert_eq!(double.arrive(1500, ecn), verdict);
                early += u32::from(verdict_is_early(verdict));
            }
            8..=14 => assert_eq!(packet(single.take()), packet(double.take())),
            _ => {
                let pause = Span::from_micros(u64::from(script.uniform_u32() % 5000));
                single.wait(pause);
                double.wait(pause);
            }
        }
        let average = single.queue.average_bytes().unwrap().to_bits();
        assert_eq!(average_of(&double, Class::Ect).to_bits(), average);
        assert_eq!(average_of(&double, Class::NotEct).to_bits(), average);
    }
    assert_eq!(single.draws(), double.draws());
    assert!(early > 100, "{early}");
}

fn verdict_is_early(verdict: Verdict) -> bool {
    use crate::Verdict::{Dropped, Queued};
    matches!(verdict, Dropped(Reason::Early) | Queued { mark: Some(Reason::Early) })
}

fn packet(dequeued: Dequeued) -> Option<shoal_packet::Packet> {
    match dequeued {
        Dequeued::Packet { packet, .. } => Some(packet),
        _ => None,
    }
}

/// An overshoot lifts the average of Reno's packets to a0 = 100,000 B, above max. Afterwards DCTCP keeps q = 15,000 B
/// in the queue, so that it never runs empty, and Reno sends one packet a round, which is dropped until the average is
/// below max = 46,875 B.
///
/// With an average for each class only Reno's packets move it: after n of them it is q + (a0 - q) (1-w)^n. With w =
/// 0.002 that takes n = ln(31,875/85,000) / ln(0.998) = 489.9: with one packet in each retransmission timeout, Reno is
/// locked out for minutes. A shared average also counts the 100 DCTCP packets of each round, so that 490 arrivals have
/// passed in the 5th round.
#[test]
fn averages_per_class_lock_reno_out() {
    assert_eq!(drops_until_reno_gets_through(AverageScope::PerClass), 489);
    assert_eq!(drops_until_reno_gets_through(AverageScope::Shared), 4);
}

fn drops_until_reno_gets_through(average: AverageScope) -> u32 {
    let reno =
        RedParameters { weight: 0.002, ..unweighted(15_625.0, 46_875.0, 0.0, MarkSpacing::Uniformised) };
    let dctcp = unweighted(20_000.0, 20_000.0, 1.0, MarkSpacing::Uniformised);
    let mut bench = dual(reno, dctcp, average);
    // The overshoot: 202 arrivals of Reno that find b bytes lift the average from 0 to b (1 - 0.998^202) = 100,000 B,
    // so b = 100,000 / 0.33264 = 300,600 B. For each one that is queued another packet leaves.
    bench.fill(600, 300_600);
    for _ in 0..202 {
        let _ = bench.cycle(600, Ecn::NotEct);
    }
    while bench.queue.backlog().bytes > 15_000 {
        let _ = bench.take();
    }
    // A shared average was lifted further while the queue filled; it has to come back first.
    while average_of(&bench, Class::NotEct) > 100_100.0 {
        let _ = bench.cycle(600, Ecn::Ect0);
    }
    let reached = average_of(&bench, Class::NotEct);
    assert!((reached - 100_000.0).abs() < 150.0, "{reached}");
    for drops in 0..1000 {
        for _ in 0..100 {
            let _ = bench.cycle(600, Ecn::Ect0);
        }
        if dropped(bench.arrive(600, Ecn::NotEct)).is_none() {
            return drops;
        }
    }
    panic!("locked out for 1000 rounds");
}

/// With an average for each class, an arrival of one class does not change the other average.
#[test]
fn averages_per_class_move_with_their_own_packets() {
    let mut bench = quarter_and_half(AverageScope::PerClass);
    let averages =
        |bench: &Bench<Single<DualRed>>| [Class::NotEct, Class::Ect].map(|class| average_of(bench, class));
    let _ = bench.arrive(1500, Ecn::Ect0); // finds 0
    let _ = bench.arrive(1500, Ecn::Ect0); // finds 1500: 750
    assert_eq!(averages(&bench), [0.0, 750.0]);
    let _ = bench.arrive(1500, Ecn::NotEct); // finds 3000: 750
    assert_eq!(averages(&bench), [750.0, 750.0]);
    let _ = bench.arrive(1500, Ecn::NotEct); // finds 4500: 750 + 3750/4
    assert_eq!(averages(&bench), [1687.5, 750.0]);
}

/// With a shared scope, each average moves with its own weight at every arrival.
#[test]
fn shared_averages_move_with_every_packet() {
    let mut bench = quarter_and_half(AverageScope::Shared);
    let _ = bench.arrive(1500, Ecn::Ect0); // finds 0
    let _ = bench.arrive(1500, Ecn::Ect0); // finds 1500: 375 and 750
    let _ = bench.arrive(1500, Ecn::NotEct); // finds 3000: 375 + 2625/4 and 750 + 2250/2
    assert_eq!(average_of(&bench, Class::NotEct), 1031.25);
    assert_eq!(average_of(&bench, Class::Ect), 1875.0);
    assert_eq!(bench.queue.average_bytes(), Some(1031.25));
}

/// With an average for each class, idle time counts only if the line is idle when a packet of the class itself arrives:
/// an ECT packet that ended the idle time hides it from the other average.
#[test]
fn averages_per_class_miss_idle_time_that_the_other_class_ended() {
    for (average, aged) in [(AverageScope::PerClass, 1.0), (AverageScope::Shared, 0.75f64.powi(10) * 0.75)] {
        let mut bench = quarter_and_half(average);
        bench.fill(1500, 3000);
        let _ = bench.arrive(1500, Ecn::NotEct);
        let before = average_of(&bench, Class::NotEct);
        bench.transmit_all();
        bench.wait(PACKET_TIME * 10);
        // The first packet finds an idle line, the second 1500 B, and the third 3000 B.
        bench.arrivals(2, 1500, Ecn::Ect0);
        let _ = bench.arrive(1500, Ecn::NotEct);
        // In a shared average the second packet's update adds 1500/4, of which the third packet's leaves 3/4.
        let second = if average == AverageScope::Shared { 0.75 * 375.0 } else { 0.0 };
        let expected = 0.75 * aged * before + second + 750.0;
        let got = average_of(&bench, Class::NotEct);
        assert!((got / expected - 1.0).abs() < 1e-12, "{average:?}: {got} {expected}");
    }
}
