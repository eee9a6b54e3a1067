//! The sending side of a connection on a Linux host.
//!
//! `ack.rs` processes an ACK as `tcp_ack` does, and `transmit.rs` is `tcp_write_xmit`. Parts with a state of
//! their own are: the retransmission queue (`scoreboard.rs`, with `rack.rs`), the RTT (`rtt.rs`), reductions
//! (`reduction.rs`), the evidence for undoing them (`undo.rs`), tail loss probes (`tail_probe.rs`), use of
//! the window (`usage.rs`), what was learnt of reordering (`reordering_degree.rs`), timers (`timers.rs`).

mod ack;
mod acked;
mod cwr;
mod fast_recovery;
mod handshake;
mod idle;
mod loss;
mod rack;
mod rate_samples;
mod reduction;
mod reordering;
mod reordering_degree;
mod rtt;
mod sacks;
mod sampled;
mod scoreboard;
mod segment;
mod segmentation;
mod spurious;
mod tail_probe;
mod timers;
mod transmit;
mod undo;
mod usage;

use super::connection::{Connection, Incoming, Phase};
use super::stream::Stream;
use crate::{CaState, Counters, EndpointConfig, Linux, Output, Outstanding, Pacing};
use alloc::boxed::Box;
use loss::LossEpisode;
use rate_samples::RateSamples;
use reduction::RateReduction;
use reordering_degree::ReorderingDegree;
use rtt::RttEstimator;
use scoreboard::Scoreboard;
use segmentation::Segmentation;
use shoal_cc::{AnyController, CcConfig, CongestionControl, GrowthRules, Signal, Window};
use shoal_packet::{FlowId, Packet};
use shoal_units::cast::fit_u16;
use shoal_units::{Span, Time};
use tail_probe::ProbeEpisode;
use timers::{Due, Timers};
use undo::UndoEvidence;
use usage::WindowUsage;

/// A call of a Linux sender.
pub(super) type Call<'a, O> = super::call::Call<'a, Linux, O>;
/// A call in which nothing can be sent.
type Moment<'a> = super::call::Moment<'a, Linux>;

/// The sender of a connection on a Linux host.
#[derive(Debug)]
pub(super) struct LinuxSender {
    pub(super) window: Window,
    pub(super) cc: AnyController,
    pub(super) connection: Connection,
    pub(super) stream: Stream,
    pub(super) counters: Counters,

    /// First unacknowledged stream position; 0 is the SYN, data begins at 1.
    pub(super) snd_una: u64,
    /// Next stream position to send.
    pub(super) snd_nxt: u64,
    /// End of the last segment smaller than the MSS (Minshall's Nagle, Linux `snd_sml`).
    small_end: u64,
    last_sent: Time,

    pub(super) state: CaState,
    /// End of the current episode (Linux `high_seq`).
    high_seq: u64,
    board: Scoreboard,
    rtt: RttEstimator,
    reduction: RateReduction,
    undo: UndoEvidence,
    loss: LossEpisode,
    probe: ProbeEpisode,
    degree: ReorderingDegree,
    usage: WindowUsage,
    timers: Timers,
    /// Segmentation offload; `None` if every packet is handed over on its own.
    segmentation: Option<Box<Segmentation>>,
    /// Rate samples; `None` if the controller asks for none.
    rates: Option<Box<RateSamples>>,
}

/// The growth rules of the host, whose connections may be paced.
fn growth_rules(config: &EndpointConfig) -> GrowthRules {
    let is_paced = config.offload.is_some_and(|offload| offload.pacing != Pacing::Off);
    GrowthRules { is_paced, ..config.stack.growth }
}

impl LinuxSender {
    /// A closed connection. `flow` names it in its packets.
    pub(super) fn new(config: &EndpointConfig, flow: FlowId) -> Self {
        let mut window = Window::in_packets(config.initial_window_packets());
        window.clamp = config.cwnd_clamp_packets;
        window.cwnd = window.cwnd.min(window.clamp);
        Self {
            window,
            cc: AnyController::new(&config.cc, growth_rules(config)),
            connection: Connection::new(flow),
            stream: Stream::new(),
            counters: Counters::default(),
            snd_una: 0,
            snd_nxt: 0,
            small_end: 0,
            last_sent: Time::ZERO,
            state: CaState::Open,
            high_seq: 0,
            board: Scoreboard::default(),
            rtt: RttEstimator::new(),
            reduction: RateReduction::NONE,
            undo: UndoEvidence::NONE,
            loss: LossEpisode::default(),
            probe: ProbeEpisode::default(),
            degree: ReorderingDegree::NONE,
            usage: WindowUsage::NONE,
            timers: Timers::STOPPED,
            segmentation: config.offload.map(|_| Box::new(Segmentation::new())),
            rates: config.cc.needs_rate_samples().then(|| Box::new(RateSamples::new(flow.0.into(), 0))),
        }
    }

    /// The controller gives way to the one that `cc` describes (Linux `tcp_reinit_congestion_control`). A reduction
    /// that is under way goes on, and can no longer be undone.
    pub(super) fn replace_controller(&mut self, at: &Moment<'_>, cc: &CcConfig) {
        let (config, now) = (at.config, at.now);
        let suited = self.connection.ecn.suited(*cc);
        self.cc = AnyController::new(&suited, growth_rules(config));
        if let Some(accurate) = &mut self.connection.ecn.accurate {
            accurate.send_for(self.cc.ecn_use());
        }
        self.cc.on_established(now, self.snd_nxt);
        self.replace_samples(suited.needs_rate_samples(), at);
        self.undo.forbid();
    }

    /// Stream position up to which data was sent, or waits in the socket: of an endless stream the next packet.
    pub(super) fn held(&self, config: &EndpointConfig) -> u64 {
        let next = self.snd_nxt;
        match &self.segmentation {
            Some(segmentation) => segmentation.held(next),
            None if self.stream.is_endless() && next > 1 => next + u64::from(config.mss()),
            None => next,
        }
    }

    /// Sends what the window allows after the application has written, or stopped.
    pub(super) fn on_written(&mut self, call: &mut Call<'_, impl Output>) {
        self.adapt_mss(call);
        self.push(call);
    }

    /// Handles a packet of the peer.
    #[inline]
    pub(super) fn on_packet(&mut self, call: &mut Call<'_, impl Output>, packet: &Packet) {
        self.adapt_mss(call);
        match self.connection.incoming(packet) {
            Incoming::Ack => self.on_ack(call, packet),
            Incoming::SynAck => self.on_syn_ack(call, packet),
            Incoming::Ignored => {}
        }
    }

    /// The next time at which [`Self::on_timer`] must be called; [`Time::NEVER`] if no timer runs.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        let deadline = self.timers.deadline().min(self.cc.timer());
        match &self.segmentation {
            None => deadline,
            Some(segmentation) => deadline.min(segmentation.resume),
        }
    }

    /// Fires the timers that are due.
    pub(super) fn on_timer(&mut self, call: &mut Call<'_, impl Output>) {
        self.adapt_mss(call);
        if self.segmentation.as_ref().is_some_and(|segmentation| segmentation.resume <= call.now) {
            if self.has_lost_to_send() {
                self.retransmit_lost(call);
            }
            self.push(call);
        }
        if self.cc.timer() <= call.now {
            self.on_law_timer(call);
        }
        match self.timers.take_due(call.now, call.rules.timer_wheel) {
            None => {}
            Some(_) if self.connection.phase() == Phase::SynSent => self.on_syn_timeout(call),
            Some(Due::Probe) => self.send_tail_probe(call),
            Some(Due::Reordering) => self.on_reordering_timeout(call),
            Some(Due::Retransmission) => self.on_timeout(call),
        }
    }

    /// The timer of a law from outside is due.
    #[cold]
    fn on_law_timer(&mut self, call: &mut Call<'_, impl Output>) {
        let in_flight = self.in_flight();
        if let Some(cc) = self.cc.external() {
            cc.on_timer(&mut self.window, call.now, in_flight);
        }
        self.push(call);
    }

    /// A segment has left the host whose queue discipline had kept it.
    pub(super) fn on_segment_left(&mut self, call: &mut Call<'_, impl Output>) {
        self.adapt_mss(call);
        let Some(segmentation) = &mut self.segmentation else { return };
        if segmentation.note_left() {
            // Linux `tcp_tsq_write` sends again first what is lost.
            if self.state >= CaState::Recovery {
                self.retransmit_lost(call);
            }
            self.push(call);
        }
    }

    /// Smoothed RTT; zero before the first sample.
    #[inline]
    pub(super) fn srtt(&self) -> Span {
        self.rtt.srtt()
    }
    /// Packets in flight.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }
    /// State of the outstanding packets.
    pub(super) fn outstanding(&self) -> Outstanding {
        self.board.outstanding()
    }
    /// Distance in packets over which one may be overtaken without being lost.
    pub(super) fn reordering(&self) -> u32 {
        self.degree.packets()
    }
    /// Segments declared lost so far.
    #[inline]
    pub(super) fn losses(&self) -> u64 {
        self.board.losses
    }
    /// Bytes of heap memory of this sender.
    pub(super) fn heap_bytes(&self) -> usize {
        self.board.heap_bytes()
            + self.segmentation.as_ref().map_or(0, |segmentation| segmentation.heap_bytes())
            + self.rates.as_ref().map_or(0, |rates| rates.heap_bytes())
            + self.connection.ecn.heap_bytes()
    }

    /// Checks what must always hold; for tests and fuzzing.
    ///
    /// # Panics
    /// If the scoreboard's counters differ from a recount, or the window is zero.
    pub(super) fn assert_invariants(&self) {
        assert!(self.window.cwnd >= 1, "cwnd is zero");
        assert!(self.snd_una <= self.snd_nxt);
        self.board.assert_invariants(self.snd_una, self.snd_nxt);
        if let Some(rates) = &self.rates {
            rates.assert_invariants(&self.board);
        }
        let out = self.board.packets_out();
        let timers = self.timers.retransmission_is_armed() || self.connection.phase() == Phase::Closed;
        assert!(timers || out == 0, "data in flight and no timer");
        assert_eq!(out == 0, self.snd_una == self.snd_nxt || !self.connection.is_established());
    }

    /// Open if nothing is missing, else Disorder (Linux `tcp_try_keep_open`).
    fn keep_open(&mut self, now: Time) {
        let state = if self.board.is_missing_something() { CaState::Disorder } else { CaState::Open };
        if self.state != state {
            self.transition_to(state, now);
            self.high_seq = self.snd_nxt;
        }
    }

    /// Segments leave room for the option of accurate ECN, and are as small as a controller wants them, whose feedback
    /// this is.
    #[inline]
    fn adapt_mss(&self, call: &mut Call<'_, impl Output>) {
        if let Some(accurate) = &self.connection.ecn.accurate {
            let option = accurate.option_bytes(call.config, call.now, self.rtt.srtt());
            let packet = u32::from(call.config.mtu_bytes);
            let packet = fit_u16(self.cc.packet_bytes().map_or(packet, |bytes| bytes.min(packet)).into());
            call.set_mss(packet.saturating_sub(call.config.header_bytes + option).max(1));
        }
    }

    fn signal(&self, at: &Moment<'_>) -> Signal {
        Signal {
            now: at.now,
            in_flight: self.board.in_flight(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            mss: u32::from(at.config.mss()),
        }
    }

    /// Changes the state; no other function does.
    fn transition_to(&mut self, state: CaState, now: Time) {
        if self.state == state {
            return;
        }
        let ends_episode = self.state >= CaState::Cwr && state <= CaState::Disorder;
        self.state = state;
        if ends_episode {
            self.reduction.controller_cuts = false;
            self.cc.on_exit(&mut self.window, now);
        }
    }

    /// Whether ECN is used as DCTCP uses it.
    fn uses_dctcp(&self) -> bool {
        self.connection.ecn.is_dctcp(&self.cc)
    }
}
