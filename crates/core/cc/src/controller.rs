//! The interface between the endpoint's recovery skeleton and a controller.

use crate::{AckSample, PathModel, RateBased, Signal, Window};
use shoal_units::{Span, Time};

/// How a controller uses ECN. The endpoint negotiates and sets codepoints accordingly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnUse {
    /// No preference: classic ECN if the flow requests it, else none
    /// ([RFC 3168](https://www.rfc-editor.org/rfc/rfc3168)).
    Classic,
    /// Needs ECN with the DCTCP echo at the receiver; every segment is ECT(0)
    /// ([RFC 8257](https://www.rfc-editor.org/rfc/rfc8257)).
    Dctcp,
    /// Needs accurate ECN feedback ([RFC 9768](https://www.rfc-editor.org/rfc/rfc9768)); every data segment is ECT(1)
    /// ([RFC 9331](https://www.rfc-editor.org/rfc/rfc9331)).
    L4s,
}

impl EcnUse {
    /// Whether the controller answers in proportion to the marks, so that it needs feedback of its own.
    #[inline]
    pub const fn is_scalable(self) -> bool {
        matches!(self, Self::Dctcp | Self::L4s)
    }

    /// Whether a connection on which ECN `is_negotiated`, as accurate ECN or not, has the feedback that the controller
    /// needs.
    pub const fn suffices(self, is_negotiated: bool, is_accurate: bool) -> bool {
        match self {
            Self::L4s => is_accurate,
            Self::Classic | Self::Dctcp => is_negotiated,
        }
    }
}

/// How much a host may send at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Burst {
    /// As much as the rate allows in this time, and at least one packet.
    Within(Span),
    /// So many packets.
    Packets(u32),
    /// As its own rule makes of the rate, and at least so many packets (Linux `min_tso_segs`).
    Autosized {
        /// Packets of the smallest segment.
        least_packets: u32,
    },
}

/// How fast a host may send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Bytes of packets with their headers, per second.
    pub bytes_per_s: u64,
    /// Longest burst.
    pub burst: Burst,
}

/// Which side carries out a reduction that a controller has decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// The controller set `ssthresh`; the endpoint brings `cwnd` there over one round trip (rate halving or PRR).
    Spread,
    /// The controller set `cwnd` itself; the endpoint does not change it until the episode ends.
    Done,
}

/// A congestion controller. For one ACK the calls come in the order of Linux `tcp_ack()`: `on_ack` always;
/// then `on_growth`, if the endpoint's state allows growth; then `on_ecn`, `on_ece_in_cwr` or `on_loss`, as
/// the state machine decides.
pub trait CongestionControl {
    /// Called for every ACK that is not stale, before any window logic: updates estimators (Linux
    /// `in_ack_event`).
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        let _ = (window, ack);
    }
    /// Called if the window may grow: the ACK acknowledges new data and the endpoint's state allows growth
    /// (Linux `cong_avoid`). Implementations must honour `ack.app_limited`.
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample);
    /// Called for the first ECN-Echo of an episode, on entering CWR (Linux `tcp_enter_cwr`). Sets `ssthresh`.
    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction;
    /// Called for further ACKs with ECN-Echo in CWR. Most controllers ignore them.
    fn on_ece_in_cwr(&mut self, window: &mut Window, ack: &AckSample) {
        let _ = (window, ack);
    }
    /// Called on entering fast recovery from Open or Disorder, but not from CWR, where the cut was already
    /// made. Sets `ssthresh`.
    fn on_loss(&mut self, window: &mut Window, signal: &Signal);
    /// Called on entering Recovery while an ECN reduction is in progress. Linux makes no second cut; the call
    /// is for laws that do. Returns whether the reduction in progress counts from the present window from now on, if
    /// that is larger than the one with which it began.
    fn on_loss_in_cwr(&mut self, window: &mut Window, signal: &Signal) -> bool {
        let _ = (window, signal);
        false
    }
    /// Called on a retransmission timeout. Sets `ssthresh`; the endpoint then sets `cwnd` to one packet.
    /// `already_reduced` is true if CWR or Recovery has already cut for this flight (Linux then does not cut
    /// `ssthresh` again).
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool);
    /// Called when the episode (CWR, Recovery or Loss) ends, at `now`.
    fn on_exit(&mut self, window: &mut Window, now: Time) {
        let _ = (window, now);
    }
    /// Called when fast recovery or an ECN episode ends on a FreeBSD stack (`cc_post_recovery`); by default
    /// the same as [`Self::on_exit`].
    fn on_recovered(&mut self, window: &mut Window, signal: &Signal) {
        self.on_exit(window, signal.now);
    }
    /// Called when sending resumes after the connection had nothing in flight for `idle` (Linux
    /// `CA_EVENT_TX_START` and the slow-start restart, whose window decay the endpoint has already applied if
    /// its profile does so).
    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        let _ = (window, now, idle);
    }
    /// Called after `on_idle_restart` if the idle period was longer than the retransmission timeout, which
    /// `on_idle_restart` cannot know (FreeBSD `after_idle`). `snd_nxt` is the stream position to be sent
    /// next.
    fn on_idle_beyond_rto(&mut self, window: &mut Window, snd_nxt: u64) {
        let _ = (window, snd_nxt);
    }
    /// Called when `packets` new packets were sent; `snd_nxt` is the stream position after them.
    fn on_sent(&mut self, now: Time, packets: u32, snd_nxt: u64) {
        let _ = (now, packets, snd_nxt);
    }
    /// Called when the connection is established; `snd_nxt` is the first stream position to be sent.
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        let _ = (now, snd_nxt);
    }
    /// Window to restore when a reduction turns out to be spurious (Linux `undo_cwnd`).
    fn undo_cwnd(&self, window: &Window) -> u32;
    /// Lowest `cwnd` that rate halving may reach (Linux 3.2 `min_cwnd`; `ssthresh` unless a controller
    /// overrides it).
    fn rate_halving_floor(&self, window: &Window) -> u32 {
        window.ssthresh
    }
    /// Whether `on_growth` is called in CWR and on ACKs with ECN-Echo (Linux: no; Kuehlewind et al. 2014 section III-A
    /// b and FreeBSD: yes).
    fn grows_in_cwr(&self) -> bool {
        false
    }
    /// Whether the endpoint announces an ECN reduction with CWR (RFC 3168); one-sided DCTCP depends on it.
    fn sends_cwr(&self) -> bool {
        true
    }
    /// The pace of a host with `in_flight` packets out and a smoothed round-trip time of `srtt` (zero before the first
    /// sample); `mss` are the payload bytes of a full segment. `None`: by the host's own rule.
    fn pacing(&self, window: &Window, srtt: Span, in_flight: u32, mss: u32) -> Option<Pace> {
        let _ = (window, srtt, in_flight, mss);
        None
    }
    /// Largest packet to send, with its headers, in bytes, where that is less than the path allows. `cwnd` counts
    /// packets of this size, but [`AckSample::mss`] and [`Signal::mss`] stay those of a full segment.
    fn packet_bytes(&self) -> Option<u32> {
        None
    }
    /// The law's other half, if it is driven by rate samples: then it owns `cwnd` in every state (Linux
    /// `cong_control`).
    fn rate_based(&mut self) -> Option<&mut dyn RateBased> {
        None
    }
    /// The law's model of the path, for output; `None` for laws without one.
    fn path_model(&self) -> Option<PathModel> {
        None
    }
    /// Estimate of the marked fraction (DCTCP, Prague), for output; `None` for other controllers.
    fn alpha(&self) -> Option<f64> {
        None
    }
}
