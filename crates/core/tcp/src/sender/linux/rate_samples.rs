//! Samples of the delivery rate ([draft-ietf-ccwg-bbr, section
//! 4.5.2](https://datatracker.ietf.org/doc/html/draft-ietf-ccwg-bbr#section-4.5.2); Linux `tcp_rate_skb_sent`,
//! `tcp_rate_skb_delivered`, `tcp_rate_gen` in
//! [`net/ipv4/tcp_rate.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_rate.c)).
//!
//! Only connections whose controller asks for samples have these stamps. They lie beside the retransmission queue, one
//! for each of its segments.

use super::sampled::Before;
use super::scoreboard::Scoreboard;
use super::segment::Segment;
use alloc::collections::VecDeque;
use shoal_cc::RateSample;
use shoal_units::cast::{count_u32, fit_u32};
use shoal_units::{Span, Time};

/// State of the connection when a segment was last sent (Linux `tcp_skb_cb.tx`).
#[derive(Clone, Copy, Debug)]
struct Stamp {
    delivered: u64,
    /// `None` if the segment says nothing of the rate: it was sent before samples were taken, or counts as delivered.
    delivered_us: Option<u64>,
    first_sent_us: u64,
    is_app_limited: bool,
    /// Packets in flight with it.
    in_flight: u32,
    lost: u64,
    /// Whether its loss was reported.
    is_loss_known: bool,
}

/// The newest segment that an ACK delivers (Linux `struct rate_sample` while the ACK is read).
#[derive(Clone, Copy, Debug)]
struct Newest {
    stamp: Stamp,
    delivered_us: u64,
    sent_us: u64,
    end: u64,
}

/// A segment that an ACK declared lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    /// Packets in flight when it had been sent.
    pub in_flight: u32,
    /// Packets lost before it was sent.
    pub lost_before: u64,
    /// Whether the application was the limit then.
    pub is_app_limited: bool,
    /// Whether the segment before it is not lost.
    pub begins_range: bool,
}

/// The stamps, and what they are made from.
#[derive(Clone, Debug)]
pub(super) struct RateSamples {
    stamps: VecDeque<Stamp>,
    /// When a packet was last delivered, or sent with none out (Linux `delivered_mstamp`).
    pub delivered_at: Time,
    /// When the packet was sent that was delivered last, or the first one with none out (Linux `first_tx_mstamp`).
    first_sent_us: u64,
    /// The application limits the rate until this many packets are delivered; 0 if it does not (Linux `app_limited`).
    app_limited_until: u64,
    newest: Option<Newest>,
    /// Packets ever declared lost when losses were last reported to the controller.
    pub reported_losses: u64,
    /// Transmission time of the last segment that this ACK SACKs for the first time and that was sent once.
    last_sacked: Option<Time>,
    /// Smallest RTT that samples have shown (Linux `tcp_min_rtt`).
    min_rtt_us: Option<u32>,
    /// Seed of the controller's random draws.
    pub seed: u64,
    /// What was known before the ACK that is being processed.
    pub before: Before,
}

impl RateSamples {
    /// No samples yet; `packets_out` are out that say nothing.
    pub(super) fn new(seed: u64, packets_out: usize) -> Self {
        let unknown = Stamp {
            delivered: 0,
            delivered_us: None,
            first_sent_us: 0,
            is_app_limited: false,
            in_flight: 0,
            lost: 0,
            is_loss_known: true,
        };
        Self {
            stamps: core::iter::repeat_n(unknown, packets_out).collect(),
            delivered_at: Time::ZERO,
            first_sent_us: 0,
            app_limited_until: 0,
            newest: None,
            reported_losses: 0,
            last_sacked: None,
            min_rtt_us: None,
            seed,
            before: Before::NOTHING,
        }
    }

    /// Bytes of heap memory.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.stamps.capacity() * size_of::<Stamp>()
    }
    /// Whether the application limits the rate.
    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }
    /// The application limits the rate until what is in flight has been delivered.
    pub(super) fn limit(&mut self, delivered: u64, in_flight: u32) {
        self.app_limited_until = (delivered + u64::from(in_flight)).max(1);
    }
    /// Smallest RTT.
    pub(super) fn min_rtt(&self) -> Option<Span> {
        self.min_rtt_us.map(|us| Span::from_micros(us.into()))
    }
    /// Takes an RTT into the smallest one.
    pub(super) fn note_rtt(&mut self, rtt_us: u32) {
        self.min_rtt_us = Some(self.min_rtt_us.map_or(rtt_us, |least| least.min(rtt_us)).max(1));
    }

    fn stamp(&self, board: &Scoreboard, delivered: u64) -> Stamp {
        Stamp {
            delivered,
            delivered_us: Some(self.delivered_at.as_micros()),
            first_sent_us: self.first_sent_us,
            is_app_limited: self.is_app_limited(),
            in_flight: board.in_flight(),
            lost: board.losses,
            is_loss_known: false,
        }
    }

    /// A new segment leaves at `leaves`, and lies in the queue already.
    pub(super) fn note_sent(&mut self, board: &Scoreboard, leaves: Time, delivered: u64) {
        if board.packets_out() == 1 {
            (self.first_sent_us, self.delivered_at) = (leaves.as_micros(), leaves);
        }
        let stamp = self.stamp(board, delivered);
        self.stamps.push_back(stamp);
    }

    /// Segment `index` of the queue was sent again.
    pub(super) fn note_sent_again(&mut self, board: &Scoreboard, index: usize, delivered: u64) {
        self.stamps[index] = self.stamp(board, delivered);
    }

    /// Reads what SACKs have newly reported.
    pub(super) fn read_sacked(&mut self, board: &Scoreboard) {
        for index in 0..self.stamps.len() {
            let segment = board.segment(index);
            if segment.is_sacked() && self.stamps[index].delivered_us.is_some() {
                self.note_delivered(&segment, index);
                self.stamps[index].delivered_us = None;
                if !segment.was_ever_retransmitted() {
                    self.last_sacked = Some(segment.sent);
                }
            }
        }
    }

    /// Reads what an acknowledgement up to `una` covers, before the queue lets it go.
    pub(super) fn read_acknowledged(&mut self, board: &Scoreboard, una: u64) {
        let covered = board.segments.partition_point(|segment| segment.end() <= una);
        for index in 0..covered {
            self.note_delivered(&board.segment(index), index);
        }
        self.stamps.drain(..covered);
    }

    /// Takes the newest of the segments that the ACK delivers (Linux `tcp_rate_skb_delivered`).
    fn note_delivered(&mut self, segment: &Segment, index: usize) {
        let stamp = self.stamps[index];
        let Some(delivered_us) = stamp.delivered_us else { return };
        let (sent_us, end) = (segment.sent.as_micros(), segment.end());
        if self.newest.is_none_or(|newest| (sent_us, end) > (newest.sent_us, newest.end)) {
            self.newest = Some(Newest { stamp, delivered_us, sent_us, end });
            self.first_sent_us = sent_us;
        }
    }

    /// Takes the segments that are lost and were not reported before, in their order.
    pub(super) fn take_lost(&mut self, board: &Scoreboard) -> impl Iterator<Item = Lost> {
        let mut begins_range = true;
        self.stamps.iter_mut().enumerate().filter_map(move |(index, stamp)| {
            let segment = board.segment(index);
            let is_lost = segment.is_lost() && !segment.is_retransmitted();
            let begins_range = core::mem::replace(&mut begins_range, !is_lost);
            if !is_lost || core::mem::replace(&mut stamp.is_loss_known, true) {
                return None;
            }
            Some(Lost {
                in_flight: stamp.in_flight,
                lost_before: stamp.lost,
                is_app_limited: stamp.is_app_limited,
                begins_range,
            })
        })
    }

    /// The RTT of the last packet that the ACK delivers, in microseconds. `acknowledged` is that of the last packet
    /// that it acknowledges.
    pub(super) fn take_rtt(&mut self, acknowledged: Option<Span>, now: Time) -> Option<u32> {
        let sacked = self.last_sacked.take().map(|sent| now.since(sent));
        sacked.or(acknowledged).map(|rtt| fit_u32(rtt.as_micros()))
    }

    /// The sample of an ACK that delivers `sample.newly_delivered` of the `delivered` packets (Linux `tcp_rate_gen`).
    /// `is_reneging`: the peer has dropped what it had SACKed.
    pub(super) fn finish(
        &mut self,
        mut sample: RateSample,
        (delivered, lost): (u64, u64),
        is_reneging: bool,
        now: Time,
    ) -> RateSample {
        if delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if sample.newly_delivered > 0 {
            self.delivered_at = now;
        }
        let Some(newest) = self.newest.take() else { return sample };
        sample.prior_delivered = newest.stamp.delivered;
        sample.is_app_limited = newest.stamp.is_app_limited;
        if is_reneging {
            return sample;
        }
        sample.delivered = Some(fit_u32(delivered - newest.stamp.delivered));
        sample.sent_in_flight = newest.stamp.in_flight;
        sample.lost_since_sent = lost - newest.stamp.lost;
        let sending_us = newest.sent_us.saturating_sub(newest.stamp.first_sent_us);
        let interval_us = fit_u32(sending_us.max(now.as_micros().saturating_sub(newest.delivered_us)));
        // A shorter interval than the RTT cannot be right: the segment was sent again for nothing.
        if self.min_rtt_us.is_none_or(|least| interval_us >= least) {
            sample.interval_us = interval_us;
        }
        sample
    }

    /// # Panics
    /// If there is not one stamp for each segment of the queue.
    pub(super) fn assert_invariants(&self, board: &Scoreboard) {
        assert_eq!(count_u32(self.stamps.len()), board.packets_out());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::linux::segment::{Delivery, LOST, SACKED};

    const MSS: u16 = 1000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A queue, its stamps, and the packets delivered.
    struct Line {
        board: Scoreboard,
        rates: RateSamples,
        delivered: u64,
        next: u64,
    }

    impl Line {
        fn new() -> Self {
            Self { board: Scoreboard::default(), rates: RateSamples::new(0, 0), delivered: 1, next: 1 }
        }
        fn send(&mut self, ms: u64) {
            let end = self.next + u64::from(MSS);
            self.board.push(Segment::new(self.next, MSS, false, at(ms), end));
            self.next = end;
            self.rates.note_sent(&self.board, at(ms), self.delivered);
        }
        /// An ACK for `packets` of the first packets.
        fn acknowledge(&mut self, packets: u32, ms: u64) -> RateSample {
            let first = self.board.head().expect("a packet is out").start;
            let una = first + u64::from(packets) * u64::from(MSS);
            self.rates.read_acknowledged(&self.board, una);
            let mut delivery = Delivery::NOTHING;
            self.board.acknowledge((una, 0), 0, at(ms), &mut delivery);
            self.finish(packets, ms)
        }
        fn finish(&mut self, packets: u32, ms: u64) -> RateSample {
            self.delivered += u64::from(packets);
            let sample = RateSample { newly_delivered: packets, ..RateSample::default() };
            self.rates.finish(sample, (self.delivered, self.board.losses), false, at(ms))
        }
    }

    #[test]
    fn a_sample_takes_the_longer_of_both_intervals() {
        let mut line = Line::new();
        for ms in [0, 1, 2, 3] {
            line.send(ms);
        }
        // The first is sent with nothing out: its clock begins then, and it took 10 ms.
        let first = line.acknowledge(1, 10);
        assert_eq!((first.prior_delivered, first.delivered, first.interval_us), (1, Some(1), 10_000));
        // Those after it count from the same moment: three were delivered since, in 13 ms.
        let third = line.acknowledge(2, 13);
        assert_eq!((third.prior_delivered, third.delivered, third.interval_us), (1, Some(3), 13_000));
        // What is sent now starts from the last delivery, at 13 ms, and from the transmission of the packet that was
        // delivered last, at 2 ms: it was sent at 40 ms, 38 ms later, and acknowledged at 45 ms, 32 ms later.
        line.send(40);
        line.acknowledge(1, 14);
        let last = line.acknowledge(1, 45);
        assert_eq!((last.delivered, last.interval_us), (Some(2), 38_000));
    }

    #[test]
    fn what_was_sacked_counts_once() {
        let mut line = Line::new();
        for ms in [0, 1, 2] {
            line.send(ms);
        }
        line.board.segments[1].marks |= SACKED;
        line.board.sacked = 1;
        line.rates.read_sacked(&line.board);
        assert_eq!(line.rates.take_rtt(None, at(11)), Some(10_000), "the RTT is that of the SACKed packet");
        assert_eq!(line.finish(1, 11).delivered, Some(1));
        line.rates.read_sacked(&line.board);
        assert_eq!(line.finish(0, 12).delivered, None, "nothing new");
        // The cumulative ACK for the first and the second has only the first.
        line.rates.read_acknowledged(&line.board, 1 + 2 * u64::from(MSS));
        let sample = line.finish(1, 13);
        assert_eq!((sample.prior_delivered, sample.interval_us), (1, 13_000));
    }

    #[test]
    fn every_loss_is_reported_once_and_says_whether_it_begins_a_range() {
        let mut line = Line::new();
        for ms in 0..6 {
            line.send(ms);
        }
        let mut begins = |lost: &[usize]| -> Vec<bool> {
            for &index in lost {
                line.board.segments[index].marks |= LOST;
            }
            line.rates.take_lost(&line.board).map(|lost| lost.begins_range).collect()
        };
        assert_eq!(begins(&[0, 1, 4]), [true, false, true]);
        assert_eq!(begins(&[2, 3]), [false, false], "both follow one that is lost");
        assert_eq!(begins(&[]), [] as [bool; 0]);
    }

    #[test]
    fn the_application_is_the_limit_until_its_packets_are_delivered() {
        let mut line = Line::new();
        line.rates.limit(1, 0);
        line.send(0);
        line.send(0);
        assert!(line.acknowledge(1, 10).is_app_limited, "as when it was sent");
        assert!(!line.rates.is_app_limited(), "two are delivered, more than one");
        line.send(10);
        assert!(line.acknowledge(1, 11).is_app_limited);
        assert!(!line.acknowledge(1, 20).is_app_limited);
    }

    #[test]
    fn the_smallest_rtt_is_kept_for_ever() {
        let mut line = Line::new();
        line.rates.note_rtt(20_000);
        line.rates.note_rtt(30_000);
        assert_eq!(line.rates.min_rtt(), Some(Span::from_millis(20)));
        // A sample that is shorter is none: a packet was sent again for nothing.
        line.send(0);
        let early = line.acknowledge(1, 19);
        assert_eq!((early.delivered, early.interval_us), (Some(1), 0));
    }
}
