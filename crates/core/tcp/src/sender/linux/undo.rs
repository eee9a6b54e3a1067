//! Evidence that a reduction was spurious: Eifel detection by timestamps (RFC 3522,
//! <https://www.rfc-editor.org/rfc/rfc3522>), D-SACK ([RFC 3708](https://www.rfc-editor.org/rfc/rfc3708));
//! Linux `tcp_may_undo` and friends.

use super::acked::Acked;
use crate::Undo;
use crate::timestamps::{echoes_before, echoes_tick};
use shoal_cc::{AnyController, CongestionControl, Window};
use shoal_packet::Packet;

/// State of the retransmissions in an episode, and what undoing it would restore.
#[derive(Clone, Copy, Debug)]
pub(super) struct UndoEvidence {
    /// `ssthresh` to restore if the reduction is spurious; 0 if it must not be (Linux `prior_ssthresh`).
    ssthresh: u32,
    /// Start of the episode that may be undone (Linux `undo_marker`); [`CLOSED`] if there is none.
    marker: u64,
    /// Retransmissions in it not yet explained by D-SACK (Linux `undo_retrans`). Negative: nothing was retransmitted
    /// yet, which is not the same as everything being explained.
    retransmissions: i32,
    /// Tick of the timestamp clock of the first retransmission of the episode, or of the first SYN; 0 if none (Linux
    /// `retrans_stamp`).
    first_retransmission: u32,
}

/// No episode may be undone.
const CLOSED: u64 = u64::MAX;

impl UndoEvidence {
    pub(super) const NONE: Self =
        Self { ssthresh: 0, marker: CLOSED, retransmissions: 0, first_retransmission: 0 };

    /// The reduction is required: `ssthresh` stays.
    #[inline]
    pub(super) fn forbid(&mut self) {
        self.ssthresh = 0;
    }
    /// Whether undoing would bring the window back.
    pub(super) fn is_allowed(&self) -> bool {
        self.ssthresh > 0
    }
    /// Undoing would bring `ssthresh` back.
    pub(super) fn remember(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh;
    }
    /// No episode may be undone.
    pub(super) fn close(&mut self) {
        self.marker = CLOSED;
    }
    pub(super) fn is_open(&self) -> bool {
        self.marker != CLOSED
    }
    #[inline]
    pub(super) fn forget_retransmissions(&mut self) {
        self.first_retransmission = 0;
    }

    /// An episode begins at `una` with so many retransmissions out: from here on they are counted, so that D-SACKs can
    /// explain them (Linux `tcp_init_undo`).
    pub(super) fn begin(&mut self, rules: Undo, una: u64, retransmitted: u32) {
        self.marker = una;
        let out = retransmitted.cast_signed();
        self.retransmissions = if out == 0 && rules != Undo::Linux32 { -1 } else { out };
    }

    /// A timeout on Linux 3.2: it may be undone unless data that was retransmitted before is still out.
    pub(super) fn begin_timeout_3_2(&mut self, una: u64, holds_retransmissions: bool) {
        self.marker = if holds_retransmissions { CLOSED } else { una };
        self.retransmissions = 0;
    }

    /// What is sent in `tick` of the timestamp clock may turn out to be needless; the first one counts: a SYN (Linux
    /// `tcp_connect`), or what is retransmitted.
    pub(super) fn note_tick(&mut self, tick: u32) {
        if self.first_retransmission == 0 {
            self.first_retransmission = tick;
        }
    }
    /// Whether `syn_ack` answers the first SYN, so that the others were repeated in vain (Linux
    /// `tcp_try_undo_spurious_syn`).
    pub(super) fn is_first_syn_answered(&self, syn_ack: &Packet) -> bool {
        echoes_tick(syn_ack.ts_ecr, self.first_retransmission)
    }

    /// A segment is retransmitted in `tick` of the timestamp clock.
    pub(super) fn note_retransmission(&mut self, tick: u32) {
        self.retransmissions = self.retransmissions.max(0) + 1;
        self.note_tick(tick);
    }

    /// A D-SACK up to `right` explains retransmissions of the episode as unnecessary: as many as `count` finds from the
    /// episode's start on.
    pub(super) fn explain(&mut self, right: u64, count: impl FnOnce(u64) -> u32) {
        if right <= self.marker || self.retransmissions <= 0 {
            return;
        }
        self.retransmissions = (self.retransmissions - count(self.marker).cast_signed()).max(0);
    }

    /// D-SACKs have explained every retransmission of the episode.
    pub(super) fn is_explained(&self) -> bool {
        self.is_open() && self.retransmissions == 0
    }

    /// The ACK echoes a timestamp older than the first retransmission, or nothing was retransmitted.
    ///
    /// Only an ACK that advances proves anything by its timestamp (RFC 3522 section 3.2): a duplicate echoes an old
    /// one.
    pub(super) fn is_delayed(&self, acked: &Acked) -> bool {
        let first = self.first_retransmission;
        self.is_open() && acked.advanced && (first == 0 || echoes_before(acked.ts_ecr, first))
    }

    /// Every retransmission of the episode was unnecessary: all explained by D-SACK, or the first one delayed.
    pub(super) fn may_undo(&self, acked: &Acked) -> bool {
        self.is_explained() || self.is_delayed(acked)
    }

    /// Brings the window back, and with `whole` the threshold (Linux `tcp_undo_cwnd_reduction`). Returns whether a CWR
    /// that was not yet sent is withdrawn.
    pub(super) fn restore(&self, rules: Undo, whole: bool, window: &mut Window, cc: &AnyController) -> bool {
        if self.ssthresh == 0 {
            if rules != Undo::Linux6 {
                window.cwnd = window.cwnd.max(window.ssthresh);
            }
            return false;
        }
        window.cwnd = cc.undo_cwnd(window);
        if whole && self.ssthresh > window.ssthresh {
            window.ssthresh = self.ssthresh;
            return rules == Undo::Linux6;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::config;

    fn ack(advanced: bool, ts_ecr: u32) -> Acked {
        Acked { advanced, duplicate: !advanced, ts_ecr, ..Acked::nothing(1, 0) }
    }

    #[test]
    fn d_sacks_explain_retransmissions_one_by_one() {
        let mut undo = UndoEvidence::NONE;
        undo.begin(Undo::Linux6, 1000, 0);
        assert!(!undo.is_explained(), "nothing was retransmitted: nothing is explained");
        undo.note_retransmission(50);
        undo.note_retransmission(60);
        undo.explain(1000, |_| panic!("it ends where the episode begins"));
        undo.explain(2000, |marker| u32::from(marker == 1000));
        assert!(!undo.is_explained());
        undo.explain(3000, |_| 5);
        assert!(undo.is_explained(), "never below zero");
        undo.close();
        assert!(!undo.is_explained());
    }

    #[test]
    fn an_older_echo_on_an_ack_that_advances_shows_a_delay() {
        let mut undo = UndoEvidence::NONE;
        undo.begin(Undo::Linux6, 1, 0);
        assert!(undo.is_delayed(&ack(true, 7)), "nothing was retransmitted at all");
        undo.note_retransmission(50);
        for (advanced, echo, delayed) in [
            (true, 49, true),
            (true, 50, false),
            (false, 49, false),
            (true, 0, false),
            (true, u32::MAX, true),
        ] {
            assert_eq!(undo.is_delayed(&ack(advanced, echo)), delayed, "{advanced} {echo}");
        }
    }

    #[test]
    fn the_kernel_decides_what_an_undo_restores() {
        let config = config("reno", "linux-6");
        let cc = AnyController::new(&config.cc, config.stack.growth);
        let reduced = Window { cwnd: 4, ssthresh: 10, ..Window::in_packets(10) };
        // No threshold remembered: only kernels before 4.x open the window to the threshold.
        let mut undo = UndoEvidence::NONE;
        for (rules, cwnd) in [(Undo::Linux32, 10), (Undo::Linux318, 10), (Undo::Linux6, 4)] {
            let mut window = reduced;
            assert!(!undo.restore(rules, true, &mut window, &cc));
            assert_eq!((window.cwnd, window.ssthresh), (cwnd, 10));
        }
        undo.remember(20);
        for (rules, whole, ssthresh, withdraws) in [
            (Undo::Linux32, true, 20, false),
            (Undo::Linux6, true, 20, true),
            (Undo::Linux32, false, 10, false),
        ] {
            let mut window = reduced;
            assert_eq!(undo.restore(rules, whole, &mut window, &cc), withdraws);
            assert_eq!(window.ssthresh, ssthresh);
        }
    }
}
