use super::*;

const LONG: u32 = 45;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn fq() -> Fq {
    Fq::new(Quanta::of_mtu(1500))
}

/// A segment of full packets.
fn hand_over(fq: &mut Fq, flow: u32, packets: u32, due_us: u64, now_us: u64) {
    let packets = vec![Packet::empty(FlowId(flow), 1500); packets as usize];
    fq.enqueue(&packets, at(due_us), true, at(now_us));
}

/// Connection and packets of what leaves at this time.
fn leave(fq: &mut Fq, now_us: u64) -> Option<(u32, u32)> {
    let mut packets = Vec::new();
    let leaving = fq.dequeue(at(now_us), &mut packets)?;
    assert_eq!(packets.len(), leaving.packets as usize);
    assert!(packets.iter().all(|packet| packet.flow == leaving.flow));
    assert!(leaving.due <= at(now_us));
    Some((leaving.flow.0, leaving.packets))
}

#[test]
fn a_segment_leaves_when_it_is_due_and_takes_its_packets_along() {
    let mut fq = fq();
    hand_over(&mut fq, 1, 3, 100, 0);
    hand_over(&mut fq, 1, 2, 250, 0);
    assert_eq!((leave(&mut fq, 0), fq.deadline(), fq.packets()), (None, at(100), 5));
    assert_eq!(leave(&mut fq, 99), None);
    assert_eq!(leave(&mut fq, 100), Some((1, 3)));
    assert_eq!((leave(&mut fq, 100), fq.deadline()), (None, at(250)));
    assert_eq!(leave(&mut fq, 300), Some((1, 2)));
    assert_eq!((leave(&mut fq, 300), fq.deadline(), fq.packets()), (None, Time::NEVER, 0));
}

#[test]
fn what_is_due_passes_what_is_not_and_nothing_else() {
    let mut fq = fq();
    hand_over(&mut fq, 1, 1, 100, 0);
    assert_eq!(leave(&mut fq, 0), None);
    // Connection 1 is set aside until 100 us.
    hand_over(&mut fq, 2, 2, 10, 10);
    assert_eq!(leave(&mut fq, 10), Some((2, 2)));
    // At 120 us it is due, so that 2, which is due as well, queues behind it.
    hand_over(&mut fq, 2, 2, 120, 120);
    assert_eq!([leave(&mut fq, 120), leave(&mut fq, 120)], [Some((2, 2)), Some((1, 1))], "new ones first");
    // While the card is busy eight pass by; what comes then waits in its connection, behind them.
    for flow in 0..10 {
        hand_over(&mut fq, flow, 1, 200, 200);
    }
    let order: Vec<_> = (0..10).filter_map(|_| leave(&mut fq, 200)).map(|(flow, _)| flow).collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

/// Short segments of connection 2 that leave before the second long one of connection 1.
fn short_ones_before(fq: &mut Fq, now_us: u64) -> usize {
    let order: Vec<_> = std::iter::from_fn(|| leave(fq, now_us)).collect();
    order.iter().position(|(_, packets)| *packets == LONG).unwrap_or(order.len())
}

#[test]
fn a_long_segment_is_paid_for_in_turns() {
    // A packet counts 1514 B. The first turn is 15,140 B, each later one 3028 B. A segment of 45 packets, 68,130 B,
    // leaves 15,140 - 68,130 = -52,990 B; 18 turns make that 1514 B. Connection 2 has five segments of two packets in
    // its first turn and one in each later one: it is served after each of the 18 turns of connection 1, 5 + 17 = 22.
    let mut fq = fq();
    hand_over(&mut fq, 1, LONG, 10, 0);
    hand_over(&mut fq, 1, LONG, 10, 0);
    for _ in 0..40 {
        hand_over(&mut fq, 2, 2, 10, 0);
    }
    assert_eq!(leave(&mut fq, 0), None);
    assert_eq!(leave(&mut fq, 20), Some((1, LONG)));
    assert_eq!(short_ones_before(&mut fq, 20), 22);
}

#[test]
fn who_was_silent_for_longer_than_the_delay_has_a_whole_turn() {
    // The debt of 52,990 B is paid at once if nobody else waits: 18 turns leave 1514 B, which is one packet. After a
    // pause of more than 40 ms the connection has at least a turn of 3028 B, two packets, before connection 2 has its
    // first.
    for (pause_us, expected) in [(40_000, 1), (40_001, 2)] {
        let mut fq = fq();
        hand_over(&mut fq, 1, LONG, 10, 0);
        assert_eq!(leave(&mut fq, 0), None);
        assert_eq!((leave(&mut fq, 10), leave(&mut fq, 10)), (Some((1, LONG)), None));
        let now = 10 + pause_us;
        for flow in [1, 1, 1, 2] {
            hand_over(&mut fq, flow, 1, now + 1, now);
        }
        assert_eq!(leave(&mut fq, now), None);
        let order: Vec<_> = std::iter::from_fn(|| leave(&mut fq, now + 1)).collect();
        assert_eq!(order.iter().position(|(flow, _)| *flow == 2), Some(expected), "{pause_us} us");
    }
}
