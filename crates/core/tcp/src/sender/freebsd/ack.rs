//! Processing of an ACK, as in `tcp_do_segment`.

use super::handshake::echoed_time;
use super::{Call, FreeBsdSender, Moment};
use crate::Output;
use shoal_cc::{AckSample, CongestionControl};
use shoal_packet::Packet;
use shoal_units::cast::fit_u32;
use shoal_units::{Span, Time};

/// Content of an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    /// Stream position that it acknowledges.
    pub ack: u64,
    /// Whether it carries ECN-Echo on an ECN connection.
    pub ece: bool,
    /// Whether it carries SACK blocks.
    pub has_sack: bool,
    /// Whether the blocks or the position changed the scoreboard.
    pub sack_changed: bool,
    /// Bytes newly delivered, by position or SACK.
    pub delivered: u64,
    /// Whole packets newly delivered.
    pub delivered_packets: u32,
    /// RTT that it measures.
    pub rtt: Option<Span>,
}

impl FreeBsdSender {
    #[inline]
    pub(super) fn on_ack(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet) {
        let ack = packet.ack.near(self.snd_una);
        if ack > self.snd_max {
            return; // Acknowledges what was never sent.
        }
        self.last_received = call.now;
        let window = self.connection.read(packet);
        let ece = self.connection.ecn.echoed_by(packet);
        let in_episode = ece && self.on_echo(call, ack);
        let mut acked = self.read(call, packet, ack, ece);
        if in_episode {
            let sample = self.sample(ack, acked.delivered_packets, ece, None, call.now);
            self.cc.on_ece_in_cwr(&mut self.window, &sample);
        }
        if ack > self.snd_una {
            if self.begins_recovery(call, &acked) {
                self.enter_recovery(call, &acked);
            }
            self.advance(call, packet, &mut acked);
            self.take_window(window);
            self.output(call);
        } else if !self.on_duplicate(call, &acked, window)
            && ack == self.snd_una
            && window > self.connection.peer_window
        {
            self.take_window(window);
            self.output(call);
        }
    }

    /// Reads the position and the SACK option.
    #[inline]
    fn read(&mut self, at: &Moment<'_>, packet: &Packet, ack: u64, ece: bool) -> Acked {
        let has_sack = at.config.sack && !packet.sack.is_empty();
        let sack_changed = (has_sack || !self.holes.is_empty()) && self.read_sacks(packet, ack, has_sack);
        let una = self.snd_una.max(ack);
        let total = una + self.holes.sacked(una);
        let delivered = total.saturating_sub(self.delivered.max(1));
        let mss = u64::from(self.window.quantum);
        let packets =
            fit_u32((self.delivered.max(1) + delivered - 1) / mss - (self.delivered.max(1) - 1) / mss);
        self.delivered = self.delivered.max(total);
        self.counters.delivered_packets += u64::from(packets);
        if ece {
            self.counters.ece_acks += 1;
            self.counters.delivered_ce_packets += u64::from(packets);
        }
        let rtt = (ack > self.snd_una)
            .then(|| echoed_time(packet, at.now))
            .flatten()
            .map(|sent| at.now.since(sent));
        Acked { ack, ece, has_sack, sack_changed, delivered, delivered_packets: packets, rtt }
    }

    /// `tcp_sack_doack`.
    #[cold]
    fn read_sacks(&mut self, packet: &Packet, ack: u64, has_sack: bool) -> bool {
        let mut blocks = [(0, 0); 3];
        let mut count = 0;
        if has_sack {
            for block in packet.sack.as_slice() {
                let (left, right) = (block.left.near(self.snd_una), block.right.near(self.snd_una));
                if left < right && left > self.snd_una && left > ack && right <= self.snd_max {
                    blocks[count] = (left, right);
                    count += 1;
                }
            }
        }
        self.holes.update(self.snd_una, ack, &mut blocks[..count])
    }

    /// Handles an ACK that acknowledges new data.
    #[inline]
    fn advance(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet, acked: &mut Acked) {
        let ack = acked.ack;
        if self.cong_recovery {
            self.before_counting(call, acked);
        }
        self.dupacks = u32::from(acked.has_sack && acked.sack_changed && call.rules.rfc6675);
        if self.before_timeout.is_some() && self.timeout_was_spurious(call, packet.ts_ecr) {
            self.undo_timeout(call.now);
        }
        if let Some(sent) = echoed_time(packet, call.now) {
            self.rtt.sample(&call.config.stack, call.rules, sent, call.now);
            self.before_timeout = None;
        }
        self.rto_deadline = if ack == self.snd_max { Time::NEVER } else { call.now + self.rtt.current() };
        let sample = AckSample {
            ts_val: packet.ts_val,
            ts_ecr: packet.ts_ecr,
            ..self.sample(ack, acked.delivered_packets, acked.ece, acked.rtt, call.now)
        };
        self.on_sample(call, &sample);
        self.count_acknowledged(ack);
        if self.cong_recovery && ack >= self.snd_recover {
            self.leave_recovery(call);
        }
        self.snd_una = ack;
        if call.config.sack {
            self.snd_recover = self.snd_recover.max(ack);
        }
        self.snd_nxt = self.snd_nxt.max(ack);
    }

    /// Handles an ACK in recovery or congestion recovery, before it is counted.
    #[cold]
    fn before_counting(&mut self, call: &mut Call<'_, impl Output>, acked: &Acked) {
        let prr = call.rules.prr;
        if self.fast_recovery {
            if acked.ack >= self.snd_recover {
                self.post_recovery(call, acked.ack);
            } else {
                self.on_partial_ack(call, acked);
            }
        } else if prr && acked.ack < self.snd_recover {
            self.reduce_by_prr(acked);
            self.output(call);
        } else if prr {
            self.post_recovery(call, acked.ack);
        }
    }

    /// Leaves recovery when an ACK covers the recovery point (`EXIT_RECOVERY`).
    #[cold]
    fn leave_recovery(&mut self, at: &Moment<'_>) {
        if !self.fast_recovery && !at.rules.prr {
            self.cc.on_exit(&mut self.window, at.now);
        }
        (self.fast_recovery, self.cong_recovery) = (false, false);
    }

    fn count_acknowledged(&mut self, ack: u64) {
        let fin = self.stream.fin_sent && ack == self.snd_max && self.snd_una < ack;
        self.counters.acked_bytes += ack - self.snd_una - u64::from(fin);
    }

    /// Stores the peer's receive window (step 6 of `tcp_do_segment`).
    fn take_window(&mut self, window: u32) {
        self.connection.peer_window = window;
        self.peer_window_max = self.peer_window_max.max(window);
    }
}
