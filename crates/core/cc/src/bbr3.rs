//! BBR version 3 as its document has it
//! ([draft-ietf-ccwg-bbr](https://datatracker.ietf.org/doc/html/draft-ietf-ccwg-bbr) of 3 August 2026, 4ce5e87d).
//!
//! Two models bound the rate and what is in flight: a long-term one, the bandwidth and the flight that probing has
//! shown to be safe, and a short-term one, which losses outside of probing lower and which the next probe forgets
//! (`signals.rs`). With each ACK, in the document's order ([`RateBased::on_sample`]):
//!
//! 1. Delivery signals, rounds, the bandwidth, lower bounds after a round with losses (`signals.rs`); aggregation.
//! 2. Startup ends when the bandwidth does not grow any more or when losses are many, Drain by its flight or after
//!    three rounds (`startup.rs`).
//! 3. ProbeBW goes down, cruises, refills the pipe for a round and goes up (`probe_bandwidth.rs`).
//! 4. The smallest RTT, and ProbeRTT every five seconds (`probe_rtt.rs`).
//! 5. Pacing rate and window (`control.rs`). What losses bring besides, and how it is taken back, is in `losses.rs`.
//!
//! The document counts bytes; here all is packets of a full segment, and rates are packets per microsecond times 2^24.

mod config;
mod control;
mod losses;
pub(crate) mod presets;
mod probe_bandwidth;
mod probe_rtt;
mod signals;
mod startup;

use crate::bbr::max_filter::MaxFilter;
use crate::{
    Burst, CongestionControl, Connection, LostPacket, Pace, PathModel, PathState, RateBased, RateSample,
    RecoveryState, Reduction, Signal, Window,
};
use alloc::boxed::Box;
pub use config::{BBR3, Bbr3Config};
use losses::Undo;
use probe_bandwidth::{AckPhase, Probe};
use probe_rtt::MinRtt;
use shoal_units::{Span, Stream};
use signals::Signals;
use startup::FullBandwidth;

/// Fractional bits of a rate in packets per microsecond.
const RATE_BITS: u32 = 24;
/// A rate in packets per microsecond times 2^24.
type Rate = u64;
/// A bound that is not there (the document's Infinity).
const UNBOUNDED: u32 = u32::MAX;

/// States of the law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Phase {
    /// Whether it is one of the four of ProbeBW.
    const fn is_probe_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
    /// Whether losses are answered by the probe instead of the short-term model (IsProbingBW).
    const fn probes(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
    const fn shown(self) -> PathState {
        match self {
            Self::Startup => PathState::Startup,
            Self::Drain => PathState::Drain,
            Self::Down => PathState::Down,
            Self::Cruise => PathState::Cruise,
            Self::Refill => PathState::Refill,
            Self::Up => PathState::Up,
            Self::ProbeRtt => PathState::ProbeRtt,
        }
    }
}

/// A BBR controller of version 3.
#[derive(Clone, Debug)]
pub struct Bbr3(Box<State>);

#[derive(Clone, Debug)]
struct State {
    config: Bbr3Config,
    phase: Phase,
    signals: Signals,
    full: FullBandwidth,
    probe: Probe,
    min_rtt: MinRtt,
    undo: Undo,
    /// Long-term bound of the flight; [`UNBOUNDED`] if there is none.
    inflight_longterm: u32,
    drain_start_round: u32,
    is_restarting: bool,
    /// The window before recovery or ProbeRTT.
    prior_cwnd: u32,
    /// State of recovery with the previous ACK.
    recovery: RecoveryState,
    extra_acked: MaxFilter,
    extra_acked_start_us: u64,
    extra_acked_delivered: u32,
    initial_window: u32,
    /// Bytes of payload per second.
    pacing_rate: u64,
    mss: u32,
    random: Stream,
}

impl Bbr3 {
    /// A controller for one connection.
    pub fn new(config: Bbr3Config) -> Self {
        Self(Box::new(State {
            config,
            phase: Phase::Startup,
            signals: Signals::default(),
            full: FullBandwidth::default(),
            probe: Probe::default(),
            min_rtt: MinRtt::default(),
            undo: Undo::default(),
            inflight_longterm: UNBOUNDED,
            drain_start_round: 0,
            is_restarting: false,
            prior_cwnd: 0,
            recovery: RecoveryState::Open,
            extra_acked: MaxFilter::default(),
            extra_acked_start_us: 0,
            extra_acked_delivered: 0,
            initial_window: 10,
            pacing_rate: 0,
            mss: 1,
            random: Stream::new(0, "bbr3"),
        }))
    }
}

impl State {
    fn enter_startup(&mut self) {
        self.phase = Phase::Startup;
    }
    fn enter_drain(&mut self) {
        self.phase = Phase::Drain;
        self.drain_start_round = self.signals.round_count;
    }
}

/// An ACK with what all of its steps read.
#[derive(Clone, Copy)]
struct Ack<'a> {
    connection: &'a Connection,
    sample: &'a RateSample,
    /// Rate of the sample; 0 if it is not valid.
    rate: Rate,
    now_us: u64,
}

impl<'a> Ack<'a> {
    fn new(connection: &'a Connection, sample: &'a RateSample) -> Self {
        let rate = match (sample.delivered, sample.interval_us) {
            (Some(delivered), interval @ 1..) => (u64::from(delivered) << RATE_BITS) / u64::from(interval),
            _ => 0,
        };
        Self { connection, sample, rate, now_us: connection.now.as_micros() }
    }
}

impl RateBased for Bbr3 {
    fn on_start(&mut self, window: &mut Window, connection: &Connection, seed: u64) {
        let state = &mut self.0;
        window.ssthresh = crate::INFINITE_SSTHRESH;
        state.random = Stream::new(seed, "bbr3");
        state.mss = connection.mss;
        state.initial_window = window.cwnd;
        state.min_rtt = MinRtt::new(connection);
        state.extra_acked_start_us = connection.now.as_micros();
        state.start_pacing(connection);
    }
    fn on_packet_lost(&mut self, window: &mut Window, connection: &Connection, packet: &LostPacket) {
        self.0.handle_lost_packet(window, connection, packet);
    }
    fn on_sample(&mut self, window: &mut Window, connection: &Connection, sample: &RateSample) -> bool {
        let state = &mut self.0;
        let ack = Ack::new(connection, sample);
        state.mss = connection.mss;
        state.end_recovery(window, connection);
        state.update_latest(&ack);
        state.update_congestion(window, &ack);
        state.update_aggregation(window, &ack);
        state.check_full_bandwidth(&ack);
        state.check_startup_done(&ack);
        state.check_drain_done(window, &ack);
        state.update_probe_bandwidth(window, &ack);
        state.update_min_rtt(&ack);
        let holds_back = state.check_probe_rtt(window, &ack);
        state.advance_latest(&ack);
        state.set_pacing(state.pacing_gain_percent());
        state.set_cwnd(window, &ack);
        holds_back
    }
    fn on_restart(&mut self, window: &mut Window, connection: &Connection) {
        let state = &mut self.0;
        if !connection.is_app_limited {
            return;
        }
        state.is_restarting = true;
        state.extra_acked_start_us = connection.now.as_micros();
        if state.phase.is_probe_bandwidth() {
            state.set_pacing(100);
        } else if state.phase == Phase::ProbeRtt {
            state.check_probe_rtt_done(window, connection);
        }
    }
    fn on_timeout(&mut self, _window: &mut Window, connection: &Connection) {
        self.0.recovery = connection.recovery;
    }
    fn on_undo(&mut self, window: &mut Window, connection: &Connection) {
        self.0.handle_spurious_recovery(window, connection);
    }
}

impl CongestionControl for Bbr3 {
    /// The window follows rate samples alone.
    fn on_growth(&mut self, _window: &mut Window, _ack: &crate::AckSample) {}
    /// A mark counts as a loss in its round.
    fn on_ecn(&mut self, window: &mut Window, _signal: &Signal) -> Reduction {
        self.0.note_loss(window, None);
        Reduction::Done
    }
    fn on_loss(&mut self, window: &mut Window, _signal: &Signal) {
        self.0.save_upon_loss(window);
    }
    fn on_rto(&mut self, window: &mut Window, _signal: &Signal, already_reduced: bool) {
        if !already_reduced {
            self.0.save_upon_loss(window);
        }
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd
    }
    fn pacing(&self, _window: &Window, _srtt: Span, _in_flight: u32, _mss: u32) -> Option<Pace> {
        let bytes_per_s = self.0.pacing_rate;
        let burst = Burst::Packets(self.0.send_quantum());
        (bytes_per_s > 0).then_some(Pace { bytes_per_s, burst })
    }
    fn rate_based(&mut self) -> Option<&mut dyn RateBased> {
        Some(self)
    }
    fn path_model(&self) -> Option<PathModel> {
        let state = &self.0;
        let bound = |bound: u32| (bound != UNBOUNDED).then_some(bound);
        Some(PathModel {
            state: state.phase.shown(),
            pacing_bytes_per_s: state.pacing_rate,
            bandwidth_bytes_per_s: state.bytes_per_s(state.signals.max_bandwidth(), 100),
            min_rtt: state.min_rtt.get(),
            inflight_longterm: bound(state.inflight_longterm),
            inflight_shortterm: bound(state.signals.inflight_shortterm),
            full_bandwidth_reached: state.full.is_reached,
        })
    }
}

/// `percent` of a number of packets.
fn share(packets: u32, percent: u32) -> u32 {
    shoal_units::cast::fit_u32(u64::from(packets) * u64::from(percent) / 100)
}

#[cfg(test)]
mod tests;
