//! The smallest RTT, and ProbeRTT (section 5.3.4 of the draft).

use super::{Ack, AckPhase, Phase, State};
use crate::{Connection, Window};
use shoal_units::Span;
use shoal_units::cast::fit_u32;

/// Value before there is one.
const NONE_US: u32 = u32::MAX;

/// The smallest RTT of ten seconds, and that of five.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    us: u32,
    stamp_us: u64,
    probe_us: u32,
    probe_stamp_us: u64,
    is_probe_expired: bool,
    /// When ProbeRTT may end; `None` until the flight is small enough.
    done_us: Option<u64>,
    is_round_done: bool,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self {
            us: NONE_US,
            stamp_us: 0,
            probe_us: NONE_US,
            probe_stamp_us: 0,
            is_probe_expired: false,
            done_us: None,
            is_round_done: false,
        }
    }
}

impl MinRtt {
    /// What the handshake has shown.
    pub(super) fn new(connection: &Connection) -> Self {
        let us = if connection.srtt.is_zero() { NONE_US } else { fit_u32(connection.srtt.as_micros()) };
        let now = connection.now.as_micros();
        Self { us, stamp_us: now, probe_us: us, probe_stamp_us: now, ..Self::default() }
    }
    /// The smallest RTT, if there is one.
    pub(super) fn get(&self) -> Option<Span> {
        (self.us != NONE_US).then(|| Span::from_micros(self.us.into()))
    }
}

impl State {
    /// UpdateMinRTT.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack<'_>) {
        let (config, now) = (&self.config, ack.now_us);
        let least = &mut self.min_rtt;
        least.is_probe_expired = now > least.probe_stamp_us + u64::from(config.probe_rtt_interval_ms) * 1000;
        if let Some(rtt) = ack.sample.rtt_us
            && (rtt < least.probe_us || least.is_probe_expired)
        {
            (least.probe_us, least.probe_stamp_us) = (rtt, now);
        }
        let is_expired = now > least.stamp_us + u64::from(config.min_rtt_window_ms) * 1000;
        if least.probe_us < least.us || is_expired {
            (least.us, least.stamp_us) = (least.probe_us, least.probe_stamp_us);
        }
    }

    /// CheckProbeRTT. Returns whether the law holds the flow back.
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &Ack<'_>) -> bool {
        let connection = ack.connection;
        if self.phase != Phase::ProbeRtt && self.min_rtt.is_probe_expired && !self.is_restarting {
            self.save_cwnd(window);
            self.phase = Phase::ProbeRtt;
            self.min_rtt.done_us = None;
            self.probe.ack_phase = AckPhase::ProbeStopping;
            self.signals.start_round(connection);
        }
        let probes = self.phase == Phase::ProbeRtt;
        if probes {
            self.handle_probe_rtt(window, connection);
        }
        if ack.sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.is_restarting = false;
        }
        probes
    }

    fn handle_probe_rtt(&mut self, window: &mut Window, connection: &Connection) {
        if self.min_rtt.done_us.is_none() && connection.in_flight <= self.probe_rtt_window() {
            self.min_rtt.done_us =
                Some(connection.now.as_micros() + u64::from(self.config.probe_rtt_ms) * 1000);
            self.min_rtt.is_round_done = false;
            self.signals.start_round(connection);
        } else if self.min_rtt.done_us.is_some() {
            self.min_rtt.is_round_done |= self.signals.round_start;
            if self.min_rtt.is_round_done {
                self.check_probe_rtt_done(window, connection);
            }
        }
    }

    /// CheckProbeRTTDone, ExitProbeRTT.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, connection: &Connection) {
        if self.min_rtt.done_us.is_none_or(|done| connection.now.as_micros() <= done) {
            return;
        }
        self.min_rtt.probe_stamp_us = connection.now.as_micros();
        self.restore_cwnd(window);
        self.signals.reset_shortterm();
        if self.full.is_reached {
            self.start_down(window, connection);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
