//! Application-limited and idle connections: window validation (RFC 2861, Linux `tcp_cwnd_validate`) and slow-start
//! restart (RFC 5681 section 4.1, Linux `tcp_cwnd_restart`).

use super::{CaState, Sender};
use crate::EndpointConfig;
use shoal_cc::CongestionControl;
use shoal_units::Time;

impl Sender {
    /// Notes how much of the window was used.
    #[inline]
    pub(super) fn validate_cwnd(&mut self, config: &EndpointConfig, now: Time, limited_by_cwnd: bool) {
        let packets_out = self.board.packets_out();
        if self.snd_una >= self.max_packets_seq || packets_out > self.max_packets_out {
            self.max_packets_out = packets_out;
            self.max_packets_seq = self.snd_nxt;
            self.cwnd_limited = limited_by_cwnd;
        }
        if self.is_cwnd_limited(config, packets_out) {
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
        } else {
            self.cwnd_used = self.cwnd_used.max(packets_out);
            if config.stack.slow_start_after_idle && now.since(self.cwnd_stamp) >= self.rtt.timeout(&config.stack) {
                self.decay_unused_window(config, now);
            }
        }
    }

    /// Whether the window was the limit, by the stack's own test. `flight` is the flight before the ACK.
    #[inline]
    pub(super) fn is_cwnd_limited(&self, config: &EndpointConfig, flight: u32) -> bool {
        match config.stack.cwnd_limited_slack {
            // Linux 3.2 tcp_is_cwnd_limited without segmentation offload: at most max_burst packets missing.
            Some(slack) => flight + slack >= self.window.cwnd,
            // Since 3.16: in slow start the window may grow to twice the largest flight.
            None if config.stack.growth.in_slow_start(&self.window) => self.window.cwnd < 2 * self.max_packets_out,
            None => self.cwnd_limited,
        }
    }

    /// The window went unused for a timeout: halve the distance to what was used (Linux `tcp_cwnd_application_limited`).
    fn decay_unused_window(&mut self, config: &EndpointConfig, now: Time) {
        if self.state == CaState::Open && !self.has_unsent() {
            let initial = config.initial_window.unwrap_or(config.stack.initial_window);
            let used = self.cwnd_used.max(initial);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = (self.window.cwnd + used) >> 1;
            }
        }
        self.cwnd_used = 0;
        self.cwnd_stamp = now;
    }

    /// `ssthresh` that remembers three quarters of the present window (Linux `tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> u32 {
        if matches!(self.state, CaState::Cwr | CaState::Recovery) {
            self.window.ssthresh
        } else {
            let remembered = (self.window.cwnd >> 1) + (self.window.cwnd >> 2);
            self.window.ssthresh.max(remembered)
        }
    }

    /// Sending resumes with nothing in flight.
    pub(super) fn on_restart(&mut self, config: &EndpointConfig, now: Time) {
        let idle = now.since(self.last_sent);
        let rto = self.rtt.timeout(&config.stack);
        if config.stack.slow_start_after_idle && idle > rto && self.counters.segments_sent > 0 {
            let restart = config.initial_window.unwrap_or(config.stack.initial_window).min(self.window.cwnd);
            self.window.ssthresh = self.current_ssthresh();
            let mut left = idle.saturating_sub(rto);
            while !left.is_zero() && self.window.cwnd > restart {
                self.window.cwnd >>= 1;
                left = left.saturating_sub(rto);
            }
            self.window.cwnd = self.window.cwnd.max(restart);
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
        }
        if self.counters.segments_sent > 0 {
            self.cc.on_idle_restart(&mut self.window, now, idle);
        }
    }
}
