//! Application-limited and idle connections: window validation (RFC 2861, Linux `tcp_cwnd_validate`) and slow-start
//! restart (RFC 5681 section 4.1, Linux `tcp_cwnd_restart`).

use super::{CaState, LinuxSender};
use crate::{EndpointConfig, WindowUse};
use shoal_cc::CongestionControl;
use shoal_units::Time;

impl LinuxSender {
    /// Notes how much of the window was used, after a transmission of `sent` packets that `cwnd` stopped or not.
    #[inline]
    pub(super) fn validate_cwnd(&mut self, config: &EndpointConfig, now: Time, sent: u32, stopped: bool) {
        let packets_out = self.board.packets_out();
        let used = match config.stack.window_use {
            WindowUse::Missing(_) => {
                if sent == 0 {
                    return;
                }
                packets_out >= self.window.cwnd
            }
            WindowUse::LargestFlight => {
                if sent == 0 {
                    return;
                }
                if self.snd_una >= self.max_packets_seq || packets_out > self.max_packets_out {
                    self.note_flight(packets_out, stopped);
                }
                self.is_cwnd_limited(config, packets_out)
            }
            WindowUse::StickyLimit => {
                let stopped = stopped || self.flight() >= self.window.cwnd;
                if sent == 0 && !stopped {
                    return;
                }
                let larger = !self.cwnd_limited && packets_out > self.max_packets_out;
                if stopped || larger || self.snd_una >= self.max_packets_seq {
                    self.note_flight(packets_out, stopped);
                }
                self.is_cwnd_limited(config, packets_out)
            }
        };
        if used {
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
        } else {
            self.cwnd_used = self.cwnd_used.max(packets_out);
            if config.stack.slow_start_after_idle
                && now.since(self.cwnd_stamp) >= self.rtt.timeout(&config.stack)
            {
                self.decay_unused_window(config, now);
            }
        }
    }

    #[inline]
    fn note_flight(&mut self, packets_out: u32, stopped: bool) {
        self.max_packets_out = packets_out;
        self.max_packets_seq = self.snd_nxt;
        self.cwnd_limited = stopped;
    }

    /// Whether the window was the limit, by the stack's own test. `flight` is the flight before the ACK.
    #[inline]
    pub(super) fn is_cwnd_limited(&self, config: &EndpointConfig, flight: u32) -> bool {
        let doubles = || self.window.cwnd < 2 * self.max_packets_out;
        match config.stack.window_use {
            WindowUse::Missing(slack) => flight.saturating_add(slack) >= self.window.cwnd,
            WindowUse::LargestFlight if config.stack.growth.in_slow_start(&self.window) => doubles(),
            WindowUse::LargestFlight => self.cwnd_limited,
            WindowUse::StickyLimit => {
                self.cwnd_limited || (config.stack.growth.in_slow_start(&self.window) && doubles())
            }
        }
    }

    /// The window went unused for a timeout: halve the distance to what was used (Linux `tcp_cwnd_application_limited`).
    #[cold]
    fn decay_unused_window(&mut self, config: &EndpointConfig, now: Time) {
        if self.state == CaState::Open && !self.has_unsent() {
            let initial = config.initial_window.unwrap_or(config.stack.initial_window);
            let used = self.cwnd_used.max(initial);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = self.window.cwnd.midpoint(used);
            }
            self.cwnd_used = 0;
        }
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
    #[cold]
    pub(super) fn on_restart(&mut self, config: &EndpointConfig, now: Time) {
        if self.counters.segments_sent == 0 {
            return;
        }
        let idle = now.since(self.last_sent);
        let rto = self.rtt.timeout(&config.stack);
        let restart = config.stack.slow_start_after_idle && idle > rto;
        if restart {
            let restart_window =
                config.initial_window.unwrap_or(config.stack.initial_window).min(self.window.cwnd);
            self.window.ssthresh = self.current_ssthresh();
            let mut left = idle.saturating_sub(rto);
            while !left.is_zero() && self.window.cwnd > restart_window {
                self.window.cwnd >>= 1;
                left = left.saturating_sub(rto);
            }
            self.window.cwnd = self.window.cwnd.max(restart_window);
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
        }
        self.cc.on_idle_restart(&mut self.window, now, idle);
        if idle > rto {
            self.cc.on_idle_beyond_rto(&mut self.window, self.snd_nxt);
        }
    }
}
