//! DCTCP ([RFC 8257](https://www.rfc-editor.org/rfc/rfc8257)): one controller with named policies. A variant
//! is a preset ([`presets`]), and an ablation changes one field.
//!
//! The sender estimates the fraction of marked packets once in a window of data, alpha <- (1 - g) alpha + g F
//! (section 3.3), and on an ECN-Echo reduces the window once in a round trip to cwnd (1 - alpha/2);
//! losses halve it. As configured by the preset `dctcp`, which follows current Linux:
//!
//! 1. `on_ack` counts the packets that each ACK delivers, as marked if it carries ECN-Echo
//!    (`MarkCounting::Packets`). When `snd_una` reaches the end of the observation window, alpha is updated with
//!    g = 1/16 in units of 1/1024, and the next window ends at `snd_nxt` (`alpha.rs`).
//! 2. `on_ecn`, for the first ECN-Echo of an episode, sets `ssthresh` to cwnd (1 - alpha/2), at least two
//!    packets; the endpoint brings `cwnd` there over one round trip and ignores further ECN-Echo meanwhile
//!    (`cut.rs`).
//! 3. `on_loss` and `on_rto` set `ssthresh` to half of the window, in CWR as well.
//! 4. Otherwise the window grows like Reno's, by the rules of the host stack.
//!
//! Each difference of a variant is one policy of [`DctcpConfig`], with its source.

mod alpha;
pub(crate) mod config;
mod cut;
pub mod freebsd;
pub mod presets;

use crate::reno::undo_window;
use crate::{AckSample, CongestionControl, DctcpConfig, GrowthRules, Reduction, Signal, Window};
use alpha::Estimator;
use cut::Cut;
use shoal_units::Time;

/// A DCTCP controller.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    config: DctcpConfig,
    rules: GrowthRules,
    estimator: Estimator,
    cut: Cut,
}

impl Dctcp {
    /// A controller for one connection.
    pub fn new(config: DctcpConfig, rules: GrowthRules) -> Self {
        Self { config, rules, estimator: Estimator::new(&config), cut: Cut::default() }
    }

    fn enter_recovery(&mut self, signal: &Signal) {
        self.estimator.on_event(&self.config, self.config.alpha_on_loss, signal.snd_nxt, 0);
        self.estimator.enter_recovery(&self.config);
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.estimator.on_ack(&self.config, ack);
        self.cut.on_ack(&self.config, window, ack);
    }
    #[inline]
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        self.rules.reno(window, ack);
    }
    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction {
        self.cut.on_ecn(&self.config, &mut self.estimator, window, signal)
    }
    #[inline]
    fn on_ece_in_cwr(&mut self, window: &mut Window, _ack: &AckSample) {
        self.cut.on_ece_in_cwr(&self.config, &self.estimator, window);
    }
    fn on_loss(&mut self, window: &mut Window, signal: &Signal) {
        self.cut.enter_loss();
        self.cut.on_loss(&self.config, &self.estimator, window);
        self.enter_recovery(signal);
    }
    fn on_loss_in_cwr(&mut self, window: &mut Window, signal: &Signal) -> bool {
        self.cut.enter_loss();
        if self.config.cuts_again_on_loss_in_cwr {
            self.cut.on_loss_again(&self.config, &self.estimator, window);
        }
        self.enter_recovery(signal);
        self.config.raises_prr_base_on_loss
    }
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool) {
        self.cut.enter_loss();
        if !already_reduced {
            self.cut.on_loss(&self.config, &self.estimator, window);
        }
        window.cwnd_cnt = 0;
        // After the cut: Linux 3.18 computes ssthresh before it enters Loss, where it sets alpha.
        self.estimator.on_event(&self.config, self.config.alpha_on_timeout, signal.snd_nxt, signal.mss);
        self.estimator.leave_recovery();
    }
    fn on_exit(&mut self, _window: &mut Window, _now: Time) {
        self.cut.on_exit();
        self.estimator.leave_recovery();
    }
    fn on_recovered(&mut self, _window: &mut Window, signal: &Signal) {
        self.cut.on_exit();
        self.estimator.on_recovered(&self.config, signal);
    }
    fn on_idle_beyond_rto(&mut self, _window: &mut Window, snd_nxt: u64) {
        self.estimator.on_event(&self.config, self.config.alpha_after_idle, snd_nxt, 0);
        self.cut.forget_events();
    }
    fn on_established(&mut self, _now: Time, snd_nxt: u64) {
        self.estimator.start(snd_nxt);
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        undo_window(self.config.undo, &self.rules, window, self.cut.cwnd_before)
    }
    #[inline]
    fn grows_in_cwr(&self) -> bool {
        self.config.grows_in_cwr
    }
    #[inline]
    fn sends_cwr(&self) -> bool {
        self.config.sends_cwr
    }
    fn alpha(&self) -> Option<f64> {
        Some(self.estimator.as_f64())
    }
}

#[cfg(test)]
mod tests;
