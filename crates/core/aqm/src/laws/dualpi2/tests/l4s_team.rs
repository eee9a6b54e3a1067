//! What is different in the L4S team's trees.

use super::{HELD, LINUX};
use crate::testing::bench::Bench;
use crate::{AnyQueue, DualPi2Config, DualPi2Form, NativeMarking, Queue, Reason};
use crate::{Extent, Verdict};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

/// The defaults of the L4S team's module.
const L4S_TEAM: DualPi2Config = DualPi2Config {
    form: DualPi2Form::L4sTeam,
    first_update: Span::from_millis(500),
    native: NativeMarking::Step { threshold: Extent::Time(Span::from_millis(1)), min_packets: 2 },
    ecn_mask: 0b01,
    ..LINUX
};

fn probability(bench: &Bench<AnyQueue>) -> u32 {
    (bench.queue.probability().unwrap() * 4_294_967_295.0).round() as u32
}

/// The oldest packet has waited for 490 ms at the first update, half a second after set-up: 475 ms * 44 / 127 =
/// 164,566,929 and 490 ms * 879 / 127 = 3,391,417,322, which add up to 3,555,984,251. The next one comes a Tupdate
/// later: 491 ms * 44 / 127 = 170,110,236 and 16 ms * 879 / 127 = 110,740,157 make 280,850,393 more.
#[test]
fn the_first_update_is_half_a_second_after_set_up() {
    let mut bench = Bench::any(L4S_TEAM);
    bench.now = Time::ZERO + Span::from_millis(10);
    let _ = bench.arrive(1500, Ecn::NotEct);
    bench.advance_to(Time::ZERO + Span::from_millis(499));
    assert_eq!(probability(&bench), 0);
    bench.advance_to(Time::ZERO + Span::from_millis(500));
    assert_eq!(probability(&bench), 3_555_984_251);
    assert_eq!(bench.queue.next_timer(), Time::ZERO + Span::from_millis(516));
    bench.advance_to(Time::ZERO + Span::from_millis(516));
    assert_eq!(probability(&bench), 3_836_834_644);
}

/// `apply_step = qdisc_qlen(q->l_queue) > 1`: of packets that all wait too long, the first two found none and one.
#[test]
fn the_step_spares_packets_that_met_less_than_two() {
    let mut bench = Bench::any(L4S_TEAM);
    bench.arrivals(5, 1500, Ecn::Ect1);
    bench.wait(Span::from_millis(2));
    let marks: Vec<bool> = (0..5).map(|_| bench.send().1 == Some(Reason::Threshold)).collect();
    assert_eq!(marks, [false, false, true, true, true]);
}

/// 41 and 819 / 256 Hz act as 0.0807 and 1.612 Hz: 64/127 of what they do in mainline.
#[test]
fn gains_act_as_about_half() {
    for (gain_256th_hz, acting) in [(41, 0.080_666), (819, 1.611_481)] {
        let measured = DualPi2Config::acting_gain_hz(gain_256th_hz, DualPi2Form::L4sTeam);
        assert!((measured - acting).abs() < 1e-5, "{gain_256th_hz}: {measured}");
        let mainline = DualPi2Config::acting_gain_hz(gain_256th_hz, DualPi2Form::Mainline);
        assert!((measured / mainline - 64.0 / 127.0).abs() < 1e-12);
    }
}

/// ECT(0) in the classic queue is marked, and dropped on overload, in either form: with p' = 1 and k = 1 each
/// decision is certain and no overload, with k = 2 it is one.
#[test]
fn ect0_in_the_classic_queue_is_marked_and_dropped_on_overload() {
    for form in [DualPi2Form::Mainline, DualPi2Form::L4sTeam] {
        for (coupling, is_overload) in [(1, false), (2, true)] {
            let config = DualPi2Config { form, coupling, ecn_mask: 0b01, beta_256th_hz: 400, ..HELD };
            let mut bench = Bench::any(config);
            for second in 0..6 {
                bench.advance_to(Time::ZERO + Span::from_secs(second));
                let verdict = bench.arrive(1500, Ecn::Ect0);
                assert!(matches!(verdict, Verdict::Queued { .. }));
            }
            assert_eq!(bench.queue.probability(), Some(1.0));
            match bench.take() {
                crate::Dequeued::Dropped { reason, .. } => assert!(is_overload && reason == Reason::Early),
                crate::Dequeued::Packet { mark, .. } => assert!(!is_overload && mark == Some(Reason::Early)),
                other => panic!("{other:?}"),
            }
        }
    }
}
