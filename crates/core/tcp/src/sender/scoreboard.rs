//! The retransmission queue: one entry a segment in flight, with its SACK, loss and retransmission marks.
//!
//! Counters are those of Linux `tcp_sock`: in flight = packets out - SACKed - lost + retransmitted.

use super::rack::Rack;
use alloc::collections::VecDeque;
use shoal_packet::Seq;
use shoal_units::Time;

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
    pub(super) marks: u8,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RETRANSMITTED: u8 = 4;
const EVER_RETRANSMITTED: u8 = 8;
const FIN: u8 = 16;

impl Segment {
    #[inline]
    pub(crate) fn new(start: u64, len: u16, fin: bool, sent: Time, snd_nxt: u64) -> Self {
        Self { start, sent, marker: Seq::of(snd_nxt), len, marks: if fin { FIN } else { 0 } }
    }
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
    pub(crate) fn is_fin(&self) -> bool {
        self.marks & FIN != 0
    }
    pub(crate) fn payload(&self) -> u16 {
        self.len - u16::from(self.is_fin())
    }
    #[inline]
    pub(crate) fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.marks & LOST != 0
    }
    #[inline]
    pub(crate) fn is_retransmitted(&self) -> bool {
        self.marks & RETRANSMITTED != 0
    }
    #[inline]
    pub(crate) fn was_ever_retransmitted(&self) -> bool {
        self.marks & EVER_RETRANSMITTED != 0
    }
}

/// What one acknowledgement removed or marked. Times are [`Time::NEVER`] if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    /// Packets removed by the cumulative acknowledgement.
    pub acked_packets: u32,
    /// Packets delivered for the first time: removed without having been SACKed, or newly SACKed.
    pub delivered_packets: u32,
    /// A retransmitted segment was acknowledged: no RTT sample (Karn).
    pub retransmitted_acked: bool,
    /// A segment never retransmitted, sent before the timeout, was newly (S)ACKed: the timeout was spurious (F-RTO).
    pub original_delivered: bool,
    /// New SACK information.
    pub newly_sacked: bool,
    /// Transmission time of the first removed segment that gives an RTT sample.
    pub first_sent: Time,
    /// Transmission time of the last removed segment that gives an RTT sample.
    pub last_sent: Time,
    /// Transmission time of the first newly SACKed segment that was never retransmitted.
    pub first_sacked: Time,
}

impl Delivery {
    pub(crate) const NOTHING: Self = Self {
        acked_packets: 0,
        delivered_packets: 0,
        retransmitted_acked: false,
        original_delivered: false,
        newly_sacked: false,
        first_sent: Time::NEVER,
        last_sent: Time::NEVER,
        first_sacked: Time::NEVER,
    };
}

/// The retransmission queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    pub(super) segments: VecDeque<Segment>,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retransmitted: u32,
    /// Segments ever declared lost (Linux `tp->lost`).
    pub(crate) losses: u64,
    /// Highest stream position SACKed (exclusive); at most `snd_una` if none.
    highest_sacked: u64,
    /// No segment below this stream position waits for retransmission.
    retransmit_from: u64,
    pub(super) rack: Rack,
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
    #[inline]
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
    pub(crate) fn acknowledge(&mut self, una: u64, timeout_high: u64, now: Time, delivery: &mut Delivery) {
        while let Some(&segment) = self.segments.front() {
            if segment.end() > una {
                if segment.start < una {
                    self.trim_head(una);
                }
                break;
            }
            self.segments.pop_front();
            delivery.acked_packets += 1;
            if segment.marks & !FIN == 0 {
                // The common case: sent once, in order.
                delivery.delivered_packets += 1;
                delivery.first_sent = delivery.first_sent.min(segment.sent);
                delivery.last_sent = segment.sent;
                delivery.original_delivered |= segment.end() <= timeout_high;
                self.rack.note_original(&segment, now);
            } else {
                self.acknowledge_marked(&segment, timeout_high, now, delivery);
            }
        }
        if self.segments.is_empty() {
            // From the start of its memory again: with many flows only that much of it stays in a cache.
            self.segments.clear();
        }
        self.highest_sacked = self.highest_sacked.max(una);
        self.retransmit_from = self.retransmit_from.max(una);
    }

    #[cold]
    fn acknowledge_marked(
        &mut self,
        segment: &Segment,
        timeout_high: u64,
        now: Time,
        delivery: &mut Delivery,
    ) {
        if segment.was_ever_retransmitted() {
            delivery.retransmitted_acked = true;
            if segment.is_retransmitted() {
                self.retransmitted -= 1;
            }
        } else if !segment.is_sacked() {
            delivery.first_sent = delivery.first_sent.min(segment.sent);
            delivery.last_sent = segment.sent;
            delivery.original_delivered |= segment.end() <= timeout_high;
        }
        if segment.is_sacked() {
            self.sacked -= 1;
        } else {
            delivery.delivered_packets += 1;
            self.rack.note_delivered(segment, now);
        }
        if segment.is_lost() {
            self.lost -= 1;
        }
    }

    /// A partial acknowledgement inside the first segment (a peer that acknowledges bytes, not segments).
    #[cold]
    fn trim_head(&mut self, una: u64) {
        if let Some(head) = self.segments.front_mut() {
            head.len -= (una - head.start) as u16;
            head.start = una;
        }
    }

    /// Marks the segments inside [left, right) as SACKed.
    #[cold]
    pub(crate) fn sack(
        &mut self,
        left: u64,
        right: u64,
        timeout_high: u64,
        now: Time,
        delivery: &mut Delivery,
    ) {
        let mut index = self.index_of(left);
        while let Some(segment) = self.segments.get_mut(index) {
            if segment.end() > right {
                break;
            }
            index += 1;
            if segment.is_sacked() {
                continue;
            }
            let before = *segment;
            segment.marks = (segment.marks & !(LOST | RETRANSMITTED)) | SACKED;
            if before.is_retransmitted() {
                self.retransmitted -= 1;
            }
            if before.is_lost() {
                self.lost -= 1;
            }
            if !before.was_ever_retransmitted() {
                delivery.original_delivered |= before.end() <= timeout_high;
                delivery.first_sacked = delivery.first_sacked.min(before.sent);
            }
            self.sacked += 1;
            delivery.delivered_packets += 1;
            delivery.newly_sacked = true;
            self.highest_sacked = self.highest_sacked.max(before.end());
            self.rack.note_delivered(&before, now);
        }
    }

    /// Retransmitted segments inside [left, right) that end after `marker`: what a D-SACK for data still in the queue
    /// explains (Linux `tcp_sacktag_one`).
    #[cold]
    pub(crate) fn retransmitted_within(&self, left: u64, right: u64, marker: u64) -> u32 {
        self.segments
            .range(self.index_of(left)..)
            .take_while(|s| s.end() <= right)
            .filter(|s| s.was_ever_retransmitted() && s.end() > marker)
            .count() as u32
    }

    /// Marks as lost every segment not SACKed among the first `count` (Linux `tcp_mark_head_lost` with FACK).
    #[cold]
    pub(crate) fn mark_head_lost(&mut self, count: u32) {
        let count = (count as usize).min(self.segments.len());
        for index in 0..count {
            if self.segments[index].marks & (SACKED | LOST) == 0 {
                self.mark_lost(index);
            }
        }
    }

    /// Segment `index` is lost, and so is its retransmission if there was one (Linux `tcp_mark_skb_lost`).
    pub(super) fn mark_lost(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        self.retransmit_from = self.retransmit_from.min(segment.start);
        if segment.is_retransmitted() {
            segment.marks &= !RETRANSMITTED;
            self.retransmitted -= 1;
        }
        if !segment.is_lost() {
            segment.marks |= LOST;
            self.lost += 1;
        }
        self.losses += 1;
    }

    /// Retransmissions overtaken by a SACK of data sent after them are lost again (Linux 3.2 `tcp_mark_lost_retrans`).
    #[cold]
    pub(crate) fn mark_lost_retransmissions(&mut self, una: u64) {
        if self.retransmitted == 0 {
            return;
        }
        for index in 0..self.index_of(self.highest_sacked) {
            let segment = &self.segments[index];
            if segment.is_retransmitted() && self.highest_sacked > segment.marker.near(una) {
                self.mark_lost(index);
            }
        }
    }

    /// A timeout: everything not SACKed is lost, and so are all retransmissions (Linux `tcp_enter_loss`). `spares_recent`:
    /// except what was sent less than an RTT ago, the head aside (Linux since 4.18).
    #[cold]
    pub(crate) fn mark_all_lost(&mut self, una: u64, now: Time, spares_recent: bool) {
        if self.segments.front().is_some_and(Segment::is_sacked) {
            self.forget_sacks(una);
        }
        for index in 0..self.segments.len() {
            let segment = &self.segments[index];
            if segment.is_sacked() || (segment.is_lost() && !segment.is_retransmitted()) {
                continue;
            }
            if index > 0 && spares_recent && self.rack.due(segment, shoal_units::Span::ZERO) > now {
                continue;
            }
            self.mark_lost(index);
        }
        self.retransmit_from = una;
    }

    /// The peer dropped data it had SACKed (RFC 2018 section 8): believe nothing.
    #[cold]
    pub(crate) fn forget_sacks(&mut self, una: u64) {
        for segment in &mut self.segments {
            segment.marks &= !SACKED;
        }
        self.sacked = 0;
        self.highest_sacked = una;
    }

    /// Takes all loss marks back (Linux `tcp_undo_cwnd_reduction` with `unmark_loss`).
    #[cold]
    pub(crate) fn forget_losses(&mut self) {
        for segment in &mut self.segments {
            segment.marks &= !LOST;
        }
        self.lost = 0;
        self.rack.look_again();
    }

    /// Index of the first lost segment not yet retransmitted.
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        if self.lost == 0 {
            return None;
        }
        let from = self.index_of(self.retransmit_from);
        for index in from..self.segments.len() {
            let segment = self.segments[index];
            if segment.marks & (LOST | SACKED | RETRANSMITTED) == LOST {
                self.retransmit_from = segment.start;
                return Some(index);
            }
        }
        self.retransmit_from = self.segments.back().map_or(self.retransmit_from, Segment::end);
        None
    }

    /// Segment `index` was transmitted again.
    pub(crate) fn retransmit(&mut self, index: usize, now: Time, snd_nxt: u64) {
        if !self.segments[index].is_retransmitted() {
            self.segments[index].marks |= RETRANSMITTED;
            self.retransmitted += 1;
        }
        self.repeat(index, now, snd_nxt);
    }

    /// Segment `index` was transmitted again as a probe: not counted in the flight (Linux `tcp_send_loss_probe`).
    pub(crate) fn repeat(&mut self, index: usize, now: Time, snd_nxt: u64) {
        let segment = &mut self.segments[index];
        segment.marks |= EVER_RETRANSMITTED;
        segment.sent = now;
        segment.marker = Seq::of(snd_nxt);
    }

    /// Whether a segment in flight was ever retransmitted, as far as Linux `tcp_any_retrans_done` looks.
    pub(crate) fn any_retransmission_done(&self) -> bool {
        self.retransmitted > 0 || self.head().is_some_and(Segment::was_ever_retransmitted)
    }
    /// Whether any segment in flight was ever retransmitted.
    pub(crate) fn holds_retransmissions(&self) -> bool {
        self.segments.iter().any(Segment::was_ever_retransmitted)
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
