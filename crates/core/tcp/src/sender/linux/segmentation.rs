//! Sending in segments of several packets, as a host with segmentation offload does (Linux `tcp_write_xmit`).
//!
//! A segment here is what TCP hands to the card as one (`struct sk_buff`); the card splits it into packets that follow each
//! other back to back. `size.rs` says how large it may be, `defer.rs` whether it waits for more, `small_queue.rs` whether
//! the host holds too much of the connection already. The retransmission queue stays one entry a packet: the entries of a
//! segment share their transmission time, as parts of a split segment do in the kernel.

mod defer;
mod size;
mod small_queue;

use super::transmit::Next;
use super::{Call, LinuxSender, Moment};
use crate::{Offload, Output, Pacing, Tso, WindowUse};
use defer::{Decision, Deferral, Wait};
use shoal_units::cast::fit_u16;
use shoal_units::{Span, Time};
use size::PacingRate;
use small_queue::SmallQueue;

/// Data that an application has written when the handshake ends; it writes on as soon as less waits.
const WRITTEN_AT_FIRST_BYTES: u64 = 128 << 10;

/// What a sender with segmentation offload remembers.
#[derive(Clone, Debug)]
pub(super) struct Segmentation {
    /// The segment at the head of the write queue, as stream positions.
    head_start: u64,
    head_end: u64,
    /// Where the segment ended before it took something of the next one; if it did, where the next one ends.
    built_end: u64,
    /// Nothing was behind the segment at the head when it was last looked at.
    is_tail: bool,
    /// Pacing rate (Linux `sk_pacing_rate`), by which segments are sized and bursts are paced.
    rate: PacingRate,
    /// Window of the SYN/ACK in bytes, and the largest that the peer has offered since (Linux `max_window`).
    first_window: u32,
    max_window: u32,
    /// When the next segment may leave, if the connection is paced; else when the last one left (Linux `tcp_wstamp_ns`).
    departure: Time,
    deferral: Deferral,
    small_queue: SmallQueue,
    /// When sending resumes that pacing or the small queue has stopped; [`Time::NEVER`] if neither has.
    pub(super) resume: Time,
}

/// The segment that may leave next.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// Payload in bytes.
    bytes: u64,
    /// Nothing was written behind it (Linux `tcp_write_queue_tail`).
    is_tail: bool,
    /// It carries the FIN.
    fin: bool,
}

impl Head {
    /// Packets of `mss` bytes that it takes.
    fn packets(self, mss: u64) -> u64 {
        self.bytes.div_ceil(mss).max(1)
    }
}

impl Segmentation {
    pub(super) fn new() -> Self {
        Self {
            head_start: 0,
            head_end: 0,
            built_end: 0,
            is_tail: true,
            rate: PacingRate::UNLIMITED,
            first_window: 0,
            max_window: 0,
            departure: Time::ZERO,
            deferral: Deferral::default(),
            small_queue: SmallQueue::default(),
            resume: Time::NEVER,
        }
    }

    /// Bytes of heap memory.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.small_queue.heap_bytes()
    }

    fn note_window(&mut self, window: u32) {
        if self.max_window == 0 {
            self.first_window = window;
        }
        self.max_window = self.max_window.max(window);
    }

    /// Largest window known when the segment was built that begins at `position`: what the application writes at first is
    /// built before any window but that of the SYN/ACK is known, which is never scaled.
    fn window_when_built(&self, position: u64) -> u32 {
        if position.max(self.built_end) <= WRITTEN_AT_FIRST_BYTES {
            self.first_window
        } else {
            self.max_window
        }
    }

    /// The segment at the head of the write queue. It is filled up to `goal` bytes while it is the last (Linux
    /// `tcp_sendmsg`), and takes what it lacks of `wanted` bytes from the one behind it, which stays that much shorter
    /// (`tcp_grow_skb`).
    fn head(&mut self, next: u64, written: u64, closing: bool, goal: u64, wanted: Option<u64>) -> Head {
        // An application that stops takes back what was not sent.
        self.head_end = self.head_end.min(written);
        if self.head_end <= next {
            if self.is_tail || self.built_end + goal <= next {
                self.built_end = next + goal;
            } else if self.built_end <= next {
                self.built_end += goal;
            }
            self.head_start = next;
            self.head_end = self.built_end.min(written);
        } else if self.is_tail {
            self.built_end = self.built_end.max(self.head_start + goal);
            self.head_end = self.built_end.min(written);
        }
        let wanted = wanted.map_or(0, |wanted| (next + wanted).min(written));
        if wanted > self.head_end {
            if wanted > self.built_end {
                self.built_end += goal;
            }
            self.head_end = wanted;
        }
        self.is_tail = self.head_end >= written;
        Head { bytes: self.head_end - next, is_tail: self.is_tail, fin: self.is_tail && closing }
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
        state.note_window(self.connection.peer_window);
        state.rate.update(&offload, call.rules.tso, u32::from(call.config.mss()), &self.window_use());
        let (sent, limited) = self.push_with(call, &offload, &mut state);
        self.segmentation = Some(state);
        if sent > 0 {
            self.after_sending(call, sent);
        }
        self.validate_cwnd(call, sent, limited);
        sent
    }

    /// Returns the packets sent, and whether `cwnd` has ended the transmission.
    fn push_with(
        &mut self,
        call: &mut Call<'_, impl Output>,
        offload: &Offload,
        state: &mut Segmentation,
    ) -> (u32, bool) {
        let rule = call.rules.tso;
        let mss = u64::from(call.config.mss());
        let most = state.rate.packets(offload, rule, call.config.mss().into(), self.rtt.min());
        let mut sent = 0;
        state.resume = Time::NEVER;
        while self.has_unsent() {
            if offload.pacing == Pacing::Internal && state.departure > call.now {
                state.resume = state.departure;
                break;
            }
            let flight = self.board.in_flight();
            let room = self.window.cwnd.saturating_sub(flight);
            // Since 3.19 a segment takes no more than half of the window, so that two are in flight.
            let half = if rule == Tso::Linux6 { (self.window.cwnd / 2).max(1) } else { u32::MAX };
            let quota = u64::from(room.min(half).min(most));
            let window = state.window_when_built(self.snd_nxt);
            let goal = size::goal(offload, rule, most, window, mss);
            let wanted = (rule == Tso::Linux6).then_some(quota * mss);
            let head = state.head(self.snd_nxt, self.stream.written, self.stream.closing, goal, wanted);
            let fin_alone = head.fin && head.packets(mss) == 1 && call.rules.fin_beyond_cwnd;
            if quota == 0 && !fin_alone {
                return (sent, true);
            }
            if !self.fits_peer_window(Next {
                len: fit_u16(head.bytes.min(mss)),
                fin: head.fin && head.bytes <= mss,
            }) {
                break;
            }
            if head.packets(mss) == 1 {
                if self.waits_for_more(call, Next { len: fit_u16(head.bytes), fin: head.fin }) {
                    break;
                }
            } else {
                let wait = self.wait(call, state, head, most);
                match defer::decide(rule, offload, &wait, &mut state.deferral) {
                    Decision::Send => {}
                    Decision::Defer { for_cwnd } => return (sent, for_cwnd || self.is_window_full()),
                }
            }
            let bytes = self.split_point(call, head, quota.max(1) * mss);
            if let Some(resume) = state.small_queue.stops(offload, &state.rate, bytes, call.now) {
                state.resume = resume;
                break;
            }
            if sent == 0 && self.board.packets_out() == 0 {
                self.on_restart(call);
            }
            sent += self.send_segment(call, head, bytes);
            // What is left of a segment that was split can be filled if it is the last.
            state.head_start = self.snd_nxt;
            state.departure = state.departure.max(call.now);
            state.small_queue.note(bytes, call.now, call.card_free());
            if offload.pacing == Pacing::Internal {
                state.departure =
                    state.rate.next_departure(bytes, state.departure, call.now, self.counters.segments_sent);
            }
        }
        (sent, self.has_unsent() && self.is_window_full())
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
    fn wait(&self, at: &Moment<'_>, state: &Segmentation, head: Head, most: u32) -> Wait {
        let mss = u64::from(at.config.mss());
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
            fin: head.fin,
            next_ack: self.board.head().map(|oldest| oldest.sent + srtt),
            srtt,
        }
    }

    /// Bytes of the segment at the head that leave now, at most `most` (Linux `tcp_mss_split_point`).
    fn split_point(&self, at: &Moment<'_>, head: Head, most: u64) -> u64 {
        let mss = u64::from(at.config.mss());
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
        let ends = head.fin && needed == head.bytes;
        let waits = partial > 0 && needed > partial && !ends && self.small_end > self.snd_una;
        if waits { needed - partial } else { needed }
    }

    /// Sends `bytes` of the segment at the head, packet by packet. Returns the packets.
    fn send_segment(&mut self, call: &mut Call<'_, impl Output>, head: Head, bytes: u64) -> u32 {
        let mss = u64::from(call.config.mss());
        let mut left = bytes;
        let mut sent = 0;
        let pushes = call.rules.tso == Tso::Linux6 && bytes > mss;
        loop {
            let len = left.min(mss);
            left -= len;
            let fin = head.fin && left == 0 && bytes == head.bytes;
            // The last packet of a segment flushes the receiver's coalescing (Linux since 5.4 `__tcp_transmit_skb`).
            self.send_new(call, Next { len: fit_u16(len), fin }, pushes && left == 0);
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
        if self.segmentation.is_none() || !matches!(at.rules.window_use, WindowUse::Missing(_)) {
            return false;
        }
        let Some(offload) = at.config.offload else { return false };
        let mss = at.config.mss();
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
