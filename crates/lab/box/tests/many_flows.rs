//! More flows than a way tells apart.

use etherparse::PacketBuilder;
use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_bottleneck::LinkConfig;
use shoal_box::{Ahead, Buffer, Direction, Frame};
use shoal_trace::pcapng::LinkType;
use shoal_units::{Rate, Span, Time};

const MOST_FLOWS: u64 = 4096;

/// Lets a packet from this port pass at a time; returns the number of its flow.
fn pass(way: &mut Direction, port: u16, at: Time) -> u32 {
    let mut frame = Vec::new();
    let headers = PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64).udp(port, 9);
    headers.write(&mut frame, &[0; 100]).unwrap();
    let read = Frame::read(LinkType::Raw, &frame).unwrap();
    let buffer = Buffer::complete(frame);
    assert!(way.arrive(at, buffer, &read, port.into()).is_none());
    match way.next(at + Span::from_millis(1)) {
        Ahead::Frame(leaving) => leaving.decision.flow,
        other => panic!("{other:?}"),
    }
}

#[test]
fn flows_that_were_silent_give_their_numbers_to_others() {
    let queue = QueueConfig::Fifo(FifoConfig { limit: Extent::Unlimited });
    let link = LinkConfig::new(Rate::from_bps(1_000_000_000), Span::ZERO, queue);
    let mut way = Direction::new(&link, 1).unwrap();
    let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
    // Port 1 to 4095 have the numbers that there are, beside that of those without one.
    for port in 1..4096 {
        assert_eq!(pass(&mut way, port, at(2 * u64::from(port))), u32::from(port));
    }
    assert_eq!(pass(&mut way, 5000, at(8500)), 0, "the first was silent for less than 10 s");
    pass(&mut way, 1, at(9000));
    assert_eq!(pass(&mut way, 5000, at(10_004)), 2, "that of port 2, of 4 ms");
    assert_eq!(pass(&mut way, 2, at(10_006)), 3, "a flow that comes back is a new one");
    assert_eq!(pass(&mut way, 1, at(10_008)), 1);
    let (flows, counts) = way.forgotten();
    assert_eq!((flows, counts.left), (2, 2));
    assert_eq!(way.flows().count() as u64, MOST_FLOWS);
    let left: u64 = way.flows().map(|flow| flow.left).sum();
    assert_eq!(left + counts.left, 4095 + 5);
}
