//! What is sent, and when the windows allow it (`tcp_output`).

use super::{Call, FreeBsdSender, Moment};
use shoal_units::cast::fit_u16;

use crate::Output;
use shoal_cc::CongestionControl;
use shoal_packet::{Ecn, Flags};
use shoal_units::Time;

/// The next segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    len: u64,
    fin: bool,
    /// Whether SACK recovery retransmits it.
    repeats_hole: bool,
    /// Whether more segments may follow immediately (`sendalot`).
    more: bool,
}

impl FreeBsdSender {
    /// Sends as long as application, congestion window and the peer's window allow.
    #[inline]
    pub(super) fn output(&mut self, call: &mut Call<'_, impl Output>) {
        if !self.connection.is_established() {
            return;
        }
        if self.snd_max == self.snd_una && self.snd_nxt < self.stream.written {
            self.restart_after_idle(call);
        }
        let mut sent = 0;
        while let Some(segment) = self.next_segment(call) {
            self.send(call, segment);
            sent += 1;
            if !segment.more {
                break;
            }
        }
        if sent > 0 {
            self.cc.on_sent(call.now, sent, self.snd_max);
        }
        // Also when nothing could be sent: recovery stops the timer.
        if self.rto_deadline == Time::NEVER && self.snd_una < self.snd_max {
            self.rto_deadline = call.now + self.rtt.current();
        }
    }

    /// Handles the resumption of sending with nothing in flight (`cc_after_idle` if the pause exceeded the
    /// timeout).
    fn restart_after_idle(&mut self, at: &Moment<'_>) {
        if self.counters.segments_sent == 0 {
            return;
        }
        let rules = at.rules;
        let timeout = self.rtt.current();
        let since_sent = at.now.since(self.last_sent);
        self.cc.on_idle_restart(&mut self.window, at.now, since_sent);
        let idle = at.now.since(self.last_received) >= timeout
            || (rules.idle_counts_sending && since_sent >= timeout);
        if !idle {
            return;
        }
        self.cc.on_idle_beyond_rto(&mut self.window, self.snd_nxt);
        let mss = self.window.quantum;
        let restart = if rules.restarts_by_rfc3390 {
            (4 * mss).min((2 * mss).max(4380))
        } else {
            self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd - self.window.cwnd / 4);
            at.config.initial_window_packets().saturating_mul(mss)
        };
        self.window.cwnd = self.window.cwnd.min(restart);
    }

    fn next_segment(&self, at: &Moment<'_>) -> Option<Segment> {
        if self.fast_recovery
            && at.config.sack
            && let Some(segment) = self.next_of_hole()
        {
            return Some(segment);
        }
        self.next_in_order(at)
    }

    /// The next segment that SACK recovery retransmits.
    #[cold]
    fn next_of_hole(&self) -> Option<Segment> {
        let hole = self.holes.next()?;
        let window = u64::from(self.window.cwnd.min(self.connection.peer_window));
        let room = window.saturating_sub(self.holes.resent());
        let end = hole.end.min(self.snd_recover);
        let len = end.saturating_sub(hole.resend).min(room).min(u64::from(self.window.quantum));
        // Something beyond it was SACKed, so that no hole reaches the FIN.
        (len > 0).then_some(Segment { start: hole.resend, len, fin: false, repeats_hole: true, more: true })
    }

    fn next_in_order(&self, at: &Moment<'_>) -> Option<Segment> {
        let mss = u64::from(self.window.quantum);
        let start = self.snd_nxt;
        let data = (self.stream.written - u64::from(self.stream.fin_sent)).saturating_sub(start);
        let resent = if self.fast_recovery && at.config.sack { self.holes.resent() } else { 0 };
        let allowed = if resent == 0 {
            (self.snd_una + u64::from(self.window.cwnd.min(self.connection.peer_window)))
                .saturating_sub(start)
        } else {
            // New data beyond all retransmissions, as far as those leave room.
            let cwnd = u64::from(self.window.cwnd);
            let new_data = start.saturating_sub(self.sack_newdata);
            (self.snd_una + u64::from(self.connection.peer_window))
                .saturating_sub(start)
                .min(cwnd.saturating_sub(new_data + resent))
        };
        let len = data.min(allowed).min(mss);
        let repeats = start < self.snd_max;
        let last = len == data;
        // One FIN, after the last byte; again only as part of what a timeout repeats.
        let fin = self.stream.closing
            && last
            && (!self.stream.fin_sent || (repeats && start + len + 1 == self.snd_max))
            && (len > 0 || allowed > 0 || !self.stream.fin_sent);
        // Silly windows are avoided on the sending side (RFC 9293 section 3.8.6.2.1,
        // https://www.rfc-editor.org/rfc/rfc9293#section-3.8.6.2.1); Nagle is off as in Kato et al. 2015.
        let worthwhile =
            len > 0 && (len == mss || last || repeats || len >= u64::from(self.peer_window_max / 2));
        (worthwhile || fin).then_some(Segment {
            start,
            len,
            fin,
            repeats_hole: false,
            more: len < data.min(allowed) || repeats,
        })
    }

    #[inline]
    fn send(&mut self, call: &mut Call<'_, impl Output>, segment: Segment) {
        let Segment { start, len, fin, repeats_hole, .. } = segment;
        let at_the_end = self.snd_nxt >= self.snd_max;
        let is_new = at_the_end && !repeats_hole;
        let mut packet = self.connection.segment(call.config, start, fit_u16(len), call.now);
        if fin {
            packet.flags = packet.flags.with(Flags::FIN);
        }
        if self.connection.ecn.classic {
            if len > 0 && (is_new || (at_the_end && call.rules.ect_on_sack_retransmissions)) {
                packet.ecn = Ecn::Ect0;
            }
            if call.rules.cwr_on_any_segment || (is_new && len > 0) {
                self.connection.ecn.attach_cwr(&mut packet);
            }
        }
        let span = len + u64::from(fin);
        self.counters.segments_sent += 1;
        self.counters.retransmissions += u32::from(!is_new);
        if self.cong_recovery {
            self.prr.note_sent(len);
        }
        if repeats_hole {
            self.holes.note_resent(span);
        } else {
            self.snd_nxt = start + span;
            if fin && !self.stream.fin_sent {
                self.stream.end_at(self.snd_nxt);
            }
            self.snd_max = self.snd_max.max(self.snd_nxt);
        }
        self.last_sent = call.now;
        call.transmit(packet);
    }
}
