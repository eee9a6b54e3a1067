//! How much of a connection waits in its own host (Linux `tcp_small_queue_check`).

use super::size::PacingRate;
use crate::Offload;
use alloc::collections::VecDeque;
use shoal_units::Time;

/// Memory that a segment takes beyond its payload: `struct sk_buff` and its headers (Linux `SKB_TRUESIZE`).
const OVERHEAD_BYTES: u64 = 1280;

/// Time at which a segment leaves that the host's queue discipline keeps: only the discipline knows.
pub(super) const UNKNOWN: Time = Time::NEVER;

/// Segments that the card has not sent yet.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallQueue {
    /// When the card has sent each, and the memory that it takes, in the order in which they leave.
    waiting: VecDeque<(Time, u64)>,
    bytes: u64,
}

impl SmallQueue {
    /// Bytes of heap memory.
    pub(super) fn heap_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Time, u64)>()
    }

    /// Notes a segment of `bytes` that the card will have sent at `done`.
    pub(super) fn note(&mut self, bytes: u64, now: Time, done: Time) {
        if done > now {
            self.waiting.push_back((done, bytes + OVERHEAD_BYTES));
            self.bytes += bytes + OVERHEAD_BYTES;
        }
    }

    /// Notes that the card has sent the first `segments` of those that wait.
    pub(super) fn note_left(&mut self, segments: u32) {
        for (_, sent) in self.waiting.drain(..self.waiting.len().min(segments as usize)) {
            self.bytes -= sent;
        }
    }

    /// When the card has sent the next of those that wait; `None` if nothing does.
    pub(super) fn next_done(&self, now: Time) -> Option<Time> {
        self.waiting.iter().map(|(done, _)| *done).find(|done| *done > now)
    }

    /// Whether another segment of `bytes` has to wait: returns when the card has sent enough. It does not if
    /// `is_alone`: at most one segment is unacknowledged.
    pub(super) fn stops(
        &mut self,
        offload: &Offload,
        rate: &PacingRate,
        bytes: u64,
        is_alone: bool,
        now: Time,
    ) -> Option<Time> {
        while let Some((_, sent)) = self.waiting.front().filter(|(done, _)| *done <= now) {
            self.bytes -= sent;
            self.waiting.pop_front();
        }
        if is_alone || self.waiting.is_empty() {
            return None;
        }
        // Linux 7.3; 6.12 spares connections that are paced from the second limit.
        let limit =
            (2 * (bytes + OVERHEAD_BYTES)).max(rate.queued_bytes()).min(offload.limit_output_bytes.into());
        // A socket counts one byte for itself (Linux `sk_alloc`), so that the limit itself is too much.
        let mut held = self.bytes;
        for (done, sent) in &self.waiting {
            if held < limit {
                return None;
            }
            held -= sent;
            if held < limit {
                return Some(*done);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pacing;
    use shoal_units::Span;

    #[test]
    fn two_segments_may_wait_and_more_at_a_high_rate() {
        let at = |us| Time::ZERO + Span::from_micros(us);
        let (offload, bytes) = (Offload::LINUX, 10 * 1448);
        let slow = PacingRate::for_test(1_000_000);
        let mut queue = SmallQueue::default();
        for n in 1..=2u64 {
            // One is within the limit of two; a second is let in, as the kernel looks before it adds.
            assert_eq!(queue.stops(&offload, &slow, bytes, false, at(0)), None, "{n}");
            queue.note(bytes, at(0), at(100 * n));
        }
        assert_eq!(queue.stops(&offload, &slow, bytes, false, at(0)), Some(at(100)), "two are too many");
        assert_eq!(queue.stops(&offload, &slow, bytes, true, at(0)), None, "one of them is unacknowledged");
        assert_eq!(queue.stops(&offload, &slow, bytes, false, at(100)), None);
        // 1/1024 s of 48 MB/s is 46,875 B: three segments of 15,760 B with their overhead are 47,280 B.
        let mut queue = SmallQueue::default();
        let fast = PacingRate::for_test(48_000_000);
        for n in 1..=3 {
            queue.note(bytes, at(0), at(100 * n));
        }
        assert_eq!(queue.stops(&offload, &fast, bytes, false, at(0)), Some(at(100)));
        let faster = PacingRate::for_test(49_000_000);
        assert_eq!(queue.stops(&offload, &faster, bytes, false, at(0)), None, "47,851 B");
    }

    #[test]
    fn whoever_is_paced_has_the_same_limit() {
        // 1/1024 s of 49 MB/s is 47,851 B, of which three segments of 15,760 B leave room for a fourth; 40,000 B are
        // full with them, and not when one has left.
        let bytes = 10 * 1448;
        for pacing in [Pacing::Off, Pacing::Internal, Pacing::Fq] {
            let rate = PacingRate::for_test(49_000_000);
            let stops = |limit_output_bytes| {
                let mut queue = SmallQueue::default();
                for n in 1..=3 {
                    queue.note(bytes, Time::ZERO, Time::ZERO + Span::from_micros(100 * n));
                }
                let offload = Offload { limit_output_bytes, pacing, ..Offload::LINUX };
                queue.stops(&offload, &rate, bytes, false, Time::ZERO)
            };
            assert_eq!(stops(4 << 20), None);
            assert_eq!(stops(40_000), Some(Time::ZERO + Span::from_micros(100)));
        }
    }

    #[test]
    fn what_the_discipline_keeps_leaves_when_it_says_so() {
        let (offload, bytes) = (Offload { pacing: Pacing::Fq, ..Offload::LINUX }, 2 * 1448);
        let slow = PacingRate::for_test(1_000_000);
        let mut queue = SmallQueue::default();
        for _ in 0..2 {
            queue.note(bytes, Time::ZERO, UNKNOWN);
        }
        let late = Time::ZERO + Span::from_secs(1);
        assert_eq!(queue.stops(&offload, &slow, bytes, false, late), Some(UNKNOWN));
        queue.note_left(1);
        assert_eq!(queue.stops(&offload, &slow, bytes, false, late), None);
        queue.note_left(1);
        assert_eq!((queue.bytes, queue.waiting.len()), (0, 0));
    }
}
