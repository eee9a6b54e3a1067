//! Tail drop at each kind of limit.

use crate::testing::bench::{Bench, dropped};
use crate::{AnyQueue, Dequeued, Extent, FifoConfig, Queue, Reason};
use shoal_packet::Ecn;
use shoal_units::{Span, Time};

fn fifo(limit: Extent) -> Bench<AnyQueue> {
    Bench::any(FifoConfig { limit })
}

/// 3000 B at 10 Mbit/s are 2.4 ms. The size of the IP packet counts, without link-layer header.
#[test]
fn the_limit_counts_ip_bytes() {
    for limit in [Extent::Bytes(3000), Extent::Time(Span::from_micros(2400))] {
        let mut bench = fifo(limit);
        let verdicts = [1500, 1501, 1500, 1].map(|size| dropped(bench.arrive(size, Ecn::Ect0)));
        assert_eq!(verdicts, [None, Some(Reason::Buffer), None, Some(Reason::Buffer)]);
        let _ = bench.take();
        assert_eq!(dropped(bench.arrive(1500, Ecn::NotEct)), None);
        assert_eq!(bench.draws(), 0);
    }
}

#[test]
fn a_limit_in_packets_ignores_sizes() {
    let mut bench = fifo(Extent::Packets(2));
    let verdicts = [9000, 1, 1].map(|size| dropped(bench.arrive(size, Ecn::NotEct)));
    assert_eq!(verdicts, [None, None, Some(Reason::Buffer)]);
}

#[test]
fn packets_leave_in_order_of_arrival_unmarked_and_stamped() {
    let mut bench = fifo(Extent::Unlimited);
    let packets = [(100, Ecn::NotEct), (200, Ecn::Ect0), (300, Ecn::Ce)];
    for (size, ecn) in packets {
        bench.wait(Span::from_micros(1));
        assert_eq!(dropped(bench.arrive(size, ecn)), None);
    }
    for (n, (size, ecn)) in (1..).zip(packets) {
        let (packet, mark) = bench.send();
        let arrival = Time::ZERO + Span::from_micros(n);
        assert_eq!((packet.size, packet.ecn, packet.enqueued, mark), (size, ecn, arrival, None));
    }
    assert!(matches!(bench.take(), Dequeued::Empty));
    assert_eq!(bench.queue.next_timer(), Time::NEVER);
    assert_eq!(bench.queue.average_bytes(), None);
}
