//! A model that drives any link with arbitrary operations, and checks what all links promise.
//!
//! Property tests and the fuzz target share it: [`run`] turns any bytes into a link and operations. These go to three
//! links: one is asked whenever it wants to be, one as late as possible, and the third has all changes in its
//! configuration. They must agree in every packet and every time.

use crate::{Arrival, Bottleneck, DelayChange, LinkConfig, Lost, Next};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use shoal_aqm::testing::{Input, Kind};
use shoal_aqm::{AnyQueue, ClassConfig, Queue, QueueConfig, Verdict};
use shoal_netem::{Chance, Distribution, Impairments, Jitter, Loss, Reorder, Slot};
use shoal_packet::Ecn;
use shoal_units::{Opportunities, Rate, RateChange, Span, Time};

#[derive(Clone, Copy, Debug)]
enum Operation {
    Enqueue { bytes: u16, ecn: Ecn, flow: u32 },
    SetRate(Rate),
    SetDelay(Span),
}

/// Everything that a caller gets to hear.
#[derive(Clone, PartialEq, Debug, Default)]
struct Heard {
    verdicts: Vec<Verdict>,
    arrivals: Vec<Arrival>,
    lost: Vec<Lost>,
}

impl Heard {
    fn must_be(&self, other: &Self, why: &str) {
        assert_eq!(self.verdicts, other.verdicts, "{why}");
        let arrivals = self.arrivals.iter().zip(&other.arrivals).find(|(one, other)| one != other);
        assert_eq!(arrivals, None, "{why}: arrivals");
        let lost = self.lost.iter().zip(&other.lost).find(|(one, other)| one != other);
        assert_eq!(lost, None, "{why}: losses");
        assert_eq!(self, other, "{why}: one hears more");
    }
}

/// Drives the links that `bytes` describe. Returns how many packets came; `None` if there is no such link.
///
/// # Panics
/// If a link breaks a promise.
pub fn run(bytes: &[u8]) -> Option<usize> {
    let mut input = Input::new(bytes);
    let link = link(&mut input)?;
    link.check().ok()?;
    let slowest = if has_timer(&link) { SLOWEST.as_bps() } else { 0 };
    let operations = operations(&mut input, slowest);
    let asked = drive(&link, &operations, true);
    asked.must_be(&drive(&link, &operations, false), "it matters when the link is asked");
    let (planned, rest) = planned(&link, &operations);
    asked.must_be(&drive(&planned, &rest, true), "it matters whether a change is planned");
    account(&link, &asked);
    Some(asked.verdicts.len())
}

/// Calls a link of any kind, but for those whose law has a timer, with any numbers: none panics, and time goes on.
///
/// # Panics
/// If a call does, or a link wants to be asked about the past.
pub fn hostile(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let Some(link) = link(&mut input) else { return };
    let Ok(mut bottleneck) = Bottleneck::new(&link, 7) else { return };
    if has_timer(&link) && link.rate.is_some() {
        return;
    }
    let mut asked = Time::ZERO;
    while !input.is_empty() {
        let (kind, ecn, flow) = (input.byte(), input.byte(), u32::from(input.byte()));
        let now = Time::from_picos(any_number(&mut input));
        let value = any_number(&mut input);
        match kind % 4 {
            0 => {
                let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn % 4)];
                let _ = bottleneck.enqueue(now, value as u16, ecn, flow, value);
            }
            1 => {
                let _ = bottleneck.set_rate(now, Rate::from_bps(value));
            }
            2 => {
                let _ = bottleneck.set_delay(now, Span::from_picos(value));
            }
            _ => asked = asked.max(now),
        }
        asked = asked.max(now.min(Bottleneck::LAST));
        for _ in 0..4 {
            if let Next::At(at) = bottleneck.next(asked) {
                assert!(at > asked.min(Bottleneck::LAST), "the link wants to be asked about the past");
                break;
            }
        }
    }
}

fn has_timer(link: &LinkConfig) -> bool {
    AnyQueue::new(&link.queue, Rate::from_bps(1_000_000)).next_timer() < Time::NEVER
}

/// A number of any size, often small.
fn any_number(input: &mut Input<'_>) -> u64 {
    let bytes: [u8; 4] = core::array::from_fn(|_| input.byte());
    let number = u64::from(u32::from_le_bytes(bytes));
    number.checked_shl(u32::from(input.byte() % 40)).unwrap_or(u64::MAX)
}

/// Least rate of a link whose law has a timer, and of each class on it. The timer expires all through a transmission,
/// 100,000 times a second at most: 300 packets of 9000 B at 10 Mbit/s are 200,000 expirations, and at rates of hours a
/// packet they would be the whole time of the fuzzer.
const SLOWEST: Rate = Rate::from_bps(10_000_000);

/// A link of any kind; `None` if its law has a timer that expires more often than each 10 us, or it is slower than
/// [`SLOWEST`] then, which takes too long here.
fn link(input: &mut Input<'_>) -> Option<LinkConfig> {
    let kind = Kind::ALL[usize::from(input.byte()) % Kind::ALL.len()];
    let features = input.byte();
    let has = |bit: u8| features & 1 << bit != 0;
    let rate = input.rate();
    let delay = micros(input);
    let queue = input.config(kind, rate);
    let mut law = AnyQueue::try_new(&queue, rate).ok()?;
    let first = law.next_timer();
    if first < Time::NEVER {
        law.on_timer(first);
        let is_slow = |class: &ClassConfig| class.shaper.is_some_and(|shaper| shaper.rate < SLOWEST);
        let is_shaped_slow = matches!(&queue, QueueConfig::Classes(all) if all.queues.iter().any(is_slow));
        if law.next_timer() < first + Span::from_micros(10) || rate < SLOWEST || is_shaped_slow {
            return None;
        }
    }
    let opportunities = (features % 8 == 7).then(|| {
        Opportunities::new([(u32::from(input.byte() % 4), 2), (1 + u32::from(input.byte() % 4), 1)])
    });
    Some(LinkConfig {
        rate: (features % 16 != 8).then_some(rate),
        opportunities: opportunities.flatten().map(Arc::new),
        overhead_bytes: if has(4) { 38 } else { 0 },
        impairments: has(5).then(|| Box::new(impairments(input))),
        ..LinkConfig::new(rate, delay, queue)
    })
}

fn impairments(input: &mut Input<'_>) -> Impairments {
    let mut chance = || Chance(u32::from(input.byte()) << 23);
    let loss = Loss::Random { probability: chance(), correlation: Chance::NEVER };
    let (duplicate, corrupt, reorder) = (chance(), chance(), chance());
    let switches = input.byte();
    let has = |bit: u8| switches & 1 << bit != 0;
    Impairments {
        jitter: Jitter {
            ns: if has(0) { 500_000 } else { 0 },
            distribution: Distribution::Uniform,
            correlation: Chance::NEVER,
        },
        keep_order: has(1),
        loss,
        duplicate,
        corrupt,
        reorder: has(2).then_some(Reorder { probability: reorder, gap: 3 }),
        slot: has(3).then_some(Slot {
            min: Span::from_micros(300),
            max: Span::from_micros(900),
            packets: 4,
            bytes: 0,
        }),
        clears_ecn: has(4),
    }
}

/// Up to 16 ms, often none.
fn micros(input: &mut Input<'_>) -> Span {
    let byte = u64::from(input.byte());
    Span::from_micros(if byte < 64 { 0 } else { 64 * (byte - 63) })
}

/// Operations in the order of their times. A change comes later than what is before it, and no rate but that of an
/// outage is below `slowest_bps`.
fn operations(input: &mut Input<'_>, slowest_bps: u64) -> Vec<(Time, Operation)> {
    const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    let mut operations = Vec::new();
    let mut now = Time::ZERO;
    let mut rate = 1;
    while !input.is_empty() && operations.len() < 300 {
        let first = input.byte();
        let high = first >> 4;
        match first & 15 {
            0..=9 => operations.push((
                now,
                Operation::Enqueue {
                    bytes: [1500, 52, 9000, u16::from(input.byte())][usize::from(high % 4)],
                    ecn: ECN[usize::from(input.byte() % 4)],
                    flow: u32::from(high),
                },
            )),
            10..=13 => now += micros(input),
            14 => {
                now += Span::from_picos(1) + micros(input);
                // An outage ends with the next change.
                rate = if rate == 0 || high > 4 { input.rate().as_bps().max(slowest_bps) } else { 0 };
                operations.push((now, Operation::SetRate(Rate::from_bps(rate))));
            }
            _ => {
                now += Span::from_picos(1) + micros(input);
                operations.push((now, Operation::SetDelay(micros(input))));
            }
        }
    }
    // Everything that waits is sent in the end.
    operations.push((now + Span::from_picos(1), Operation::SetRate(Rate::from_bps(1_000_000_000))));
    operations
}

/// A link with all changes in its configuration, and the operations that remain.
fn planned(link: &LinkConfig, operations: &[(Time, Operation)]) -> (LinkConfig, Vec<(Time, Operation)>) {
    let (mut rates, mut delays, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for &(at, operation) in operations {
        match operation {
            Operation::SetRate(rate) => rates.push(RateChange { at, rate }),
            Operation::SetDelay(delay) => delays.push(DelayChange { at, delay }),
            Operation::Enqueue { .. } => rest.push((at, operation)),
        }
    }
    (LinkConfig { rate_changes: rates.into(), delay_changes: delays.into(), ..link.clone() }, rest)
}

/// What is heard of a link, which is asked whenever it wants to be, or as late as possible.
fn drive(link: &LinkConfig, operations: &[(Time, Operation)], at_once: bool) -> Heard {
    let mut bottleneck = Bottleneck::new(link, 7).expect("checked");
    let mut heard = Heard::default();
    let mut wanted = None;
    let mut handle = 0;
    for &(now, operation) in operations {
        while at_once && let Some(at) = wanted.filter(|at| *at < now) {
            wanted = ask(&mut bottleneck, at, &mut heard);
        }
        match operation {
            Operation::Enqueue { bytes, ecn, flow } => {
                heard.verdicts.push(bottleneck.enqueue(now, bytes, ecn, flow, handle));
                handle += 1;
            }
            Operation::SetRate(rate) => {
                let is_set = bottleneck.set_rate(now, rate).is_ok();
                assert_eq!(is_set, link.rate.is_some() && link.opportunities.is_none());
            }
            Operation::SetDelay(delay) => bottleneck.set_delay(now, delay).expect("short"),
        }
        if at_once {
            // A change counts a picosecond later if something was asked about its time before; afterwards it may be.
            wanted = ask(&mut bottleneck, now, &mut heard);
        }
    }
    wanted = ask(&mut bottleneck, operations.last().map_or(Time::ZERO, |last| last.0), &mut heard);
    while let Some(at) = wanted {
        wanted = ask(&mut bottleneck, at, &mut heard);
    }
    assert_eq!(bottleneck.held(), 0, "packets stay");
    assert_eq!(bottleneck.backlog().packets, 0, "packets wait");
    let counters = bottleneck.counters();
    let accepted = heard.verdicts.iter().filter(|verdict| !matches!(verdict, Verdict::Dropped(_))).count();
    let dropped_later = heard.lost.iter().filter(|lost| lost.reason.is_some()).count();
    if link.rate.is_some() {
        assert_eq!(counters.arrived as usize, heard.verdicts.len());
        assert_eq!(counters.dropped as usize, heard.verdicts.len() - accepted + dropped_later);
    }
    assert_eq!(counters.delivered as usize, heard.arrivals.len());
    // What is lost is told when somebody looks.
    heard.lost.sort_by_key(|lost| (lost.at, lost.handle));
    heard
}

/// Hears all that has happened by `now`. Returns when to ask again.
fn ask(bottleneck: &mut Bottleneck, now: Time, heard: &mut Heard) -> Option<Time> {
    loop {
        match bottleneck.next(now) {
            Next::Packet(arrival) => {
                assert!(arrival.at <= now, "a packet from the future");
                heard.arrivals.push(arrival);
            }
            Next::Lost(lost) => {
                assert!(lost.at <= now, "a loss from the future");
                heard.lost.push(lost);
            }
            Next::At(at) => {
                assert!(at > now, "the link wants to be asked about the past");
                return Some(at);
            }
            Next::Nothing => return None,
        }
    }
}

/// Every packet that was accepted arrives or is lost, and only impairments make two of one.
fn account(link: &LinkConfig, heard: &Heard) {
    assert!(heard.arrivals.is_sorted_by_key(|arrival| arrival.at), "arrivals in another order");
    let duplicates = link.impairments.as_ref().is_some_and(|all| all.duplicate.is_possible());
    let most = if duplicates { 2 } else { 1 };
    for (handle, verdict) in (0..).zip(&heard.verdicts) {
        let arrived = heard.arrivals.iter().filter(|arrival| arrival.handle == handle).count();
        let lost = heard.lost.iter().filter(|lost| lost.handle == handle).count();
        match verdict {
            Verdict::Dropped(_) => assert_eq!((arrived, lost), (0, 0), "a dropped packet comes back"),
            _ => assert!(
                (lost == 0 && (1..=most).contains(&arrived)) || (lost == 1 && arrived == 0),
                "packet {handle}: {arrived} arrivals, lost {lost} times"
            ),
        }
    }
}
