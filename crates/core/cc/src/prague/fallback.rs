//! Whether the queue is a classic one: an indicator on which no version acts by default (0.5 to the early 0.7; removed
//! in 0.7).
//!
//! A round adds 0.5 lg(mean deviation of the RTT / 750 us) + max(0, 0.5 lg(depth / 2 ms)), where the depth of the
//! queue is the smoothed RTT less the least one. The sum stays within 0 to 17. From 8 to 9 alpha's lower bound rises
//! from 0 to
//! 0.625.

use crate::{FallbackConstants, PragueConfig};
use shoal_units::Span;
use shoal_units::cast::fit_u32;

/// lg 750 and lg 2000 with 24 fractional bits: the thresholds of the deviation and of the depth in us.
const LG_750_Q24: u32 = 160_234_941;
const LG_2000_Q24: u32 = 183_975_331;
/// Largest value of the indicator, and the one from which it acts.
const MOST: u32 = 17;
const ACTS_ABOVE: u32 = 8;
/// Largest exponent of the gains.
const SLOWEST: u32 = 18;
/// Fractional bits of the averages of RTTs, which are in us.
const RTT_BITS: u32 = 8;

/// What the indicator is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fallback {
    /// Smoothed RTT and mean deviation in units of 2^-8 us.
    srtt: u32,
    deviation: u32,
    /// Least RTT in us, plus one; zero before the first sample.
    least: u32,
    /// The indicator in units of 2^-`alpha_bits`.
    indicator: u32,
}

impl Fallback {
    /// Takes an RTT sample. The gain of the smoothed RTT is 2^-`gain`, that of the deviation half of it.
    pub(super) fn on_rtt(&mut self, gain: u8, rtt: Span) {
        let us = rtt.as_micros().min(u64::from(u32::MAX >> (RTT_BITS + 1)));
        let sample = i64::try_from(us << RTT_BITS).unwrap_or(i64::MAX);
        let us = fit_u32(us);
        if self.least == 0 {
            (self.srtt, self.deviation) = (us << RTT_BITS, us << (RTT_BITS - 1));
        } else {
            let error = sample - i64::from(self.srtt);
            self.srtt = self.srtt.saturating_add_signed(part(error, gain));
            self.deviation =
                self.deviation.saturating_add_signed(part(error.abs() - i64::from(self.deviation), gain + 1));
        }
        self.least = if self.least == 0 { us + 1 } else { self.least.min(us + 1) };
    }

    /// Adds the evidence of a round to the indicator.
    pub(super) fn end_round(&mut self, config: &PragueConfig) {
        if self.least == 0 {
            return;
        }
        let bits = u32::from(config.alpha_bits);
        let shift = match config.fallback_constants {
            FallbackConstants::Scaled => 24 - bits,
            FallbackConstants::Of20Bits => 4,
        };
        let over = |value: u32, threshold: u32| {
            (lg(value.max(1), bits) - (i64::from(RTT_BITS) << bits) - i64::from(threshold >> shift)) / 2
        };
        let depth = self.srtt.saturating_sub((self.least - 1) << RTT_BITS);
        let step = over(self.deviation, LG_750_Q24) + over(depth, LG_2000_Q24).max(0);
        let sum = (i64::from(self.indicator) + step).clamp(0, i64::from(MOST << bits));
        self.indicator = u32::try_from(sum).unwrap_or(0);
    }

    /// Least alpha of a cut, in units of 2^-`alpha_bits`.
    pub(super) fn least_alpha(&self, config: &PragueConfig) -> u32 {
        let one = 1u32 << config.alpha_bits;
        let above = self.indicator.saturating_sub(ACTS_ABOVE << config.alpha_bits).min(one);
        above * 5 / 8
    }

    #[cfg(test)]
    pub(super) fn indicator(&self, config: &PragueConfig) -> f64 {
        f64::from(self.indicator) / f64::from(1u32 << config.alpha_bits)
    }
}

/// Exponent of the gain that a threshold of `packets` brings: 1 + 1.5 floor(lg ssthresh), at most 18.
pub(super) fn gain(packets: u32) -> u8 {
    let exponent = 1 + 3 * packets.max(1).ilog2() / 2;
    u8::try_from(exponent.min(SLOWEST)).unwrap_or(0)
}

/// `error` times 2^-`gain`, rounded to the nearest.
fn part(error: i64, gain: u8) -> i32 {
    i32::try_from((error + (1 << gain >> 1)) >> gain).unwrap_or(0)
}

/// Logarithm of `value` to base 2 with `bits` fractional bits, by squaring: exact but for the last one.
fn lg(value: u32, bits: u32) -> i64 {
    let whole = value.ilog2();
    // The mantissa, from 1 up to 2, with 31 fractional bits.
    let mut mantissa = u64::from(value) << (31 - whole);
    let mut lg = i64::from(whole);
    for _ in 0..bits {
        mantissa = (mantissa * mantissa) >> 31;
        lg <<= 1;
        if mantissa >> 32 != 0 {
            mantissa >>= 1;
            lg += 1;
        }
    }
    lg
}
