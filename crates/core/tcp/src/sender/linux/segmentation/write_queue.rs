//! What the application has written into its socket and TCP has not sent yet, as a list of segments (Linux
//! `tcp_write_queue`, a list of `struct sk_buff`).

use alloc::collections::VecDeque;

/// A segment that was not sent yet. It begins where the one before it ends; the first begins with the next byte to
/// send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Unsent {
    /// Stream position behind its last byte.
    end: u64,
    /// Its last packet has PSH.
    push: bool,
}

/// The segment that may leave next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Head {
    /// Payload in bytes.
    pub bytes: u64,
    /// Nothing was written behind it (Linux `tcp_write_queue_tail`).
    pub is_tail: bool,
    /// Its last packet has PSH.
    pub push: bool,
}

impl Head {
    /// Packets of `mss` bytes that it takes.
    pub(super) fn packets(self, mss: u64) -> u64 {
        self.bytes.div_ceil(mss).max(1)
    }
}

/// The segments that were not sent yet.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteQueue {
    unsent: VecDeque<Unsent>,
    /// Up to where PSH has told the receiver not to wait (Linux `pushed_seq`).
    pushed: u64,
}

impl WriteQueue {
    /// Bytes of heap memory.
    pub(super) fn heap_bytes(&self) -> usize {
        self.unsent.capacity() * size_of::<Unsent>()
    }

    /// Stream position up to which the socket holds data; `next` is the next to send.
    pub(super) fn end(&self, next: u64) -> u64 {
        self.unsent.back().map_or(next, |tail| tail.end.max(next))
    }

    /// Whether exactly one segment waits.
    pub(super) fn is_single(&self) -> bool {
        self.unsent.len() == 1
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Forgets what lies below `next`, the next position to send.
    pub(super) fn forget_sent(&mut self, next: u64) {
        while self.unsent.front().is_some_and(|head| head.end <= next) {
            self.unsent.pop_front();
        }
    }

    /// The segment at the head, once it has taken from the one behind it what it lacks of `wanted` bytes, if that is
    /// asked for (Linux `tcp_grow_skb`). Without data in the queue, that is a segment without payload.
    pub(super) fn head(&mut self, next: u64, wanted: Option<u64>) -> Head {
        let Some(&head) = self.unsent.front() else {
            return Head { is_tail: true, ..Head::default() };
        };
        let end = match (wanted, self.unsent.get(1)) {
            (Some(wanted), Some(&second)) if next + wanted > head.end => {
                let end = (next + wanted).min(second.end);
                if end == second.end {
                    self.unsent.pop_front();
                    self.unsent[0].push |= head.push;
                } else {
                    self.unsent[0].end = end;
                }
                end
            }
            _ => head.end,
        };
        Head { bytes: end - next, is_tail: self.is_single(), push: self.unsent[0].push }
    }

    /// Bytes that the last segment takes until it holds `goal`; 0 if a new one is needed.
    pub(super) fn room(&self, next: u64, goal: u64) -> u64 {
        let Some(tail) = self.unsent.back() else { return 0 };
        let start = self.unsent.len().checked_sub(2).map_or(next, |before| self.unsent[before].end);
        goal.saturating_sub(tail.end - start)
    }

    /// Fills the last segment by `bytes`, or begins a new one with them.
    pub(super) fn append(&mut self, next: u64, bytes: u64, anew: bool) {
        let end = self.end(next) + bytes;
        match self.unsent.back_mut().filter(|_| !anew) {
            Some(tail) => tail.end = end,
            None => self.unsent.push_back(Unsent { end, push: false }),
        }
    }

    /// The last segment gets PSH (Linux `tcp_mark_push`).
    pub(super) fn mark_push(&mut self) {
        if let Some(tail) = self.unsent.back_mut() {
            tail.push = true;
            self.pushed = tail.end;
        }
    }

    /// Whether more than half of the largest window was written since the last PSH (Linux `forced_push`).
    pub(super) fn is_push_due(&self, next: u64, max_window: u32) -> bool {
        self.end(next) > self.pushed + u64::from(max_window / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 10, 10 and 5 bytes from position 1 on.
    fn queue() -> WriteQueue {
        let mut queue = WriteQueue::default();
        for bytes in [10, 10, 5] {
            queue.append(1, bytes, true);
        }
        queue
    }

    #[test]
    fn the_head_takes_what_it_lacks_from_the_next_only() {
        let mut queue = queue();
        assert_eq!(queue.head(1, None), Head { bytes: 10, is_tail: false, push: false });
        assert_eq!(queue.head(1, Some(14)).bytes, 14);
        // The next one is 6 bytes long now: sending all of the head, the following takes 5 of the last at most.
        queue.forget_sent(15);
        assert_eq!(queue.head(15, None).bytes, 6);
        queue.mark_push();
        assert_eq!(
            queue.head(15, Some(100)),
            Head { bytes: 11, is_tail: true, push: true },
            "all, and its PSH"
        );
        queue.forget_sent(26);
        assert!(queue.is_empty());
        assert_eq!(queue.head(26, Some(100)), Head { bytes: 0, is_tail: true, push: false });
    }

    #[test]
    fn a_tail_of_which_a_part_was_sent_is_filled_again() {
        let mut queue = WriteQueue::default();
        assert_eq!(queue.room(1, 10), 0);
        queue.append(1, 10, true);
        assert_eq!(queue.room(1, 10), 0);
        // Four of its bytes were sent.
        queue.forget_sent(5);
        assert_eq!(queue.room(5, 10), 4);
        queue.append(5, 4, false);
        assert_eq!((queue.end(5), queue.is_single()), (15, true));
        let two = self::queue();
        assert_eq!(two.room(1, 10), 5, "that of the last");
    }

    #[test]
    fn half_a_window_without_a_push_asks_for_one() {
        let mut queue = queue();
        assert!(queue.is_push_due(1, 50));
        assert!(!queue.is_push_due(1, 52), "26 bytes are not more than half");
        queue.mark_push();
        assert!(!queue.is_push_due(1, 50));
    }
}
