//! Sending in segments of several packets, as a host with segmentation offload does (Linux `tcp_write_xmit`).
//!
//! A segment here is what TCP hands to the card as one (`struct sk_buff`); the card splits it into packets that follow
//! each other back to back. `size.rs` says how large it may be, `defer.rs` whether it waits for more, `small_queue.rs`
//! whether the host holds too much of the connection already, `refusal.rs` what happens if its queue is full. The
//! retransmission queue stays one entry a packet: the entries of a segment share their transmission time, as parts of
//! a split segment do in the kernel.

mod defer;
mod departure;
mod refusal;
mod size;
mod small_queue;
mod write_queue;
mod writing;

use super::transmit::Next;
use super::{Call, LinuxSender, Moment};
use crate::{Offload, Output, Pacing, Tso, WindowUse};
use defer::{Decision, Deferral, Wait};
use shoal_cc::{Burst as PaceBurst, CongestionControl, Pace};
use shoal_units::cast::fit_u16;
use shoal_units::{Span, Time};
use size::PacingRate;
use small_queue::SmallQueue;
use write_queue::{Head, WriteQueue};

/// What a sender with segmentation offload remembers.
#[derive(Clone, Debug)]
pub(super) struct Segmentation {
    /// What the socket holds and was not sent.
    queue: WriteQueue,
    /// The application wanted to write more than the socket took (Linux `SOCK_NOSPACE`).
    is_refused: bool,
    /// Pacing rate (Linux `sk_pacing_rate`), by which segments are sized and bursts are paced.
    rate: PacingRate,
    /// Longest burst at that rate, if the controller has one.
    burst: Option<PaceBurst>,
    /// Largest window that the peer has offered in bytes (Linux `max_window`).
    max_window: u32,
    /// When the next segment may leave, if the connection is paced; else when the last one left (Linux
    /// `tcp_wstamp_ns`).
    departure: Time,
    deferral: Deferral,
    small_queue: SmallQueue,
    /// Stream position at which the last segment begins.
    last_start: u64,
    /// Sending resumes when a segment leaves the host (Linux `TSQ_THROTTLED`).
    awaits_departure: bool,
    /// When sending resumes that pacing or the small queue has stopped; [`Time::NEVER`] if neither has.
    pub(super) resume: Time,
}

/// How much one look at the write queue may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Burst {
    /// All that the windows allow and that does not wait for more.
    All,
    /// One segment, which waits for nothing (Linux `tcp_push_one`).
    One,
}

impl Segmentation {
    pub(super) fn new() -> Self {
        Self {
            queue: WriteQueue::default(),
            is_refused: false,
            rate: PacingRate::UNLIMITED,
            burst: None,
            max_window: 0,
            departure: Time::ZERO,
            deferral: Deferral::default(),
            small_queue: SmallQueue::default(),
            last_start: 0,
            awaits_departure: false,
            resume: Time::NEVER,
        }
    }

    /// Bytes of heap memory.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.queue.heap_bytes() + self.small_queue.heap_bytes()
    }

    /// A segment has left the host. Returns whether sending waits for that.
    pub(super) fn note_left(&mut self) -> bool {
        self.small_queue.note_left(1);
        core::mem::take(&mut self.awaits_departure)
    }

    /// The controller has another pace.
    pub(super) fn set_pace(&mut self, pace: Pace) {
        (self.rate, self.burst) = (PacingRate::of(pace), Some(pace.burst));
    }
    /// When the next segment may leave by the pacing so far (Linux `tcp_wstamp_ns`).
    pub(super) fn departure(&self) -> Time {
        self.departure
    }
    /// Whether nothing of the connection waits in the host at `now` (Linux `sk_wmem_alloc`).
    pub(super) fn is_empty(&self, now: Time) -> bool {
        self.small_queue.next_done(now).is_none()
    }

    /// Stream position up to which the socket holds data; `next` is the next to send.
    pub(super) fn held(&self, next: u64) -> u64 {
        self.queue.end(next)
    }
}

impl LinuxSender {
    /// Sends new data in segments, as long as the application and the windows allow, and as long as it is not better to
    /// wait for more. Returns the packets sent.
    #[cold]
    #[inline(never)]
    pub(super) fn push_segments(&mut self, call: &mut Call<'_, impl Output>) -> u32 {
        let Some(offload) = call.config.offload else { return 0 };
        let Some(mut state) = self.segmentation.take() else { return 0 };
        state.max_window = state.max_window.max(self.connection.peer_window);
        let mss = u32::from(call.mss);
        let pace = self.cc.pacing(&self.window, self.rtt.srtt(), self.board.in_flight(), mss);
        state.burst = pace.map(|pace| pace.burst);
        match pace {
            Some(pace) => state.rate = PacingRate::of(pace),
            None => state.rate.update(&offload, call.rules.tso, mss, &self.window_use()),
        }
        let sent = self.send_queue(call, &offload, &mut state, Burst::All);
        let sent = sent + self.write_more(call, &offload, &mut state);
        self.segmentation = Some(state);
        if self.has_lost_to_send() {
            self.waits_for_pacing(call);
        }
        sent
    }

    /// Sends from the write queue (Linux `tcp_write_xmit`). Returns the packets sent.
    fn send_queue(
        &mut self,
        call: &mut Call<'_, impl Output>,
        offload: &Offload,
        state: &mut Segmentation,
        burst: Burst,
    ) -> u32 {
        let (sent, limited) = self.send_segments(call, offload, state, burst);
        if sent > 0 {
            self.after_sending(call, sent);
        }
        self.validate_cwnd(call, sent, limited);
        sent
    }

    /// Returns the packets sent, and whether `cwnd` has ended the transmission.
    fn send_segments(
        &mut self,
        call: &mut Call<'_, impl Output>,
        offload: &Offload,
        state: &mut Segmentation,
        burst: Burst,
    ) -> (u32, bool) {
        let rule = call.rules.tso;
        let mss = u64::from(call.mss);
        let most = self.most_packets(call, offload, state);
        let mut sent = 0;
        state.resume = Time::NEVER;
        // A probe may have sent from the queue.
        state.queue.forget_sent(self.snd_nxt);
        loop {
            if state.queue.is_empty() && !self.is_fin_next() {
                break;
            }
            if offload.pacing == Pacing::Internal && state.departure > call.now {
                state.resume = state.departure;
                break;
            }
            let flight = self.board.in_flight();
            let room = self.window.cwnd.saturating_sub(flight);
            // Since 3.19 a segment takes no more than half of the window, so that two are in flight.
            let half = if rule == Tso::Linux6 { (self.window.cwnd / 2).max(1) } else { u32::MAX };
            let quota = u64::from(room.min(half).min(most));
            let wanted = (rule == Tso::Linux6).then_some(quota * mss);
            let head = state.queue.head(self.snd_nxt, wanted);
            let fin = head.is_tail && self.stream.closing && self.snd_nxt + head.bytes == self.stream.written;
            let fin_alone = fin && head.packets(mss) == 1 && call.rules.fin_beyond_cwnd;
            if quota == 0 && !fin_alone {
                return (sent, true);
            }
            if !self
                .fits_peer_window(Next { len: fit_u16(head.bytes.min(mss)), fin: fin && head.bytes <= mss })
            {
                break;
            }
            if head.packets(mss) == 1 {
                if head.is_tail && self.waits_for_more(call, Next { len: fit_u16(head.bytes), fin }) {
                    break;
                }
            } else if burst == Burst::All {
                let wait = self.wait(call, state, head, fin, most);
                match defer::decide(rule, offload, &wait, &mut state.deferral) {
                    Decision::Send => {}
                    Decision::Defer { for_cwnd } => return (sent, for_cwnd || self.is_window_full()),
                }
            }
            let bytes = self.split_point(call, head, fin, quota.max(1) * mss);
            // A connection with one segment in flight is never stopped.
            let is_alone = self.snd_una >= state.last_start;
            if let Some(resume) = state.small_queue.stops(offload, &state.rate, bytes, is_alone, call.now) {
                state.await_departure(offload, resume);
                break;
            }
            if sent == 0 && self.board.packets_out() == 0 {
                self.on_restart(call);
            }
            if self.is_refused(call, bytes) {
                if self.board.packets_out() == 0 {
                    state.resume = call.now + self.rtt.backed_off_timeout(&call.config.stack);
                }
                break;
            }
            state.last_start = self.snd_nxt;
            let leaves = state.begin(call, offload);
            sent += self.send_segment(call, head, fin, bytes, leaves);
            state.queue.forget_sent(self.snd_nxt);
            state.end(call, offload, bytes, self.counters.segments_sent);
            if burst == Burst::One {
                break;
            }
        }
        (sent, !state.queue.is_empty() && self.is_window_full())
    }

    /// Whether something lost waits that the window allows to be sent again (Linux `tcp_tsq_write`).
    pub(super) fn has_lost_to_send(&self) -> bool {
        self.board.lost > self.board.retransmitted && self.window.cwnd > self.board.in_flight()
    }

    /// Whether everything was sent but the FIN.
    fn is_fin_next(&self) -> bool {
        self.stream.closing && !self.stream.fin_sent && self.snd_nxt == self.stream.written
    }

    /// Most packets of the next segment.
    fn most_packets(&self, at: &Moment<'_>, offload: &Offload, state: &Segmentation) -> u32 {
        match state.burst {
            Some(PaceBurst::Within(burst)) => {
                state.rate.packets_in(burst, at.mss.into()).min(offload.gso_max_segs)
            }
            Some(PaceBurst::Packets(packets)) => packets.min(offload.gso_max_segs).max(1),
            Some(PaceBurst::Autosized { least_packets }) => {
                let offload = Offload { min_tso_segs: least_packets, ..*offload };
                state.rate.packets(&offload, at.rules.tso, at.mss.into(), self.rtt.min())
            }
            None => state.rate.packets(offload, at.rules.tso, at.mss.into(), self.rtt.min()),
        }
    }

    fn is_window_full(&self) -> bool {
        self.board.in_flight() >= self.window.cwnd
    }

    /// What the sizing of segments has to know of the window.
    fn window_use(&self) -> size::WindowUse {
        size::WindowUse {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            packets_out: self.board.packets_out(),
            srtt: self.rtt.srtt(),
        }
    }

    /// Bytes that the peer's window allows beyond what was sent.
    fn peer_window_left(&self) -> u64 {
        (self.snd_una + u64::from(self.connection.peer_window)).saturating_sub(self.snd_nxt)
    }

    /// What decides whether the segment at the head waits.
    fn wait(&self, at: &Moment<'_>, state: &Segmentation, head: Head, fin: bool, most: u32) -> Wait {
        let mss = u64::from(at.mss);
        let srtt = self.rtt.srtt();
        Wait {
            now: at.now,
            state: self.state,
            since_departure: at.now.since(state.departure),
            send_window: self.peer_window_left(),
            cwnd_window: u64::from(self.window.cwnd.saturating_sub(self.board.in_flight())) * mss,
            whole_window: u64::from(self.connection.peer_window).min(u64::from(self.window.cwnd) * mss),
            most_bytes: u64::from(most) * mss,
            mss,
            bytes: head.bytes,
            is_tail: head.is_tail,
            fin,
            next_ack: self.board.head().map(|oldest| oldest.sent + srtt),
            srtt,
        }
    }

    /// Bytes of the segment at the head that leave now, at most `most` (Linux `tcp_mss_split_point`).
    fn split_point(&self, at: &Moment<'_>, head: Head, fin: bool, most: u64) -> u64 {
        let mss = u64::from(at.mss);
        let window = self.peer_window_left();
        if most <= window && !head.is_tail {
            return head.bytes.min(most);
        }
        let needed = head.bytes.min(window);
        if most <= needed {
            return most;
        }
        let partial = needed % mss;
        // A small rest waits for the small packet in flight, but the end of the stream waits for nothing.
        let ends = fin && needed == head.bytes;
        let waits = partial > 0 && needed > partial && !ends && self.small_ones_wait(at);
        if waits { needed - partial } else { needed }
    }

    /// Sends `bytes` of the segment at the head, packet by packet, which leave at `leaves`. Returns the packets.
    fn send_segment(
        &mut self,
        call: &mut Call<'_, impl Output>,
        head: Head,
        ends: bool,
        bytes: u64,
        leaves: Time,
    ) -> u32 {
        let mss = u64::from(call.mss);
        let mut left = bytes;
        let mut sent = 0;
        let pushes = (call.rules.tso == Tso::Linux6 && bytes > mss) || (head.push && bytes == head.bytes);
        loop {
            let len = left.min(mss);
            left -= len;
            let fin = ends && left == 0 && bytes == head.bytes;
            // The last packet of a segment flushes the receiver's coalescing (Linux since 5.4 `__tcp_transmit_skb`).
            self.send_new(call, Next { len: fit_u16(len), fin }, pushes && left == 0, leaves);
            sent += 1;
            if left == 0 {
                return sent;
            }
        }
    }

    /// Whether `cwnd` counts as used up although it has room, because a segment waits in it (Linux 3.2
    /// `tcp_is_cwnd_limited`).
    #[inline]
    pub(super) fn waits_in_window(&self, at: &Moment<'_>, flight: u32) -> bool {
        let Some(offload) = at.config.offload else { return false };
        if !matches!(at.rules.window_use, WindowUse::Missing(_)) {
            return false;
        }
        let mss = at.mss;
        let room = self.window.cwnd.saturating_sub(flight);
        u64::from(room) * u64::from(offload.tso_win_divisor) < u64::from(self.window.cwnd)
            && u64::from(room) * u64::from(mss) < u64::from(offload.gso_max_size_bytes)
    }
}

/// Time of `bytes` at `bytes_per_s`, in whole nanoseconds as in the kernel.
fn transmission(bytes: u64, bytes_per_s: u64) -> Span {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_s.max(1));
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 2000))
}
