//! The retransmission timer (`tcp_timer_rexmt`), which returns to the first unacknowledged byte.

use super::{Call, FreeBsdSender};
use crate::Output;
use crate::sender::connection::Phase;
use shoal_units::Time;

impl FreeBsdSender {
    pub(crate) fn on_timer(&mut self, call: &mut Call<'_, impl Output>) {
        if self.cc.timer() <= call.now {
            let in_flight = self.in_flight();
            if let Some(cc) = self.cc.external() {
                cc.on_timer(&mut self.window, call.now, in_flight);
            }
            self.output(call);
        }
        if call.now < self.rto_deadline {
            return;
        }
        if self.connection.phase() == Phase::SynSent {
            self.on_syn_timeout(call);
            return;
        }
        self.rto_deadline = Time::NEVER;
        if self.snd_una == self.snd_max {
            return;
        }
        self.counters.timeouts += 1;
        self.holes.clear();
        self.rtt.back_off(&call.config.stack, call.rules);
        self.remember(call.now);
        self.snd_nxt = self.snd_una;
        self.snd_recover = self.snd_max;
        self.timeout_end = self.snd_max;
        self.on_rto(call);
        self.output(call);
    }
}
