//! Reductions: on entering CWR, on loss, and after a timeout.

use super::alpha::Estimator;
use super::clock::Target;
use super::fallback::{Fallback, gain};
use super::level::{Level, ONE};
use crate::{FirstCe, LossResponse, PragueConfig, Window, WindowSteps};

/// State of the reductions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// `cwnd` before the last reduction.
    pub(super) cwnd_before: u32,
    /// Whether the sender is in Recovery or Loss.
    pub(super) in_loss: bool,
    /// Exponent of the gains of [`Fallback`], which each reduction sets anew.
    pub(super) gain: u8,
}

impl Cut {
    pub(super) fn new(window_threshold: u32) -> Self {
        Self { cwnd_before: 0, in_loss: false, gain: gain(window_threshold) }
    }

    fn note(&mut self, window: &Window) {
        self.cwnd_before = window.cwnd;
        self.gain = gain(window.ssthresh / window.quantum);
    }

    /// Enters CWR at `now`, in us: takes alpha/2 unless the last cut was made less than `target` ago.
    pub(super) fn on_ecn(
        &mut self,
        config: &PragueConfig,
        window: &Window,
        (estimator, level, fallback): (&mut Estimator, &mut Level, &Fallback),
        (now, target): (u32, Option<Target>),
    ) {
        self.note(window);
        if estimator.take_first() && config.first_ce == FirstCe::HalveThenZero {
            level.cut(config, window, 1, 1);
            estimator.set_to_zero();
        } else if target.is_some_and(|target| !target.has_passed(level.last_cut, now)) {
            return;
        } else {
            level.cut(config, window, alpha(config, estimator, fallback), config.alpha_bits + 1);
        }
        level.last_cut = now;
    }

    /// Enters Recovery, or Loss: takes half of the window, and sets `ssthresh` to what is left.
    pub(super) fn on_loss(
        &mut self,
        config: &PragueConfig,
        window: &mut Window,
        (estimator, level, fallback): (&Estimator, &mut Level, &Fallback),
    ) {
        self.note(window);
        match config.loss {
            LossResponse::Halve => level.cut(config, window, 1, 1),
            LossResponse::Alpha => {
                level.cut(config, window, alpha(config, estimator, fallback), config.alpha_bits + 1);
            }
        }
        self.enter_loss(config, window, level);
    }

    /// Lets the endpoint bring `cwnd` to the window in whole packets, of which the state keeps the fraction.
    pub(super) fn enter_loss(&mut self, config: &PragueConfig, window: &mut Window, level: &mut Level) {
        let whole = if level.is_rate {
            i64::from(window.cwnd / window.quantum / 2).max(i64::from(config.lowest_window)) * ONE
        } else {
            level.window(config, window)
        };
        let packets = match config.window_steps {
            WindowSteps::Carry => whole / ONE,
            WindowSteps::Ceil => (whole + ONE - 1) / ONE,
        };
        if !level.is_rate {
            level.value = whole - packets * ONE;
        }
        let packets = u32::try_from(packets).unwrap_or(u32::MAX).max(2);
        window.ssthresh = packets.saturating_mul(window.quantum);
        window.cwnd_cnt = 0;
        self.in_loss = true;
    }

    /// The episode is over. A `cwnd` that is as large as before a loss was restored, so that the rate is, too.
    pub(super) fn on_exit(&mut self, config: &PragueConfig, window: &Window, level: &mut Level) {
        let lowest = u32::from(config.lowest_window) * window.quantum;
        if self.in_loss && level.is_rate && self.cwnd_before > lowest && window.cwnd >= self.cwnd_before {
            level.value = level.value.saturating_mul(2);
        }
        self.in_loss = false;
    }
}

/// The alpha of a cut, in units of 2^-`alpha_bits`.
fn alpha(config: &PragueConfig, estimator: &Estimator, fallback: &Fallback) -> u32 {
    let alpha = estimator.alpha(config);
    if config.classic_fallback { alpha.max(fallback.least_alpha(config)) } else { alpha }
}
