//! CUBIC by the formulas of [RFC 9438](https://www.rfc-editor.org/rfc/rfc9438) in floating point. Slow start
//! is that of the stack.

use super::clock::Era;
use super::hystart::HyStart;
use crate::{AckCounting, AckSample, CongestionControl, CubicConfig, GrowthRules, Reduction, Signal, Window};
use shoal_units::cast::floor_u32;
use shoal_units::{Span, Time};

/// Multiplicative decrease factor (section 4.6).
const BETA: f64 = BETA_TENTHS / 10.0;
/// In tenths, so that the product with whole packets is exact before it is rounded down.
const BETA_TENTHS: f64 = 7.0;
/// Aggressiveness in packets / s^3 (section 5).
const C: f64 = 0.4;
/// Growth of the Reno estimate in packets per RTT (section 4.3): 3 (1 - beta) / (1 + beta).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// An epoch of congestion avoidance (section 4.1.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Time from the start of the epoch to the plateau in seconds.
    k_s: f64,
    /// Reno-friendly estimate in packets.
    w_est: f64,
}

/// CUBIC by the formulas of RFC 9438.
#[derive(Clone, Copy, Debug)]
pub struct Rfc9438Cubic {
    config: CubicConfig,
    rules: GrowthRules,
    epoch: Option<Epoch>,
    /// Window in packets before the last reduction, lowered by fast convergence; zero if unknown.
    w_max: f64,
    /// Window at the last reduction, packets (`cwnd_prior`).
    cwnd_prior: f64,
    /// Fraction of a window unit that remains to be added.
    remainder: f64,
    cwnd_before_cut: u32,
    delay_min: u32,
    hystart: HyStart,
}

impl Rfc9438Cubic {
    /// A controller for one connection.
    pub fn new(config: CubicConfig, rules: GrowthRules) -> Self {
        Self {
            config,
            rules,
            epoch: None,
            w_max: 0.0,
            cwnd_prior: 0.0,
            remainder: 0.0,
            cwnd_before_cut: 0,
            delay_min: 0,
            hystart: HyStart::new(),
        }
    }

    fn cut(&mut self, window: &mut Window, signal: &Signal) {
        let cwnd = self.packets(window);
        self.epoch = None;
        self.cwnd_before_cut = window.cwnd;
        self.cwnd_prior = cwnd;
        // Section 4.7.
        self.w_max =
            if cwnd < self.w_max && self.config.fast_convergence { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        // Section 4.6: computed from the data in flight, but never from more than the window.
        let flight_bytes = signal.snd_nxt.saturating_sub(signal.snd_una);
        let flight = (flight_bytes as f64 / f64::from(signal.mss.max(1))).min(cwnd);
        let quantum = f64::from(window.quantum);
        window.ssthresh = floor_u32(flight * quantum * BETA_TENTHS / 10.0).max(2 * window.quantum);
        window.cwnd_cnt = 0;
        self.remainder = 0.0;
    }

    #[inline]
    fn packets(&self, window: &Window) -> f64 {
        (f64::from(window.cwnd) + self.remainder) / f64::from(window.quantum)
    }

    /// Congestion avoidance for `segments` acknowledged segments (sections 4.2 to 4.5).
    fn avoid(&mut self, window: &mut Window, ack: &AckSample, segments: f64) {
        let cwnd = self.packets(window);
        let w_max = &mut self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| {
            // Section 4.8 and 4.2: without an earlier reduction the epoch starts on the plateau.
            if *w_max <= cwnd {
                *w_max = cwnd;
            }
            Epoch { start: ack.now, k_s: libm::cbrt((*w_max - cwnd) / C), w_est: cwnd }
        });
        let t_s = ack.now.since(epoch.start).as_secs_f64();
        let curve = |t_s: f64| {
            let distance = t_s - epoch.k_s;
            C * distance * distance * distance + *w_max
        };
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        epoch.w_est += alpha * segments / cwnd;
        let target = curve(t_s + ack.srtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        let growth = if self.config.reno_friendly && curve(t_s) < epoch.w_est {
            (epoch.w_est - cwnd).max(0.0)
        } else {
            segments * (target - cwnd) / cwnd
        };
        self.grow(window, growth);
    }

    /// Adds `packets` to the window; the fraction below one window unit is carried over.
    fn grow(&mut self, window: &mut Window, packets: f64) {
        let units = f64::from(window.cwnd) + self.remainder + packets * f64::from(window.quantum);
        if units >= f64::from(window.clamp) {
            window.cwnd = window.clamp;
            self.remainder = 0.0;
        } else {
            window.cwnd = floor_u32(units);
            self.remainder = units - f64::from(window.cwnd);
        }
    }
}

impl CongestionControl for Rfc9438Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        let Some(rtt) = ack.rtt.filter(|_| self.config.hystart) else { return };
        let delay = Era::V6.delay(ack.now, rtt);
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        self.hystart.on_delay(Era::V6, &self.rules, window, ack, delay, self.delay_min);
    }

    #[inline]
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.app_limited {
            return;
        }
        let mut acked = self.rules.acked(ack);
        if self.rules.in_slow_start(window) {
            acked = self.rules.slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        let segments = match self.rules.counting {
            AckCounting::PerAck => 1,
            AckCounting::PerPacket => acked,
            AckCounting::Bytes => {
                return self.avoid(window, ack, f64::from(acked) / f64::from(window.quantum));
            }
        };
        self.avoid(window, ack, f64::from(segments));
    }

    fn on_ecn(&mut self, window: &mut Window, signal: &Signal) -> Reduction {
        self.cut(window, signal);
        Reduction::Spread
    }
    fn on_loss(&mut self, window: &mut Window, signal: &Signal) {
        self.cut(window, signal);
    }
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool) {
        if !already_reduced {
            self.cut(window, signal);
        }
        window.cwnd_cnt = 0;
        // Section 4.8: the first epoch after a timeout starts with K = 0 at its own window.
        self.epoch = None;
        self.w_max = 0.0;
        self.remainder = 0.0;
        self.hystart = HyStart::new();
        self.hystart.start_round(Era::V6, signal.now, signal.snd_nxt);
    }
    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, idle: Span) {
        // Section 5.8: idle time must not count as time on the curve.
        if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start.saturating_add(idle);
        }
    }
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        self.hystart.start_round(Era::V6, now, snd_nxt);
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(self.cwnd_before_cut)
    }
}

#[cfg(test)]
mod tests;
