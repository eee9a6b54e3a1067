//! BBR version 1: a law that paces by a model of the path instead of answering losses
//! ([Cardwell et al. 2016](https://queue.acm.org/detail.cfm?id=3022184); Linux
//! [`net/ipv4/tcp_bbr.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_bbr.c)).
//!
//! With each ACK, in the kernel's order and with its integers ([`RateBased::on_sample`]):
//!
//! 1. A sample that was sent after the round began ends it; the bandwidth is the largest rate of ten rounds
//!    (`bandwidth.rs`). A token bucket is recognised by its losses (`policer.rs`), aggregated ACKs by their excess
//!    (`aggregation.rs`).
//! 2. In ProbeBW the gain goes through eight phases, of 5/4, 3/4 and six times 1 (`cycle.rs`), from a random one on.
//! 3. Startup ends after three rounds in which the bandwidth has not grown by a quarter, Drain when no more is in the
//!    network than the bandwidth-delay product (`startup.rs`).
//! 4. When the smallest RTT was not matched for ten seconds, ProbeRTT sends with four packets for 200 ms and a round
//!    (`min_rtt.rs`).
//! 5. The pacing rate is the gain times the bandwidth less one percent (`pacing.rs`), and the window twice the
//!    bandwidth-delay product with what segments and aggregation need (`window.rs`).

mod aggregation;
mod bandwidth;
mod config;
mod cycle;
pub(crate) mod max_filter;
mod min_rtt;
mod pacing;
mod policer;
pub(crate) mod presets;
mod startup;
mod window;

use crate::{
    Burst, CongestionControl, Connection, Pace, PathModel, PathState, RateBased, RateSample, RecoveryState,
    Reduction, Signal, Window,
};
use aggregation::Aggregation;
use alloc::boxed::Box;
use bandwidth::{BANDWIDTH_BITS, Bandwidth, Rounds};
pub use config::{BBR, BbrConfig};
use cycle::Cycle;
use min_rtt::MinRtt;
use pacing::least_packets;
use policer::Policer;
use shoal_units::{Span, Stream};
use startup::FullPipe;

/// A gain of one (`BBR_UNIT`).
const GAIN_UNIT: u32 = 256;

/// States of the law (`enum bbr_mode`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// A BBR controller of version 1.
#[derive(Clone, Debug)]
pub struct Bbr(Box<State>);

#[derive(Clone, Debug)]
struct State {
    config: BbrConfig,
    mode: Mode,
    rounds: Rounds,
    min_rtt: MinRtt,
    cycle: Cycle,
    full: FullPipe,
    policer: Policer,
    aggregation: Aggregation,
    /// State of recovery with the previous ACK (`prev_ca_state`).
    recovery: RecoveryState,
    /// Whether as much is sent as is delivered (`packet_conservation`).
    conserves: bool,
    /// The window before recovery or ProbeRTT (`prior_cwnd`).
    prior_cwnd: u32,
    /// Whether nothing was delivered since an idle flow sent again (`idle_restart`).
    is_restarting: bool,
    pacing_gain: u32,
    cwnd_gain: u32,
    /// Bytes of payload per second (`sk_pacing_rate`).
    pacing_rate: u64,
    has_seen_rtt: bool,
    mss: u32,
    random: Stream,
}

impl Bbr {
    /// A controller for one connection.
    pub fn new(config: BbrConfig) -> Self {
        Self(Box::new(State {
            config,
            mode: Mode::Startup,
            rounds: Rounds::default(),
            min_rtt: MinRtt::default(),
            cycle: Cycle::default(),
            full: FullPipe::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            recovery: RecoveryState::Open,
            conserves: false,
            prior_cwnd: 0,
            is_restarting: false,
            pacing_gain: config.high_gain_q8,
            cwnd_gain: config.high_gain_q8,
            pacing_rate: 0,
            has_seen_rtt: false,
            mss: 1,
            random: Stream::new(0, "bbr"),
        }))
    }
}

impl State {
    /// The bandwidth of the path: that of its token bucket, if there is one (`bbr_bw`).
    fn bandwidth(&self) -> Bandwidth {
        self.policer.rate().unwrap_or_else(|| self.rounds.bandwidth())
    }

    /// Remembers a window to which recovery or ProbeRTT returns (`bbr_save_cwnd`).
    fn save_cwnd(&mut self, window: &Window) {
        let is_cut = self.recovery >= RecoveryState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_cut { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }

    /// Startup, or ProbeBW if the pipe was ever full (`bbr_reset_mode`).
    fn reset_mode(&mut self, connection: &Connection) {
        if self.full.is_reached {
            self.enter_probe_bandwidth(connection);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Gains of the mode (`bbr_update_gains`).
    fn update_gains(&mut self) {
        let config = &self.config;
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (config.high_gain_q8, config.high_gain_q8),
            Mode::Drain => (config.drain_gain_q8, config.high_gain_q8),
            Mode::ProbeBandwidth if self.policer.rate().is_some() => (GAIN_UNIT, config.cwnd_gain_q8),
            Mode::ProbeBandwidth => (self.cycle.gain(config), config.cwnd_gain_q8),
            Mode::ProbeRtt => (GAIN_UNIT, GAIN_UNIT),
        };
    }
}

impl RateBased for Bbr {
    fn on_start(&mut self, window: &mut Window, connection: &Connection, seed: u64) {
        let state = &mut self.0;
        window.ssthresh = crate::INFINITE_SSTHRESH;
        state.random = Stream::new(seed, "bbr");
        state.mss = connection.mss;
        state.min_rtt = MinRtt::new(connection);
        state.policer.restart(connection);
        state.aggregation.begin(connection.now);
        state.start_pacing(window, connection);
    }
    fn on_sample(&mut self, window: &mut Window, connection: &Connection, sample: &RateSample) -> bool {
        let state = &mut self.0;
        state.mss = connection.mss;
        state.update_bandwidth(connection, sample);
        state.update_aggregation(window, connection, sample);
        state.update_cycle(connection, sample);
        state.update_full_pipe(sample);
        state.update_drain(window, connection);
        let holds_back = state.update_min_rtt(window, connection, sample);
        state.update_gains();
        state.set_pacing(window, connection, state.pacing_gain);
        state.set_cwnd(window, connection, sample);
        holds_back
    }
    fn on_restart(&mut self, window: &mut Window, connection: &Connection) {
        let state = &mut self.0;
        if !connection.is_app_limited {
            return;
        }
        state.is_restarting = true;
        state.aggregation.begin(connection.now);
        match state.mode {
            Mode::ProbeBandwidth => state.set_pacing(window, connection, GAIN_UNIT),
            Mode::ProbeRtt => state.end_probe_rtt(window, connection),
            Mode::Startup | Mode::Drain => {}
        }
    }
    fn on_timeout(&mut self, _window: &mut Window, connection: &Connection) {
        let state = &mut self.0;
        state.recovery = RecoveryState::Loss;
        state.full.forget_bandwidth();
        // A timeout counts as the end of a round.
        state.rounds.is_start = true;
        state.look_for_policer(connection, 1, false);
    }
    fn on_undo(&mut self, _window: &mut Window, connection: &Connection) {
        self.0.full.restart();
        self.0.policer.restart(connection);
    }
}

impl CongestionControl for Bbr {
    /// The window follows rate samples alone.
    fn on_growth(&mut self, _window: &mut Window, _ack: &crate::AckSample) {}
    fn on_ecn(&mut self, window: &mut Window, _signal: &Signal) -> Reduction {
        self.0.save_cwnd(window);
        Reduction::Done
    }
    fn on_loss(&mut self, window: &mut Window, _signal: &Signal) {
        self.0.save_cwnd(window);
    }
    fn on_rto(&mut self, window: &mut Window, _signal: &Signal, already_reduced: bool) {
        if !already_reduced {
            self.0.save_cwnd(window);
        }
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd
    }
    fn pacing(&self, _window: &Window, _srtt: Span, _in_flight: u32, _mss: u32) -> Option<Pace> {
        let bytes_per_s = self.0.pacing_rate;
        let burst = Burst::Autosized { least_packets: least_packets(bytes_per_s) };
        (bytes_per_s > 0).then_some(Pace { bytes_per_s, burst })
    }
    fn rate_based(&mut self) -> Option<&mut dyn RateBased> {
        Some(self)
    }
    fn path_model(&self) -> Option<PathModel> {
        let state = &self.0;
        Some(PathModel {
            state: match state.mode {
                Mode::Startup => PathState::Startup,
                Mode::Drain => PathState::Drain,
                Mode::ProbeBandwidth => PathState::ProbeBandwidth,
                Mode::ProbeRtt => PathState::ProbeRtt,
            },
            pacing_bytes_per_s: state.pacing_rate,
            bandwidth_bytes_per_s: (u64::from(state.bandwidth()) * u64::from(state.mss) * 1_000_000)
                >> BANDWIDTH_BITS,
            min_rtt: state.min_rtt.get(),
            inflight_longterm: None,
            inflight_shortterm: None,
            full_bandwidth_reached: state.full.is_reached,
        })
    }
}

#[cfg(test)]
mod tests;
