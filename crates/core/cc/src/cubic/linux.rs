//! CUBIC in the integers of Linux
//! [`net/ipv4/tcp_cubic.c`](https://elixir.bootlin.com/linux/v6.12/source/net/ipv4/tcp_cubic.c). Windows are
//! packets (`quantum` 1).
//!
//! The host stack determines the version: see [`Era`].

use super::cbrt::cube_root;
use super::clock::{Era, HZ, elapsed, jiffies};
use super::hystart::HyStart;
use crate::{AckSample, CongestionControl, CubicConfig, GrowthRules, Reduction, Signal, Window};
use shoal_units::cast::{fit_u32, low_u32};
use shoal_units::{Span, Time};

/// Window after a reduction, in 1024ths of the window before (`beta`).
pub(super) const BETA_Q10: u64 = 717;
/// Scaling of the cubic, C = 41 * 10 / 1024 = 0.4 (`bic_scale`; `cube_rtt_scale` = 10 times it).
const CUBE_SCALE_Q10: u64 = 41 * 10;
/// Cube of the time to the origin for one packet, in 2^-30 s^3: 2^40 / 410 (`cube_factor`).
const CUBE_FACTOR: u64 = (1 << 40) / CUBE_SCALE_Q10;
/// Time in the cubic function is in units of 2^-10 s (`BICTCP_HZ`).
const TIME_SHIFT: u32 = 10;
/// Eighths of a window acknowledged for one packet of the Reno estimate: 8 (1+b)/(3 (1-b)) in integers (`beta_scale`).
const RENO_EIGHTHS: u64 = 8 * (1024 + BETA_Q10) / 3 / (1024 - BETA_Q10);
/// Fractional bits of the delayed-ACK ratio (`ACK_RATIO_SHIFT`), and its limit of 32 packets per ACK.
const RATIO_SHIFT: u32 = 4;
const RATIO_LIMIT: u32 = 32 << RATIO_SHIFT;

/// CUBIC in the integers of Linux.
#[derive(Clone, Copy, Debug)]
pub struct LinuxCubic {
    config: CubicConfig,
    rules: GrowthRules,
    era: Era,
    /// Number of ACKs (3.x) or packets (6.x) for one packet of growth.
    cnt: u32,
    /// `cwnd` before the last reduction, lowered by fast convergence; zero if unknown.
    last_max_cwnd: u32,
    last_cwnd: u32,
    last_time: u32,
    origin: u32,
    /// Time from the start of the epoch to the origin in 2^-10 s (`bic_K`).
    time_to_origin: u32,
    /// Smallest RTT in the unit of the era; zero before the first sample.
    delay_min: u32,
    /// Start of the epoch in jiffies; `None` between a reduction and the next growth.
    epoch_start: Option<u32>,
    ack_cnt: u32,
    reno_cwnd: u32,
    /// Packets per ACK in 2^-4 (3.x `delayed_ack`).
    ack_ratio: u32,
    cwnd_before_cut: u32,
    last_sent: u32,
    in_loss: bool,
    hystart: HyStart,
}

impl LinuxCubic {
    /// A controller for one connection.
    pub fn new(config: CubicConfig, rules: GrowthRules) -> Self {
        Self {
            config,
            rules,
            era: Era::of(&rules),
            cnt: 0,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            time_to_origin: 0,
            delay_min: 0,
            epoch_start: None,
            ack_cnt: 0,
            reno_cwnd: 0,
            ack_ratio: 2 << RATIO_SHIFT,
            cwnd_before_cut: 0,
            last_sent: 0,
            in_loss: false,
            hystart: HyStart::new(),
        }
    }

    /// Resets the state that a timeout invalidates (`bictcp_reset`).
    fn reset(&mut self) {
        let Self { cwnd_before_cut, last_sent, in_loss, .. } = *self;
        *self = Self { cwnd_before_cut, last_sent, in_loss, ..Self::new(self.config, self.rules) };
    }

    fn cut(&mut self, window: &mut Window) {
        self.epoch_start = None;
        self.cwnd_before_cut = window.cwnd;
        let cwnd = u64::from(window.cwnd);
        self.last_max_cwnd = if window.cwnd < self.last_max_cwnd && self.config.fast_convergence {
            fit_u32(cwnd * (1024 + BETA_Q10) / 2048)
        } else {
            window.cwnd
        };
        window.ssthresh = fit_u32(cwnd * BETA_Q10 / 1024).max(2 * window.quantum);
        window.cwnd_cnt = 0;
    }

    /// Computes `cnt` (`bictcp_update`).
    fn update(&mut self, now: u32, cwnd: u32, acked: u32) {
        self.ack_cnt = self.ack_cnt.wrapping_add(acked);
        if self.last_cwnd == cwnd && elapsed(now, self.last_time) <= (HZ / 32).cast_signed() {
            return;
        }
        let computed_this_jiffy = self.era == Era::V6 && self.epoch_start.is_some() && now == self.last_time;
        if !computed_this_jiffy {
            self.last_cwnd = cwnd;
            self.last_time = now;
            let epoch_start = *self.epoch_start.get_or_insert_with(|| {
                self.ack_cnt = acked;
                self.reno_cwnd = cwnd;
                (self.time_to_origin, self.origin) = if self.last_max_cwnd <= cwnd {
                    (0, cwnd)
                } else {
                    let deficit = u64::from(self.last_max_cwnd - cwnd);
                    (cube_root(CUBE_FACTOR.wrapping_mul(deficit)), self.last_max_cwnd)
                };
                now
            });
            self.cnt = self.cubic_count(now.wrapping_sub(epoch_start), cwnd);
        }
        if self.config.reno_friendly {
            self.follow_reno(cwnd);
        }
        self.cnt = match self.era {
            Era::V6 => self.cnt.max(2),
            Era::V3_18 | Era::V3_2 => {
                low_u32(((u64::from(self.cnt) << RATIO_SHIFT) / u64::from(self.ack_ratio.max(1))).max(1))
            }
        };
    }

    /// Number of ACKs for one packet of growth such that one RTT later the window is on the curve.
    fn cubic_count(&self, since_epoch: u32, cwnd: u32) -> u32 {
        let ahead = u64::from(since_epoch) + u64::from(self.era.delay_in_jiffies(self.delay_min));
        let t = (ahead << TIME_SHIFT) / u64::from(HZ);
        let target = self.target(t);
        let count = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        // Before the first reduction the window grows by at least 5 % per RTT.
        if self.last_max_cwnd == 0 { count.min(20) } else { count }
    }

    /// W(t) = origin + C (t - K)^3, `t` in 2^-10 s, wrapping as the kernel's 64-bit product does (347 s past the
    /// origin).
    fn target(&self, t: u64) -> u32 {
        let origin_at = u64::from(self.time_to_origin);
        let distance = t.abs_diff(origin_at);
        let cube = CUBE_SCALE_Q10.wrapping_mul(distance).wrapping_mul(distance).wrapping_mul(distance);
        let delta = (cube >> (10 + 3 * TIME_SHIFT)) as u32;
        if t < origin_at { self.origin.wrapping_sub(delta) } else { self.origin.wrapping_add(delta) }
    }

    /// Keeps the growth at least as fast as Reno's with the same reduction: one packet for 1.875 windows
    /// acknowledged.
    fn follow_reno(&mut self, cwnd: u32) {
        let needed = low_u32(((u64::from(cwnd) * RENO_EIGHTHS) >> 3).max(1));
        if self.ack_cnt > needed {
            // The kernel's loop leaves a value in 1..=needed.
            let steps = (self.ack_cnt - 1) / needed;
            self.ack_cnt -= steps * needed;
            self.reno_cwnd = self.reno_cwnd.saturating_add(steps);
        }
        if self.reno_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.reno_cwnd - cwnd));
        }
    }
}

impl CongestionControl for LinuxCubic {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if self.era != Era::V6 && ack.acked_packets > 0 && !ack.in_cwr && !self.in_loss {
            let ratio = self.ack_ratio - (self.ack_ratio >> RATIO_SHIFT);
            self.ack_ratio = ratio.saturating_add(ack.acked_packets).min(RATIO_LIMIT);
        }
        let Some(rtt) = ack.rtt else { return };
        // Samples within a second of the start of an epoch may include the queue of the recovery.
        if self.epoch_start.is_some_and(|start| elapsed(jiffies(ack.now), start) < HZ.cast_signed()) {
            return;
        }
        let delay = self.era.delay(ack.now, rtt);
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        if self.config.hystart {
            self.hystart.on_delay(self.era, &self.rules, window, ack, delay, self.delay_min);
        }
    }

    #[inline]
    fn on_growth(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.app_limited {
            return;
        }
        let mut acked = self.rules.acked(ack);
        if self.rules.in_slow_start(window) {
            if self.config.hystart {
                self.hystart.on_slow_start(self.era, ack);
            }
            acked = self.rules.slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        let counted = if self.era == Era::V6 { acked } else { 1 };
        self.update(jiffies(ack.now), window.cwnd, counted);
        self.rules.linear(window, self.cnt, acked);
    }

    fn on_ecn(&mut self, window: &mut Window, _signal: &Signal) -> Reduction {
        self.cut(window);
        Reduction::Spread
    }
    fn on_loss(&mut self, window: &mut Window, _signal: &Signal) {
        self.in_loss = true;
        self.cut(window);
    }
    fn on_loss_in_cwr(&mut self, _window: &mut Window, _signal: &Signal) -> bool {
        self.in_loss = true;
        false
    }
    fn on_rto(&mut self, window: &mut Window, signal: &Signal, already_reduced: bool) {
        self.in_loss = true;
        if !already_reduced {
            self.cut(window);
        }
        window.cwnd_cnt = 0;
        // `set_state(Loss)` comes after `ssthresh`, so the window before the timeout is forgotten as well.
        self.reset();
        self.hystart.start_round(self.era, signal.now, signal.snd_nxt);
    }
    fn on_exit(&mut self, _window: &mut Window, _now: Time) {
        self.in_loss = false;
    }
    fn on_idle_restart(&mut self, _window: &mut Window, now: Time, _idle: Span) {
        // Since 4.3 the epoch is shifted by the time since the last packet, so that idle time does not count
        // as growth.
        if self.era != Era::V6 {
            return;
        }
        let now = jiffies(now);
        let since_sent = elapsed(now, self.last_sent);
        if let Some(start) = self.epoch_start.filter(|_| since_sent > 0) {
            let moved = start.wrapping_add(since_sent.cast_unsigned());
            self.epoch_start = Some(if elapsed(moved, now) > 0 { now } else { moved });
        }
    }
    #[inline]
    fn on_sent(&mut self, now: Time, _packets: u32, _snd_nxt: u64) {
        self.last_sent = jiffies(now);
    }
    fn on_established(&mut self, now: Time, snd_nxt: u64) {
        self.hystart.start_round(self.era, now, snd_nxt);
    }
    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(self.cwnd_before_cut)
    }
}

#[cfg(test)]
mod tests;
