//! The retransmission queue: one entry a segment in flight, with its SACK, loss and retransmission marks.
//!
//! Counters are those of Linux `tcp_sock`: in flight = packets out - SACKed - lost + retransmitted.

use shoal_packet::Seq;
use shoal_units::Time;
use std::collections::VecDeque;

/// One segment in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// First stream position.
    pub start: u64,
    /// When it was last transmitted.
    pub sent: Time,
    /// `snd_nxt` when it was last transmitted (low bits): a SACK above it proves a retransmission lost.
    pub marker: Seq,
    /// Stream positions it covers (payload, plus one for FIN).
    pub len: u16,
    marks: u8,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RETRANSMITTED: u8 = 4;
const EVER_RETRANSMITTED: u8 = 8;
const FIN: u8 = 16;

impl Segment {
    pub(crate) fn new(start: u64, len: u16, fin: bool, sent: Time, snd_nxt: u64) -> Self {
        Self { start, sent, marker: Seq::of(snd_nxt), len, marks: if fin { FIN } else { 0 } }
    }
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
    pub(crate) fn is_fin(&self) -> bool {
        self.marks & FIN != 0
    }
    pub(crate) fn payload(&self) -> u16 {
        self.len - u16::from(self.is_fin())
    }
    pub(crate) fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    pub(crate) fn is_lost(&self) -> bool {
        self.marks & LOST != 0
    }
    pub(crate) fn is_retransmitted(&self) -> bool {
        self.marks & RETRANSMITTED != 0
    }
    pub(crate) fn was_ever_retransmitted(&self) -> bool {
        self.marks & EVER_RETRANSMITTED != 0
    }
}

/// What one acknowledgement removed or marked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivery {
    /// Packets removed by the cumulative acknowledgement.
    pub acked_packets: u32,
    /// Packets delivered for the first time: removed without having been SACKed, or newly SACKed.
    pub delivered_packets: u32,
    /// A retransmitted segment was acknowledged: no RTT sample (Karn).
    pub retransmitted_acked: bool,
    /// A segment never retransmitted, sent before the timeout, was newly (S)ACKed: the timeout was spurious (F-RTO).
    pub original_delivered: bool,
    /// Transmission time of the first removed segment that gives an RTT sample.
    pub first_sent: Option<Time>,
    /// Transmission time of the last removed segment that gives an RTT sample.
    pub last_sent: Option<Time>,
    /// New SACK information.
    pub newly_sacked: bool,
}

/// The retransmission queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Segment>,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retransmitted: u32,
    /// Segments ever declared lost.
    pub(crate) losses: u64,
    /// Highest stream position SACKed (exclusive); at most `snd_una` if none.
    highest_sacked: u64,
    /// No segment below this stream position waits for retransmission.
    retransmit_from: u64,
    /// Latest transmission among delivered segments, with its end (RACK).
    rack_sent: Time,
    rack_end: u64,
}

impl Scoreboard {
    #[inline]
    pub(crate) fn packets_out(&self) -> u32 {
        self.segments.len() as u32
    }
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retransmitted - self.sacked - self.lost
    }
    /// Packets that have left the network: SACKed or lost (Linux `tcp_left_out`).
    pub(crate) fn left_out(&self) -> u32 {
        self.sacked + self.lost
    }
    pub(crate) fn head(&self) -> Option<&Segment> {
        self.segments.front()
    }
    pub(crate) fn tail(&self) -> Option<&Segment> {
        self.segments.back()
    }
    #[inline]
    pub(crate) fn push(&mut self, segment: Segment) {
        self.segments.push_back(segment);
    }
    /// Packets from the first unacknowledged to the highest SACKed one (Linux `fackets_out`).
    pub(crate) fn forward_packets(&self) -> u32 {
        if self.sacked == 0 { 0 } else { self.index_of(self.highest_sacked) as u32 }
    }
    /// Index of the first segment that starts at or after `position`.
    fn index_of(&self, position: u64) -> usize {
        self.segments.partition_point(|s| s.start < position)
    }

    /// Removes what a cumulative acknowledgement up to `una` covers. `timeout_high` is the F-RTO limit.
    #[inline]
    pub(crate) fn acknowledge(&mut self, una: u64, timeout_high: u64, delivery: &mut Delivery) {
        while let Some(&segment) = self.segments.front() {
            if segment.end() > una {
                if segment.start < una {
                    self.trim_head(una);
                }
                break;
            }
            self.segments.pop_front();
            delivery.acked_packets += 1;
            if segment.marks == 0 || segment.marks == FIN {
                // The common case: sent once, in order.
                delivery.delivered_packets += 1;
                delivery.first_sent.get_or_insert(segment.sent);
                delivery.last_sent = Some(segment.sent);
                delivery.original_delivered |= segment.end() <= timeout_high;
                self.note_delivered(&segment);
                continue;
            }
            if segment.was_ever_retransmitted() {
                delivery.retransmitted_acked = true;
                if segment.is_retransmitted() {
                    self.retransmitted -= 1;
                }
            } else if !segment.is_sacked() {
                delivery.first_sent.get_or_insert(segment.sent);
                delivery.last_sent = Some(segment.sent);
                delivery.original_delivered |= segment.end() <= timeout_high;
            }
            if segment.is_sacked() {
                self.sacked -= 1;
            } else {
                delivery.delivered_packets += 1;
                self.note_delivered(&segment);
            }
            if segment.is_lost() {
                self.lost -= 1;
            }
        }
        self.highest_sacked = self.highest_sacked.max(una);
        self.retransmit_from = self.retransmit_from.max(una);
    }

    /// A partial acknowledgement inside the first segment (a peer that acknowledges bytes, not segments).
    fn trim_head(&mut self, una: u64) {
        if let Some(head) = self.segments.front_mut() {
            head.len -= (una - head.start) as u16;
            head.start = una;
        }
    }

    fn note_delivered(&mut self, segment: &Segment) {
        if (segment.sent, segment.end()) > (self.rack_sent, self.rack_end) {
            self.rack_sent = segment.sent;
            self.rack_end = segment.end();
        }
    }

    /// Marks the segments inside [left, right) as SACKed.
    pub(crate) fn sack(&mut self, left: u64, right: u64, timeout_high: u64, delivery: &mut Delivery) {
        let mut index = self.index_of(left);
        while let Some(segment) = self.segments.get_mut(index) {
            if segment.end() > right {
                break;
            }
            if !segment.is_sacked() {
                if segment.is_retransmitted() {
                    self.retransmitted -= 1;
                } else if !segment.was_ever_retransmitted() {
                    delivery.original_delivered |= segment.end() <= timeout_high;
                }
                if segment.is_lost() {
                    self.lost -= 1;
                }
                segment.marks = (segment.marks & !(LOST | RETRANSMITTED)) | SACKED;
                self.sacked += 1;
                delivery.delivered_packets += 1;
                delivery.newly_sacked = true;
                let copy = *segment;
                self.highest_sacked = self.highest_sacked.max(copy.end());
                self.note_delivered(&copy);
            }
            index += 1;
        }
    }

    /// Marks as lost every segment not SACKed among the first `count` (Linux `tcp_mark_head_lost` with FACK).
    pub(crate) fn mark_head_lost(&mut self, count: u32) {
        let count = (count as usize).min(self.segments.len());
        for index in 0..count {
            if self.segments[index].marks & (SACKED | LOST) == 0 {
                self.mark_lost(index);
            }
        }
    }

    fn mark_lost(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        segment.marks |= LOST;
        self.lost += 1;
        self.losses += 1;
        self.retransmit_from = self.retransmit_from.min(segment.start);
    }

    /// Retransmissions overtaken by a SACK of data sent after them are lost again (Linux 3.2 `tcp_mark_lost_retrans`).
    pub(crate) fn mark_lost_retransmissions(&mut self, una: u64) {
        if self.retransmitted == 0 {
            return;
        }
        for index in 0..self.index_of(self.highest_sacked) {
            let segment = &mut self.segments[index];
            if segment.is_retransmitted() && self.highest_sacked > segment.marker.near(una) {
                segment.marks &= !RETRANSMITTED;
                self.retransmitted -= 1;
                self.retransmit_from = self.retransmit_from.min(segment.start);
                if self.segments[index].marks & (SACKED | LOST) == 0 {
                    self.mark_lost(index);
                }
            }
        }
    }

    /// RACK (RFC 8985 section 6.2 step 5): marks segments sent at least `reordering` before the latest delivered one.
    /// Returns when the next one would have waited long enough.
    pub(crate) fn mark_rack_lost(&mut self, now: Time, reordering: shoal_units::Span) -> Time {
        let mut wake = Time::NEVER;
        // The delivery that proves a loss took `now - rack_sent`; an older segment may take that plus the window.
        let rtt = now.since(self.rack_sent);
        for index in 0..self.segments.len() {
            let segment = &mut self.segments[index];
            if segment.is_sacked() || (segment.is_lost() && !segment.is_retransmitted()) {
                continue;
            }
            if (segment.sent, segment.end()) >= (self.rack_sent, self.rack_end) {
                if !segment.was_ever_retransmitted() {
                    break; // Everything after it was sent later still.
                }
                continue;
            }
            let due = segment.sent + rtt + reordering;
            if due > now {
                wake = wake.min(due);
                continue;
            }
            if segment.is_retransmitted() {
                segment.marks &= !RETRANSMITTED;
                self.retransmitted -= 1;
                self.retransmit_from = self.retransmit_from.min(segment.start);
            }
            if !self.segments[index].is_lost() {
                self.mark_lost(index);
            }
        }
        wake
    }

    /// A timeout: everything not SACKed is lost, and so are all retransmissions (Linux `tcp_enter_loss`).
    pub(crate) fn mark_all_lost(&mut self, una: u64) {
        let known = self.lost;
        let reneged = self.segments.front().is_some_and(Segment::is_sacked);
        if reneged {
            // The peer dropped data it had SACKed (RFC 2018 section 8): believe nothing.
            self.highest_sacked = una;
        }
        (self.sacked, self.lost, self.retransmitted) = (0, 0, 0);
        for segment in &mut self.segments {
            segment.marks &= !(RETRANSMITTED | LOST);
            if reneged {
                segment.marks &= !SACKED;
            }
            if segment.is_sacked() {
                self.sacked += 1;
            } else {
                segment.marks |= LOST;
                self.lost += 1;
            }
        }
        self.losses += u64::from(self.lost.saturating_sub(known));
        self.retransmit_from = una;
    }

    /// Takes all loss marks back (Linux `tcp_try_undo_loss`).
    pub(crate) fn forget_losses(&mut self) {
        for segment in &mut self.segments {
            segment.marks &= !LOST;
        }
        self.lost = 0;
    }

    /// The first lost segment not yet retransmitted, as (index, segment).
    pub(crate) fn next_lost(&mut self) -> Option<(usize, Segment)> {
        if self.lost == 0 {
            return None;
        }
        let from = self.index_of(self.retransmit_from);
        for index in from..self.segments.len() {
            let segment = self.segments[index];
            if segment.marks & (LOST | SACKED | RETRANSMITTED) == LOST {
                self.retransmit_from = segment.start;
                return Some((index, segment));
            }
        }
        self.retransmit_from = self.segments.back().map_or(self.retransmit_from, Segment::end);
        None
    }

    /// Segment `index` was transmitted again.
    pub(crate) fn retransmit(&mut self, index: usize, now: Time, snd_nxt: u64) {
        let segment = &mut self.segments[index];
        if !segment.is_retransmitted() {
            segment.marks |= RETRANSMITTED;
            self.retransmitted += 1;
        }
        segment.marks |= EVER_RETRANSMITTED;
        segment.sent = now;
        segment.marker = Seq::of(snd_nxt);
    }

    /// Whether a segment in flight was ever retransmitted, as far as Linux `tcp_any_retrans_done` looks.
    pub(crate) fn any_retransmission_done(&self) -> bool {
        self.retransmitted > 0 || self.head().is_some_and(Segment::was_ever_retransmitted)
    }

    pub(crate) fn last_index(&self) -> usize {
        self.segments.len() - 1
    }

    pub(crate) fn segment(&self, index: usize) -> Segment {
        self.segments[index]
    }

    /// Counters recomputed from the segments, for checks: (sacked, lost, retransmitted).
    pub(crate) fn recount(&self) -> (u32, u32, u32) {
        let count = |f: fn(&Segment) -> bool| self.segments.iter().filter(|s| f(s)).count() as u32;
        (count(Segment::is_sacked), count(Segment::is_lost), count(Segment::is_retransmitted))
    }
    pub(crate) fn heap_bytes(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>()
    }
    pub(crate) fn counters(&self) -> (u32, u32, u32) {
        (self.sacked, self.lost, self.retransmitted)
    }
}
