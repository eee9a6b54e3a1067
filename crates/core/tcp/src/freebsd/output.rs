//! What is sent, and when the windows allow it (`tcp_output`).

use super::FreeBsdSender;
use crate::sender::{Connection, timestamp};
use crate::{EndpointConfig, Output};
use shoal_cc::CongestionControl;
use shoal_packet::{Ecn, Flags, Packet, Seq};
use shoal_units::Time;

/// The next segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    len: u64,
    fin: bool,
    /// SACK recovery repeats it.
    repeats_hole: bool,
    /// More may follow at once (`sendalot`).
    more: bool,
}

impl FreeBsdSender {
    /// Sends as long as the application, the congestion window and the peer's window allow.
    #[inline]
    pub(super) fn output(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if self.connection != Connection::Established {
            return;
        }
        if self.snd_max == self.snd_una && self.snd_nxt < self.written {
            self.restart_after_idle(config, now);
        }
        let mut sent = 0;
        while let Some(segment) = self.next_segment(config) {
            self.send(config, segment, now, out);
            sent += 1;
            if !segment.more {
                break;
            }
        }
        if sent > 0 {
            self.cc.on_sent(now, sent, self.snd_max);
        }
        // Also when nothing could be sent: recovery stops the timer.
        if self.rto_deadline == Time::NEVER && self.snd_una < self.snd_max {
            self.rto_deadline = now + self.rtt.current();
        }
    }

    /// Sending resumes with nothing in flight (`cc_after_idle` if that lasted longer than the timeout).
    fn restart_after_idle(&mut self, config: &EndpointConfig, now: Time) {
        if self.counters.segments_sent == 0 {
            return;
        }
        let rules = Self::rules(config);
        let timeout = self.rtt.current();
        let since_sent = now.since(self.last_sent);
        self.cc.on_idle_restart(&mut self.window, now, since_sent);
        let idle =
            now.since(self.last_received) >= timeout || (rules.idle_counts_sending && since_sent >= timeout);
        if !idle {
            return;
        }
        self.cc.on_idle_beyond_rto(&mut self.window, self.snd_nxt);
        let mss = self.window.quantum;
        let restart = if rules.restarts_by_rfc3390 {
            (4 * mss).min((2 * mss).max(4380))
        } else {
            self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd - self.window.cwnd / 4);
            super::initial_window(config).saturating_mul(mss)
        };
        self.window.cwnd = self.window.cwnd.min(restart);
    }

    fn next_segment(&self, config: &EndpointConfig) -> Option<Segment> {
        if self.fast_recovery
            && config.sack
            && let Some(segment) = self.next_of_hole()
        {
            return Some(segment);
        }
        self.next_in_order(config)
    }

    /// What SACK recovery sends again.
    #[cold]
    fn next_of_hole(&self) -> Option<Segment> {
        let hole = self.holes.next()?;
        let window = u64::from(self.window.cwnd.min(self.peer_window));
        let room = window.saturating_sub(self.holes.resent());
        let end = hole.end.min(self.snd_recover);
        let len = end.saturating_sub(hole.resend).min(room).min(u64::from(self.window.quantum));
        // Something beyond it was SACKed, so that no hole reaches the FIN.
        (len > 0).then_some(Segment { start: hole.resend, len, fin: false, repeats_hole: true, more: true })
    }

    fn next_in_order(&self, config: &EndpointConfig) -> Option<Segment> {
        let mss = u64::from(self.window.quantum);
        let start = self.snd_nxt;
        let data = (self.written - u64::from(self.fin_sent)).saturating_sub(start);
        let resent = if self.fast_recovery && config.sack { self.holes.resent() } else { 0 };
        let allowed = if resent == 0 {
            (self.snd_una + u64::from(self.window.cwnd.min(self.peer_window))).saturating_sub(start)
        } else {
            // Beyond all retransmissions: new data as far as those leave room.
            let cwnd = u64::from(self.window.cwnd);
            let new_data = start.saturating_sub(self.sack_newdata);
            (self.snd_una + u64::from(self.peer_window))
                .saturating_sub(start)
                .min(cwnd.saturating_sub(new_data + resent))
        };
        let len = data.min(allowed).min(mss);
        let repeats = start < self.snd_max;
        let last = len == data;
        // One FIN, after the last byte; again only as part of what a timeout repeats.
        let fin = self.closing
            && last
            && (!self.fin_sent || (repeats && start + len + 1 == self.snd_max))
            && (len > 0 || allowed > 0 || !self.fin_sent);
        // Silly windows are avoided on the sending side (RFC 9293 section 3.8.6.2.1); Nagle is off as in Kato et al. 2015.
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
    fn send(&mut self, config: &EndpointConfig, segment: Segment, now: Time, out: &mut impl Output) {
        let Segment { start, len, fin, repeats_hole, .. } = segment;
        let rules = Self::rules(config);
        let at_the_end = self.snd_nxt >= self.snd_max;
        let is_new = at_the_end && !repeats_hole;
        let mut packet = Packet::empty(self.flow, config.header_bytes + len as u16);
        packet.seq = Seq::of(start);
        packet.ack = Seq(1);
        packet.flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        packet.payload = len as u16;
        packet.window = config.advertised_window();
        packet.ts_val = timestamp(now);
        packet.ts_ecr = self.ts_recent;
        if self.ecn_ok {
            if len > 0 && (is_new || (at_the_end && rules.ect_on_sack_retransmissions)) {
                packet.ecn = Ecn::Ect0;
            }
            if self.cwr_pending && (rules.cwr_on_any_segment || (is_new && len > 0)) {
                packet.flags = packet.flags.with(Flags::CWR);
                self.cwr_pending = false;
            }
        }
        let span = len + u64::from(fin);
        self.counters.segments_sent += 1;
        self.counters.retransmissions += u32::from(!is_new);
        if self.cong_recovery {
            self.prr.out += len;
        }
        if repeats_hole {
            self.holes.note_resent(span);
        } else {
            self.snd_nxt = start + span;
            if fin && !self.fin_sent {
                self.fin_sent = true;
                // The FIN takes a stream position of its own; nothing may be written after it.
                self.written = self.snd_nxt;
            }
            self.snd_max = self.snd_max.max(self.snd_nxt);
        }
        self.last_sent = now;
        out.transmit(packet);
    }
}
