//! The retransmission timer (`tcp_timer_rexmt`): back to the first unacknowledged byte.

use super::FreeBsdSender;
use crate::sender::Connection;
use crate::{EndpointConfig, Output};
use shoal_units::Time;

impl FreeBsdSender {
    pub(crate) fn on_timer(&mut self, config: &EndpointConfig, now: Time, out: &mut impl Output) {
        if now < self.rto_deadline {
            return;
        }
        if self.connection == Connection::SynSent {
            self.on_syn_timeout(config, now, out);
            return;
        }
        self.rto_deadline = Time::NEVER;
        if self.snd_una == self.snd_max {
            return;
        }
        self.counters.timeouts += 1;
        self.holes.clear();
        self.rtt.back_off(&config.stack, Self::rules(config));
        self.remember(now);
        self.snd_nxt = self.snd_una;
        self.snd_recover = self.snd_max;
        self.timeout_end = self.snd_max;
        self.on_rto(config, now);
        self.output(config, now, out);
    }
}
