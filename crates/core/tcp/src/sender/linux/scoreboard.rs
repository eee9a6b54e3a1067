//! The retransmission queue: one entry a segment in flight, with its SACK, loss and retransmission marks.
//!
//! Counters are those of Linux `tcp_sock`: in flight = packets out - SACKed - lost + retransmitted.

use super::rack::Rack;
use super::segment::{Delivery, EVER_RETRANSMITTED, EXAMINED, FIN, LOST, RETRANSMITTED, SACKED, Segment};
use crate::Outstanding;
use crate::timestamps::{echoes_before, tick};
use alloc::boxed::Box;
use shoal_packet::{Ring, Seq};
use shoal_units::cast::{count_u32, fit_u16};
use shoal_units::{Span, Time};

/// Most SACK blocks that are remembered of an ACK.
pub(super) const SACK_BLOCKS: usize = 3;

/// The retransmission queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    pub(super) segments: Ring<Segment>,
    pub(super) sacked: u32,
    pub(super) lost: u32,
    pub(super) retransmitted: u32,
    /// Segments ever declared lost (Linux `tp->lost`).
    pub(super) losses: u64,
    /// Highest stream position SACKed (exclusive); at most `snd_una` if none.
    highest_sacked: u64,
    /// No segment below this stream position waits for retransmission.
    retransmit_from: u64,
    pub(super) rack: Rack,
    /// Duplicate ACKs counted as SACKs on connections without SACK (Linux emulates `sacked_out`).
    pub(super) duplicates: u32,
    /// SACK blocks of the last ACK that had some: repeated ones are skipped. Most flows have none for most of their
    /// lives.
    pub(super) last_sacks: Option<Box<[(u64, u64); SACK_BLOCKS]>>,
}

impl Scoreboard {
    #[inline]
    pub(super) fn packets_out(&self) -> u32 {
        count_u32(self.segments.len())
    }
    /// Packets in flight: on connections without SACK, duplicate ACKs stand for packets that left.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        (self.packets_out() + self.retransmitted - self.sacked - self.lost).saturating_sub(self.duplicates)
    }
    /// What is known of the packets that are out.
    pub(super) fn outstanding(&self) -> Outstanding {
        Outstanding {
            unacked: self.packets_out(),
            sacked: self.sacked + self.duplicates,
            lost: self.lost,
            retransmitted: self.retransmitted,
        }
    }
    /// Whether something is missing: SACKed or lost (Linux `tcp_left_out`), or retransmitted and not yet acknowledged.
    pub(super) fn is_missing_something(&self) -> bool {
        self.sacked + self.lost + self.duplicates > 0 || self.any_retransmission_done()
    }
    /// Whether RACK may find losses: something must have been delivered out of order, SACKed or retransmitted.
    pub(super) fn may_have_lost(&self) -> bool {
        self.sacked > 0 || self.retransmitted > 0 || self.any_retransmission_done()
    }
    /// Whether the peer acknowledged up to data that it had SACKed.
    pub(super) fn is_reneging(&self) -> bool {
        self.sacked > 0 && self.head().is_some_and(Segment::is_sacked)
    }
    pub(super) fn head(&self) -> Option<&Segment> {
        self.segments.front()
    }
    pub(super) fn tail(&self) -> Option<&Segment> {
        self.segments.back()
    }
    #[inline]
    pub(super) fn push(&mut self, segment: Segment) {
        self.segments.push_back(&segment);
    }
    /// End of the highest SACKed segment; `una` if nothing is SACKed (Linux `tcp_highest_sack_seq`).
    #[inline]
    pub(super) fn highest_sacked_or(&self, una: u64) -> u64 {
        if self.sacked == 0 { una } else { self.highest_sacked }
    }
    /// Start of the first segment below `una` that was sent once and not SACKed.
    #[cold]
    pub(super) fn first_original_below(&self, una: u64) -> Option<u64> {
        let below = self.segments.iter().take_while(|s| s.end() <= una);
        below.filter(|s| s.marks & (SACKED | EVER_RETRANSMITTED) == 0).map(|s| s.start).next()
    }
    /// Packets from the first unacknowledged to the highest SACKed one (Linux `fackets_out`).
    pub(super) fn forward_packets(&self) -> u32 {
        if self.sacked == 0 { 0 } else { count_u32(self.index_of(self.highest_sacked)) }
    }
    /// Index of the first segment that starts at or after `position`.
    fn index_of(&self, position: u64) -> usize {
        self.segments.partition_point(|s| s.start < position)
    }

    /// Removes what a cumulative acknowledgement up to `una` covers that echoes the timestamp `echo`. `timeout_high` is
    /// the F-RTO limit.
    // Inlined in its only caller: as a call of its own it costs 0.5 % of a run's instructions (benchmark lean).
    #[allow(clippy::inline_always, reason = "measured, see above")]
    #[inline(always)]
    pub(super) fn acknowledge(
        &mut self,
        (una, echo): (u64, u32),
        timeout_high: u64,
        now: Time,
        delivery: &mut Delivery,
    ) {
        while let Some(&segment) = self.segments.pop_front_if(|oldest| oldest.end() <= una) {
            delivery.acked_packets += 1;
            if segment.marks & !FIN == 0 {
                // The common case: sent once, in order.
                delivery.delivered_packets += 1;
                delivery.first_sent = delivery.first_sent.min(segment.sent);
                delivery.last_sent = segment.sent;
                delivery.original_delivered |= segment.end() <= timeout_high;
                self.rack.note_original(&segment, now);
            } else {
                self.acknowledge_marked(&segment, echo, timeout_high, now, delivery);
            }
        }
        if self.segments.front().is_some_and(|head| head.start < una) {
            self.trim_head(una);
        }
        self.highest_sacked = self.highest_sacked.max(una);
        self.retransmit_from = self.retransmit_from.max(una);
    }

    #[cold]
    fn acknowledge_marked(
        &mut self,
        segment: &Segment,
        echo: u32,
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
            delivery.sacked_bytes -= i64::from(segment.len);
        } else {
            delivery.delivered_packets += 1;
            delivery.newest_marked = delivery.newest_marked.max(segment.sent);
            // The echo of an earlier timestamp shows that the original arrived (Linux `tcp_skb_spurious_retrans`).
            if !(segment.was_ever_retransmitted() && echoes_before(echo, tick(segment.sent))) {
                self.rack.note_delivered(segment, now);
            }
        }
        if segment.is_lost() {
            self.lost -= 1;
        }
    }

    /// A partial acknowledgement inside the first segment (a peer that acknowledges bytes, not segments).
    #[cold]
    fn trim_head(&mut self, una: u64) {
        let head = &mut self.segments[0];
        head.len -= fit_u16(una - head.start);
        head.start = una;
    }

    /// Marks the segments inside [left, right) as SACKed. Returns the start of the first one that was sent once and
    /// lies below what had been SACKed before.
    #[cold]
    pub(super) fn sack(
        &mut self,
        left: u64,
        right: u64,
        timeout_high: u64,
        now: Time,
        delivery: &mut Delivery,
    ) -> Option<u64> {
        let mut overtaken = None;
        let mut index = self.index_of(left);
        while index < self.segments.len() && self.segments[index].end() <= right {
            let segment = &mut self.segments[index];
            index += 1;
            if segment.is_sacked() {
                continue;
            }
            let before = *segment;
            segment.marks = (segment.marks & !LOST) | SACKED;
            if before.is_lost() {
                self.lost -= 1;
                // A retransmission that is not marked lost, since the marks were taken back, is still in flight.
                segment.marks &= !RETRANSMITTED;
                self.retransmitted -= u32::from(before.is_retransmitted());
            }
            if !before.was_ever_retransmitted() {
                delivery.original_delivered |= before.end() <= timeout_high;
                delivery.first_sacked = delivery.first_sacked.min(before.sent);
                if self.sacked > 0 && before.start < self.highest_sacked {
                    overtaken = overtaken.or(Some(before.start));
                }
            }
            self.sacked += 1;
            delivery.delivered_packets += 1;
            delivery.sacked_bytes += i64::from(before.len);
            delivery.newly_sacked = true;
            delivery.newest_marked = delivery.newest_marked.max(before.sent);
            self.highest_sacked = self.highest_sacked.max(before.end());
            self.rack.note_delivered(&before, now);
        }
        overtaken
    }

    /// Retransmitted segments inside [left, right) that end after `marker`: what a D-SACK for data still in the queue
    /// explains (Linux `tcp_sacktag_one`).
    #[cold]
    pub(super) fn retransmitted_within(&self, left: u64, right: u64, marker: u64) -> u32 {
        let behind = (self.index_of(left)..self.segments.len()).map(|index| &self.segments[index]);
        let inside = behind.take_while(|s| s.end() <= right);
        count_u32(inside.filter(|s| s.was_ever_retransmitted() && s.end() > marker).count())
    }

    /// A D-SACK for [left, right) in the queue: retransmissions that arrived after their originals are no longer in
    /// flight. Returns the start of the first segment that was SACKed before its retransmission arrived.
    #[cold]
    pub(super) fn note_arrived_twice(&mut self, left: u64, right: u64) -> Option<u64> {
        let mut overtaken = None;
        for index in self.index_of(left)..self.segments.len() {
            let segment = &mut self.segments[index];
            if segment.end() > right {
                break;
            }
            if segment.was_ever_retransmitted() && segment.is_sacked() {
                overtaken = overtaken.or(Some(segment.start));
            }
            if segment.is_retransmitted() {
                segment.marks &= !RETRANSMITTED;
                self.retransmitted -= 1;
            }
        }
        overtaken
    }

    /// Marks as lost every segment not SACKed among the first `count` (Linux `tcp_mark_head_lost` with FACK).
    #[cold]
    pub(super) fn mark_head_lost(&mut self, count: u32) {
        let count = (count as usize).min(self.segments.len());
        for index in 0..count {
            if self.segments[index].marks & (SACKED | LOST) == 0 {
                self.mark_lost(index);
            }
        }
    }

    /// Segment `index` is lost, or its retransmission if it was known to be (Linux `tcp_mark_skb_lost`). A
    /// retransmission whose mark was taken back (see [`Self::forget_losses`]) gets the mark of its original, and
    /// counts as under way.
    fn mark_lost_once(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        if segment.is_lost() || !segment.is_retransmitted() {
            return self.mark_lost(index);
        }
        segment.marks |= LOST;
        self.lost += 1;
        self.losses += 1;
    }

    /// Segment `index` is lost, and so is its retransmission if there was one.
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
    pub(super) fn mark_lost_retransmissions(&mut self, una: u64) {
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

    /// RACK: marks segments that are due (Linux `tcp_rack_detect_loss`). Returns when the last of those that are not
    /// yet due will be, if there are some.
    pub(super) fn mark_rack_lost(&mut self, now: Time, window: Span) -> Option<Time> {
        let mut wake = None;
        for index in 0..self.segments.len() {
            let segment = &self.segments[index];
            let waits = segment.is_lost() && !segment.is_retransmitted();
            if waits || segment.marks & (SACKED | EXAMINED) != 0 {
                continue;
            }
            if !self.rack.overtook(segment) {
                if !segment.was_ever_retransmitted() {
                    break; // Everything after it was sent later still.
                }
                continue;
            }
            let due = self.rack.due(segment, window);
            if due > now {
                wake = wake.max(Some(due));
            } else {
                self.mark_lost_once(index);
                self.segments[index].marks |= EXAMINED;
            }
        }
        wake
    }

    /// A duplicate ACK on a connection without SACK stands for one packet that has arrived, unless as many have as can.
    /// Returns whether it does.
    pub(super) fn add_duplicate(&mut self) -> bool {
        self.duplicates += 1;
        !self.limit_duplicates()
    }

    /// No more packets have arrived than are out and not missing (Linux `tcp_limit_reno_sacked`). Returns whether more
    /// duplicates were counted.
    fn limit_duplicates(&mut self) -> bool {
        let out = self.packets_out();
        let most = out - self.lost.max(1).min(out);
        let are_more = self.duplicates > most;
        self.duplicates = self.duplicates.min(most);
        are_more
    }

    /// The duplicates stood for packets that the cumulative ACK now covers; one ACK covers one hole besides (Linux
    /// `tcp_remove_reno_sacks`). Returns whether there were more duplicates than packets that can have arrived.
    #[cold]
    pub(super) fn remove_duplicates(&mut self, delivery: &mut Delivery) -> bool {
        let covered = delivery.acked_packets;
        if delivery.retransmitted_acked {
            delivery.original_delivered = false; // Who knows which of the two arrived.
        }
        if self.duplicates > 0 && covered > 0 {
            // They were counted as delivered when their duplicates came.
            delivery.delivered_packets = covered.saturating_sub(self.duplicates).max(1);
            self.duplicates = self.duplicates.saturating_sub(covered - 1);
        }
        self.limit_duplicates()
    }

    /// A timeout: everything not SACKed is lost, and so are all retransmissions (Linux `tcp_enter_loss`).
    /// `spares_recent`: except what was sent less than an RTT ago, the head aside (Linux since 4.18).
    #[cold]
    pub(super) fn on_timeout(&mut self, una: u64, now: Time, spares_recent: bool) {
        self.duplicates = 0;
        self.last_sacks = None;
        if self.segments.front().is_some_and(Segment::is_sacked) {
            self.forget_sacks(una);
        }
        for index in 0..self.segments.len() {
            let segment = &self.segments[index];
            if segment.is_sacked() || (segment.is_lost() && !segment.is_retransmitted()) {
                continue;
            }
            if index == 0 || !spares_recent {
                self.mark_lost(index);
            } else if self.rack.due(segment, Span::ZERO) <= now {
                self.mark_lost_once(index);
            }
        }
        self.retransmit_from = una;
    }

    /// The peer dropped data it had SACKed
    /// ([RFC 2018, section 8](https://www.rfc-editor.org/rfc/rfc2018#section-8)): believe nothing.
    #[cold]
    pub(super) fn forget_sacks(&mut self, una: u64) {
        for index in 0..self.segments.len() {
            self.segments[index].marks &= !SACKED;
        }
        self.sacked = 0;
        self.highest_sacked = una;
    }

    /// Takes all loss marks back (Linux `tcp_undo_cwnd_reduction` with `unmark_loss`).
    #[cold]
    pub(super) fn forget_losses(&mut self) {
        for index in 0..self.segments.len() {
            self.segments[index].marks &= !LOST;
        }
        self.lost = 0;
        self.rack.look_again();
    }

    /// Index of the first lost segment not yet retransmitted, unless there are as many retransmissions as losses (Linux
    /// `tcp_xmit_retransmit_queue`).
    pub(super) fn next_lost(&mut self) -> Option<usize> {
        if self.retransmitted >= self.lost {
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
    pub(super) fn retransmit(&mut self, index: usize, now: Time, snd_nxt: u64) {
        if !self.segments[index].is_retransmitted() {
            self.segments[index].marks |= RETRANSMITTED;
            self.retransmitted += 1;
        }
        self.repeat(index, now, snd_nxt);
    }

    /// Segment `index` was transmitted again as a probe: not counted in the flight (Linux `tcp_send_loss_probe`).
    pub(super) fn repeat(&mut self, index: usize, now: Time, snd_nxt: u64) {
        let segment = &mut self.segments[index];
        segment.marks = (segment.marks & !EXAMINED) | EVER_RETRANSMITTED;
        segment.sent = now;
        segment.marker = Seq::of(snd_nxt);
    }

    /// The host refused to transmit segment `index` again: its RTT is in doubt from now on.
    pub(super) fn note_attempt(&mut self, index: usize) {
        self.segments[index].marks |= EVER_RETRANSMITTED;
    }

    /// Whether a segment in flight was ever retransmitted, as far as Linux `tcp_any_retrans_done` looks.
    pub(super) fn any_retransmission_done(&self) -> bool {
        self.retransmitted > 0 || self.head().is_some_and(Segment::was_ever_retransmitted)
    }
    /// Whether any segment in flight was ever retransmitted.
    pub(super) fn holds_retransmissions(&self) -> bool {
        self.segments.iter().any(Segment::was_ever_retransmitted)
    }
    pub(super) fn last_index(&self) -> usize {
        self.segments.len() - 1
    }
    pub(super) fn segment(&self, index: usize) -> Segment {
        self.segments[index]
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let sacks = self.last_sacks.as_ref().map_or(0, |blocks| size_of_val(&**blocks));
        sacks + self.segments.capacity() * size_of::<Segment>()
    }

    /// # Panics
    /// If the counters differ from a recount of the segments, or the queue is not what is out from `una` to `nxt`.
    pub(super) fn assert_invariants(&self, una: u64, nxt: u64) {
        let count = |f: fn(&Segment) -> bool| count_u32(self.segments.iter().filter(|s| f(s)).count());
        let recount = (count(Segment::is_sacked), count(Segment::is_lost), count(Segment::is_retransmitted));
        assert_eq!(recount, (self.sacked, self.lost, self.retransmitted));
        assert!(self.sacked + self.lost <= self.packets_out(), "more SACKed and lost than sent");
        assert!(self.head().is_none_or(|s| s.start == una), "queue does not begin at snd_una");
        assert!(self.tail().is_none_or(|s| s.end() == nxt), "queue does not end at snd_nxt");
    }
}
