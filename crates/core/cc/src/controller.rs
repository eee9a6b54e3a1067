//! The interface between the endpoint's recovery skeleton and a controller.

use crate::{AckSample, Signal, Window};
use shoal_units::{Span, Time};

/// How a controller uses ECN. The endpoint negotiates and sets codepoints accordingly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// No preference: classic ECN if the flow asks for it, else none (RFC 3168).
    Classic,
    /// Needs ECN with the DCTCP echo at the receiver; every segment is ECT(0) (RFC 8257).
    Dctcp,
}

/// Who carries out a reduction that a controller has decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// The controller set `ssthresh`; the endpoint brings `cwnd` there over one round trip (rate halving or PRR).
    Spread,
    /// The controller set `cwnd` itself; the endpoint leaves it alone until the episode ends.
    Done,
}

/// A congestion controller. Order of calls for one ACK, as in Linux `tcp_ack()`:
/// `on_ack` always; then, if the endpoint's state allows growth, `on_growth`; then, as the state machine decides,
/// `on_ecn`, `on_ece_in_cwr` or `on_loss`.
pub trait CongestionControl {
    /// Every ACK that is not stale, before any window logic: estimators (Linux `in_ack_event`).
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        let _ = (window, ack);
    }
    /// The window may grow: the ACK acknowledges new data and the endpoint's state allows it (Linux `cong_avoid`).
    /// `ack.app_limited` must be honoured here.
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample);
    /// First ECN-Echo of an episode: entering CWR (Linux `tcp_enter_cwr`). Sets `ssthresh`.
    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction;
    /// A further ACK with ECN-Echo while in CWR. Most controllers ignore it.
    fn on_ece_in_cwr(&mut self, window: &mut Window, ack: &AckSample) {
        let _ = (window, ack);
    }
    /// Entering fast recovery from Open or Disorder (not called when already in CWR, where the cut was made). Sets `ssthresh`.
    fn on_loss(&mut self, window: &mut Window, signal: &Signal);
    /// Entering Recovery while an ECN reduction was under way: no second cut in Linux; a hook for laws that need it.
    fn on_loss_in_cwr(&mut self, window: &mut Window, signal: &Signal) {
        let _ = (window, signal);
    }
    /// Retransmission timeout. Sets `ssthresh`; the endpoint then sets `cwnd` to one packet.
    /// `already_reduced` is true if the flight was already cut by CWR or Recovery (no second cut of `ssthresh` in Linux).
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool);
    /// The episode (CWR, Recovery or Loss) ended at `now`.
    fn on_exit(&mut self, window: &mut Window, now: Time) {
        let _ = (window, now);
    }
    /// Fast recovery, or an ECN episode, ended on a FreeBSD stack (`cc_post_recovery`); [`Self::on_exit`] if a law needs no more.
    fn on_recovered(&mut self, window: &mut Window, signal: &Signal) {
        self.on_exit(window, signal.now);
    }
    /// Sending resumes after the connection had nothing in flight for `idle` (Linux `CA_EVENT_TX_START` and the
    /// slow-start restart, whose window decay the endpoint has already applied if its profile does that).
    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        let _ = (window, now, idle);
    }
    /// Sending resumes after an idle period longer than the retransmission timeout, of which `on_idle_restart` cannot
    /// know (FreeBSD `after_idle`). Called after `on_idle_restart`; `snd_nxt` is the stream position to be sent next.
    fn on_idle_beyond_rto(&mut self, window: &mut Window, snd_nxt: u64) {
        let _ = (window, snd_nxt);
    }
    /// `packets` new packets were sent; `snd_nxt` is the stream position after them.
    fn on_sent(&mut self, now: Time, packets: u32, snd_nxt: u64) {
        let _ = (now, packets, snd_nxt);
    }
    /// The connection is established; `snd_nxt` is the first stream position to be sent.
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        let _ = (now, snd_nxt);
    }
    /// Window to restore when a reduction turns out spurious (Linux `undo_cwnd`).
    fn undo_cwnd(&self, window: &Window) -> u32;
    /// Lowest `cwnd` to which rate halving may go (Linux 3.2 `min_cwnd`; `ssthresh` unless a controller says otherwise).
    fn rate_halving_floor(&self, window: &Window) -> u32 {
        window.ssthresh
    }
    /// Whether `on_growth` is called in CWR and on ACKs with ECN-Echo (Linux: no; Kuehlewind et al. 2014 section III-A b and FreeBSD: yes).
    fn grows_in_cwr(&self) -> bool {
        false
    }
    /// Whether the endpoint announces an ECN reduction with CWR (RFC 3168); one-sided DCTCP depends on it.
    fn sends_cwr(&self) -> bool {
        true
    }
    /// How the controller uses ECN.
    fn ecn_use(&self) -> EcnUse {
        EcnUse::Classic
    }
    /// DCTCP's estimate of the marked fraction, for output.
    fn alpha(&self) -> Option<f64> {
        None
    }
}
