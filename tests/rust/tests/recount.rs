//! What the result says about links and flows, counted again from every single packet event.

use proptest::prelude::*;
use shoal_aqm::QueueConfig;
use shoal_measure::Bottleneck;
use shoal_packet::Packet;
use shoal_scenario::{Document, Experiment, LinkId};
use shoal_sim::Outcome;
use shoal_tests::{Bytes, Seen, random_scenario, run_logged};
use shoal_trace::PacketEvent;
use shoal_units::{Serialiser, Time};
use std::collections::{BTreeMap, VecDeque};

/// A link followed event by event.
struct Recount<'a> {
    window: (u64, u64),
    serialiser: Serialiser,
    overhead: u32,
    lane: fn(&Packet) -> u32,
    /// Packets with their arrival, by what is first in, first out.
    waiting: BTreeMap<u32, VecDeque<(u64, Packet)>>,
    bytes: u64,
    /// Queue protection sends some packets of a codepoint to the other queue, which no event tells: any may leave next.
    redirects: bool,
    /// A full fq-codel drops several packets at once: each is reported with what is left after the last.
    drops_in_batches: bool,
    batch: Option<u64>,
    /// The backlog has been what it is since then.
    since: u64,
    /// The transmitter is free from then on.
    free: u64,
    last: Option<&'a Seen>,
    /// How many bytes waited, for how many picoseconds.
    backlogs: Vec<(u64, u64)>,
    empty: u64,
    /// Packet picoseconds of the ECN-capable packets.
    ect_area: f64,
    busy: u64,
    largest: u64,
    delays: Vec<u64>,
    arrived: u64,
    marked: u64,
    dropped: u64,
    departed: u64,
    departed_bytes: u64,
}

impl<'a> Recount<'a> {
    fn of(experiment: &Experiment, index: usize, seen: &'a [Seen]) -> Self {
        let link = experiment.monitored().nth(index).unwrap().1;
        let window = (experiment.warmup.as_picos(), experiment.duration.as_picos());
        let mut recount = Self {
            window,
            serialiser: Serialiser::new(link.rate.unwrap()),
            overhead: link.overhead_bytes.into(),
            lane: lane_of(&link.queue),
            waiting: BTreeMap::new(),
            redirects: redirects(&link.queue),
            drops_in_batches: matches!(link.queue, QueueConfig::FqCodel(_)),
            batch: None,
            bytes: 0,
            since: window.0,
            free: 0,
            last: None,
            backlogs: Vec::new(),
            empty: 0,
            ect_area: 0.0,
            busy: 0,
            largest: 0,
            delays: Vec::new(),
            arrived: 0,
            marked: 0,
            dropped: 0,
            departed: 0,
            departed_bytes: 0,
        };
        for seen in seen.iter().filter(|seen| seen.row.link.0 as usize == index) {
            recount.event(seen);
            recount.last = Some(seen);
        }
        recount.advance(window.1);
        recount
    }

    fn event(&mut self, seen: &'a Seen) {
        let now = seen.row.time_ps;
        assert!(self.last.is_none_or(|last| last.row.time_ps <= now), "time goes back");
        self.advance(now);
        if seen.row.event != PacketEvent::Drop
            && let Some(left) = self.batch.take()
        {
            assert_eq!(self.bytes, left, "before {seen:?}");
        }
        let counts = u64::from(now >= self.window.0);
        match seen.row.event {
            PacketEvent::Arrive => {
                self.arrived += counts;
                let lane = (self.lane)(&seen.packet);
                self.waiting.entry(lane).or_default().push_back((now, seen.packet));
                self.bytes += u64::from(seen.row.size);
            }
            PacketEvent::Mark => {
                self.marked += counts;
                assert!(seen.packet.ecn.is_capable());
            }
            PacketEvent::Drop => {
                self.dropped += counts;
                // A drop right after its arrival is one on arrival; all others happen at the head.
                let on_arrival = self.last.is_some_and(|last| {
                    last.row.event == PacketEvent::Arrive && identity(&last.packet) == identity(&seen.packet)
                });
                let lane = self.lane(seen, on_arrival);
                let (_, packet) = if on_arrival { lane.pop_back() } else { lane.pop_front() }.unwrap();
                self.remove(&packet, seen);
            }
            PacketEvent::Depart => {
                let first = self.waiting.values().flatten().map(|(arrival, _)| *arrival).min().unwrap();
                let (arrival, packet) = self.lane(seen, false).pop_front().unwrap();
                self.remove(&packet, seen);
                // Lindley: some packet starts when one is there and the line is free, not later.
                assert_eq!(now, first.max(self.free), "the line is not work-conserving");
                assert_eq!(seen.row.sojourn_ps, now - arrival);
                let wire = u32::from(packet.size) + self.overhead;
                self.free = now + self.serialiser.span(wire).as_picos();
                self.busy += self.free.min(self.window.1).saturating_sub(now.max(self.window.0));
                if counts == 1 {
                    self.delays.push(now - arrival);
                    self.departed += 1;
                    self.departed_bytes += u64::from(wire);
                }
            }
        }
    }

    /// The lane that a packet waits in; a mark may have changed its codepoint since it came.
    fn lane(&mut self, seen: &Seen, last: bool) -> &mut VecDeque<(u64, Packet)> {
        if self.redirects {
            self.bring_to_an_end(seen, last);
        }
        let is = |lane: &VecDeque<(u64, Packet)>| {
            let end = if last { lane.back() } else { lane.front() };
            end.is_some_and(|(_, packet)| identity(packet) == identity(&seen.packet))
        };
        let lane = self.waiting.values_mut().find(|lane| is(lane));
        lane.unwrap_or_else(|| panic!("not first in, first out: {seen:?}"))
    }

    /// Moves a packet to the end of its lane at which it is looked for.
    fn bring_to_an_end(&mut self, seen: &Seen, last: bool) {
        for lane in self.waiting.values_mut() {
            let at = lane.iter().position(|(_, packet)| identity(packet) == identity(&seen.packet));
            if let Some(waited) = at.and_then(|at| lane.remove(at)) {
                if last {
                    lane.push_back(waited);
                } else {
                    lane.push_front(waited);
                }
                return;
            }
        }
    }

    fn remove(&mut self, packet: &Packet, seen: &Seen) {
        assert_eq!(identity(packet), identity(&seen.packet), "not first in, first out");
        self.bytes -= u64::from(packet.size);
        if self.drops_in_batches && seen.row.event == PacketEvent::Drop {
            self.batch = Some(seen.row.backlog_bytes);
        } else {
            assert_eq!(self.bytes, seen.row.backlog_bytes, "{seen:?}");
        }
    }

    fn advance(&mut self, now: u64) {
        if now > self.since {
            let span = now - self.since;
            self.backlogs.push((self.bytes, span));
            let ect = self.waiting.values().flatten().filter(|(_, packet)| packet.ecn.is_capable()).count();
            self.ect_area += ect as f64 * span as f64;
            self.empty += if self.waiting.values().all(VecDeque::is_empty) { span } else { 0 };
            self.largest = self.largest.max(self.bytes);
            self.since = now;
        }
    }

    fn check(&self, link: &Bottleneck) {
        let counts = (self.arrived, self.marked, self.dropped, self.departed, self.departed_bytes);
        assert_eq!(counts, (link.arrived, link.marked, link.dropped, link.departed, link.departed_bytes));
        let span = (self.window.1 - self.window.0) as f64;
        let weighted = |value: &dyn Fn(f64) -> f64| {
            self.backlogs.iter().map(|&(bytes, time)| value(bytes as f64) * time as f64).sum::<f64>() / span
        };
        let mean = weighted(&|bytes| bytes);
        close(link.queue_bytes.mean, mean, 1e-9);
        // Of the distances from the mean: the difference of two large squares leaves nothing of a small deviation.
        close(link.queue_bytes.sd, weighted(&|bytes| (bytes - mean).powi(2)).sqrt(), 1e-5);
        assert_eq!(link.queue_bytes.max, Some(self.largest as f64));
        close(link.class_queue_packets.ect.mean, self.ect_area / span, 1e-9);
        let classes = link.class_queue_packets;
        close(link.queue_packets.mean, classes.ect.mean.unwrap() + classes.not_ect.mean.unwrap(), 1e-9);
        close(link.queue_empty, self.empty as f64 / span, 1e-12);
        close(link.utilisation, self.busy as f64 / span, 1e-12);
        if let Some(worst) = self.delays.iter().max() {
            let mean = self.delays.iter().map(|&ps| ps as f64).sum::<f64>() / self.delays.len() as f64;
            close(link.delay_s.all.mean, mean / 1e12, 1e-9);
            close(link.delay_s.all.max, *worst as f64 / 1e12, 1e-12);
        }
        let classes = [&link.ect, &link.not_ect];
        assert_eq!(classes.iter().map(|class| class.departed).sum::<u64>(), link.departed);
        assert_eq!(link.not_ect.marked, 0);
    }
}

/// What a law keeps in order of arrival: everything, the two queues of a dual one, or every flow.
fn lane_of(queue: &QueueConfig) -> fn(&Packet) -> u32 {
    match queue {
        QueueConfig::DualCoupled(_) => |packet| u32::from(packet.ecn.is_capable()),
        // The codepoint decides, by a mask; whatever it is, packets of one codepoint stay in order.
        QueueConfig::DualPi2(_) => |packet| u32::from(packet.ecn.bits()),
        // A flow has one queue of a port, and in each queue of `two-classes` packets stay in order.
        QueueConfig::FqCodel(_) | QueueConfig::Classes(_) => |packet| packet.flow.0,
        _ => |_| 0,
    }
}

/// Whether packets of one class may be in two queues.
const fn redirects(queue: &QueueConfig) -> bool {
    match queue {
        QueueConfig::DualCoupled(dual) => dual.protection.is_some(),
        QueueConfig::DualPi2(dual) => dual.protection.is_some(),
        _ => false,
    }
}

/// What a queue may not change; a mark may change the codepoint.
fn identity(packet: &Packet) -> (u32, u32, u32, u16, u16, u32) {
    (packet.flow.0, packet.seq.0, packet.ack.0, packet.payload, packet.size, packet.ts_val)
}

fn close(measured: Option<f64>, expected: f64, relative: f64) {
    let measured = measured.expect("measured");
    assert!(
        (measured - expected).abs() <= relative * expected.abs().max(1.0),
        "{measured} instead of {expected}"
    );
}

/// A flow's rate on the wire is what its data occupied on the first monitored link of its path, and so no more than the
/// line rate; over a whole run nothing is delivered that was not on the wire.
fn check_flows(experiment: &Experiment, outcome: &Outcome, seen: &[Seen]) {
    let span = (experiment.duration - experiment.warmup).as_secs_f64();
    let monitored: Vec<LinkId> = experiment.monitored().map(|(id, _)| id).collect();
    let results = outcome.groups.iter().flat_map(|group| &group.flows);
    for ((number, flow), result) in (0u32..).zip(&experiment.flows).zip(results) {
        let path = &experiment.paths[flow.forward as usize];
        let Some((probe, link)) = path.iter().find_map(|id| {
            let probe = monitored.iter().position(|link| link == id)?;
            Some((probe as u32, &experiment.links[id.0 as usize]))
        }) else {
            continue;
        };
        let bytes: u64 = seen
            .iter()
            .filter(|seen| seen.row.event == PacketEvent::Depart && seen.row.link.0 == probe)
            .filter(|seen| seen.row.flow == number && seen.packet.payload > 0)
            .filter(|seen| Time::from_picos(seen.row.time_ps) >= Time::ZERO + experiment.warmup)
            .map(|seen| u64::from(seen.row.size) + u64::from(link.overhead_bytes))
            .sum();
        close(result.wire_bps, 8.0 * bytes as f64 / span, 1e-9);
        // A packet whose transmission began inside counts in full.
        let slack = 8.0 * 9100.0 / span;
        assert!(result.wire_bps.unwrap() <= link.rate.unwrap().as_bps() as f64 + slack, "{result:?}");
        if experiment.warmup.is_zero() {
            assert!(result.goodput_bps <= result.wire_bps, "{result:?}");
        }
    }
}

/// On a link that only data crosses, the rates of the flows add up to its utilisation.
#[test]
fn wire_rates_add_up_to_utilisation() {
    let text = include_str!("../../../scenarios/coexistence.toml").replace("\"300 s\"", "\"60 s\"");
    let outcome = shoal_tests::run(&shoal_tests::experiment(&text));
    let sum: f64 = outcome.groups.iter().map(|group| group.wire_bps.sum.unwrap()).sum();
    let link = &outcome.bottlenecks[0];
    // One packet that began before the window and one that ends after it.
    let slack = 8.0 * 1500.0 / 30.0;
    assert!((sum - link.utilisation.unwrap() * link.rate_bps).abs() <= slack, "{sum} {link:?}");
    assert!(outcome.groups.iter().all(|group| group.goodput_bps.sum < group.wire_bps.sum));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(shoal_tests::cases(150)))]

    #[test]
    fn results_are_those_of_the_packet_trace(bytes in prop::collection::vec(any::<u8>(), 40..80)) {
        let text = random_scenario(&mut Bytes::new(&bytes));
        let Ok(document) = Document::parse(&text, "test.toml") else { return Ok(()) };
        let mut experiment = document.resolve(None).unwrap();
        // Keeps the warm-up, unlike `monitor_all_links`.
        experiment.links.iter_mut().for_each(|link| link.monitored = true);
        let (outcome, seen) = run_logged(&experiment);
        for (index, link) in outcome.bottlenecks.iter().enumerate() {
            Recount::of(&experiment, index, &seen).check(link);
        }
        check_flows(&experiment, &outcome, &seen);
    }
}
