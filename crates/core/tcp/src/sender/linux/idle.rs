//! Application-limited and idle connections: window validation
//! ([RFC 2861](https://www.rfc-editor.org/rfc/rfc2861), Linux `tcp_cwnd_validate`) and slow-start restart
//! (RFC 5681 section 4.1, <https://www.rfc-editor.org/rfc/rfc5681#section-4.1>, Linux `tcp_cwnd_restart`).

use super::usage::Turn;
use super::{CaState, LinuxSender, Moment};
use shoal_cc::CongestionControl;

impl LinuxSender {
    /// Records how much of the window was used, after a transmission of `sent` packets that `cwnd` did or did
    /// not stop.
    #[inline]
    pub(super) fn validate_cwnd(&mut self, at: &Moment<'_>, sent: u32, stopped: bool) {
        let packets_out = self.board.packets_out();
        let turn = Turn {
            sent,
            stopped,
            packets_out,
            flight: self.board.in_flight(),
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
        };
        let growth = &at.config.stack.growth;
        match self.usage.note(at.rules.window_use, growth, &self.window, &turn) {
            None => {}
            Some(true) => self.usage.restart(at.now),
            Some(false) => {
                self.usage.used = self.usage.used.max(packets_out);
                if at.rules.slow_start_after_idle
                    && self.rates.is_none()
                    && at.now.since(self.usage.stamp) >= self.rtt.timeout(&at.config.stack)
                {
                    self.decay_unused_window(at);
                }
            }
        }
    }

    /// Whether the window limited the transmission, by the stack's own test. `flight` is the flight before
    /// the ACK.
    #[inline]
    pub(super) fn is_cwnd_limited(&self, at: &Moment<'_>, flight: u32) -> bool {
        self.usage.is_limited(at.rules.window_use, &at.config.stack.growth, &self.window, flight)
            || self.waits_in_window(at, flight)
    }

    /// Halves the distance to the used window, after the window was not used for a timeout (Linux
    /// `tcp_cwnd_application_limited`).
    #[cold]
    fn decay_unused_window(&mut self, at: &Moment<'_>) {
        if self.state == CaState::Open && !self.has_unsent() {
            let used = self.usage.used.max(at.config.initial_window_packets());
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = self.window.cwnd.midpoint(used);
            }
            self.usage.used = 0;
        }
        self.usage.stamp = at.now;
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

    /// Handles the resumption of sending with nothing in flight.
    #[cold]
    pub(super) fn on_restart(&mut self, at: &Moment<'_>) {
        if self.rates.is_some() {
            return self.restart_samples(at);
        }
        if self.counters.segments_sent == 0 {
            return;
        }
        let idle = at.now.since(self.last_sent);
        let rto = self.rtt.timeout(&at.config.stack);
        if at.rules.slow_start_after_idle && idle > rto {
            let restart_window = at.config.initial_window_packets().min(self.window.cwnd);
            self.window.ssthresh = self.current_ssthresh();
            let mut left = idle.saturating_sub(rto);
            while !left.is_zero() && self.window.cwnd > restart_window {
                self.window.cwnd >>= 1;
                left = left.saturating_sub(rto);
            }
            self.window.cwnd = self.window.cwnd.max(restart_window);
            self.usage.restart(at.now);
        }
        self.cc.on_idle_restart(&mut self.window, at.now, idle);
        if idle > rto {
            self.cc.on_idle_beyond_rto(&mut self.window, self.snd_nxt);
        }
    }
}
