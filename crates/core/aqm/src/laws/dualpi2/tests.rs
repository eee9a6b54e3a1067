//! DualPI2, decision by decision. The controller's arithmetic is tested beside it.

mod docsis;
mod l4s_team;
mod protection;

use crate::testing::bench::{Bench, dropped, is_likely, mark_of};
use crate::{
    AnyQueue, Backlog, Class, DecideAt, Dequeued, DualPi2Config, DualPi2Form, Extent, NativeMarking, Queue,
    Reason, SchedulerConfig, Tossing, Verdict,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

/// The defaults of tc, with any ECT packet in the low-latency queue.
const LINUX: DualPi2Config = DualPi2Config {
    form: DualPi2Form::Mainline,
    first_update: Span::from_millis(16),
    target: Span::from_millis(15),
    tupdate: Span::from_millis(16),
    alpha_256th_hz: 41,
    beta_256th_hz: 819,
    coupling: 2,
    native: NativeMarking::Step { threshold: Extent::Time(Span::from_millis(1)), min_packets: 0 },
    tossing: Tossing::Random,
    ecn_mask: 0b11,
    scheduler: SchedulerConfig::Weighted { classic_percent: 10 },
    drop_on_overload: true,
    decide: DecideAt::Dequeue,
    min_backlog_bytes: 3000,
    memory_limit_bytes: u64::MAX,
    limit: Extent::Packets(10_000),
    mtu: 1500,
    protection: None,
};

/// p' changes once a second, by the change of the queueing time; the low-latency queue has no law of its own.
const HELD: DualPi2Config = DualPi2Config {
    target: Span::ZERO,
    tupdate: Span::from_secs(1),
    first_update: Span::from_secs(1),
    alpha_256th_hz: 0,
    beta_256th_hz: 64,
    native: NativeMarking::Step { threshold: Extent::Unlimited, min_packets: 0 },
    ..LINUX
};
/// p' of [`HELD`] after one second of wait: 64 (2^32 - 1) >> 2 = 68,719,476,720; / 10^9 = 68; 10^9 ns * 68 >> 6 =
/// 1,062,500,000 of 2^32 - 1.
const HELD_P: f64 = 1_062_500_000.0 / 4_294_967_295.0;

/// [`HELD`] with three times the gain: 192 (2^32 - 1) >> 2 = 206,158,430,160; / 10^9 = 206; 10^9 ns * 206 >> 6 =
/// 3,218,750,000.
const STRONG: DualPi2Config = DualPi2Config { beta_256th_hz: 192, ..HELD };
const STRONG_P: f64 = 3_218_750_000.0 / 4_294_967_295.0;

/// `classic` packets have waited for a second: p' is [`HELD_P`] or [`STRONG_P`].
fn held(config: DualPi2Config, classic: u32) -> Bench<AnyQueue> {
    let mut bench = Bench::any(config);
    bench.arrivals(classic, 1500, Ecn::NotEct);
    bench.advance_to(Time::ZERO + Span::from_secs(1));
    bench
}

/// `classic` packets have waited for two seconds with the strong gain: p' is 1.
fn certain(config: DualPi2Config, classic: u32) -> Bench<AnyQueue> {
    let mut bench = held(DualPi2Config { beta_256th_hz: STRONG.beta_256th_hz, ..config }, classic);
    bench.advance_to(Time::ZERO + Span::from_secs(2));
    assert_eq!(bench.queue.probability(), Some(1.0));
    bench
}

/// The packet at the head of the classic queue is dropped on departure.
fn assert_dropped(bench: &mut Bench<AnyQueue>) {
    assert!(matches!(bench.take(), Dequeued::Dropped { reason: Reason::Early, .. }));
}

#[test]
fn the_mask_says_what_is_low_latency() {
    for (mask, low) in [
        (0b01u8, [Ecn::Ect1, Ecn::Ce].as_slice()),
        (0b10, &[Ecn::Ect0, Ecn::Ce]),
        (0b11, &[Ecn::Ect0, Ecn::Ect1, Ecn::Ce]),
    ] {
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            // Priority shows the queue: a low-latency packet overtakes.
            let mut bench = Bench::any(DualPi2Config {
                ecn_mask: mask,
                scheduler: SchedulerConfig::StrictPriority,
                ..HELD
            });
            let _ = bench.arrive(100, Ecn::NotEct);
            let _ = bench.arrive(101, ecn);
            assert_eq!(bench.send().0.size == 101, low.contains(&ecn), "{ecn:?} with mask {mask:02b}");
        }
    }
    // Classes are by capability whatever the mask.
    let mut bench = Bench::any(DualPi2Config { ecn_mask: 0b01, ..LINUX });
    let _ = bench.arrive(100, Ecn::Ect0);
    assert_eq!(bench.queue.class_backlog(Class::Ect), Backlog { packets: 1, bytes: 100 });
}

/// The controller takes the longer of the two waits, in whole nanoseconds, at multiples of Tupdate.
#[test]
fn the_oldest_head_drives_the_controller() {
    let mut bench = Bench::any(LINUX);
    let raw = |bench: &Bench<AnyQueue>| (bench.queue.probability().unwrap() * 4_294_967_295.0).round() as u32;
    bench.now = Time::ZERO + Span::from_millis(4);
    let _ = bench.arrive(1500, Ecn::NotEct);
    bench.now = Time::ZERO + Span::from_millis(10);
    let _ = bench.arrive(1500, Ecn::Ect0);
    bench.advance_to(Time::ZERO + Span::from_millis(16));
    // 12 ms: (12 - 15) ms * 44 + 12 ms * 879 = 10,416e6; >> 6 = 162,750,000.
    assert_eq!(raw(&bench), 162_750_000);
    // The low-latency packet leaves, then the classic one; another one has waited for 1.0005 ms at 32 ms.
    assert_eq!(bench.send().0.ecn, Ecn::Ce);
    let _ = bench.send();
    bench.now = Time::ZERO + Span::from_picos(30_999_500_400);
    let _ = bench.arrive(1500, Ecn::Ect0);
    bench.advance_to(Time::ZERO + Span::from_millis(32));
    // Clocks count whole nanoseconds: 32,000,000 - 30,999,500 = 1,000,500. (1,000,500 - 15e6) * 44 + (1,000,500 - 12e6)
    // * 879 = -615,978,000 - 9,668,560,500 = -10,284,538,500; >> 6 = 160,695,914.
    assert_eq!(raw(&bench), 162_750_000 - 160_695_914);
    assert_eq!(bench.queue.next_timer(), Time::ZERO + Span::from_millis(48));
}

#[test]
fn classic_packets_see_the_square_and_low_latency_ones_twice_the_base() {
    let n = 200_000;
    let arrive = |ecn, mask| {
        let config = DualPi2Config { ecn_mask: mask, decide: DecideAt::Enqueue, ..HELD };
        let mut bench = held(config, 3);
        let mut outcomes = (0, 0);
        for _ in 0..n {
            match bench.arrive(1500, ecn) {
                Verdict::Queued { mark } => {
                    let expected = if mask & ecn.bits() == 0 { Reason::Early } else { Reason::Coupled };
                    outcomes.0 += usize::from(mark == Some(expected));
                }
                Verdict::Dropped(reason) => outcomes.1 += usize::from(reason == Reason::Early),
                Verdict::Displaced => panic!("no packet is displaced"),
            }
            while bench.queue.backlog().packets > 3 {
                let _ = bench.take();
            }
        }
        outcomes
    };
    let (marks, drops) = arrive(Ecn::NotEct, 0b11);
    assert!(marks == 0 && is_likely(drops, n, HELD_P * HELD_P), "{drops}");
    let (marks, drops) = arrive(Ecn::Ect0, 0b11);
    assert!(drops == 0 && is_likely(marks, n, 2.0 * HELD_P), "{marks}");
    // An ECT packet that Linux' mask does not cover is classic, but can be marked.
    let (marks, drops) = arrive(Ecn::Ect0, 0b01);
    assert!(drops == 0 && is_likely(marks, n, HELD_P * HELD_P), "{marks}");
}

/// `must_drop`: a backlog, the packet itself not counted, below two packets is left alone.
#[test]
fn small_backlogs_are_left_alone() {
    let mut bench = certain(HELD, 3);
    // Two packets wait behind the first one, and one behind the second.
    assert_dropped(&mut bench);
    assert_eq!(bench.send().1, None);
    assert_eq!(bench.send().1, None);
    // On arrival the packets count that wait already.
    let mut bench = certain(DualPi2Config { decide: DecideAt::Enqueue, ..HELD }, 1);
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), None);
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Early));
}

/// With k p' above 1, low-latency packets are dropped with p'^2 and marked otherwise, and classic packets that could be
/// marked are dropped.
#[test]
fn overload_drops_ect_packets_too() {
    let overload = DualPi2Config { decide: DecideAt::Enqueue, ..STRONG };
    let n = 100_000;
    for (mask, all_marked) in [(0b11, true), (0b01, false)] {
        let mut bench = held(DualPi2Config { ecn_mask: mask, ..overload }, 3);
        let mut drops = 0;
        for _ in 0..n {
            let verdict = bench.cycle(1500, Ecn::Ect0);
            match dropped(verdict) {
                Some(reason) => {
                    assert_eq!(reason, Reason::Early);
                    drops += 1;
                }
                None => assert_eq!(mark_of(verdict), all_marked.then_some(Reason::Coupled)),
            }
        }
        assert!(is_likely(drops, n, STRONG_P * STRONG_P), "{drops} with mask {mask:02b}");
    }
}

/// Without drops on overload p' stops at 1/k: every low-latency packet is marked, none dropped.
#[test]
fn overflow_instead_of_overload_keeps_ect_packets() {
    let config = DualPi2Config { drop_on_overload: false, decide: DecideAt::Enqueue, ..STRONG };
    let mut bench = held(config, 3);
    assert_eq!(bench.queue.probability(), Some(f64::from(u32::MAX / 2) / f64::from(u32::MAX)));
    // (2^31 - 1) * 2 = 2^32 - 2: one packet of 2^32 would not be marked.
    for _ in 0..10_000 {
        assert_eq!(mark_of(bench.cycle(1500, Ecn::Ect0)), Some(Reason::Coupled));
    }
}

#[test]
fn the_step_looks_at_the_packets_own_wait() {
    let mut bench = Bench::any(LINUX);
    for _ in 0..3 {
        assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), None);
    }
    bench.wait(Span::from_millis(1));
    assert_eq!(bench.send().1, None);
    // The clock counts nanoseconds.
    bench.wait(Span::from_picos(999));
    assert_eq!(bench.send().1, None);
    bench.wait(Span::from_picos(1));
    let (packet, mark) = bench.send();
    assert_eq!((packet.ecn, mark), (Ecn::Ce, Some(Reason::Threshold)));
}

/// `do_step_aqm` compares a threshold in packets with the queue that the packet leaves behind, and `min_qlen_step` with
/// the queue that it found on arrival.
#[test]
fn a_step_in_packets_counts_those_behind() {
    let step = |min_packets| NativeMarking::Step { threshold: Extent::Packets(2), min_packets };
    for (min_packets, expected) in
        [(0, [true, true, false, false, false]), (1, [false, true, false, false, false]), (4, [false; 5])]
    {
        let mut bench = Bench::any(DualPi2Config { native: step(min_packets), ..HELD });
        bench.arrivals(5, 1500, Ecn::Ect0);
        let marks: Vec<bool> = (0..5).map(|_| bench.send().1 == Some(Reason::Threshold)).collect();
        assert_eq!(marks, expected, "min_qlen_step {min_packets}");
    }
}

/// The ramp of [RFC 9332](https://www.rfc-editor.org/rfc/rfc9332): the likelihood is 0 up to a wait of 800 us, 1/2 at 1
/// ms and 1 from 1.2 ms on. Added up, a likelihood of 1/2 marks every other packet. A packet that is alone is not
/// marked.
#[test]
fn the_ramp_rises_with_the_wait() {
    let native =
        NativeMarking::Ramp { min: Span::from_micros(800), range: Span::from_micros(400), min_packets: 1 };
    let marks = |wait_us, packets: u32| -> Vec<bool> {
        let mut bench = Bench::any(DualPi2Config { native, tossing: Tossing::Recur, ..HELD });
        bench.arrivals(packets, 1500, Ecn::Ect1);
        bench.wait(Span::from_micros(wait_us));
        (0..packets).map(|_| bench.send().1 == Some(Reason::Threshold)).collect()
    };
    assert_eq!(marks(800, 5), [false; 5]);
    // Sums of 1/2 exceed one at the third packet (3/2), then go on with 1 and 3/2. The last packet is alone.
    assert_eq!(marks(1000, 7), [false, false, true, false, true, false, false]);
    // Each packet adds 2^32 - 1, which is not above one the first time.
    assert_eq!(marks(1200, 5), [false, true, true, true, false]);
    assert_eq!(marks(5000, 1), [false]);
}

/// As in RFC 9332 the larger of the native and the coupled likelihood decides, and gives the reason of the mark.
#[test]
fn the_larger_likelihood_marks() {
    let native = NativeMarking::Ramp { min: Span::ZERO, range: Span::from_secs(4), min_packets: 0 };
    let n = 20_000;
    for (wait, reason, p) in
        [(Span::from_secs(1), Reason::Coupled, 2.0 * HELD_P), (Span::from_secs(3), Reason::Threshold, 0.75)]
    {
        let scheduler = SchedulerConfig::StrictPriority;
        let mut bench = Bench::any(DualPi2Config { native, scheduler, limit: Extent::Unlimited, ..HELD });
        bench.arrivals(n, 1500, Ecn::Ect0);
        bench.advance_to(Time::ZERO + Span::from_secs(1));
        // The clock moves on without another update of the controller.
        bench.now = Time::ZERO + wait;
        let marks = (0..n).filter(|_| bench.send().1 == Some(reason)).count();
        assert!(is_likely(marks, n, p), "{marks} of {reason:?}");
    }
}

/// `dualpi2_qdisc_dequeue`: a packet that is dropped does not change the credit of the schedule.
#[test]
fn dropped_packets_are_not_charged() {
    // The classic queue has 80 %, so that it begins: the credit is 1500 * (80 - 20) = 90,000.
    let scheduler = SchedulerConfig::Weighted { classic_percent: 80 };
    let mut bench = certain(DualPi2Config { scheduler, ..HELD }, 6);
    let _ = bench.arrive(100, Ecn::Ect0);
    // Four classic packets are dropped; with a charge of 20 * 1500 for each the other queue would come after three.
    for _ in 0..4 {
        assert_dropped(&mut bench);
    }
    // The last two leave fewer than 3000 B behind and are sent.
    let sizes: Vec<u16> = (0..3).map(|_| bench.send().0.size).collect();
    assert_eq!(sizes, [1500, 1500, 100]);
}

#[test]
fn both_limits_count_both_queues() {
    let mut by_packets = Bench::any(DualPi2Config { limit: Extent::Packets(2), ..LINUX });
    let mut by_bytes = Bench::any(DualPi2Config { memory_limit_bytes: 3000, ..LINUX });
    for bench in [&mut by_packets, &mut by_bytes] {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            assert_eq!(dropped(bench.arrive(1500, ecn)), None);
        }
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            assert_eq!(dropped(bench.arrive(1, ecn)), Some(Reason::Buffer));
        }
    }
}

/// A product k p' of exactly one is not an overload yet: a classic ECT packet is marked, not dropped.
#[test]
fn a_certain_mark_is_not_an_overload() {
    let config = DualPi2Config { coupling: 1, drop_on_overload: false, ecn_mask: 0b01, ..HELD };
    let mut bench = certain(config, 2);
    for _ in 0..4 {
        assert_eq!(dropped(bench.arrive(1500, Ecn::Ect0)), None);
    }
    for _ in 0..2 {
        assert_dropped(&mut bench);
    }
    assert_eq!(bench.send().1, Some(Reason::Early));
}

/// Where the coupled likelihood is one already, the ramp adds nothing, and the coupling is the reason of the mark.
#[test]
fn the_ramp_is_the_reason_of_additional_marks_only() {
    let native = NativeMarking::Ramp { min: Span::ZERO, range: Span::from_millis(1), min_packets: 0 };
    let config = DualPi2Config {
        coupling: 1,
        native,
        drop_on_overload: false,
        scheduler: SchedulerConfig::StrictPriority,
        ..HELD
    };
    let mut bench = certain(config, 3);
    let _ = bench.arrive(1500, Ecn::Ect1);
    bench.wait(Span::from_millis(2));
    assert_eq!(bench.send().1, Some(Reason::Coupled));
}

/// Where the coupled probability is applied at arrivals, the ramp is still applied at departures, by itself.
#[test]
fn the_ramp_marks_departures_whenever_the_rest_decides() {
    let native = NativeMarking::Ramp { min: Span::ZERO, range: Span::from_millis(4), min_packets: 0 };
    let config = DualPi2Config { decide: DecideAt::Enqueue, native, tossing: Tossing::Recur, ..HELD };
    let mut bench = Bench::any(config);
    let mut marks = Vec::new();
    // A wait of half of the range gives sums of 0.5, 1, 1.5 (a mark), 1 (1.5 less one for the mark, and 0.5), 1.5 ...
    for _ in 0..5 {
        let _ = bench.arrive(1500, Ecn::Ect1);
        bench.wait(Span::from_millis(2));
        marks.push(bench.send().1);
    }
    let native = Some(Reason::Threshold);
    assert_eq!(marks, [None, None, native, None, native]);
    // Beyond the range marks are certain.
    let _ = bench.arrive(1500, Ecn::Ect1);
    bench.wait(Span::from_millis(4));
    assert_eq!(bench.send().1, native);
}

#[test]
fn without_a_wait_the_ramp_draws_no_random_number() {
    let native = NativeMarking::Ramp { min: Span::ZERO, range: Span::from_millis(4), min_packets: 0 };
    let mut bench = Bench::any(DualPi2Config { decide: DecideAt::Enqueue, native, ..HELD });
    let _ = bench.arrive(1500, Ecn::Ect1);
    let before = bench.draws();
    assert_eq!(bench.send().1, None);
    assert_eq!(bench.draws(), before);
}

/// `must_drop`: below two packets nothing is decided, so that no random number is drawn.
#[test]
fn small_backlogs_draw_no_random_number() {
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        let mut bench = Bench::any(HELD);
        bench.arrivals(2, 1500, ecn);
        assert_eq!(bench.send().1, None);
        assert_eq!(bench.draws(), 0, "{ecn:?}");
    }
}

#[test]
fn a_step_in_bytes_looks_at_what_is_left_behind() {
    let native = NativeMarking::Step { threshold: Extent::Bytes(3000), min_packets: 0 };
    let mut bench = Bench::any(DualPi2Config { native, ..HELD });
    bench.arrivals(4, 1500, Ecn::Ect0);
    let marks: Vec<_> = (0..4).map(|_| bench.send().1.is_some()).collect();
    // 4500, 3000, 1500 and 0 B behind.
    assert_eq!(marks, [true, false, false, false]);
}

/// 0.15 Hz is 38.4 / 256 Hz, of which tc keeps 38, and the kernel 38 (2^32 - 1) / 4 / 10^9 = 40.8, of which it keeps
/// 40: 40 * 10^9 / 64 / (2^32 - 1) = 0.14552 Hz. 3 Hz are 768, and 824.6, of which 824 are 2.9977 Hz.
#[test]
fn gains_that_act_are_rounded_twice() {
    let form = DualPi2Form::Mainline;
    for (gain_256th_hz, acting) in [(38, 0.145_519), (768, 2.997_694), (41, 0.160_071), (819, 3.197_783)] {
        let measured = DualPi2Config::acting_gain_hz(gain_256th_hz, form);
        assert!((measured - acting).abs() < 1e-6, "{gain_256th_hz}: {measured}");
    }
    // What acts is what a controller adds: 10 ms above the target are 0.01 s times the gain, in one update.
    let mut pi = super::Pi::new(form, 15_000_000, 38, 0, None);
    pi.update(25_000_000);
    let added = f64::from(pi.probability()) / f64::from(u32::MAX);
    assert!((added - 0.01 * DualPi2Config::acting_gain_hz(38, form)).abs() < 1e-9, "{added}");
}
