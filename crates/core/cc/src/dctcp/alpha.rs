//! The moving average of the marked fraction F: alpha <- (1 - g) alpha + g F ([RFC 8257, section
//! 3.3](https://www.rfc-editor.org/rfc/rfc8257#section-3.3)), in each resolution.

use crate::{
    AckSample, AlphaAfter, AlphaInRecovery, AlphaResolution, AlphaUpdate, DctcpConfig, Gain, MarkCounting,
    ObservationEnd, Signal,
};
use shoal_units::cast::{fit_u32, floor_u32};

/// Alpha in the arithmetic of its resolution.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Alpha {
    /// Multiple of 2^-10, truncated.
    Bits10(u32),
    /// Multiple of 2^-10; a decay that would be rounded to nothing sets alpha to zero.
    Bits10MinNotZero(u32),
    /// Multiple of 2^-20, truncated.
    Bits20(u32),
    /// The law without rounding.
    Exact(f64),
}

/// One step of the average: `marked` of `weight`, in units of which `unit` together have a gain of 2^-shift.
#[derive(Clone, Copy)]
struct Step {
    marked: u64,
    weight: u64,
    unit: u64,
    shift: u8,
}

impl Alpha {
    fn new(resolution: AlphaResolution, alpha_q10: u16) -> Self {
        let q10 = u32::from(alpha_q10.min(1 << 10));
        match resolution {
            AlphaResolution::Bits10 => Self::Bits10(q10),
            AlphaResolution::Bits10MinNotZero => Self::Bits10MinNotZero(q10),
            AlphaResolution::Bits20 => Self::Bits20(q10 << 10),
            AlphaResolution::Exact => Self::Exact(f64::from(q10) / 1024.0),
        }
    }

    /// alpha <- alpha - g alpha (weight/unit) + g marked/unit, limited to one.
    ///
    /// With weight = unit = what a window delivered this is the kernel's
    /// `alpha - (alpha >> g) + (marked << (10 - g)) / total`, since nested floors of divisions are one floor.
    #[inline]
    fn average(&mut self, step: Step) {
        match self {
            Self::Bits10(alpha) => *alpha = average_fixed(*alpha, 10, false, step),
            Self::Bits10MinNotZero(alpha) => *alpha = average_fixed(*alpha, 10, true, step),
            Self::Bits20(alpha) => *alpha = average_fixed(*alpha, 20, false, step),
            Self::Exact(alpha) => {
                let gain = 1.0 / ((1u64 << step.shift) as f64 * step.unit.max(1) as f64);
                let change = gain * (step.marked as f64 - *alpha * step.weight as f64);
                *alpha = (*alpha + change).clamp(0.0, 1.0);
            }
        }
    }

    /// The floor of `cwnd * alpha / 2` (Linux `(cwnd * alpha) >> 11`).
    #[inline]
    fn half_of(self, cwnd: u32) -> u32 {
        let scaled = |alpha: u32, bits: u32| fit_u32((u64::from(cwnd) * u64::from(alpha)) >> (bits + 1));
        match self {
            Self::Bits10(alpha) | Self::Bits10MinNotZero(alpha) => scaled(alpha, 10),
            Self::Bits20(alpha) => scaled(alpha, 20),
            Self::Exact(alpha) => floor_u32(f64::from(cwnd) * alpha / 2.0),
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Self::Bits10(alpha) | Self::Bits10MinNotZero(alpha) => f64::from(alpha) / f64::from(1 << 10),
            Self::Bits20(alpha) => f64::from(alpha) / f64::from(1 << 20),
            Self::Exact(alpha) => alpha,
        }
    }
}

#[inline]
fn average_fixed(alpha: u32, bits: u32, takes_remainder: bool, step: Step) -> u32 {
    let one = 1u64 << bits;
    let divisor = step.unit.max(1).saturating_mul(1 << step.shift);
    let old = u64::from(alpha);
    let mut decay = (old.saturating_mul(step.weight) / divisor).min(old);
    if takes_remainder && decay == 0 {
        decay = old;
    }
    fit_u32((old - decay + step.marked.saturating_mul(one) / divisor).min(one))
}

/// Counts the marks that ACKs report, and updates alpha.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    alpha: Alpha,
    /// Marked units and all units since the last update, as [`MarkCounting`] counts.
    marked: u64,
    total: u64,
    /// Stream position whose acknowledgement ends the observation window (Linux `next_seq`, FreeBSD `save_sndnxt`).
    window_end: u64,
    /// Whether the last ACK carried ECN-Echo (FreeBSD `ece_prev`).
    echoed: bool,
    hold: Hold,
}

/// Why observation windows may not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hold {
    No,
    /// The sender is in fast recovery.
    Recovery,
    /// The ACK being processed ends fast recovery.
    LastAck,
}

impl Estimator {
    pub(super) fn new(config: &DctcpConfig) -> Self {
        let alpha = Alpha::new(config.alpha_resolution, config.initial_alpha_q10);
        Self { alpha, marked: 0, total: 0, window_end: 0, echoed: false, hold: Hold::No }
    }

    /// Starts counting. The first observation window ends with the first new byte that is acknowledged (Linux
    /// `dctcp_init`).
    pub(super) fn start(&mut self, snd_nxt: u64) {
        self.window_end = snd_nxt;
    }

    #[inline]
    pub(super) fn on_ack(&mut self, config: &DctcpConfig, ack: &AckSample) {
        let (marked, total) = counted(config, ack, self.echoed);
        self.echoed = ack.ece;
        match config.alpha_update {
            AlphaUpdate::PerAck => {
                if total > 0 {
                    self.alpha.average(per_ack_step(config, ack, marked, total));
                }
            }
            AlphaUpdate::PerWindow => {
                self.marked = self.marked.saturating_add(marked);
                self.total = self.total.saturating_add(total);
                if self.window_is_over(config, ack) {
                    self.end_window(config);
                    self.window_end = ack.snd_nxt;
                }
            }
        }
    }

    #[inline]
    fn window_is_over(&mut self, config: &DctcpConfig, ack: &AckSample) -> bool {
        match self.hold {
            Hold::No => match config.observation_ends {
                ObservationEnd::AtEnd => ack.snd_una >= self.window_end,
                ObservationEnd::BeyondEnd => ack.snd_una > self.window_end,
            },
            Hold::Recovery => false,
            Hold::LastAck => {
                self.hold = Hold::No;
                config.alpha_in_recovery == AlphaInRecovery::HoldThenAck
            }
        }
    }

    /// Notes that fast recovery begins.
    pub(super) fn enter_recovery(&mut self, config: &DctcpConfig) {
        if config.alpha_in_recovery != AlphaInRecovery::Continue {
            self.hold = Hold::Recovery;
        }
    }

    /// Notes that fast recovery has ended, after a timeout or without a last ACK that would still be counted.
    pub(super) fn leave_recovery(&mut self) {
        self.hold = Hold::No;
    }

    /// Notes that the ACK being processed ends fast recovery, before [`Self::on_ack`] is called for it
    /// (FreeBSD `dctcp_post_recovery`).
    pub(super) fn on_recovered(&mut self, config: &DctcpConfig, signal: &Signal) {
        if self.hold == Hold::Recovery {
            self.hold = Hold::LastAck;
        }
        self.on_event(config, config.alpha_after_recovery, signal.snd_nxt, 0);
    }

    /// Sets alpha to one and restarts the counting (FreeBSD with `slowstart`).
    pub(super) fn restart_at_one(&mut self, config: &DctcpConfig, snd_nxt: u64) {
        self.alpha = Alpha::new(config.alpha_resolution, 1 << 10);
        (self.marked, self.total) = (0, 0);
        self.window_end = snd_nxt;
    }

    /// Applies the effect of an event to alpha. After an early update the observation window ends `beyond`
    /// bytes after `snd_nxt` (FreeBSD `save_sndnxt`).
    pub(super) fn on_event(&mut self, config: &DctcpConfig, action: AlphaAfter, snd_nxt: u64, beyond: u32) {
        match action {
            AlphaAfter::Keep => {}
            AlphaAfter::Reinitialise => {
                self.alpha = Alpha::new(config.alpha_resolution, config.initial_alpha_q10);
                (self.marked, self.total) = (0, 0);
                self.echoed = false;
            }
            AlphaAfter::One => self.alpha = Alpha::new(config.alpha_resolution, 1 << 10),
            AlphaAfter::Update => {
                self.end_window(config);
                self.window_end = snd_nxt.saturating_add(u64::from(beyond));
            }
        }
    }

    /// The floor of `cwnd * alpha / 2`.
    #[inline]
    pub(super) fn cut_of(&self, cwnd: u32) -> u32 {
        self.alpha.half_of(cwnd)
    }

    pub(super) fn as_f64(&self) -> f64 {
        self.alpha.as_f64()
    }

    fn end_window(&mut self, config: &DctcpConfig) {
        let total = self.total.max(1);
        let (Gain::Shift(shift) | Gain::PerWindowInFlight(shift)) = config.gain;
        self.alpha.average(Step { marked: self.marked, weight: total, unit: total, shift });
        (self.marked, self.total) = (0, 0);
    }
}

/// What `ack` adds to the counts: (marked, all). `echoed`: the previous ACK carried ECN-Echo.
#[inline]
fn counted(config: &DctcpConfig, ack: &AckSample, echoed: bool) -> (u64, u64) {
    let duplicate = ack.duplicate && config.counts_duplicates;
    let total = match config.counting {
        MarkCounting::Packets => {
            return (u64::from(ack.marked_packets), u64::from(ack.delivered_packets));
        }
        MarkCounting::Bytes if ack.acked_bytes > 0 => ack.acked_bytes,
        MarkCounting::Bytes if duplicate => u64::from(ack.mss.min(config.duplicate_bytes_max)),
        MarkCounting::Bytes => 0,
        MarkCounting::Acks => u64::from(ack.acked_bytes > 0 || duplicate),
    };
    let mss = u64::from(ack.mss);
    let marked = match ack.ece {
        true if config.corrects_edges && !echoed && total > mss => total - mss,
        true => total,
        false if config.corrects_edges && echoed && total > mss => mss,
        false => 0,
    };
    (marked, total)
}

/// The step for a per-ACK update: one packet (or ACK) has a gain of 2^-shift, or its share of the flight has.
#[inline]
fn per_ack_step(config: &DctcpConfig, ack: &AckSample, marked: u64, weight: u64) -> Step {
    let packet = match config.counting {
        MarkCounting::Bytes => u64::from(ack.mss.max(1)),
        MarkCounting::Packets | MarkCounting::Acks => 1,
    };
    match config.gain {
        Gain::Shift(shift) => Step { marked, weight, unit: packet, shift },
        Gain::PerWindowInFlight(shift) => {
            Step { marked, weight, unit: packet * u64::from(ack.in_flight_before.max(1)), shift }
        }
    }
}
