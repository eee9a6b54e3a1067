//! Queue protection: the law of the score in its unit, and who is redirected.

use super::{Protection, ProtectionConfig, score_ns};
use crate::Tunnels;
use crate::flow_hash::FlowHash;
use crate::shell::delay_ramp::CERTAIN;
use shoal_packet::{FlowId, Packet};
use shoal_units::{Rate, Span, Stream, Time};

/// 100 Mbit/s: 1500 B take 120 us, and the ramp is that of the RFC: 475.712 us to 1 ms.
const LINE: Rate = Rate::from_bps(100_000_000);
/// Bytes that the line sends in the end of the ramp.
const AT_END: u64 = 12_500;
const NANO: Span = Span::from_nanos(1);

fn protection(config: ProtectionConfig) -> (Protection, Stream) {
    (Protection::new(&config, LINE), Stream::new(1, "queue"))
}

/// The score of a flow at `now`, without any change.
fn score(protection: &mut Protection, flow: u32, now: Time, random: &mut Stream) -> u64 {
    protection.buckets.of(FlowId(flow), now.as_picos() / 1000, random).fill(
        0,
        u64::MAX,
        now.as_picos() / 1000,
    )
}

/// A packet of `size` at probability p adds p size / 2^19 s, where a second is 2^30 ns: 2048 ns a byte, rounded down.
#[test]
fn a_packet_adds_its_congestion_volume_over_the_aging_rate() {
    assert_eq!(score_ns(CERTAIN, 1500, 19), 1500 << 11);
    assert_eq!(score_ns(CERTAIN / 2, 1500, 19), 1500 << 10);
    assert_eq!(score_ns(0, 1500, 19), 0);
    // 2^-32 of a byte counts nothing, 2^-11 is a nanosecond.
    assert_eq!((score_ns(1, 1, 19), score_ns(1 << 21, 1, 19), score_ns((1 << 21) - 1, 1, 19)), (0, 1, 0));
    // A rate of 1 B/s, and of 2^30 B/s.
    assert_eq!((score_ns(CERTAIN, u16::MAX, 0), score_ns(CERTAIN, 7, 30)), (65_535 << 30, 7));
}

/// After n packets of size s at probability p the score is n p s / AGING less the time since the first one, and never
/// below zero: exactly, in nanoseconds.
#[test]
fn a_score_is_what_was_added_less_the_time_that_passed() {
    // In the middle of the ramp, 475,712 + 262,144 ns, are 9223.2 B; 9224 B are 737,920 ns, 262,208 ns above MINTH.
    let (mut protection, mut random) = protection(ProtectionConfig::RFC_9957);
    let likelihood = (262_208u64 << 32) >> 19;
    let size = 1000u16;
    let each = (likelihood * u64::from(size)) >> 21;
    assert_eq!(each, 1_024_250);
    let gap = Span::from_micros(700);
    let mut now = Time::ZERO + Span::from_secs(1);
    for n in 1..=40u64 {
        let _ = protection.redirects(&Packet::empty(FlowId(5), size), 9224, now, &mut random);
        assert_eq!(score(&mut protection, 5, now, &mut random), n * each - (n - 1) * 700_000, "{n}");
        now += gap;
    }
    // It fades by a nanosecond in each, down to zero, where it stays.
    let rest = 40 * each - 40 * 700_000;
    assert_eq!(score(&mut protection, 5, now, &mut random), rest);
    let faded = now + NANO.saturating_mul(rest);
    for (at, left) in [(now + NANO, rest - 1), (faded, 0), (faded + gap, 0)] {
        assert_eq!(score(&mut protection, 5, at, &mut random), left);
    }
    // Another gap of time without packets is no credit.
    let _ = protection.redirects(&Packet::empty(FlowId(5), size), 9224, faded + gap + gap, &mut random);
    assert_eq!(score(&mut protection, 5, faded + gap + gap, &mut random), each);
}

/// At twice the critical delay half of the critical score is too much: 4 ms at 1 ms, 2 ms at 2 ms; at a delay of
/// exactly 1 ms nothing is. A packet of 1000 B adds 2.048 ms.
#[test]
fn delay_times_score_decides() {
    for (bytes, redirected) in [
        (AT_END, [false, false, false]),
        // 1.00008 ms: scores of 2.048, 4.096, 6.144 ms.
        (AT_END + 1, [false, true, true]),
        // 1.95 ms: 2.048 ms is 3.99 ms ms; 1.96 ms: 4.01.
        (AT_END * 195 / 100, [false, true, true]),
        (AT_END * 196 / 100, [true, true, true]),
    ] {
        let (mut protection, mut random) = protection(ProtectionConfig::RFC_9957);
        let packet = Packet::empty(FlowId(0), 1000);
        let of = [(); 3].map(|()| protection.redirects(&packet, bytes, Time::ZERO, &mut random));
        assert_eq!(of, redirected, "{bytes} B");
        assert_eq!(protection.redirected(), redirected.iter().filter(|is| **is).count() as u64);
    }
}

/// A critical delay of one's own: below the end of the ramp bytes count in part, above it in full.
#[test]
fn the_critical_delay_is_the_end_of_the_ramp_or_what_is_written() {
    let slow = Rate::from_bps(10_000_000);
    let at_end = Protection::new(&ProtectionConfig::RFC_9957, slow);
    // Two frames of 2000 B at 10 Mbit/s and 2^19 ns.
    assert_eq!(at_end.critical_ns, 3_200_000 + (1 << 19));
    let written =
        ProtectionConfig { critical_delay: Some(Span::from_millis(2)), ..ProtectionConfig::RFC_9957 };
    assert_eq!(Protection::new(&written, slow).critical_ns, 2_000_000);
}

/// A score does not grow beyond its ceiling; whose score is there is redirected at any delay, and a nanosecond later no
/// more.
#[test]
fn at_the_ceiling_a_flow_is_redirected_at_any_delay() {
    let config = ProtectionConfig { ceiling: Span::from_micros(5000), ..ProtectionConfig::RFC_9957 };
    let (mut protection, mut random) = protection(config);
    let packet = Packet::empty(FlowId(0), 1500);
    // 3.072 ms, then 6.144 ms, of which 5 ms are kept.
    assert!(!protection.redirects(&packet, AT_END, Time::ZERO, &mut random));
    assert!(protection.redirects(&packet, AT_END, Time::ZERO, &mut random));
    assert_eq!(score(&mut protection, 0, Time::ZERO, &mut random), 5_000_000);
    assert!(protection.redirects(&packet, 1500, Time::ZERO, &mut random));
    assert!(!protection.redirects(&packet, 1500, Time::ZERO + NANO, &mut random));
}

/// A flow that sends 1 % of 100 Mbit/s evenly: 1500 B in 12 ms. However long the queue that others have built is,
/// each packet adds 3.072 ms, which has faded when the next one comes. The bound is what the product allows: 13.02
/// times the critical delay, 1 ms x 4 ms / 3.072 ms = 1.302 ms. Below that it is never redirected; a flow at 10
/// times the rate, 3.07 ms in
/// 1.2 ms, gains 1.87 ms with each packet and is redirected at its second or third.
#[test]
fn a_paced_flow_of_one_percent_is_never_redirected() {
    let (mut protection, mut random) = protection(ProtectionConfig::RFC_9957);
    let bytes = AT_END * 130 / 100;
    let (mut paced, mut building) = (0, 0);
    let mut first = None;
    for tick in 0..10_000u64 {
        let now = Time::ZERO + Span::from_micros(1200 * tick);
        if protection.redirects(&Packet::empty(FlowId(1), 1500), bytes, now, &mut random) {
            building += 1;
            first = first.or(Some(tick));
        }
        if tick % 10 == 0 {
            paced +=
                u32::from(protection.redirects(&Packet::empty(FlowId(2), 1500), bytes, now, &mut random));
        }
    }
    assert_eq!((paced, first), (0, Some(1)));
    assert_eq!(building, 9999);
    assert_eq!(protection.redirected(), building);
}

/// Flows and the buckets of their two attempts, of which there are 32: the first and the next five bits of the hash.
fn attempts_of(flows: impl Iterator<Item = u32>, random: &mut Stream) -> Vec<(u32, [usize; 2])> {
    let mut hash = FlowHash::default();
    flows
        .map(|flow| {
            let bits = hash.of(FlowId(flow), random) as usize;
            (flow, [bits % 32, bits / 32 % 32])
        })
        .collect()
}

/// Two flows whose first attempts name one bucket: the second one gets the bucket of its second attempt, and neither
/// counts for the other. A flow both of whose buckets belong to others shares the one for the rest with all such flows.
#[test]
fn the_second_attempt_separates_flows_and_the_rest_share() {
    let (mut protection, mut random) = protection(ProtectionConfig::RFC_9957);
    let mut keys = random.clone();
    let of = attempts_of(0..2000, &mut keys);
    let (one, [first, second]) = of[0];
    let (other, [_, apart]) =
        *of.iter().find(|(_, at)| at[0] == first && at[1] != first && at[1] != second).expect("a flow");
    let mut send = |flow: u32, protection: &mut Protection| {
        let _ = protection.redirects(&Packet::empty(FlowId(flow), 1000), AT_END, Time::ZERO, &mut random);
    };
    send(one, &mut protection);
    send(other, &mut protection);
    send(other, &mut protection);
    // Two flows that have both buckets of these as theirs, in one order or the other.
    let rest: Vec<u32> = of
        .iter()
        .filter(|(flow, at)| ![one, other].contains(flow) && at.iter().all(|at| [first, apart].contains(at)))
        .map(|(flow, _)| *flow)
        .take(2)
        .collect();
    for &flow in &rest {
        send(flow, &mut protection);
    }
    let mut scores = random.clone();
    let of_bucket = |number: usize| protection.buckets.score_ns(number, 0);
    assert_eq!((of_bucket(first), of_bucket(apart)), (2_048_000, 4_096_000));
    assert_eq!((rest.len(), of_bucket(32)), (2, 4_096_000));
    // A bucket that has faded belongs to the next flow that looks there.
    let later = Time::ZERO + Span::from_millis(2) + Span::from_micros(48);
    assert_eq!(score(&mut protection, rest[0], later, &mut scores), 0);
    assert_eq!(protection.buckets.number_of(FlowId(rest[0]), 2_048_000, &mut scores), first);
}

/// The key of the hash is the only random number.
#[test]
fn one_random_number_is_drawn() {
    let (mut protection, mut random) = protection(ProtectionConfig::RFC_9957);
    for flow in 0..100 {
        let _ = protection.redirects(&Packet::empty(FlowId(flow), 1000), AT_END, Time::ZERO, &mut random);
    }
    let mut fresh = Stream::new(1, "queue");
    let _ = fresh.uniform_u64();
    assert_eq!(random.uniform_u64(), fresh.uniform_u64());
}

/// Flows of a tunnel have one score: four packets of four flows are as much as four of one.
#[test]
fn flows_of_a_tunnel_share_a_score() {
    let (mut protection, mut random) = protection(ProtectionConfig::RFC_9957);
    protection.set_tunnels(&Tunnels::new([0, 0, 0, 0, 4].into()));
    let of = [0, 1, 2, 3, 4, 5].map(|flow| {
        protection.redirects(&Packet::empty(FlowId(flow), 1000), AT_END + 1, Time::ZERO, &mut random)
    });
    assert_eq!(of, [false, true, true, true, false, false]);
}
