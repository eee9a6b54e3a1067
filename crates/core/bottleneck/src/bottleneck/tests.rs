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
