//! Proportional rate reduction ([RFC 6937](https://www.rfc-editor.org/rfc/rfc6937); `tcp_do_prr_ack`), in
//! recovery and after ECN-Echo.

use super::FreeBsdSender;
use super::ack::Acked;

impl FreeBsdSender {
    /// Bytes in the network while an ACK up to `ack` is being processed (`tcp_compute_pipe`: `snd_una` has not moved
    /// yet).
    pub(super) fn pipe(&self, ack: u64) -> u64 {
        let out = self.snd_max - self.snd_una + self.holes.resent();
        out.saturating_sub(self.holes.sacked(ack.max(self.snd_una)))
    }

    /// Applies one ACK's share of the reduction.
    #[cold]
    pub(super) fn reduce_by_prr(&mut self, acked: &Acked) {
        let mss = u64::from(self.window.quantum);
        let ssthresh = u64::from(self.window.ssthresh);
        let pipe = self.pipe(acked.ack);
        self.prr.note_delivered(acked.delivered);
        let bytes = if pipe >= ssthresh {
            self.prr.proportional(ssthresh)
        } else {
            (ssthresh - pipe).min(self.prr.replacement(acked.delivered) + mss)
        };
        let bytes = bytes / mss * mss;
        let cwnd = if self.fast_recovery {
            // What tcp_output compares with new data and retransmissions sent since recovery began.
            self.snd_nxt.saturating_sub(self.snd_recover) + self.holes.resent() + bytes
        } else {
            pipe.saturating_sub(acked.delivered) + bytes
        };
        self.set_cwnd(cwnd.max(mss));
    }
}
