//! TCP Prague, the reference congestion control of L4S
//! ([RFC 9331, section 4](https://www.rfc-editor.org/rfc/rfc9331#section-4)): one controller with named policies. A
//! version is a preset ([`presets`]), and an ablation changes one field.
//!
//! Its sender marks every data segment ECT(1) and gets accurate feedback
//! ([RFC 9768](https://www.rfc-editor.org/rfc/rfc9768)): [`AckSample::marked_packets`] are the packets newly
//! reported with CE. As configured by the preset `prague-0.7`:
//!
//! 1. `on_ack` counts the packets delivered and reported with CE. When `snd_una` reaches the end of the round, and not
//!    before 25 ms, alpha is updated with g = 1/16 (`alpha.rs`). The update comes last of all for that ACK.
//! 2. `on_ecn`, on entering CWR, takes alpha/2 of the window, or, for the first CE of the connection, half of it
//!    (`cut.rs`); not within 25 ms of the last cut. The window has a fraction (`level.rs`); `cwnd` follows by one
//!    packet an ACK (`steps.rs`), and the first step down ends slow start.
//! 3. `on_growth` adds (RTT / 25 ms)^2 / cwnd for each packet without CE, in CWR, too, so that the rate does not
//!    depend on RTTs below 25 ms.
//! 4. Losses and timeouts halve the window, which does not grow until recovery has ended.
//! 5. With windows of up to four packets the state is a rate (`rate.rs`), and packets become smaller so that two fit
//!    into 25 ms.
//! 6. The host paces by what [`CongestionControl::pacing`] says, in bursts of 244 us.
//!
//! Each difference of a version is one policy of [`PragueConfig`], with its source.

mod alpha;
mod clock;
pub(crate) mod config;
mod cut;
mod fallback;
mod level;
mod pace;
pub mod presets;
mod rate;
mod steps;

use crate::reno::undo_window;
use crate::{
    AckCounting, AckSample, CongestionControl, GrowthRules, Pace, PragueConfig, Reduction, RttIndependence,
    Signal, Window,
};
use alpha::Estimator;
use clock::{Target, micros, virtual_rtt};
use cut::Cut;
use fallback::Fallback;
use level::Level;
use shoal_units::{Span, Time};
use steps::Growth;

/// Headers of a segment: IPv4, TCP and the timestamp option, in bytes.
const HEADER_BYTES: u32 = 52;
/// Age that a time of the last cut may reach, in us, so that it does not become young by wrapping around.
const OLD_US: u32 = 1 << 30;

/// A Prague controller.
#[derive(Clone, Copy, Debug)]
pub struct Prague {
    config: PragueConfig,
    rules: GrowthRules,
    estimator: Estimator,
    level: Level,
    cut: Cut,
    fallback: Fallback,
}

impl Prague {
    /// A controller for one connection.
    pub fn new(config: PragueConfig, rules: GrowthRules) -> Self {
        let cut = Cut::new(crate::INFINITE_SSTHRESH);
        let estimator = Estimator::new(&config);
        Self { config, rules, estimator, level: Level::NEW, cut, fallback: Fallback::default() }
    }

    /// Whether the law counts in virtual round trips now.
    #[inline]
    fn is_independent(&self, window: &Window) -> bool {
        self.config.rtt_independence == RttIndependence::Floor
            && !is_in_slow_start(window)
            && self.estimator.has_had(self.config.independent_after_rounds)
    }

    /// The target that alpha or cuts wait for, if they do.
    #[inline]
    fn target(&self, waits: bool, window: &Window) -> Option<Target> {
        (waits && self.is_independent(window)).then_some(Target(self.config.rtt_target_us))
    }

    /// What follows the update of alpha, if the last ACK ended a round.
    #[inline]
    fn update(&mut self, ack: &AckSample) {
        if self.estimator.update(&self.config) {
            self.end_round(micros(ack.now), ack.srtt, mtu(ack.mss));
        }
    }

    fn end_round(&mut self, now: u32, srtt: Span, mtu: u32) {
        if self.config.classic_fallback {
            self.fallback.end_round(&self.config);
        }
        self.level.size_packets(&self.config, srtt, mtu);
        if now.wrapping_sub(self.level.last_cut) > OLD_US {
            self.level.last_cut = now.wrapping_sub(OLD_US);
        }
    }

    /// Lets the window, or the rate, grow by what `ack` acknowledges without CE.
    #[inline]
    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        // A rate is not used up by filling a window, which is at least two packets.
        if ack.app_limited && !self.level.is_rate {
            return;
        }
        if (ack.in_cwr || ack.ece) && !self.config.grows_in_cwr {
            return;
        }
        let packet = if self.rules.counting == AckCounting::Bytes { ack.mss.max(1) } else { 1 };
        let acked = self.rules.acked(ack);
        let mut acked = acked.saturating_sub(ack.marked_packets.saturating_mul(packet));
        if acked > 0 && is_in_slow_start(window) && !self.level.is_rate {
            acked = self.rules.slow_start(window, acked);
        }
        if acked == 0 || self.cut.in_loss && !self.config.grows_in_loss {
            return;
        }
        let round = if self.is_independent(window) { virtual_rtt(&self.config, ack.srtt) } else { ack.srtt };
        let packets = (u64::from(acked) << 20) / u64::from(packet);
        let growth = Growth { packets, srtt: ack.srtt, round, mtu: mtu(ack.mss) };
        if self.level.is_rate {
            self.level.increase_rate(&self.config, &growth);
        } else {
            self.level.increase(&self.config, window, &growth);
        }
    }

    /// Whether the first half of the round goes on.
    #[inline]
    fn is_first_half(&self, ack: &AckSample) -> bool {
        let elapsed = micros(ack.now).wrapping_sub(self.estimator.began());
        u64::from(elapsed) < virtual_rtt(&self.config, ack.srtt).as_micros() / 2
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.update(ack);
        let target = self.target(self.config.alpha_waits_for_target, window);
        self.estimator.on_ack(ack, target);
        if self.level.is_rate {
            self.level.is_first_half = self.is_first_half(ack);
        }
        if let Some(rtt) = ack.rtt.filter(|_| self.config.classic_fallback) {
            self.fallback.on_rtt(self.cut.gain, rtt);
        }
    }
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        self.grow(window, ack);
        if !self.level.is_rate {
            self.level.step(&self.config, window);
        }
        let may_be_rate = self.config.rate_mode_packets > 0 && self.estimator.has_seen_ce();
        if self.level.is_rate || may_be_rate && !is_in_slow_start(window) {
            self.level.choose_mode(&self.config, window, (ack.srtt, mtu(ack.mss)));
        }
        self.update(ack);
    }
    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction {
        let target = self.target(self.config.cut_waits_for_target, window);
        let state = (&mut self.estimator, &mut self.level, &self.fallback);
        self.cut.on_ecn(&self.config, window, state, (micros(signal.now), target));
        Reduction::Done
    }
    fn on_loss(&mut self, window: &mut Window, _signal: &Signal) {
        let state = (&self.estimator, &mut self.level, &self.fallback);
        self.cut.on_loss(&self.config, window, state);
    }
    fn on_loss_in_cwr(&mut self, window: &mut Window, signal: &Signal) -> bool {
        self.on_loss(window, signal);
        false
    }
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool) {
        if !already_reduced {
            self.on_loss(window, signal);
        } else if !self.cut.in_loss {
            // The cut of CWR has been made, but `cwnd` may not have followed it.
            self.cut.enter_loss(&self.config, window, &mut self.level);
        }
        window.cwnd_cnt = 0;
    }
    fn on_exit(&mut self, window: &mut Window, _now: Time) {
        self.cut.on_exit(&self.config, window, &mut self.level);
    }
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        self.estimator.start(micros(now), snd_nxt);
        self.level.last_cut = micros(now).wrapping_sub(OLD_US);
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        undo_window(self.config.undo, &self.rules, window, self.cut.cwnd_before)
    }
    /// Called in CWR, too: `cwnd` follows the cut there.
    #[inline]
    fn grows_in_cwr(&self) -> bool {
        true
    }
    /// Accurate feedback needs no CWR.
    #[inline]
    fn sends_cwr(&self) -> bool {
        false
    }
    fn alpha(&self) -> Option<f64> {
        Some(self.estimator.as_f64(&self.config))
    }
    fn pacing(&self, window: &Window, srtt: Span, in_flight: u32, mss: u32) -> Option<Pace> {
        self.level.pace(&self.config, window, (srtt, in_flight, mtu(mss)))
    }
    fn packet_bytes(&self) -> Option<u32> {
        (self.level.packet > 0).then_some(u32::from(self.level.packet))
    }
}

/// Size of a full packet with its headers, in bytes.
#[inline]
fn mtu(mss: u32) -> u32 {
    mss.saturating_add(HEADER_BYTES)
}

/// Prague is younger than hosts with another test.
#[inline]
fn is_in_slow_start(window: &Window) -> bool {
    window.cwnd < window.ssthresh
}

#[cfg(test)]
mod tests;
