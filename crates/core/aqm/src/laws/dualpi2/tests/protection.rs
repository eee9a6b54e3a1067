//! Queue protection in front of the two queues.

use super::HELD;
use crate::testing::bench::{Bench, LINE, mark_of};
use crate::{
    AnyQueue, DecideAt, DelayRampConfig, DualPi2Config, Extent, NativeMarking, ProtectionConfig, Queue,
    Reason, SchedulerConfig,
};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

/// On the bench's line of 10 Mbit/s: from 3 ms on everything counts.
const PROTECTION: ProtectionConfig = ProtectionConfig {
    ramp: DelayRampConfig { max: Span::from_millis(3), range: Span::from_millis(1), floor_bytes: 0 },
    ..ProtectionConfig::RFC_9957
};
/// Priority shows the queue: a packet that was redirected leaves behind all others.
const PROTECTED: DualPi2Config = DualPi2Config {
    ecn_mask: 0b01,
    scheduler: SchedulerConfig::StrictPriority,
    protection: Some(PROTECTION),
    ..HELD
};

fn sizes(bench: &mut Bench<AnyQueue>, count: usize) -> Vec<u16> {
    (0..count).map(|_| bench.send().0.size).collect()
}

/// Packets of 1500 B make the queue 1.2, 2.4, 3.6, 4.8 ms long, of which 0.4 of the second and all of the next ones
/// count: scores of 0, 1.23, 4.30, 7.37 ms. Critical is 12 ms ms: 3.6 x 4.30 = 15.5 is above it. Whoever is
/// redirected makes the queue no longer, so that the next packet meets 3.6 ms as well.
#[test]
fn a_flow_that_builds_a_queue_goes_to_the_classic_one() {
    let mut bench = Bench::any(PROTECTED);
    for size in [1500, 1500, 1499, 1498] {
        let _ = bench.arrive_of(1, size, Ecn::Ect1);
    }
    assert_eq!(bench.queue.redirected(), 2);
    // Another flow has no score yet: its packet of 100 B makes 2.48 ms, adds 0.1 ms, and overtakes.
    let _ = bench.arrive_of(2, 100, Ecn::Ect1);
    assert_eq!(sizes(&mut bench, 5), [1500, 1500, 100, 1499, 1498]);
    assert_eq!(bench.queue.redirected(), 2);
}

#[test]
fn without_protection_nothing_is_redirected() {
    let mut bench = Bench::any(DualPi2Config { protection: None, ..PROTECTED });
    bench.arrivals(100, 1500, Ecn::Ect1);
    assert_eq!((bench.queue.redirected(), bench.draws()), (0, 0));
}

/// The step for packets that met others follows each packet, also if some of them went to the other queue.
#[test]
fn the_step_keeps_to_its_packets() {
    let native = NativeMarking::Step { threshold: Extent::Time(Span::from_millis(1)), min_packets: 2 };
    let mut bench = Bench::any(DualPi2Config { native, ..PROTECTED });
    for flow in [1, 1, 1, 1, 2] {
        let _ = bench.arrive_of(flow, 1500, Ecn::Ect1);
    }
    assert_eq!(bench.queue.redirected(), 2);
    bench.wait(Span::from_millis(2));
    // The third packet in L is flow 2's: it met two.
    let marks = [(); 3].map(|()| bench.send().1);
    assert_eq!(marks, [None, None, Some(Reason::Threshold)]);
    // The next one meets none, although packets that met two still wait in the classic queue.
    let _ = bench.arrive_of(2, 1500, Ecn::Ect1);
    bench.wait(Span::from_millis(2));
    let marks = [(); 3].map(|()| bench.send().1);
    assert_eq!(marks, [None; 3]);
}

/// The law of the classic queue has the packet, on arrival or on departure, whenever it is that it decides.
#[test]
fn what_is_redirected_is_under_the_classic_law() {
    for decide in [DecideAt::Enqueue, DecideAt::Dequeue] {
        let native = NativeMarking::Step { threshold: Extent::Unlimited, min_packets: 0 };
        let config = DualPi2Config { decide, native, beta_256th_hz: 192, coupling: 1, ..PROTECTED };
        let mut bench = Bench::any(config);
        bench.arrivals(3, 1500, Ecn::NotEct);
        bench.advance_to(Time::ZERO + Span::from_secs(2));
        assert_eq!(bench.queue.probability(), Some(1.0));
        let of_arrivals = [(); 4].map(|()| mark_of(bench.arrive_of(1, 1500, Ecn::Ect1)));
        let (low, classic) = match decide {
            DecideAt::Enqueue => (Some(Reason::Coupled), Some(Reason::Early)),
            DecideAt::Dequeue => (None, None),
        };
        assert_eq!(of_arrivals, [low, low, classic, classic]);
        assert_eq!(bench.queue.redirected(), 2);
        // The two of seven packets that are left in L go first, marked by the coupling.
        let mut marks = Vec::new();
        loop {
            match bench.take() {
                crate::Dequeued::Packet { packet, mark, .. } => marks.push((packet.ecn, mark)),
                crate::Dequeued::Dropped { .. } => {}
                _ => break,
            }
        }
        let ce = marks.iter().filter(|(ecn, _)| *ecn == Ecn::Ce).count();
        match decide {
            // All four were marked on arrival: two as low-latency, two as classic ones.
            DecideAt::Enqueue => assert_eq!((marks.len(), ce), (7, 4)),
            // Classic ones are dropped with p'^2 = 1 while two packets wait behind; the last two are spared.
            DecideAt::Dequeue => {
                assert_eq!(&marks[..2], [(Ecn::Ce, Some(Reason::Coupled)); 2]);
                assert_eq!((marks.len(), ce), (4, 2));
            }
        }
    }
}

/// The RFC's parameters on the bench's line: two frames are 3.2 ms, so that nothing counts below, and the critical
/// delay is
/// 3.72 ms. A flow that sends twice what the line takes makes the queue at most that long, since its score is high
/// soon; the packets of 750 B of a flow of 1 % (one in 60 ms) then meet at most 3.72 and their own 0.6 ms, and their
/// score is 1.54 ms:
/// 6.7 ms ms, below the critical 14.9. So none of them is redirected. Of the other flow's 20 Mbit/s the low-latency
/// queue takes at most the line's 10: at least half is redirected, but for the first packets.
#[test]
fn a_paced_flow_keeps_its_queue_beside_one_that_builds_it() {
    let protection = Some(ProtectionConfig::RFC_9957);
    let config = DualPi2Config { ecn_mask: 0b01, protection, limit: Extent::Unlimited, ..HELD };
    let mut bench = Bench::any(DualPi2Config { beta_256th_hz: 0, ..config });
    let (mut free, mut paced, mut building) = (Time::ZERO, 0, 0);
    for tick in 0..30_000u64 {
        bench.now = Time::ZERO + Span::from_micros(600 * tick);
        let before = bench.queue.redirected();
        let _ = bench.arrive_of(1, 1500, Ecn::Ect1);
        building += bench.queue.redirected() - before;
        if tick % 100 == 0 {
            let before = bench.queue.redirected();
            let _ = bench.arrive_of(2, 750, Ecn::Ect1);
            paced += bench.queue.redirected() - before;
        }
        while free <= bench.now {
            free = bench.now + LINE.time_for(bench.send().0.size.into());
        }
    }
    assert_eq!(paced, 0);
    assert!(building > 14_900, "{building}");
}
