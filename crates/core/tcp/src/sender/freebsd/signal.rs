//! Signals to the controller, and the stack's handling of the result (`cc_cong_signal`, `cc_ack_received`,
//! `cc_post_recovery`).

use super::{FreeBsdSender, Moment};
use crate::timestamps::{echoes_before, tick};
use shoal_cc::{AckSample, CongestionControl, EcnUse, Reduction, Signal};
use shoal_units::cast::fit_u32;
use shoal_units::{Span, Time};

/// Most segments that one ACK counts in slow start (`net.inet.tcp.abc_l_var`).
const SLOW_START_LIMIT: u32 = 2;

impl FreeBsdSender {
    /// Handles ECN-Echo on an ACK up to `ack` (`CC_ECN`). Returns whether an episode was in progress already.
    pub(super) fn on_echo(&mut self, at: &Moment<'_>, ack: u64) -> bool {
        let rules = at.rules;
        if self.cong_recovery && rules.echo_of_cwr_counts && ack >= self.snd_recover && !self.fast_recovery {
            self.cong_recovery = false;
        }
        if self.cong_recovery {
            return true;
        }
        self.counters.cwr_reductions += 1;
        // One further where the echo of the data with CWR counts: its acknowledgement is the first that may count.
        self.snd_recover = self.snd_max + u64::from(rules.echo_of_cwr_counts);
        self.connection.ecn.queue_cwr(&self.cc);
        self.prr.begin(self.snd_nxt - self.snd_una, 0);
        let signal = self.signal(at.now);
        let counted = self.window.cwnd_cnt;
        if self.cc.on_ecn(&mut self.window, &signal) == Reduction::Spread {
            self.window.cwnd = self.window.ssthresh;
            self.window.cwnd_cnt = counted;
        }
        self.cong_recovery = true;
        false
    }

    /// Handles a loss that duplicate ACKs indicate (`CC_NDUPACK`).
    pub(super) fn on_loss(&mut self, now: Time) {
        self.snd_recover = self.snd_max;
        self.connection.ecn.queue_cwr(&self.cc);
        let signal = self.signal(now);
        if self.cong_recovery {
            self.cc.on_loss_in_cwr(&mut self.window, &signal);
        } else {
            self.cc.on_loss(&mut self.window, &signal);
        }
        (self.fast_recovery, self.cong_recovery) = (true, true);
        self.counters.fast_recoveries += 1;
    }

    /// Handles a retransmission timeout (`CC_RTO`).
    pub(super) fn on_rto(&mut self, at: &Moment<'_>) {
        let rules = at.rules;
        (self.fast_recovery, self.cong_recovery) = (false, false);
        self.dupacks = 0;
        self.window.cwnd = self.window.cwnd.min(self.connection.peer_window.max(1));
        let signal = self.signal(at.now);
        self.cc.on_rto(&mut self.window, &signal, false);
        // Whole segments, whatever the controller rounds to.
        let mss = self.window.quantum;
        self.window.ssthresh = (self.window.ssthresh / mss).max(2) * mss;
        self.window.cwnd = mss;
        self.window.cwnd_cnt = 0;
        if rules.cwr_on_timeout || self.cc.ecn_use() == EcnUse::Dctcp {
            self.connection.ecn.queue_cwr(&self.cc);
        }
    }

    /// Restores the state before a spurious timeout (`CC_RTO_ERR`).
    pub(super) fn undo_timeout(&mut self, now: Time) {
        let Some(before) = self.before_timeout.take() else { return };
        self.counters.undos += 1;
        self.window.cwnd = before.cwnd;
        self.window.ssthresh = before.ssthresh;
        self.snd_recover = before.recover;
        // Entered again if it was left, but not left: an echo on this very ACK has begun an episode
        // (`ENTER_CONGRECOVERY`).
        self.fast_recovery |= before.fast_recovery;
        self.cong_recovery |= before.cong_recovery;
        self.snd_nxt = self.snd_max;
        self.timeout_end = 0;
        if !before.fast_recovery {
            self.cc.on_exit(&mut self.window, now);
        }
    }

    /// Whether the ACK that arrives `now` shows that the timeout was spurious.
    pub(super) fn timeout_was_spurious(&self, at: &Moment<'_>, ts_ecr: u32) -> bool {
        self.rtt.timeouts() == 1
            && self.before_timeout.is_some_and(|before| {
                if at.rules.undoes_by_timestamp {
                    echoes_before(ts_ecr, before.tick)
                } else {
                    at.now < before.until
                }
            })
    }

    /// Stores the state that [`Self::undo_timeout`] restores.
    pub(super) fn remember(&mut self, now: Time) {
        self.before_timeout = (self.rtt.timeouts() == 1).then(|| super::BeforeTimeout {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            recover: self.snd_recover,
            fast_recovery: self.fast_recovery,
            cong_recovery: self.cong_recovery,
            until: now + self.rtt.srtt() / 2,
            tick: tick(now),
        });
    }

    /// Reports an ACK to the controller (`cc_ack_received`): estimators see every ACK; the window grows on
    /// those that acknowledge new data.
    #[inline]
    pub(super) fn on_sample(&mut self, at: &Moment<'_>, sample: &AckSample) {
        self.cc.on_ack(&mut self.window, sample);
        if sample.duplicate {
            return;
        }
        let mss = self.window.quantum;
        let in_slow_start = at.config.stack.growth.in_slow_start(&self.window);
        let limit = match at.rules.avoidance_limit {
            // The limit is lower while a timeout is being repaired (RFC 3465 section 2.3,
            // https://www.rfc-editor.org/rfc/rfc3465#section-2.3).
            _ if in_slow_start && self.snd_nxt < self.snd_max => u64::from(mss),
            _ if in_slow_start => u64::from(SLOW_START_LIMIT * mss),
            Some(segments) => u64::from(segments * mss),
            None => u64::MAX,
        };
        let counted = AckSample { acked_bytes: sample.acked_bytes.min(limit), ..*sample };
        let may_grow = !self.fast_recovery && (!self.cong_recovery || self.cc.grows_in_cwr());
        if may_grow && !sample.app_limited {
            self.cc.on_growth(&mut self.window, &counted);
        } else if in_slow_start {
            self.window.cwnd_cnt = 0;
        } else {
            self.count_without_growth(counted.acked_bytes);
        }
    }

    /// Counts bytes even while the window may not grow. A full window makes it grow afterwards, but two do
    /// not count twice (`CCF_ABC_SENTAWND` is a flag).
    fn count_without_growth(&mut self, bytes: u64) {
        let cwnd = self.window.cwnd;
        let counted = self.window.cwnd_cnt.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.window.cwnd_cnt = if counted >= cwnd.saturating_mul(2) { counted - cwnd } else { counted }
            .min(cwnd.saturating_mul(2));
    }

    /// Handles an ACK beyond the recovery point, before the ACK is counted (`cc_post_recovery`).
    pub(super) fn post_recovery(&mut self, at: &Moment<'_>, ack: u64) {
        if self.fast_recovery {
            let mss = u64::from(self.window.quantum);
            let pipe = if at.rules.rfc6675 { self.pipe(ack) } else { self.snd_max - ack };
            let ssthresh = u64::from(self.window.ssthresh);
            if pipe < ssthresh {
                let pipe = if at.rules.rfc6675 { pipe.max(mss) } else { pipe };
                self.set_cwnd(pipe + mss);
            } else {
                self.set_cwnd(ssthresh);
            }
        }
        let signal = self.signal(at.now);
        self.cc.on_recovered(&mut self.window, &signal);
        self.window.cwnd_cnt = 0;
    }

    /// Sets `cwnd` within its bounds.
    pub(super) fn set_cwnd(&mut self, bytes: u64) {
        self.window.cwnd = fit_u32(bytes.clamp(1, u64::from(self.window.clamp)));
    }

    pub(super) fn signal(&self, now: Time) -> Signal {
        Signal {
            now,
            in_flight: self.in_flight(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: self.window.quantum,
        }
    }

    /// The sample of an ACK up to `ack` that delivered this many packets; `rtt` is its RTT sample.
    pub(super) fn sample(
        &self,
        ack: u64,
        delivered: u32,
        ece: bool,
        rtt: Option<Span>,
        now: Time,
    ) -> AckSample {
        let acked_bytes = ack.saturating_sub(self.snd_una);
        AckSample {
            now,
            acked_packets: self.packets(acked_bytes),
            acked_bytes,
            delivered_packets: delivered,
            marked_packets: if ece { delivered } else { 0 },
            in_flight_before: self.in_flight(),
            delivered: self.counters.delivered_packets,
            delivered_ce: self.counters.delivered_ce_packets,
            snd_una: self.snd_una.max(ack),
            snd_nxt: self.snd_nxt.max(ack),
            mss: self.window.quantum,
            rtt,
            srtt: self.rtt.srtt(),
            ts_val: 0,
            ts_ecr: 0,
            ece,
            duplicate: acked_bytes == 0,
            // Whether the window was used does not matter to FreeBSD, only whether the peer's is smaller
            // (CCF_CWND_LIMITED).
            app_limited: self.window.cwnd > self.connection.peer_window,
            in_cwr: self.cong_recovery && !self.fast_recovery,
        }
    }
}
