//! The smallest RTT, when it has to be measured again, and the clock of ProbeRTT (`bbr_update_min_rtt`). Its times are
//! jiffies of a millisecond, as in a kernel with 1000 Hz.

use super::{Mode, State};
use crate::{BbrConfig, Connection, RateSample, Window};
use shoal_units::cast::fit_u32;
use shoal_units::{Span, Time};

/// Value before there is one.
const NONE_US: u32 = u32::MAX;

/// The smallest RTT.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    /// Microseconds; [`NONE_US`] before the first sample.
    pub(super) us: u32,
    stamp_ms: u64,
    /// When ProbeRTT may end, once the flight is small enough (`probe_rtt_done_stamp`).
    done_ms: Option<u64>,
    /// Whether a round has passed since then (`probe_rtt_round_done`).
    is_round_done: bool,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self { us: NONE_US, stamp_ms: 0, done_ms: None, is_round_done: false }
    }
}

impl MinRtt {
    /// What the handshake has shown.
    pub(super) fn new(connection: &Connection) -> Self {
        let us = connection.min_rtt.map_or(NONE_US, |rtt| fit_u32(rtt.as_micros()));
        Self { us, stamp_ms: connection.now.as_millis(), ..Self::default() }
    }

    /// The smallest RTT, if there is one.
    pub(super) fn get(&self) -> Option<Span> {
        (self.us != NONE_US).then(|| Span::from_micros(self.us.into()))
    }

    /// Takes a sample. Returns whether the value had expired.
    pub(super) fn take(&mut self, config: &BbrConfig, now: Time, sample: &RateSample) -> bool {
        let is_expired = now.as_millis() > self.stamp_ms + u64::from(config.min_rtt_window_ms);
        if let Some(rtt) = sample.rtt_us
            && (rtt <= self.us || is_expired && !sample.is_ack_delayed)
        {
            (self.us, self.stamp_ms) = (rtt, now.as_millis());
        }
        is_expired
    }

    /// ProbeRTT begins.
    pub(super) fn begin_probe(&mut self) {
        self.done_ms = None;
    }
    /// Whether the time of ProbeRTT runs.
    pub(super) fn is_timed(&self) -> bool {
        self.done_ms.is_some()
    }
    /// The flight is small enough: the time runs from now on.
    pub(super) fn time_probe(&mut self, config: &BbrConfig, now: Time) {
        self.done_ms = Some(now.as_millis() + u64::from(config.probe_rtt_ms));
        self.is_round_done = false;
    }
    /// Notes whether a round begins. Returns whether one has passed in ProbeRTT.
    pub(super) fn note_round(&mut self, is_start: bool) -> bool {
        self.is_round_done |= is_start;
        self.is_round_done
    }
    /// Whether ProbeRTT may end now; if so, the value counts as measured now.
    pub(super) fn end_probe(&mut self, now: Time) -> bool {
        let ends = self.done_ms.is_some_and(|done| now.as_millis() > done);
        if ends {
            self.stamp_ms = now.as_millis();
        }
        ends
    }
}

impl State {
    /// The smallest RTT, and ProbeRTT (`bbr_update_min_rtt`). Returns whether the law holds the flow back.
    pub(super) fn update_min_rtt(
        &mut self,
        window: &mut Window,
        connection: &Connection,
        sample: &RateSample,
    ) -> bool {
        let is_expired = self.min_rtt.take(&self.config, connection.now, sample);
        let is_due = is_expired && !self.is_restarting && self.config.probe_rtt_ms > 0;
        if is_due && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.min_rtt.begin_probe();
        }
        let probes = self.mode == Mode::ProbeRtt;
        if probes {
            if !self.min_rtt.is_timed() && connection.in_flight <= self.config.lowest_window {
                self.min_rtt.time_probe(&self.config, connection.now);
                self.rounds.restart(connection);
            } else if self.min_rtt.is_timed() && self.min_rtt.note_round(self.rounds.is_start) {
                self.end_probe_rtt(window, connection);
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.is_restarting = false;
        }
        probes
    }

    /// ProbeRTT ends if its time has passed (`bbr_check_probe_rtt_done`).
    pub(super) fn end_probe_rtt(&mut self, window: &mut Window, connection: &Connection) {
        if self.min_rtt.end_probe(connection.now) {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            self.reset_mode(connection);
        }
    }
}
