//! Paths that copy, drop and lose, and hosts that ask for times that are over.

use super::*;
use alloc::boxed::Box;
use alloc::vec;
use shoal_aqm::{Extent, FifoConfig, QueueConfig};
use shoal_netem::{Chance, Impairments, Loss};
use shoal_units::Rate;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn link(limit: u32) -> LinkConfig {
    let fifo = QueueConfig::Fifo(FifoConfig { limit: Extent::Packets(limit) });
    LinkConfig::new(Rate::from_bps(12_000_000), Span::from_millis(5), fifo)
}

fn datagram(number: u8) -> Datagram {
    Datagram::new(vec![number; 1472], 28, Ecn::Ect0)
}

fn impaired(change: impl FnOnce(&mut Impairments)) -> LinkConfig {
    let mut impairments = Impairments::NONE;
    change(&mut impairments);
    LinkConfig { impairments: Some(Box::new(impairments)), ..link(100) }
}

/// Numbers of the datagrams that come to the right end, and how many contents are kept after all.
fn sent_at_once(link: &LinkConfig, count: u8) -> (Vec<u8>, usize) {
    let mut path = Path::new(link, &LinkConfig::pure_delay(Span::ZERO), 1).unwrap();
    for number in 0..count {
        let _ = path.send(End::Left, ms(0), datagram(number));
    }
    let mut numbers = Vec::new();
    let mut wanted = path.next(ms(0));
    while let Some(now) = wanted {
        while let Some(datagram) = path.receive(End::Right, now) {
            assert_eq!((datagram.bytes, datagram.contents.len()), (1500, 1472));
            numbers.push(datagram.contents[0]);
        }
        wanted = path.next(now);
    }
    (numbers, path.ways[0].contents.len())
}

#[test]
fn contents_of_what_is_dropped_or_lost_are_not_kept() {
    // One is sent and one waits.
    assert_eq!(sent_at_once(&link(1), 4), (vec![0, 1], 0));
    let lossy = impaired(|all| {
        all.loss = Loss::Random { probability: Chance(u32::MAX / 2), correlation: Chance::NEVER };
    });
    let (numbers, kept) = sent_at_once(&lossy, 100);
    assert!((20..80).contains(&numbers.len()), "{} of 100 arrive", numbers.len());
    assert_eq!(kept, 0);
}

#[test]
fn a_copy_has_the_contents_of_its_packet() {
    let copying = impaired(|all| all.duplicate = Chance(u32::MAX));
    assert_eq!(sent_at_once(&copying, 3), (vec![0, 0, 1, 1, 2, 2], 0));
}

#[test]
fn what_has_come_waits_until_it_is_received() {
    let mut path = Path::new(&LinkConfig::pure_delay(Span::ZERO), &link(1), 1).unwrap();
    let _ = path.send(End::Left, ms(3), datagram(7));
    assert_eq!(path.next(ms(3)), Some(ms(3)));
    assert_eq!(path.next(ms(4)), Some(ms(4)), "it is not lost by the question");
    assert_eq!(path.receive(End::Right, ms(4)), Some(datagram(7)));
    assert_eq!((path.receive(End::Right, ms(4)), path.next(ms(4))), (None, None));
}

/// Asks for a time that is over, always, and counts how often it is asked.
#[derive(Default)]
struct Hasty {
    asked: u64,
    received: u64,
    to_send: u8,
}

impl Host for Hasty {
    fn receive(&mut self, _: Time, _: Datagram) {
        self.received += 1;
    }
    fn transmit(&mut self, _: Time) -> Option<Datagram> {
        self.asked += 1;
        self.to_send = self.to_send.checked_sub(1)?;
        Some(datagram(self.to_send))
    }
    fn next(&mut self) -> Option<Time> {
        Some(Time::ZERO)
    }
}

#[test]
fn time_goes_on_by_microseconds_and_a_run_goes_on_where_the_last_one_ended() {
    let us = |us| Time::ZERO + Span::from_micros(us);
    let fast =
        LinkConfig { rate: Some(Rate::from_bps(1_200_000_000)), delay: Span::from_micros(50), ..link(100) };
    let mut path = Path::new(&fast, &LinkConfig::pure_delay(Span::ZERO), 1).unwrap();
    let (mut left, mut right) = (Hasty { to_send: 3, ..Hasty::default() }, Hasty::default());
    // 1500 B take 10 us, and then 50 us: the second arrives at 70 us, which is the next call's.
    path.run([&mut left, &mut right], us(70));
    assert_eq!((right.asked, right.received), (70, 1));
    path.link(End::Left).set_rate(us(70), Rate::from_bps(0)).unwrap();
    path.run([&mut left, &mut right], us(200));
    assert_eq!((right.asked, right.received), (200, 3), "an outage does not keep what has left");
    assert_eq!(path.link(End::Left).counters().delivered, 3);
}
