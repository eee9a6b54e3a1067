//! GRED: virtual queues in one FIFO, to the integer.

use crate::testing::bench::{Bench, LINE, LINUX_RED, dropped, dual_red_of, mark_of};
use crate::{
    AverageScope, Class, GRED_QUEUES, Gred, GredConfig, GredMode, GredQueueConfig, LawConfig, LinuxRedConfig,
    MarkSpacing, Queue, Reason, RedParameters, Single, TcError, Verdict,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Stream};

/// 30 kB to 90 kB, avpkt 1500, burst 55: Wlog 6.
const RED: LinuxRedConfig = LINUX_RED;
/// Thresholds that no backlog here reaches, with the same weight.
const OUT_OF_REACH: LinuxRedConfig =
    LinuxRedConfig { min_bytes: 200_000, max_bytes: 400_000, burst_packets: 180, ..RED };

/// Packets without ECN capability belong to virtual queue 0, others to 1.
fn config(not_ect: LinuxRedConfig, ect: LinuxRedConfig, grio: bool, priorities: [u8; 2]) -> GredConfig {
    let mut queues = [None; GRED_QUEUES];
    queues[0] = Some(GredQueueConfig { red: not_ect, priority: priorities[0] });
    queues[1] = Some(GredQueueConfig { red: ect, priority: priorities[1] });
    GredConfig { limit_bytes: 1_000_000, grio, queues, queue_of: [0, 1, 1, 1] }
}

fn bench(config: &GredConfig) -> Bench<Single<Gred>> {
    Bench::new(*config.build(LINE).unwrap())
}

/// WRED with the profile `red` for both classes.
fn wred(red: LinuxRedConfig) -> Bench<Single<Gred>> {
    bench(&config(red, red, true, [8, 8]))
}

/// The average for packets with a codepoint.
fn average_for(bench: &Bench<Single<Gred>>, ecn: Ecn) -> Option<f64> {
    bench.queue.law().average_bytes_for(ecn)
}

/// The averages for packets that are not ECT and for those that are, scaled by 2^6.
fn scaled(bench: &Bench<Single<Gred>>) -> (u64, u64) {
    let scaled = |ecn| (average_for(bench, ecn).unwrap() * 64.0) as u64;
    (scaled(Ecn::NotEct), scaled(Ecn::Ect0))
}

#[test]
fn equal_priorities_make_it_wred() {
    let mode = |grio, priorities| config(RED, RED, grio, priorities).mode();
    assert_eq!(mode(false, [8, 8]), GredMode::Separate);
    assert_eq!(mode(true, [8, 8]), GredMode::Wred);
    assert_eq!(mode(true, [1, 2]), GredMode::Rio);
    // Two equal priorities among three are enough.
    let mut three = config(RED, RED, true, [1, 2]);
    three.queues[3] = Some(GredQueueConfig { red: RED, priority: 1 });
    assert_eq!(three.mode(), GredMode::Wred);
}

#[test]
fn a_virtual_queue_that_tc_refuses_is_refused() {
    let refused = config(RED, LinuxRedConfig { burst_packets: 1, ..RED }, true, [8, 8]);
    assert_eq!(refused.build(LINE).unwrap_err(), TcError::Burst { given: 1, recommended: 21 });
}

/// In WRED every arrival adds the whole backlog to the average: 0, 1500, 1500 + 3000 - 23 = 4477, 4477 + 4500 - 69 =
/// 8908.
#[test]
fn wred_averages_the_whole_queue_for_all() {
    let mut bench = wred(RED);
    for (ecn, average) in [(Ecn::NotEct, 0), (Ecn::Ect0, 1500), (Ecn::Ect0, 4477), (Ecn::NotEct, 8908)] {
        let _ = bench.arrive(1500, ecn);
        assert_eq!(scaled(&bench), (average, average));
    }
}

/// Separate virtual queues count their own packets: the ECT packets find 0, then 1500, and so do the others.
#[test]
fn separate_queues_average_their_own_packets() {
    let mut bench = bench(&config(RED, RED, false, [8, 8]));
    for (ecn, averages) in [
        (Ecn::NotEct, (0, 0)),
        (Ecn::Ect0, (0, 0)),
        (Ecn::Ect0, (0, 1500)),
        (Ecn::NotEct, (1500, 1500)),
        // 1500 + 3000 - 23.
        (Ecn::NotEct, (4477, 1500)),
    ] {
        let _ = bench.arrive(1500, ecn);
        assert_eq!(scaled(&bench), averages);
    }
}

/// RIO: priority 1 (not ECT, thresholds out of reach) takes its own average, priority 2 (ECT) the sum of both: with
/// 46,500 B in each, ECT packets find an average above the maximum of 90,000 B, while that of their own queue lies
/// between the thresholds.
#[test]
fn rio_adds_the_averages_that_come_first() {
    assert_eq!(OUT_OF_REACH.solve().unwrap().wlog, 6);
    let mut bench = bench(&config(OUT_OF_REACH, RED, true, [1, 2]));
    for _ in 0..31 {
        let _ = bench.arrive(1500, Ecn::NotEct);
        let _ = bench.arrive(1500, Ecn::Ect0);
    }
    for _ in 0..1500 {
        assert_eq!(mark_of(bench.cycle(1500, Ecn::NotEct)), None);
        let _ = bench.cycle(1500, Ecn::Ect0);
    }
    let (first, second) = scaled(&bench);
    assert!(second < 47_000 * 64 && first + second >= 90_000 * 64, "{first} {second}");
    assert_eq!(mark_of(bench.arrive(1500, Ecn::Ect0)), Some(Reason::Forced));
    // Once all packets of the first queue have left it is idle and does not count: a mark is not forced any more.
    while bench.queue.class_backlog(Class::NotEct).packets > 0 {
        let _ = bench.take();
        let _ = bench.arrive(1500, Ecn::Ect0);
    }
    assert_eq!(scaled(&bench).0, first);
    assert_ne!(mark_of(bench.arrive(1500, Ecn::Ect0)), Some(Reason::Forced));
}

/// The idle time begins when the last packet leaves the queue, not when it has been transmitted.
#[test]
fn idle_time_begins_when_the_last_packet_leaves() {
    let mut bench = wred(RED);
    bench.arrivals(4, 1500, Ecn::NotEct);
    bench.transmit_all();
    let (before, _) = scaled(&bench);
    assert_eq!(before, 8908);
    // Four packets take 1.2 ms each; the last one left 1.2 ms ago. 1500 B at 10 Mbit/s = 1200 us = 18,750 ticks;
    // ln(64/63)/18,750 = 8.4e-7 a tick, 31 of it in 3.69e7, / 2^17 = 281 < 512: Scell_log 17. 2.4 ms: 8908 * 2400 >> 17
    // = 163.
    assert_eq!(RED.solve().unwrap().scell_log, 17);
    bench.wait(Span::from_micros(1200));
    let _ = bench.arrive(1500, Ecn::Ect0);
    assert_eq!(scaled(&bench), (8908 - 163, 8908 - 163));
}

#[test]
fn a_drop_on_an_empty_queue_ends_the_idle_time() {
    // 4 + 1 - 2 = 3 <= (1 - (7/8)^4) 8 = 3.3: Wlog 3.
    let tight = LinuxRedConfig { min_bytes: 3000, max_bytes: 6000, burst_packets: 4, ..RED };
    let mut bench = wred(tight);
    while bench.queue.average_bytes().unwrap() < 30_000.0 {
        let _ = bench.arrive(60_000, Ecn::Ect0);
    }
    bench.transmit_all();
    bench.wait(Span::from_micros(10));
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Forced));
    assert_eq!(tight.solve().unwrap().wlog, 3);
    let average = bench.queue.average_bytes().unwrap();
    // However long the line is idle, the next arrival only adds a backlog of 0.
    bench.wait(Span::from_secs(100));
    assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), Some(Reason::Forced));
    let kept = bench.queue.average_bytes().unwrap() / average;
    assert!((kept - 7.0 / 8.0).abs() < 1e-4, "{kept}");
}

/// The limit of a virtual queue bounds the whole backlog in WRED, else that of the virtual queue. It comes after the
/// law, and the limit of the whole queue is an upper bound of it.
#[test]
fn limits_come_after_the_law() {
    let small = LinuxRedConfig { limit_bytes: 4000, max_bytes: 90_000, ..RED };
    let accepted = |grio| {
        let mut bench = bench(&config(RED, small, grio, [8, 8]));
        let _ = bench.arrive(3000, Ecn::NotEct);
        dropped(bench.arrive(1500, Ecn::Ect0))
    };
    assert_eq!(accepted(true), Some(Reason::Buffer));
    assert_eq!(accepted(false), None);
    let capped = GredConfig { limit_bytes: 2000, ..config(RED, RED, true, [8, 8]) };
    let mut bench = bench(&capped);
    assert_eq!(dropped(bench.arrive(2000, Ecn::Ect0)), None);
    assert_eq!(dropped(bench.arrive(1, Ecn::Ect0)), Some(Reason::Buffer));
}

/// Packets with a codepoint that has no virtual queue are dropped at the limit of the whole queue only; they neither
/// begin nor end idle times.
#[test]
fn packets_without_a_virtual_queue_pass() {
    let mut only_ect = config(RED, RED, true, [8, 8]);
    only_ect.queues[0] = None;
    only_ect.limit_bytes = 3000;
    let mut bench = bench(&only_ect);
    assert_eq!(mark_of(bench.arrive(3000, Ecn::NotEct)), None);
    assert_eq!(dropped(bench.arrive(1, Ecn::NotEct)), Some(Reason::Buffer));
    assert_eq!(bench.queue.average_bytes(), None);
    assert_eq!(average_for(&bench, Ecn::Ect0), Some(0.0));
    assert_eq!(bench.draws(), 0);
}

#[test]
fn ecn_and_harddrop_belong_to_a_virtual_queue() {
    let verdict = |red: LinuxRedConfig| {
        let mut bench = wred(red);
        // Packets of 60,000 B lift the average, with Wlog 6, above 90,000 B.
        while bench.queue.average_bytes().unwrap() < 100_000.0 {
            let _ = bench.arrive(60_000, Ecn::Ect0);
            assert!(bench.queue.backlog().packets < 1000);
        }
        bench.arrive(1, Ecn::Ect0)
    };
    assert_eq!(verdict(RED), Verdict::Queued { mark: Some(Reason::Forced) });
    assert_eq!(verdict(LinuxRedConfig { harddrop: true, ..RED }), Verdict::Dropped(Reason::Forced));
    assert_eq!(verdict(LinuxRedConfig { ecn: false, ..RED }), Verdict::Dropped(Reason::Forced));
}

/// Random arrivals and departures that keep 5 to 80 packets waiting; `step` takes the codepoint of an arrival, or
/// `None` for a departure, and returns how many packets wait.
fn script(seed: u64, steps: u32, mut step: impl FnMut(Option<Ecn>) -> u32) {
    let mut script = Stream::new(seed, "script");
    let mut waiting = 0;
    for _ in 0..steps {
        // Slow swings, so that every zone is visited.
        let arrivals = match waiting {
            0..=5 => 16,
            6..=80 => 8,
            _ => 0,
        };
        waiting = if script.uniform_u32() % 16 < arrivals {
            step(Some([Ecn::NotEct, Ecn::Ect0][(script.uniform_u32() & 1) as usize]))
        } else {
            step(None)
        };
    }
}

/// While the queue never runs empty, a single virtual queue is exactly linux-red: every verdict and every integer is
/// the same.
#[test]
fn one_virtual_queue_is_linux_red_while_nothing_is_idle() {
    let mut gred = wred(RED);
    let mut red = Bench::of(RED);
    let mut acted = 0;
    script(3, 200_000, |arrival| {
        if arrival.is_some() {
            let verdict = gred.arrive(1500, Ecn::Ect0);
            assert_eq!(verdict, red.arrive(1500, Ecn::Ect0));
            acted += u32::from(verdict != Verdict::Queued { mark: None });
            assert_eq!(gred.queue.average_bytes(), red.queue.average_bytes());
        } else {
            let _ = (gred.take(), red.take());
        }
        gred.queue.backlog().packets
    });
    assert!(acted > 1000, "{acted}");
    assert_eq!(gred.draws(), red.draws());
}

/// The average that virtual queues share in WRED is that of linux-red for the packets of all of them.
#[test]
fn the_shared_average_is_that_of_linux_red() {
    let mut gred = wred(OUT_OF_REACH);
    let mut red = Bench::of(OUT_OF_REACH);
    script(4, 50_000, |arrival| {
        if let Some(ecn) = arrival {
            assert_eq!(gred.arrive(1500, ecn), red.arrive(1500, ecn));
            assert_eq!(average_for(&gred, ecn), red.queue.average_bytes());
        } else {
            let _ = (gred.take(), red.take());
        }
        gred.queue.backlog().packets
    });
}

/// Dual RED with a shared average is WRED in floating point, here with the same arrivals, thresholds and weight 2^-6.
/// The averages differ by the bits that the kernel cuts off: (avg >> 6) loses less than 1 in each step of 1/64, so less
/// than a byte. Marks and drops agree within their statistical error, as both count the packets of each class by
/// themselves, with gaps that are uniform on 1..1/p.
#[test]
fn wred_agrees_with_dual_red() {
    let parameters = RedParameters {
        min_bytes: 30_000.0,
        max_bytes: 90_000.0,
        max_probability: 0.1,
        weight: 1.0 / 64.0,
        gentle: false,
        spacing: MarkSpacing::Uniformised,
    };
    let mut dual = Bench::of(dual_red_of(parameters, parameters, AverageScope::Shared));
    let mut wred = wred(RED);
    let (mut marks, mut drops) = ([0u32; 2], [0u32; 2]);
    script(5, 400_000, |arrival| {
        let Some(ecn) = arrival else {
            let _ = (wred.take(), dual.take());
            return wred.queue.backlog().packets;
        };
        let verdicts = [wred.arrive(1500, ecn), dual.arrive(1500, ecn)];
        for (n, verdict) in verdicts.into_iter().enumerate() {
            match verdict {
                Verdict::Queued { mark } => marks[n] += u32::from(mark.is_some()),
                Verdict::Dropped(_) => drops[n] += 1,
                Verdict::Displaced => panic!("no packet is displaced"),
            }
        }
        if let [Verdict::Dropped(_), Verdict::Queued { .. }] | [Verdict::Queued { .. }, Verdict::Dropped(_)] =
            verdicts
        {
            // The queue that took the packet sends one more, so that both hold the same bytes.
            let _ = if matches!(verdicts[0], Verdict::Dropped(_)) { dual.take() } else { wred.take() };
        }
        assert_eq!(wred.queue.backlog().bytes, dual.queue.backlog().bytes);
        let average = wred.queue.average_bytes().unwrap();
        let other = dual.queue.law().class_average_bytes(Class::NotEct);
        assert!((average - other).abs() <= 1.0, "{average} {other}");
        wred.queue.backlog().packets
    });
    for (name, [one, other]) in [("marks", marks), ("drops", drops)] {
        assert!(one > 1000, "{name}: {one}");
        let sigma = f64::from(one + other).sqrt();
        assert!((f64::from(one) - f64::from(other)).abs() < 4.0 * sigma, "{name}: {one} {other}");
    }
}

/// Virtual queues with different weights read the same integer: as 64 times the average, and as 4 times the average.
#[test]
fn wred_queues_must_agree_on_the_weight() {
    let fast = LinuxRedConfig { min_bytes: 30_000, max_bytes: 31_500, burst_packets: 21, ..RED };
    assert_eq!((RED.solve().unwrap().wlog, fast.solve().unwrap().wlog), (6, 2));
    let mut bench = bench(&config(RED, fast, true, [8, 8]));
    bench.arrivals(2, 1600, Ecn::NotEct);
    assert_eq!(average_for(&bench, Ecn::NotEct), Some(25.0));
    assert_eq!(average_for(&bench, Ecn::Ect0), Some(400.0));
}

#[test]
fn nothing_is_drawn_below_the_thresholds() {
    let mut bench = wred(RED);
    for _ in 0..1000 {
        assert_eq!(mark_of(bench.cycle(1500, Ecn::Ect0)), None);
    }
    assert_eq!(bench.draws(), 0);
}
