//! What the application writes into the socket, and what that sends (Linux `tcp_sendmsg_locked`, `tcp_push`).
//!
//! The application writes whenever there is room, which is at once in this model. An endless stream keeps the socket
//! filled up to a limit, in whole packets, and goes on when less than half of it waits (`__tcp_stream_memory_free`).

use super::{Burst, Segmentation, size};
use crate::sender::linux::{Call, LinuxSender};
use crate::{Offload, Output};

/// Most bytes of one write.
const WRITE_BYTES: u64 = 256 << 10;

/// One call of `send`.
#[derive(Clone, Copy, Debug)]
struct Write {
    bytes: u64,
    /// More follows at once, so that its end needs no PSH (`MSG_MORE`).
    more: bool,
}

impl LinuxSender {
    /// The application writes what the socket takes. Returns the packets that this sends.
    pub(super) fn write_more(
        &mut self,
        call: &mut Call<'_, impl Output>,
        offload: &Offload,
        state: &mut Segmentation,
    ) -> u32 {
        let limit = offload.unsent_limit_bytes();
        let mut sent = 0;
        loop {
            let held = state.held(self.snd_nxt);
            let unsent = held - self.snd_nxt;
            // Who was refused hears of room when half of the limit is free.
            if self.stream.written <= held || (state.is_refused && 2 * unsent >= limit) {
                return sent;
            }
            state.is_refused = false;
            let Some(write) = self.next_write(u64::from(call.mss), limit, held) else {
                state.is_refused = true;
                return sent;
            };
            sent += self.write(call, offload, state, write);
        }
    }

    /// What the application hands over next, if the socket takes any.
    fn next_write(&self, mss: u64, limit: u64, held: u64) -> Option<Write> {
        let left = self.stream.written - held;
        if self.stream.is_endless() {
            let room = limit.checked_sub(held - self.snd_nxt).filter(|room| *room > 0)?;
            return Some(Write { bytes: if room > mss { room / mss * mss } else { mss }, more: true });
        }
        Some(Write { bytes: left.min(WRITE_BYTES), more: self.stream.closing && left <= WRITE_BYTES })
    }

    fn write(
        &mut self,
        call: &mut Call<'_, impl Output>,
        offload: &Offload,
        state: &mut Segmentation,
        write: Write,
    ) -> u32 {
        let mss = u64::from(call.mss);
        let most = self.most_packets(call, offload, state);
        let goal = size::goal(offload, call.rules.tso, most, state.max_window, mss);
        let (mut left, mut sent) = (write.bytes, 0);
        let mut more = write.more;
        while left > 0 {
            let mut room = state.queue.room(self.snd_nxt, goal);
            let anew = room == 0;
            if anew {
                if state.held(self.snd_nxt) - self.snd_nxt >= offload.unsent_limit_bytes() {
                    state.is_refused = true;
                    more = false;
                    break;
                }
                room = goal;
            }
            let bytes = room.min(left);
            state.queue.append(self.snd_nxt, bytes, anew);
            left -= bytes;
            if left == 0 {
                break;
            }
            if state.queue.is_push_due(self.snd_nxt, state.max_window) {
                state.queue.mark_push();
                sent += self.send_queue(call, offload, state, Burst::All);
            } else if state.queue.is_single() {
                sent += self.send_queue(call, offload, state, Burst::One);
            }
        }
        if left == write.bytes {
            return sent;
        }
        if !more || state.queue.is_push_due(self.snd_nxt, state.max_window) {
            state.queue.mark_push();
        }
        // A segment that is not full waits while the card has others (`tcp_should_autocork`).
        let waits = state.queue.room(self.snd_nxt, goal) > 0 && self.board.packets_out() > 0;
        if let Some(resume) = state.small_queue.next_done(call.now).filter(|_| waits) {
            state.await_departure(offload, resume);
            return sent;
        }
        sent + self.send_queue(call, offload, state, Burst::All)
    }
}
