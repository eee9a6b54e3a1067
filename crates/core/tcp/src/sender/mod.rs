//! The sending side of a connection on a Linux host.

mod ack;
mod fast_recovery;
pub(crate) mod handshake;
mod idle;
mod loss;
mod rack;
mod reduction;
mod rtt;
mod sacks;
mod scoreboard;
mod tail_probe;
mod transmit;
mod undo;

use crate::{EndpointConfig, Output};
pub(crate) use handshake::{SYN_BYTES, echo_age, timestamp};
use rtt::RttEstimator;
use scoreboard::Scoreboard;
use shoal_cc::{AnyController, CongestionControl, EcnUse, Signal, Window};
pub use shoal_packet::CaState;
use shoal_packet::{Flags, FlowId, Packet};
use shoal_units::{Span, Time};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Connection {
    Closed,
    SynSent,
    Established,
}

/// What happened on a connection since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Packets delivered (Linux `tp->delivered`).
    pub delivered_packets: u64,
    /// Packets delivered on ACKs with ECN-Echo (Linux `tp->delivered_ce`).
    pub delivered_ce_packets: u64,
    /// ACKs with ECN-Echo.
    pub ece_acks: u64,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Entries into fast recovery.
    pub fast_recoveries: u32,
    /// ECN episodes: entries into CWR.
    pub ecn_reductions: u32,
    /// Reductions undone as spurious.
    pub undos: u32,
    /// Tail loss probes.
    pub probes: u32,
}

/// Packets that are out, and what is known of them (Linux `packets_out`, `sacked_out`, `lost_out`, `retrans_out`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outstanding {
    /// Sent and not acknowledged.
    pub unacked: u32,
    /// Of these, delivered out of order; without SACK, as many as there were duplicate ACKs.
    pub sacked: u32,
    /// Of these, declared lost.
    pub lost: u32,
    /// Retransmissions that are out.
    pub retransmitted: u32,
}

/// The sender of a connection on a Linux host.
#[derive(Clone, Debug)]
pub(crate) struct LinuxSender {
    window: Window,
    cc: AnyController,
    board: Scoreboard,
    rtt: RttEstimator,

    flow: FlowId,
    connection: Connection,
    state: CaState,
    /// Latest timestamp of the peer, to be echoed (RFC 7323).
    ts_recent: u32,
    /// ECN was negotiated.
    ecn_ok: bool,
    /// The next new data segment carries CWR.
    cwr_pending: bool,
    /// The application has closed; FIN follows the last byte.
    closing: bool,
    fin_sent: bool,
    /// F-RTO: the timeout is not yet known to be real.
    frto: bool,
    /// Last transmission was stopped by `cwnd` (Linux `is_cwnd_limited`).
    cwnd_limited: bool,
    /// A controller that carries out its own cuts is in charge of the current CWR episode.
    controller_cuts: bool,
    peer_window_scale: u8,
    backoff: u8,
    /// Consecutive timeouts of the same data.
    timeouts_in_row: u8,

    /// First unacknowledged stream position; 0 is the SYN, data begins at 1.
    snd_una: u64,
    /// Next stream position to send.
    snd_nxt: u64,
    /// Stream position up to which the application has written.
    written: u64,
    /// Peer's receive window, bytes.
    peer_window: u32,
    /// End of the current episode (Linux `high_seq`).
    high_seq: u64,
    /// End of the last segment smaller than the MSS (Minshall's Nagle, Linux `snd_sml`).
    small_end: u64,

    /// SACK blocks of the last ACK that had some: repeated ones are skipped.
    last_sacks: [(u64, u64); 3],
    /// Duplicate ACKs counted as SACKs on connections without SACK (Linux `sacked_out` emulation).
    reno_sacked: u32,

    prr_prior_cwnd: u32,
    prr_delivered: u32,
    prr_out: u32,

    /// `ssthresh` to restore if the reduction is spurious; 0 if it must not be.
    undo_ssthresh: u32,
    /// Start of the episode that may be undone.
    undo_marker: Option<u64>,
    /// Retransmissions in it not yet explained by D-SACK.
    undo_retransmissions: i32,
    /// Time of the first retransmission of the episode, in timestamp units; 0 if none.
    retransmit_stamp: u32,

    /// Largest flight of the current window and where the window ends (Linux `max_packets_out`, `max_packets_seq`).
    max_packets_out: u32,
    max_packets_seq: u64,
    /// Largest flight since the window was last full (Linux `snd_cwnd_used`), and when it was.
    cwnd_used: u32,
    cwnd_stamp: Time,

    /// `snd_nxt` at the tail loss probe; its acknowledgement ends the probe.
    probe_end: Option<u64>,
    /// The probe repeated old data.
    probe_repeats: bool,

    rto_deadline: Time,
    /// RACK reordering timer or tail loss probe, whichever is armed.
    early_deadline: Time,
    early_is_probe: bool,
    last_sent: Time,

    counters: Counters,
}

impl LinuxSender {
    /// A closed connection. `flow` names it in its packets.
    pub fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        let initial = config.initial_window.unwrap_or(config.stack.initial_window);
        let mut window = Window::in_packets(initial);
        window.clamp = config.cwnd_clamp_packets;
        window.cwnd = window.cwnd.min(window.clamp);
        Self {
            window,
            cc: AnyController::new(&config.cc, config.stack.growth),
            board: Scoreboard::default(),
            rtt: RttEstimator::new(),
            flow,
            connection: Connection::Closed,
            state: CaState::Open,
            ts_recent: 0,
            ecn_ok: false,
            cwr_pending: false,
            closing: false,
            fin_sent: false,
            frto: false,
            cwnd_limited: false,
            controller_cuts: false,
            peer_window_scale: 0,
            backoff: 0,
            timeouts_in_row: 0,
            snd_una: 0,
            snd_nxt: 0,
            written: 1,
            peer_window: 0,
            high_seq: 0,
            small_end: 0,
            last_sacks: [(0, 0); 3],
            reno_sacked: 0,
            prr_prior_cwnd: 0,
            prr_delivered: 0,
            prr_out: 0,
            undo_ssthresh: 0,
            undo_marker: None,
            undo_retransmissions: 0,
            retransmit_stamp: 0,
            max_packets_out: 0,
            max_packets_seq: 0,
            cwnd_used: 0,
            cwnd_stamp: Time::ZERO,
            probe_end: None,
            probe_repeats: false,
            rto_deadline: Time::NEVER,
            early_deadline: Time::NEVER,
            early_is_probe: false,
            last_sent: Time::ZERO,
            counters: Counters::default(),
        }
    }

    /// The application writes `bytes` more. Sends what the window allows if the connection is open.
    pub fn write(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        debug_assert!(!self.closing, "write after close");
        self.written = self.written.saturating_add(bytes);
        self.push(config, now, out);
    }

    /// The application writes its last `bytes`: FIN goes with the last of them.
    pub fn write_last(&mut self, config: &EndpointConfig, bytes: u64, now: Time, out: &mut impl Output) {
        self.closing = true;
        self.written = self.written.saturating_add(bytes);
        self.push(config, now, out);
    }

    /// The application always has data (`true`) or stops having some (`false`): nothing beyond what was sent is written.
    pub fn set_greedy(&mut self, config: &EndpointConfig, greedy: bool, now: Time, out: &mut impl Output) {
        self.written = if greedy { u64::MAX } else { self.snd_nxt.max(1) };
        self.push(config, now, out);
    }

    /// The application has written all: FIN follows.
    pub fn close(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        self.closing = true;
        self.push(config, now, out);
    }

    /// A packet of the peer arrives.
    #[inline]
    pub fn on_packet(&mut self, config: &EndpointConfig, packet: &Packet, now: Time, out: &mut impl Output) {
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

    /// The next time at which [`Self::on_timer`] must be called; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.rto_deadline.min(self.early_deadline)
    }

    /// Time has passed: fires the timers that are due.
    pub fn on_timer(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if self.connection == Connection::SynSent {
            if now >= self.rto_deadline {
                self.on_syn_timeout(config, now, out);
            }
            return;
        }
        if now >= self.early_deadline {
            self.early_deadline = Time::NEVER;
            if self.early_is_probe {
                self.send_tail_probe(config, now, out);
            } else {
                self.on_reordering_timeout(config, now, out);
            }
        } else if now >= self.rto_deadline {
            self.on_timeout(config, now, out);
        }
    }

    /// The congestion window.
    pub fn window(&self) -> &Window {
        &self.window
    }
    /// State of the recovery skeleton.
    pub fn state(&self) -> CaState {
        self.state
    }
    /// DCTCP's alpha, if the controller has one.
    pub fn alpha(&self) -> Option<f64> {
        self.cc.alpha()
    }
    /// Smoothed RTT; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.rtt.srtt()
    }
    /// Packets in flight.
    pub fn in_flight(&self) -> u32 {
        self.flight()
    }
    /// What is known of the packets that are out.
    pub fn outstanding(&self) -> Outstanding {
        Outstanding {
            unacked: self.board.packets_out(),
            sacked: self.board.sacked + self.reno_sacked,
            lost: self.board.lost,
            retransmitted: self.board.retransmitted,
        }
    }
    /// What happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// First unacknowledged stream position (data begins at 1).
    pub fn snd_una(&self) -> u64 {
        self.snd_una
    }
    /// Next stream position to send.
    pub fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }
    /// Whether the handshake is done.
    pub fn is_established(&self) -> bool {
        self.connection == Connection::Established
    }
    /// Whether ECN was negotiated.
    pub fn uses_ecn(&self) -> bool {
        self.ecn_ok
    }
    /// Whether the application has closed the connection.
    pub fn is_closing(&self) -> bool {
        self.closing
    }
    /// Whether everything written is acknowledged.
    pub fn is_drained(&self) -> bool {
        self.is_established() && self.snd_una >= self.written
    }
    /// Segments declared lost so far.
    pub fn losses(&self) -> u64 {
        self.board.losses
    }
    /// Bytes of heap behind this sender.
    pub fn heap_bytes(&self) -> usize {
        self.board.heap_bytes()
    }

    /// Checks what must always hold; for tests and fuzzing.
    ///
    /// # Panics
    /// If the scoreboard's counters differ from a recount, or the window is zero.
    pub fn assert_invariants(&self) {
        assert_eq!(self.board.recount(), self.board.counters());
        assert!(self.window.cwnd >= 1, "cwnd is zero");
        assert!(self.snd_una <= self.snd_nxt);
        assert!(self.board.left_out() <= self.board.packets_out(), "more SACKed and lost than sent");
        let timers = self.rto_deadline != Time::NEVER || self.connection == Connection::Closed;
        assert!(timers || self.board.packets_out() == 0, "data in flight and no timer");
        assert!(self.board.head().is_none_or(|s| s.start == self.snd_una), "queue does not begin at snd_una");
        assert!(self.board.tail().is_none_or(|s| s.end() == self.snd_nxt), "queue does not end at snd_nxt");
        assert_eq!(self.board.packets_out() == 0, self.snd_una == self.snd_nxt || !self.is_established());
    }

    /// Packets in flight: on connections without SACK, duplicate ACKs stand for packets that left.
    #[inline]
    fn flight(&self) -> u32 {
        self.board.in_flight().saturating_sub(self.reno_sacked)
    }

    /// Open if nothing is missing, else Disorder (Linux `tcp_try_keep_open`).
    fn keep_open(&mut self, now: Time) {
        let missing = self.board.left_out() + self.reno_sacked > 0 || self.board.any_retransmission_done();
        let state = if missing { CaState::Disorder } else { CaState::Open };
        if self.state != state {
            self.transition_to(state, now);
            self.high_seq = self.snd_nxt;
        }
    }

    fn signal(&self, config: &EndpointConfig, now: Time) -> Signal {
        Signal {
            now,
            in_flight: self.flight(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: u32::from(config.mss()),
        }
    }

    /// The one place where the state changes.
    fn transition_to(&mut self, state: CaState, now: Time) {
        if self.state == state {
            return;
        }
        let ends_episode = self.state >= CaState::Cwr && state <= CaState::Disorder;
        self.state = state;
        if ends_episode {
            self.controller_cuts = false;
            self.cc.on_exit(&mut self.window, now);
        }
    }

    fn uses_dctcp(&self) -> bool {
        self.ecn_ok && self.cc.ecn_use() == EcnUse::Dctcp
    }
}
