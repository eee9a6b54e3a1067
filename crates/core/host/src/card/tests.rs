use super::*;
use crate::{Coalescing, CpuCost};
use proptest::prelude::*;
use shoal_packet::{Ecn, Flags, FlowId, Seq};

const MSS: u16 = 1448;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Data packet `number` of a flow.
fn data(flow: u32, number: u32) -> Packet {
    let mut packet = Packet::empty(FlowId(flow), MSS + 52);
    packet.payload = MSS;
    packet.seq = Seq(1 + number * u32::from(MSS));
    packet.flags = Flags::ACK;
    packet.ecn = Ecn::Ect0;
    packet
}

fn receive(coalescing: Coalescing) -> Receive {
    Receive { coalescing, interrupt_delay: Span::from_micros(50), ..Receive::IMMEDIATE }
}

/// Payloads in packets of the segments that come out of one poll.
fn polled(coalescing: Coalescing, packets: impl IntoIterator<Item = Packet>) -> Vec<(u32, u16)> {
    let mut card = Card::new(&receive(coalescing));
    packets.into_iter().for_each(|packet| assert!(card.arrive(packet, at(0))));
    batches(&mut card, at(50)).concat()
}

/// Flow and packets of the segments that are read together at `now`, in their order.
fn batches(card: &mut Card, now: Time) -> Vec<Vec<(u32, u16)>> {
    let mut batches = Vec::new();
    while card.deadline() <= now {
        let mut out = Vec::new();
        card.on_timer(now, &mut out);
        batches.push(out.iter().map(|segment| (segment.flow.0, segment.payload / MSS)).collect());
    }
    batches
}

#[test]
fn packets_wait_for_the_interrupt_and_for_no_longer() {
    let mut card = Card::new(&Receive { interrupt_packets: 4, ..receive(Coalescing::Gro) });
    let mut out = Vec::new();
    for n in 0..3 {
        card.arrive(data(0, n), at(10 + u64::from(n)));
        assert_eq!(card.deadline(), at(60), "50 us after the first");
    }
    card.on_timer(at(59), &mut out);
    assert!(out.is_empty());
    card.on_timer(at(60), &mut out);
    assert_eq!((out.len(), out[0].payload), (1, 3 * MSS));
    assert_eq!(card.deadline(), Time::NEVER);
    // The fourth packet interrupts at once.
    for n in 3..7 {
        card.arrive(data(0, n), at(70));
    }
    assert_eq!(card.deadline(), at(70));
    assert_eq!(card.counters().interrupts, 1);
}

#[test]
fn a_run_ends_where_headers_differ() {
    let mut packets: Vec<Packet> = (0..10).map(|n| data(0, n)).collect();
    packets[2].ecn = Ecn::Ce; // 2 | CE | ...
    packets[4].flags = packets[4].flags.with(Flags::PSH); // 3, 4 end with PSH
    packets[7].flags = packets[7].flags.with(Flags::CWR); // 5, 6 | CWR alone | 8, 9
    let runs: Vec<u16> = polled(Coalescing::Gro, packets.clone()).into_iter().map(|(_, run)| run).collect();
    assert_eq!(runs, [2, 1, 2, 2, 1, 2]);
    // FreeBSD compares no codepoint and lets PSH pass; only CWR begins anew.
    let runs: Vec<u16> = polled(Coalescing::Lro, packets).into_iter().map(|(_, run)| run).collect();
    assert_eq!(runs, [7, 3]);
    assert_eq!(polled(Coalescing::Off, (0..3).map(|n| data(0, n))).len(), 3);
}

#[test]
fn a_merged_segment_of_freebsd_shows_the_codepoint_of_its_first_packet() {
    let mut card = Card::new(&receive(Coalescing::Lro));
    for (n, ecn) in [Ecn::Ect0, Ecn::Ce, Ecn::Ce].into_iter().enumerate() {
        card.arrive(Packet { ecn, ..data(0, n as u32) }, at(0));
    }
    let mut out = Vec::new();
    card.on_timer(at(50), &mut out);
    assert_eq!((out.len(), out[0].ecn), (1, Ecn::Ect0), "two marks are lost");
}

#[test]
fn a_segment_has_at_most_64_kib() {
    // 45 x 1448 + 52 = 65,212 B; 46 would be 66,660. A poll takes 64 packets.
    assert_eq!(polled(Coalescing::Gro, (0..64).map(|n| data(0, n))), [(0, 45), (0, 19)]);
    assert_eq!(polled(Coalescing::Gro, (0..65).map(|n| data(0, n))), [(0, 45), (0, 20)]);
    assert_eq!(polled(Coalescing::Lro, (0..65).map(|n| data(0, n))), [(0, 45), (0, 19), (0, 1)]);
    // FreeBSD counts payload: 45 x 1448 = 65,160 < 65,280.
    assert_eq!(polled(Coalescing::Lro, (0..64).map(|n| data(0, n))), [(0, 45), (0, 19)]);
    let short = Receive { coalesced_packets: 17, ..receive(Coalescing::Gro) };
    let mut card = Card::new(&short);
    (0..40).for_each(|n| assert!(card.arrive(data(0, n), at(0))));
    let mut out = Vec::new();
    card.on_timer(at(50), &mut out);
    assert_eq!(out.iter().map(|segment| segment.payload / MSS).collect::<Vec<_>>(), [17, 17, 6]);
}

#[test]
fn what_a_full_poll_leaves_is_read_later_and_together() {
    // Segments grow on into the next poll; after the first one the application reads, and then after the last.
    for (packets, read) in [
        (63, vec![vec![45, 18]]),
        (64, vec![vec![45], vec![19]]),
        (65, vec![vec![45], vec![20]]),
        (200, vec![vec![45], vec![45, 45, 45, 20]]),
    ] {
        let mut card = Card::new(&receive(Coalescing::Gro));
        (0..packets).for_each(|n| assert!(card.arrive(data(0, n), at(0))));
        let runs = |batch: Vec<(u32, u16)>| batch.into_iter().map(|(_, run)| run).collect::<Vec<_>>();
        assert_eq!(batches(&mut card, at(50)).into_iter().map(runs).collect::<Vec<_>>(), read);
        assert_eq!((card.counters().interrupts, card.held(), card.deadline()), (1, 0, Time::NEVER));
    }
}

#[test]
fn flows_that_interleave_are_merged_within_a_poll() {
    let mixed = (0..10).flat_map(|n| [data(0, n), data(1, n)]);
    assert_eq!(polled(Coalescing::Gro, mixed), [(0, 10), (1, 10)]);
    // Nine flows of one bucket: the ninth completes the oldest, which begins anew.
    let crowd = (0..2).flat_map(|n| (0..9).map(move |flow| data(8 * flow, n)));
    assert!(polled(Coalescing::Gro, crowd).iter().all(|(_, run)| *run == 1));
}

#[test]
fn pure_acks_pass() {
    let ack = |number: u32| {
        let mut ack = Packet::empty(FlowId(0), 52);
        (ack.flags, ack.ack) = (Flags::ACK, Seq(number));
        ack
    };
    assert_eq!(polled(Coalescing::Gro, (1..4).map(ack)).len(), 3);
    // FreeBSD merges those that acknowledge more.
    assert_eq!(polled(Coalescing::Lro, (1..4).map(ack)).len(), 1);
    assert_eq!(polled(Coalescing::Lro, [ack(5), ack(5), ack(6)]).len(), 2, "a duplicate stays");
}

#[test]
fn a_busy_core_takes_what_has_come_meanwhile() {
    let cpu = CpuCost { packet: Span::from_micros(1), segment: Span::from_micros(10), byte: Span::ZERO };
    let mut card = Card::new(&Receive { cpu, ..receive(Coalescing::Gro) });
    let mut out = Vec::new();
    (0..5).for_each(|n| assert!(card.arrive(data(0, n), at(0))));
    card.on_timer(at(50), &mut out);
    // Five packets and one segment: 15 us.
    assert_eq!((out.len(), card.deadline()), (0, at(65)));
    (5..8).for_each(|n| assert!(card.arrive(data(0, n), at(60))));
    card.on_timer(at(65), &mut out);
    assert_eq!((out.len(), card.deadline()), (1, at(78)), "three packets: 13 us, without an interrupt");
    card.on_timer(at(78), &mut out);
    assert_eq!((out.len(), card.deadline(), card.counters().interrupts), (2, Time::NEVER, 1));
}

#[test]
fn a_full_ring_drops() {
    let mut card = Card::new(&Receive { ring_packets: 3, ..receive(Coalescing::Gro) });
    let kept: Vec<bool> = (0..5).map(|n| card.arrive(data(0, n), at(0))).collect();
    assert_eq!(kept, [true, true, true, false, false]);
    assert_eq!((card.counters().ring_drops, card.held()), (2, 3));
}

proptest! {
    /// Whatever is merged: every payload byte comes out once, in order within its flow, and no segment mixes codepoints
    /// (proptest prints the case).
    #[test]
    fn coalescing_keeps_every_byte(
        lro in any::<bool>(),
        packets in prop::collection::vec((0u32..20, any::<bool>(), any::<bool>(), 1u16..=MSS), 1..200),
    ) {
        let rule = if lro { Coalescing::Lro } else { Coalescing::Gro };
        let mut card = Card::new(&receive(rule));
        let mut next = [1u32; 20];
        let mut marked = 0u64;
        for (flow, ce, push, payload) in packets {
            let mut packet = data(flow, 0);
            packet.seq = Seq(next[flow as usize]);
            packet.payload = payload;
            packet.size = payload + 52;
            next[flow as usize] += u32::from(payload);
            if ce {
                packet.ecn = Ecn::Ce;
                marked += u64::from(payload);
            }
            if push {
                packet.flags = packet.flags.with(Flags::PSH);
            }
            card.arrive(packet, at(0));
        }
        let mut out = Vec::new();
        while card.deadline() <= at(50) {
            card.on_timer(at(50), &mut out);
        }
        prop_assert_eq!(card.held(), 0);
        let mut seen = [1u32; 20];
        for segment in &out {
            let place = &mut seen[segment.flow.0 as usize];
            prop_assert_eq!(segment.seq.0, *place, "out of order");
            prop_assert_eq!(segment.size, segment.payload + 52);
            *place += u32::from(segment.payload);
        }
        prop_assert_eq!(seen, next);
        if !lro {
            let ce = out.iter().filter(|segment| segment.ecn == Ecn::Ce);
            prop_assert_eq!(ce.map(|segment| u64::from(segment.payload)).sum::<u64>(), marked);
        }
    }
}
