//! Fair queueing with CoDel: of which flow a packet leaves, and which flow loses packets at the limit.

use crate::testing::bench::{Bench, LINE, mark_of};
use crate::{
    CeThresholdFor, CodelParameters, Dequeued, Extent, FlowQueues, FqCodel, FqCodelConfig, LawConfig, Queue,
    Reason, Tunnels, Verdict,
};
use shoal_packet::{Ecn, FlowId, Packet};
use shoal_units::Span;

const CONFIG: FqCodelConfig = FqCodelConfig {
    law: CodelParameters {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: true,
        ce_threshold: None,
        ce_threshold_for: CeThresholdFor::Ect,
        mtu_bytes: 1500,
    },
    flows: FlowQueues::PerFlow,
    quantum_bytes: 1500,
    limit: Extent::Packets(10_240),
    memory_limit_bytes: 32 << 20,
    drop_batch: 64,
};

fn bench(config: FqCodelConfig) -> Bench<FqCodel> {
    Bench::new(*config.build(LINE).unwrap())
}

fn next(bench: &mut Bench<FqCodel>) -> Option<Packet> {
    match bench.take() {
        Dequeued::Packet { packet, .. } => Some(packet),
        Dequeued::Empty | Dequeued::Held { .. } => None,
        Dequeued::Dropped { .. } => panic!("nothing is late"),
    }
}

/// Packets of 1500 B arrive, each of the flow with the given number.
fn arrive_of_each(bench: &mut Bench<FqCodel>, flows: &[u32]) {
    for &flow in flows {
        let _ = bench.arrive_of(flow, 1500, Ecn::NotEct);
    }
}

/// Flow numbers of the next `n` packets.
fn flows(bench: &mut Bench<FqCodel>, n: usize) -> Vec<u32> {
    (0..n).filter_map(|_| next(bench)).map(|packet| packet.flow.0).collect()
}

/// The waiting packets that the last arrival displaced.
fn displaced(bench: &mut Bench<FqCodel>) -> Vec<Packet> {
    core::iter::from_fn(|| bench.queue.take_displaced())
        .map(|(packet, reason)| {
            assert_eq!(reason, Reason::Buffer);
            packet
        })
        .collect()
}

/// The quantum is 1500 B. Flow 0 with packets of 1500 B sends one a turn, flow 1 with packets of 500 B three. Flow 2
/// with packets of 1000 B sends two in its first turn (its deficit is 1500, 500, -500), then, with 1000 B left, one,
/// and so on.
#[test]
fn flows_take_turns_by_bytes() {
    let mut bench = bench(CONFIG);
    for _ in 0..9 {
        for (flow, size) in [(0, 1500), (1, 500), (2, 1000)] {
            assert_eq!(mark_of(bench.arrive_of(flow, size, Ecn::NotEct)), None);
        }
    }
    assert_eq!(flows(&mut bench, 14), [0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2, 0, 1, 1]);
}

/// Flow 0 has packets of 700 B, so that its deficit is 1500, 800, 100, -600; then it is an old flow with 900, 200. A
/// packet of flow 1 then leaves next, because its queue is new, and uses up its quantum. The second packet of flow 1,
/// right behind it, waits until flow 0 has used up its turn (200, -500). Then flow 0 has 1000, 300, -400. When it is
/// the turn of flow 1 and it has no packet, it leaves the list of old flows, so that it is a new flow again.
#[test]
fn a_sparse_flow_goes_first() {
    let mut bench = bench(CONFIG);
    for _ in 0..12 {
        let _ = bench.arrive_of(0, 700, Ecn::NotEct);
    }
    assert_eq!(flows(&mut bench, 4), [0, 0, 0, 0]);
    let _ = bench.arrive_of(1, 1500, Ecn::NotEct);
    assert_eq!(flows(&mut bench, 1), [1]);
    let _ = bench.arrive_of(1, 1500, Ecn::NotEct);
    assert_eq!(flows(&mut bench, 4), [0, 1, 0, 0]);
    assert_eq!(flows(&mut bench, 1), [0]);
    let _ = bench.arrive_of(1, 1500, Ecn::NotEct);
    assert_eq!(flows(&mut bench, 2), [1, 0]);
}

/// A new queue that runs empty stays in a list, as it could otherwise come back as new at once and starve the others:
/// it becomes old with what is left of its quantum.
#[test]
fn a_new_queue_that_ran_empty_waits_once_behind_the_old() {
    let mut bench = bench(CONFIG);
    arrive_of_each(&mut bench, &[0; 10]);
    assert_eq!(flows(&mut bench, 2), [0, 0]);
    let _ = bench.arrive_of(1, 200, Ecn::NotEct);
    assert_eq!(flows(&mut bench, 1), [1]);
    // It has 1300 B left but nothing to send, so that it moves to the list of old flows, behind flow 0.
    assert_eq!(flows(&mut bench, 1), [0]);
    // As flow 1 is old, this packet comes after the turn of flow 0 that has begun.
    let _ = bench.arrive_of(1, 200, Ecn::NotEct);
    assert_eq!(flows(&mut bench, 2), [1, 0]);
}

/// By the time that the line is idle the kernel has emptied its lists; then both flows are new again, with full quanta,
/// in the order of their arrival.
#[test]
fn an_idle_line_forgets_old_and_new() {
    let mut bench = bench(CONFIG);
    arrive_of_each(&mut bench, &[0, 1]);
    assert_eq!(flows(&mut bench, 2), [0, 1]);
    // 1500 B take 1.2 ms; at 1.2 ms the line is free.
    bench.wait(Span::from_micros(1200));
    for flow in [1, 0, 1, 0] {
        let _ = bench.arrive_of(flow, 700, Ecn::NotEct);
    }
    assert_eq!(flows(&mut bench, 4), [1, 1, 0, 0]);
    // The line is not free yet, so that flow 0 is still in its list, with 100 B of its quantum; flow 1 was found empty
    // before.
    arrive_of_each(&mut bench, &[1, 0]);
    assert_eq!(flows(&mut bench, 2), [0, 1]);
}

/// Flow 1 has 300 packets of 1000 B, flow 0 has 100. The 401st packet exceeds the limit: flow 1, which has most bytes
/// waiting, loses packets from its head until half of its bytes (150 packets) or 64 packets are dropped.
#[test]
fn the_fattest_flow_is_cut_in_batches_from_its_head() {
    let mut bench = bench(FqCodelConfig { limit: Extent::Packets(400), ..CONFIG });
    for n in 0..400u32 {
        let flow = u32::from(n % 4 != 0);
        let packet = Packet { ts_val: n, ..Packet::empty(FlowId(flow), 1000) };
        assert_eq!(mark_of(bench.queue.enqueue(&packet, bench.now, &mut bench.random)), None);
    }
    assert_eq!(bench.arrive_of(0, 1000, Ecn::NotEct), Verdict::Displaced);
    let cut = displaced(&mut bench);
    let expected: Vec<u32> = (0..400).filter(|n| n % 4 != 0).take(64).collect();
    assert_eq!(cut.iter().map(|packet| packet.ts_val).collect::<Vec<_>>(), expected);
    assert!(cut.iter().all(|packet| packet.flow == FlowId(1)));
    assert_eq!(bench.queue.backlog().packets, 401 - 64);
    assert_eq!(bench.queue.backlog().bytes, (401 - 64) * 1000);
}

/// Half of 5000 B is 2500 B, which the third packet of 1000 B reaches.
#[test]
fn a_small_fat_flow_loses_half() {
    let mut bench = bench(FqCodelConfig { limit: Extent::Packets(6), ..CONFIG });
    for flow in [0, 1, 1, 1, 1, 1] {
        assert_eq!(mark_of(bench.arrive_of(flow, 1000, Ecn::NotEct)), None);
    }
    assert_eq!(bench.arrive_of(2, 100, Ecn::NotEct), Verdict::Displaced);
    assert_eq!(displaced(&mut bench).len(), 3);
    // Of equal flows the one with the lowest number loses packets, as in the kernel. Flows 1 and 3 have 2000 B each.
    for (flow, size) in [(3, 1000), (3, 1000), (4, 1)] {
        let verdict = bench.arrive_of(flow, size, Ecn::NotEct);
        if verdict == Verdict::Displaced {
            let cut = displaced(&mut bench);
            assert_eq!((flow, cut.len(), cut[0].flow), (4, 1, FlowId(1)));
        }
    }
}

/// The packet that arrives may be the one that is dropped, if it alone exceeds the memory.
#[test]
fn memory_is_limited_in_bytes() {
    let mut bench = bench(FqCodelConfig { memory_limit_bytes: 4000, ..CONFIG });
    assert_eq!(mark_of(bench.arrive_of(0, 4000, Ecn::NotEct)), None);
    assert_eq!(bench.arrive_of(1, 1, Ecn::NotEct), Verdict::Displaced);
    assert_eq!(displaced(&mut bench)[0].size, 4000);
    assert_eq!(bench.arrive_of(2, 5000, Ecn::NotEct), Verdict::Displaced);
    assert_eq!(displaced(&mut bench)[0].size, 5000);
    assert_eq!(bench.queue.backlog().packets, 1);
}

/// Each flow has a CoDel of its own: packets of flow 0 wait for 300 ms and are marked, those of flow 1 leave at once
/// and are not.
#[test]
fn every_queue_has_its_own_law() {
    let mut bench = bench(CONFIG);
    for _ in 0..40 {
        let _ = bench.arrive_of(0, 1500, Ecn::Ect0);
    }
    let mut marks = [0, 0];
    for _ in 0..300 {
        for flow in [0, 1] {
            let _ = bench.arrive_of(flow, 1500, Ecn::Ect0);
        }
        for _ in 0..2 {
            let Dequeued::Packet { packet, mark, .. } = bench.take() else { panic!("packets wait") };
            marks[packet.flow.0 as usize] += u32::from(mark == Some(Reason::Sojourn));
            bench.wait(Span::from_micros(1200));
        }
    }
    assert!(marks[0] > 5 && marks[1] == 0, "{marks:?}");
}

/// Two flows in one queue share its turns instead of taking turns with each other.
#[test]
fn flows_that_collide_share_a_queue() {
    let mut bench = bench(FqCodelConfig { flows: FlowQueues::Hashed(1), ..CONFIG });
    arrive_of_each(&mut bench, &[7, 7, 7, 9, 9]);
    assert_eq!(flows(&mut bench, 5), [7, 7, 7, 9, 9]);
    // One random number was drawn: the key of the hash.
    assert_eq!(bench.draws(), 1);
}

/// `fq_codel_change` raises smaller quanta to 256 B, which is two packets of 200 B a turn.
#[test]
fn a_quantum_has_256_bytes_at_least() {
    let mut bench = bench(FqCodelConfig { quantum_bytes: 1, ..CONFIG });
    for _ in 0..4 {
        for flow in [0, 1] {
            let _ = bench.arrive_of(flow, 200, Ecn::NotEct);
        }
    }
    assert_eq!(flows(&mut bench, 4), [0, 0, 1, 1]);
}

/// A thousand flows that are idle again are not served: the next packet of one of them leaves at once.
#[test]
fn idle_flows_are_not_served() {
    let mut bench = bench(FqCodelConfig { flows: FlowQueues::Hashed(1024), ..CONFIG });
    for flow in 0..1000 {
        let _ = bench.arrive_of(flow, 40, Ecn::NotEct);
    }
    assert_eq!(flows(&mut bench, 1000).len(), 1000);
    assert!(next(&mut bench).is_none());
    let _ = bench.arrive_of(5, 40, Ecn::NotEct);
    assert_eq!(flows(&mut bench, 2), [5]);
}

/// Flows 0 to 2 go through one tunnel, 4 and 5 through another: they take turns with flow 3 as one flow each, in the
/// order of their arrival, whether queues are hashed or not.
#[test]
fn flows_of_a_tunnel_have_one_queue() {
    for classifier in [FlowQueues::PerFlow, FlowQueues::Hashed(65_536)] {
        let mut bench = bench(FqCodelConfig { flows: classifier, ..CONFIG });
        bench.queue.set_tunnels(&Tunnels::new([0, 0, 0, 3, 4, 4].into()));
        // Flow 6 is beyond the end: it is seen as itself.
        arrive_of_each(&mut bench, &[0, 1, 2, 1, 3, 3, 4, 5, 5, 4, 6]);
        assert_eq!(flows(&mut bench, 11), [0, 3, 4, 6, 1, 3, 5, 2, 5, 1, 4]);
    }
}

/// One queue for all and one for each flow have the CE threshold on a packet's own wait.
#[test]
fn the_ce_threshold_looks_at_the_packets_own_wait_in_any_queue() {
    for classifier in [FlowQueues::Hashed(1), FlowQueues::PerFlow] {
        let law = CodelParameters {
            ce_threshold: Some(Span::from_millis(1)),
            ce_threshold_for: CeThresholdFor::ECT1,
            ..CONFIG.law
        };
        let mut bench = bench(FqCodelConfig { law, flows: classifier, ..CONFIG });
        for ecn in [Ecn::Ect1, Ecn::Ect0] {
            let _ = bench.arrive_of(u32::from(ecn.bits()), 1500, ecn);
        }
        bench.wait(Span::from_micros(1500));
        let _ = bench.arrive_of(1, 1500, Ecn::Ect1);
        let mut sent = Vec::new();
        for _ in 0..3 {
            sent.push(bench.send().1);
        }
        assert_eq!(sent.iter().filter(|mark| **mark == Some(Reason::Threshold)).count(), 1, "{sent:?}");
        assert_eq!(sent[0], Some(Reason::Threshold));
    }
}
