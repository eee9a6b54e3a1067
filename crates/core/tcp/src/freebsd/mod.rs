//! The sending side of a connection on a FreeBSD host (`sys/netinet/tcp_input.c`, `tcp_output.c`, `tcp_timer.c`).
//!
//! Windows are bytes, loss recovery knows positions and holes instead of segments, and a timeout goes back to the first
//! unacknowledged byte. `ack.rs` is an ACK's way through `tcp_do_segment`, `output.rs` is `tcp_output`, `signal.rs` what
//! controllers are told (`cc_cong_signal` and friends), `recovery.rs` duplicate and partial ACKs, `prr.rs` rate reduction.

mod ack;
mod handshake;
mod holes;
mod output;
mod profile;
mod prr;
mod recovery;
mod rtt;
mod signal;
mod timer;

use crate::sender::Connection;
use crate::{CaState, Counters, EndpointConfig, Output};
use holes::Holes;
pub use profile::FreeBsd;
use prr::Prr;
use rtt::TickRtt;
use shoal_cc::{AnyController, CongestionControl, Window};
use shoal_packet::{Flags, FlowId, Packet};
use shoal_units::{Span, Time};

/// Largest window that the peer can grant without scaling (`TCP_MAXWIN`).
const MAX_WINDOW: u32 = 65_535;

/// The sender of a connection on a FreeBSD host.
#[derive(Clone, Debug)]
pub(crate) struct FreeBsdSender {
    window: Window,
    cc: AnyController,
    holes: Holes,
    rtt: TickRtt,
    prr: Prr,

    flow: FlowId,
    connection: Connection,
    /// ECN was negotiated (`TF_ECN_PERMIT`).
    ecn_ok: bool,
    /// CWR is to be sent (`TF_ECN_SND_CWR`).
    cwr_pending: bool,
    /// In fast recovery (`TF_FASTRECOVERY`).
    fast_recovery: bool,
    /// In congestion recovery (`TF_CONGRECOVERY`): a reduction after ECN-Echo; also set in fast recovery.
    cong_recovery: bool,
    /// The application has closed; FIN follows the last byte.
    closing: bool,
    fin_sent: bool,
    /// Latest timestamp of the peer, to be echoed (RFC 7323).
    ts_recent: u32,
    peer_window_scale: u8,
    /// Duplicate ACKs in a row (`t_dupacks`).
    dupacks: u32,
    /// Segments sent on the first two of them (`snd_limited`).
    limited: u32,

    /// First unacknowledged stream position; 0 is the SYN, data begins at 1.
    snd_una: u64,
    /// Next stream position to send; goes back to `snd_una` at a timeout.
    snd_nxt: u64,
    /// Highest stream position sent.
    snd_max: u64,
    /// End of the recovery or congestion recovery under way (`snd_recover`).
    snd_recover: u64,
    /// `snd_nxt` when SACK recovery began (`sack_newdata`).
    sack_newdata: u64,
    /// Stream position up to which the application has written.
    written: u64,
    /// End of the flight of the last timeout; for output only.
    timeout_end: u64,
    /// Bytes known to be delivered.
    delivered: u64,
    /// Peer's receive window, bytes, and the largest so far.
    peer_window: u32,
    peer_window_max: u32,

    /// What is restored after a spurious timeout.
    before_timeout: Option<BeforeTimeout>,
    rto_deadline: Time,
    last_received: Time,
    last_sent: Time,
    counters: Counters,
}

/// `snd_cwnd_prev` and its companions, kept at the first timeout.
#[derive(Clone, Copy, Debug)]
struct BeforeTimeout {
    cwnd: u32,
    ssthresh: u32,
    recover: u64,
    fast_recovery: bool,
    cong_recovery: bool,
    /// An ACK before this instant was caused by the original (`t_badrxtwin`).
    until: Time,
    /// Timestamp clock at the timeout.
    stamp: u32,
}

impl FreeBsdSender {
    /// A closed connection. `flow` names it in its packets.
    pub(crate) fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        let mss = u32::from(config.mss());
        let clamp = u64::from(config.cwnd_clamp_packets) * u64::from(mss);
        // newreno_ack_received: TCP_MAXWIN << snd_scale.
        let clamp = clamp.min(u64::from(MAX_WINDOW) << config.window_scale()).max(u64::from(mss)) as u32;
        let mut window = Window { clamp, ..Window::in_bytes(initial_window(config), mss) };
        window.cwnd = window.cwnd.min(clamp);
        Self {
            window,
            cc: AnyController::new(&config.cc, config.stack.growth),
            holes: Holes::default(),
            rtt: TickRtt::new(&config.stack),
            prr: Prr::default(),
            flow,
            connection: Connection::Closed,
            ecn_ok: false,
            cwr_pending: false,
            fast_recovery: false,
            cong_recovery: false,
            closing: false,
            fin_sent: false,
            ts_recent: 0,
            peer_window_scale: 0,
            dupacks: 0,
            limited: 0,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            snd_recover: 0,
            sack_newdata: 0,
            written: 1,
            timeout_end: 0,
            delivered: 0,
            peer_window: 0,
            peer_window_max: 0,
            before_timeout: None,
            rto_deadline: Time::NEVER,
            last_received: Time::ZERO,
            last_sent: Time::ZERO,
            counters: Counters::default(),
        }
    }

    pub(crate) fn write(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        debug_assert!(!self.closing, "write after close");
        self.written = self.written.saturating_add(bytes);
        self.output(config, now, out);
    }

    pub(crate) fn write_last(
        &mut self,
        config: &EndpointConfig,
        bytes: u64,
        now: Time,
        out: &mut impl Output,
    ) {
        self.written = self.written.saturating_add(bytes);
        self.close(config, now, out);
    }

    pub(crate) fn set_greedy(
        &mut self,
        config: &EndpointConfig,
        greedy: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        if !self.fin_sent {
            self.written = if greedy { u64::MAX } else { self.snd_max.max(1) };
        }
        self.output(config, now, out);
    }

    pub(crate) fn close(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        self.closing = true;
        self.output(config, now, out);
    }

    #[inline]
    pub(crate) fn on_packet(
        &mut self,
        config: &EndpointConfig,
        packet: &Packet,
        now: Time,
        out: &mut impl Output,
    ) {
        match self.connection {
            Connection::Established => {
                if packet.flags.has(Flags::ACK) && !packet.flags.has(Flags::SYN) {
                    self.on_ack(config, packet, now, out);
                }
            }
            Connection::SynSent => self.on_syn_ack(config, packet, now, out),
            Connection::Closed => {}
        }
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.rto_deadline
    }
    #[inline]
    pub(crate) fn window(&self) -> &Window {
        &self.window
    }
    /// The state in the terms of [`CaState`].
    #[inline]
    pub(crate) fn state(&self) -> CaState {
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
    pub(crate) fn alpha(&self) -> Option<f64> {
        self.cc.alpha()
    }
    #[inline]
    pub(crate) fn srtt(&self) -> Span {
        self.rtt.srtt()
    }
    /// Packets in flight: what was sent, less what was acknowledged or SACKed.
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets(self.snd_max - self.snd_una - self.holes.sacked(self.snd_una))
    }
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }
    #[inline]
    pub(crate) fn snd_una(&self) -> u64 {
        self.snd_una
    }
    #[inline]
    pub(crate) fn highest_sent(&self) -> u64 {
        self.snd_max
    }
    pub(crate) fn is_established(&self) -> bool {
        self.connection == Connection::Established
    }
    pub(crate) fn uses_ecn(&self) -> bool {
        self.ecn_ok
    }
    pub(crate) fn is_closing(&self) -> bool {
        self.closing
    }
    pub(crate) fn is_drained(&self) -> bool {
        self.is_established() && self.snd_una >= self.written
    }
    pub(crate) fn losses(&self) -> u64 {
        u64::from(self.counters.retransmissions)
    }
    pub(crate) fn heap_bytes(&self) -> usize {
        self.holes.heap_bytes()
    }

    /// # Panics
    /// If positions or holes are out of order, the window is zero, or data is in flight without a timer.
    pub(crate) fn assert_invariants(&self) {
        assert!(self.window.cwnd >= 1, "cwnd is zero");
        assert!(self.snd_una <= self.snd_nxt && self.snd_nxt <= self.snd_max);
        self.holes.assert_invariants(self.snd_una, self.snd_max);
        let timer = self.rto_deadline != Time::NEVER || self.connection == Connection::Closed;
        assert!(timer || self.snd_una == self.snd_max, "data in flight and no timer");
        assert!(self.cong_recovery || !self.fast_recovery, "fast recovery is congestion recovery, too");
    }

    fn rules(config: &EndpointConfig) -> &FreeBsd {
        config.stack.freebsd().expect("a FreeBSD sender has a FreeBSD stack")
    }
    /// Whole packets that hold `bytes`.
    fn packets(&self, bytes: u64) -> u32 {
        bytes.div_ceil(u64::from(self.window.quantum)) as u32
    }
}

/// Initial window in packets.
fn initial_window(config: &EndpointConfig) -> u32 {
    config.initial_window.unwrap_or(config.stack.initial_window)
}
