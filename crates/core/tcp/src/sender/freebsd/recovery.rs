//! Duplicate and partial ACKs: limited transmit ([RFC 3042](https://www.rfc-editor.org/rfc/rfc3042)), fast
//! retransmit, SACK and NewReno recovery.

use super::ack::Acked;
use super::{Call, FreeBsdSender, Moment};
use crate::Output;
use crate::sender::DUPLICATE_THRESHOLD;
use shoal_units::Time;

impl FreeBsdSender {
    /// [RFC 6675](https://www.rfc-editor.org/rfc/rfc6675): more than two segments SACKed, on an ACK that also
    /// acknowledges something.
    #[inline]
    pub(super) fn begins_recovery(&self, at: &Moment<'_>, acked: &Acked) -> bool {
        acked.has_sack && acked.sack_changed && !self.fast_recovery && self.sacked_enough(at, acked)
    }

    fn sacked_enough(&self, at: &Moment<'_>, acked: &Acked) -> bool {
        let beyond = u64::from((DUPLICATE_THRESHOLD - 1) * self.window.quantum);
        at.rules.rfc6675 && at.config.sack && self.holes.sacked(self.snd_una.max(acked.ack)) > beyond
    }

    /// Handles an ACK that acknowledges nothing new. Returns true if it needs no further processing (`goto
    /// drop`).
    #[cold]
    pub(super) fn on_duplicate(
        &mut self,
        call: &mut Call<'_, impl Output>,
        acked: &Acked,
        window: u32,
    ) -> bool {
        let rules = call.rules;
        if window != self.connection.peer_window && !(rules.rfc6675 && call.config.sack) {
            self.dupacks = 0;
            return false;
        }
        if rules.rfc6675 && (acked.ack != self.snd_una || (acked.has_sack && !acked.sack_changed)) {
            return false; // Neither old ACKs nor repeated ones count.
        }
        if self.rto_deadline == Time::NEVER || acked.ack != self.snd_una {
            self.dupacks = 0;
            return false;
        }
        self.dupacks += 1;
        if self.dupacks > DUPLICATE_THRESHOLD || self.fast_recovery {
            self.count_duplicate(call, acked);
            self.inflate(call, acked);
            self.output(call);
            return true;
        }
        if self.dupacks == DUPLICATE_THRESHOLD || self.sacked_enough(call, acked) {
            if !call.config.sack && acked.ack <= self.snd_recover {
                // Already repaired once (RFC 6582 section 3.2,
                // https://www.rfc-editor.org/rfc/rfc6582#section-3.2).
                self.dupacks = 0;
                return false;
            }
            self.enter_recovery(call, acked);
            return true;
        }
        self.transmit_limited(call, acked);
        true
    }

    fn count_duplicate(&mut self, at: &Moment<'_>, acked: &Acked) {
        let mut sample = self.sample(self.snd_una, acked.delivered_packets, acked.ece, None, at.now);
        sample.duplicate = true;
        self.on_sample(at, &sample);
    }

    /// Handles a further duplicate in recovery: a segment has left the network.
    fn inflate(&mut self, at: &Moment<'_>, acked: &Acked) {
        let rules = at.rules;
        let mss = u64::from(self.window.quantum);
        if self.fast_recovery && at.config.sack && rules.prr {
            self.reduce_by_prr(acked);
        } else if self.fast_recovery && at.config.sack {
            let flight = (self.snd_nxt.saturating_sub(self.holes.highest())) + self.holes.resent();
            let ssthresh = u64::from(self.window.ssthresh);
            if flight < ssthresh {
                self.set_cwnd((u64::from(self.window.cwnd) + mss).min(ssthresh));
            }
        } else {
            self.set_cwnd(u64::from(self.window.cwnd) + mss);
        }
    }

    /// Enters fast recovery and makes the first retransmission.
    #[cold]
    pub(super) fn enter_recovery(&mut self, call: &mut Call<'_, impl Output>, acked: &Acked) {
        self.dupacks = DUPLICATE_THRESHOLD;
        self.on_loss(call.now);
        self.count_duplicate(call, acked);
        self.rto_deadline = Time::NEVER;
        self.prr.begin(self.snd_nxt - self.snd_una, self.holes.sacked(self.snd_una));
        let mss = self.window.quantum;
        self.window.cwnd = mss;
        if call.config.sack && (acked.has_sack || !call.rules.rfc6675) {
            self.sack_newdata = self.snd_nxt;
            if call.rules.rfc6675 {
                self.snd_recover = self.snd_nxt;
            }
            self.output(call);
            return;
        }
        let next = self.snd_nxt;
        self.snd_nxt = self.snd_una;
        self.output(call);
        let inflated =
            u64::from(self.window.ssthresh) + u64::from(mss * (self.dupacks - self.limited.min(2)));
        self.set_cwnd(inflated);
        self.snd_nxt = self.snd_nxt.max(next);
    }

    /// Handles the first two duplicates, each of which lets a new segment be sent (RFC 3042).
    fn transmit_limited(&mut self, call: &mut Call<'_, impl Output>, acked: &Acked) {
        self.count_duplicate(call, acked);
        let mss = u64::from(self.window.quantum);
        if self.dupacks == 1 {
            self.limited = 0;
        }
        let (cwnd, max) = (self.window.cwnd, self.snd_max);
        let room = u64::from(self.dupacks.saturating_sub(self.limited)) * mss;
        self.set_cwnd(self.snd_nxt - self.snd_una + room);
        if self.stream.written > self.snd_nxt {
            self.output(call);
        }
        let sent = self.snd_max - max;
        if sent > mss {
            self.limited = 2;
        } else if sent > 0 {
            self.limited += 1;
        }
        self.window.cwnd = cwnd;
    }

    /// Handles an ACK in fast recovery that does not cover the recovery point. `snd_una` has not moved yet.
    #[cold]
    pub(super) fn on_partial_ack(&mut self, call: &mut Call<'_, impl Output>, acked: &Acked) {
        let mss = u64::from(self.window.quantum);
        let bytes = acked.ack - self.snd_una;
        self.rto_deadline = Time::NEVER;
        if !call.config.sack {
            // tcp_newreno_partial_ack: retransmit one segment, then deflate by what was acknowledged.
            let (next, cwnd) = (self.snd_nxt, u64::from(self.window.cwnd));
            self.snd_nxt = acked.ack;
            self.set_cwnd(mss + bytes);
            self.output(call);
            self.snd_nxt = self.snd_nxt.max(next);
            self.set_cwnd(cwnd.saturating_sub(bytes) + mss);
        } else if call.rules.prr && acked.has_sack {
            self.reduce_by_prr(acked);
            self.output(call);
        } else {
            // tcp_sack_partialack: one segment, or two if two were acknowledged.
            let segments = if bytes / mss >= 2 { 2 } else { 1 };
            let new_data = self.snd_nxt.saturating_sub(self.sack_newdata);
            let cwnd = self.holes.resent() + new_data + segments * mss;
            self.set_cwnd(cwnd.min(u64::from(self.window.ssthresh)));
            self.output(call);
        }
    }
}
