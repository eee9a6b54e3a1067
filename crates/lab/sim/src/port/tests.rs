//! The lazy port against an eager one, and against queueing theory.

use super::{ALONE, Port, new_port};
use crate::recorder::{PacketSink, Recorder};
use proptest::prelude::*;
use shoal_aqm::{
    AnyQueue, AverageScope, CeThresholdFor, ClassConfig, ClassesConfig, CodelConfig, CodelParameters,
    CoupledConfig, CoupledSlope, CouplingInput, DecideAt, DelayRampConfig, Dequeued, DualCoupledConfig,
    DualPi2Config, DualPi2Form, DualRedConfig, Extent, FifoConfig, FlowQueues, FqCodelConfig, LinuxRedConfig,
    MarkSpacing, NativeMarking, PieConfig, ProtectionConfig, Queue, QueueConfig, RedConfig, RedParameters,
    SchedulerConfig, Service, ShaperConfig, StepConfig, Tossing, Verdict,
};
use shoal_bottleneck::{DelayChange, UNMONITORED};
use shoal_packet::{Class, Ecn, FlowId, Packet, Reason, Seq};
use shoal_scenario::{
    App, Experiment, Flow, Link, LinkId, Node, NodeId, OpportunitySchedule, Schedule, TraceConfig,
};
use shoal_trace::{PacketEvent, PacketRow};
use shoal_units::{Opportunities, Rate, RateChange, Serialiser, Span, Stream, Time};
use std::sync::{Arc, Mutex};

/// 1500 B take 1.2 ms.
const RATE: Rate = Rate::from_bps(10_000_000);
const DELAY: Span = Span::from_micros(3_700);
const SEED: u64 = 5;

fn link(queue: QueueConfig, schedule: &Schedule) -> Link {
    Link {
        name: "l".into(),
        from: NodeId(0),
        to: NodeId(1),
        rate: Some(RATE),
        delay: DELAY,
        overhead_bytes: 38,
        queue,
        monitored: true,
        pool: None,
        schedule: schedule.clone(),
        impairments: None,
    }
}

/// One of each kind, narrow enough for every branch to be taken by a few dozen packets.
fn queues() -> Vec<QueueConfig> {
    let red = |weight, spacing| RedParameters {
        min_bytes: 1500.0,
        max_bytes: 9000.0,
        max_probability: 0.5,
        weight,
        gentle: true,
        spacing,
    };
    let limit = Extent::Packets(12);
    let step = |threshold, decide, drop_threshold| {
        QueueConfig::Step(StepConfig { threshold, decide, drop_threshold, limit })
    };
    let dual = |average| {
        QueueConfig::DualRed(DualRedConfig {
            not_ect: red(0.1, MarkSpacing::Uniformised),
            ect: red(0.5, MarkSpacing::Independent),
            average,
            limit,
            rate: RATE,
            mean_packet_bytes: 1500,
        })
    };
    let slope = CoupledSlope::Linear { saturation: Extent::Time(Span::from_millis(20)), coupling: 1.5 };
    let dualpi2 = |decide, coupling| {
        QueueConfig::DualPi2(DualPi2Config {
            form: DualPi2Form::Mainline,
            first_update: Span::from_micros(1800),
            target: Span::from_millis(2),
            // Often in the middle of a transmission, sometimes at its end.
            tupdate: Span::from_micros(1800),
            alpha_256th_hz: 41 << 4,
            beta_256th_hz: 819 << 4,
            coupling,
            native: NativeMarking::Step { threshold: Extent::Time(Span::from_millis(3)), min_packets: 1 },
            tossing: Tossing::Random,
            ecn_mask: 0b11,
            scheduler: SchedulerConfig::Weighted { classic_percent: 30 },
            drop_on_overload: true,
            decide,
            min_backlog_bytes: 1500,
            memory_limit_bytes: u64::MAX,
            mtu: 1500,
            protection: None,
            limit,
        })
    };
    let dual_coupled = |scheduler, decide| {
        QueueConfig::DualCoupled(DualCoupledConfig {
            slope,
            input: CouplingInput::Classic,
            threshold: Extent::Packets(3),
            decide,
            scheduler,
            mtu: 1500,
            protection: None,
            limit,
        })
    };
    vec![
        QueueConfig::Fifo(FifoConfig { limit }),
        // Too small for some packets even while it is empty.
        QueueConfig::Fifo(FifoConfig { limit: Extent::Bytes(4000) }),
        step(Extent::Packets(3), DecideAt::Enqueue, Extent::Bytes(9000)),
        step(Extent::Time(Span::from_millis(3)), DecideAt::Dequeue, Extent::Time(Span::from_millis(5))),
        QueueConfig::Red(RedConfig {
            parameters: red(0.2, MarkSpacing::Uniformised),
            ecn: true,
            limit,
            rate: RATE,
            mean_packet_bytes: 1500,
        }),
        QueueConfig::LinuxRed(LinuxRedConfig {
            limit_bytes: 20_000,
            min_bytes: 2000,
            max_bytes: 8000,
            avpkt_bytes: 1000,
            burst_packets: 4,
            probability: 0.5,
            bandwidth: RATE,
            ecn: true,
            harddrop: true,
            nodrop: false,
            // Has a timer.
            adaptive: true,
            legacy_probability: false,
        }),
        dual(AverageScope::Shared),
        dual(AverageScope::PerClass),
        QueueConfig::Coupled(CoupledConfig { slope, decide: DecideAt::Enqueue, limit }),
        QueueConfig::Coupled(CoupledConfig { slope, decide: DecideAt::Dequeue, limit }),
        dualpi2(DecideAt::Dequeue, 1),
        dualpi2(DecideAt::Enqueue, 100),
        dual_coupled(SchedulerConfig::StrictPriority, DecideAt::Enqueue),
        dual_coupled(SchedulerConfig::Weighted { classic_percent: 30 }, DecideAt::Dequeue),
        dual_coupled(SchedulerConfig::TimeShifted { shift: Span::from_millis(2) }, DecideAt::Dequeue),
        QueueConfig::Codel(CodelConfig { law: codel(false), limit }),
        QueueConfig::FqCodel(FqCodelConfig {
            law: codel(true),
            flows: FlowQueues::Hashed(4),
            quantum_bytes: 300,
            limit,
            memory_limit_bytes: 15_000,
            drop_batch: 2,
        }),
        protected(),
        // Has a timer.
        QueueConfig::Pie(PieConfig {
            target: Span::from_millis(1),
            tupdate: Span::from_millis(2),
            alpha: 32,
            beta: 32,
            ecn: true,
            ecn_threshold_percent: 10,
            bytemode: false,
            dq_rate_estimator: false,
            mtu_bytes: 1500,
            limit,
        }),
        classes([None; 3]),
    ]
}

/// The L4S team's controller, with the ramp of DOCSIS from 1 to 3 ms, and flows of which three packets are too many.
fn protected() -> QueueConfig {
    let ramp = DelayRampConfig { max: Span::from_millis(3), range: Span::from_millis(2), floor_bytes: 0 };
    QueueConfig::DualPi2(DualPi2Config {
        form: DualPi2Form::L4sTeam,
        first_update: Span::from_micros(2500),
        target: Span::from_millis(2),
        tupdate: Span::from_micros(1800),
        alpha_256th_hz: 41 << 4,
        beta_256th_hz: 819 << 4,
        coupling: 2,
        native: NativeMarking::DelayRamp(ramp),
        tossing: Tossing::Random,
        ecn_mask: 0b11,
        scheduler: SchedulerConfig::Weighted { classic_percent: 30 },
        drop_on_overload: true,
        decide: DecideAt::Enqueue,
        min_backlog_bytes: 1500,
        memory_limit_bytes: u64::MAX,
        mtu: 1500,
        protection: Some(ProtectionConfig { ramp, ..ProtectionConfig::RFC_9957 }),
        limit: Extent::Packets(12),
    })
}

/// A strict queue and two weighted ones, each of which may be shaped; flows 1 and 2 have the first two.
fn classes(shapers: [Option<ShaperConfig>; 3]) -> QueueConfig {
    let limit = Extent::Packets(12);
    let marking = StepConfig {
        threshold: Extent::Packets(2),
        decide: DecideAt::Dequeue,
        drop_threshold: Extent::Packets(8),
        limit,
    };
    let laws: [(Service, QueueConfig); 3] = [
        (Service::Strict, QueueConfig::Step(marking)),
        (
            Service::Weighted { quantum_bytes: 3000 },
            QueueConfig::Codel(CodelConfig { law: codel(true), limit }),
        ),
        (Service::Weighted { quantum_bytes: 1500 }, QueueConfig::Fifo(FifoConfig { limit })),
    ];
    let queues = laws.into_iter().zip(shapers).map(|((service, law), shaper)| ClassConfig {
        name: String::new(),
        service,
        shaper,
        law,
        alpha: None,
        reserved_bytes: None,
    });
    let queue_of = std::array::from_fn(|codepoint| [2, 0, 1][codepoint % 3]);
    QueueConfig::Classes(ClassesConfig {
        queues: queues.collect(),
        queue_of,
        codepoints: (0..4).collect(),
        memory_bytes: None,
    })
}

/// Queues for traffic classes, each of them shaped in one of two ways. Lines that send at opportunities have no such
/// queues.
fn shaped() -> impl Iterator<Item = QueueConfig> {
    let shaper =
        |mbps: u64, burst_bytes| Some(ShaperConfig { rate: Rate::from_bps(mbps * 1_000_000), burst_bytes });
    [
        classes([shaper(2, 3000), None, shaper(5, 1500)]),
        classes([shaper(5, 2000), shaper(1, 3000), shaper(2, 20_000)]),
    ]
    .into_iter()
}

/// Late after 2 ms, acts 3 ms later.
fn codel(ecn: bool) -> CodelParameters {
    CodelParameters {
        target: Span::from_millis(2),
        interval: Span::from_millis(3),
        ecn,
        ce_threshold: Some(Span::from_millis(1)),
        ce_threshold_for: CeThresholdFor::Ect,
        mtu_bytes: 1500,
    }
}

/// What can be seen of a packet from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Delivered { at: Time, seq: u32, ecn: Ecn },
    Marked { at: Time, seq: u32 },
    Dropped { at: Time, seq: u32 },
    Departed { at: Time, seq: u32 },
}

/// The textbook port: an event for each arrival, each end of a transmission and each timer, carried out when it is due.
/// At equal times timers come first, then departures, then arrivals, as the module promises.
fn eager(config: &QueueConfig, schedule: &Schedule, arrivals: &[Packet]) -> Vec<Fate> {
    let mut queue = AnyQueue::new(config, RATE);
    let mut random = Stream::new(SEED, "link/l");
    let rate = |at: Time| {
        schedule.rate.iter().rev().find(|change| change.at <= at).map_or(RATE, |change| change.rate)
    };
    let delay = |at: Time| {
        schedule.delay.iter().rev().find(|change| change.at <= at).map_or(DELAY, |change| change.delay)
    };
    let (mut fates, mut free, mut latest) = (Vec::new(), Time::ZERO, Time::ZERO);
    // Until when the queue holds back what waits, although the line is free.
    let mut held = Time::ZERO;
    let mut pending = arrivals.iter().copied().peekable();
    loop {
        let arrival = pending.peek().map_or(Time::NEVER, |packet| packet.enqueued);
        let departure = if queue.backlog().packets > 0 { free.max(held) } else { Time::NEVER };
        let timer = queue.next_timer();
        let now = arrival.min(departure);
        if now == Time::NEVER {
            return fates;
        }
        if timer <= now {
            queue.on_timer(timer);
            continue;
        }
        let mut idle = departure <= arrival;
        if !idle {
            let packet = pending.next().expect("peeked");
            match queue.enqueue(&packet, now, &mut random) {
                Verdict::Dropped(_) => {
                    fates.push(Fate::Dropped { at: now, seq: packet.seq.0 });
                    continue;
                }
                Verdict::Queued { mark } => {
                    let mark = mark.filter(|_| !packet.ecn.is_ce());
                    fates.extend(mark.map(|_| Fate::Marked { at: now, seq: packet.seq.0 }));
                }
                Verdict::Displaced => {
                    while let Some((packet, _)) = queue.take_displaced() {
                        fates.push(Fate::Dropped { at: now, seq: packet.seq.0 });
                    }
                }
            }
            idle = free <= now;
        }
        if !idle {
            continue;
        }
        // The queue is asked again, as soon as the link is up.
        held = Time::ZERO;
        if rate(now).as_bps() == 0 {
            let up = schedule.rate.iter().find(|change| change.at > now && change.rate.as_bps() > 0);
            free = up.expect("every outage ends").at;
            continue;
        }
        loop {
            match queue.dequeue(now, &mut random) {
                Dequeued::Empty => break,
                Dequeued::Held { until } => {
                    held = until;
                    break;
                }
                Dequeued::Dropped { packet, .. } => fates.push(Fate::Dropped { at: now, seq: packet.seq.0 }),
                Dequeued::Packet { packet, mark, was_marked } => {
                    let seq = packet.seq.0;
                    let mark = mark.filter(|_| !was_marked);
                    fates.extend(mark.map(|_| Fate::Marked { at: now, seq }));
                    fates.push(Fate::Departed { at: now, seq });
                    free = now + Serialiser::new(rate(now)).span(u32::from(packet.size) + 38);
                    latest = latest.max(free + delay(free));
                    fates.push(Fate::Delivered { at: latest, seq, ecn: packet.ecn });
                    break;
                }
            }
        }
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Fate>>>);

impl PacketSink for Log {
    fn on_event(&mut self, row: PacketRow, packet: &Packet, _: Option<Reason>) {
        let (at, seq) = (Time::from_picos(row.time_ps), packet.seq.0);
        let fate = match row.event {
            PacketEvent::Arrive => return,
            PacketEvent::Mark => Fate::Marked { at, seq },
            PacketEvent::Drop => Fate::Dropped { at, seq },
            PacketEvent::Depart => Fate::Departed { at, seq },
        };
        self.0.lock().unwrap().push(fate);
    }
}

fn recorder(queue: QueueConfig, schedule: &Schedule, sink: Option<Box<dyn PacketSink>>) -> Recorder {
    let experiment = Experiment {
        title: String::new(),
        seed: SEED,
        duration: Span::from_secs(1000),
        warmup: Span::ZERO,
        nodes: ["a", "b"].map(|name| Node { name: name.into(), is_switch: false }).into(),
        links: vec![link(queue, schedule)],
        pools: Vec::new(),
        paths: vec![vec![LinkId(0)]],
        endpoints: Vec::new(),
        groups: Vec::new(),
        flows: [Flow {
            group: 0,
            endpoint: 0,
            forward: 0,
            backward: 0,
            start: Time::ZERO,
            stop: None,
            app: App::Bulk,
        }]
        .into_iter()
        .collect(),
        trace: TraceConfig { packets: true, ..TraceConfig::default() },
        notes: Vec::new(),
    };
    Recorder::new(&experiment, sink)
}

/// What the port does as [`drive`] drives it. Without a probe only deliveries are seen; the port is then closed if its
/// law decides on arrival.
fn lazy(
    config: &QueueConfig,
    schedule: &Schedule,
    arrivals: &[Packet],
    looks: &[Time],
    probe: u32,
) -> Vec<Fate> {
    let log = Log::default();
    let mut recorder = recorder(config.clone(), schedule, Some(Box::new(log.clone())));
    let mut port = new_port(&link(config.clone(), schedule), SEED, probe);
    port.close(port.far.member != ALONE, &recorder);
    let delivered = drive(&mut port, &mut recorder, arrivals, looks);
    let mut fates = std::mem::take(&mut *log.0.lock().unwrap());
    fates.extend(delivered);
    fates
}

/// The port as the network drives it: looked at when packets arrive and when it asks to be, and besides at the times
/// `looks`, which must change nothing. Returns the deliveries.
fn drive(port: &mut Port, recorder: &mut Recorder, arrivals: &[Packet], looks: &[Time]) -> Vec<Fate> {
    let mut delivered = Vec::new();
    let mut packet = Packet::empty(FlowId(0), 0);
    let mut pending = arrivals.iter().copied().peekable();
    let mut looks = looks.iter().copied().peekable();
    loop {
        let arrival = pending.peek().map_or(Time::NEVER, |packet| packet.enqueued);
        let look = looks.peek().copied().unwrap_or(Time::NEVER);
        let own = port.next_event().unwrap_or(Time::NEVER);
        let now = arrival.min(look).min(own);
        if now == Time::NEVER {
            break;
        }
        if own == now {
            port.catch_up(now, recorder);
            if port.deliver(now, &mut packet) {
                delivered.push(Fate::Delivered { at: now, seq: packet.seq.0, ecn: packet.ecn });
            }
        } else if look == now {
            looks.next();
            port.report(now, recorder);
        } else {
            port.arrive(&pending.next().expect("peeked"), now, recorder);
        }
    }
    assert_eq!(port.held(), 0);
    delivered
}

/// What the meters of a port say that is open or closed, where it can be.
fn metered(config: &QueueConfig, arrivals: &[Packet], looks: &[Time], is_closed: bool) -> String {
    let mut recorder = recorder(config.clone(), &Schedule::default(), None);
    let mut port = new_port(&link(config.clone(), &Schedule::default()), SEED, 0);
    if is_closed {
        port.close(port.far.member != ALONE, &recorder);
    }
    let delivered = drive(&mut port, &mut recorder, arrivals, looks);
    let end = Time::ZERO + Span::from_secs(999);
    port.report(end, &mut recorder);
    recorder.collector.settle(end);
    let meters = [Class::Ect, Class::NotEct]
        .map(|class| (recorder.collector.delay(0, class).clone(), recorder.collector.class_queue(0, class)));
    format!("{delivered:?} {meters:?} {:?} {:?}", port.law_state(), recorder.collector.balance())
}

/// Every packet event with the bytes that wait after it.
#[derive(Clone, Default)]
struct Backlogs(Arc<Mutex<Vec<(u64, PacketEvent, u64)>>>);

impl PacketSink for Backlogs {
    fn on_event(&mut self, row: PacketRow, _: &Packet, _: Option<Reason>) {
        self.0.lock().unwrap().push((row.time_ps / 1_000_000, row.event, row.backlog_bytes));
    }
}

#[test]
fn every_event_tells_what_waits_after_it() {
    let config = QueueConfig::Fifo(FifoConfig { limit: Extent::Packets(2) });
    let log = Backlogs::default();
    let mut recorder = recorder(config.clone(), &Schedule::default(), Some(Box::new(log.clone())));
    let mut port = new_port(&link(config, &Schedule::default()), SEED, 0);
    // 1500 B and 38 B of overhead take 1230.4 us at 10 Mbit/s. The first packet is sent at once, the second and third
    // wait, the fourth finds both places taken.
    for (index, at_us) in [0, 100, 200, 300].into_iter().enumerate() {
        let now = Time::ZERO + Span::from_micros(at_us);
        let packet = Packet { seq: Seq(index as u32), ecn: Ecn::NotEct, ..Packet::empty(FlowId(0), 1500) };
        port.arrive(&packet, now, &mut recorder);
    }
    port.catch_up(Time::ZERO + Span::from_millis(4), &mut recorder);
    use PacketEvent::{Arrive, Depart, Drop};
    assert_eq!(
        *log.0.lock().unwrap(),
        [
            (0, Arrive, 0),
            (0, Depart, 0),
            (100, Arrive, 0),
            (200, Arrive, 1500),
            (300, Arrive, 3000),
            (300, Drop, 3000),
            (1230, Depart, 1500),
            (2460, Depart, 0),
        ]
    );
}

/// Deliveries in order, and the rest in order: how the two interleave is not observable.
fn apart(fates: Vec<Fate>) -> (Vec<Fate>, Vec<Fate>) {
    fates.into_iter().partition(|fate| matches!(fate, Fate::Delivered { .. }))
}

fn packets(gaps: &[(u64, u16, u8)]) -> Vec<Packet> {
    let mut now = Time::ZERO;
    let number = |(index, &(gap, size, ecn)): (usize, &(u64, u16, u8))| {
        now += Span::from_micros(gap);
        Packet {
            enqueued: now,
            seq: Seq(index as u32),
            payload: 1,
            ecn: [Ecn::NotEct, Ecn::Ect0][usize::from(ecn % 2)],
            ..Packet::empty(FlowId(u32::from(ecn / 2 % 4)), size)
        }
    };
    gaps.iter().enumerate().map(number).collect()
}

/// Gaps around the 1.2304 ms of a full packet, many of them equal or zero so that arrivals meet departures; long pauses
/// for idle ageing and timers.
fn gaps() -> impl Strategy<Value = Vec<(u64, u16, u8)>> {
    let gap = prop_oneof![
        4 => Just(0u64),
        4 => (0u64..20).prop_map(|n| n * 615),
        2 => 0u64..3000,
        1 => 0u64..900_000
    ];
    // 1462 + 38 B on the wire are 1.2 ms, so that ends of transmissions fall on whole microseconds.
    let size = prop_oneof![Just(1462u16), Just(1500u16), Just(52u16), 40u16..9000];
    prop::collection::vec((gap, size, any::<u8>()), 1..120)
}

/// No changes, or some of them at times at which packets begin and end; the last change ends every outage.
fn schedules() -> impl Strategy<Value = Schedule> {
    let rate = prop_oneof![
        2 => Just(0u64),
        3 => Just(20_000_000),
        1 => Just(10_000_000),
        1 => 1_000_000u64..100_000_000
    ];
    let some = (
        prop::collection::vec((0u64..40, rate), 0..12),
        prop::collection::vec((0u64..40, 0u64..8_000), 0..12),
    );
    some.prop_map(|(rates, delays)| {
        // Half a packet of 1500 B on the wire takes 0.6 ms.
        let at = |now: &mut Time, halves: u64| {
            *now += Span::from_micros(600 * halves);
            *now
        };
        let (mut now, mut later) = (Time::ZERO, Time::ZERO);
        let mut rate: Vec<RateChange> = rates
            .into_iter()
            .map(|(gap, bps)| RateChange { at: at(&mut now, gap), rate: Rate::from_bps(bps) })
            .collect();
        if rate.last().is_some_and(|change| change.rate.as_bps() == 0) {
            rate.push(RateChange { at: at(&mut now, 7), rate: RATE });
        }
        let delay = delays
            .into_iter()
            .map(|(gap, us)| DelayChange { at: at(&mut later, gap), delay: Span::from_micros(us) });
        Schedule { rate: rate.into(), delay: delay.collect(), opportunities: None }
    })
}

/// The schedule of a trace of opportunities: gaps in milliseconds, and numbers.
fn trace(gaps: &[(u32, u32)]) -> Schedule {
    let opportunities = Arc::new(Opportunities::new(gaps.iter().copied()).expect("it has a length"));
    let own = OpportunitySchedule { opportunities, mean_over: Span::from_millis(100) };
    Schedule { opportunities: Some(own), ..Schedule::default() }
}

/// What `LinkQueue::rationalize` of mahimahi does, line by line of a trace: opportunities up to an arrival and at it
/// are used before it, each for 1504 bytes, by the packet in transit and then by those that wait.
fn mahimahi(config: &QueueConfig, lines_ms: &[u64], arrivals: &[Packet]) -> Vec<Fate> {
    let mut queue = AnyQueue::new(config, RATE);
    let mut random = Stream::new(SEED, "link/l");
    let mut fates = Vec::new();
    let (mut base_ms, mut next, mut in_transit) = (0, 0, None::<(Packet, u32)>);
    let mut pending = arrivals.iter().copied().peekable();
    loop {
        let opportunity = Time::ZERO + Span::from_millis(base_ms + lines_ms[next]);
        let arrival = pending.peek().map_or(Time::NEVER, |packet| packet.enqueued);
        if arrival == Time::NEVER && queue.backlog().packets == 0 && in_transit.is_none() {
            return fates;
        }
        let now = arrival.min(opportunity);
        if queue.next_timer() <= now {
            let timer = queue.next_timer();
            queue.on_timer(timer);
            continue;
        }
        if arrival < opportunity {
            let packet = pending.next().expect("peeked");
            match queue.enqueue(&packet, now, &mut random) {
                Verdict::Dropped(_) => fates.push(Fate::Dropped { at: now, seq: packet.seq.0 }),
                Verdict::Queued { mark } => {
                    let mark = mark.filter(|_| !packet.ecn.is_ce());
                    fates.extend(mark.map(|_| Fate::Marked { at: now, seq: packet.seq.0 }));
                }
                Verdict::Displaced => {
                    while let Some((packet, _)) = queue.take_displaced() {
                        fates.push(Fate::Dropped { at: now, seq: packet.seq.0 });
                    }
                }
            }
            continue;
        }
        next = (next + 1) % lines_ms.len();
        if next == 0 {
            base_ms += lines_ms[lines_ms.len() - 1];
        }
        let mut left = 1504;
        while left > 0 {
            let (packet, rest) = match in_transit.take() {
                Some(found) => found,
                None if queue.backlog().packets == 0 => break,
                None => match queue.dequeue(now, &mut random) {
                    Dequeued::Empty | Dequeued::Held { .. } => break,
                    Dequeued::Dropped { packet, .. } => {
                        fates.push(Fate::Dropped { at: now, seq: packet.seq.0 });
                        continue;
                    }
                    Dequeued::Packet { packet, mark, was_marked } => {
                        let mark = mark.filter(|_| !was_marked);
                        fates.extend(mark.map(|_| Fate::Marked { at: now, seq: packet.seq.0 }));
                        fates.push(Fate::Departed { at: now, seq: packet.seq.0 });
                        (packet, u32::from(packet.size) + 38)
                    }
                },
            };
            let sent = rest.min(left);
            left -= sent;
            if sent < rest {
                in_transit = Some((packet, rest - sent));
            } else {
                fates.push(Fate::Delivered { at: now + DELAY, seq: packet.seq.0, ecn: packet.ecn });
            }
        }
    }
}

/// Opportunities at 2, 4, 4, 7, 9, 11, 11, ... ms, and packets that take 752 B with 38 B of overhead, two to an
/// opportunity.
#[test]
fn packets_leave_at_opportunities() {
    let us = |us: u64| Time::ZERO + Span::from_micros(us);
    let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });
    // Three packets at 2.0 ms, one of 3008 B at 4.5 ms, and one at 7.5 ms.
    let arrivals = packets(&[(2_000, 714, 0), (0, 714, 0), (0, 714, 0), (2_500, 2970, 0), (3_000, 714, 0)]);
    let fates = lazy(&fifo, &trace(&[(2, 1), (2, 2), (3, 1)]), &arrivals, &[], 0);
    let (delivered, departed) = apart(fates);
    let left: Vec<Time> = delivered
        .iter()
        .filter_map(|fate| if let Fate::Delivered { at, .. } = fate { Some(*at) } else { None })
        .collect();
    // The opportunity at 2 ms is missed. At 4 ms three packets leave and the fourth quarter is lost; the large one
    // takes all of 7 and of 9 ms; the last one leaves at 11 ms.
    assert_eq!(left, [4_000, 4_000, 4_000, 9_000, 11_000].map(|at| us(at) + DELAY));
    let began = |fate: &Fate| if let Fate::Departed { at, .. } = fate { at.as_micros() } else { 0 };
    assert_eq!(departed.iter().map(began).collect::<Vec<_>>(), [4_000, 4_000, 4_000, 7_000, 11_000]);
}

/// A rate that changes while packets wait, an outage, and a delay that falls.
///
/// 1462 + 38 B take 1.2 ms at 10 Mbit/s and 0.6 ms at 20 Mbit/s; all five arrive at once. The delay is 3.7 ms until 3
/// ms and 0.1 ms from then on.
#[test]
fn a_rate_step_an_outage_and_a_delay_step() {
    let us = |us: u64| Time::ZERO + Span::from_micros(us);
    let schedule = Schedule {
        rate: [
            RateChange { at: us(1_000), rate: Rate::from_bps(20_000_000) },
            RateChange { at: us(2_000), rate: Rate::from_bps(0) },
            RateChange { at: us(9_000), rate: Rate::from_bps(10_000_000) },
        ]
        .into(),
        delay: [DelayChange { at: us(3_000), delay: Span::from_micros(100) }].into(),
        opportunities: None,
    };
    let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });
    let arrivals = packets(&[(0, 1462, 0); 5]);
    let fates = lazy(&fifo, &schedule, &arrivals, &[], 0);
    let ends = |of: fn(&Fate) -> Option<Time>| -> Vec<u64> {
        fates.iter().filter_map(of).map(Time::as_micros).collect()
    };
    // The first begins at 0 with 10 Mbit/s and keeps that rate; the next two begin at 1.2 and 1.8 ms with 20 Mbit/s. At
    // 2.4 ms the link is down.
    let departed = ends(|fate| if let Fate::Departed { at, .. } = fate { Some(*at) } else { None });
    assert_eq!(departed, [0, 1_200, 1_800, 9_000, 10_200]);
    // Their last bits leave at 1.2, 1.8, 2.4, 10.2 and 11.4 ms; the first three need 3.7 ms.
    let delivered = ends(|fate| if let Fate::Delivered { at, .. } = fate { Some(*at) } else { None });
    assert_eq!(delivered, [4_900, 5_500, 6_100, 10_300, 11_500]);
}

/// A packet that leaves after the delay fell arrives with the one before it, not earlier.
#[test]
fn no_packet_overtakes_another_when_the_delay_falls() {
    let us = |us: u64| Time::ZERO + Span::from_micros(us);
    let delay = [DelayChange { at: us(2_000), delay: Span::ZERO }].into();
    let schedule = Schedule { delay, ..Schedule::default() };
    let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });
    let fates = lazy(&fifo, &schedule, &packets(&[(0, 1462, 0); 5]), &[], UNMONITORED);
    let at = |fate: &Fate| {
        if let Fate::Delivered { at, seq, .. } = fate { (seq + 1, at.as_micros()) } else { (0, 0) }
    };
    // Last bits leave at 1.2, 2.4, 3.6, 4.8 and 6.0 ms; the first arrives at 1.2 + 3.7 = 4.9 ms.
    let delivered: Vec<_> = fates.iter().map(at).collect();
    assert_eq!(delivered, [(1, 4_900), (2, 4_900), (3, 4_900), (4, 4_900), (5, 6_000)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn lazy_dequeues_are_those_of_an_eager_port(
        gaps in gaps(),
        looks in prop::collection::vec(0u64..2000, 0..40),
        schedule in schedules(),
    ) {
        let arrivals = packets(&gaps);
        let mut now = Time::ZERO;
        let looks: Vec<Time> = looks.iter().map(|&gap| { now += Span::from_micros(gap); now }).collect();
        for config in queues().into_iter().chain(shaped()) {
            let (expected, others) = apart(eager(&config, &schedule, &arrivals));
            let (delivered, seen) = apart(lazy(&config, &schedule, &arrivals, &looks, 0));
            prop_assert_eq!(&delivered, &expected, "{:?}", config);
            prop_assert_eq!(&seen, &others, "{:?}", config);
            let (unmonitored, _) = apart(lazy(&config, &schedule, &arrivals, &looks, UNMONITORED));
            prop_assert_eq!(&unmonitored, &expected, "{:?}", config);
            prop_assert_eq!(
                metered(&config, &arrivals, &looks, true),
                metered(&config, &arrivals, &looks, false),
                "{:?}",
                config
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn opportunities_are_used_as_mahimahi_does(
        gaps in gaps(),
        on_instants in any::<bool>(),
        looks in prop::collection::vec(0u64..2000, 0..40),
        trace_gaps in prop::collection::vec((0u32..4, 1u32..4), 1..12),
        last in 1u32..4,
    ) {
        let mut trace_gaps = trace_gaps;
        trace_gaps.push((last, 1));
        // Whole milliseconds, so that arrivals meet opportunities.
        let gaps: Vec<_> = gaps
            .iter()
            .map(|&(gap, size, ecn)| (if on_instants { gap / 1000 * 1000 } else { gap }, size, ecn))
            .collect();
        let arrivals = packets(&gaps);
        let (mut now, mut at_ms) = (Time::ZERO, 0);
        let looks: Vec<Time> = looks.iter().map(|&gap| { now += Span::from_micros(gap); now }).collect();
        let mut lines_ms = Vec::new();
        for (gap, count) in &trace_gaps {
            at_ms += u64::from(*gap);
            lines_ms.extend((0..*count).map(|_| at_ms));
        }
        let schedule = trace(&trace_gaps);
        for config in queues() {
            let (expected, others) = apart(mahimahi(&config, &lines_ms, &arrivals));
            let (delivered, seen) = apart(lazy(&config, &schedule, &arrivals, &looks, 0));
            prop_assert_eq!(&delivered, &expected, "{:?}", config);
            prop_assert_eq!(&seen, &others, "{:?}", config);
            let (unmonitored, _) = apart(lazy(&config, &schedule, &arrivals, &looks, UNMONITORED));
            prop_assert_eq!(&unmonitored, &expected, "{:?}", config);
        }
    }
}

#[test]
fn the_property_above_sees_marks_and_drops() {
    // 300 packets at 1.7 times the line rate: every law drops, and marks unless it is a FIFO or PIE, which at such a
    // load needs a probability above 10 %.
    let gaps: Vec<_> = (0..300u64).map(|n| (700 + n % 7, 1500, n as u8)).collect();
    for config in queues().into_iter().chain(shaped()) {
        let fates = eager(&config, &Schedule::default(), &packets(&gaps));
        let count = |of: fn(&Fate) -> bool| fates.iter().filter(|fate| of(fate)).count();
        assert!(count(|fate| matches!(fate, Fate::Dropped { .. })) > 10, "{config:?}");
        let marks = count(|fate| matches!(fate, Fate::Marked { .. }));
        assert!(
            marks > 10 || matches!(config, QueueConfig::Fifo(_) | QueueConfig::Pie(_)),
            "{config:?}: {marks} marks"
        );
    }
}

/// Mean wait in a FIFO port in units of the service time, by the port itself.
fn mean_wait(arrivals: &[Packet]) -> f64 {
    let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });
    let mut recorder = recorder(fifo.clone(), &Schedule::default(), None);
    let mut port = new_port(&link(fifo, &Schedule::default()), SEED, UNMONITORED);
    let service = Serialiser::new(RATE).span(1538);
    port.close(port.far.member != ALONE, &recorder);
    let mut packet = Packet::empty(FlowId(0), 0);
    let mut waits = 0u128;
    let mut take = |port: &mut Port, now: Time| {
        while port.deliver(now, &mut packet) {
            let arrived = arrivals[packet.seq.0 as usize].enqueued;
            // It has entered the wire when its last bit had left.
            waits += u128::from((packet.enqueued - arrived - service).as_picos());
        }
    };
    for packet in arrivals {
        port.arrive(packet, packet.enqueued, &mut recorder);
        take(&mut port, packet.enqueued);
    }
    port.catch_up(Time::from_picos(u64::MAX - 1), &mut recorder);
    take(&mut port, Time::NEVER);
    assert_eq!(port.held(), 0);
    waits as f64 / arrivals.len() as f64 / service.as_picos() as f64
}

/// Pollaczek and Khinchine with constant service time: W = rho / (2 (1 - rho)) service times.
#[test]
fn poisson_arrivals_wait_as_in_m_d_1() {
    let service = Serialiser::new(RATE).span(1538).as_picos() as f64;
    for (rho, tolerance) in [(0.3, 0.02), (0.6, 0.02), (0.8, 0.04), (0.9, 0.08)] {
        let mut random = Stream::new(11, "poisson");
        let mut now = Time::ZERO;
        let arrivals: Vec<Packet> = (0..400_000)
            .map(|n| {
                // 1 - u is never zero.
                now += Span::from_picos((-libm::log(1.0 - random.uniform_f64()) * service / rho) as u64);
                Packet { enqueued: now, seq: Seq(n), ..Packet::empty(FlowId(0), 1500) }
            })
            .collect();
        let (measured, theory) = (mean_wait(&arrivals), rho / (2.0 * (1.0 - rho)));
        assert!((measured / theory - 1.0).abs() < tolerance, "rho {rho}: {measured} against {theory}");
    }
}

#[test]
fn regular_arrivals_never_wait_below_the_line_rate() {
    let service = Serialiser::new(RATE).span(1538);
    let every = |gap: Span| -> Vec<Packet> {
        let at = |n: u32| Time::ZERO + Span::from_picos(gap.as_picos() * u64::from(n));
        (0..1000).map(|n| Packet { enqueued: at(n), seq: Seq(n), ..Packet::empty(FlowId(0), 1500) }).collect()
    };
    // D/D/1 at rho <= 1.
    assert_eq!(mean_wait(&every(service)), 0.0);
    assert_eq!(mean_wait(&every(Span::from_picos(service.as_picos() + 1))), 0.0);
    // One picosecond too fast: packet n waits n picoseconds, 499.5 on average.
    let wait = mean_wait(&every(Span::from_picos(service.as_picos() - 1)));
    assert!((wait * service.as_picos() as f64 - 499.5).abs() < 1e-6, "{wait}");
}
