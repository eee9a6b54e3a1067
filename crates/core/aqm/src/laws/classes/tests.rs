//! Exact schedules of queues for traffic classes. 1500 B take 1.2 ms on the line of 10 Mbit/s.

use super::{ClassConfig, ClassesConfig, Service};
use crate::testing::bench::{Bench, LINE, PACKET_TIME, dropped, mark_of, red_of, unweighted};
use crate::{
    AnyQueue, CeThresholdFor, CodelConfig, CodelParameters, DecideAt, Dequeued, Extent, FifoConfig,
    MarkSpacing, Queue, QueueConfig, Reason, ShaperConfig, StepConfig, Verdict,
};
use shoal_packet::{Backlog, Class, Ecn};
use shoal_units::{Rate, Span, Stream, Time};

const FIFO: QueueConfig = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });

fn strict(law: QueueConfig) -> ClassConfig {
    ClassConfig {
        name: "strict".into(),
        service: Service::Strict,
        shaper: None,
        law,
        alpha: None,
        reserved_bytes: None,
    }
}

fn weighted(quantum_bytes: u32, law: QueueConfig) -> ClassConfig {
    ClassConfig {
        name: "weighted".into(),
        service: Service::Weighted { quantum_bytes },
        shaper: None,
        law,
        alpha: None,
        reserved_bytes: None,
    }
}

/// At most `bps` after a burst of so many bytes.
fn shaped(bps: u64, burst_bytes: u32, queue: ClassConfig) -> ClassConfig {
    ClassConfig { shaper: Some(ShaperConfig { rate: Rate::from_bps(bps), burst_bytes }), ..queue }
}

/// Flow n has code point n, which belongs to queue n; code points without a queue belong to queue 0.
fn classes(queues: impl Into<Vec<ClassConfig>>) -> Bench<AnyQueue> {
    port(queues.into(), None)
}

/// A port with these queues, of which flow n takes queue n, and with memory that the queues share, if there is some.
fn port(queues: Vec<ClassConfig>, memory_bytes: Option<u64>) -> Bench<AnyQueue> {
    let count = queues.len();
    let queue_of = core::array::from_fn(|codepoint| if codepoint < count { codepoint as u8 } else { 0 });
    Bench::any(ClassesConfig { queues: queues.into(), queue_of, codepoints: (0..16).collect(), memory_bytes })
}

impl Bench<AnyQueue> {
    fn arrivals_of(&mut self, flow: u32, count: u32, size: u16) {
        for _ in 0..count {
            assert_eq!(dropped(self.arrive_of(flow, size, Ecn::Ect0)), None);
        }
    }

    /// The flow of the packet that leaves next; the line then transmits it.
    fn transmit(&mut self) -> u32 {
        let (packet, _) = self.send();
        self.now += LINE.time_for(packet.size.into());
        packet.flow.0
    }

    fn transmits(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.transmit()).collect()
    }

    /// Time until which all that waits is held back.
    fn held_until(&mut self) -> Time {
        match self.take() {
            Dequeued::Held { until } => until,
            other => panic!("{other:?}"),
        }
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

#[test]
fn packets_join_the_queue_of_their_flow() {
    // Flows 0 and 1 have the code points 10 and 46, flow 2 has none, which is 0; 46 belongs to queue 1.
    let queue_of = core::array::from_fn(|codepoint| u8::from(codepoint == 46));
    let config = ClassesConfig {
        queues: vec![weighted(1500, FIFO), strict(FIFO)].into(),
        queue_of,
        codepoints: [10, 46].into(),
        memory_bytes: None,
    };
    assert_eq!([0, 1, 2, u32::MAX].map(|flow| config.queue_of(flow)), [0, 1, 0, 0]);
    let mut bench = Bench::any(config);
    for flow in [0, 2, 1] {
        bench.arrivals_of(flow, 1, 1500);
    }
    assert_eq!(bench.transmits(3), [1, 0, 2]);
}

/// Quanta of 4500 B and 1500 B: three packets of queue 0 for one of queue 1.
#[test]
fn weights_share_the_bytes_three_to_one() {
    let mut bench = classes([weighted(4500, FIFO), weighted(1500, FIFO)]);
    bench.arrivals_of(0, 30, 1500);
    bench.arrivals_of(1, 30, 1500);
    assert_eq!(bench.transmits(8), [0, 0, 0, 1, 0, 0, 0, 1]);
    // 40 packets leave while both queues hold some: 30 and 10. Queue 1 sends the rest alone.
    let rest = bench.transmits(52);
    assert_eq!(rest[..32].iter().filter(|flow| **flow == 1).count(), 8);
    assert!(rest[32..].iter().all(|flow| *flow == 1));
}

/// Whatever the sizes: after each packet, what two backlogged queues have sent is in proportion to their quanta within
/// one quantum and one packet of each, counted in rounds.
#[test]
fn shares_are_exact_within_a_quantum_and_a_packet() {
    const SEED: u64 = 7;
    let mut sizes = Stream::new(SEED, "sizes");
    let quanta = [4500u64, 1500];
    let mut bench = classes(quanta.map(|quantum| weighted(quantum as u32, FIFO)));
    for _ in 0..4000 {
        for flow in 0..2 {
            bench.arrivals_of(flow, 1, 40 + (sizes.uniform_u64() % 1461) as u16);
        }
    }
    let mut sent = [0u64; 2];
    for _ in 0..5000 {
        let (packet, _) = bench.send();
        sent[packet.flow.0 as usize] += u64::from(packet.size);
        let rounds = [0, 1].map(|flow: usize| sent[flow] as f64 / quanta[flow] as f64);
        let slack = 1.0 + 1500.0 / 4500.0 + 1500.0 / 1500.0;
        assert!((rounds[0] - rounds[1]).abs() <= slack, "seed {SEED}: {sent:?}");
    }
    assert!(sent[0] > 2_000_000, "seed {SEED}: {sent:?}");
}

/// The first strict queue sends whatever waits elsewhere, then the second one, then the weighted ones, wherever they
/// stand in the list.
#[test]
fn strict_queues_starve_those_behind_them() {
    let mut bench = classes([weighted(1500, FIFO), strict(FIFO), strict(FIFO)]);
    bench.arrivals_of(0, 2, 1500);
    bench.arrivals_of(2, 2, 1500);
    bench.arrivals_of(1, 2, 1500);
    assert_eq!(bench.transmits(2), [1, 1]);
    bench.arrivals_of(1, 1, 1500);
    assert_eq!(bench.transmits(5), [1, 2, 2, 0, 0]);
    // As long as the first one has packets, nobody else sends.
    bench.arrivals_of(0, 1, 1500);
    for _ in 0..100 {
        bench.arrivals_of(1, 1, 1500);
        assert_eq!(bench.transmit(), 1);
    }
    assert_eq!(bench.transmit(), 0);
}

/// A shaper of 4 Mbit/s with 3000 B: two packets leave at once (0 and 1.2 ms on the line). The bucket, full at 0, was
/// filled with 600 B in 1.2 ms, so that 600 B are left after the second packet at 1.2 ms; 900 B more take 1.8 ms: the
/// third leaves at 3 ms, and then one every 3 ms.
#[test]
fn a_shaped_queue_sends_its_burst_and_then_its_rate() {
    let mut bench = classes([shaped(4_000_000, 3000, strict(FIFO))]);
    bench.arrivals_of(0, 1000, 1500);
    let mut left = Vec::new();
    while left.len() < 1000 {
        match bench.take() {
            Dequeued::Held { until } => bench.now = until,
            Dequeued::Packet { .. } => {
                left.push(bench.now);
                bench.now += PACKET_TIME;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(left[..5], [us(0), us(1200), us(3000), us(6000), us(9000)]);
    // In any time T at most the burst and what the rate fills in T leave: here up to the last packet.
    let bytes = 1500 * left.len() as u64;
    let filled = Rate::from_bps(4_000_000).bytes_in(left[999] - left[0]);
    assert!((filled..=filled + 3000).contains(&bytes), "{bytes} B, {filled} B");
}

/// What is held back is told with the time at which it may go on, and others send in the meantime.
#[test]
fn the_line_is_free_for_others_while_a_queue_is_held_back() {
    let mut bench = classes([shaped(1_000_000, 1500, strict(FIFO)), weighted(1500, FIFO)]);
    bench.arrivals_of(0, 2, 1500);
    assert_eq!(bench.transmit(), 0);
    // 1500 B at 1 Mbit/s take 12 ms.
    assert_eq!(bench.held_until(), us(12_000));
    bench.arrivals_of(1, 1, 1500);
    assert_eq!(bench.transmit(), 1);
    assert_eq!((bench.held_until(), bench.queue.backlog().packets), (us(12_000), 1));
    bench.now = us(12_000);
    assert_eq!(bench.transmit(), 0);
    assert!(matches!(bench.take(), Dequeued::Empty));
}

/// Queue 0 may send 1500 B every 12 ms. Held back, it neither loses its place nor gains a quantum: when it may send
/// again, it is first.
#[test]
fn a_shaped_queue_keeps_its_turn() {
    let mut bench = classes([shaped(1_000_000, 1500, weighted(3000, FIFO)), weighted(1500, FIFO)]);
    bench.arrivals_of(0, 3, 1500);
    bench.arrivals_of(1, 30, 1500);
    // At 0 queue 0 sends the first half of its quantum. Queue 1 has the line until 12 ms: nine packets, the last from
    // 10.8 ms on.
    assert_eq!(bench.transmits(10), [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(bench.now, us(12_000));
    assert_eq!(bench.transmits(2), [0, 1]);
}

#[test]
fn each_queue_has_its_own_limit_and_law() {
    let step = QueueConfig::Step(StepConfig {
        threshold: Extent::Packets(1),
        decide: DecideAt::Enqueue,
        drop_threshold: Extent::Unlimited,
        limit: Extent::Packets(3),
    });
    let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Bytes(3000) });
    let mut bench = classes([weighted(1500, step.clone()), weighted(1500, fifo.clone())]);
    let verdicts: Vec<Verdict> = (0..4).map(|_| bench.arrive_of(0, 1500, Ecn::Ect0)).collect();
    let marked = Verdict::Queued { mark: Some(Reason::Threshold) };
    assert_eq!(verdicts, [Verdict::Queued { mark: None }, marked, marked, Verdict::Dropped(Reason::Buffer)]);
    // What waits elsewhere does not count.
    let verdicts: Vec<Verdict> = (0..3).map(|_| bench.arrive_of(1, 1500, Ecn::NotEct)).collect();
    let queued = Verdict::Queued { mark: None };
    assert_eq!(verdicts, [queued, queued, Verdict::Dropped(Reason::Buffer)]);
    assert_eq!(bench.queue.backlog(), Backlog { packets: 5, bytes: 7500 });
    assert_eq!(bench.queue.class_backlog(Class::NotEct), Backlog { packets: 2, bytes: 3000 });
    let limits: Vec<String> = classes_levels([weighted(1500, step), weighted(1500, fifo)]);
    assert_eq!(limits, ["weighted: K", "weighted: limit", "weighted: limit"]);
}

fn classes_levels(queues: impl Into<Vec<ClassConfig>>) -> Vec<String> {
    let queues = queues.into().into();
    let config = QueueConfig::from(ClassesConfig {
        queues,
        queue_of: [0; 64],
        codepoints: [].into(),
        memory_bytes: None,
    });
    config.levels().into_iter().map(|level| level.label).collect()
}

/// 2.4 ms are two packets of the whole line, although the queue has a quarter of it: the third packet is marked, and it
/// will have waited for longer than 2.4 ms.
#[test]
fn thresholds_in_time_take_the_rate_of_the_line() {
    let step = QueueConfig::Step(StepConfig {
        threshold: Extent::Time(PACKET_TIME * 2),
        decide: DecideAt::Enqueue,
        drop_threshold: Extent::Unlimited,
        limit: Extent::Unlimited,
    });
    let mut bench = classes([weighted(4500, FIFO), weighted(1500, step)]);
    bench.arrivals_of(0, 30, 1500);
    let marks: Vec<bool> = (0..3).map(|_| mark_of(bench.arrive_of(1, 1500, Ecn::Ect0)).is_some()).collect();
    assert_eq!(marks, [false, false, true]);
    assert_eq!(bench.transmits(12).iter().filter(|flow| **flow == 1).count(), 3);
    // It left as the twelfth, after eleven packets of 1.2 ms.
    assert_eq!(bench.now, us(12 * 1200));
}

/// RED with weight 1 and a queue whose packet has left at 0: the line has transmitted it at 1.2 ms, although it goes on
/// with others. From then on the average decays, and the next packet at 120 ms finds an empty queue.
#[test]
fn a_law_is_idle_when_its_own_packets_are_gone() {
    let parameters = unweighted(1000.0, 30_000.0, 0.1, MarkSpacing::Uniformised);
    let red = crate::RedParameters { weight: 0.5, ..parameters };
    let averages = [0u32, 100].map(|others| {
        let mut bench = classes([strict(QueueConfig::Red(red_of(red, true))), weighted(1500, FIFO)]);
        bench.arrivals_of(0, 4, 1500);
        bench.arrivals_of(1, others, 1500);
        assert_eq!(bench.transmits(4), [0; 4]);
        bench.now = us(120_000);
        bench.arrivals_of(0, 1, 1500);
        let AnyQueue::Classes(classes) = &bench.queue else { panic!() };
        classes.queues[0].inner.average_bytes().expect("RED has an average")
    });
    assert!(averages[0] < 1.0, "{averages:?}");
    assert_eq!(averages[0].to_bits(), averages[1].to_bits(), "whatever the others send");
}

/// The first packet of CoDel's queue is next in turn from 0 on, but a strict queue sends until 12 ms. CoDel decides
/// then: its wait has been above the threshold of 5 ms. Looked at ahead, at 0, it would not have been.
#[test]
fn a_law_decides_when_its_packet_leaves() {
    let codel = QueueConfig::Codel(CodelConfig {
        law: CodelParameters {
            target: Span::from_millis(100),
            interval: Span::from_millis(1000),
            ecn: true,
            ce_threshold: Some(Span::from_millis(5)),
            ce_threshold_for: CeThresholdFor::Ect,
            mtu_bytes: 1500,
        },
        limit: Extent::Unlimited,
    });
    let mut bench = classes([strict(FIFO), weighted(1500, codel)]);
    bench.arrivals_of(1, 1, 1500);
    bench.arrivals_of(0, 10, 1500);
    assert_eq!(bench.transmits(10), [0; 10]);
    let (packet, mark) = bench.send();
    assert_eq!((packet.flow.0, bench.now, mark.is_some()), (1, us(12_000), true));
}

/// Queues that share `memory_bytes`, each with an alpha and a reserved part.
fn sharing(memory_bytes: u64, shares: &[(f64, u64)]) -> Bench<AnyQueue> {
    let queues: Vec<ClassConfig> = shares
        .iter()
        .map(|&(alpha, reserved_bytes)| ClassConfig {
            alpha: Some(alpha),
            reserved_bytes: Some(reserved_bytes),
            ..weighted(1500, FIFO)
        })
        .collect();
    port(queues, Some(memory_bytes))
}

/// Packets of 1000 B that each of the queues accepts while they arrive in turn and none leaves.
fn filled(bench: &mut Bench<AnyQueue>, queues: usize) -> Vec<u64> {
    let mut held = vec![0; queues];
    for _ in 0..2000 {
        for (flow, held) in (0u32..).zip(&mut held) {
            match dropped(bench.arrive_of(flow, 1000, Ecn::Ect0)) {
                None => *held += 1,
                Some(reason) => assert_eq!(reason, Reason::SharedBuffer),
            }
        }
    }
    held
}

/// 1 MB and alpha 1: with k packets in each, one more is admitted to the first while 1000 (k + 1) <= 10^6 - 2000 k, up
/// to k = 333. Then the second finds 10^6 - 667,000 = 333,000 B free, and would hold 334,000 B.
#[test]
fn busy_queues_hold_alpha_times_what_is_free() {
    assert_eq!(filled(&mut sharing(1_000_000, &[(1.0, 0), (1.0, 0)]), 2), [334, 333]);
    // Alone, a queue leaves alpha / (1 + alpha) of the memory free for those that are not busy yet.
    assert_eq!(filled(&mut sharing(1_000_000, &[(1.0, 0), (1.0, 0)]), 1), [500]);
}

/// Choudhury and Hahne 1998, equation 3, for queues with thresholds of their own: while all are busy, queue i holds
/// alpha_i B / (1 + sum of all alphas). One packet leaves for each that arrives at every queue.
#[test]
fn shares_of_the_memory_are_in_proportion_to_alpha() {
    for alphas in [vec![2.0, 1.0], vec![0.5, 0.5, 0.5], vec![8.0, 1.0, 0.125], vec![1.0; 16]] {
        let shares: Vec<(f64, u64)> = alphas.iter().map(|alpha| (*alpha, 0)).collect();
        let mut bench = sharing(1_000_000, &shares);
        let mut held = vec![0u64; shares.len()];
        for _ in 0..20_000 {
            for (flow, held) in (0u32..).zip(&mut held) {
                *held += u64::from(dropped(bench.arrive_of(flow, 1000, Ecn::Ect0)).is_none());
            }
            held[bench.send().0.flow.0 as usize] -= 1;
        }
        let whole = 1.0 + alphas.iter().sum::<f64>();
        for (alpha, packets) in alphas.iter().zip(&held) {
            let law = 1e6 * alpha / whole;
            // What is free changes by a packet of each queue while they come in turn.
            let slack = 1000.0 * (1.0 + alpha * alphas.len() as f64);
            assert!((*packets as f64 * 1000.0 - law).abs() <= slack, "{alphas:?}: {held:?} packets, {law} B");
        }
    }
}

/// 100 kB of the memory are the second queue's own, however much the first one takes: of the 900 kB that both share it
/// gets, with alpha 1000, all but what the memory does not have.
#[test]
fn what_is_reserved_is_there_when_it_is_needed() {
    let mut bench = sharing(1_000_000, &[(1000.0, 0), (0.001, 100_000)]);
    assert_eq!(filled(&mut bench, 1), [900]);
    let mut own = 0;
    while dropped(bench.arrive_of(1, 1000, Ecn::Ect0)).is_none() {
        own += 1;
    }
    assert_eq!(own, 100);
}

/// Whatever arrives and leaves: the queues never hold more than there is, and what is reserved is never refused.
#[test]
fn random_traffic_never_overfills_the_memory() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, "memory");
        let mut draw = |below: u64| random.uniform_u64() % below;
        let shares: Vec<(f64, u64)> =
            (0..=draw(5)).map(|_| (0.1 + draw(80) as f64 / 10.0, draw(20_000))).collect();
        let reserved: u64 = shares.iter().map(|share| share.1).sum();
        let memory = reserved + draw(100_000);
        let mut bench = sharing(memory, &shares);
        let mut held = vec![0u64; shares.len()];
        for _ in 0..3000 {
            if draw(5) < 2 {
                if let Dequeued::Packet { packet, .. } = bench.take() {
                    held[packet.flow.0 as usize] -= u64::from(packet.size);
                }
                continue;
            }
            let flow = draw(shares.len() as u64) as usize;
            let size = 40 + draw(1461);
            let refused = dropped(bench.arrive_of(flow as u32, size as u16, Ecn::NotEct));
            if refused.is_none() {
                held[flow] += size;
            } else {
                assert!(held[flow] + size > shares[flow].1, "seed {seed}: {held:?} of {shares:?}");
            }
            let used: u64 = held.iter().zip(&shares).map(|(held, share)| (*held).max(share.1)).sum();
            assert!(used <= memory, "seed {seed}: {held:?} of {memory} B");
        }
    }
}

/// A packet that stays out for lack of memory is a drop by the shared buffer, and the law of its queue is not asked: a
/// step at one byte marks nothing.
#[test]
fn a_law_is_asked_only_about_what_the_memory_admits() {
    let step = QueueConfig::Step(StepConfig {
        threshold: Extent::Bytes(1),
        drop_threshold: Extent::Unlimited,
        decide: DecideAt::Enqueue,
        limit: Extent::Unlimited,
    });
    let mut bench = port(vec![weighted(1500, step)], Some(2000));
    // 1000 of 2000 B are free after the first packet, which is all that alpha 1 allows.
    assert_eq!(dropped(bench.arrive_of(0, 1000, Ecn::Ect0)), None);
    assert_eq!(dropped(bench.arrive_of(0, 1000, Ecn::Ect0)), Some(Reason::SharedBuffer));
}
