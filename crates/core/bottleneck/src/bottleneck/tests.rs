//! What a caller hears of a link.

use super::{Bottleneck, Next};
use crate::{LinkConfig, LinkError, testing};
use proptest::prelude::*;
use shoal_aqm::{DecideAt, Extent, FifoConfig, QueueConfig, StepConfig, Verdict};
use shoal_netem::{Chance, Impairments, Loss};
use shoal_packet::{Ecn, Reason};
use shoal_units::{Rate, Span, Time};
use std::boxed::Box;
use std::vec::Vec;

/// 1500 B take 1 ms.
const RATE: Rate = Rate::from_bps(12_000_000);
const FIFO: QueueConfig = QueueConfig::Fifo(FifoConfig { limit: Extent::Packets(2) });

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Times in ms and handles of what has arrived by `now`; what is lost has a negative time.
fn heard(bottleneck: &mut Bottleneck, now: Time) -> Vec<(i64, u64)> {
    let mut heard = Vec::new();
    loop {
        heard.push(match bottleneck.next(now) {
            Next::Packet(arrival) => (arrival.at.as_millis().cast_signed(), arrival.handle),
            Next::Lost(lost) => (-lost.at.as_millis().cast_signed(), lost.handle),
            Next::At(_) | Next::Nothing => return heard,
        });
    }
}

#[test]
fn a_rate_that_is_set_holds_for_the_next_transmission() {
    let link = LinkConfig::new(RATE, Span::ZERO, FIFO);
    let mut bottleneck = Bottleneck::new(&link, 1).unwrap();
    for handle in 0..3 {
        let _ = bottleneck.enqueue(ms(0), 1500, Ecn::NotEct, 0, handle);
    }
    // Half as fast from 1 ms on, when the second transmission begins; down from 2 ms on, in the middle of it.
    bottleneck.set_rate(ms(1), Rate::from_bps(6_000_000)).unwrap();
    bottleneck.set_rate(ms(2), Rate::from_bps(0)).unwrap();
    assert_eq!(heard(&mut bottleneck, ms(9)), [(1, 0), (3, 1)]);
    assert_eq!(bottleneck.next(ms(9)), Next::Nothing, "the third waits for a rate");
    assert_eq!(bottleneck.backlog().packets, 1);
    bottleneck.set_rate(ms(20), RATE).unwrap();
    assert_eq!(heard(&mut bottleneck, ms(99)), [(21, 2)]);
}

#[test]
fn a_delay_that_is_set_holds_for_the_packet_in_transmission() {
    let link = LinkConfig::new(RATE, Span::from_millis(10), FIFO);
    let mut bottleneck = Bottleneck::new(&link, 1).unwrap();
    for handle in 0..3 {
        let _ = bottleneck.enqueue(ms(0), 1500, Ecn::NotEct, 0, handle);
    }
    // The last bits leave at 1, 2 and 3 ms, and need 10, 20 and 0 ms; the third packet does not overtake the second.
    bottleneck.set_delay(ms(2), Span::from_millis(20)).unwrap();
    bottleneck.set_delay(ms(3), Span::ZERO).unwrap();
    assert_eq!(heard(&mut bottleneck, ms(99)), [(11, 0), (22, 1), (22, 2)]);
}

#[test]
fn marks_are_told_at_once_or_with_the_packet() {
    for (decide, marked) in
        [(DecideAt::Enqueue, [false, false, true]), (DecideAt::Dequeue, [true, false, false])]
    {
        let threshold = Extent::Packets(1);
        let step =
            StepConfig { threshold, decide, drop_threshold: Extent::Unlimited, limit: Extent::Unlimited };
        let mut bottleneck = Bottleneck::new(&LinkConfig::new(RATE, Span::ZERO, step.into()), 1).unwrap();
        let at_once = [0, 1, 2].map(|handle| {
            let verdict = bottleneck.enqueue(ms(0), 1500, Ecn::Ect0, 0, handle);
            matches!(verdict, Verdict::Queued { mark: Some(Reason::Threshold) })
        });
        // On arrival the third finds one that waits. On departure the second leaves one behind it.
        assert_eq!(at_once, if decide == DecideAt::Enqueue { marked } else { [false; 3] });
        let mut with_packet = Vec::new();
        while let Next::Packet(arrival) = bottleneck.next(ms(9)) {
            assert_eq!(arrival.is_marked, arrival.ecn == Ecn::Ce);
            with_packet.push(arrival.is_marked);
        }
        assert_eq!(with_packet.iter().filter(|marked| **marked).count(), 1, "{decide:?}: {with_packet:?}");
        assert_eq!(bottleneck.counters().marked, 1);
        // A mark of somebody else stays theirs.
        let verdict = bottleneck.enqueue(ms(20), 1500, Ecn::Ce, 0, 3);
        assert_eq!(verdict, Verdict::Queued { mark: None });
        assert!(matches!(bottleneck.next(ms(30)), Next::Packet(arrival) if !arrival.is_marked));
    }
}

#[test]
fn what_the_wire_loses_is_told() {
    let loss = Loss::Random { probability: Chance::ALWAYS, correlation: Chance::NEVER };
    let impairments = Some(Box::new(Impairments { loss, ..Impairments::NONE }));
    let link = LinkConfig { impairments, ..LinkConfig::new(RATE, Span::from_millis(5), FIFO) };
    let mut bottleneck = Bottleneck::new(&link, 1).unwrap();
    let _ = bottleneck.enqueue(ms(0), 1500, Ecn::NotEct, 0, 77);
    assert_eq!(bottleneck.next(ms(0)), Next::At(ms(1)));
    assert_eq!(heard(&mut bottleneck, ms(9)), [(-1, 77)]);
    assert_eq!(bottleneck.counters().lost, 1);
    assert_eq!(bottleneck.impairment_counts().map(|counts| counts.lost), Some(1));
}

#[test]
fn time_does_not_go_back_and_ends() {
    let mut bottleneck = Bottleneck::new(&LinkConfig::new(RATE, Span::ZERO, FIFO), 1).unwrap();
    let _ = bottleneck.enqueue(ms(10), 1500, Ecn::NotEct, 0, 0);
    let _ = bottleneck.enqueue(ms(3), 1500, Ecn::NotEct, 0, 1);
    assert_eq!(heard(&mut bottleneck, ms(99)), [(11, 0), (12, 1)]);
    let _ = bottleneck.enqueue(Time::NEVER, 1500, Ecn::NotEct, 0, 2);
    assert_eq!(bottleneck.next(Time::NEVER), Next::Nothing, "it would leave after the last time");
}

#[test]
fn links_that_cannot_be_are_refused() {
    let refused = |link: LinkConfig| Bottleneck::new(&link, 1).err();
    let link = LinkConfig::new(RATE, Span::ZERO, FIFO);
    assert_eq!(
        refused(LinkConfig { rate: Some(Rate::from_bps(0)), ..link.clone() }),
        Some(LinkError::ZeroRate)
    );
    assert_eq!(refused(LinkConfig { delay: Span::MAX, ..link }), Some(LinkError::LongDelay));
    let mut delay = Bottleneck::new(&LinkConfig::pure_delay(Span::from_millis(5)), 1).unwrap();
    assert_eq!(delay.set_rate(ms(0), RATE), Err(LinkError::NoRate));
    let _ = delay.enqueue(ms(1), 1500, Ecn::NotEct, 0, 9);
    assert_eq!(heard(&mut delay, ms(99)), [(6, 9)]);
}

/// Random inputs of a property; Miri interprets them, which takes seconds for each.
const CASES: u32 = if cfg!(miri) { 4 } else { 3000 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    #[test]
    fn any_link_under_any_operations(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        testing::run(&bytes);
    }

    #[test]
    fn any_numbers_from_callers(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        testing::hostile(&bytes);
    }
}

#[test]
#[cfg_attr(miri, ignore = "it judges the inputs, for which Miri is too slow")]
fn the_property_above_sees_packets() {
    let mut random = shoal_units::Stream::new(3, "bytes");
    let runs: Vec<usize> = (0..300)
        .filter_map(|_| {
            let bytes: Vec<u8> = (0..400).map(|_| random.uniform_u64() as u8).collect();
            testing::run(&bytes)
        })
        .collect();
    assert!(runs.len() > 200 && runs.iter().sum::<usize>() > 10_000, "{} links", runs.len());
}

fn step(packets: u32, decide: DecideAt) -> StepConfig {
    let limit = Extent::Unlimited;
    StepConfig { threshold: Extent::Packets(packets), decide, drop_threshold: limit, limit }
}

#[test]
fn a_threshold_that_is_set_holds_for_packets_that_wait() {
    let link = LinkConfig::new(RATE, Span::ZERO, step(9, DecideAt::Dequeue).into());
    let mut bottleneck = Bottleneck::new(&link, 1).unwrap();
    for handle in 0..6 {
        let _ = bottleneck.enqueue(ms(0), 1500, Ecn::Ect0, 0, handle);
    }
    // The transmissions of packets 0 to 5 begin at 0, 1, ... 5 ms; those of 2 and 3 see 4 and 3, themselves included.
    bottleneck.set_law(ms(2), &step(2, DecideAt::Dequeue).into()).unwrap();
    let mut marked = Vec::new();
    while let Next::Packet(arrival) = bottleneck.next(ms(9)) {
        marked.push(arrival.is_marked);
    }
    assert_eq!(marked, [false, false, true, true, false, false]);
    assert_eq!(bottleneck.counters().dropped, 0);
}

#[test]
fn a_law_keeps_what_it_has_learnt_and_becomes_no_other() {
    use shoal_aqm::testing::{Input, Kind};
    let of = |kind: Kind| Input::new(&[128; 40]).config(kind, RATE);
    let QueueConfig::DualPi2(config) = of(Kind::DualPi2) else { unreachable!() };
    let mut bottleneck = Bottleneck::new(&LinkConfig::new(RATE, Span::ZERO, config.into()), 1).unwrap();
    // Twice as many as leave, for a second.
    for number in 0..2000 {
        let _ =
            bottleneck.enqueue(Time::ZERO + Span::from_micros(500 * number), 1500, Ecn::NotEct, 0, number);
    }
    let (before, waiting) = (bottleneck.law_state().1.unwrap(), bottleneck.backlog());
    assert!(before > 0.0 && waiting.packets > 0, "{before} {waiting:?}");
    let target = Span::from_millis(1);
    bottleneck.set_law(ms(1000), &shoal_aqm::DualPi2Config { target, ..config }.into()).unwrap();
    assert_eq!(bottleneck.law_state().1, Some(before));
    assert!(waiting.packets - bottleneck.backlog().packets <= 1, "at most one has left meanwhile");
    assert_eq!(bottleneck.set_law(ms(1001), &FIFO), Err(LinkError::FixedLaw));
    let mut fifo = Bottleneck::new(&LinkConfig::new(RATE, Span::ZERO, FIFO), 1).unwrap();
    assert_eq!(fifo.set_law(ms(0), &FIFO), Err(LinkError::FixedLaw), "a FIFO has no law");
    let mut line = Bottleneck::new(&LinkConfig::pure_delay(Span::ZERO), 1).unwrap();
    assert_eq!(line.set_law(ms(0), &FIFO), Err(LinkError::NoRate));
}

#[test]
fn waits_are_told_once_they_are_watched() {
    let mut bottleneck = Bottleneck::new(&LinkConfig::new(RATE, Span::ZERO, FIFO), 1).unwrap();
    let _ = bottleneck.enqueue(ms(0), 1500, Ecn::NotEct, 0, 0);
    bottleneck.watch_waits();
    for (handle, ecn) in [(1, Ecn::NotEct), (2, Ecn::Ect0)] {
        let _ = bottleneck.enqueue(ms(0), 1500, ecn, 0, handle);
    }
    let _ = bottleneck.next(ms(1));
    // The one that left at once was not watched; the second waits for it, and the third for both.
    let mut waits = |now| {
        while let Next::Packet(_) = bottleneck.next(now) {}
        bottleneck.waits().collect::<Vec<_>>()
    };
    assert_eq!(waits(ms(1)), [(Ecn::NotEct, Span::from_millis(1))]);
    assert_eq!(waits(ms(9)), [(Ecn::Ect0, Span::from_millis(2))]);
    assert_eq!(waits(ms(9)), []);
}

/// Parameters that are set and are those that hold lose nothing of what a law has learnt.
#[test]
fn parameters_that_hold_already_change_nothing() {
    use shoal_aqm::testing::{Input, Kind};
    let mut takers = Vec::new();
    for kind in Kind::ALL {
        let link = LinkConfig::new(RATE, Span::from_millis(5), Input::new(&[128; 60]).config(*kind, RATE));
        let Ok(mut plain) = Bottleneck::new(&link, 7) else { continue };
        let mut set = Bottleneck::new(&link, 7).unwrap();
        let mut is_taker = false;
        for number in 0..3000u64 {
            let now = Time::ZERO + Span::from_micros(900 * number);
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][number as usize % 3];
            let bytes = 600 + (number * 37 % 900) as u16;
            if number % 100 == 99 {
                is_taker = set.set_law(now, &link.queue).is_ok();
                // A change counts as one of the next picosecond, for both.
                plain.set_delay(now, link.delay).unwrap();
                set.set_delay(now, link.delay).unwrap();
            }
            let verdicts = [&mut plain, &mut set].map(|link| link.enqueue(now, bytes, ecn, 1, number));
            assert_eq!(verdicts[0], verdicts[1], "{kind:?}, packet {number}");
            loop {
                let next = [plain.next(now), set.next(now)];
                assert_eq!(next[0], next[1], "{kind:?}, packet {number}");
                if matches!(next[0], Next::At(_) | Next::Nothing) {
                    break;
                }
            }
        }
        assert_eq!(plain.law_state(), set.law_state(), "{kind:?}");
        if is_taker {
            takers.push(std::format!("{kind:?}"));
        }
    }
    assert_eq!(takers, ["Step", "DualPi2", "Codel", "FqCodel", "Pi2"]);
}
