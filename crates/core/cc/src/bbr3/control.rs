//! Pacing rate and window (section 5.6 of the draft).

use super::{Ack, Phase, RATE_BITS, Rate, State, UNBOUNDED};
use crate::{Connection, Window};
use shoal_units::cast::fit_u32;

/// Largest send quantum in bytes.
const LARGEST_QUANTUM_BYTES: u64 = 64 << 10;

impl State {
    /// Gain of pacing of the phase, in percent.
    pub(super) fn pacing_gain_percent(&self) -> u32 {
        match self.phase {
            Phase::Startup => self.config.startup_pacing_gain_percent,
            Phase::Drain => self.config.drain_pacing_gain_percent,
            Phase::Down => self.config.down_pacing_gain_percent,
            Phase::Up => self.config.up_pacing_gain_percent,
            Phase::Cruise | Phase::Refill | Phase::ProbeRtt => 100,
        }
    }
    /// Gain of the window of the phase, in percent.
    fn cwnd_gain_percent(&self) -> u32 {
        match self.phase {
            Phase::Up => self.config.up_cwnd_gain_percent,
            Phase::ProbeRtt => self.config.probe_rtt_cwnd_gain_percent,
            _ => self.config.cwnd_gain_percent,
        }
    }

    /// Bytes of payload per second of a rate.
    pub(super) fn bytes_per_s(&self, rate: Rate, percent: u64) -> u64 {
        let bytes = u128::from(rate) * u128::from(self.mss) * u128::from(percent) * 10_000;
        u64::try_from(bytes >> RATE_BITS).unwrap_or(u64::MAX)
    }

    /// InitPacingRate.
    pub(super) fn start_pacing(&mut self, connection: &Connection) {
        let rtt_us = if connection.srtt.is_zero() { 1000 } else { connection.srtt.as_micros().max(1) };
        let rate = (u64::from(self.initial_window) << RATE_BITS) / rtt_us;
        self.pacing_rate = self.bytes_per_s(rate, self.config.startup_pacing_gain_percent.into());
    }

    /// Before the path is full the rate only rises (SetPacingRateWithGain).
    pub(super) fn set_pacing(&mut self, gain_percent: u32) {
        let margin = 100 - self.config.pacing_margin_percent.min(100);
        let rate =
            self.bytes_per_s(self.signals.bandwidth(), u64::from(gain_percent) * u64::from(margin)) / 100;
        if self.full.is_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Packets that leave at once (SetSendQuantum).
    pub(super) fn send_quantum(&self) -> u32 {
        let bytes = (self.pacing_rate / 1000).min(LARGEST_QUANTUM_BYTES);
        fit_u32(bytes / u64::from(self.mss.max(1))).max(2)
    }

    /// `percent` of the bandwidth-delay product of a rate, rounded up to a packet (BDPMultiple).
    fn product_of(&self, rate: Rate, percent: u32) -> u32 {
        let Some(rtt) = self.min_rtt.get() else { return self.initial_window };
        let product = u128::from(rate) * u128::from(rtt.as_micros()) * u128::from(percent);
        u32::try_from(product.div_ceil(100 << RATE_BITS)).unwrap_or(UNBOUNDED)
    }
    pub(super) fn product(&self, percent: u32) -> u32 {
        self.product_of(self.signals.bandwidth(), percent)
    }

    /// QuantizationBudget, with room for three send quanta.
    fn with_budget(&self, packets: u32) -> u32 {
        let most = packets.max(3 * self.send_quantum()).max(self.config.lowest_window);
        if self.phase == Phase::Up { most.saturating_add(2) } else { most }
    }
    /// What is to be in flight of a rate (Inflight).
    pub(super) fn inflight_of(&self, rate: Rate, percent: u32) -> u32 {
        self.with_budget(self.product_of(rate, percent))
    }
    pub(super) fn inflight(&self, percent: u32) -> u32 {
        self.inflight_of(self.signals.bandwidth(), percent)
    }

    /// The excess of ACKs (UpdateACKAggregation).
    pub(super) fn update_aggregation(&mut self, window: &Window, ack: &Ack<'_>) {
        let newly = ack.sample.newly_delivered;
        if newly == 0 {
            return;
        }
        let elapsed_us = ack.now_us.saturating_sub(self.extra_acked_start_us);
        let mut expected = fit_u32(self.signals.bandwidth().saturating_mul(elapsed_us) >> RATE_BITS);
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_start_us) = (0, ack.now_us);
            expected = 0;
        }
        self.extra_acked_delivered = self.extra_acked_delivered.saturating_add(newly);
        let extra = self.extra_acked_delivered.saturating_sub(expected).min(window.cwnd);
        // In Startup one round is remembered.
        let rounds = if self.full.is_reached { self.config.extra_acked_rounds } else { 1 };
        self.extra_acked.take(rounds, self.signals.round_count, extra);
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_window(&self) -> u32 {
        self.product(self.config.probe_rtt_cwnd_gain_percent).max(self.config.lowest_window)
    }

    /// SetCwnd.
    pub(super) fn set_cwnd(&self, window: &mut Window, ack: &Ack<'_>) {
        let inflight = self.product(self.cwnd_gain_percent()).saturating_add(self.extra_acked.get());
        let most = self.with_budget(inflight);
        let more = window.cwnd.saturating_add(ack.sample.newly_delivered);
        if self.full.is_reached {
            window.cwnd = more.min(most);
        } else if window.cwnd < most || ack.connection.delivered < self.initial_window.into() {
            window.cwnd = more;
        }
        window.cwnd = window.cwnd.max(self.config.lowest_window);
        if self.phase == Phase::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        // BoundCwndForModel.
        let cap = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.inflight_longterm,
            Phase::ProbeRtt | Phase::Cruise => self.inflight_with_headroom(),
            Phase::Startup | Phase::Drain => UNBOUNDED,
        };
        let cap = cap.min(self.signals.inflight_shortterm).max(self.config.lowest_window);
        window.cwnd = window.cwnd.min(cap).min(window.clamp);
    }
}
