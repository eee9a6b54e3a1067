//! Tail loss probe (RFC 8985 section 7, <https://www.rfc-editor.org/rfc/rfc8985#section-7>; Linux
//! `tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`).

use super::acked::Acked;
use super::timers::TIMEOUT_MIN;
use super::{CaState, Call, LinuxSender, Moment};
use crate::{Output, Profile, TailProbe};
use shoal_units::{Span, Time};

/// Shortest probe timeout of 3.18.
const PROBE_MIN_3_18: Span = Span::from_millis(10);

/// A probe whose acknowledgement has not arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeEpisode {
    /// `snd_nxt` at the probe; its acknowledgement ends the episode (Linux `tlp_high_seq`). Zero if there is none, as
    /// there: data begin at 1.
    end: u64,
    /// Whether the probe retransmitted old data (Linux `tlp_retrans`).
    repeats: bool,
}

/// What an ACK reveals about a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// The ACK does not decide it.
    Awaited,
    /// The probe repaired nothing: it carried new data, or its segment arrived twice.
    Unnecessary,
    /// The probe repaired a loss.
    Repaired,
}

impl ProbeEpisode {
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.end != 0
    }
    pub(super) fn close(&mut self) {
        self.end = 0;
    }
    /// Whether the probe is the segment that ends at `position`.
    pub(super) fn ends_at(&self, position: u64) -> bool {
        self.is_open() && self.end == position
    }

    /// Judges the probe by an ACK up to `snd_una`. A retransmitted segment was unnecessary if a D-SACK or a
    /// plain duplicate follows, and necessary if the next acknowledgement lies beyond it (RFC 8985 section
    /// 7.4).
    fn judge(&self, snd_una: u64, acked: &Acked) -> Verdict {
        if !self.is_open() || snd_una < self.end {
            return Verdict::Awaited;
        }
        let plain_duplicate = !acked.advanced && acked.duplicate && !acked.delivery.newly_sacked;
        if !self.repeats || acked.dsack || plain_duplicate {
            Verdict::Unnecessary
        } else if snd_una > self.end {
            Verdict::Repaired
        } else {
            Verdict::Awaited
        }
    }
}

/// Time from a transmission to its probe; `single` if one packet is outstanding, whose ACK the peer may
/// delay.
#[inline]
fn wait(rule: TailProbe, stack: &Profile, srtt: Span, single: bool) -> Span {
    if srtt.is_zero() {
        return stack.rto_initial;
    }
    match rule {
        TailProbe::Linux318 if single => (srtt * 2).max(srtt * 3 / 2 + stack.delack_max).max(PROBE_MIN_3_18),
        TailProbe::Linux318 => (srtt * 2).max(PROBE_MIN_3_18),
        _ if single => srtt * 2 + stack.rto_min,
        _ => srtt * 2 + TIMEOUT_MIN,
    }
}

impl LinuxSender {
    /// Arms the probe timer after a transmission or an ACK that `restarts` the retransmission timeout. The probe is
    /// never later than that timeout, which counts from when the head was sent if nothing restarts it.
    #[inline]
    pub(super) fn schedule_tail_probe(&mut self, at: &Moment<'_>, restarts: bool) {
        let last_state = match at.rules.tail_probe {
            TailProbe::Off => return,
            TailProbe::Linux318 => CaState::Open,
            TailProbe::Linux6 => CaState::Cwr,
        };
        let out = self.board.packets_out();
        if out == 0 || self.state > last_state || self.state == CaState::Disorder || !at.config.sack {
            if self.timers.early_is_probe() {
                self.timers.stop_early();
            }
            return;
        }
        let wait = wait(at.rules.tail_probe, &at.config.stack, self.rtt.srtt(), out == 1);
        let mut due = at.now + wait;
        if restarts || at.rules.tail_probe == TailProbe::Linux318 {
            due = due.min(self.timers.retransmission());
        } else if let Some(head) = self.board.head()
            && head.sent + at.config.stack.rto_min < due
        {
            due = self.before_timeout_of(head.sent, at, due);
        }
        self.timers.start_probe(due, at.now);
    }

    /// The timeout of what was sent at `sent` if it comes before `due` and has not passed, else `due`.
    #[cold]
    #[inline(never)]
    fn before_timeout_of(&self, sent: Time, at: &Moment<'_>, due: Time) -> Time {
        let timeout = sent + self.rtt.timeout_in_jiffies(&at.config.stack);
        if timeout > at.now { due.min(timeout) } else { due }
    }

    /// Sends a probe when its timer fires: a new segment if there is one, else the last one again. One probe
    /// for each episode.
    #[cold]
    pub(super) fn send_tail_probe(&mut self, call: &mut Call<'_, impl Output>) {
        let mut is_sent = false;
        if self.board.packets_out() > 0 && !self.probe.is_open() {
            let repeats = !self.push_one(call);
            is_sent = !repeats || self.repeat_segment(call, self.board.last_index());
            self.counters.probes += u32::from(is_sent);
            if is_sent && (repeats || call.rules.tail_probe == TailProbe::Linux6) {
                self.probe = ProbeEpisode { end: self.snd_nxt, repeats };
            }
        }
        // The probe schedules no other one (Linux `tcp_write_xmit` with `push_one` of 2).
        self.timers.stop_early();
        if is_sent || call.rules.tail_probe == TailProbe::Linux318 {
            self.arm_rto(call);
        } else {
            self.resume_rto(call);
        }
    }

    /// Handles the acknowledgement of a probe: if the probe repaired a loss, the window is reduced once (RFC
    /// 8985 section 7.4).
    #[cold]
    pub(super) fn judge_tail_probe(&mut self, at: &Moment<'_>, acked: &Acked) {
        match self.probe.judge(self.snd_una, acked) {
            Verdict::Awaited => {}
            Verdict::Unnecessary => self.probe.close(),
            Verdict::Repaired => {
                self.begin_ecn_reduction(at);
                self.transition_to(CaState::Cwr, at.now);
                self.complete_reduction(at);
                self.keep_open(at.now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_waits_longer_for_a_single_packet() {
        let ms = Span::from_millis;
        // 3.18: 2 SRTT >= 10 ms; alone 1.5 SRTT + 200 ms. 6.x: 2 SRTT + 2 ms; alone + RTO floor of 200 ms.
        for (rule, srtt, many, single) in [
            (TailProbe::Linux318, 2, 10, 203),
            (TailProbe::Linux318, 20, 40, 230),
            (TailProbe::Linux318, 500, 1000, 1000),
            (TailProbe::Linux6, 20, 42, 240),
        ] {
            let stack = Profile::LINUX_6;
            assert_eq!(wait(rule, &stack, ms(srtt), false), ms(many), "{rule:?} {srtt}");
            assert_eq!(wait(rule, &stack, ms(srtt), true), ms(single), "{rule:?} {srtt}");
            assert_eq!(wait(rule, &stack, Span::ZERO, false), ms(1000), "no sample yet");
        }
    }

    #[test]
    fn a_probe_repaired_a_loss_if_more_than_it_is_acknowledged() {
        let ack = |advanced: bool, dsack: bool| Acked {
            advanced,
            duplicate: !advanced,
            dsack,
            ..Acked::nothing(1, 0)
        };
        let old = ProbeEpisode { end: 1000, repeats: true };
        assert_eq!(old.judge(999, &ack(true, false)), Verdict::Awaited);
        assert_eq!(old.judge(1000, &ack(true, false)), Verdict::Awaited, "it may have been delayed");
        assert_eq!(old.judge(1000, &ack(false, false)), Verdict::Unnecessary, "a plain duplicate");
        assert_eq!(old.judge(1000, &ack(true, true)), Verdict::Unnecessary, "a D-SACK");
        assert_eq!(old.judge(1001, &ack(true, false)), Verdict::Repaired);
        let new = ProbeEpisode { end: 1000, repeats: false };
        assert_eq!(new.judge(2000, &ack(true, false)), Verdict::Unnecessary);
    }
}
