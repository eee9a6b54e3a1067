//! When segments leave: at once, or spread over the round trip (Linux `tcp_update_skb_after_send`).
//!
//! Every segment has a time of departure, which is never before that of the one ahead of it. With TCP's own timer a
//! segment is kept in the write queue until then; with the queue discipline `fq` it is handed over at once with that
//! time, and the discipline keeps it.

use super::{Segmentation, small_queue};
use crate::sender::linux::{Call, LinuxSender};
use crate::{Offload, Output, Pacing};
use shoal_units::Time;

impl Segmentation {
    /// A segment begins; returns when it leaves.
    pub(super) fn begin(&mut self, call: &mut Call<'_, impl Output>, offload: &Offload) -> Time {
        if offload.pacing != Pacing::Fq {
            return call.now;
        }
        let leaves = self.departure.max(call.now);
        call.begin_segment(leaves);
        leaves
    }

    /// A segment of `bytes` was sent; `sent_packets` is the number of packets of the connection so far.
    pub(super) fn end(
        &mut self,
        call: &mut Call<'_, impl Output>,
        offload: &Offload,
        bytes: u64,
        sent_packets: u64,
    ) {
        self.departure = match offload.pacing {
            Pacing::Off => self.departure.max(call.now),
            Pacing::Internal | Pacing::Fq => {
                self.rate.next_departure(bytes, self.departure, call.now, sent_packets)
            }
        };
        if offload.pacing == Pacing::Fq {
            let left = call.end_segment();
            self.small_queue.note(bytes, call.now, small_queue::UNKNOWN);
            return self.small_queue.note_left(left);
        }
        self.small_queue.note(bytes, call.now, call.card_free());
    }

    /// Sending waits until a segment has left the host, which is at `resume` if that is known.
    pub(super) fn await_departure(&mut self, offload: &Offload, resume: Time) {
        if offload.pacing == Pacing::Fq {
            self.awaits_departure = true;
        } else {
            self.resume = resume;
        }
    }
}

impl LinuxSender {
    /// A packet begins that is sent outside of the write queue, again or as a probe; returns when it leaves.
    pub(in crate::sender::linux) fn begin_paced(&mut self, call: &mut Call<'_, impl Output>) -> Time {
        match (&mut self.segmentation, call.config.offload) {
            (Some(state), Some(offload)) => state.begin(call, &offload),
            _ => call.now,
        }
    }

    /// Whether what is to be sent again has to wait for TCP's own timer, which then sends it (Linux `tcp_pacing_check`
    /// in `tcp_xmit_retransmit_queue`).
    pub(in crate::sender::linux) fn waits_for_pacing(&mut self, call: &Call<'_, impl Output>) -> bool {
        let is_internal = call.config.offload.is_some_and(|offload| offload.pacing == Pacing::Internal);
        let Some(state) = self.segmentation.as_mut().filter(|_| is_internal) else { return false };
        let waits = state.departure > call.now;
        if waits {
            state.resume = state.departure;
        }
        waits
    }

    /// The packet of [`Self::begin_paced`] was sent, with `payload` bytes.
    pub(in crate::sender::linux) fn end_paced(&mut self, call: &mut Call<'_, impl Output>, payload: u16) {
        let Some(offload) = call.config.offload.filter(|offload| offload.pacing != Pacing::Off) else {
            return;
        };
        let sent_packets = self.counters.segments_sent;
        if let Some(state) = &mut self.segmentation {
            state.end(call, &offload, payload.into(), sent_packets);
        }
    }
}
