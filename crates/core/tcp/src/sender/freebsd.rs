//! The sending side of a connection on a FreeBSD host
//! ([`sys/netinet/tcp_input.c`](https://cgit.freebsd.org/src/tree/sys/netinet/tcp_input.c?h=release/14.0.0),
//! [`tcp_output.c`](https://cgit.freebsd.org/src/tree/sys/netinet/tcp_output.c?h=release/14.0.0),
//! [`tcp_timer.c`](https://cgit.freebsd.org/src/tree/sys/netinet/tcp_timer.c?h=release/14.0.0)).
//!
//! Windows are in bytes, loss recovery works on positions and holes instead of segments, and a timeout
//! returns to the first unacknowledged byte. `ack.rs` processes an ACK as `tcp_do_segment` does, `output.rs`
//! is `tcp_output`, `signal.rs` calls the controller (`cc_cong_signal` and others), `recovery.rs` handles
//! duplicate and partial ACKs, and `prr.rs` rate reduction.

mod ack;
mod handshake;
mod holes;
mod output;
mod prr;
mod recovery;
mod rtt;
mod signal;
mod timer;

use super::connection::{Connection, Incoming, Phase};
use super::prr::Prr;
use super::stream::Stream;
use crate::{CaState, Counters, EndpointConfig, FreeBsd, Output};
use holes::Holes;
use rtt::TickRtt;
use shoal_cc::{AnyController, Window};
use shoal_packet::{FlowId, Packet};
use shoal_units::cast::fit_u32;
use shoal_units::{Span, Time};

/// A call of a FreeBSD sender.
pub(super) type Call<'a, O> = super::call::Call<'a, FreeBsd, O>;
/// A call in which nothing can be sent.
type Moment<'a> = super::call::Moment<'a, FreeBsd>;

/// Largest window that the peer can grant without scaling (`TCP_MAXWIN`).
const MAX_WINDOW: u32 = 65_535;

/// The sender of a connection on a FreeBSD host.
#[derive(Debug)]
pub(super) struct FreeBsdSender {
    pub(super) window: Window,
    pub(super) cc: AnyController,
    pub(super) connection: Connection,
    pub(super) stream: Stream,
    pub(super) counters: Counters,
    holes: Holes,
    rtt: TickRtt,
    prr: Prr,

    /// Whether the sender is in fast recovery (`TF_FASTRECOVERY`).
    fast_recovery: bool,
    /// Whether the sender is in congestion recovery (`TF_CONGRECOVERY`), a reduction after ECN-Echo; also set
    /// in fast recovery.
    cong_recovery: bool,
    /// Number of consecutive duplicate ACKs (`t_dupacks`).
    dupacks: u32,
    /// Number of segments sent on the first two of them (`snd_limited`).
    limited: u32,

    /// First unacknowledged stream position; 0 is the SYN, data begins at 1.
    pub(super) snd_una: u64,
    /// Next stream position to send; goes back to `snd_una` at a timeout.
    snd_nxt: u64,
    /// Highest stream position sent.
    pub(super) snd_max: u64,
    /// End of the present recovery or congestion recovery (`snd_recover`).
    snd_recover: u64,
    /// `snd_nxt` when SACK recovery began (`sack_newdata`).
    sack_newdata: u64,
    /// End of the flight of the last timeout; for output only.
    timeout_end: u64,
    /// Bytes that are known to be delivered.
    delivered: u64,
    /// Largest receive window of the peer so far, bytes.
    peer_window_max: u32,

    /// State to restore after a spurious timeout.
    before_timeout: Option<BeforeTimeout>,
    rto_deadline: Time,
    last_received: Time,
    last_sent: Time,
}

/// State that is stored at the first timeout (`snd_cwnd_prev` and its companions).
#[derive(Clone, Copy, Debug)]
struct BeforeTimeout {
    cwnd: u32,
    ssthresh: u32,
    recover: u64,
    fast_recovery: bool,
    cong_recovery: bool,
    /// Time before which an ACK must have been caused by the original transmission (`t_badrxtwin`).
    until: Time,
    /// Tick of the timestamp clock at the timeout.
    tick: u32,
}

impl FreeBsdSender {
    /// A closed connection. `flow` names it in its packets.
    pub(super) fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        let mss = u32::from(config.mss());
        let clamp = u64::from(config.cwnd_clamp_packets) * u64::from(mss);
        // newreno_ack_received: TCP_MAXWIN << snd_scale.
        let clamp = fit_u32(clamp.min(u64::from(MAX_WINDOW) << config.window_scale()).max(u64::from(mss)));
        let mut window = Window { clamp, ..Window::in_bytes(config.initial_window_packets(), mss) };
        window.cwnd = window.cwnd.min(clamp);
        Self {
            window,
            cc: AnyController::new(&config.cc, config.stack.growth),
            connection: Connection::new(flow),
            stream: Stream::new(),
            counters: Counters::default(),
            holes: Holes::default(),
            rtt: TickRtt::new(&config.stack),
            prr: Prr::NONE,
            fast_recovery: false,
            cong_recovery: false,
            dupacks: 0,
            limited: 0,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            snd_recover: 0,
            sack_newdata: 0,
            timeout_end: 0,
            delivered: 0,
            peer_window_max: 0,
            before_timeout: None,
            rto_deadline: Time::NEVER,
            last_received: Time::ZERO,
            last_sent: Time::ZERO,
        }
    }

    /// Stream position up to which data was sent: nothing else waits in the socket.
    pub(super) fn held(&self, _: &EndpointConfig) -> u64 {
        self.snd_max
    }

    /// Sends what the window allows after the application has written, or stopped.
    pub(super) fn on_written(&mut self, call: &mut Call<'_, impl Output>) {
        self.output(call);
    }

    /// Handles a packet of the peer.
    #[inline]
    pub(super) fn on_packet(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet) {
        match self.connection.incoming(packet) {
            Incoming::Ack => self.on_ack(call, packet),
            Incoming::SynAck => self.on_syn_ack(call, packet),
            Incoming::Ignored => {}
        }
    }

    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.rto_deadline.min(self.cc.timer())
    }
    /// The state in the terms of [`CaState`].
    #[inline]
    pub(super) fn state(&self) -> CaState {
        if self.fast_recovery {
            CaState::Recovery
        } else if self.snd_una < self.timeout_end {
            CaState::Loss
        } else if self.cong_recovery {
            CaState::Cwr
        } else if self.dupacks > 0 {
            CaState::Disorder
        } else {
            CaState::Open
        }
    }
    #[inline]
    pub(super) fn srtt(&self) -> Span {
        self.rtt.srtt()
    }
    /// Packets in flight: sent, and neither acknowledged nor SACKed.
    pub(super) fn in_flight(&self) -> u32 {
        self.packets(self.snd_max - self.snd_una - self.holes.sacked(self.snd_una))
    }

    /// Number of retransmitted segments, since this stack does not declare losses.
    #[inline]
    pub(super) fn losses(&self) -> u64 {
        u64::from(self.counters.retransmissions)
    }
    /// Bytes of heap memory of this sender, including the sender itself.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.holes.heap_bytes()
    }

    /// # Panics
    /// If positions or holes are out of order, the window is zero, or data is in flight without a timer.
    pub(super) fn assert_invariants(&self) {
        assert!(self.window.cwnd >= 1, "cwnd is zero");
        assert!(self.snd_una <= self.snd_nxt && self.snd_nxt <= self.snd_max);
        self.holes.assert_invariants(self.snd_una, self.snd_max);
        let timer = self.rto_deadline != Time::NEVER || self.connection.phase() == Phase::Closed;
        assert!(timer || self.snd_una == self.snd_max, "data in flight and no timer");
        assert!(self.cong_recovery || !self.fast_recovery, "fast recovery is congestion recovery, too");
    }

    /// Whole packets that hold `bytes`.
    fn packets(&self, bytes: u64) -> u32 {
        fit_u32(bytes.div_ceil(u64::from(self.window.quantum)))
    }
}
