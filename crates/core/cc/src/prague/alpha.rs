//! The moving average of the marked fraction F, alpha <- (1 - g) alpha + g F, once in a (virtual) round trip.

use super::clock::{Target, micros};
use crate::{AckSample, PragueConfig};
use shoal_units::cast::{fit_u32, low_u32};

/// Whether a CE has been reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Marks {
    /// None so far: there may be no marker on the path, and alpha is not updated.
    None,
    /// The response to the first one is yet to come.
    First,
    /// The connection has responded to a CE.
    Seen,
}

/// Counts the CE that ACKs report, and updates alpha.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    /// Alpha in units of 2^-(`alpha_bits` + `gain_shift`).
    upscaled: u32,
    /// Packets reported with CE and packets delivered since the last update.
    marked: u32,
    total: u32,
    /// Low bits of the stream position whose acknowledgement ends the round.
    round_end: u32,
    /// When the round began, in us.
    began: u32,
    /// Rounds so far, up to what 16 bits hold.
    rounds: u16,
    /// Whether the ACK being processed ended the round. The kernel updates alpha last of all for an ACK.
    is_over: bool,
    marks: Marks,
}

impl Estimator {
    pub(super) fn new(config: &PragueConfig) -> Self {
        let alpha = u32::from(config.initial_alpha_q10.min(1 << 10)) << (config.alpha_bits - 10);
        Self {
            upscaled: alpha << config.gain_shift,
            marked: 0,
            total: 0,
            round_end: 0,
            began: 0,
            rounds: 0,
            is_over: false,
            marks: Marks::None,
        }
    }

    /// The first round ends with the first new byte that is acknowledged.
    pub(super) fn start(&mut self, now: u32, snd_nxt: u64) {
        self.round_end = low_u32(snd_nxt);
        self.began = now;
    }

    /// Counts what `ack` reports. A round ends with its data, and not before `target`, if there is one.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckSample, target: Option<Target>) {
        self.total = self.total.saturating_add(ack.delivered_packets);
        if ack.marked_packets > 0 {
            self.marked = self.marked.saturating_add(ack.marked_packets);
            if self.marks == Marks::None {
                self.marks = Marks::First;
            }
        }
        let has_ended = low_u32(ack.snd_una).wrapping_sub(self.round_end) < 1 << 31;
        let now = micros(ack.now);
        if has_ended && target.is_none_or(|target| target.has_passed(self.began, now)) {
            self.is_over = true;
            self.round_end = low_u32(ack.snd_nxt);
            self.began = now;
        }
    }

    /// Updates alpha if the last ACK ended a round; returns whether it did.
    #[inline]
    pub(super) fn update(&mut self, config: &PragueConfig) -> bool {
        if !self.is_over {
            return false;
        }
        self.is_over = false;
        self.rounds = self.rounds.saturating_add(1);
        if self.marks != Marks::None && self.total > 0 {
            self.average(config);
        }
        (self.marked, self.total) = (0, 0);
        true
    }

    fn average(&mut self, config: &PragueConfig) {
        let shift = config.gain_shift;
        let marked = u64::from(self.marked.min(self.total));
        let fraction = fit_u32((marked << config.alpha_bits) / u64::from(self.total));
        self.upscaled = if config.keeps_remainder {
            self.upscaled - (self.upscaled >> shift) + fraction
        } else {
            let alpha = self.upscaled >> shift;
            (alpha - (alpha >> shift) + (fraction >> shift)) << shift
        };
    }

    /// Whether the response to the first CE is due, which it is once.
    pub(super) fn take_first(&mut self) -> bool {
        let is_first = self.marks != Marks::Seen;
        self.marks = Marks::Seen;
        is_first
    }

    /// Whether a CE has been reported.
    #[inline]
    pub(super) fn has_seen_ce(&self) -> bool {
        self.marks != Marks::None
    }

    pub(super) fn set_to_zero(&mut self) {
        self.upscaled = 0;
    }

    #[cfg(test)]
    pub(super) fn set_to_half(&mut self, config: &PragueConfig) {
        self.upscaled = 1 << (config.alpha_bits - 1 + config.gain_shift);
    }

    /// Alpha in units of 2^-`alpha_bits`.
    #[inline]
    pub(super) fn alpha(&self, config: &PragueConfig) -> u32 {
        self.upscaled >> config.gain_shift
    }

    pub(super) fn as_f64(&self, config: &PragueConfig) -> f64 {
        f64::from(self.alpha(config)) / f64::from(1u32 << config.alpha_bits)
    }

    /// Whether so many rounds are over that the law becomes independent of the RTT.
    #[inline]
    pub(super) fn has_had(&self, rounds: u16) -> bool {
        self.rounds >= rounds
    }

    /// When the round began, in us.
    #[inline]
    pub(super) fn began(&self) -> u32 {
        self.began
    }
}
